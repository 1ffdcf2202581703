"""Rules that say when an agent should have stopped searching, and the grammar they are written in.

    after 3                     after 3 searches
    stale 2                     after 2 searches in a row without a new result
    quiet 2                     the same without a new good result: needs labels, so it is an oracle
    tokens 20000, seconds 30, cost 0.5      once as much is spent
    after 8 or stale 2          whichever comes first; `and` binds tighter, and there are parentheses

A rule decides after each iteration, from what was known by then: yes, no, or not known.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.agentic.replay import Progress, Replay

    Flags = NDArray[np.bool_]
    Answers = NDArray[np.float64]

COSTS = ("searches", "seconds", "tokens", "cost")
RULES = {
    "after": "N searches",
    "stale": "N searches in a row without a new result",
    "quiet": "N searches in a row without a new good result; an oracle: it needs labels",
    "seconds": "N seconds spent",
    "tokens": "N tokens spent",
    "cost": "N spent, in the currency of the traces",
}
_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a rule says after each iteration of all runs.

    `answers` are 1, 0 or NaN (not known); `possible` and `certain` say where it may and where it must say
    yes, whatever missing labels and unread searches hide.
    """

    answers: Answers
    possible: Flags
    certain: Flags

    @classmethod
    def of(cls, answers: Answers) -> Decision:
        """A decision that is open only where it is not known."""
        return cls(answers, answers != 0, answers == 1)


class Condition(Protocol):
    """One condition of a rule."""

    @property
    def text(self) -> str:
        """The condition as it is written."""

    @property
    def is_oracle(self) -> bool:
        """Whether it needs labels, which no agent has."""

    def decide(self, replay: Replay) -> Decision:
        """What it says after each iteration."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Once an amount is spent; an iteration is never split, so it may be exceeded."""

    what: str  # one of COSTS
    amount: float
    is_oracle: ClassVar[bool] = False

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{'after' if self.what == 'searches' else self.what} {self.amount:.12g}"

    def decide(self, replay: Replay) -> Decision:
        """What it says after each iteration."""
        import numpy as np

        spent = replay.spent(self.what)
        answers = np.where(np.isnan(spent), math.nan, spent >= self.amount)
        return Decision.of(answers)


