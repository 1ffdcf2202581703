"""Where a value comes from, term by term, and why two conventions disagree."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from goodgain.cores import memory_limit
from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.errors import DisjointError, InputError, UsageError
from goodgain.measures.grammar import parse
from goodgain.ranking.causes import (
    as_convention,
    differing,
    flat,
    kernel_options,
    mixed,
    shapley,
    wording,
)
from goodgain.ranking.mismatch import disjoint_hint
from goodgain.ranking.policy import CHOICES, Policy
from goodgain.ranking.presets import Convention, convention
from goodgain.ranking.scores import aggregate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from goodgain.measures.definition import Measure
    from goodgain.names import PolicyChoices, Preset

_NO_ORDER = ("average", "bounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One document's share of a value: contribution = gain x discount / norm.

    The discount is undefined where a document without a gain changes the value, as in precision.
    """

    rank: int
    doc: str
    score: float | None  # None in a run that has only ranks
    judged: float | None
    gain: float
    discount: float
    contribution: float
    ideal: float | None  # the contribution of this rank in the ideal list, if the measure has one


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause of a difference: its share, and the query and document where it shows most."""

    cause: str
    ours: str
    theirs: str
    share: float
    query: str | None
    doc: str | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One query's value of one measure, as terms that add up to it.

    `base` is the value if nothing is judged, 0 except for coverage measures. `norm` is the denominator
    of nDCG, and 1 for other measures.
    """

    convention: Convention
    query: str
    value: float
    base: float
    norm: float
    terms: tuple[Term, ...]

    @property
    def measure(self) -> Measure:
        """The measure with its parameters."""
        return self.convention.measure

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "goodgain": "explanation",
            "measure": self.measure.label,
            "query": self.query,
            "value": _null(self.value),
            "base": _null(self.base),
            "norm": _null(self.norm),
            "policy": self.convention.policy.to_dict(),
            "terms": [{k: _null(v) for k, v in asdict(t).items()} for t in self.terms],
        }

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Columns and rows: documents above the cut-off (ten without one), and all that contribute."""
        columns = ["rank", "document", "judged", "gain", "discount", "contribution"]
        with_scores = any(t.score is not None for t in self.terms)
        with_ideal = any(t.ideal is not None for t in self.terms)
        depth = self.measure.cutoff if self.measure.definition.cutoff != "recall" else None
        rows = [
            [t.rank, t.doc, *([_short(t.score)] if with_scores else []), _short(t.judged), _short(t.gain),
             t.discount, t.contribution, *([t.ideal] if with_ideal else [])]
            for t in self.terms
            if t.rank <= (depth or 10) or t.contribution
        ]  # fmt: skip
        if with_scores:
            columns.insert(2, "score")
        return [*columns, *(["ideal"] if with_ideal else [])], rows

    def _title(self) -> str:
        from goodgain.errors import plain
        from goodgain.results.text import number

        return f"{self.measure} of query {plain(self.query)}: {number(self.value)}"

    def _repr_html_(self) -> str:
        from goodgain.results.text import html_table

        return html_table(*self.rows(), self._title())

    def __str__(self) -> str:
        from goodgain.results.text import number, render

        columns, rows = self.rows()
        lines = [f"{self._title()}\n\n"]
        lines.append(render("table", columns, rows) if rows else "no documents retrieved\n")
        if hidden := len(self.terms) - len(rows):
            plural = "document that adds" if hidden == 1 else "documents that add"
            lines.append(f"... and {hidden:,} {plural} nothing\n")
        lines.append("\n")
        if self.base:
            lines.append(f"without any judgment: {number(self.base)}\n")
        if self.norm != 1:
            lines.append(
                f"contribution = gain x discount / {number(self.norm)}, the DCG of the ideal list\n"
            )
        total = math.fsum(t.contribution for t in self.terms) + self.base
        lines.append(f"sum of the contributions: {number(round(total, 12))}\n")
        lines.append(f"policies: {self.convention.policy}")
        return "".join(lines)

    def __repr__(self) -> str:
        number = f"{self.value:.4f}, {len(self.terms)} documents"
        return f"Explanation({self.measure} of '{self.query}' = {number})"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Why two conventions disagree; the shares of the causes add up to the difference."""

    measure: Measure
    query: str | None
    ours: str
    theirs: str
    value: float
    other: float
    causes: tuple[Cause, ...]

    @cached_property
    def difference(self) -> float:
        """Theirs minus ours."""
        return self.other - self.value

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "goodgain": "difference",
            "measure": self.measure.label,
            "query": self.query,
            "preset": self.ours,
            "against": self.theirs,
            "value": _null(self.value),
            "other": _null(self.other),
            "difference": _null(self.difference),
            "causes": [{k: _null(v) for k, v in asdict(c).items()} for c in self.causes],
        }

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Columns, and a row per cause."""
        columns = ["cause", self.ours, self.theirs, "share", "where"]
        return columns, [[c.cause, c.ours, c.theirs, _signed(c.share), c.note] for c in self.causes]

    def _title(self) -> str:
        from goodgain.errors import plain
        from goodgain.results.text import number

        of = f"query {plain(self.query)}" if self.query is not None else "all queries"
        return (
            f"{self.measure} of {of}: {self.ours} {number(self.value)}, {self.theirs} "
            f"{number(self.other)}, difference {_signed(self.difference)}"
        )

    def _repr_html_(self) -> str:
        from goodgain.results.text import html_table

        return html_table(*self.rows(), self._title())

    def __str__(self) -> str:
        from goodgain.results.text import render

        head = f"{self._title()}\n\n"
        if not self.causes:
            return head + "both compute the same value"
        total = math.fsum(c.share for c in self.causes)
        return head + render("table", *self.rows()) + f"\nsum of the shares: {_signed(total)}"


def explain(
    qrels: Any,
    run: Any,
    measure: str | Measure,
    query: str | None = None,
    *,
    against: Preset | None = None,
    preset: Preset = "default",
    **policies: Unpack[PolicyChoices],
) -> Explanation | Difference:
    """Explain one query's value, or with `against` the difference from another tool's convention.

    The value of a query is explained term by term: rank, document, gain, weight, contribution, ideal.
    A difference is split into its causes; without a query, the means over queries are compared. A cause's
    share is its Shapley value: the mean, over all orders of switching the causes one by one, of what
    switching it adds. So the shares do not depend on an order, and they add up to the difference.

    >>> import goodgain as gg
    >>> qrels = {"q1": {"a": 3, "b": 1}}
    >>> print(gg.explain(qrels, {"q1": ["x", "a", "b"]}, "nDCG@3", "q1"))
    nDCG@3 of query q1: 0.6590
    <BLANKLINE>
    rank  document  judged  gain  discount  contribution   ideal
       1  x              -     0    1.0000        0.0000  0.8262
       2  a              3     3    0.6309        0.5213  0.1738
       3  b              1     1    0.5000        0.1377  0.0000
    <BLANKLINE>
    contribution = gain x discount / 3.6309, the DCG of the ideal list
    sum of the contributions: 0.6590
    policies: ties=docid, missing=zero, unjudged=nonrelevant, duplicates=error, scores=double, same_id=keep
    """
    ours = _conventional(measure, preset, {**policies})
    inputs = _Inputs(qrels, run, ours)
    if against is not None:
        return inputs.compared(ours, _conventional(measure, against, {}), preset, against, query)
    if query is None:
        examples = ", ".join(inputs.qrels.queries[:3])
        raise UsageError(
            "a value is explained for one query", hint=f"name a query, such as {examples}"
        )
    return inputs.explained(ours, query)


def _conventional(measure: str | Measure, preset: str, policies: Mapping[str, Any]) -> Convention:
    parsed = parse(measure, preset) if isinstance(measure, str) else measure.complete()
    if parsed.definition.kernel is None:
        raise UsageError(f"{parsed} is not computed from documents and cannot be explained")
    applied = convention(parsed, Policy.of(None, preset, **policies), preset, policies)
    if applied.policy.ties in _NO_ORDER or applied.policy.unjudged == "bounds":
        raise UsageError(
            f"{parsed} can only be explained for one order of the documents",
            hint="use ties=docid or ties=input, and unjudged=nonrelevant or unjudged=remove",
        )
    return applied


class _Inputs:
    """Judgments and a run, read once."""

    def __init__(self, qrels: Any, run: Any, used: Convention) -> None:
        self.qrels = Qrels.of(qrels)
        self.core = self.qrels.for_measures(
            aspects=used.measure.definition.by_aspect, duplicates=used.policy.duplicates
        )
        self.run = Run.of(run)
        self.documents: dict[str, tuple[list[str], list[float]]] = {}
        for query, doc, score in zip(*self.run.rows(), strict=True):
            docs, scores = self.documents.setdefault(query, ([], []))
            docs.append(doc)
            scores.append(score)
        if self.documents and not any(query in self.qrels for query in self.documents):
            raise self._disjoint()

    def _disjoint(self) -> DisjointError:
        first, judged = next(iter(self.documents)), self.qrels.queries[0]
        return DisjointError(
            f"no query of the run is judged: the run has query '{first}', the judgments have '{judged}'",
            where=self.run.source.name,
            hint=disjoint_hint(self.qrels, self.run, memory_limit(None))
            or "both must use the same query ids; were they swapped, or are they from different collections?",
        )

    def explained(self, used: Convention, query: str) -> Explanation:
        from goodgain import _core

        if query not in self.qrels:
            examples = ", ".join(self.qrels.queries[:3])
            raise InputError(
                f"query '{query}' is not judged",
                where=self.qrels.name,
                hint=f"judged queries: {examples}, ...",
            )
        options = used.for_core()
        plan = _core.Plan([options], used.policy.for_core())
        docs, scores = self.documents.get(query, ([], []))
        try:
            value, base, rows = _core.explain(plan, self.core, query, docs, scores, 0)
        except ValueError as error:
            raise InputError(f"{error} for query '{query}'", where=self.run.source.name) from None
        gains = sorted((self.core.judgments_of(query) or {}).values(), reverse=True)
        by_rank = not self.run.has_scores  # the core ranks by negated ranks
        terms = [
            (doc, None if by_rank else score, judged, so_far) for doc, score, judged, so_far in rows
        ]
        return _Terms(used, options, gains).explanation(query, value, base, terms)

    def compared(
        self, ours: Convention, theirs: Convention, preset: str, against: str, query: str | None
    ) -> Difference:
        one, other_side = flat(ours), flat(theirs)
        options = differing(one, other_side)
        causes = list(options)
        subsets = [frozenset(s) for n in range(len(causes) + 1) for s in combinations(causes, n)]
        variants = [
            mixed(one, other_side, [key for cause in subset for key in options[cause]])
            for subset in subsets
        ]
        over = {frozenset(causes): theirs.measure}
        measures = [over.get(subset, ours.measure) for subset in subsets]
        outcomes = dict(zip(subsets, self._values(variants, measures, query), strict=True))
        totals = {subset: values.total for subset, values in outcomes.items()}
        start = outcomes[frozenset()]
        listed = []
        for cause in causes:
            alone = mixed(one, other_side, options[cause])
            where = self._where(cause, one, alone, start, outcomes[frozenset({cause})], query)
            example_query, example_doc, note = where
            listed.append(
                Cause(
                    cause=cause,
                    ours=wording(cause, one),
                    theirs=wording(cause, other_side),
                    share=shapley(cause, causes, totals),
                    query=example_query,
                    doc=example_doc,
                    note=note,
                )
            )
        listed.sort(key=lambda c: -abs(_zero(c.share)))
        value, other = start.total, totals[frozenset(causes)]
        return Difference(
            measure=ours.measure,
            query=query,
            ours=preset,
            theirs=against,
            value=value,
            other=other,
            causes=tuple(listed),
        )

    def _values(
        self, options: list[dict[str, Any]], measures: list[Measure], query: str | None
    ) -> list[_Values]:
        """Every variant of the measure in one pass over the run."""
        from goodgain import _core
        from goodgain.cores import available_cores

        if query is not None and query not in self.qrels:
            raise InputError(f"query '{query}' is not judged", where=self.qrels.name)
        base = {**Policy().for_core(), "may_be_disjoint": True}
        specs = [{**kernel_options(o), "policy": {n: o[n] for n in CHOICES}} for o in options]
        run = {q: list(zip(*pair, strict=True)) for q, pair in self.documents.items()}
        plan = _core.Plan(specs, base)
        prepared = _core.Prepared(self.core, plan, available_cores())
        scores = prepared.dict(run, self.run.name, False)
        return [
            _Values(measure, self.qrels.queries, scores.column(i), query)
            for i, measure in enumerate(measures)
        ]

    def _where(
        self, cause: str, ours: dict[str, Any], alone: dict[str, Any], before: _Values,
        after: _Values, query: str | None,
    ) -> tuple[str | None, str | None, str]:  # fmt: skip
        """The query and document that a cause alone changes most."""
        changed = [
            (abs(_zero(b) - _zero(a)), q)
            for q, a, b in zip(before.queries, before.values, after.values, strict=True)
            if (query is None or q == query) and (a != b) and not (a != a and b != b)
        ]
        if not changed:
            return None, None, "no effect here"
        worst = max(changed, key=lambda pair: pair[0])[1]
        if cause == "missing queries":
            return worst, None, f"query {worst} is not in the run ({len(changed):,} of them)"
        one, other = (self.explained(as_convention(o), worst) for o in (ours, alone))
        doc, note = _changed_document(one, other)
        many = f"{len(changed):,} queries differ" if len(changed) > 1 else "no other query differs"
        more = f" ({many})"
        return worst, doc, f"query {worst}, {note}{more}" if query is None else note


class _Values:
    """A measure's values by query, and the one over queries, which is that of `evaluate`."""

    def __init__(
        self,
        measure: Measure,
        queries: Sequence[str],
        values: Sequence[float],
        query: str | None,
    ) -> None:
        self.queries = queries
        self.values = values
        self.total = (
            aggregate(measure, values) if query is None else values[list(queries).index(query)]
        )


