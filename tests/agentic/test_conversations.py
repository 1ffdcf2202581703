"""The conversations behind a Good Gain: counted as they were measured, read again from where they came."""

from __future__ import annotations

import gzip
import json
import pickle
import random

import pytest

import goodgain as gg
from goodgain.agentic.conversations import _BUFFER_BYTES
from goodgain.errors import InputError
from goodgain.identity import Identity


def trace(number: int, system: str = "agent", labelled: float = 0.8) -> dict:
    """A conversation with repeated pages and queries; some pages have no label."""
    chance = random.Random(number)
    iterations = []
    for _ in range(chance.randint(1, 4)):
        searches = []
        for _ in range(chance.randint(1, 2)):
            pages = [chance.randrange(9) for _ in range(4)]
            results = [
                {"url": f"https://example.org/{page}?utm_source=x{chance.random()}", "title": f"Page {page}",
                 **({"gain": page % 5} if chance.random() < labelled else {})}
                for page in pages
            ]  # fmt: skip
            searches.append({"query": f"q{chance.randrange(3)}", "results": results})
        iterations.append({"searches": searches})
    before = {"user": "earlier", "iterations": [{"searches": [{"query": "x", "results": []}]}]}
    turns = [before, {"user": f"question {number}", "answer": "so", "iterations": iterations}]
    return {"conversation": f"c{number}", "system": system, "turns": turns}


TRACES = [trace(n, system) for system in ("a", "b") for n in range(8)]


def everything(result: gg.GoodGain) -> set[tuple[str, str]]:
    return {(s.name, c) for s in result.systems for c in s.conversations}


def told(result: gg.GoodGain) -> list:
    return list(result.conversations.read(everything(result)))


def check_counts(result: gg.GoodGain) -> int:
    """What is told of conversations adds up to what was measured, iteration by iteration."""
    threshold, seen_all = result.settings.threshold, 0
    for c in told(result):
        system = result[c.system]
        row = system.first_row[system.conversations.index(c.name)]
        gains: dict[int, float] = {}
        for i, searches in enumerate(c.iterations):
            seen = [s for search in searches for s in search.results]
            seen_all += len(seen)
            values = dict(zip(system.columns, system.values[row + i], strict=True))
            unread = any(search.search.unread for row in c.iterations[: i + 1] for search in row)
            assert unread or len(seen) == values["R"]
            assert unread or sum(s.first is not None for s in seen) == values["Dup"]
            good = [s.gain for s in seen if s.first is None and (s.gain or 0) >= threshold]
            assert sum(good) == values["G"] and len(good) == values["GR"]
            for s in seen:
                assert (s.reason is None) == (s.first is None)
                assert s.first is None or (s.first < s.number and gains[s.first] == s.gain)
                gains[s.number] = s.gain
        assert len(c.iterations) == system.lengths[system.conversations.index(c.name)]
        repeated = sum(search.repeats_query for searches in c.iterations for search in searches)
        assert repeated == (values["RepeatedQueries"] if c.iterations else 0)
    return seen_all


@pytest.mark.parametrize("labels", [None, "some"])
@pytest.mark.parametrize("turn", ["last", "all", 1, 2])
def test_what_is_told_is_what_was_measured(labels, turn):
    judged = {f"c{n}": {"https://example.org/3": 4} for n in range(8)} if labels else None
    result = gg.good_gain(TRACES, labels=judged, turn=turn)
    assert len(told(result)) == 16
    assert check_counts(result) > 100 or turn == 1


def test_labels_go_before_gains_in_traces():
    one = {"conversation": "c", "turns": [{"iterations": [{"searches": [{"results": [
        {"id": "x", "gain": 0}, {"id": "y", "gain": 1}, {"id": "x"}]}]}]}]}  # fmt: skip
    (c,) = told(gg.good_gain([one], labels={"c": {"x": 3}}))
    assert [s.gain for s in c.iterations[0][0].results] == [3, 1, 3]


def test_reasons_are_those_of_the_audit():
    result = gg.good_gain(TRACES[:1])
    (c,) = told(result)
    seen = [s for searches in c.iterations for search in searches for s in search.results]
    clusters = Identity().cluster([s.result.to_dict() for s in seen])
    assert [s.number if s.first is None else s.first for s in seen] == list(clusters.first)
    merged = {d.result: d for d in clusters.decisions if d.merged}
    assert merged
    for s in seen:
        if s.reason:
            d = merged[s.number]
            assert (s.reason.key, s.reason.step, s.reason.fields, s.reason.other) == (
                d.key, d.step, d.fields, d.other
            )  # fmt: skip
    assert {s.reason.fields for s in seen if s.reason} == {"url"}


def test_texts_come_with_them():
    (c,) = [c for c in told(gg.good_gain(TRACES)) if (c.system, c.name) == ("b", "c3")]
    assert (c.user, c.answer) == ("question 3", "so")
    assert c.iterations[0][0].results[0].result.title.startswith("Page ")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(t) + "\n" for t in TRACES))
    return path


def test_only_those_that_are_wanted(file):
    result = gg.good_gain(file)
    assert [(c.system, c.name) for c in result.conversations.read({("a", "c2"), ("b", "c5")})] == [
        ("a", "c2"), ("b", "c5")
    ]  # fmt: skip
    by_file = gg.good_gain({"one": [TRACES[0]], "two": (t for t in TRACES[8:10])})
    assert [(c.system, c.name) for c in told(by_file)] == [
        ("one", "c0"),
        ("two", "c0"),
        ("two", "c1"),
    ]


