"""Whether tools agree on the means they print."""

from collections.abc import Mapping
from dataclasses import dataclass

ROUNDING = 1e-9


@dataclass(frozen=True)
class Means:
    """What one tool says, to so many decimals; `allowed` is what its definitions explain."""

    tool: str
    values: Mapping[str, float]
    decimals: int = 12
    allowed: float = 0.0

    @property
    def tolerance(self) -> float:
        return float(0.5 * 10**-self.decimals) + self.allowed


def disagreements(reference: Means, *others: Means) -> list[str]:
    """One sentence for every mean that differs from the reference by more than both tolerances."""
    found = []
    for other in others:
        for measure, expected in reference.values.items():
            value = other.values.get(measure)
            if value is None:
                found.append(f"{other.tool} printed no {measure}")
            elif not abs(value - expected) <= reference.tolerance + other.tolerance + ROUNDING:
                found.append(
                    f"{measure}: {other.tool} says {value!r}, {reference.tool} {expected!r}"
                )
    return found
