"""What a stopping rule would have saved and lost in the runs of one system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from goodgain.agentic.oracle import OracleCurve, oracle_curve
from goodgain.agentic.replay import UNKNOWN, Replay, Stops
from goodgain.agentic.rules import COSTS
from goodgain.agentic.runs import Figure
from goodgain.stats.ratios import ratio_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.rules import StopRule
    from goodgain.stats.paired import Resampling

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A rule replayed: the share of the gain that is left, and the share of each cost that is saved.

    The lists have a value for each run; `stops` is -1 where it is not known, and None stands for any
    other value that is not known.
    """

    system: str
    rule: str
    is_oracle: bool  # it needs labels, which no agent has
    retained: Figure
    saved: dict[str, Figure]  # by cost
    best: dict[str, float]  # the gain that the oracle curve has for the same share of a cost
    early: int  # runs that end early
    losing: int  # conversations that lose some gain
    undecided: int  # runs of which it is not known where they end
    stops: tuple[int, ...]
    gains: tuple[float | None, ...]

    def spent(self, cost: str) -> Figure:
        """The share of a cost that is spent: the other side of what is saved."""
        f = self.saved[cost]
        return Figure(
            value=1 - f.value, n=f.n, low=1 - f.high, high=1 - f.low,
            lower=1 - f.upper, upper=1 - f.lower,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "system": self.system,
            "rule": self.rule,
            "oracle": self.is_oracle,
            "retained": _plain(self.retained),
            "saved": {cost: _plain(figure) for cost, figure in self.saved.items()},
            "best": {cost: _or_none(value) for cost, value in self.best.items()},
            "early": self.early,
            "losing": self.losing,
            "undecided": self.undecided,
            "stops": list(self.stops),
            "gains": list(self.gains),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outcome:
        """The reverse of `to_dict`."""
        return cls(
            system=data["system"],
            rule=data["rule"],
            is_oracle=data["oracle"],
            retained=_figure(data["retained"]),
            saved={cost: _figure(figure) for cost, figure in data["saved"].items()},
            best={cost: _or_nan(value) for cost, value in data["best"].items()},
            early=data["early"],
            losing=data["losing"],
            undecided=data["undecided"],
            stops=tuple(data["stops"]),
            gains=tuple(data["gains"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRuns:
    """The runs of a system as recorded: what the outcomes refer to."""

    name: str
    conversations: tuple[str, ...]
    repeats: tuple[str, ...]
    iterations: tuple[int, ...]
    gains: tuple[float | None, ...]  # at the end
    unknown: dict[str, int]  # by cost: conversations in which it is not known
    unread: int  # searches
    unlabelled: float  # the share of unique results
    good: bool  # whether anything is good

    @property
    def count(self) -> int:
        """The number of conversations."""
        return len(set(self.conversations))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "conversations": list(self.conversations),
            "repeats": list(self.repeats),
            "iterations": list(self.iterations),
            "gains": list(self.gains),
            "unknown": self.unknown,
            "unread": self.unread,
            "unlabelled": _or_none(self.unlabelled),
            "good": self.good,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SystemRuns:
        """The reverse of `to_dict`."""
        lists = {
            name: tuple(data[name]) for name in ("conversations", "repeats", "iterations", "gains")
        }
        return cls(
            name=data["name"],
            **lists,
            unknown=data["unknown"],
            unread=data["unread"],
            unlabelled=_or_nan(data["unlabelled"]),
            good=data["good"],
        )


class SystemReplay:
    """The runs of a system under several rules."""

    def __init__(self, replay: Replay, confidence: float, resampling: Resampling) -> None:
        import numpy as np

        self.replay = replay
        self._confidence, self._resampling = confidence, resampling
        system = replay.system
        self._last = system.lengths
        # A conversation counts once, with the mean of its runs.
        self._share = 1 / system.runs_per_conversation.astype(np.float64)
        values, lower, upper = system.values, system.lower, system.upper
        gain, step = system.column("CG"), system.column("G")
        self._gain, self._least, self._most = (m[:, gain] for m in (values, lower, upper))
        self._unread = replay.column("UnreadSearches")
        # The most that iterations could have brought, leaving out those with an unread search.
        each = np.where(np.isfinite(upper[:, step]), upper[:, step], 0.0)
        rows = system.first_row.tolist()  # each run on its own: the order of runs changes no bit
        self._brought = np.concatenate([np.cumsum(each[a:b]) for a, b in pairwise(rows)] or [each])
        self.final_gain = replay.at(self._gain, self._last)
        self.costs = {what: replay.at(replay.spent(what), self._last) for what in COSTS}
        self.curves = {what: self._curve(what) for what in COSTS}

    @property
    def recorded(self) -> SystemRuns:
        """The runs as they were."""
        system = self.replay.system
        counts = system.counts()
        return SystemRuns(
            name=system.name,
            conversations=system.runs.conversations,
            repeats=system.runs.repeats,
            iterations=tuple(system.lengths.tolist()),
            gains=tuple(map(_or_none, self.final_gain.tolist())),
            unknown={
                what: len({c for c, v in self._by_name(amounts) if v != v})
                for what, amounts in self.costs.items()
            },
            unread=int(counts["unread"]),
            unlabelled=1 - counts["coverage"],
            good=float(self.final_gain.sum()) > 0,
        )

    def _by_name(self, values: Floats) -> list[tuple[str, float]]:
        return list(zip(self.replay.system.runs.conversations, values.tolist(), strict=True))

    def _curve(self, what: str) -> OracleCurve:
        """The best that could be had for each share of a cost; without points if it is not known."""
        name = self.replay.system.name
        if self.costs[what].size == 0 or (self.costs[what] != self.costs[what]).any():
            return OracleCurve(system=name, cost=what, points=())
        share = self._share[self.replay.owners]
        rows = zip(
            (share * self.replay.spent(what)).tolist(), (share * self._gain).tolist(), strict=True
        )
        listed, begins = list(rows), self.replay.system.first_row.tolist()
        runs = [
            listed[begin : begin + n]
            for begin, n in zip(begins[:-1], self._last.tolist(), strict=True)
        ]
        return oracle_curve(name, what, runs)

    def outcomes(self, rules: Sequence[StopRule]) -> list[Outcome]:
        """Every rule, with intervals from the same draws of conversations."""
        stops = [self.replay.stops(rule) for rule in rules]
        pairs = [
            pair
            for one in stops
            for pair in (
                self._summed(self._gain, one),
                *(self._summed(self.replay.spent(what), one) for what in COSTS),
            )
        ]
        intervals = ratio_intervals(pairs, self._confidence, self._resampling)
        width = 1 + len(COSTS)
        return [
            self._outcome(rule, one, pairs[width * i :][:width], intervals[width * i :][:width])
            for i, (rule, one) in enumerate(zip(rules, stops, strict=True))
        ]

    def _outcome(
        self,
        rule: StopRule,
        stops: Stops,
        pairs: Sequence[tuple[Floats, Floats]],
        intervals: Sequence[tuple[float, float]],
    ) -> Outcome:
        n = len(self.replay.system.conversations)
        lower, upper = self._gain_bounds(stops)
        (left, whole), *costs = pairs
        retained = Figure(
            value=_ratio(left, whole), n=n, low=intervals[0][0], high=intervals[0][1],
            lower=lower, upper=upper,
        )  # fmt: skip
        saved, best = {}, {}
        for what, (spent, full), interval in zip(COSTS, costs, intervals[1:], strict=True):
            saved[what] = self._saved(what, stops, _ratio(spent, full), interval, n)
            best[what] = self.curves[what].at(1 - saved[what].value)
        ended = stops.as_read
        return Outcome(
            system=self.replay.system.name,
            rule=rule.name,
            is_oracle=rule.is_oracle,
            retained=retained,
            saved=saved,
            best=best,
            early=int(((ended != UNKNOWN) & (ended < self._last)).sum()),
            losing=int((left < whole * (1 - 1e-12)).sum()),
            undecided=int((ended == UNKNOWN).sum()),
            stops=tuple(ended.tolist()),
            gains=tuple(map(_or_none, self.replay.at(self._gain, ended).tolist())),
        )

    def _saved(
        self, what: str, stops: Stops, left: float, interval: tuple[float, float], n: int
    ) -> Figure:
        column = self.replay.spent(what)
        full = math.fsum((self._share * self.costs[what]).tolist())
        lower, upper = (
            1 - math.fsum((self._share * self.replay.at(column, at)).tolist()) / full
            if full > 0
            else math.nan
            for at in (stops.latest, stops.earliest)
        )
        low, high = interval
        return Figure(value=1 - left, n=n, low=1 - high, high=1 - low, lower=lower, upper=upper)

    def _summed(self, column: Floats, stops: Stops) -> tuple[Floats, Floats]:
        """Of each conversation the mean at the stops of its runs, and at their ends."""
        import numpy as np

        system = self.replay.system
        owners = system.owners
        size = len(system.conversations)
        ends = (self.replay.at(column, at) for at in (stops.as_read, self._last))
        left, whole = (
            np.bincount(owners, self._share * values, size).astype(np.float64) for values in ends
        )
        return left, whole

    def _gain_bounds(self, stops: Stops) -> tuple[float, float]:
        """The share of the gain that is left, at least and at most.

        It is least if the rule stops as early as it can, nothing unlabelled or unread is good up to there,
        and everything is after it; and most the other way round.
        """
        import numpy as np

        at, last, share = self.replay.at, self._last, self._share
        early, late = stops.earliest, stops.latest
        before = at(self._least, early)
        hidden_after = at(self._unread, last) > at(self._unread, early)
        after = np.where(
            hidden_after,
            at(self._most, last) - before,
            at(self._brought, last) - at(self._brought, early),
        )
        lower = _bound(share * before, share * after)
        hidden_before = at(self._unread, late) > 0
        most = at(self._most, late)
        rest = np.where(hidden_before, 0.0, at(self._least, last) - at(self._least, late))
        upper = _bound(share * most, share * rest)
        if math.isnan(lower) and not math.isnan(upper):
            lower = 1.0  # nothing can be lost
        if math.isnan(upper) and not math.isnan(lower):
            upper = 0.0  # nothing can be left
        return lower, upper


def _bound(left: Floats, lost: Floats) -> float:
    """The share that is left; either sum may have no bound."""
    left_sum, lost_sum = (math.fsum(values.tolist()) for values in (left, lost))
    if math.isinf(left_sum):
        return 1.0
    if math.isinf(lost_sum):
        return 0.0
    return left_sum / (left_sum + lost_sum) if left_sum + lost_sum > 0 else math.nan


def _ratio(left: Floats, whole: Floats) -> float:
    total = math.fsum(whole.tolist())
    return math.fsum(left.tolist()) / total if total > 0 else math.nan


def _or_none(value: float) -> float | None:
    return None if value != value else value


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _plain(figure: Figure) -> dict[str, Any]:
    names = ("value", "low", "high", "lower", "upper")
    return {"n": figure.n, **{name: _or_none(getattr(figure, name)) for name in names}}


def _figure(data: dict[str, Any]) -> Figure:
    names = ("value", "low", "high", "lower", "upper")
    return Figure(n=data["n"], **{name: _or_nan(data[name]) for name in names})
