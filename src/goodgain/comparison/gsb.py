"""GSB: side-by-side labels (Good, Same, Bad) of a new system against the old one.

GSB = (good - bad) / (good + same + bad). The seed's example, one Good, one Same and two Bad, is -1/4: do
not ship.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.results.numbers import p_text, signed
from goodgain.results.views import Plottable
from goodgain.stats.distributions import normal_ppf, t_ppf
from goodgain.stats.paired import sign_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WORDS = {
    **dict.fromkeys(("good", "g", "better", "win", "1", "+1", "1.0", "好"), 1),
    **dict.fromkeys(("same", "s", "tie", "equal", "0", "0.0", "同", "相同"), 0),
    **dict.fromkeys(("bad", "b", "worse", "loss", "lose", "-1", "-1.0", "差", "坏"), -1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GSB(Plottable):
    """Counts of items, the value, a sign test, an interval, and what they mean.

    >>> import goodgain as gg
    >>> result = gg.gsb_counts(good=42, same=38, bad=20)
    >>> result.value, result.ship
    (0.22, True)
    >>> print(result.sentence.split(". ")[0])
    Ship: the new system is better
    """

    good: int
    same: int
    bad: int
    p: float
    low: float
    high: float
    alpha: float = 0.05
    confidence: float = 0.95
    queries: int = 0
    annotators: int = 1
    agreement: float | None = None  # share of pairs of annotators that agree
    kappa: float | None = None  # Fleiss

    @property
    def items(self) -> int:
        """How many items were compared."""
        return self.good + self.same + self.bad

    @property
    def value(self) -> float:
        """(good - bad) / (good + same + bad)."""
        return (self.good - self.bad) / self.items

    @property
    def ship(self) -> bool:
        """Whether the new system is shown to be better."""
        return self.value > 0 and self.p < self.alpha

    @property
    def sentence(self) -> str:
        """Whether to ship, and why."""
        facts = (
            (
                f"GSB {signed(self.value, 3)} [{signed(self.low, 3)}, {signed(self.high, 3)}] "
                f"({self.good:,} good, {self.same:,} same, {self.bad:,} bad; "
                f"sign test p = {p_text(self.p, self.alpha)})"
            )
            .replace("p = <", "p < ")
            .replace("p = >", "p > ")
        )
        if self.ship:
            return f"Ship: the new system is better. {facts}."
        if self.value > 0:
            return f"Do not ship yet: the new system looks better, but this may be chance. {facts}."
        if self.value < 0 and self.p < self.alpha:
            return f"Do not ship: the new system is worse. {facts}."
        if self.value < 0:
            return f"Do not ship: the new system is not better, and looks worse. {facts}."
        return f"Do not ship: the new system is not better. {facts}."

    def to_dict(self) -> dict[str, Any]:
        """Field to value, and what follows from the fields."""
        more = {
            "value": self.value,
            "items": self.items,
            "ship": self.ship,
            "sentence": self.sentence,
        }
        return {**more, **asdict(self)}

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text, in any format of the command line."""
        from goodgain.results.text import LONG_FORMATS, render

        if format in LONG_FORMATS:
            data = self.to_dict()
            return render(format, list(data), [list(data.values())])
        table = render(format, *self._table())
        return f"{table}% {self.sentence}\n" if format == "latex" else f"{table}\n{self.sentence}\n"

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        columns = [
            "GSB",
            "good",
            "same",
            "bad",
            f"{100 * self.confidence:g}% interval",
            "p",
            "queries",
        ]
        row: list[Any] = [
            signed(self.value, 3), self.good, self.same, self.bad,
            f"[{signed(self.low, 3)}, {signed(self.high, 3)}]", p_text(self.p, self.alpha), self.queries,
        ]  # fmt: skip
        if self.annotators > 1:
            columns += ["annotators", "agreement", "kappa"]
            row += [self.annotators, self.agreement, self.kappa]
        return columns, [row]

    def _repr_html_(self) -> str:
        from goodgain.results.text import html_table

        return html_table(*self._table(), self.sentence)

    def __str__(self) -> str:
        return self.sentence


def gsb_counts(
    good: int, same: int, bad: int, *, alpha: float = 0.05, confidence: float = 0.95
) -> GSB:
    """From counts of independent items.

    >>> import goodgain as gg
    >>> result = gg.gsb_counts(good=42, same=38, bad=20)
    >>> round(result.value, 2), round(result.p, 4)
    (0.22, 0.0071)
    """
    if min(good, same, bad) < 0:
        raise InputError(f"counts must not be negative, got {min(good, same, bad)}")
    n = good + same + bad
    if not n:
        raise InputError("nothing to compare: all counts are 0")
    low, high = _interval(good, same, bad, confidence)
    return GSB(
        good=good,
        same=same,
        bad=bad,
        p=sign_p(good, bad),
        low=low,
        high=high,
        alpha=alpha,
        confidence=confidence,
        queries=n,
    )


def gsb_differences(
    differences: Iterable[float], tie: float = 0.0, *, lower_is_better: bool = False,
    alpha: float = 0.05, confidence: float = 0.95,
) -> GSB:  # fmt: skip
    """From new minus old for each query; a difference up to `tie` in size is Same.

    >>> import goodgain as gg
    >>> result = gg.gsb_differences([0.2, 0.1, 0.0, 0.3, -0.1, 0.004], tie=0.01)
    >>> result.good, result.same, result.bad
    (3, 2, 1)
    """
    if not tie >= 0:
        raise UsageError(f"tie must not be negative, got {tie}")
    sign = -1 if lower_is_better else 1
    values = [sign * float(d) for d in differences]
    if any(v != v for v in values):
        raise InputError("a difference is NaN", hint="drop undefined queries first")
    good, bad = sum(v > tie for v in values), sum(v < -tie for v in values)
    return gsb_counts(good, len(values) - good - bad, bad, alpha=alpha, confidence=confidence)


