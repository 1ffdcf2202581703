"""Parameters, citations and edge cases that several families share."""

from __future__ import annotations

from goodgain.measures.definition import Param

REL = Param(
    name="rel",
    default=1.0,
    meaning="the lowest gain that counts as relevant",
    low=0,
    open_low=True,
)
GAIN = Param(
    name="gain",
    default="linear",
    meaning="the gain of a grade g: g itself, or 2^g - 1",
    choices=("linear", "exp"),
    choice_options={"linear": {"exp_gain": False}, "exp": {"exp_gain": True}},
)
MIN_GAIN = Param(
    name="rel",
    default=None,
    meaning="if set, gains below it count as 0",
    low=0,
    open_low=True,
    options=("rel", "min_gain"),
)
ALPHA = Param(
    name="alpha",
    default=0.5,
    meaning="how much of its value an aspect loses each time it is repeated",
    low=0,
    high=1,
)
MAX_GRADE = Param(
    name="max_grade",
    default=None,
    meaning="the highest grade of the scale (default: the highest judged for any query, but at least 1)",
    low=0,
    open_low=True,
)

JARVELIN = "Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002"
BURGES = "Burges et al., Learning to rank using gradient descent, ICML 2005"
TREC = "Voorhees & Harman, TREC: Experiment and Evaluation in Information Retrieval, MIT Press 2005"
STREAMLINING = "MacAvaney, Macdonald & Ounis, Streamlining evaluation with ir-measures, ECIR 2022"
EXPERIMENT = "Defined by goodgain, after the experiment repeated in docs/experiment.md"
NO_RELEVANT = "No relevant document judged: 0. Nothing retrieved: 0."


def continuation(name: str, default: float, meaning: str) -> Param:
    """A probability strictly between 0 and 1."""
    return Param(
        name=name,
        default=default,
        meaning=meaning,
        low=0,
        high=1,
        open_low=True,
        open_high=True,
    )
