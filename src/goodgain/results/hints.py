"""Hints for names that other tools use: an AttributeError that says what to write instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Attributes that users of ranx, ir_measures, pandas and others try on a result.
_RESULT = {
    "to_latex": "render('latex')",
    "to_csv": "render('csv')",
    "to_markdown": "render('markdown')",
    "to_df": "to_pandas()",
    "to_dataframe": "to_pandas()",
    "to_table": "render()",
    "metrics": "measures",
    "metric": "measures",
    "mean_scores": "means",
    "scores_per_query": "per_query",
    "per_topic": "per_query",
    "aggregate": "means",
    "write": "save(path)",
    "to_file": "save(path)",
    "html": "report(path)",
    "to_html": "report(path)",
}


class HintsForNames:
    """Adds a hint to the error for an attribute that goes by another name here."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        hint = f"; use {_RESULT[name]}" if name in _RESULT else ""
        raise AttributeError(f"'{kind}' object has no attribute '{name}'{hint}")


class ConstructorHints(type):
    """A class that is called with any source, and says so to those who look for `from_file`."""

    def __getattr__(cls, name: str) -> Any:
        hint = f"; use {cls.__name__}(source)" if name.startswith(("from_", "read_")) else ""
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'{hint}")
