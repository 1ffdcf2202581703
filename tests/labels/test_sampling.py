"""What people should judge: probabilities of draws, strata, what is out of reach, and what comes next."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest

from goodgain.cli import run as command
from goodgain.errors import GoodgainError
from goodgain.labels import Store, label
from goodgain.labels.calibration import calibrate
from goodgain.labels.next_label import next_pairs, settling_labels
from goodgain.labels.people import Vote
from goodgain.labels.sampling import draw_sample, read_sample, sample_names
from goodgain.ranking import evaluate


def machine(query, doc):
    return (7 * int(query[1:]) + 3 * int(doc[1:])) % 5


def store_of(path=":memory:", queries=20, docs=10):
    pairs = [
        (f"q{q}", f"d{d}", f"question {q}", f"q{q} d{d}")
        for q in range(queries)
        for d in range(docs)
    ]
    return label(pairs, lambda r: machine(*r.document.split()), path, canaries=2).store


RUNS = {
    "a": {f"q{q}": {f"d{d}": float(10 - d) for d in range(10)} for q in range(20)},
    "b": {f"q{q}": {f"d{d}": float(d) for d in range(3, 13)} for q in range(20)},
}


# --- draws ---


@pytest.mark.parametrize("by", [(), ("label",), ("rank",), ("system",), ("label", "rank")])
@pytest.mark.parametrize("allocation", ["proportional", "equal"])
def test_every_pair_has_its_probability(by, allocation):
    store = store_of()
    sample = draw_sample(store, 80, by=by, allocation=allocation, runs=RUNS, depth=5)
    assert len(sample.units) == len(set(sample.pairs())) == 80
    documents = sample.documents
    assert sum(map(len, documents.values())) == sum(s.units for s in sample.strata)
    assert not any("canary" in doc for docs in documents.values() for doc in docs)
    sizes = {s.name: s.units for s in sample.strata}
    drawn = Counter(unit.stratum for unit in sample.units)
    for unit in sample.units:
        assert unit.probability == drawn[unit.stratum] / sizes[unit.stratum] > 0
    assert set(drawn) == set(sizes)  # nothing that could not be drawn
    # a sum over the sample of 1 / probability is the size of the frame: the probabilities are exact
    assert math.fsum(1 / unit.probability for unit in sample.units) == pytest.approx(
        sum(sizes.values())
    )
    if allocation == "equal" and by == ("label",):
        assert max(drawn.values()) - min(drawn.values()) <= 1


def test_draws_are_as_frequent_as_their_probability():
    store = store_of(queries=4, docs=5)
    counts = Counter()
    for seed in range(400):
        sample = draw_sample(store, 10, name=f"s{seed}", by=("label",), seed=seed)
        counts.update(sample.pairs())
        probabilities = {(u.query, u.doc): u.probability for u in sample.units}
        for pair, probability in probabilities.items():
            assert probability == pytest.approx(0.5, abs=0.2), pair
    assert len(counts) == 20
    assert min(counts.values()) > 120


def test_a_sample_is_read_as_it_was_drawn(tmp_path):
    store = store_of(tmp_path / "labels.db")
    sample = draw_sample(store, 6, name="first", unit="queries", by=("label",), seed=3, runs=RUNS)
    assert read_sample(tmp_path / "labels.db") == sample
    assert read_sample(store, "first").seed == 3
    assert draw_sample(
        store, 6, name="same", unit="queries", by=("label",), seed=3, runs=RUNS
    ).units == (sample.units)
    assert draw_sample(store, 5, name="other", unit="queries", seed=4).units != sample.units
    assert sample_names(store) == ["first", "same", "other"]
    assert len(sample.pairs()) == 6 * 13  # ten labelled, three more of the runs
    with pytest.raises(GoodgainError, match="has a sample 'first' already"):
        draw_sample(store, 5, name="first")
    with pytest.raises(GoodgainError, match="the store has 3 samples"):
        read_sample(store)
    with pytest.raises(GoodgainError, match="unknown sample 'third'"):
        read_sample(store, "third")


def test_neyman_draws_more_where_people_and_judge_differ():
    store = store_of(queries=40)
    first = draw_sample(store, 100, name="first", by=("label",), allocation="equal")
    with pytest.raises(GoodgainError, match="no pair of the sample 'first' has a label by people"):
        draw_sample(store, 50, name="x", by=("label",), allocation="neyman", earlier="first")
    votes = []
    for i, unit in enumerate(first.units):
        gain = machine(unit.query, unit.doc)
        gain = (0 if i % 2 else 4) if gain == 2 else gain
        votes.append(Vote(annotator="ann", query=unit.query, doc=unit.doc, gain=gain))
    store.add_votes(votes)
    second = draw_sample(
        store, 60, name="second", by=("label",), allocation="neyman", earlier="first"
    )
    drawn = {s.name: s.drawn for s in second.strata}
    assert drawn["label 2"] > 3 * max(n for name, n in drawn.items() if name != "label 2")
    assert min(drawn.values()) >= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "must be a positive integer"),
        ({"count": 10_000}, "cannot draw 10,000 of 200 pairs"),
        ({"count": 5, "by": ("label",)}, "5 draws cannot give 5 strata two each"),
        ({"count": 5, "by": ("colour",)}, "unknown stratum 'colour'"),
        ({"count": 5, "by": ("rank",)}, "dividing by rank needs runs"),
        (
            {"count": 5, "by": ("rank",), "unit": "queries", "runs": RUNS},
            "cannot be divided by rank",
        ),
        ({"count": 5, "allocation": "best"}, "unknown allocation 'best'"),
        ({"count": 5, "allocation": "neyman"}, "needs an earlier sample"),
    ],
)
def test_what_cannot_be_drawn(options, message):
    with pytest.raises(GoodgainError, match=message):
        draw_sample(store_of(), **options)


def test_a_store_without_labels_draws_from_runs():
    with pytest.raises(GoodgainError, match="nothing to draw from"):
        draw_sample(Store(), 5)
    sample = draw_sample(Store(), 30, runs=RUNS, depth=5, by=("system",))
    assert {s.name for s in sample.strata} == {"a", "b"}
    assert "out of reach: documents below rank 5" in sample.sentences()[-1]


def test_the_command_draws_and_writes_a_blind_list(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store_of("labels.db").close()
    assert (
        command(["labels", "sample", "labels.db", "--count", "20", "--by", "label", "--seed", "2"])
        == 0
    )
    out = capsys.readouterr().out
    assert out.startswith("sample 'sample': 20 of 200 pairs, 20 documents to judge (seed 2)\n")
    assert "label 4: 4 of 40 (probability 0.1)" in out
    assert "goodgain judge labels.db --sample sample" in out
    words = [
        "labels",
        "sample",
        "labels.db",
        "--count",
        "3",
        "--whole-queries",
        "--sample",
        "whole",
    ]
    assert command([*words, "-o", "list.jsonl"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "list.jsonl").read_text().splitlines()]
    assert len(rows) == 30
    assert set(rows[0]) == {"position", "query", "doc", "question"}
    assert rows[0]["question"] == f"question {rows[0]['query'][1:]}"
    assert command(["labels", "sample", "labels.db"]) == 2
    assert "sample needs a number" in capsys.readouterr().err


# --- what to label next ---


def test_the_next_labels_are_drawn_once_and_learn(tmp_path):
    store = store_of(tmp_path / "labels.db")
    first = next_pairs(store, RUNS, measure="DCG@5", count=4)
    assert [p[:2] for p in next_pairs(store, RUNS, measure="DCG@5", count=4)] == [
        p[:2] for p in first
    ]
    sample = read_sample(store)
    assert (sample.name, sample.unit, len(sample.units)) == ("next DCG@5 a b", "steps", 4)
    one = first[0]
    store.add_votes([Vote(annotator="ann", query=one.query, doc=one.doc, gain=2.0)])
    second = next_pairs(store, RUNS, measure="DCG@5", count=4)
    assert (one.query, one.doc) not in [p[:2] for p in second]
    assert [p[:2] for p in second[:3]] == [p[:2] for p in first[1:]]
    store.add_votes(
        [Vote(annotator="ann", query=p.query, doc=p.doc, status="skipped") for p in second]
    )
    assert not {p[:2] for p in next_pairs(store, RUNS, measure="DCG@5", count=4)} & {
        p[:2] for p in second
    }
    assert all(0 < p.probability < 1 and 0 <= p.effect < 1 for p in second)
    assert all("label" not in p.reason for p in second)  # nothing that unblinds


def test_what_is_worth_more_is_drawn_more():
    store = store_of(queries=20)
    ranks = []
    for seed in range(30):
        pairs = next_pairs(
            store, {"a": RUNS["a"]}, measure="DCG@5", count=5, seed=seed, name=f"s{seed}"
        )
        ranks += [1 + int(p.doc[1:]) for p in pairs]
    inside = [rank for rank in ranks if rank <= 5]
    assert len(inside) > 0.8 * len(ranks)  # the rest of the pool only to explore
    assert inside.count(1) > inside.count(5)
    both = {
        "a": RUNS["a"],
        "c": {q: {**docs, "d0": 9.5, "d1": 9.8} for q, docs in RUNS["a"].items()},
    }
    pairs = next_pairs(
        store, both, measure="DCG@5", count=40, against=("a", "c"), name="difference"
    )
    swapped = sum(p.doc in ("d0", "d1") for p in pairs)
    assert swapped > 25  # the two systems differ in these alone


def test_measures_that_are_no_sums_get_whole_queries():
    store = store_of()
    pairs = next_pairs(store, RUNS, measure="nDCG@10", count=5)
    assert len({p.query for p in pairs}) == 1
    assert len(pairs) == 13
    assert read_sample(store).unit == "query-steps"
    with pytest.raises(GoodgainError, match="begun for another measure"):
        next_pairs(store, RUNS, measure="DCG@10", name=read_sample(store).name)
    with pytest.raises(GoodgainError, match="against must name two of the runs"):
        next_pairs(store, RUNS, measure="DCG@10", against=("a", "x"))


@pytest.mark.parametrize("measure", ["DCG@5", "nDCG@5"])
def test_labels_drawn_one_by_one_correct_the_mean(measure):
    """They are chosen by what they are worth and by earlier labels, and still unbiased."""
    rng = np.random.default_rng(2)
    truth = {
        f"q{q}": {
            f"d{d}": min(4, machine(f"q{q}", f"d{d}") + int(rng.integers(0, 2))) for d in range(10)
        }
        for q in range(60)
    }
    run = {q: {f"d{d}": float((d * 7 + int(q[1:])) % 10) for d in range(10)} for q in truth}
    expected = evaluate(truth, run, measure)[measure]
    errors = []
    for seed in range(6):
        store = store_of(queries=60)
        for _ in range(3):  # three rounds, each learning from the one before
            done = {(v.query, v.doc) for v in next_pairs_votes(store)}
            pairs = next_pairs(
                store,
                {"mine": run},
                measure=measure,
                count=40 if measure == "DCG@5" else 100,
                seed=seed,
            )
            store.add_votes(
                Vote(annotator="ann", query=p.query, doc=p.doc, gain=truth[p.query][p.doc])
                for p in pairs
                if p[:2] not in done
            )
        (corrected,) = calibrate(store, store, {"mine": run}, measure, resamples=2).corrected
        assert corrected.judged >= (120 if measure == "DCG@5" else 30)
        errors.append(corrected.corrected - expected)
        if corrected.has_interval:
            assert (
                corrected.low - 0.5 * abs(expected)
                < expected
                < corrected.high + 0.5 * abs(expected)
            )
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(len(errors)) + 1e-9


def next_pairs_votes(store):
    from goodgain.labels.people import read_votes

    return read_votes(store)


# --- what settles two systems ---


def brute_force(judged, runs, measure, unjudged, grades):
    """The extremes of the mean difference over every completion."""
    values = []
    for gains in itertools.product(grades, repeat=len(unjudged)):
        complete = {q: dict(docs) for q, docs in judged.items()}
        for (query, doc), gain in zip(unjudged, gains, strict=True):
            complete.setdefault(query, {})[doc] = gain
        first, second = (evaluate(complete, run, measure)[measure] for run in runs)
        values.append(first - second)
    return min(values), max(values)


@pytest.mark.parametrize("measure", ["DCG@3", "P@3", "nDCG@3", "RR@3"])
def test_bounds_and_labels_are_those_of_brute_force(measure):
    judged = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "b": 1, "c": 0}}
    first = {"q1": {"a": 3.0, "c": 2.0, "x": 1.0}, "q2": {"a": 3.0, "b": 2.0, "y": 1.0}}
    second = {"q1": {"b": 3.0, "x": 2.0, "c": 1.0}, "q2": {"z": 3.0, "c": 2.0, "a": 1.0}}
    unjudged = [("q1", "x"), ("q2", "y"), ("q2", "z")]
    low, high = brute_force(judged, (first, second), measure, unjudged, (0, 1, 2))
    settling = settling_labels(judged, first, second, measure, scale=(0, 2))
    assert settling.unjudged == 3
    assert settling.low <= low + 1e-12  # never too narrow
    assert settling.high >= high - 1e-12
    if measure in ("DCG@3", "P@3"):
        assert (settling.low, settling.high) == (pytest.approx(low), pytest.approx(high))
    zero = {q: dict(docs) for q, docs in judged.items()}
    for query, doc in unjudged:
        zero[query][doc] = 0
    now = [evaluate(zero, run, measure)[measure] for run in (first, second)]
    assert settling.difference == pytest.approx(now[0] - now[1])
    if settling.pairs:
        for query, doc in settling.pairs:
            judged[query][doc] = 0
        again = settling_labels(judged, first, second, measure, scale=(0, 2))
        assert again.settled
        left = [pair for pair in unjudged if pair not in settling.pairs]
        low, high = brute_force(judged, (first, second), measure, left, (0, 1, 2))
        assert low > 0 or high < 0


def test_the_smallest_set_of_a_sum_is_found():
    rng = np.random.default_rng(4)
    for _ in range(20):
        docs = [f"d{i}" for i in range(8)]
        judged = {"q": {d: int(rng.integers(0, 3)) for d in docs if rng.random() < 0.5}}
        runs = [
            {"q": {d: float(s) for d, s in zip(docs, rng.permutation(8), strict=True)}}
            for _ in "ab"
        ]
        settling = settling_labels(judged, *runs, "DCG@4", scale=(0, 2))
        if not settling.pairs:
            continue
        top = {d for run in runs for d in sorted(run["q"], key=lambda d: -run["q"][d])[:4]}
        unjudged = [("q", d) for d in sorted(top) if d not in judged["q"]]
        for size in range(len(settling.pairs)):
            for chosen in itertools.combinations(unjudged, size):
                known = {"q": {**judged["q"], **{d: 0 for _, d in chosen}}}
                assert not settling_labels(known, *runs, "DCG@4", scale=(0, 2)).settled


def test_documents_that_both_return_alike_need_no_label():
    judged = {"q": {"a": 1, "b": 0}}
    first, second = {"q": {"a": 3.0, "x": 2.0}}, {"q": {"b": 3.0, "x": 2.0}}
    settling = settling_labels(judged, first, second, "P@2")
    assert settling.settled
    assert settling.pairs == ()
    assert "whatever the 1 unjudged" in settling.sentence


def test_the_command_says_what_is_next_and_what_settles(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store_of("labels.db").close()
    for name, run in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    words = ["labels", "next", "labels.db", "--runs", "a.json", "b.json"]
    assert command([*words, "-m", "P@5", "--count", "3", "--difference"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 labels that shrink the interval most:\n")
    assert len(out.splitlines()) == 5
    assert command([*words, "-m", "P@5", "--settle"]) == 0
    out = capsys.readouterr().out
    assert "of 200 would settle a against b" in out or "whatever the 200" in out
    assert command(["labels", "next", "labels.db"]) == 2
    assert command([*words[:4], "a.json", "--settle"]) == 2
    assert "--settle needs two runs, got 1" in capsys.readouterr().err
