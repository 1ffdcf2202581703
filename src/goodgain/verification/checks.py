"""Recompute measures from their definitions and with other tools, and explain every difference."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.measures import definitions, parse
from goodgain.measures.grammar import parse_all
from goodgain.ranking import evaluate
from goodgain.ranking.policy import PRESETS, Policy
from goodgain.ranking.presets import RULES, convention
from goodgain.verification.definitions import by_docid, names, orders, supposed, value
from goodgain.verification.peers import PEERS, Peer, unusable
from goodgain.verification.result import Check, Difference, SelfTest
from goodgain.verification.sample import (
    Sample,
    draw_sample,
    generate_samples,
)
from goodgain.verification.statistics import check_statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures
    from goodgain.ranking.scores import RunScores
    from goodgain.verification.definitions import Judged, Row

QUERIES = 20
_TOLERANCE = 1e-10
_MOST_ORDERS = 720  # tied documents in every order, unjudged ones with every gain: only up to here
_DEFINITIONS = "the definitions, by brute force"


def selftest(
    qrels: Any = None,
    run: Any = None,
    *,
    measures: Measures | None = None,
    queries: int = QUERIES,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
) -> SelfTest:
    """Check goodgain's numbers on a sample of your own queries, or on generated ones.

    Each value is recomputed from its definition in plain Python, for every policy that the query allows
    in reasonable time, and by trec_eval's code, ir_measures, ranx and scipy where they are installed.
    A difference is explained by a known convention, or it is unexplained and the test fails.

    >>> import goodgain as gg
    >>> result = gg.selftest({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 1.0, "b": 1.0}}, measures="RR")
    >>> result.passed
    True
    """
    if (qrels is None) != (run is None):
        raise UsageError(
            "selftest takes judgments and a run, or neither", hint="goodgain selftest [QRELS RUN]"
        )
    if queries < 1:
        raise UsageError(f"queries must be a positive integer, got {queries}")
    samples = (
        generate_samples(queries, seed)
        if qrels is None
        else [draw_sample(qrels, run, queries, seed, columns)]
    )
    sample = samples[0]
    chosen = _default_measures() if measures is None else list(parse_all(measures))
    covered = [m for m in chosen if m.name in names() and m.namespace == "ranked"]
    if not covered:
        raise UsageError(
            f"selftest has no definition of {', '.join(m.label for m in chosen)}",
            hint="it recomputes ranked measures, for example -m nDCG@10; list them: goodgain measures",
        )
    checks = [_check_all(check, samples, covered) for check in (_check_definitions, _check_means)]
    missing = []
    for peer in PEERS:
        if peer.installed:
            checks.append(_check_peer(peer, sample, covered))
        else:
            missing.append(peer.title)
    if find_spec("scipy"):
        scores = _evaluated(sample, covered)
        columns_of_scores = {m.label: scores.values(m) for m in covered}
        checks.append(check_statistics(columns_of_scores, f"scipy {metadata.version('scipy')}"))
    else:
        missing.append("scipy")
    return SelfTest(
        sample=sample.title,
        checks=tuple(checks),
        not_covered=tuple(m.label for m in chosen if m not in covered),
        missing=tuple(missing),
    )


def _check_all(
    check: Callable[[Sample, Sequence[Measure]], Check],
    samples: Sequence[Sample],
    measures: Sequence[Measure],
) -> Check:
    """One check of several samples."""
    results = [check(sample, measures) for sample in samples]
    return Check(
        against=results[0].against,
        values=sum(result.values for result in results),
        differences=tuple(d for result in results for d in result.differences),
    )


def _default_measures() -> list[Measure]:
    """Every ranked measure, with and without a cut-off where it may have one."""
    chosen = []
    for d in definitions("ranked"):
        if d.cutoff in ("none", "optional"):
            chosen.append(parse(d.name))
        if d.cutoff in ("required", "optional"):
            chosen.append(parse(f"{d.name}@10"))
        if d.cutoff == "recall":
            chosen.append(parse(f"{d.name}@0.5"))
    return [*chosen, parse("nDCG(gain=exp)@10"), parse("nDCG(gain=exp)"), parse("DCG(gain=exp)")]


def _evaluated(sample: Sample, measures: Sequence[Measure], **policies: Any) -> RunScores:
    return evaluate(sample.qrels, sample.run, list(measures), **policies).runs[0]


def _equal(one: float, other: float) -> bool:
    if one != one or other != other:
        return one != one and other != other
    return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


# --- definitions ---


def _defined(measure: Measure, ranking: Sequence[str], judged: Judged) -> float:
    return value(measure.name, ranking, judged, _cutoff(measure), **dict(measure.params))


def _cutoff(measure: Measure) -> Any:
    is_rank = measure.cutoff is not None and measure.definition.cutoff != "recall"
    return int(measure.cutoff) if is_rank and measure.cutoff is not None else measure.cutoff


def _check_definitions(sample: Sample, measures: Sequence[Measure]) -> Check:
    """Every policy against the definitions: tied documents in every order, unjudged with every gain."""
    values, differences = 0, list[Difference]()
    for policy, worlds, bounded in _POLICIES:
        usable = measures if policy != "unjudged=bounds" else _with_bounds(measures)
        if not usable:  # none of them has bounds
            continue
        name, _, choice = policy.partition("=")
        scores = _evaluated(sample, usable, **{name: choice})
        places = {query: i for i, query in enumerate(scores.queries)}
        columns = {
            (m.label, bound): scores.column(m, bound) for m in usable for bound in _bounds(bounded)
        }
        for query, judged in sample.judged.items():
            retrieved = sample.retrieved.get(query, [])
            by_aspect = worlds(retrieved, judged)
            targets: list[Row] = [(doc, gain, target, None) for doc, gain, target, _ in judged.rows]
            by_target = worlds(retrieved, replace(judged, rows=targets))
            plain = worlds(retrieved, replace(judged, rows=[]))
            for measure in usable:
                distinct = measure.definition.family == "distinct"
                by_label = by_aspect if measure.definition.by_aspect else by_target
                cases = by_label if distinct else plain
                if cases is None:
                    continue
                expected = _summary([_defined(measure, *case) for case in cases], bounded)
                for bound, wanted in zip(_bounds(bounded), expected, strict=True):
                    ours = columns[measure.label, bound][places[query]]
                    values += 1
                    if not _equal(ours, wanted):
                        differences.append(
                            Difference(
                                measure=measure.label,
                                query=query,
                                policy=f"{policy} {bound}".strip(),
                                value=ours,
                                expected=wanted,
                            )
                        )
    return Check(against=_DEFINITIONS, values=values, differences=tuple(differences))


def _with_bounds(measures: Sequence[Measure]) -> list[Measure]:
    from goodgain.ranking.evaluator import bounded_measures

    return [
        m
        for m in bounded_measures(measures)
        if not (m.definition.family == "distinct" and m.get("rel") != 1)
    ]


def _bounds(bounded: bool) -> tuple[str, ...]:
    return ("lower", "upper") if bounded else ("",)


def _summary(values: list[float], bounded: bool) -> tuple[float, ...]:
    """The extremes of the defined values, or the mean, undefined where one of them is."""
    if not bounded:
        return (math.fsum(values) / len(values),)
    known = [v for v in values if v == v]
    return (min(known, default=math.nan), max(known, default=math.nan))


Cases = list[tuple[list[str], "Judged"]] | None


def _in_order(order: Callable[[Any], list[str]], run: Any, judged: Judged) -> Cases:
    return [(order(run), judged)]


def _condensed(run: Any, judged: Judged) -> Cases:
    return [([doc for doc in by_docid(run) if doc in judged.gains], judged)]


def _all_orders(run: Any, judged: Judged) -> Cases:
    sizes = Counter(score for _, score in run).values()
    if math.prod(map(math.factorial, (min(size, 20) for size in sizes))) > _MOST_ORDERS:
        return None
    return [(ranking, judged) for ranking in orders(run)]


def _all_gains(run: Any, judged: Judged) -> Cases:
    ranking = by_docid(run)
    unknown = sum(doc not in judged.gains for doc in ranking)
    aspects = {row[3] for row in judged.rows if row[3] is not None}
    grades = {0.0, judged.top, *(g for g in judged.gains.values() if g > 0)}
    targets = {None, *(row[2] for row in judged.rows)}  # None: the document itself
    choices = 2 ** len(aspects) if aspects else max(2 ** len(targets), len(grades))
    if choices**unknown > _MOST_ORDERS:
        return None
    if aspects and not any(row[3] is not None and row[1] >= 1 for row in judged.rows):
        return None  # no aspect counts: the bounds are undefined
    return [(ranking, world) for world in supposed(ranking, judged)]


def _by_input(run: Any) -> list[str]:
    return [doc for doc, _ in sorted(run, key=lambda item: -item[1])]


_POLICIES: tuple[tuple[str, Callable[[Any, Judged], Cases], bool], ...] = (
    ("ties=docid", partial(_in_order, by_docid), False),
    ("ties=input", partial(_in_order, _by_input), False),
    ("ties=average", _all_orders, False),
    ("ties=bounds", _all_orders, True),
    ("unjudged=remove", _condensed, False),
    ("unjudged=bounds", _all_gains, True),
)


def _check_means(sample: Sample, measures: Sequence[Measure]) -> Check:
    """The means of the sample, from the definitions' values."""
    rows = sample.rows
    highest = max(judged.top for judged in sample.judged.values())
    usable = [m for m in measures if m.name not in ("ERR", "nERR", "RBP") or highest == _top(rows)]
    scores = evaluate(rows, sample.run_rows(), usable).runs[0]
    differences = []
    for measure in usable:
        values = [
            _defined(measure, by_docid(sample.retrieved.get(q, [])), judged)
            for q, judged in sample.judged.items()
        ]
        wanted, ours = _mean(measure, [v for v in values if v == v]), scores[measure]
        if not _equal(ours, wanted):
            differences.append(
                Difference(
                    measure=measure.label, query="mean", policy="", value=ours, expected=wanted
                )
            )
    against = "means of the definitions' values"
    return Check(against=against, values=len(usable), differences=tuple(differences))


