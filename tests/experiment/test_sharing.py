"""Reuse in experiments: within a grid, on resume, between experiments; numbers and latencies stay honest."""

from __future__ import annotations

import json
import time
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.experiment.retrievers import BM25, KNN, Graph, Hybrid, Rerank, Retriever
from goodgain.experiment.session import Session
from goodgain.experiment.timing import Outcome

WORDS = ["river", "house", "garden", "stone", "bridge", "tree", "cloud", "road"]
DOCUMENTS = {f"d{i}": " ".join(WORDS[(i * k) % 8] for k in (1, 3, 5)) for i in range(40)}
QUERIES = {f"q{i}": f"{WORDS[i]} {WORDS[(i + 3) % 8]}" for i in range(8)}
QRELS = {f"q{i}": {f"d{i}": 1, f"d{i + 8}": 1} for i in range(8)}
ALPHAS = [0.1, 0.3, 0.5, 0.7, 0.9]


class Model:
    """An embedding that logs how many documents and queries it embeds."""

    def __init__(self, weight, pause=0.0):
        self.weight, self.pause = weight, pause

    def embed_documents(self, texts):
        LOG.put(("documents", self.weight, len(texts)))
        return self._vectors(texts)

    def embed_queries(self, texts):
        LOG.put(("queries", self.weight, len(texts)))
        time.sleep(self.pause)
        return self._vectors(texts)

    def _vectors(self, texts):
        return [
            [text.count(w) + self.weight / (1 + i) for i, w in enumerate(WORDS)] for text in texts
        ]


LOG: SimpleQueue = SimpleQueue()


def logged():
    return [LOG.get() for _ in range(LOG.qsize())]


@pytest.fixture(autouse=True)
def _empty_log():
    logged()


def setup(models=(1, 2), grid=None, weight_of_pause=0.0, **settings):
    systems = {
        "keyword": BM25(),
        "knn": KNN(Model(0)),
        "hybrid": Hybrid(["keyword", "knn"], method="wsum"),
    }
    chosen = {
        "knn": {"embed": [Model(weight, weight_of_pause) for weight in models]},
        "alpha": ALPHAS,
    }
    settings = {"measures": "nDCG@10 P@5", "warmup": 0, "control": False, **settings}
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, grid=grid or chosen, **settings)


def rankings(result):
    return {name: runs[0].to_dict() for name, runs in result.runs.items()}


def test_what_a_grid_has_in_common_is_done_once():
    result = setup().run()
    calls = logged()
    assert [(kind, weight) for kind, weight, _ in calls if kind == "documents"] == [
        ("documents", 1),
        ("documents", 2),
    ]
    assert len([call for call in calls if call[0] == "queries"]) == 2 * 8
    whole = setup(searches="whole").run()
    assert len([call for call in logged() if call[0] == "queries"]) == (2 + 10) * 8
    assert rankings(whole) == rankings(result)
    assert len(result.composed) > 0
    assert not whole.composed
    assert "are composed" in str(result)
    assert "composed" not in str(whole)
    # systems: 1 keyword, 2 knn, 10 hybrids
    assert result.stages.used["search"] == 1 + 2 + 10 * 2
    assert result.stages.reused["search"] == 10 * 2
    assert result.stages.used["embed"] - result.stages.reused["embed"] == 2
    assert result.stages.reused["fuse"] == 0


def test_composed_latencies_are_those_of_the_whole():
    """Every hybrid costs at least the search that it shares, and about as much as when measured whole."""
    settings = {"weight_of_pause": 0.02, "measures": "P@5 Latency"}
    shared, whole = setup(**settings).run(), setup(**settings, searches="whole").run()
    assert any("hybrid" in name for name in shared.composed)
    for name in shared.systems:
        if "keyword" in name:
            continue
        assert shared.timings[name].p50 >= 0.02
        assert shared.timings[name].p50 < whole.timings[name].p50 * 3
        assert whole.timings[name].p50 < shared.timings[name].p50 * 3
    knn = shared.scores["knn[embed=Model]"]
    assert knn["Latency"] >= 0.02


def test_control_calls_share_nothing_and_disturb_nobody():
    """They come between the other calls for a query."""
    systems = {
        "knn": KNN(Model(1)),
        "keyword": BM25(),
        "both": Hybrid(["keyword", "knn"], method="wsum"),
    }
    result = gg.Experiment(
        DOCUMENTS, QUERIES, QRELS, systems, grid={"alpha": ALPHAS}, measures="P@5", warmup=0
    ).run()
    control = [call for call in result.folder.calls if "control" in call]
    assert control
    assert not any("composed" in call for call in control)
    assert len([call for call in logged() if call[0] == "queries"]) == 8 + len(control)


