"""Recorded conversations replayed under a stopping rule: where each of them would have ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.conversations import Conversation, Conversations, CountedSearch
    from goodgain.agentic.rules import Decision, StopRule
    from goodgain.agentic.system import SystemGain

    Matrix = NDArray[np.float64]
    Numbers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

UNKNOWN = -1  # where a run would have ended is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What an agent knew after an iteration: its searches, their results without labels, what it spent."""

    user: str | None
    iterations: tuple[tuple[CountedSearch, ...], ...]
    searches: int
    seconds: float | None
    tokens: float | None
    cost: float | None

    @property
    def iteration(self) -> int:
        """The number of iterations so far."""
        return len(self.iterations)

    @property
    def new_results(self) -> tuple[int, ...]:
        """For each iteration, the number of results that were not returned before."""
        return tuple(
            sum(result.first is None for search in searches for result in search.results)
            for searches in self.iterations
        )


@dataclass(frozen=True, slots=True)
class News:
    """Iterations that brought something new: as read, at least, and at most."""

    as_read: Flags
    least: Flags
    most: Flags


@dataclass(frozen=True, slots=True)
class Stops:
    """The iteration after which each run ends: as read (or UNKNOWN), the earliest and the latest possible."""

    as_read: Numbers
    earliest: Numbers
    latest: Numbers


class Replay:
    """The runs of one system, row by row."""

    def __init__(self, system: SystemGain, conversations: Conversations | None) -> None:
        self.system = system
        self._conversations = conversations

    def column(self, measure: str) -> Matrix:
        """A measure, as read."""
        return self.system.values[:, self.system.column(measure)]

    def spent(self, what: str) -> Matrix:
        """What was spent by the end of each iteration; NaN where that is not known."""
        return self.column(what.capitalize())

    @cached_property
    def owners(self) -> Numbers:
        """The run of each row."""
        import numpy as np

        sizes = np.diff(self.system.first_row)
        return np.repeat(np.arange(len(sizes)), sizes)

    def news_of(self, good: bool) -> News:
        """Where iterations brought new results, or new good ones."""
        import numpy as np

        if good:
            c = self.system.column("GR")
            levels = (self.system.values, self.system.lower, self.system.upper)
            as_read, least, most = (matrix[:, c] > 0 for matrix in levels)
            return News(as_read, least, most)
        new, returned = self.column("UR"), self.column("R")
        # After an unread search any result may be a repeat of one of its results.
        unknown = np.isnan(new) & (returned != 0)
        return News(new > 0, new > 0, (new > 0) | unknown)

    def searches_since(self, news: Flags) -> Matrix:
        """How many searches in a row have brought nothing, up to the end of each iteration."""
        import numpy as np

        done = self.column("Searches")
        shift = self.owners * (done.max(initial=0.0) + 1)  # so that no run sees the one before
        last: Matrix = np.maximum.accumulate(np.where(news, done, 0.0) + shift) - shift
        return done - last

    def stops(self, rule: StopRule) -> Stops:
        """Where each run ends under a rule: at the first iteration at which it says so, or as recorded."""
        import numpy as np

        decision: Decision = rule.condition.decide(self)
        lengths = self.system.lengths
        first_yes = self._first(decision.answers == 1)
        first_open = self._first(np.isnan(decision.answers))
        return Stops(
            as_read=np.where((first_open < first_yes) & (lengths > 0), UNKNOWN, first_yes),
            earliest=self._first(decision.possible),
            latest=self._first(decision.certain),
        )

    def _first(self, flags: Flags) -> Numbers:
        """Of each run the first iteration with a flag, or its last one."""
        import numpy as np

        begins, lengths = self.system.first_row[:-1], self.system.lengths
        if not len(begins):
            return lengths
        number = np.arange(len(flags)) - begins[self.owners] + 1
        first = np.minimum.reduceat(np.where(flags, number, len(flags) + 1), begins)
        return np.minimum(first, lengths)

    def at(self, column: Matrix, stops: Numbers) -> Matrix:
        """Values of a cumulative column at the stops: 0 before the first iteration, NaN where unknown."""
        import numpy as np

        rows = self.system.first_row[:-1] + np.maximum(stops, 1) - 1
        values: Matrix = np.where(stops > 0, column[rows], 0.0)
        values[stops == UNKNOWN] = math.nan
        return values

    def progress(self) -> Iterator[tuple[Progress | None, str]]:
        """What was known after each row, and where that is; None for a run without a search."""
        by_run = {(c.name, c.repeat): c for c in self._read()}
        spent = {what: self.spent(what).tolist() for what in ("seconds", "tokens", "cost")}
        searches = self.column("Searches").tolist()
        runs = zip(self.system.runs.conversations, self.system.runs.repeats, strict=True)
        row = 0
        for run, n in zip(runs, self.system.lengths.tolist(), strict=True):
            if n == 0:
                yield None, ""
                row += 1
                continue
            conversation = by_run[run]
            iterations = tuple(_without_labels(searches) for searches in conversation.iterations)
            for i in range(1, n + 1):
                known = {what: _or_none(values[row]) for what, values in spent.items()}
                yield (
                    Progress(
                        user=conversation.user,
                        iterations=iterations[:i],
                        searches=int(searches[row]),
                        **known,
                    ),
                    f"conversation '{run[0]}', iteration {i}",
                )
                row += 1

    def _read(self) -> list[Conversation]:
        names = {(self.system.name, name) for name in self.system.conversations}
        if self._conversations is None:
            raise InputError("the result does not include the conversations themselves")
        conversations = list(self._conversations.read(names))
        missing = len(self.system.runs.conversations) - len(conversations)
        if missing:
            raise InputError(
                f"{missing:,} conversations of '{self.system.name}' cannot be read again",
                hint="a rule that is a function needs all of them: pass files, or a list",
            )
        return conversations


def _or_none(value: float) -> float | None:
    return None if value != value else value


def _without_labels(searches: tuple[CountedSearch, ...]) -> tuple[CountedSearch, ...]:
    """Searches as the agent saw them: labels would let a rule look at the answer."""
    hidden: list[Any] = []
    for each in searches:
        results = tuple(
            replace(r, gain=None, result=replace(r.result, gain=None, aspects={}))
            for r in each.results
        )
        search = replace(each.search, results=tuple(r.result for r in results))
        hidden.append(replace(each, search=search, results=results))
    return tuple(hidden)