def _top(rows: Sequence[tuple[str, str, float, str | None, str | None]]) -> float:
    return max([1.0, *(row[2] for row in rows)])


def _mean(measure: Measure, values: list[float]) -> float:
    kind = measure.definition.aggregate
    if kind == "sum":
        return math.fsum(values)
    if not values:
        return math.nan
    if kind == "geometric":
        return float(math.prod(max(v, 1e-5) ** (1 / len(values)) for v in values))
    return math.fsum(values) / len(values)


# --- other tools ---


def _check_peer(peer: Peer, sample: Sample, measures: Sequence[Measure]) -> Check:
    """The tool's values; where they differ from ours, those that its conventions give explain them."""
    if reason := unusable(sample):
        return Check(against=peer.title, values=0, note=reason)
    wanted = {m.label: name for m in measures if (name := peer.name(m))}
    usable = [m for m in measures if m.label in wanted]
    try:
        theirs = peer.values(sample, wanted) if wanted else {}
    except Exception as error:  # a tool that does not work here says nothing about our numbers
        note = f"it failed: {type(error).__name__}: {str(error).partition(chr(10))[0]:.200}"
        return Check(against=peer.title, values=0, note=note)
    if not theirs:
        return Check(against=peer.title, values=0, note="no query or measure in common")
    ours = _evaluated(sample, usable).per_query
    differences = []
    explained: dict[str, dict[str, dict[str, float]]] = {}
    for measure in usable:
        for query in sample.retrieved:
            expected = theirs.get((query, measure.label))
            if expected is None:
                continue
            number = ours[query][measure.label]
            if _equal(number, expected):
                continue
            cause = ""
            for cause, policies in _conventions(peer, measure):
                key = f"{cause} {measure.label}"
                if key not in explained:
                    explained[key] = _evaluated(sample, [measure], **policies).per_query
                values = explained[key].get(query, {})
                if _equal(values.get(measure.label, math.nan), expected):
                    break
            else:
                cause = ""
            differences.append(
                Difference(
                    measure=measure.label,
                    query=query,
                    policy="",
                    value=number,
                    expected=expected,
                    cause=cause and f"{measure.label}: {cause}",
                )
            )
    return Check(against=peer.describe(), values=len(theirs), differences=tuple(differences))


def _conventions(peer: Peer, measure: Measure) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tool's conventions one by one, then all at once."""
    policy = convention(measure, PRESETS[peer.preset], peer.preset).policy
    for name, choice in policy.to_dict().items():
        if choice != getattr(Policy(), name) and name != "missing":
            yield f"{name}={choice}", {name: choice}
    reasons = [rule.why for rule in RULES[peer.preset] if rule.holds(measure)]
    changed = [
        f"{name}={choice}"
        for name, choice in policy.to_dict().items()
        if choice != getattr(Policy(), name) and name != "missing"
    ]
    text = "; ".join([*reasons, *changed]) or f"preset {peer.preset}"
    yield text, {"preset": peer.preset}
