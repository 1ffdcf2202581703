"""Policies: named choices that change numbers, validated and recorded in every result."""

from __future__ import annotations

from goodgain.errors import UsageError, keyword_hint
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from goodgain.names import Duplicates, Missing, SameId, Scores, Ties, Unjudged

CHOICES: dict[str, dict[str, str]] = {
    "ties": {
        "docid": "equal scores: larger document id first, in byte order, as trec_eval",
        "docid-ascending": "equal scores: smaller document id first, in byte order",
        "input": "equal scores: in the order of the run",
        "average": "the mean over all orders of equal scores",
        "bounds": "the smallest and the largest value over all orders of equal scores",
    },
    "missing": {
        "zero": "a judged query missing from the run counts as an empty list",
        "skip": "a judged query missing from the run is left out of the mean",
    },
    "unjudged": {
        "nonrelevant": "an unjudged document is not relevant",
        "remove": "unjudged documents are removed from the ranking (condensed lists)",
        "remove-negative": "also removes documents of negative gain, as trec_eval -J",
        "bounds": "the smallest and the largest value over all gains of unjudged documents",
    },
    "duplicates": {
        "error": "a duplicate document of a query is an error, in a run and in judgments",
        "first": "the first occurrence counts; of judgments in several iterations the first",
        "best": "the best score counts, at the first occurrence's place; of judgments the highest gain",
    },
    "scores": {
        "double": "scores are 64-bit numbers",
        "single": "scores are rounded to 32 bits first, as trec_eval 9 reads them",
    },
    "same_id": {
        "keep": "a document may have the id of the query",
        "drop": "a document with the id of the query is removed from the ranking, as in BEIR",
    },
}

# The parameters of `evaluate` that can be misspelled as policies.
_PARAMETERS = (
    *CHOICES,
    "measures",
    "policy",
    "preset",
    "threads",
    "memory",
    "columns",
    "identity",
    "skip_bad",
)


@dataclass(frozen=True, slots=True)
class Policy:
    """How ties, missing queries, unjudged documents, duplicates and score precision are handled.

    >>> import goodgain as gg
    >>> qrels, tied = {"q1": {"a": 1, "b": 0}}, {"q1": {"a": 1.0, "b": 1.0}}
    >>> gg.evaluate(qrels, tied, "RR", policy=gg.Policy(ties="average"))["RR"]
    0.75
    >>> gg.evaluate(qrels, tied, "RR", ties="docid")["RR"]
    0.5
    """

    ties: Ties = "docid"
    missing: Missing = "zero"
    unjudged: Unjudged = "nonrelevant"
    duplicates: Duplicates = "error"
    scores: Scores = "double"
    same_id: SameId = "keep"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise UsageError(
                    f"invalid policy {name}='{value}'", hint=f"one of: {', '.join(choices)}"
                )
        if self.unjudged == "bounds" and self.ties in ("average", "bounds"):
            raise UsageError(
                f"unjudged=bounds cannot be combined with ties={self.ties}",
                hint="bounds cover one unknown at a time: use ties=docid or ties=input",
            )

    @classmethod
    def of(
        cls,
        policy: Policy | Mapping[str, str] | None = None,
        preset: str = "default",
        **choices: Any,
    ) -> Policy:
        """A preset with changes."""
        if isinstance(policy, Policy):
            return policy.change(choices) if choices else policy
        if preset not in PRESETS:
            raise UsageError(f"unknown preset '{preset}'", hint=f"one of: {', '.join(PRESETS)}")
        return PRESETS[preset].change({**(policy or {}), **choices})

    def change(self, choices: Mapping[str, Any]) -> Policy:
        """The same policies with some choices changed."""
        for name in choices:
            if name not in CHOICES:
                raise UsageError(f"unknown policy '{name}'", hint=keyword_hint(name, _PARAMETERS))
        return Policy(**{**self.to_dict(), **choices})

    @property
    def has_bounds(self) -> bool:
        """Whether results carry a lower and an upper value."""
        return "bounds" in (self.ties, self.unjudged)

    def to_dict(self) -> dict[str, str]:
        """Name to choice."""
        return {name: getattr(self, name) for name in CHOICES}

    def for_core(self) -> dict[str, Any]:
        """Options for the native core."""
        return dict(self.to_dict())

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.to_dict().items())


# The policies of other tools; their rules for single measures are in `presets`.
PRESETS: dict[str, Policy] = {
    "default": Policy(),
    "trec_eval": Policy(missing="skip"),
    "trec_eval9": Policy(missing="skip", scores="single"),
    "ir_measures": Policy(scores="single"),
    "ranx": Policy(ties="input"),
    "beir": Policy(missing="skip", scores="single", same_id="drop"),
    "elasticsearch": Policy(ties="input"),
}
