"""Presets: how other tools differ, measure by measure, as data.

`policy.PRESETS` holds a tool's policies, this table its exceptions for single measures. Nothing is computed
here: a rule only changes the options for the core.
"""

from __future__ import annotations

from goodgain.errors import UsageError
from goodgain.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from goodgain.measures.definition import Measure, Value
    from goodgain.ranking.policy import Policy


@dataclass(frozen=True, slots=True)
class Rule:
    """How a tool differs for some measures: policies, parameters, or options of the core."""

    measures: tuple[str, ...]
    why: str
    policy: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Value] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    cutoff: bool | None = None  # only with, or only without a cut-off
    when: Mapping[str, Value] = field(default_factory=dict)  # only with these parameters
    refuse: bool = False

    def holds(self, measure: Measure) -> bool:
        """Whether the rule applies to this measure."""
        return (
            measure.name in self.measures
            and (self.cutoff is None or self.cutoff == (measure.cutoff is not None))
            and all(measure.get(name) == value for name, value in self.when.items())
        )


_RECALL_UP = Rule(
    ("IPrec", "AP11"), "recall x R is rounded up unless its fraction is below .1",
    params={"rounding": "up"},
)  # fmt: skip
_DIVERSITY = (
    "StRecall",
    "alpha_DCG",
    "alpha_nDCG",
    "ERR_IA",
    "nERR_IA",
    "AP_IA",
    "P_IA",
    "NRBP",
    "nNRBP",
)

RULES: dict[str, tuple[Rule, ...]] = {
    "default": (),
    "trec_eval": (
        Rule(("RBP",), "persistence is .9, and grades count by the highest one of the query",
             params={"p": 0.9, "scale": "query"}),
        Rule(("RBP_resid",), "the tail past the list counts only if something in it is unjudged",
             params={"p": 0.9}, options={"kernel": "te_rbp_resid"}),
        Rule(("Unjudged",), "a negative gain is unjudged", options={"kernel": "te_unjudged"},
             cutoff=True),
    ),
    "trec_eval9": (_RECALL_UP,),
    "ir_measures": (
        _RECALL_UP,
        Rule(("RR",), "RR@k comes from another provider than RR",
             policy={"ties": "docid-ascending", "scores": "double"}, cutoff=True),
        Rule(("Judged",), "an empty list is 0", policy={"ties": "docid-ascending", "scores": "double"},
             options={"empty_zero": True}),
        Rule(("Compat",), "the overlap ends with the longer of the two lists",
             policy={"ties": "docid-ascending", "scores": "double"}, params={"depth": 0.0}),
        Rule(_DIVERSITY, "from pyndeval", policy={"ties": "docid-ascending", "scores": "double"}),
        Rule(("RBP", "Accuracy"), "tied documents stay in the order of the run",
             policy={"ties": "input", "scores": "double"}),
        Rule(("ERR",), "the highest grade is 4, whatever is judged", policy={"scores": "double"},
             params={"max_grade": 4.0}),
        Rule(("nDCG",), "from gdeval", policy={"scores": "double"}, when={"gain": "exp"}),
        Rule(("NumQ", "NumRel"), "queries missing from the run are not counted",
             policy={"missing": "skip"}),
        Rule(("SetF",), "beta is what is beta^2 elsewhere", options={"kernel": "te_set_f"}),
    ),
    "ranx": (
        Rule(("RBP",), "grades count as they are, so that values above 1 are possible",
             params={"scale": "none"}, options={"binary": False}),
        Rule(("Bpref",), "a negative gain is judged nonrelevant; none of those: undefined",
             params={"negative": "nonrelevant"}),
    ),
    "beir": (
        Rule(("RR", "R_cap", "Hit"), "BEIR's own code, which divides by all judged queries",
             policy={"ties": "input", "scores": "double", "missing": "zero", "same_id": "keep"}),
        Rule(("Unjudged",), "BEIR's Hole@k looks documents up in the judgments of all queries",
             refuse=True),
    ),
    "elasticsearch": (
        Rule(("nDCG",), "gains are 2^g - 1, and the ideal list is as long as what was returned",
             params={"gain": "exp", "ideal": "length"}),
        Rule(("DCG",), "gains are 2^g - 1", params={"gain": "exp"}),
        Rule(("P",), "divided by what was returned", params={"denominator": "returned"}),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Convention:
    """One measure as it is computed: its parameters and policies."""

    measure: Measure
    policy: Policy
    options: Mapping[str, Any]

    def for_core(self) -> dict[str, Any]:
        """Options for the native core."""
        return {**self.measure.options(), **self.options, "policy": self.policy.for_core()}


def convention(
    measure: Measure, policy: Policy, preset: str = "default", explicit: Collection[str] = ()
) -> Convention:
    """The measure as the preset's tool computes it.

    Explicit policies and the measure's own parameters win.
    """
    params: dict[str, Value] = {}
    options: dict[str, Any] = {}
    changes: dict[str, str] = {}
    for rule in RULES.get(preset, ()):
        if not rule.holds(measure):
            continue
        if rule.refuse:
            raise UsageError(
                f"{measure} is not available under the preset '{preset}': {rule.why}",
                hint="omit the measure, or evaluate it without the preset",
            )
        params |= rule.params
        options |= rule.options
        changes |= {name: value for name, value in rule.policy.items() if name not in explicit}
    own = dict(measure.params)
    changed = measure.with_defaults({n: v for n, v in params.items() if n not in own})
    return Convention(changed, policy.change(changes), options)
