"""What to label next: samples in their order, what shrinks an interval, what settles two runs."""

from __future__ import annotations

import json

import pytest
from judging_client import MODEL, judge_with_model, rows, write_pairs

from goodgain.errors import UsageError
from goodgain.judging.opening import labels_desk
from goodgain.labels import Store
from goodgain.labels.sampling import draw_sample, read_sample


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Eight queries with five documents, all labelled by a model, and two runs over them."""
    monkeypatch.chdir(tmp_path)
    pairs = rows(8, 5)
    write_pairs(tmp_path / "docs.jsonl", [{"_id": p["doc_id"], "text": p["text"]} for p in pairs])
    (tmp_path / "queries.tsv").write_text("".join(f"q{i}\tquestion {i}\n" for i in range(8)))
    judge_with_model(tmp_path / "labels.db", pairs)
    for name in ("one", "two"):
        lines = [f"q{q} Q0 d{q}-{d} 1 {d if name == 'one' else 9 - d} {name}\n"
                 for q in range(8) for d in range(5)]  # fmt: skip
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


TEXTS = {"queries": "queries.tsv", "documents": "docs.jsonl"}


def judge_all(desk, name, gain, most=1000):
    """Label what the desk hands out; returns the pairs in order and all that was sent."""
    desk.start(name, None)
    answer = desk.work(name)
    pairs, sent = [], [json.dumps(answer)]
    while answer["item"] and len(pairs) < most:
        item = answer["item"]
        pairs.append((item["query"], item["doc"]))
        answer = desk.vote({
            "id": f"{name}{len(pairs):08}", "annotator": name, "item": item["key"], "seen": item["seen"],
            "choice": gain(item), "note": "", "reason": "", "seconds": 1,
        })  # fmt: skip
        sent.append(json.dumps(answer["item"]) + str(answer["next"]))
    return pairs, sent


def test_a_sample_is_judged_in_the_order_of_its_design(folder):
    with Store("labels.db") as store:
        draw_sample(store, 12, name="first", seed=5)
        desk, _warnings = labels_desk(store, sample="first", blind=True, **TEXTS)
        pairs, sent = judge_all(desk, "ann", lambda item: 2)
        assert pairs == read_sample(store, "first").pairs() and len(pairs) == 12
        assert MODEL not in "".join(sent) and "stratum" not in "".join(sent)
        with pytest.raises(UsageError, match="unknown sample 'second'"):
            labels_desk(store, sample="second", **TEXTS)


def test_next_labels_go_on_and_two_people_do_not_wait(folder):
    with Store("labels.db") as store:
        desk, _ = labels_desk(
            store, runs=["one.run", "two.run"], order="next", measure="P@3", blind=True, **TEXTS
        )
        desk.start("ann", None)
        desk.start("bob", None)
        held = desk.work("ann")["item"]
        assert "shrink the interval of P@3" in desk.work("ann")["next"]
        pairs, sent = judge_all(desk, "bob", lambda item: 1, most=20)  # more than are drawn at once
        assert len(set(pairs)) == 20
        assert (held["query"], held["doc"]) not in pairs
        assert MODEL not in "".join(sent)


def test_settling_labels_are_shown_with_how_many_they_are(folder):
    (folder / "qrels.txt").write_text(
        "".join(f"q{q} 0 d{q}-4 4\nq{q} 0 d{q}-0 0\n" for q in range(8))
    )
    with Store("labels.db") as store:
        desk, _ = labels_desk(
            store, runs=["one.run", "two.run"], order="settle", measure="P@2", qrels="qrels.txt",
            blind=True, **TEXTS,
        )  # fmt: skip
        count = len(desk.items)
        assert 0 < count < 40
        desk.start("ann", None)
        banner = desk.work("ann")["next"]
        assert str(count) in banner and "one" in banner and "two" in banner
        judge_all(desk, "ann", lambda item: 0)
        after = desk.work("ann")
        assert after["item"] is None and after["next"] != banner
