"""The measures: one registry, their grammar, and functions for plain lists.

Every measure of a run is an attribute by its name: `from goodgain.measures import nDCG`.

>>> from goodgain.measures import definition_of, definitions, find, nDCG, parse_agentic, parse_all
>>> nDCG(gain="exp") @ 10
nDCG(gain=exp)@10
>>> parse_all("nDCG@10 MAP")
(nDCG@10, MAP)
>>> parse_agentic("SRR")
SRR
>>> definition_of("ndcg_cut_10").name, find("map").name, len(definitions("ranked")) > 50
('nDCG', 'AP', True)
"""

from __future__ import annotations

from goodgain.measures.definition import Definition, Measure, Param, Range
from goodgain.measures.grammar import definition_of, make, parse, parse_agentic, parse_all
from goodgain.measures.registry import definitions, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain.measures.custom import column_measure, register
    from goodgain.measures.functions import cg, dcg, gsb, ndcg, nrdcgl, pnrdcgl, rdcgl

# Imported when first used: an evaluation needs neither.
_LAZY = {
    **dict.fromkeys(("column_measure", "register"), "custom"),
    **dict.fromkeys(("cg", "dcg", "gsb", "ndcg", "nrdcgl", "pnrdcgl", "rdcgl"), "functions"),
}

__all__ = [
    "Definition",
    "Measure",
    "Param",
    "Range",
    "cg",
    "column_measure",
    "dcg",
    "definition_of",
    "definitions",
    "find",
    "gsb",
    "ndcg",
    "nrdcgl",
    "parse",
    "parse_agentic",
    "parse_all",
    "pnrdcgl",
    "rdcgl",
    "register",
]


if TYPE_CHECKING:
    from goodgain.measures import attributes
    from goodgain.measures.attributes import *  # noqa: F403

    __all__ += attributes.__all__

if not TYPE_CHECKING:  # or a misspelt name would be Any

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
        definition = None if name.startswith("_") else find(name)
        if definition is None or name not in (definition.name, *definition.aliases):
            raise AttributeError(f"module 'goodgain.measures' has no attribute '{name}'")
        return make(definition, {}, None, name)
