"""The settings of Good Gain, recorded in every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from goodgain.errors import UsageError

Align = Literal["active", "carry"]
DISCOUNTS = ("log2", "none", "reciprocal", "geometric")


@dataclass(frozen=True, slots=True, kw_only=True)
class GainSettings:
    """Threshold and scale of gains, discount over iterations, scored turns, alignment of lengths.

    Results without a label have an unknown gain, or 0 where the labels are complete.
    """

    threshold: float = 2
    max_gain: float = 4
    gain: Literal["linear", "exp"] = "linear"
    discount: str = "log2"
    patience: float = 0.8  # of the geometric discount: patience^(i-1)
    turn: Literal["last", "all"] | int = "last"
    align: Align = "active"
    unlabelled: Literal["unknown", "zero"] = "unknown"
    unit: str = "document"
    opens: Literal["calls", "content"] = "calls"  # a result with its content counts as opened

    def __post_init__(self) -> None:
        if not self.max_gain > 0 or self.max_gain == float("inf"):
            raise UsageError(f"max_gain must be a positive number, got {self.max_gain}")
        if not 0 < self.threshold <= self.max_gain:
            raise UsageError(
                f"threshold must be above 0 and at most {self.max_gain:g}, got {self.threshold}"
            )
        if not 0 < self.patience < 1:
            raise UsageError(f"patience must be between 0 and 1, got {self.patience}")
        self._one_of("gain", ("linear", "exp"))
        self._one_of("discount", DISCOUNTS)
        self._one_of("align", ("active", "carry"))
        self._one_of("unlabelled", ("unknown", "zero"))
        self._one_of("opens", ("calls", "content"))
        if self.turn not in ("last", "all") and (not isinstance(self.turn, int) or self.turn < 1):
            raise UsageError(f"invalid turn={self.turn!r}: use 'last', 'all' or a positive integer")

    def _one_of(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            raise UsageError(
                f"invalid {name}='{getattr(self, name)}'", hint=f"one of: {', '.join(choices)}"
            )

    def for_core(self, skip_bad: bool, answers: bool = False) -> dict[str, Any]:
        """Options for the native core; with `answers` it keeps their texts."""
        turn = {"last": 0, "all": -1}.get(str(self.turn), self.turn)
        return {
            "threshold": float(self.threshold),
            "max_gain": float(self.max_gain),
            "gain": self.gain,
            "discount": self.discount,
            "patience": float(self.patience),
            "unlabelled": self.unlabelled,
            "turn": turn,
            "skip_bad": skip_bad,
            "opens": self.opens,
            "answers": answers,
        }

    def to_dict(self) -> dict[str, Any]:
        """Name to value."""
        return asdict(self)