class _Terms:
    """Turns running values into gains, weights and contributions."""

    def __init__(
        self, used: Convention, options: Mapping[str, Any], gains: Sequence[float]
    ) -> None:
        self.convention = used
        self.options = options
        self.gains = gains

    def explanation(
        self,
        query: str,
        value: float,
        base: float,
        rows: Sequence[tuple[str, float | None, float | None, float]],
    ) -> Explanation:
        norm = self._norm(rows) if self._is_ndcg else 1.0
        ideal = self._ideal(norm, len(rows))
        terms = []
        before = base
        for rank, (doc, score, judged, so_far) in enumerate(rows, 1):
            part = _zero(so_far) - _zero(before)
            gain = self._gain(judged)
            if self._is_ndcg:
                discount = 1 / math.log2(rank + 1) if rank <= self._cut(len(rows)) else 0.0
                part = gain * discount / norm if norm else 0.0
            else:
                gain = float(part != 0) if self._counts_documents else gain
                discount = part / gain if gain else math.nan if part else 0.0
            place = (ideal[rank - 1] if rank <= len(ideal) else 0.0) if ideal is not None else None
            terms.append(
                Term(
                    rank=rank,
                    doc=doc,
                    score=score,
                    judged=judged,
                    gain=gain,
                    discount=discount,
                    contribution=part,
                    ideal=place,
                )
            )
            before = so_far
        return Explanation(
            convention=self.convention,
            query=query,
            value=value,
            base=base,
            norm=norm,
            terms=tuple(terms),
        )

    @property
    def _counts_documents(self) -> bool:
        """Whether documents count by being there or being judged, whatever their gain."""
        return self.convention.measure.definition.family == "coverage"

    @property
    def _is_ndcg(self) -> bool:
        return bool(self.options["kernel"] == "ndcg")

    def _cut(self, otherwise: int) -> int:
        return int(self.options.get("cutoff") or otherwise)

    def _norm(self, rows: Sequence[tuple[str, float | None, float | None, float]]) -> float:
        """The DCG of the ideal list."""
        gains = list(self.gains)
        if self.options.get("ideal_retrieved"):
            gains = sorted((g for _, _, g, _ in rows if g is not None), reverse=True)
        length = self._cut(len(gains))
        if self.options.get("ideal_length"):
            length = min(length, len(rows))
        return math.fsum(self._gain(g) / math.log2(i + 1) for i, g in enumerate(gains[:length], 1))

    def _gain(self, judged: float | None) -> float:
        if judged is None or judged < 0:
            return 0.0
        if self.convention.measure.definition.family != "gain":
            return float(judged >= self.options.get("rel", 1.0))
        if judged < self.options.get("min_gain", 0):
            return 0.0
        return 2.0**judged - 1 if self.options.get("exp_gain") and judged > 0 else judged

    def _ideal(self, norm: float, length: int) -> list[float] | None:
        """What the ranks of the ideal list contribute to an nDCG of 1."""
        if not self._is_ndcg or self.options.get("ideal_retrieved"):
            return None
        cut = min(
            self._cut(len(self.gains)), length if self.options.get("ideal_length") else 1 << 62
        )
        return [
            self._gain(g) / math.log2(i + 1) / norm if norm else 0.0
            for i, g in enumerate(self.gains[:cut], 1)
        ]


