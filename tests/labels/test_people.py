"""Votes of people: every one stays, the last counts, and a named rule makes one gain of several."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from goodgain.errors import GoodgainError
from goodgain.labels.people import Vote, aggregate, dawid_skene, read_votes
from goodgain.labels.store import Store, document_hash


def vote(annotator: str, doc: str, gain: float | None, **more: object) -> Vote:
    status = "label" if gain is not None else "skipped"
    return Vote(
        **{"annotator": annotator, "query": "q", "doc": doc, "gain": gain, "status": status, **more}
    )


def test_the_last_vote_of_an_annotator_counts_and_the_history_stays(tmp_path: Path) -> None:
    with Store(tmp_path / "l.db") as store:
        assert store.add_votes([vote("ann", "d1", 1, question="why?"), vote("bob", "d1", 3)]) == 2
        store.add_votes([vote("ann", "d1", 2, note="second thoughts", seconds=3.5)])
        store.add_votes([vote("ann", "d2", 4)])
        store.add_votes([vote("ann", "d2", None, status="withdrawn")])
    with Store(tmp_path / "l.db", read_only=True) as store:
        assert [(v.annotator, v.doc, v.gain) for v in read_votes(store)] == [
            ("ann", "d1", 2),
            ("bob", "d1", 3),
        ]
        assert [v.gain for v in read_votes(store, "ann", history=True)] == [1, 2, 4, None]
        assert read_votes(store, "ann")[0].note == "second thoughts"
        assert read_votes(store, "ann", history=True)[0].question == "why?"
        view = store.db.execute(
            "SELECT query, doc, gain, status, model, annotator FROM labels ORDER BY annotator"
        )
        assert view.fetchall() == [
            ("q", "d1", 2.0, "ok", None, "ann"),
            ("q", "d1", 3.0, "ok", None, "bob"),
        ]


def test_a_clock_that_goes_back_does_not_bring_an_old_vote_back() -> None:
    store = Store()
    store.add_votes([vote("ann", "d", 1, created="2999-01-01T00:00:00.000000Z")])
    store.add_votes([vote("ann", "d", 4)])
    assert [v.gain for v in read_votes(store)] == [4]


def test_a_vote_with_its_time_is_added_once() -> None:
    store = Store()
    votes = [vote("ann", "d", 1, created="2026-01-01T00:00:00.000000Z")]
    assert (store.add_votes(votes), store.add_votes(votes)) == (1, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"annotator": " "}, "needs the name of its annotator"),
        ({"status": "maybe"}, "unknown status 'maybe'"),
        ({"gain": None}, "status 'label' and gain None"),
        ({"gain": math.nan}, "must be a finite number"),
        ({"gain": 5, "low": 0, "high": 4}, "gain 5 is outside the scale 0 to 4"),
    ],
)
def test_an_impossible_vote_is_refused_and_nothing_is_stored(
    changes: dict[str, object], message: str
) -> None:
    store = Store()
    with pytest.raises(GoodgainError, match=message):
        wrong = replace(vote("ann", "d", 1), **changes)
        store.add_votes([vote("bob", "d", 1), wrong])
    assert read_votes(store, history=True) == []


def test_aggregation_by_majority_mean_and_median() -> None:
    votes = [vote(name, "d1", gain) for name, gain in (("a", 0), ("b", 3), ("c", 3), ("d", 4))]
    votes += [vote("a", "d2", 1), vote("b", "d2", 4), vote("c", "d2", None)]
    gains = {m: aggregate(votes, m).gains["q"] for m in ("majority", "mean", "median")}
    assert gains["majority"] == {"d1": 3, "d2": 1}  # of two equally frequent ones, the lower
    assert gains["mean"] == {"d1": 2.5, "d2": 2.5}
    assert gains["median"] == {"d1": 3, "d2": 1}
    assert aggregate(votes, "mean").votes == {"q": {"d1": 4, "d2": 2}}
    with pytest.raises(GoodgainError, match="unknown aggregation method for votes: 'mode'"):
        aggregate(votes, "mode")


def test_dawid_skene_trusts_those_who_agree_with_the_rest() -> None:
    votes = []
    for i in range(60):
        truth = i % 2
        votes += [vote(name, f"d{i}", truth) for name in ("good", "fine")]
        votes += [vote("bad", f"d{i}", i // 2 % 2), vote("worse", f"d{i}", i // 4 % 2)]
    # Of two against two, majority takes the lower gain.
    assert aggregate(votes, "majority").gains["q"]["d1"] == 0
    gains = aggregate(votes, "dawid-skene").gains["q"]
    assert gains == {f"d{i}": i % 2 for i in range(60)}


def test_dawid_skene_equals_a_plain_implementation() -> None:
    import random

    chance = random.Random(3)
    pairs = {
        ("q", f"d{i}"): {name: float(chance.choice([0, 1, 1, 2])) for name in "abcd"[: 2 + i % 3]}
        for i in range(30)
    }
    posterior, _ = dawid_skene(pairs, rounds=25, tolerance=-1)
    classes, people = [0.0, 1.0, 2.0], "abcd"
    truth = {
        item: {c: sum(v == c for v in own.values()) / len(own) for c in classes}
        for item, own in pairs.items()
    }
    for _ in range(25):
        prior = {c: sum(t[c] for t in truth.values()) / len(truth) for c in classes}
        matrix = {}
        for p in people:
            for c in classes:
                row = {
                    v: 0.01 + sum(truth[i][c] for i, own in pairs.items() if own.get(p) == v)
                    for v in classes
                }
                for v in classes:
                    matrix[p, c, v] = row[v] / sum(row.values())
        for item, own in pairs.items():
            weights = {
                c: prior[c] * math.prod(matrix[p, c, v] for p, v in own.items()) for c in classes
            }
            truth[item] = {c: w / sum(weights.values()) for c, w in weights.items()}
    for item in pairs:
        assert posterior[item] == pytest.approx(truth[item], abs=1e-9)


def test_documents_have_a_text_or_only_its_hash() -> None:
    store = Store()
    assert store.add_documents(["one"], text=False) == [document_hash("one")]
    assert store.db.execute("SELECT text FROM documents").fetchall() == [(None,)]
    store.add_documents(["one", "two"])
    store.add_documents(["one"], text=False)
    rows = store.db.execute("SELECT text FROM documents ORDER BY text").fetchall()
    assert rows == [("one",), ("two",)]
