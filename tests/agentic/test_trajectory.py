"""Two systems on one conversation: where they part, and the evidence of each, against plain definitions."""

import json
import random

import pytest

import goodgain as gg
from goodgain.cli import run as run_command
from goodgain.errors import UsageError


def conversation(name: str, iterations, **more) -> dict:
    """Iterations are lists of (query, [ids])."""
    return {
        "conversation": name,
        "turns": [
            {
                "iterations": [
                    {
                        "searches": [
                            {"query": q, "results": [{"id": d, "title": f"Page {d}"} for d in docs]}
                            for q, docs in searches
                        ]
                    }
                    for searches in iterations
                ],
                **more,
            }
        ],
    }


def measured(first, second, labels) -> gg.GoodGain:
    return gg.good_gain(
        {"a": [conversation("c", first)], "b": [conversation("c", second)]}, labels={"c": labels}
    )


def random_iterations(rng: random.Random) -> list:
    docs = [f"doc-{n}" for n in range(12)]
    return [
        [
            (rng.choice(["x", "y", "z"]), rng.sample(docs, rng.randint(0, 5)))
            for _ in range(rng.randint(1, 3))
        ]
        for _ in range(rng.randint(1, 5))
    ]


def first_places(iterations) -> dict:
    places: dict = {}
    for i, searches in enumerate(iterations, 1):
        for j, (_, docs) in enumerate(searches, 1):
            for rank, doc in enumerate(docs, 1):
                places.setdefault(doc, (i, j, rank))
    return places


def expected_divergence(first, second) -> tuple | None:
    for i in range(max(len(first), len(second))):
        if i >= len(first) or i >= len(second):
            return i + 1, "end"
        if sorted(q for q, _ in first[i]) != sorted(q for q, _ in second[i]):
            return i + 1, "queries"
        if sorted(first[i]) != sorted(second[i]):
            return i + 1, "results"
    return None


@pytest.mark.parametrize("seed", range(60))
def test_random_conversations_against_the_definitions(seed):
    rng = random.Random(seed)
    first = random_iterations(rng)
    second = first[: rng.randint(0, len(first))] + random_iterations(rng)
    labels = {f"doc-{n}": rng.randint(0, 4) for n in range(12)}
    diff = measured(first, second, labels).diff("c")
    places = [first_places(own) for own in (first, second)]
    good = {d for own in places for d in own if labels[d] >= 2}
    assert {e.name: e.gain for e in diff.evidence} == {f"Page {d}": labels[d] for d in good}
    for evidence in diff.evidence:
        doc = evidence.name.removeprefix("Page ")
        shown = [p and (p.iteration, p.search, p.rank) for p in evidence.places]
        assert shown == [own.get(doc) for own in places]
    assert diff.shared_results == len(set(places[0]) & set(places[1]))
    where = diff.divergence
    assert (where and (where.iteration, where.kind)) == expected_divergence(first, second)
    for own, other, iterations in zip(places, places[::-1], (first, second), strict=True):
        steps = diff.steps[iterations is second]
        for i, step in enumerate(steps, 1):
            new = [d for d, place in own.items() if place[0] == i]
            assert step.new == len(new)
            assert step.good == sum(labels[d] >= 2 for d in new)
            assert step.shared == sum(d in other for d in new)
            good = [d for d, place in own.items() if place[0] <= i and labels[d] >= 2]
            until = sum(labels[d] for d in good)
            assert step.gain == until


def test_the_same_page_under_two_addresses_is_shared():
    result = gg.good_gain(
        {
            name: [{"conversation": "c", "turns": [{"iterations": [{"searches": [
                {"query": "q", "results": [{"url": url, "gain": 4}]}]}]}]}]
            for name, url in (("a", "https://example.org/page"), ("b", "http://www.example.org/page#top"))
        }
    )  # fmt: skip
    diff = result.diff("c")
    assert diff.divergence is None
    assert [e.places[0] == e.places[1] for e in diff.evidence] == [True]
    assert "got the same results" in diff.sentences()[0]


def test_a_gain_that_labels_leave_open_is_not_a_number():
    diff = measured([[("q", ["d1", "d2"])]], [[("q", ["d1"])]], {"d1": 3}).diff("c")
    assert [own[-1].gain for own in diff.steps] == [None, 3]


def test_of_three_systems_two_are_chosen():
    traces = {name: [conversation("c", [[(name, ["d1"])]])] for name in "abc"}
    result = gg.good_gain(traces, labels={"c": {"d1": 4}})
    assert result.diff("c").systems == ("a", "b")
    assert result.diff("c", ["c"]).systems == ("c", "a")
    assert result.diff("c", ["b", "c"]).systems == ("b", "c")
    with pytest.raises(UsageError, match="unknown system 'd'"):
        result.diff("c", ["d"])
    with pytest.raises(UsageError, match="unknown conversation 'cc'"):
        result.diff("cc")
    alone = gg.good_gain({"a": traces["a"]}, labels={"c": {"d1": 4}})
    with pytest.raises(UsageError, match="only 'a' has the conversation 'c'"):
        alone.diff("c")


def test_the_command(tmp_path, capsys):
    paths = []
    for name, query in (("before", "old words"), ("after", "new words")):
        path = tmp_path / f"{name}.jsonl"
        trace = conversation("c7", [[("start", ["d1"])], [(query, [name])]], answer=name)
        path.write_text(json.dumps(trace) + "\n")
        paths += ["--traces", str(path)]
    labels = tmp_path / "labels.tsv"
    labels.write_text("query\tdoc\tgain\nc7\td1\t3\nc7\tbefore\t0\nc7\tafter\t4\n")
    words = ["compare", *paths, "--labels", str(labels), "--conversation"]
    assert run_command([*words, "c7"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "They diverge at iteration 2: before searched for 'old words', after for 'new words'.\n"
        "Of 2 good results both returned 1, only before 0, only after 1.\n"
    )
    assert "never" in text
    assert run_command([*words, "c7", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["divergence"]["kind"] == "queries"
    assert data["answers"] == ["before", "after"]
    assert run_command([*words, "c8"]) == 2
    assert "for example 'c7'" in capsys.readouterr().err
    assert run_command(["compare", "--scores", str(labels), "--conversation", "c7"]) == 2
    assert "--conversation needs the traces of two systems" in capsys.readouterr().err