def test_first_calls_are_not_too_short():
    settings = {"weight_of_pause": 0.02, "warmup": 1}
    result = setup(**settings).run()
    cold = {c["warmup"]: c["seconds"] for c in result.folder.calls if "warmup" in c}
    assert all(seconds >= 0.02 for name, seconds in cold.items() if "keyword" not in name)
    assert len(cold) == len(result.systems)


def test_repeats_are_searched_again():
    result = setup(repeats=3).run()
    assert len([call for call in logged() if call[0] == "queries"]) == 3 * 2 * 8
    assert all(t.calls == 24 for t in result.timings.values())
    assert all(t.warm is not None for t in result.timings.values())


@pytest.mark.parametrize(
    ("limit", "seconds", "error"), [(None, 0.5, ""), (0.6, 0.5, ""), (0.4, 0.4, "timeout")]
)
def test_a_composed_time_over_the_limit_is_a_timeout(limit, seconds, error):
    """A call that is answered from a shared search would have taken as long as that search."""
    session = Session.__new__(Session)
    session._sharing = SimpleNamespace(end=lambda: (0.3, 1))
    session._experiment = SimpleNamespace(timeout=limit)
    outcome, is_composed = session._composed(Outcome([("d1", 1.0)], 0.0, 0.2))
    assert is_composed
    assert outcome.seconds == pytest.approx(seconds)
    assert outcome.error == error
    assert outcome.ranking == ([] if error else [("d1", 1.0)])
    failed, is_composed = session._composed(Outcome([], 0.0, 0.2, "RuntimeError: down"))
    assert not is_composed
    assert failed.seconds == 0.2


def test_concurrent_calls_are_whole():
    result = setup(concurrency=3).run()
    assert not result.composed
    assert len([call for call in logged() if call[0] == "queries"]) == 12 * 8


def test_retrievers_of_the_users_own_search_their_components_themselves():
    class Own(Retriever):
        def __init__(self, of, factor=1):
            self.of, self.factor = of, factor

        def components(self):
            return [self.of]

        def search(self, query, depth):
            return [(doc, score * self.factor) for doc, score in self.of.search(query, depth)]

    knn = KNN(Model(1))
    result = gg.Experiment(
        DOCUMENTS, QUERIES, QRELS, {"own": Own(knn)}, grid={"factor": [1, 2, 3]},
        measures="P@5", warmup=0, control=False,
    ).run()  # fmt: skip
    assert not result.composed
    assert len([call for call in logged() if call[0] == "queries"]) == 3 * 8


def test_tokens_and_cost_are_those_of_the_whole():
    def paid(query):
        return {"results": [(doc, 1.0 / (1 + i)) for i, doc in enumerate(DOCUMENTS)], "cost": 0.5}

    systems = {"paid": paid, "keyword": BM25(), "both": Hybrid(["keyword", "paid"], method="wsum")}
    result = gg.Experiment(
        DOCUMENTS, QUERIES, QRELS, systems, grid={"alpha": ALPHAS}, measures="P@5", warmup=0
    ).run()
    costs = [call["cost"] for call in result.folder.calls if "both" in call.get("system", "")]
    assert costs == [0.5] * 5 * 8


def test_seeds_are_not_mixed(tmp_path):
    systems = {"knn": KNN(Model(1)), "graph": Graph("knn", walks=50)}
    top = {**systems, "top": Rerank("graph", lambda query, texts: [-len(t) for t in texts])}
    settings = {"seeds": [1, 2], "measures": "P@5", "warmup": 0, "grid": {"pool": [5, 10]}}
    shared = gg.Experiment(DOCUMENTS, QUERIES, QRELS, top, **settings).run()
    whole = gg.Experiment(DOCUMENTS, QUERIES, QRELS, top, **settings, searches="whole").run()
    for name in whole.systems:
        for a, b in zip(shared.runs[name], whole.runs[name], strict=True):
            assert a.to_dict() == b.to_dict()
    one, two = shared.runs["graph[pool=10]"]
    assert one.to_dict() != two.to_dict()


def test_a_run_again_says_that_all_was_reused(tmp_path):
    first = setup().run(tmp_path / "out")
    logged()
    second = setup().run(tmp_path / "out")
    assert logged() == []
    assert rankings(second) == rankings(first)
    assert sum(second.stages.reused.values()) == sum(second.stages.used.values()) > 0
    assert gg.ExperimentResult.open(tmp_path / "out").stages == second.stages
    assert [t.index_seconds for t in second.timings.values()] == [
        t.index_seconds for t in first.timings.values()
    ]


