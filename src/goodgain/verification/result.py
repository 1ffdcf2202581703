"""What a self-test found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from goodgain.results.text import html_table, render

UNEXPLAINED = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One value that differs from ours; `cause` is the convention behind it, if one is known."""

    measure: str
    query: str
    policy: str
    value: float
    expected: float
    cause: str = UNEXPLAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The values compared with one source, and those that differ."""

    against: str
    values: int
    differences: tuple[Difference, ...] = ()
    note: str = ""

    @property
    def unexplained(self) -> tuple[Difference, ...]:
        """The differences without a known cause."""
        return tuple(d for d in self.differences if d.cause == UNEXPLAINED)

    def causes(self) -> dict[str, int]:
        """How many values each known convention changed."""
        counts: dict[str, int] = {}
        for difference in self.differences:
            if difference.cause != UNEXPLAINED:
                counts[difference.cause] = counts.get(difference.cause, 0) + 1
        return counts

    def lines(self) -> list[str]:
        """The check in words."""
        if not self.values:
            return [f"not checked against {self.against}: {self.note}"]
        head = f"checked {self.values:,} values against {self.against}: "
        if not self.differences:
            return [head + "0 differ"]
        known = len(self.differences) - len(self.unexplained)
        lines = [
            f"{head}{len(self.differences):,} differ"
            + (f", {known:,} by a known convention" if known else "")
            + (f", {len(self.unexplained):,} unexplained" if self.unexplained else "")
        ]
        lines += [f"  {count:>6,}  {cause}" for cause, count in self.causes().items()]
        for d in self.unexplained[:5]:
            policy = f" ({d.policy})" if d.policy else ""
            lines.append(
                f"  unexplained: {d.measure} of query '{d.query}'{policy} is {d.value!r}, "
                f"not {d.expected!r}"
            )
        if len(self.unexplained) > 5:
            lines.append(f"  and {len(self.unexplained) - 5:,} more")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """All checks of a self-test."""

    sample: str
    checks: tuple[Check, ...]
    not_covered: tuple[str, ...]  # measures without a brute-force definition
    missing: tuple[str, ...]  # tools that are not installed

    @property
    def passed(self) -> bool:
        """Whether every difference is explained."""
        return not any(check.unexplained for check in self.checks)

    @property
    def values(self) -> int:
        """The number of values compared."""
        return sum(check.values for check in self.checks)

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text, or as rows of differences in a machine-readable format."""
        if format != "table":
            return render(format, *self._table())
        lines = [f"{self.sample}:"]
        lines += [line for check in self.checks for line in check.lines()]
        if self.not_covered:
            lines.append(f"without a definition to check against: {', '.join(self.not_covered)}")
        if self.missing:
            lines.append(f"not installed: {', '.join(self.missing)}")
        return "\n".join(lines) + "\n"

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = ["against", "values", "differ", "explained", "unexplained", "causes"]
        rows: list[list[Any]] = [
            [
                check.against,
                check.values,
                len(check.differences),
                len(check.differences) - len(check.unexplained),
                len(check.unexplained),
                "; ".join(f"{cause}: {count}" for cause, count in check.causes().items()),
            ]
            for check in self.checks
        ]
        return columns, rows

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        from dataclasses import asdict

        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        state = "passed" if self.passed else "failed"
        return f"SelfTest({state}: {self.values:,} values)"

    def _repr_html_(self) -> str:
        return html_table(*self._table())
