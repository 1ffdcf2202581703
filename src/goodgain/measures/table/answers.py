"""Measures of answers: how many of the facts that they should contain they do."""

from __future__ import annotations

from goodgain.measures.definition import SHARE, Definition

_CITATION = (
    "Pradeep et al., The great nugget recall: automating fact extraction and RAG evaluation with large "
    "language models, SIGIR 2025"
)
_EDGE = (
    "Undefined for a query without {which}, for an answer that is not recorded, and while a nugget has no "
    "assignment: a failed call is not 'none'. An empty answer contains nothing: 0."
)
_SETS = (
    ("All", "nuggets", "the nuggets", "sum of s(n) over nuggets n / number of nuggets"),
    (
        "Vital",
        "vital nuggets",
        "the vital nuggets",
        "sum of s(n) over vital nuggets n / number of vital nuggets",
    ),
    (
        "Weighted",
        "nuggets",
        "the nuggets, of which an okay one weighs half a vital one",
        "sum of w(n) s(n) / sum of w(n); w = 1 for vital, 1/2 for okay nuggets",
    ),
)
_SUPPORT = (
    ("", "; partial support counts half", "; s = 1 for support, 1/2 for partial, 0 for none"),
    ("Strict", "; only full support counts", "; s = 1 for support, else 0"),
)

MEASURES: tuple[Definition, ...] = tuple(
    Definition(
        name=f"Nugget{name}{strict}",
        namespace="answers",
        family="nuggets",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary=f"The share of {text} that an answer contains{rule}.",
        formula=formula + values,
        edge_cases=_EDGE.format(which=which),
        citation=_CITATION,
    )
    for name, which, text, formula in _SETS
    for strict, rule, values in _SUPPORT
)