def test_experiments_share_a_cache(tmp_path):
    first = setup(cache=tmp_path / "cache").run(tmp_path / "one")
    logged()
    second = setup(cache=tmp_path / "cache", models=(1, 2, 3)).run(tmp_path / "two")
    embedded = [call for call in logged() if call[0] == "documents"]
    assert embedded == [("documents", 3, 40)]
    assert not (tmp_path / "one" / "stages").exists()
    fresh = setup(models=(1, 2, 3)).run()
    assert rankings(second) == rankings(fresh)
    assert all(
        rankings(second)[name] == r for name, r in rankings(first).items() if "#" not in name
    )
    times = [second.timings[name] for name in second.settings["grids"]["knn"]]
    assert [t.index_reused for t in times] == [("embed",), ("embed",), ()]
    assert times[0].index_seconds is None
    assert times[2].index_seconds > 0
    assert "reused" in str(second)
    for t in second.timings.values():
        assert t.mean > 0  # searched for real


def test_an_edited_embedding_recomputes_its_own_stages_only(tmp_path):
    def one(texts):
        LOG.put("one")
        return Model(1)._vectors(texts)

    def two(texts):
        LOG.put("two")
        return Model(2)._vectors(texts)

    def two_edited(texts):
        LOG.put("two")
        return Model(5)._vectors(texts)

    two_edited.__name__ = "two"

    def run(second, folder=None):
        systems = {
            "knn": KNN(),
            "keyword": BM25(),
            "both": Hybrid(["keyword", "knn"], method="wsum"),
        }
        grid = {"embed": [one, second], "alpha": [0.2, 0.8]}
        return gg.Experiment(
            DOCUMENTS, QUERIES, QRELS, systems, grid=grid, measures="nDCG@10 P@5", warmup=0
        ).run(folder)

    run(two, tmp_path / "out")
    logged()
    edited = run(two_edited, tmp_path / "out")
    calls = logged()
    assert "one" not in calls
    assert len(calls) == 1 + 8  # all documents in a batch, and every query once
    fresh = run(two_edited)
    assert rankings(edited) == rankings(fresh)
    for name in fresh.systems:  # the measures too, bit for bit
        for measure in ("nDCG@10", "P@5"):
            assert edited.scores[name].column(measure) == fresh.scores[name].column(measure)
    assert edited.stages.used["embed"] - edited.stages.reused["embed"] == 1


def test_the_command_shares_a_cache_and_says_so(tmp_path, capsys):
    (tmp_path / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"id": key, "text": text}) for key, text in DOCUMENTS.items())
    )
    (tmp_path / "q.tsv").write_text(
        "id\ttext\n" + "".join(f"{key}\t{text}\n" for key, text in QUERIES.items())
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    file = tmp_path / "e.toml"
    file.write_text(
        'corpus = "corpus.jsonl"\nqueries = "q.tsv"\nqrels = "qrels.txt"\nmeasures = "nDCG@10"\n'
        '[systems.keyword]\nretriever = "bm25"\n[systems.knn]\nretriever = "knn"\n'
        '[systems.hybrid]\nretriever = "hybrid"\nof = ["keyword", "knn"]\nmethod = "wsum"\n'
        "[grid]\nalpha = [0.2, 0.5, 0.8]\n"
    )
    cache = str(tmp_path / "cache")
    assert command(["experiment", str(file), "--check"]) == 0
    assert "5 systems (3 points of a grid)" in capsys.readouterr().err
    assert command(["experiment", str(file), "--cache", cache]) == 0
    assert "stages reused (" in capsys.readouterr().err
    assert (
        command(["experiment", str(file), "--cache", cache, "--folder", str(tmp_path / "b")]) == 0
    )
    streams = capsys.readouterr()
    assert "embed" in streams.err
    assert "reused" in streams.out
    assert command(["experiment", str(tmp_path / "b"), "--cache", cache]) == 2
    file.write_text('cache = "elsewhere"\n' + file.read_text())
    assert command(["experiment", str(file), "-q", "--folder", str(tmp_path / "c")]) == 0
    assert (tmp_path / "elsewhere" / "embed").is_dir()
    assert "stages reused" not in capsys.readouterr().err


def test_retrievers_over_different_chunks_are_not_shared():
    """The same retriever with the same settings, but over other documents."""
    from goodgain.experiment.chunks import Chunked

    systems = {
        "keyword": Chunked(BM25(), "tokens", size=2),
        "knn": Chunked(KNN(Model(1)), "tokens", size=2),
        "both": Hybrid(["keyword", "knn"], method="wsum"),
    }
    settings = {
        "grid": {"chunk.size": [1, 2, 3], "alpha": ALPHAS},
        "measures": "P@5",
        "warmup": 0,
        "control": False,
    }
    shared = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, **settings).run()
    searches = len([call for call in logged() if call[0] == "queries"])
    whole = gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, **settings, searches="whole").run()
    assert rankings(shared) == rankings(whole)
    assert searches == 3 * 8
    lists = rankings(shared)
    assert len({str(lists[f"knn[size={size}]"]) for size in (1, 2, 3)}) == 3
