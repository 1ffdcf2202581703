"""Margins: how much worse is still no worse, and the tests that need one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.stats.paired import Resampling, run_test

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Margin:
    """A margin for all measures, and others for some; a share ("2%") is of the baseline's mean."""

    default: tuple[float, bool] | None  # the number, and whether it is a share
    special: Mapping[str, tuple[float, bool]]

    @classmethod
    def of(cls, given: float | str | Mapping[str, float | str] | None) -> Margin | None:
        """From 0.01, "2%", or {measure: either}, where the measure "" stands for all others."""
        if given is None:
            return None
        if isinstance(given, Mapping):
            found = {str(m): _parsed(v) for m, v in given.items()}
            return cls(found.pop("", None), found)
        return cls(_parsed(given), {})

    def __str__(self) -> str:
        named = {"": self.default, **self.special} if self.default else dict(self.special)
        parts = [f"{m} {100 * n:g}%" if share else f"{m} {n:g}" for m, (n, share) in named.items()]
        return ", ".join(part.strip() for part in parts)

    def value(self, measure: str, baseline_mean: float) -> float | None:
        """The margin of a measure, in its own unit; None where it has none."""
        found = self.special.get(measure, self.default)
        if found is None:
            return None
        number, is_share = found
        return number * abs(baseline_mean) if is_share else number


def _parsed(given: float | str) -> tuple[float, bool]:
    text = str(given).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(
            f"the margin '{given}' is not a number from 0 on", hint="for example 0.01, or 2%"
        )
    return (number / 100, True) if text.endswith("%") else (number, False)


def noninferior_p(
    gains: Floats, margin: float, test: str = "t", resampling: Resampling | None = None
) -> float:
    """P-value against "worse by the margin or more"; `gains` are positive where the system is better."""
    return run_test("t" if test == "tukey" else test, gains + margin, "greater", resampling).p