def gsb_labels(
    source: Any, *, columns: Mapping[str, str] | None = None, alpha: float = 0.05,
    confidence: float = 0.95,
) -> GSB:  # fmt: skip
    """From a table of query[, doc], label[, annotator]: a path, a data frame, or rows.

    Several labels of one item are resolved by majority, a draw is Same. Several items of one query are
    not independent: the sign test then counts queries by the sign of their sum, and queries are the
    units of the interval.

    >>> import goodgain as gg
    >>> rows = [("q1", "Good"), ("q2", "Same"), ("q3", "Good")]
    >>> result = gg.gsb_labels([{"query": query, "label": label} for query, label in rows])
    >>> result.good, result.same, result.bad, result.ship
    (2, 1, 0, False)
    """
    votes, annotators = _votes(source, columns or {})
    items = {item: _majority(list(by.values())) for item, by in votes.items()}
    counts = Counter(items.values())
    good, same, bad = counts[1], counts[0], counts[-1]
    by_query: dict[str, list[int]] = {}
    for (query, _), value in items.items():
        by_query.setdefault(query, []).append(value)
    if len(by_query) == len(items):
        p, (low, high) = sign_p(good, bad), _interval(good, same, bad, confidence)
    else:
        sums = [sum(values) for values in by_query.values()]
        p = sign_p(sum(s > 0 for s in sums), sum(s < 0 for s in sums))
        low, high = _cluster_interval(list(by_query.values()), confidence)
    agreement, kappa = _agreement([list(by.values()) for by in votes.values()])
    return GSB(
        good=good,
        same=same,
        bad=bad,
        p=p,
        low=low,
        high=high,
        alpha=alpha,
        confidence=confidence,
        queries=len(by_query),
        annotators=max(1, len(annotators)),
        agreement=agreement,
        kappa=kappa,
    )


def _votes(
    source: Any, columns: Mapping[str, str]
) -> tuple[dict[tuple[str, str], dict[str, int]], set[str]]:
    from goodgain.io.columns import find_columns
    from goodgain.io.tables import load_table

    table = load_table(source, "labels")
    names = find_columns(table.columns, "preferences", table.name, columns)
    votes: dict[tuple[str, str], dict[str, int]] = {}
    annotators = set()
    for i, label in enumerate(table.columns[names["label"]]):
        vote = _WORDS.get(str(label).strip().casefold())
        if vote is None:
            raise InputError(
                f"invalid label '{label}'", where=table.where(i), hint="one of: Good, Same, Bad"
            )
        query, doc, who = (
            str(table.columns[names[role]][i]) if role in names else ""
            for role in ("query", "doc", "annotator")
        )
        item_votes = votes.setdefault((query, doc), {})
        if who in item_votes:
            raise InputError(
                f"duplicate label for query '{query}'{f', document {doc!r}' if doc else ''}"
                + (f" by '{who}'" if who else ""),
                where=table.where(i),
                hint="several annotators need a column 'annotator'",
            )
        item_votes[who] = vote
        annotators.add(who)
    if not votes:
        raise InputError("the table has no rows", where=table.name)
    return votes, annotators


def _majority(votes: Sequence[int]) -> int:
    """The majority, or Same if no label has more votes than every other."""
    (first, most), *rest = Counter(votes).most_common()
    return 0 if rest and rest[0][1] == most else first


def _interval(good: int, same: int, bad: int, confidence: float) -> tuple[float, float]:
    """Bonett and Price's interval of a difference of paired proportions; never a point."""
    n = good + same + bad
    better, worse = (good + 1) / (n + 2), (bad + 1) / (n + 2)
    z = normal_ppf((1 + confidence) / 2)
    reach = z * math.sqrt((better + worse - (better - worse) ** 2) / (n + 2))
    return max(-1.0, better - worse - reach), min(1.0, better - worse + reach)


def _cluster_interval(by_query: Sequence[Sequence[int]], confidence: float) -> tuple[float, float]:
    """Of a ratio over queries, by Student's t; never a point.

    As Bonett and Price do for items, this adds one query with one good item and one with one bad item.
    """
    import numpy as np

    n = len(by_query)
    if n < 2:
        return -1.0, 1.0
    sums = np.array([*(float(sum(values)) for values in by_query), 1.0, -1.0])
    counts = np.array([*(float(len(values)) for values in by_query), 1.0, 1.0])
    value = float(sums.sum() / counts.sum())
    spread = float((sums - value * counts).std(ddof=1)) / float(counts.mean())
    reach = t_ppf((1 + confidence) / 2, n - 1) * spread / math.sqrt(n + 2)
    return max(-1.0, value - reach), min(1.0, value + reach)


def _agreement(items: Sequence[Sequence[int]]) -> tuple[float | None, float | None]:
    """The share of pairs of annotators that agree, and Fleiss' kappa; of items with two or more."""
    several = [votes for votes in items if len(votes) > 1]
    if not several:
        return None, None
    shares = []
    for votes in several:
        n = len(votes)
        shares.append(sum(c * (c - 1) for c in Counter(votes).values()) / (n * (n - 1)))
    agreement = math.fsum(shares) / len(shares)
    total = Counter(vote for votes in several for vote in votes)
    everything = sum(total.values())
    chance = sum((c / everything) ** 2 for c in total.values())
    return agreement, None if chance == 1 else (agreement - chance) / (1 - chance)