@dataclass(frozen=True, slots=True)
class WithoutNews:
    """After some searches in a row that brought nothing new, or (an oracle) nothing new that is good."""

    searches: float
    is_oracle: bool

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{'quiet' if self.is_oracle else 'stale'} {self.searches:.12g}"

    def decide(self, replay: Replay) -> Decision:
        """What it says after each iteration."""
        import numpy as np

        news = replay.news_of(self.is_oracle)
        answers = (replay.searches_since(news.as_read) >= self.searches).astype(np.float64)
        possible = replay.searches_since(news.least) >= self.searches
        certain = replay.searches_since(news.most) >= self.searches
        if not self.is_oracle:  # whether results are new is not known after an unread search
            answers[possible != certain] = math.nan
        return Decision(answers, possible, certain)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the user: it gets the `Progress` after an iteration, and says whether to stop.

    From the first unread search on it lacks results that the agent had, so its answer is open.
    """

    function: Callable[[Progress], Any]
    text: str
    is_oracle: ClassVar[bool] = False

    def decide(self, replay: Replay) -> Decision:
        """What it says after each iteration."""
        import numpy as np

        answers = np.array(
            [self._answer(progress, where) for progress, where in replay.progress()],
            dtype=np.float64,
        )
        unread = replay.column("UnreadSearches") > 0
        return Decision(answers, (answers == 1) | unread, (answers == 1) & ~unread)

    def _answer(self, progress: Progress | None, where: str) -> float:
        if progress is None:
            return 0.0
        try:
            return float(bool(self.function(progress)))
        except Exception as error:
            raise UsageError(
                f"stopping rule '{self.text}' failed: {type(error).__name__}: {error}", where=where
            ) from error


@dataclass(frozen=True, slots=True)
class Combined:
    """Several conditions: any of them (`or`), or all at the same time (`and`)."""

    conditions: tuple[Condition, ...]
    needs_all: bool

    @property
    def text(self) -> str:
        """As it is written."""
        texts = [
            f"({c.text})" if self.needs_all and isinstance(c, Combined) else c.text
            for c in self.conditions
        ]
        return (" and " if self.needs_all else " or ").join(texts)

    @property
    def is_oracle(self) -> bool:
        """Whether one of them needs labels."""
        return any(c.is_oracle for c in self.conditions)

    def decide(self, replay: Replay) -> Decision:
        """What it says after each iteration."""
        import numpy as np

        decisions = [c.decide(replay) for c in self.conditions]
        flags = np.logical_and if self.needs_all else np.logical_or
        answers = np.array([d.answers for d in decisions])
        # An answer that is not known changes nothing where another one settles it.
        settled = 0.0 if self.needs_all else 1.0
        joined = answers.min(axis=0) if self.needs_all else answers.max(axis=0)
        joined[(answers == settled).any(axis=0)] = settled
        return Decision(
            joined,
            flags.reduce([d.possible for d in decisions]),
            flags.reduce([d.certain for d in decisions]),
        )


class StopRule:
    """A stopping rule from its text, or from a function of the `Progress` after each iteration.

    `a | b` stops when either says so, `a & b` when both do at the same time.

    >>> import goodgain as gg
    >>> rule = gg.StopRule("after 8") | gg.StopRule("stale 2")
    >>> rule
    StopRule('after 8 or stale 2')
    >>> gg.StopRule(lambda progress: progress.iteration >= 3, name="three")
    StopRule('three')
    """

    __slots__ = ("condition", "name")

    def __init__(self, rule: str | Callable[[Progress], Any], name: str | None = None) -> None:
        if isinstance(rule, str):
            self.condition: Condition = _Parser(rule).parse()
        elif callable(rule):
            label = str(name or getattr(rule, "__name__", type(rule).__name__))
            self.condition = Function(rule, label)
        else:
            raise UsageError(
                f"a {type(rule).__name__} is not a stopping rule",
                hint="use text such as 'after 3', a function, or a StopRule",
            )
        self.name = name or self.condition.text

    @classmethod
    def of(cls, rule: Any, name: str | None = None) -> StopRule:
        """The rule itself, or one from text or a function."""
        if isinstance(rule, StopRule):
            return rule if name is None else cls._joined(rule.condition, name)
        return cls(rule, name)

    @classmethod
    def _joined(cls, condition: Condition, name: str | None = None) -> StopRule:
        rule = cls.__new__(cls)
        rule.condition, rule.name = condition, name or condition.text
        return rule

    @property
    def is_oracle(self) -> bool:
        """Whether it needs labels, which no agent has."""
        return self.condition.is_oracle

    def __or__(self, other: Any) -> StopRule:
        return self._joined(_combined([self.condition, StopRule.of(other).condition], False))

    def __and__(self, other: Any) -> StopRule:
        return self._joined(_combined([self.condition, StopRule.of(other).condition], True))

    def __repr__(self) -> str:
        return f"StopRule('{self.name}')"


def _combined(conditions: list[Condition], needs_all: bool) -> Condition:
    flat: list[Condition] = []
    for condition in conditions:
        same = isinstance(condition, Combined) and condition.needs_all == needs_all
        flat += condition.conditions if same else [condition]  # type: ignore[attr-defined]
    return flat[0] if len(flat) == 1 else Combined(tuple(flat), needs_all)


class _Parser:
    """Recursive descent over words and parentheses."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = _TOKEN.findall(text)
        self.place = 0

    def parse(self) -> Condition:
        condition = self._any()
        if self.place < len(self.words):
            raise self._error(
                f"unexpected '{self.words[self.place]}'", "join conditions with 'or' or 'and'"
            )
        return condition

    def _any(self) -> Condition:
        return self._series("or", lambda: self._series("and", self._one))

    def _series(self, word: str, one: Callable[[], Condition]) -> Condition:
        conditions = [one()]
        while self._peek() == word:
            self.place += 1
            conditions.append(one())
        return _combined(conditions, word == "and")

    def _one(self) -> Condition:
        word = self._next()
        if word == "(":
            condition = self._any()
            if self._next() != ")":
                raise self._error("unbalanced parenthesis")
            return condition
        name = word.lower()
        if name not in RULES:
            raise self._unknown(word)
        number = self._number(name)
        if name in ("stale", "quiet"):
            return WithoutNews(number, is_oracle=name == "quiet")
        return Spent("searches" if name == "after" else name, number)

    def _number(self, name: str) -> float:
        word = self._next()
        try:
            number = float(word.replace(",", ""))
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            got = f"got '{word}'" if word else "got nothing"
            raise self._error(f"'{name}' needs a positive number, {got}", f"for example '{name} 2'")
        if name in ("after", "stale", "quiet") and number != int(number):
            raise self._error(f"'{name}' needs a whole number of searches, got '{word}'")
        return number

    def _peek(self) -> str:
        return self.words[self.place].lower() if self.place < len(self.words) else ""

    def _next(self) -> str:
        word = self.words[self.place] if self.place < len(self.words) else ""
        self.place += 1
        return word

    def _unknown(self, word: str) -> UsageError:
        from difflib import get_close_matches

        if not word:
            what = "is empty" if not self.words else "ends too early"
            return UsageError(f"stopping rule '{self.text}' {what}", hint=_KNOWN)
        other = {"searches": "after", "money": "cost", "time": "seconds", "news": "stale"}
        near = [other[word.lower()]] if word.lower() in other else None
        near = near or get_close_matches(word.lower(), RULES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else _KNOWN
        within = "" if self.text.split()[:1] == [word] else f" in '{self.text}'"
        return UsageError(f"unknown stopping rule '{word}'{within}", hint=hint)

    def _error(self, problem: str, hint: str = "") -> UsageError:
        return UsageError(f"stopping rule '{self.text}': {problem}", hint=hint)


_KNOWN = f"rules: {', '.join(f'{name} N' for name in RULES)}, joined by 'or' and 'and'"
