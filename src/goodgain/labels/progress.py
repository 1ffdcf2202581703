"""The progress of a labelling run, and its summary in the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError, dataclass, field
from time import monotonic
from typing import Any


@dataclass(slots=True, kw_only=True)
class Progress:
    """The progress of a run, and its summary in the end; read-only once the run has ended."""

    total: int
    stored: int = 0  # labels that the store had already
    stored_failures: Counter[str] = field(default_factory=Counter)  # of those, without a gain
    pairs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)  # final ones, of this run's labels
    calls: int = 0
    retries: int = 0
    cut: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    estimated: int = 0  # calls whose tokens the server did not report
    last_failure: str = ""
    unused: Counter[str] = field(default_factory=Counter)  # fields of pairs that the prompt lacks
    started: float = field(default_factory=monotonic)
    planning: bool = False  # more pairs are still being read: `total` grows
    stopped: str = ""  # "budget", "interrupted", "failed", or empty
    ended: float | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "ended", None) is not None:
            raise FrozenInstanceError(f"cannot assign to '{name}': the run has ended")
        object.__setattr__(self, name, value)

    @property
    def done(self) -> int:
        """Labels that this run has finished, including failures."""
        return sum(self.statuses.values())

    @property
    def ok(self) -> int:
        """Labels with a gain, of this run and of earlier ones."""
        return self.stored - self.stored_failures.total() + self.statuses["ok"]

    @property
    def without_text(self) -> int:
        """Documents without a text, for which no call was made in this run or an earlier one."""
        return self.stored_failures["no_text"] + self.statuses["no_text"]

    @property
    def stored_to_retry(self) -> Counter[str]:
        """Labels that failed in an earlier run and were not requested again, by status."""
        return Counter({s: n for s, n in self.stored_failures.items() if s != "no_text"})

    @property
    def failures(self) -> Counter[str]:
        """Labels that failed, by status, of this run and of earlier ones that it did not retry."""
        new = Counter({s: n for s, n in self.statuses.items() if s not in ("ok", "no_text") and n})
        return self.stored_to_retry + new

    @property
    def seconds(self) -> float:
        """The time since the run started, or its duration."""
        return (self.ended or monotonic()) - self.started

    @property
    def rate(self) -> float:
        """Labels per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Estimated seconds left, or None if there is no estimate yet."""
        if self.planning or not self.done:
            return None
        return (self.total - self.done) / self.rate
