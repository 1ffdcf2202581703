"""Queries with filters and metadata, and answers with tokens, cost and spans."""

from __future__ import annotations

import json
import sys
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment import Answer
from goodgain.experiment.queries import QueryText
from goodgain.experiment.retrievers import Hybrid
from goodgain.experiment.services import fill_template

DOCUMENTS = {f"d{i}": f"word{i} common" for i in range(10)}
QUERIES = [
    {"id": "q1", "text": "word1", "language": "en", "year": 2024, "user": "ann"},
    {"id": "q2", "text": "word2", "language": "de", "year": None, "user": "bob"},
]
QRELS = {"q1": {"d1": 1}, "q2": {"d2": 1}}


def run(systems, queries=QUERIES, folder=None, **options):
    options = {"measures": "RR", "warmup": 0, "control": False, **options}
    return gg.Experiment(DOCUMENTS, queries, QRELS, systems, **options).run(folder)


def test_filters_and_metadata_reach_retrievers_that_take_them():
    calls = []

    def both(query, filters, metadata):
        calls.append((str(query), filters, metadata))
        return ["d1"]

    class Mine:
        def __call__(self, query, *, filters=None):
            calls.append(filters)
            return ["d1"]

    run({"a": both}, filters=["language", "year"])
    assert calls == [
        ("word1", {"language": "en", "year": 2024}, {"user": "ann"}),
        ("word2", {"language": "de"}, {"user": "bob"}),
    ]
    calls.clear()
    run({"a": Mine()}, filters="language")
    assert calls == [{"language": "en"}, {"language": "de"}]
    calls.clear()
    run({"a": Hybrid([both, "bm25"]), "bm25": "bm25"}, filters="language")
    assert [filters for _, filters, _ in calls] == [{"language": "en"}, {"language": "de"}]


def test_a_column_of_filters():
    calls = []

    def mine(query, filters):
        calls.append(filters)
        return ["d1"]

    rows = [
        {"id": "q1", "text": "a", "filters": {"year": [1, 2]}},
        {"id": "q2", "text": "b", "filters": ""},
    ]
    run({"a": mine}, rows)
    rows[0]["filters"] = '{"year": [1, 2]}'
    run({"a": mine}, rows)
    assert calls == [{"year": [1, 2]}, {}] * 2
    rows[0]["filters"] = "year=1"
    with pytest.raises(GoodgainError, match="the filters of query 'q1' are not an object"):
        run({"a": mine}, rows)
    with pytest.raises(UsageError, match="column 'colour' of filters not found in the queries"):
        run({"a": mine}, QUERIES, filters=["colour"])


def test_systems_that_ignore_filters_are_said():
    def takes(query, filters):
        return ["d1"]

    systems = {"takes": takes, "bm25": "bm25", "both": Hybrid(["takes", "bm25"])}
    result = run(systems, filters="language")
    said = [w for w in result.warnings() if "takes no filters" in w]
    assert [w.split()[0] for w in said] == ["bm25", "both"]
    assert not any("takes no filters" in w for w in run(systems).warnings())


def test_other_filters_are_another_system(tmp_path):
    calls = SimpleQueue()

    def takes(query, filters):
        calls.put(filters)
        return ["d1"]

    systems = {"takes": takes, "bm25": "bm25"}
    run(systems, folder=tmp_path, filters="language")
    run(systems, folder=tmp_path, filters="language")
    assert calls.qsize() == 2
    run(systems, folder=tmp_path, filters=["language", "year"])
    assert calls.qsize() == 4


def test_filters_in_templates_keep_their_type():
    query = QueryText("word", {"year": 2024, "language": ["en", "de"]}, {"user": "ann"})
    body = {"q": "{query}", "k": "{depth}", "where": "{filters}", "year": "{filters.year}",
            "who": "user {metadata.user}", "absent": "{filters.colour}",
            "list": ["{filters.language}"]}  # fmt: skip
    assert fill_template(body, query, 5) == {
        "q": "word", "k": 5, "where": {"year": 2024, "language": ["en", "de"]}, "year": 2024,
        "who": "user ann", "list": [["en", "de"]],
    }  # fmt: skip
    assert fill_template({"q": "{query}"}, QueryText("{depth} {filters}", {"a": 1}), 5) == {
        "q": "{depth} {filters}"
    }


# --- what answers tell ---


