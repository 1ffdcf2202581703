"""Non-inferiority margins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from goodgain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Margin:
    """A default margin and margins of single measures; a share ("2%") is relative to the baseline's mean."""

    default: tuple[float, bool] | None  # the number, and whether it is a share
    special: Mapping[str, tuple[float, bool]]

    @classmethod
    def of(cls, value: float | str | Mapping[str, float | str] | None) -> Margin | None:
        """From 0.01, "2%", or {measure: either}, with "" for all other measures."""
        if value is None:
            return None
        if isinstance(value, Mapping):
            margins = {str(m): _parsed(v) for m, v in value.items()}
            return cls(margins.pop("", None), margins)
        return cls(_parsed(value), {})

    def __str__(self) -> str:
        named = {"": self.default, **self.special} if self.default else dict(self.special)
        texts = [f"{m} {100 * n:g}%" if share else f"{m} {n:g}" for m, (n, share) in named.items()]
        return ", ".join(part.strip() for part in texts)

    def value(self, measure: str, baseline_mean: float) -> float | None:
        """The margin of a measure, in its own unit; None if it has none."""
        margin = self.special.get(measure, self.default)
        if margin is None:
            return None
        number, is_share = margin
        return number * abs(baseline_mean) if is_share else number


def _parsed(value: float | str) -> tuple[float, bool]:
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(
            f"the margin must be a non-negative number, got '{value}'",
            hint="for example 0.01, or 2%",
        )
    return (number / 100, True) if text.endswith("%") else (number, False)
