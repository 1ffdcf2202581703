"""Evidence against answers: was it returned, and was the answer right."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.stats.intervals import mean_interval, share_interval

if TYPE_CHECKING:
    from goodgain.agentic.system import SystemGain


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Runs with or without the evidence, and with a right or a wrong answer; a share with its interval."""

    evidence: bool
    right: bool
    count: int
    share: float
    low: float
    high: float

    def title(self, which: str) -> str:
        """What it counts: `right with any`, before "evidence"."""
        return (
            f"{'right' if self.right else 'wrong'} {'with' if self.evidence else 'without'} {which}"
        )

    def text(self) -> str:
        """The count, and the share with its interval as per cents."""
        if self.share != self.share:
            return f"{self.count:,}"
        interval = "" if self.low != self.low else f" [{100 * self.low:.0f}, {100 * self.high:.0f}]"
        return f"{self.count:,}  {100 * self.share:.0f} %{interval}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {k: None if v != v else v for k, v in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """The four cells: with evidence and right, with and wrong, without and right, without and wrong.

    `n` is the number of runs in them; of the `unknown` ones the evidence or the answer is not known.
    """

    cells: tuple[Cell, Cell, Cell, Cell]
    n: int
    unknown: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"cells": [c.to_dict() for c in self.cells], "n": self.n, "unknown": self.unknown}


def square_of(system: SystemGain, evidence: Literal["any", "all"], right: float) -> Square:
    """Counts of runs; where a conversation has several, shares are means over conversations.

    With "any" the evidence was returned if EvidenceRecall > 0, with "all" if it is 1. A run whose bounds
    leave that open is unknown, as is one without known evidence.
    """
    import numpy as np

    lower, upper = system.final_bounds_of_runs("EvidenceRecall")
    value = system.final_of_runs("EvidenceRecall")
    defined = value == value
    with_it = defined & (lower > 0 if evidence == "any" else lower == 1)
    without = defined & (upper == 0 if evidence == "any" else upper < 1)
    answer = system.final_of_runs("Answer")
    is_right, is_wrong = answer >= right, answer < right
    decided = (with_it | without) & (is_right | is_wrong)
    owners = np.array(system.runs.conversations, dtype=object)[decided]
    cells = []
    for has in (True, False):
        for good in (True, False):
            member = (with_it if has else without) & (is_right if good else is_wrong)
            share, low, high = _share(member[decided], owners, system.is_repeated)
            cells.append(
                Cell(
                    evidence=has,
                    right=good,
                    count=int(member.sum()),
                    share=share,
                    low=low,
                    high=high,
                )
            )
    unknown = int((~decided).sum())
    return Square(cells=tuple(cells), n=int(decided.sum()), unknown=unknown)  # type: ignore[arg-type]


def _share(members: Any, owners: Any, repeated: bool) -> tuple[float, float, float]:
    """A share with its interval: Wilson's, or over conversations where they are repeated."""
    import numpy as np

    if not len(members):
        return math.nan, math.nan, math.nan
    if not repeated:
        return share_interval(int(members.sum()), len(members))
    groups: dict[str, list[bool]] = {}
    for owner, member in zip(owners.tolist(), members.tolist(), strict=True):
        groups.setdefault(owner, []).append(member)
    means = np.array([sum(g) / len(g) for g in groups.values()], dtype=np.float64)
    mean, low, high, _ = mean_interval(means)
    return mean, max(0.0, low), min(1.0, high)
