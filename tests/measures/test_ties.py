"""Ties and unjudged documents by brute force: every order, every gain, against the core's closed forms."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from collections_ import REAL_GAINS, query
from hypothesis import given
from hypothesis import strategies as st
from specs import ALL, FAMILIES, label

from goodgain import evaluate, parse
from goodgain._core import kernels
from goodgain.errors import UsageError
from goodgain.measures import definitions
from goodgain.verification.definitions import by_docid, judged_from, names, orders, supposed, value

TOLERANCE = 1e-12
LABELS = {"targets": "target", "aspects": "aspect", "targets and aspects": "both"}
# Documents with several rows for a target, one for each aspect, and the other way round.
CASES = {**FAMILIES, "targets and aspects": [*FAMILIES["targets"], *FAMILIES["aspects"]]}


def evaluated(item, specs, **policy):
    rows = [("q", *row) for row in item.rows]
    run = [("q", doc, score) for doc, score in item.run]
    return evaluate(rows, run, [label(s) for s in specs], **policy)["run"]


def close(a, b):
    return (a != a and b != b) or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def check(item, specs, got, expected):
    wrong = [
        f"{label(s)}: {found!r} for {wanted!r}"
        for s, found, wanted in zip(specs, got, expected, strict=True)
        if not close(found, wanted)
    ]
    assert not wrong, f"{item}\n" + "\n".join(wrong)


def point(scores, specs):
    return [scores.column(label(s))[0] for s in specs]


def lower(scores, specs):
    return [scores.column(label(s), "lower")[0] for s in specs]


def upper(scores, specs):
    return [scores.column(label(s), "upper")[0] for s in specs]


def random_queries(family):
    """A few judged and retrieved documents with many ties; grades and real gains."""
    options = {"min_run": 1, "min_rows": 1, "labels": LABELS.get(family), "max_docs": 5}
    return st.one_of(
        query(**options),
        query(**options, scores=(1.0,)),
        query(**options, grades=REAL_GAINS, scores=(1.0, 2.0)),
    )


def over_orders(item, specs):
    """For each measure its values over all orders, and how many orders have each of them.

    Orders that differ only by documents judged alike are measured once.
    """
    q = judged_from(item.rows)
    kind = {d: sorted(str(r[1:]) for r in item.rows if r[0] == d) for d, _ in item.run}
    counts, rankings = Counter(), {}
    for ranking in orders(item.run):
        key = str([kind[d] for d in ranking])
        counts[key] += 1
        rankings[key] = ranking
    values = [[value(n, r, q, k, **p) for r in rankings.values()] for n, p, k in specs]
    return values, [counts[key] for key in rankings]


def test_reference_has_every_measure():
    measured = {d.name for d in definitions("ranked")}
    assert names() == measured == {name for name, _, _ in ALL}


@pytest.mark.parametrize("family", CASES)
@given(data=st.data())
def test_point_values(family, data):
    """Without ties every measure is what its definition says."""
    item = data.draw(
        query(min_run=1, min_rows=1, labels=LABELS.get(family), distinct=True, max_docs=9)
    )
    specs = CASES[family]
    scores = evaluated(item, specs)
    check(item, specs, point(scores, specs), [v for (v,) in over_orders(item, specs)[0]])


@pytest.mark.parametrize("family", CASES)
@given(data=st.data())
def test_ties_docid(family, data):
    """Equal scores: the larger id in byte order stands first."""
    item = data.draw(random_queries(family))
    specs, q = CASES[family], judged_from(item.rows)
    ranking = by_docid(item.run)
    expected = [value(name, ranking, q, k, **params) for name, params, k in specs]
    scores = evaluated(item, specs)
    check(item, specs, point(scores, specs), expected)


@pytest.mark.parametrize("family", CASES)
@given(data=st.data())
def test_ties_input(family, data):
    """Equal scores: as they stand in the run."""
    item = data.draw(random_queries(family))
    specs, q = CASES[family], judged_from(item.rows)
    ranking = [doc for doc, _ in sorted(item.run, key=lambda pair: -pair[1])]
    expected = [value(name, ranking, q, k, **params) for name, params, k in specs]
    scores = evaluated(item, specs, ties="input")
    check(item, specs, point(scores, specs), expected)


@pytest.mark.parametrize("family", CASES)
@given(data=st.data())
def test_ties_average(family, data):
    """The exact mean over all orders; undefined where one of them is."""
    item = data.draw(random_queries(family))
    specs = CASES[family]
    values, counts = over_orders(item, specs)
    expected = [
        math.fsum(v * n for v, n in zip(found, counts, strict=True)) / sum(counts)
        for found in values
    ]
    scores = evaluated(item, specs, ties="average")
    check(item, specs, point(scores, specs), expected)


@pytest.mark.parametrize("family", CASES)
@given(data=st.data())
def test_ties_bounds(family, data):
    """The true minimum and maximum over all orders where the measure is defined."""
    item = data.draw(random_queries(family))
    specs = CASES[family]
    scores = evaluated(item, specs, ties="bounds")
    values = [[v for v in found if v == v] for found in over_orders(item, specs)[0]]
    check(item, specs, lower(scores, specs), [min(v, default=math.nan) for v in values])
    check(item, specs, upper(scores, specs), [max(v, default=math.nan) for v in values])


def supports_unjudged(spec):
    m = parse(label(spec))
    return kernels()[m.definition.kernel]["unjudged_bounds"] and m.get("ideal") != "retrieved"


BOUNDED = [s for s in ALL if supports_unjudged(s)]
REFUSED = [s for s in ALL if not supports_unjudged(s)]


@given(
    item=st.one_of(
        query(min_run=1, min_rows=1, max_docs=6),
        query(min_run=3, min_rows=1, max_docs=6, grades=REAL_GAINS, distinct=True),
        query(min_run=3, min_rows=1, max_docs=5, grades=(0, 1)),
    )
)
def test_unjudged_bounds(item):
    """The true extremes over all gains that unjudged documents could have."""
    unknown = [pair for pair in item.run if pair[0] not in item.gains]
    item.run = [pair for pair in item.run if pair not in unknown[3:]]
    q, ranking = judged_from(item.rows), by_docid(item.run)
    worlds = list(supposed(ranking, q))
    scores = evaluated(item, BOUNDED, unjudged="bounds")
    values = [[value(n, ranking, w, k, **p) for w in worlds] for n, p, k in BOUNDED]
    check(item, BOUNDED, lower(scores, BOUNDED), [min(v) for v in values])
    check(item, BOUNDED, upper(scores, BOUNDED), [max(v) for v in values])
    points = [value(n, ranking, q, k, **p) for n, p, k in BOUNDED]
    check(item, BOUNDED, point(scores, BOUNDED), points)


ASPECT_BOUNDED = [s for s in FAMILIES["aspects"] if supports_unjudged(s)]


@given(item=query(min_run=2, min_rows=1, max_docs=5, labels="aspect", grades=(0, 0, 1, 2)))
def test_unjudged_bounds_by_aspect(item):
    """The true extremes over all aspects, of those that count, that unjudged documents could have."""
    item.rows[0] = (item.rows[0][0], 2, *item.rows[0][2:])  # rel=2 has an aspect that counts
    unknown = [pair for pair in item.run if pair[0] not in item.gains]
    item.run = [pair for pair in item.run if pair not in unknown[2:]]
    q, ranking = judged_from(item.rows), by_docid(item.run)
    scores = evaluated(item, ASPECT_BOUNDED, unjudged="bounds")
    values = [
        [value(n, ranking, w, k, **p) for w in supposed(ranking, q, p.get("rel", 1))]
        for n, p, k in ASPECT_BOUNDED
    ]
    check(item, ASPECT_BOUNDED, lower(scores, ASPECT_BOUNDED), [min(v) for v in values])
    check(item, ASPECT_BOUNDED, upper(scores, ASPECT_BOUNDED), [max(v) for v in values])


OVER_GREEDY_IDEALS = [
    ("alpha_nDCG", {}, 1),
    ("alpha_nDCG", {}, 2),
    ("alpha_nDCG", {"alpha": 0.25}, 3),
    ("alpha_nDCG", {"alpha": 1}, 3),
    ("alpha_nDCG", {"alpha": 0}, 2),
    ("alpha_nDCG", {"rel": 2}, 2),
    ("nERR_IA", {}, 2),
    ("nERR_IA", {"alpha": 0.75}, 4),
    ("nNRBP", {}, None),
]


@given(
    item=query(
        min_run=4, min_rows=3, max_docs=7, labels="aspect", grades=(0, 1, 1, 2), distinct=True
    ),
    first=st.booleans(),
)
def test_unjudged_bounds_over_greedy_ideals(item, first):
    """A document below the cut-off may raise the greedy ideal or lower it, and its id may decide."""
    item.rows[0] = (item.rows[0][0], 2, *item.rows[0][2:])
    run = sorted(item.run, key=lambda pair: -pair[1])
    unknown = [pair for pair in (run if first else reversed(run)) if pair[0] not in item.gains]
    item.run = [pair for pair in item.run if pair not in unknown[3:]]
    q, ranking = judged_from(item.rows), by_docid(item.run)
    scores = evaluated(item, OVER_GREEDY_IDEALS, unjudged="bounds")
    values = [
        [value(n, ranking, w, k, **p) for w in supposed(ranking, q, p.get("rel", 1))]
        for n, p, k in OVER_GREEDY_IDEALS
    ]
    check(item, OVER_GREEDY_IDEALS, lower(scores, OVER_GREEDY_IDEALS), [min(v) for v in values])
    check(item, OVER_GREEDY_IDEALS, upper(scores, OVER_GREEDY_IDEALS), [max(v) for v in values])


@pytest.mark.parametrize("labels", ["target", "both"])
@given(data=st.data())
def test_unjudged_bounds_by_target(labels, data):
    """The true extremes over all known targets that unjudged documents could meet, and new ones."""
    item = data.draw(query(min_run=2, min_rows=1, max_docs=6, labels=labels, grades=(0, 0, 1, 2)))
    unknown = [pair for pair in item.run if pair[0] not in item.gains]
    item.run = [pair for pair in item.run if pair not in unknown[2:]]
    by_target = judged_from([(doc, gain, target, None) for doc, gain, target, _ in item.rows])
    ranking, specs = by_docid(item.run), FAMILIES["targets"]
    scores = evaluated(item, specs, unjudged="bounds")
    values = [
        [value(n, ranking, w, k, **p) for w in supposed(ranking, by_target, p.get("rel", 1))]
        for n, p, k in specs
    ]
    check(item, specs, lower(scores, specs), [min(v) for v in values])
    check(item, specs, upper(scores, specs), [max(v) for v in values])


def test_a_document_below_lowers_the_greedy_ideal():
    """Judged ab and cd, x not: if x were ac, the greedy ideal would take it first, by its id, and lose."""
    rows = [("q", doc, 1, None, aspect) for doc in ("ab", "cd") for aspect in doc]
    run = [("q", "ab", 3.0), ("q", "cd", 2.0), ("q", "x", 1.0)]
    bounds = evaluate(rows, run, "alpha_nDCG@2", unjudged="bounds")["run"].bounds("alpha_nDCG@2")
    second = 1 / math.log2(3)
    lowest = (2 + 2 * second) / (4 + second)  # x has all aspects
    assert bounds == pytest.approx((lowest, (2 + 2 * second) / (2 + 1 * second + 0.5 * second)))


def test_long_lists_with_a_few_unjudged_at_the_top_have_bounds():
    """Hundreds of unjudged documents below the cut-off; the first two ranks of unjudged documents count."""
    aspects = "abcd"
    rows = [
        ("q", f"d{i}", 1, None, aspects[j]) for i in range(40) for j in {i % 4, i * i % 3, i % 2}
    ]
    run = [("q", f"x{i}" if i in (2, 5) or i > 60 else f"d{i % 40}" if i < 40 else f"y{i}", 1e4 - i)
           for i in range(900)]  # fmt: skip
    names = ["alpha_nDCG@10", "nERR_IA@10", "alpha_nDCG(alpha=0.7)@10"]
    scores = evaluate(rows, run, names, unjudged="bounds")["run"]
    for name in names:
        low, high = scores.bounds(name)
        assert 0 < low < scores[name] < high


def test_unjudged_bounds_reach_the_top_of_the_collection():
    """An unjudged document may be as good as the best of another query."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 3}}
    scores = evaluate(qrels, {"q1": {"x": 2, "a": 1}, "q2": {"b": 1}}, "DCG", unjudged="bounds")[
        "run"
    ]
    assert scores.column("DCG", "upper")[0] == pytest.approx(3 + 1 / math.log2(3), abs=TOLERANCE)
    assert scores.column("DCG", "lower")[0] == pytest.approx(1 / math.log2(3), abs=TOLERANCE)


