"""The result of `optimise`: the best setting, how sure that is, and what the race saved."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from goodgain.experiment.choice import Estimate
from goodgain.experiment.racing import NONE_LEFT, ONE_LEFT, TIED, Budget, Rules
from goodgain.measures.custom import saved_measure
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import WIDE_FORMATS, html_table, number, render
from goodgain.results.views import Reportable
from goodgain.stats.quantiles import values_needed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from goodgain.measures import Measure

OPEN = "not enough evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingResult:
    """How one setting did in the race; its intervals hold at any moment the race may stop."""

    name: str
    outcome: str  # best, leads, tied, open, worse, latency, cost, failed
    rival: str  # for "worse": the setting with the most evidence against it
    queries: int
    mean: float
    low: float
    high: float
    latency: float  # the percentile of the budget, or p95, in seconds
    latency_low: float
    latency_high: float
    cost: float  # mean of the calls
    failed: int = 0  # calls, which count as empty lists
    error: str = ""  # the first of them

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        words = {
            "best": "best",
            "leads": "leads",
            "tied": "not better by the margin",
            "open": "not separable from the best",
            "worse": f"worse than {self.rival}",
            "latency": "over the latency budget",
            "cost": "over the cost budget",
            "failed": "failed",
        }
        failed = f" ({self.failed:,} calls failed)" if self.failed else ""
        return words[self.outcome] + failed


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetCheck:
    """The percentile of the winner's latency or cost over held-out queries, with its interval."""

    budget: Budget
    value: float
    low: float
    high: float
    calls: int
    level: float  # of the interval

    @property
    def verdict(self) -> str:
        """Whether the winner is within the budget: "within", "over" or "not shown"."""
        if self.high <= self.budget.limit:
            return "within"
        return "over" if self.low > self.budget.limit else "not shown"

    def __str__(self) -> str:
        name = f"{self.budget.quantity.capitalize()}: p{self.budget.percent:g}"
        if not self.calls:
            return f"{name} unknown, since no held-out call reported it"
        limit = amount(self.budget, self.budget.limit)
        low, high = (amount(self.budget, v) for v in (self.low, self.high))
        interval = f"[{low}, {high}]" if math.isfinite(self.high) else f"[{low}, not bounded)"
        verdict = {
            "within": f"within the budget of {limit}",
            "over": f"over the budget of {limit}",
            "not shown": f"not shown to be within the budget of {limit}",
        }[self.verdict]
        calls = f"{self.calls:,} held-out calls"
        needed = values_needed(self.budget.percent, self.level)
        if not math.isfinite(self.high) and self.calls < needed:
            calls += f", too few to bound it: {needed:,}"
        return f"{name} {amount(self.budget, self.value)} {interval}, {verdict} ({calls})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """The calls of the full grid and those the race needed; seconds and cost of the others are estimates."""

    full: int
    used: int
    reused: int  # of the used ones, those that the folder had before
    seconds: float
    seconds_saved: float
    cost: float | None
    cost_saved: float | None

    def __str__(self) -> str:
        saved = self.full - self.used
        share = f"{100 * saved / self.full:.0f} %" if self.full else "none"
        costs = "" if self.cost_saved is None else f" and about {self.cost_saved:.4g} of cost"
        reused = f" ({self.reused:,} were in the folder already)" if self.reused else ""
        return (
            f"{self.used:,} calls{reused} instead of the {self.full:,} of the full grid: saved {saved:,} "
            f"({share}), about {_seconds(self.seconds_saved)} of searching{costs}"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Optimisation(SavedAsJson, Reportable):
    """The outcome of a race: `best`, its `estimate` on held-out queries, and every setting's fate."""

    KIND: ClassVar[str] = "optimisation"
    FORMAT: ClassVar[int] = 1

    measure: Measure
    rules: Rules
    seed: int
    outcome: str  # one left, tied, none within the budget, not enough evidence
    best: str | None
    settings: tuple[SettingResult, ...]
    raced: int  # queries
    race_queries: int  # that were available to the race
    estimate: Estimate | None
    checks: tuple[BudgetCheck, ...]
    savings: Savings
    failures: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether the evidence decides: one setting is left, or none is better by the margin."""
        return self.outcome in (ONE_LEFT, TIED)

    @property
    def live(self) -> list[SettingResult]:
        """The settings that were never dropped, best mean first."""
        left = [s for s in self.settings if s.outcome in ("best", "leads", "open", TIED)]
        return sorted(left, key=lambda s: -self.measure.sign * s.mean)

    def sentences(self) -> list[str]:
        """The answer first, then how it was obtained."""
        many = f"{len(self.settings):,} settings"
        queries = f"{self.raced:,} queries"
        others = len(self.live) - 1
        margin = f"{self.rules.margin:g}"
        first = {
            ONE_LEFT: f"{self.best} is the best of {many} by {self.measure}, after {queries}.",
            TIED: f"{self.best} is the best of {many} by {self.measure} within a margin of {margin}: after "
            f"{queries}, {others} other{'s' * (others != 1)} left, none better by {margin} or more.",
            NONE_LEFT: f"None of {many} is within the budget, after {queries}.",
            OPEN: f"Not enough evidence: after all {queries} of the race, {others + 1} of {many} are "
            f"left. {self.best} leads by {self.measure}, but is not shown to be the best.",
        }[self.outcome]
        lines = [first]
        if self.estimate is not None:
            lines.append(
                f"{self.measure} {self.estimate} on held-out queries: chosen on {self.raced:,} queries, "
                f"measured on the other {self.estimate.queries:,}."
            )
            best = next(s for s in self.settings if s.name == self.best)
            lines.append(
                f"Its mean in the race, {number(best.mean)}, chose it and is likely too high."
                if self.measure.sign > 0
                else f"Its mean in the race, {number(best.mean)}, chose it and is likely too low."
            )
        lines += [f"{check}." for check in self.checks]
        lines.append(f"{self.savings}.")
        return lines

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """One row for each setting: those left first, then the dropped, the last one first."""
        percent = next((b.percent for b in self.rules.budgets if b.quantity == "latency"), 95)
        columns = ["setting", str(self.measure), "interval", f"p{percent:g} ms", "interval ms"]
        has_cost = any(not math.isnan(s.cost) for s in self.settings)
        columns += ["cost"] * has_cost + ["queries", "outcome"]
        rows: list[list[Any]] = []
        for s in self.ordered():
            high = "not bounded" if math.isinf(s.latency_high) else number(1000 * s.latency_high, 2)
            cost = [number(s.cost, 6)] if has_cost else []
            is_timed = not math.isnan(s.latency)
            rows.append(
                [s.name, s.mean, f"[{number(s.low)}, {number(s.high)}]",
                 number(1000 * s.latency, 2) if is_timed else "-",
                 f"[{number(1000 * s.latency_low, 2)}, {high}]" if is_timed else "-",
                 *cost, s.queries, s.verdict]
            )  # fmt: skip
        return columns, rows

    def ordered(self) -> list[SettingResult]:
        """Those left first, best mean first; then the dropped, the last one first."""
        left = self.live
        names = {s.name for s in left}
        best = [s for s in left if s.name == self.best]
        dropped = [s for s in self.settings if s.name not in names]
        return [
            *best,
            *(s for s in left if s.name != self.best),
            *sorted(dropped, key=lambda s: (-s.queries, -self.measure.sign * _or_worst(s.mean))),
        ]

    def legend(self) -> list[str]:
        """What the table's numbers are."""
        return [
            f"Means and percentiles in the race; their {100 * (1 - self.rules.alpha):g} % "
            "intervals are valid whenever the race stops.",
            f"The best setting is dropped with a probability of at most {self.rules.alpha:g} (margin "
            f"{self.rules.margin:g}, seed {self.seed}).",
        ]

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The result as text: the answer and a table for people, or rows for machines."""
        if format == "json":
            return self.to_json()
        if format in WIDE_FORMATS:
            mark = "% " if format == "latex" else ""
            text = "".join(f"{mark}{line}\n" for line in self.sentences())
            legend = "".join(f"{mark}{line}\n" for line in self.legend())
            return f"{text}\n{render(format, *self.rows())}\n{legend}"
        columns = list(asdict(self.settings[0]))
        return render(format, columns, [list(asdict(s).values()) for s in self.ordered()])

    def warnings(self) -> list[str]:
        """What a reader of the numbers should know."""
        return [
            *self.notes,
            *(f"{name}: {error}" for name, error in self.failures.items()),
            *(
                f"{s.name}: {s.failed:,} calls failed and count as empty lists ({s.error}); run it again to "
                "retry them"
                for s in self.settings
                if s.failed
            ),
        ]

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        return f"Optimisation({self.outcome}: {self.best}; {len(self.settings)} settings, {self.measure})"

    def _repr_html_(self) -> str:
        return html_table(*self.rows(), " ".join([*self.sentences(), *self.legend()]))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "goodgain": self.KIND,
            "format": self.FORMAT,
            "outcome": self.outcome,
            "best": self.best,
            "summary": self.sentences(),
            "measure": self.measure.to_dict(),
            "rules": asdict(self.rules),
            "seed": self.seed,
            "raced": self.raced,
            "race_queries": self.race_queries,
            "estimate": None if self.estimate is None else _plain(asdict(self.estimate)),
            "checks": [_plain(asdict(check)) for check in self.checks],
            "savings": asdict(self.savings),
            "settings": [_plain(asdict(s)) for s in self.settings],
            "failures": self.failures,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        rules = data["rules"]
        return cls(
            measure=saved_measure(data["measure"]),
            rules=Rules(**{**rules, "budgets": tuple(Budget(**b) for b in rules["budgets"])}),
            seed=data["seed"],
            outcome=data["outcome"],
            best=data["best"],
            settings=tuple(
                SettingResult(**_numbers(s, ("mean", "latency", "cost"), ("latency_high",)))
                for s in data["settings"]
            ),
            raced=data["raced"],
            race_queries=data["race_queries"],
            estimate=data["estimate"] and Estimate(**_numbers(data["estimate"], ("mean",))),
            checks=tuple(
                BudgetCheck(
                    **{**_numbers(c, ("value",), ("high",)), "budget": Budget(**c["budget"]),
                       "low": -math.inf if c["low"] is None else c["low"]}
                )
                for c in data["checks"]
            ),
            savings=Savings(**data["savings"]),
            failures=data["failures"],
            notes=tuple(data["notes"]),
        )  # fmt: skip


def amount(budget: Budget, value: float) -> str:
    """A latency with its unit, or a cost."""
    return _seconds(value) if budget.quantity == "latency" else f"{value:.4g}"


def _seconds(value: float) -> str:
    if not math.isfinite(value):
        return "0 ms" if value < 0 else "-"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def _or_worst(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """What is not finite as null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in data.items()
    }


def _numbers(
    data: dict[str, Any], undefined: Sequence[str], unbounded: Sequence[str] = ()
) -> dict[str, Any]:
    """Null as the number it stood for."""
    missing = dict.fromkeys(undefined, math.nan) | dict.fromkeys(unbounded, math.inf)
    return {k: missing[k] if v is None and k in missing else v for k, v in data.items()}
