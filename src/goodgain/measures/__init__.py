"""The measures: one table, their grammar, and functions for plain lists.

Every measure is an attribute by its name: `from goodgain.measures import nDCG`.
"""

from __future__ import annotations

from goodgain.measures.custom import register
from goodgain.measures.functions import cg, dcg, gsb, ndcg, nrdcgl, pnrdcgl, rdcgl
from goodgain.measures.grammar import (
    Measure,
    definition_of,
    definitions,
    make,
    parse,
    parse_all,
)
from goodgain.measures.table.ranked import Definition

__all__ = [
    "Definition",
    "Measure",
    "cg",
    "dcg",
    "definition_of",
    "definitions",
    "gsb",
    "ndcg",
    "nrdcgl",
    "parse",
    "parse_all",
    "pnrdcgl",
    "rdcgl",
    "register",
]


def __getattr__(name: str) -> Measure:
    for definition in definitions():
        if name == definition.name or name in definition.aliases:
            return make(definition, {}, None, name)
    raise AttributeError(f"module 'goodgain.measures' has no attribute '{name}'")