@pytest.mark.parametrize("spec", REFUSED, ids=label)
def test_measures_without_known_bounds_refuse(spec):
    with pytest.raises(UsageError, match="exact bounds"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, label(spec), unjudged="bounds")


@pytest.mark.parametrize("ties", ["average", "bounds"])
def test_two_unknowns_at_a_time_refuse(ties):
    with pytest.raises(UsageError, match="cannot be combined with"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", unjudged="bounds", ties=ties)


def test_a_target_with_two_aspects_is_one_target():
    """Rows a/t1/1, a/t1/2, b/t2/1 with a, b and c tied: worked out by hand."""
    rows = [("q", "a", 1, "t1", "1"), ("q", "a", 1, "t1", "2"), ("q", "b", 1, "t2", "1")]
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    names = "DR@1 DR@2 DR@3 Diversity@1 Diversity@2"
    average = evaluate(rows, run, names, ties="average")["run"].means
    assert list(average.values()) == pytest.approx([1 / 3, 2 / 3, 1, 2 / 3, 4 / 3])
    bounds = evaluate(rows, run, names, ties="bounds")["run"]
    expected = [(0, 1 / 2), (1 / 2, 1), (1, 1), (0, 1), (1, 2)]
    assert [bounds.bounds(name) for name in names.split()] == expected
