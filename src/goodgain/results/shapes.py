"""The shapes of saved files: what is damaged is said when a file is loaded, not where its values are used.

A shape is a tuple of types, `[shape]` for a list, a `Row` for a list of a fixed length, `{str: shape}` for
any keys, or a dictionary of keys, of which those that end with `?` may be missing. Keys that a shape does not
name may hold anything: later versions add some.
"""

from __future__ import annotations

from typing import Any

TEXT, WHOLE, NUMBER = (str,), (int,), (int, float)
MAYBE_TEXT, MAYBE_WHOLE, MAYBE = (str, type(None)), (int, type(None)), (int, float, type(None))
TRUTH = (bool,)


class Row(tuple[Any, ...]):
    """The shapes of the cells of a row."""


class DamagedError(ValueError):
    """A value that is missing or is not what it should be; the text is its place."""


def require_shape(value: Any, shape: Any, place: str = "") -> None:
    """Raise DamagedError with the place of the first value that does not fit."""
    if isinstance(shape, Row):
        if not isinstance(value, list | tuple) or len(value) != len(shape):
            raise DamagedError(place)
        for i, (each, inner) in enumerate(zip(value, shape, strict=True)):
            require_shape(each, inner, f"{place}[{i}]")
    elif isinstance(shape, tuple):
        if type(value) not in shape:
            raise DamagedError(place)
    elif isinstance(shape, list):
        _require_list(value, shape[0], place)
    else:
        _require_mapping(value, shape, place)


def _require_list(value: Any, shape: Any, place: str) -> None:
    if not isinstance(value, list | tuple):  # in a pickle it may be either
        raise DamagedError(place)
    if type(shape) is tuple and set(map(type, value)) <= set(shape):
        return  # a column of a million numbers
    for i, each in enumerate(value):
        require_shape(each, shape, f"{place}[{i}]")


def _require_mapping(value: Any, shape: dict[Any, Any], place: str) -> None:
    if not isinstance(value, dict):
        raise DamagedError(place)
    for key, inner in shape.items():
        if key is str:
            for name, each in value.items():
                require_shape(each, inner, _inside(place, name))
        elif (name := key.removesuffix("?")) in value:
            require_shape(value[name], inner, _inside(place, name))
        elif name == key:
            raise DamagedError(_inside(place, name))


def require_lengths(columns: dict[str, list[Any]], size: int, place: str) -> None:
    """Raise DamagedError unless all columns have this length."""
    for name, column in columns.items():
        if len(column) != size:
            raise DamagedError(_inside(place, name))


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


_INPUTS = [
    {
        "role?": MAYBE_TEXT,
        "run?": MAYBE_TEXT,
        "name?": MAYBE_TEXT,
        "kind?": MAYBE_TEXT,
        "bytes?": MAYBE_WHOLE,
        "sha256?": MAYBE_TEXT,
        "judge?": (dict, type(None)),
    }
]
_MEASURES = [(str, dict)]
_COVERAGE = {
    "judged_queries": WHOLE, "missing_queries": WHOLE, "unjudged_queries": WHOLE, "documents": WHOLE,
    "unjudged_documents": WHOLE, "judged_at_10": MAYBE, "bad_rows?": WHOLE, "bad_example?": TEXT,
    "shared_ranks?": WHOLE, "rank_gaps?": WHOLE, "ranks_from_zero?": WHOLE, "notes?": [TEXT],
}  # fmt: skip

EVALUATION = {
    "version": TEXT,
    "created": TEXT,
    "preset?": TEXT,
    "policy": {str: TEXT},
    "inputs": _INPUTS,
    "measures": _MEASURES,
    "runs": [
        {
            "name": TEXT,
            "means": {str: MAYBE},
            "queries": [TEXT],
            "values": {str: [MAYBE]},
            "coverage": _COVERAGE,
        }
    ],
}

COMPARISON = {
    "settings": {
        "test": TEXT, "correction": TEXT, "alpha": NUMBER, "confidence": NUMBER, "tie": NUMBER,
        "unpaired": TEXT, "seeds?": TEXT, "permutations": WHOLE, "bootstraps": WHOLE, "seed": WHOLE,
        "by?": MAYBE_TEXT, "primary?": [TEXT],
    },
    "baselines": [TEXT],
    "systems": [TEXT],
    "measures": _MEASURES,
    "pairs": [
        {
            "system": TEXT, "baseline": TEXT, "measure": (str, dict), "mean": MAYBE, "baseline_mean": MAYBE,
            "difference": MAYBE, "relative": MAYBE, "low": MAYBE, "high": MAYBE, "test": TEXT,
            "statistic": MAYBE, "p": MAYBE, "p_corrected": MAYBE, "d_z?": MAYBE, "d_z_low?": MAYBE,
            "d_z_high?": MAYBE, "wins": WHOLE, "ties": WHOLE, "losses": WHOLE, "minimum_detectable?": MAYBE,
            "queries": WHOLE, "margin?": MAYBE, "p_noninferior?": MAYBE, "p_equivalent?": MAYBE,
            "p_these_seeds?": MAYBE, "group?": MAYBE_TEXT, "note?": TEXT, "bound_low?": MAYBE,
            "bound_high?": MAYBE, "tests?": WHOLE, "tied?": TRUTH, "tied_within?": MAYBE,
            "exploratory?": TRUTH, "lower_is_better?": TRUTH, "stars?": TEXT, "gsb?": MAYBE,
        }
    ],
    "means": {str: {str: MAYBE}},
    "notes": [TEXT],
    "inputs": _INPUTS,
    "created": TEXT,
    "version": TEXT,
}  # fmt: skip

STANDINGS = {
    "systems": [TEXT],
    "means": [MAYBE],
    "differences": [[MAYBE]],
    "p": [[MAYBE]],
    "alpha": NUMBER,
}

CALIBRATION = {
    "grades": [NUMBER],
    "matrix": [[WHOLE]],
    "figures": [{"name": TEXT, "value": MAYBE, "low": MAYBE, "high": MAYBE, "n": WHOLE}],
    "pairs": WHOLE,
    "failed": WHOLE,
    "threshold": NUMBER,
    "confidence": NUMBER,
    "design?": TEXT,
    "votes?": TEXT,
    "human_model?": TEXT,
}

_LEDGER = {
    "met": {str: WHOLE},
    "accounts": [Row((TEXT, TEXT, WHOLE))],
    "rules": [Row((TEXT, TEXT, TEXT, WHOLE, (list,)))],
    "tools": [Row((TEXT, TEXT, WHOLE))],
    "batched?": WHOLE,
}
_EVIDENCE = Row(
    (TEXT, MAYBE, MAYBE_WHOLE, MAYBE_WHOLE, MAYBE_WHOLE, MAYBE_WHOLE, (bool, type(None)))
)

GOOD_GAIN = {
    "created": TEXT,
    "version": TEXT,
    "inputs": _INPUTS,
    "facts": dict[str, Any](),
    "systems": [
        {
            "name": TEXT,
            "conversations": [TEXT],
            "iterations": [WHOLE],
            "funnel?": {"counts?": {str: [WHOLE]}, "evidence?": [[_EVIDENCE]]},
        }
    ],
    "ledgers?": {str: _LEDGER},
}