def _changed_document(one: Explanation, other: Explanation) -> tuple[str | None, str]:
    """The document whose contribution changed most."""
    before, after = ({t.doc: t for t in e.terms} for e in (one, other))
    best: tuple[float, str] | None = None
    for doc in {**before, **after}:
        a, b = before.get(doc), after.get(doc)
        change = abs((b.contribution if b else 0.0) - (a.contribution if a else 0.0))
        moved = (a.rank if a else 0) != (b.rank if b else 0)
        if (change > 0 or moved) and (best is None or change > best[0]):
            best = change, doc
    if best is None:
        return None, "the value as a whole changes"
    doc = best[1]
    a, b = before.get(doc), after.get(doc)
    if a is None or b is None:
        return doc, f"document {doc} is {'removed' if b is None else 'added'}"
    move = f"rank {a.rank} -> {b.rank}, " if a.rank != b.rank else f"rank {a.rank}, "
    return doc, f"document {doc}: {move}{a.contribution:.4f} -> {b.contribution:.4f}"


def _zero(value: float) -> float:
    return 0.0 if value != value else value


def _null(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value


def _short(value: float | None) -> Any:
    """Whole numbers without a decimal point."""
    if value is None:
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def _signed(value: float) -> str:
    if value != value:
        return "-"
    return f"{value:+.4f}" if abs(value) >= 0.00005 or value == 0 else f"{value:+.1e}"