def test_tokens_and_cost_are_summed(tmp_path):
    systems = {
        "object": lambda q: Answer([("d1", 1.0)], tokens=120, cost=0.002),
        "dictionary": lambda q: {"results": ["d1", "d2"], "tokens": 7},
        "hybrid": Hybrid(["object", "dictionary", "bm25"]),
        "bm25": "bm25",
        "some": lambda q: Answer(["d1"], cost=0.5) if "1" in q else ["d1"],
    }
    result = run(systems, folder=tmp_path, measures="RR Cost", versions=dict.fromkeys(systems, "1"))
    timings = result.timings
    assert (timings["object"].tokens, timings["object"].cost) == (240, 0.004)
    assert (timings["dictionary"].tokens, timings["dictionary"].cost) == (14, None)
    assert (timings["hybrid"].tokens, timings["hybrid"].cost) == (254, 0.004)
    assert timings["bm25"].tokens is None
    assert result["object"]["Cost"] == pytest.approx(0.002)
    assert "some: 1 answers reported no cost, so its sum is too low" in result.warnings()
    assert "tokens" in str(result)
    assert "254" in str(result)
    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert {c["tokens"] for c in calls if c.get("system") == "object"} == {120}
    again = gg.ExperimentResult.open(tmp_path)
    assert again.timings["hybrid"].tokens == 254


def test_repeats_cost_as_well():
    result = run({"a": lambda q: Answer(["d1"], tokens=3)}, repeats=3)
    assert result.timings["a"].tokens == 3 * 3 * 2


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "many", True])
def test_wrong_numbers_of_tokens_are_errors_of_the_call(value):
    def mine(query):
        return {"results": ["d1"], "tokens": value}

    assert "tokens of an answer must be a number" in run({"a": mine}).failures["a"].error


def test_spans_of_results_are_recorded(tmp_path):
    def pieces(query):
        return [
            {"id": "d1", "score": 2.0, "start": 0, "end": 5},
            {"id": "d1", "score": 1.5, "start": 8, "end": 12},
            {"id": "d2", "score": 1.0, "start": 0, "text": "word2"},
        ]

    result = run({"a": pieces, "b": lambda q: ["d1"]}, folder=tmp_path)
    calls = [c for c in result.folder.calls if c.get("system") == "a"]
    assert all(c["spans"] == [["d1", 0, 5], ["d1", 8, 12], ["d2", 0, 5]] for c in calls)
    assert [doc for doc, _ in calls[0]["hits"]] == ["d1", "d2"]
    assert not any("spans" in c for c in result.folder.calls if c.get("system") == "b")


def test_spans_of_nodes_of_a_framework():
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

    node = TextNode(text="word2", start_char_idx=0, end_char_idx=5)
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="d2")
    result = run({"a": lambda q: [NodeWithScore(node=node, score=1.0)]})
    assert result.folder.calls[0]["spans"] == [["d2", 0, 5]]


# --- scores that are distances ---


def test_rising_scores_are_said():
    near = lambda q: [("d1", 0.1), ("d2", 0.4), ("d3", 0.9)]  # noqa: E731
    result = run({"near": near, "good": lambda q: near(q)[::-1]})
    said = [w for w in result.warnings() if "by rising scores" in w]
    assert [w.partition(":")[0] for w in said] == ["near"]
    sometimes = run({"a": lambda q: near(q) if "1" in q else near(q)[::-1]})
    assert not any("by rising scores" in w for w in sometimes.warnings())
    mapping = run({"a": lambda q: dict(near(q))})
    assert not any("by rising scores" in w for w in mapping.warnings())


def test_retrievers_of_ones_own_depth_follow_the_measures():
    from goodgain.experiment.retrievers import BM25

    documents = {f"d{i}": "common" for i in range(300)}
    judged = {"q1": dict.fromkeys(documents, 1)}
    for system in ("bm25", BM25(), Hybrid([BM25(), "other"])):
        systems = {"a": system, "other": "bm25"}
        result = gg.Experiment(
            documents, {"q1": "common"}, judged, systems, measures="Recall@300"
        ).run()
        assert result["a"]["Recall@300"] == 1
    short = gg.Experiment(
        documents, {"q1": "common"}, judged, {"a": BM25(depth=50)}, measures="Recall@300"
    ).run()
    assert short["Recall@300"] == pytest.approx(50 / 300)
    assert any("a returns at most 50" in w for w in short.warnings())


def test_packages_of_another_environment_are_known_by_their_version(tmp_path, monkeypatch):
    """Their code is not read: that takes minutes for a framework."""
    from goodgain.fingerprint import fingerprint

    folder = tmp_path / "site-packages"
    folder.mkdir()
    module = folder / "someones_framework.py"
    digests = []
    for version in ("1", "1", "2"):
        text = f"__version__ = {version!r}\ndef search(query):\n    return [{len(digests)}]\n"
        module.write_text(text)
        space = {"__name__": "someones_framework"}
        exec(compile(text, str(module), "exec"), space)
        monkeypatch.setitem(sys.modules, "someones_framework", SimpleNamespace(**space))
        digests.append(fingerprint(space["search"]).digest)
    assert digests[0] == digests[1] != digests[2]
