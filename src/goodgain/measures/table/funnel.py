"""From evidence to answer: what of the known good results was opened and cited, and was the answer right.

The values come from the core (src/core/funnel.cpp), except for those of answers, which are checked against
gold answers (agentic/answers.py). docs/funnel.md defines them.
"""

from __future__ import annotations

from goodgain.measures.definition import COUNT, SHARE, Definition
from goodgain.measures.table.agentic import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NO_EVIDENCE = "Undefined if no good result is known."
_NO_ANSWER = "Undefined if the trace has no answer; an answer without citations cites nothing."
_BROWSECOMP = "Wei et al., BrowseComp: a simple yet challenging benchmark for browsing agents, 2025"


def _funnel(name: str, summary: str, formula: str, **facts: Any) -> Definition:
    """A value of a whole conversation."""
    facts = {"level": "conversation", "family": "funnel", **facts}
    return define(name, summary, formula, kernel=name, **facts)


MEASURES: tuple[Definition, ...] = (
    _funnel(
        "OpenedRecall",
        "The share of the evidence that the agent opened.",
        "|opened in E| / |E|, E: the known good results of the conversation",
        range=SHARE,
        edge_cases=f"{_NO_EVIDENCE} A document is opened if a call read it, or with "
        "opens='content' also if it was returned with its content.",
    ),
    _funnel(
        "CitedRecall",
        "The share of the evidence that the answer cites.",
        "|cited in E| / |E|, E: the known good results of the conversation",
        range=SHARE,
        edge_cases=f"{_NO_EVIDENCE} {_NO_ANSWER}",
    ),
    _funnel(
        "CitedOfReturned",
        "The share of the returned evidence that the answer cites.",
        "|cited, returned and in E| / |returned and in E|",
        range=SHARE,
        edge_cases=f"Undefined if no good result was returned. {_NO_ANSWER}",
    ),
    _funnel(
        "CitationPrecision",
        "The share of the labelled documents cited by the answer that are good.",
        "good cited / labelled cited",
        range=SHARE,
        edge_cases="Undefined if the answer cites nothing that is labelled. Unlabelled documents and markers "
        "that cannot be resolved leave bounds.",
    ),
    _funnel(
        "UnsupportedCitations",
        "Cited documents that no search of the conversation returned and no call opened.",
        "number of them",
        unit="documents",
        direction="lower",
        range=COUNT,
        edge_cases=f"{_NO_ANSWER} Markers that cannot be resolved are in the upper bound only; "
        "with an unread search the lower bound is 0.",
        needs_labels=False,
    ),
    _funnel(
        "DryIterations",
        "Iterations at the end that returned no new evidence although some was missing.",
        "N - (the last iteration with a new good result), 0 if all of E was returned",
        unit="iterations",
        direction="lower",
        range=COUNT,
        edge_cases=_NO_EVIDENCE,
    ),
    _funnel(
        "Answer",
        "Whether the answer is right: 1 or 0, or a grade as a share of the judge's scale.",
        "1 if the normalised answer equals a gold answer; or (grade - lowest) / (highest - lowest)",
        range=SHARE,
        edge_cases="Undefined without a gold answer, without an answer in the trace, and where the judge "
        "failed.",
        needs_labels=False,
    ),
    _funnel(
        "Confidence",
        "The confidence that the answer states.",
        "the trace's `confidence`, or the number after 'Confidence:' in the answer",
        range=SHARE,
        edge_cases="Undefined if none is stated.",
        needs_labels=False,
    ),
    _funnel(
        "CalibrationError",
        "How far stated confidence is from accuracy.",
        "root of the mean of (mean confidence - mean Answer)^2 over bins of 100 runs in the order of "
        "confidence, each bin weighted by its runs; the last bin takes the rest",
        level="system",
        range=SHARE,
        direction="lower",
        edge_cases="Over runs with an Answer and a Confidence; undefined if there are none. It "
        "has no value for a single conversation.",
        citation=_BROWSECOMP,
        needs_labels=False,
    ),
)