@pytest.mark.parametrize("form", ["file", "gzip", "list of traces", "generator", "pretty"])
def test_from_wherever_they_came(file, tmp_path, form):
    source = {
        "file": lambda: file,
        "gzip": lambda: tmp_path / "traces.jsonl.gz",
        "list of traces": lambda: list(gg.read_traces(file)),
        "generator": lambda: (t for t in TRACES),
        "pretty": lambda: tmp_path / "traces.json",
    }[form]()
    (tmp_path / "traces.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    (tmp_path / "traces.json").write_text(json.dumps(TRACES, indent=1))
    result = gg.good_gain(source)
    assert told(result) == told(gg.good_gain(TRACES))
    assert result.conversations.left_out == 0


def test_what_passes_by_once_is_kept_up_to_a_bound():
    long = "x" * (_BUFFER_BYTES // 10)
    many = ({**trace(n), "metadata": {"long": long}} for n in range(15))
    result = gg.good_gain(many)
    assert len(told(result)) == 9
    assert result.conversations.left_out == 6


def test_bad_lines_are_passed_over_as_they_were(file):
    file.write_text(
        "{bad\n" + file.read_text() + '{"conversation": "z", "turns": [{"x": 1}]}\n[]\n'
    )
    result = gg.good_gain(file, skip_bad=True)
    assert result.facts["skipped"] == 3
    assert len(told(result)) == 16


def test_a_saved_result_finds_its_conversations_again(file, tmp_path):
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"c{n} 0 https://example.org/3 4\n" for n in range(8)))
    file.write_text("".join(json.dumps(t) + "\n" for t in TRACES[:8]))
    result = gg.good_gain(file, labels=labels, by="file")
    result.save(tmp_path / "gain.json")
    loaded = gg.GoodGain.load(tmp_path / "gain.json")
    assert told(loaded) == told(result)
    assert {c.system for c in told(loaded)} == {"traces"} and len(told(loaded)) == 8
    loaded.save(tmp_path / "again.json")
    assert told(gg.GoodGain.load(tmp_path / "again.json")) == told(result)
    labels.write_text("c0 0 z 1\n")
    with pytest.raises(InputError, match=r"labels.tsv' has changed since it was measured"):
        told(loaded)


def test_what_cannot_be_found_again_says_why(file, tmp_path):
    result = gg.good_gain(file)
    result.save(tmp_path / "gain.json")
    loaded = gg.GoodGain.load(tmp_path / "gain.json")
    file.write_text(file.read_text() + "\n")
    for one in (result, loaded):
        with pytest.raises(InputError, match="has changed since it was measured"):
            told(one)
    file.unlink()
    with pytest.raises(InputError, match="cannot be read again"):
        told(loaded)
    gg.good_gain(TRACES).save(tmp_path / "rows.json")
    with pytest.raises(
        InputError, match="not all traces and labels of the saved result came from files"
    ):
        told(gg.GoodGain.load(tmp_path / "rows.json"))
    data = json.loads((tmp_path / "gain.json").read_text())
    del data["reading"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    old = gg.GoodGain.load(tmp_path / "old.json")
    with pytest.raises(InputError, match="does not record how its traces are read"):
        told(old)
    old.save(tmp_path / "older.json")
    assert gg.GoodGain.load(tmp_path / "older.json").to_dict() == old.to_dict()


def test_results_travel_to_other_processes():
    plain = pickle.loads(pickle.dumps(gg.good_gain(TRACES)))
    assert told(plain) == told(gg.good_gain(TRACES))
    labelled = gg.good_gain(TRACES, labels={"c1": {"https://example.org/3": 4}})
    there = pickle.loads(pickle.dumps(labelled))
    assert str(there) == str(labelled)
    with pytest.raises(InputError, match="its labels are in another process"):
        told(there)
    assert len(told(labelled)) == 16


def test_rules_of_ones_own_are_not_saved(file, tmp_path):
    own = Identity([{"name": "mine", "types": ["mine"], "fields": ["title"], "rules": ["title"]}])
    result = gg.good_gain(file, identity=own)
    assert len(told(result)) == 16
    result.save(tmp_path / "gain.json")
    with pytest.raises(InputError, match="do not record custom identity rules"):
        told(gg.GoodGain.load(tmp_path / "gain.json"))


def test_real_conversations_add_up(shared_data):
    folder = shared_data / "agent_traces"
    counted = 0
    for path in sorted(folder.rglob("*.json*"))[:40]:
        try:
            result = gg.good_gain(path, skip_bad=True)
        except InputError:  # not every file there is one of traces
            continue
        counted += check_counts(result)
    assert counted > 500


@pytest.mark.parametrize("budget", ["searches", "seconds", "tokens"])
def test_budget_curves_are_the_means_of_what_was_gained_by_then(budget):
    traces = [trace(n, labelled=1.0) for n in range(12)] + [{"conversation": "none", "turns": []}]
    chance = random.Random(4)
    for t in traces[:11]:  # the twelfth does not say what it took
        for turn in t["turns"]:
            for iteration in turn["iterations"]:
                for search in iteration["searches"]:
                    search |= {
                        "latency": chance.choice((0.5, 1, 2)),
                        "tokens": chance.randrange(90),
                    }
    result = gg.good_gain({"agent": traces})
    system = result["agent"]
    spent, gains = (system.values[:, system.column(c)] for c in (budget.capitalize(), "CG"))
    conversations = [
        list(zip(spent[b:e], gains[b:e], strict=True))
        for b, e in zip(system.first_row[:-1], system.first_row[1:], strict=True)
        if not (spent[b:e] != spent[b:e]).any() and not (gains[b:e] != gains[b:e]).any()
    ]
    assert len(conversations) == (12 if budget == "searches" else 11)
    curve = result.budget_curve(budget)
    assert len(curve) > 3
    for step, value in curve:
        by_then = [max([0, *(g for s, g in c if s <= step)]) for c in conversations]
        assert value == pytest.approx(sum(by_then) / len(by_then))
