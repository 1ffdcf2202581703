"""Measures of judged spans: how much of the judged text is retrieved, whatever the chunks."""

from __future__ import annotations

from goodgain.measures.definition import SHARE, Definition
from goodgain.measures.table.common import REL

_CITATION = "Smith & Troynikov, Evaluating chunking strategies for retrieval, Chroma 2024"
_EDGE = (
    "Characters, or tokens with a tokenizer, which count where they begin. Judged text counts once where "
    "spans overlap. No judged text: undefined."
)

MEASURES: tuple[Definition, ...] = tuple(
    Definition(
        name=name,
        namespace="spans",
        family="spans",
        level="query",
        unit="",
        direction="higher",
        range=SHARE,
        summary=summary,
        formula=formula,
        edge_cases=_EDGE + edge,
        citation=_CITATION,
        params=(REL,),
        cutoff="optional",
        column="spans",
    )
    for name, summary, formula, edge in (
        ("SpanRecall", "The share of the judged text that the first k chunks cover.",
         "judged characters covered by the first k / judged characters", ""),
        ("SpanPrecision", "The share of the retrieved text that is judged.",
         "judged characters covered by the first k / characters of the first k, repeats counted",
         " Nothing retrieved: 0."),
        ("SpanIoU", "Intersection over union of judged and retrieved text.",
         "covered / (judged + retrieved - covered), repeats counted as retrieved", ""),
    )
)  # fmt: skip
