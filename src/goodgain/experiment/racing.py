"""A race of settings: query by query, those that are surely worse or surely over a budget drop out.

All evidence is money won by bets (`goodgain.stats.betting`), so it may be looked at after every query.
`alpha` is the probability of any mistake, shared out by `SHARES`:

- worse: a setting is dropped when the evidence that rivals are better, averaged over all rivals, is large
  enough. With a budget the level is divided by the number of settings: which of them count is not known yet.
- over a budget: dropped for good. Its evidence against others no longer counts, so those that it alone had
  beaten return.
- tied: no setting that is left is better than the leader by the margin or more.

Dropping the best setting that is within the budget, or a wrong tie, has a probability of at most `alpha`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goodgain.errors import UsageError
from goodgain.stats.betting import Bets, share_above, share_bet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Of alpha: for dropping the best as worse, for dropping it as over a budget, for a wrong tie.
SHARES = {False: (0.8, 0.0, 0.2), True: (0.6, 0.2, 0.2)}  # with a budget: True
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0}
ONE_LEFT, TIED, NONE_LEFT = "one left", "tied", "none within the budget"


@dataclass(frozen=True, slots=True)
class Budget:
    """The highest value that a percentile of the latency or cost of calls may have."""

    quantity: str  # "latency" in seconds, or "cost"
    limit: float
    percent: float = 95

    @classmethod
    def of(cls, quantity: str, value: str | float) -> Budget:
        """From 0.05, "50ms", "p99=1.5s"; costs have no unit."""
        text = str(value).strip()
        percent, equals, limit = text.rpartition("=")
        number = _number(limit, _UNITS if quantity == "latency" else {"": 1.0})
        share = _number(percent.removeprefix("p"), {"": 1.0}) if equals else 95.0
        if number is None or not 0 < number < math.inf or share is None or not 0 < share < 100:
            example = "50ms, p99=1.5s" if quantity == "latency" else "0.002, p50=0.001"
            raise UsageError(f"invalid {quantity} budget '{value}'", hint=f"for example {example}")
        return cls(quantity, number, share)


def budgets_of(max_latency: str | float | None, max_cost: str | float | None) -> tuple[Budget, ...]:
    """The budgets that are set."""
    limits = {"latency": max_latency, "cost": max_cost}
    return tuple(Budget.of(name, value) for name, value in limits.items() if value is not None)


def _number(text: str, units: Mapping[str, float]) -> float | None:
    """A number with one of these units; None if it is something else."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*([a-zµ]*)\s*", text)
    if match is None or match[2] not in units:
        return None
    try:
        return float(match[1]) * units[match[2]]
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is raced for: a measure with a known range, its direction, and the limits."""

    low: float
    high: float
    sign: int = 1
    alpha: float = 0.05
    margin: float = 0.02
    budgets: tuple[Budget, ...] = ()


@dataclass(frozen=True, slots=True)
class Drop:
    """Why and when a setting left the race."""

    reason: str  # "worse", "latency" or "cost"
    queries: int
    rival: str = ""  # the setting with the most evidence against it


@dataclass(slots=True)
class _Budgeted:
    """Bets on one budget, by setting: that it is over it, and the values of its calls."""

    budget: Budget
    over: Bets
    seen: list[set[str]] = field(
        default_factory=list
    )  # of each setting, the queries that were bet on


class Race:
    """The state of a race, which depends on the observations only, not on when they arrive."""

    def __init__(self, settings: Sequence[str], rules: Rules) -> None:
        self.settings, self.rules = list(settings), rules
        self.dropped: dict[str, Drop] = {}
        self.queries = 0
        self._place = {name: i for i, name in enumerate(self.settings)}
        self._values: list[Floats] = []  # one row of scaled values for each query
        self._start_bets()
        worse, over, tie = (rules.alpha * share for share in SHARES[bool(rules.budgets)])
        count = len(self.settings)
        self._worse_line = math.log((count if rules.budgets else 1) / worse)
        self._tie_line = math.log(max(1, count - 1) / tie)
        self._over_line = math.log(len(rules.budgets) / over) if rules.budgets else math.inf
        self._budgets = [
            _Budgeted(b, Bets((count,), share_bet(0.0, b.percent, 1)[1]), [set() for _ in settings])
            for b in rules.budgets
        ]

    def _start_bets(self) -> None:
        import numpy as np

        shape = (len(self.settings), len(self.settings))
        self._sums, self._counts = np.zeros(shape[0]), np.zeros(shape[0])
        self._worse = Bets(shape, 1.0)  # [j, i]: that j is better than i
        self._margin = self.rules.margin / (self.rules.high - self.rules.low)
        self._tied = Bets(
            shape, 1.0 - min(self._margin, 0.99)
        )  # [i, b]: that i is not better by the margin

    @property
    def live(self) -> list[str]:
        """The settings that are still in the race."""
        return [name for name in self.settings if name not in self.dropped]

    def observe(self, values: Mapping[str, float]) -> None:
        """The values of the next query for all settings in the race; undefined values are NaN."""
        import numpy as np

        row = np.full(len(self.settings), math.nan)
        for name, value in values.items():
            row[self._place[name]] = self._scaled(value)
        self._values.append(row)
        self.queries += 1
        self._bet(row)
        self._drop_worse()

    def catch_up(self, name: str, values: Mapping[int, float]) -> None:
        """Values of earlier queries, by their number, of a setting that returned to the race."""
        for number, value in values.items():
            self._values[number][self._place[name]] = self._scaled(value)
        self._start_bets()
        for row in self._values:
            self._bet(row)
        self._drop_worse()

    def observe_calls(self, name: str, query: str, amounts: Mapping[str, Sequence[float]]) -> None:
        """Latencies and costs of one query's calls, in the race or after it; they count once."""
        import numpy as np

        place = self._place[name]
        for bets in self._budgets:
            values = amounts.get(bets.budget.quantity, ())
            if query in bets.seen[place] or not len(values):
                continue
            bets.seen[place].add(query)
            row = np.full(len(self.settings), math.nan)
            share = share_above(values, bets.budget.limit)
            row[place] = share_bet(share, bets.budget.percent, 1)[0]
            bets.over.add(row)
            if bets.over.log_money()[place] >= self._over_line and name not in self._over():
                self.dropped[name] = Drop(bets.budget.quantity, self.queries)
                self._return_settings()

    def give_up(self, name: str, reason: str) -> None:
        """Take a setting out that cannot be called."""
        self.dropped[name] = Drop(reason, self.queries)

    def outcome(self) -> str | None:
        """Why the race is over; None if it is not."""
        live = self.live
        if len(live) < 2:
            return ONE_LEFT if live else NONE_LEFT
        leader = self._place[self.leader()]
        evidence = self._tied.log_money()[:, leader]
        others = [self._place[name] for name in live if self._place[name] != leader]
        return TIED if all(evidence[i] >= self._tie_line for i in others) else None

    def leader(self) -> str:
        """The live setting with the best mean, the first of several."""
        means = self.means()
        return max(self.live, key=lambda name: self.rules.sign * means[name])

    def means(self) -> dict[str, float]:
        """The mean of each setting over the queries it was raced on; worst where it has none."""
        means = self._sums / self._counts.clip(1)
        shares = means if self.rules.sign > 0 else 1 - means
        scaled = self.rules.low + shares * (self.rules.high - self.rules.low)
        return dict(zip(self.settings, map(float, scaled), strict=True))

    def _scaled(self, value: float) -> float:
        share = (value - self.rules.low) / (self.rules.high - self.rules.low)
        return share if self.rules.sign > 0 else 1 - share

    def _bet(self, row: Floats) -> None:
        import numpy as np

        self._sums += np.nan_to_num(row)
        self._counts += ~np.isnan(row)
        better = row[:, None] - row[None, :]
        self._worse.add(better)
        self._tied.add(self._margin - better)

    def _over(self) -> set[str]:
        return {name for name, drop in self.dropped.items() if drop.reason != "worse"}

    def _drop_worse(self) -> None:
        """Drop every live setting against which its rivals have enough evidence."""
        live = self.live
        if len(self.settings) < 2 or len(live) < 2:
            return
        evidence = self._evidence()
        average = _log_mean_of_rivals(evidence)
        leader = self.leader()
        for name in live:
            if name == leader or average[self._place[name]] < self._worse_line:
                continue
            rival = self.settings[int(evidence[:, self._place[name]].argmax())]
            self.dropped[name] = Drop("worse", self.queries, rival)

    def _evidence(self) -> Floats:
        """[j, i]: that j is better than i; none from settings over a budget, and none against oneself."""
        import numpy as np

        evidence = self._worse.log_money()
        np.fill_diagonal(evidence, -math.inf)
        for name in self._over():
            evidence[self._place[name], :] = -math.inf
        return evidence

    def _return_settings(self) -> None:
        """Settings that only one over the budget had beaten are in the race again."""
        average = _log_mean_of_rivals(self._evidence())
        for name in [n for n, drop in self.dropped.items() if drop.reason == "worse"]:
            if average[self._place[name]] < self._worse_line:
                del self.dropped[name]


def _log_mean_of_rivals(evidence: Floats) -> Floats:
    """Of each column the logarithm of the mean evidence over the other settings."""
    import numpy as np

    with np.errstate(divide="ignore"):
        most = np.maximum(evidence.max(0), -700.0)
        mean: Floats = most + np.log(np.exp(evidence - most).sum(0) / max(1, len(evidence) - 1))
    return mean
