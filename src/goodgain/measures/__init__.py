"""The measures: one registry, their grammar, and functions for plain lists.

Every measure of a run is an attribute by its name: `from goodgain.measures import nDCG`.
"""

from __future__ import annotations

from goodgain.measures.custom import column_measure, register
from goodgain.measures.definition import Definition, Direction, Measure, Param, Range
from goodgain.measures.functions import cg, dcg, gsb, ndcg, nrdcgl, pnrdcgl, rdcgl
from goodgain.measures.grammar import definition_of, make, parse, parse_agentic, parse_all
from goodgain.measures.registry import definitions, find

__all__ = [
    "Definition",
    "Direction",
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


def __getattr__(name: str) -> Measure:
    definition = None if name.startswith("_") else find(name)
    if definition is None or name not in (definition.name, *definition.aliases):
        raise AttributeError(f"module 'goodgain.measures' has no attribute '{name}'")
    return make(definition, {}, None, name)
