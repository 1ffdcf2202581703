"""Measures as SQL: for each kernel of the core its sums over the ranked rows of a query, and its value.

Rows have `place` (the rank), `gain` (null if unjudged), and for each level of relevance `seen_N`, the
number of relevant documents up to them. A query has `all_N`, the number of its relevant documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodgain.sql.dialects import Dialect

_LISTED = 1000  # ranks whose discounts are written into the query, to the last bit


@dataclass
class Scope:
    """What measures with the same policy share: columns of rows, of queries and of ideal lists."""

    dialect: Dialect
    levels: list[float]  # of relevance, for all scopes
    ideals: dict[str, str]  # sums over the judged documents, best first: expression to name
    discounts: dict[
        str, tuple[int, Callable[[int], float]]
    ]  # tables by rank: name to length and value
    sums: dict[str, str] = field(default_factory=dict)  # over the ranked rows: expression to name
    own_order: bool = False  # whether rows need their place in the best order of what was retrieved
    nonrelevant: list[tuple[float, bool]] = field(default_factory=list)  # for Bpref

    def level(self, rel: float) -> int:
        """The number of a level of relevance."""
        if rel not in self.levels:
            self.levels.append(rel)
        return self.levels.index(rel)

    def sum(self, term: str, order: str, condition: str) -> str:
        """A sum over the ranked rows."""
        return self._column(self.sums, self.dialect.sum(term, order, condition), "s")

    def count(self, condition: str) -> str:
        """A number of ranked rows, as a double; 0 for an empty list."""
        return self._number(f"SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)")

    def smallest(self, expression: str) -> str:
        """A minimum over the ranked rows; null if there is none."""
        return self._column(self.sums, f"MIN({expression})", "s")

    def largest(self, expression: str) -> str:
        """A maximum over the ranked rows; 0 if there is none."""
        return self._number(f"MAX({expression})")

    def ideal(self, term: str, condition: str) -> str:
        """A sum over the judged documents with a positive gain, best first."""
        return self._column(self.ideals, self.dialect.sum(term, "place", condition), "i")

    def discount(self, name: str, length: int, value: Callable[[int], float]) -> str:
        """The column of a table by rank."""
        known = self.discounts.get(name, (0, value))
        self.discounts[name] = max(known[0], length), value
        return name

    def _number(self, expression: str) -> str:
        column = self._column(self.sums, expression, "s")
        return f"COALESCE({self.dialect.as_double(column)}, {self.dialect.number(0.0)})"

    def _column(self, columns: dict[str, str], expression: str, prefix: str) -> str:
        return columns.setdefault(expression, f"{prefix}{len(columns)}")


@dataclass(frozen=True)
class Kernel:
    """One measure with its options, as the core gets them."""

    scope: Scope
    options: Mapping[str, Any]

    @property
    def rel(self) -> float:
        """The lowest gain that counts as relevant."""
        return float(self.options.get("rel", 1.0))

    @property
    def cutoff(self) -> int:
        """The last rank that counts; 0 for all."""
        return int(self.options.get("cutoff", 0))

    @property
    def retrieved(self) -> str:
        """The length of the list, as a double."""
        return self.scope._number("COUNT(*)")

    @property
    def depth(self) -> str:
        """The number of ranks that count, as a double."""
        return self.scope.dialect.number(float(self.cutoff)) if self.cutoff else self.retrieved

    @property
    def all(self) -> str:
        """The number of relevant documents judged, as a double."""
        return self.scope.dialect.as_double(f"q.all_{self.scope.level(self.rel)}")

    def within(self, condition: str) -> str:
        """A condition on rows, for those above the cutoff."""
        return f"{condition} AND place <= {self.cutoff}" if self.cutoff else condition

    @property
    def relevant(self) -> str:
        """The condition of a relevant row above the cutoff."""
        return self.within(f"gain >= {self.scope.dialect.number(self.rel)}")

    @property
    def hits(self) -> str:
        """The number of relevant rows above the cutoff, as a double."""
        return self.scope.count(self.relevant)

    def ratio(self, part: str, whole: str) -> str:
        """A quotient, 0 where the divisor is."""
        zero = self.scope.dialect.number(0.0)
        return f"CASE WHEN {whole} > 0 THEN {part} / {whole} ELSE {zero} END"

    def graded(self, gain: str) -> str:
        """A gain as nDCG counts it."""
        d = self.scope.dialect
        least = max(0.0, float(self.options.get("min_gain", 0.0)))
        worth = self.power_gain(gain) if self.options.get("exp_gain") else gain
        above = f"{gain} > {d.number(0.0)}" + (f" AND {gain} >= {d.number(least)}" if least else "")
        return f"CASE WHEN {above} THEN {worth} ELSE {d.number(0.0)} END"

    def power_gain(self, gain: str) -> str:
        """Two to the power of the gain, less one."""
        d = self.scope.dialect
        power = f"POWER({d.number(2.0)}, {gain})"
        other = d.exact(power, "gain=exp is exact for gains that are whole numbers only")
        if other != power:
            power = f"CASE WHEN {gain} = FLOOR({gain}) THEN {power} ELSE {other} END"
        return f"({power} - {d.number(1.0)})"

    def by_rank(self, name: str, value: Callable[[int], float], beyond: str) -> str:
        """A number that depends on the rank: listed for the first ranks, an expression after them."""
        length = min(self.cutoff or _LISTED, _LISTED)
        listed = self.scope.discount(name, length, value)
        if self.cutoff == length:
            return listed
        beyond = self.scope.dialect.exact(
            beyond, f"discounts are exact to rank {_LISTED}, so add @{_LISTED} or a smaller cutoff"
        )
        return f"COALESCE({listed}, {beyond})"

    def log2_rank(self) -> str:
        """The logarithm of the rank plus one."""
        d = self.scope.dialect
        beyond = d.log2.format(f"({d.as_double('place')} + {d.number(1.0)})")
        return self.by_rank("log2_rank", lambda rank: math.log2(rank + 1), beyond)


def _precision(m: Kernel) -> str:
    returned = f"LEAST({m.depth}, {m.retrieved})"
    return m.ratio(m.hits, returned if m.options.get("returned") else m.depth)


def _recall(m: Kernel) -> str:
    return m.ratio(m.hits, m.all)


def _capped_recall(m: Kernel) -> str:
    return m.ratio(m.hits, f"LEAST({m.all}, {m.depth})")


def _f(m: Kernel) -> str:
    number = m.scope.dialect.number
    b2 = float(m.options.get("beta", 1.0)) ** 2
    value = f"{number(1 + b2)} * {m.hits} / ({number(b2)} * {m.all} + {m.depth})"
    return f"CASE WHEN {m.hits} > 0 THEN {value} ELSE {number(0.0)} END"


def _r_precision(m: Kernel) -> str:
    level = m.scope.level(m.rel)
    hits = m.scope.count(f"gain >= {m.scope.dialect.number(m.rel)} AND place <= all_{level}")
    return m.ratio(hits, m.all)


def _set_ap(m: Kernel) -> str:
    return m.ratio(f"({m.hits} * {m.hits})", f"({m.retrieved} * {m.all})")


def _ap(m: Kernel) -> str:
    double = m.scope.dialect.as_double
    term = f"{double(f'seen_{m.scope.level(m.rel)}')} / {double('place')}"
    return m.ratio(_or_zero(m, m.scope.sum(term, "place", m.relevant)), m.all)


def _rr(m: Kernel) -> str:
    d = m.scope.dialect
    first = m.scope.smallest(f"CASE WHEN {m.relevant} THEN place END")
    return f"COALESCE({d.number(1.0)} / {d.as_double(first)}, {d.number(0.0)})"


def _hit(m: Kernel) -> str:
    d = m.scope.dialect
    return f"CASE WHEN {m.hits} > 0 THEN {d.number(1.0)} ELSE {d.number(0.0)} END"


def _interpolated(m: Kernel, recall: float) -> str:
    d = m.scope.dialect
    level = m.scope.level(m.rel)
    share = f"{d.number(recall)} * {d.as_double(f'all_{level}')}"
    ceil = m.options.get("recall_ceil")
    required = f"FLOOR({share} + {d.number(0.9)})" if ceil else f"ROUND({share})"
    precision = f"{d.as_double(f'seen_{level}')} / {d.as_double('place')}"
    relevant = f"gain >= {d.number(m.rel)} AND seen_{level} >= {required}"
    return m.scope.largest(f"CASE WHEN {relevant} THEN {precision} END")


def _iprec(m: Kernel) -> str:
    return _interpolated(m, float(m.options["recall"]))


def _ap11(m: Kernel) -> str:
    points = [_interpolated(m, point / 10) for point in range(11)]
    return f"({' + '.join(points)}) / {m.scope.dialect.number(11.0)}"


def _bpref(m: Kernel) -> str:
    d, level = m.scope.dialect, m.scope.level(m.rel)
    negative = bool(m.options.get("negative_judged"))
    kind = (m.rel, negative)
    if kind not in m.scope.nonrelevant:
        m.scope.nonrelevant.append(kind)
    number = m.scope.nonrelevant.index(kind)
    above, every = f"above_{number}", d.as_double(f"all_{level}")
    judged = "judged" if negative else "not_negative"
    others = f"{d.as_double(f'({judged} - all_{level})')}"
    term = (
        f"CASE WHEN {above} = 0 THEN {d.number(1.0)} ELSE {d.number(1.0)} - "
        f"LEAST({d.as_double(above)}, {every}) / LEAST({every}, {others}) END"
    )
    value = m.ratio(_or_zero(m, m.scope.sum(term, "place", m.relevant)), m.all)
    if not negative:
        return value
    undefined = f"q.judged - q.all_{level} = 0 AND {m.hits} > 0 AND q.all_{level} > 0"
    return f"CASE WHEN {undefined} THEN NULL ELSE {value} END"


def _cg(m: Kernel) -> str:
    return _or_zero(m, m.scope.sum(m.graded("gain"), "place", m.within("gain IS NOT NULL")))


def _dcg(m: Kernel) -> str:
    term = f"{m.graded('gain')} / {m.log2_rank()}"
    return _or_zero(m, m.scope.sum(f"({term})", "place", m.within("gain IS NOT NULL")))


def _ndcg(m: Kernel) -> str:
    term = f"({m.graded('gain')} / {m.log2_rank()})"
    if m.options.get("ideal_retrieved"):
        m.scope.own_order = True
        own = term.replace("log2_rank", "own_log2_rank").replace("(CAST(place ", "(CAST(own_place ")
        condition = "own_place IS NOT NULL AND gain > 0" + (
            f" AND own_place <= {m.cutoff}" if m.cutoff else ""
        )
        ideal = _or_zero(m, m.scope.sum(own, "own_place", condition))
    else:
        ideal = f"COALESCE(q.{m.scope.ideal(term, m.within('gain > 0'))}, {m.scope.dialect.number(0.0)})"
    return m.ratio(_dcg(m), ideal)


def _rbp(m: Kernel) -> str:
    d, p = m.scope.dialect, float(m.options.get("p", 0.8))
    name = f"weight_{len([n for n in m.scope.discounts if n.startswith('weight')])}"
    beyond = f"{d.number(1 - p)} * POWER({d.number(p)}, place - 1)"
    weight = m.by_rank(name, lambda rank: (1 - p) * math.pow(p, rank - 1), beyond)
    zero, one = d.number(0.0), d.number(1.0)
    if m.options.get("binary"):
        worth = f"CASE WHEN gain >= {d.number(m.rel)} THEN {one} ELSE {zero} END"
    else:
        top = m.options.get("max_grade")
        scale = m.options.get("scale", "collection")
        highest = "query_max" if scale == "query" else "max_gain"
        divisor = d.number(float(top)) if top is not None else f"GREATEST({highest}, {one})"
        share = "gain" if scale == "none" else f"LEAST(gain / {divisor}, {one})"
        worth = f"CASE WHEN gain > {zero} THEN {share} ELSE {zero} END"
    return _or_zero(m, m.scope.sum(f"({worth} * {weight})", "place", m.within("gain IS NOT NULL")))


def _judged(m: Kernel) -> str:
    counted = f"LEAST({m.depth}, {m.retrieved})"
    share = f"{m.scope.count(m.within('gain IS NOT NULL'))} / {counted}"
    empty = m.scope.dialect.number(0.0) if m.options.get("empty_zero") else "NULL"
    return f"CASE WHEN {counted} > 0 THEN {share} ELSE {empty} END"


def _unjudged(m: Kernel) -> str:
    judged = m.scope.count(m.within("gain IS NOT NULL"))
    value = f"(LEAST({m.depth}, {m.retrieved}) - {judged}) / {m.depth}"
    return f"CASE WHEN {m.depth} > 0 THEN {value} ELSE NULL END"


def _num_ret(m: Kernel) -> str:
    return f"LEAST({m.depth}, {m.retrieved})"


def _or_zero(m: Kernel, column: str) -> str:
    return f"COALESCE({column}, {m.scope.dialect.number(0.0)})"


KERNELS: dict[str, Callable[[Kernel], str]] = {
    "precision": _precision, "recall": _recall, "capped_recall": _capped_recall, "f": _f,
    "r_precision": _r_precision, "set_ap": _set_ap, "ap": _ap, "rr": _rr, "hit": _hit, "iprec": _iprec,
    "ap11": _ap11, "bpref": _bpref, "cg": _cg, "dcg": _dcg, "ndcg": _ndcg, "rbp": _rbp,
    "judged": _judged, "unjudged": _unjudged, "num_ret": _num_ret,
    "num_rel": lambda m: m.all, "num_rel_ret": lambda m: m.hits,
    "num_q": lambda m: m.scope.dialect.number(1.0),
}  # fmt: skip
# Why a kernel cannot be exact in SQL.
REFUSED = {
    "err": "it multiplies chances along the ranking",
    "nerr": "it multiplies chances along the ranking",
    "rndcg": "its cutoffs depend on the judgments of each query",
    "infap": "it estimates from what stands above each document",
    "rbp_resid": "it has no value that a sum over judged documents gives",
    "compat": "it compares prefixes of two lists",
    "accuracy": "it counts pairs of documents",
}
