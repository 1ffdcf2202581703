"""A declared scale of gains, and what happens to labels outside it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from goodgain.errors import InputError, UsageError

Gains = dict[str, dict[str, float]]  # {query: {document: gain}}
Outside = Literal["error", "clip"]
OUTSIDE = {
    "error": "report an error",
    "clip": "count them as the nearest end of the scale, and report how many",
}


@dataclass(frozen=True, slots=True)
class Scale:
    """The lowest and the highest gain that a label can have."""

    low: float
    high: float

    @classmethod
    def of(cls, value: str | tuple[float, float] | Scale | None) -> Scale | None:
        """From "0..4", "0-4", or (0, 4)."""
        if value is None or isinstance(value, Scale):
            return value
        ends = value
        if isinstance(value, str):
            match = re.fullmatch(r"\s*(-?[\d.]+)\s*(?:\.\.|-|to|,)\s*(-?[\d.]+)\s*", value)
            ends = (match[1].strip("."), match[2]) if match else ()  # type: ignore[assignment]
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            low = high = math.nan
        if not -math.inf < low < high < math.inf:
            raise UsageError(
                f"the scale must be its lowest and its highest gain, got '{value}'",
                hint="for example 0..4",
            )
        return cls(low, high)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def grades(self) -> list[float]:
        """The whole numbers of the scale."""
        return [float(g) for g in range(math.ceil(self.low), math.floor(self.high) + 1)]

    def require_threshold(self, threshold: float) -> None:
        """A threshold separates good from bad only if both are on the scale."""
        if not self.low < threshold <= self.high:
            raise UsageError(
                f"threshold {threshold:g} does not divide the scale {self}",
                hint="a gain of at least the threshold is good",
            )

    def apply(self, gains: Gains, whose: str, outside: Outside) -> tuple[Gains, int]:
        """The gains on the scale, and how many were moved there."""
        clipped = 0
        result: Gains = {}
        for query, docs in gains.items():
            own = result.setdefault(query, {})
            for doc, gain in docs.items():
                if self.low <= gain <= self.high:
                    own[doc] = gain
                    continue
                if outside == "error" or gain != gain:
                    raise InputError(
                        f"{whose} label {gain:g} of query '{query}', document '{doc}' is outside the "
                        f"scale {self}",
                        hint="outside='clip' (--outside clip) counts it as the nearest end",
                    )
                own[doc] = min(max(gain, self.low), self.high)
                clipped += 1
        return result, clipped
