"""Built-in retrievers agree with their libraries called by hand, and are reproducible by seed."""

from __future__ import annotations

import re
import uuid

import numpy as np
import pytest

from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.retrievers import BUILT_IN, make, retriever_class
from goodgain.experiment.retrievers.base import RankedByOrder, check_ranking
from goodgain.experiment.retrievers.edges import DocumentGraph

WORDS = ["river", "mountain", "tree", "house", "garden", "light", "window", "stone", "water", "bridge",
         "road", "field"]  # fmt: skip


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(7)
    return {f"d{i}": " ".join(rng.choice(WORDS, size=12)) for i in range(300)}


@pytest.fixture(scope="module")
def queries():
    rng = np.random.default_rng(8)
    return [" ".join(rng.choice(WORDS, size=3, replace=False)) for _ in range(20)]


@pytest.fixture(scope="module")
def knn(documents):
    retriever = make("knn", {"dimensions": 20})
    retriever.index(documents)
    return retriever


def test_bm25_is_bm25s(documents, queries):
    import bm25s

    ours = make("bm25", {"k1": 1.2, "b": 0.6, "depth": 30})
    ours.index(documents)
    index = bm25s.BM25(k1=1.2, b=0.6, method="lucene")
    index.index(
        bm25s.tokenize(list(documents.values()), stopwords="en", show_progress=False),
        show_progress=False,
    )
    for query in queries:
        tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
        docs, scores = index.retrieve(tokens, corpus=list(documents), k=30, show_progress=False)
        theirs = {d: s for d, s in zip(docs[0].tolist(), scores[0].tolist(), strict=True) if s > 0}
        assert [s for _, s in ours(query)] == pytest.approx(list(theirs.values()), abs=2e-6)
        assert all(s == pytest.approx(theirs[d], abs=2e-6) for d, s in ours(query) if d in theirs)


def test_knn_is_scikit_learn(documents, queries, knn):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    pieces = TfidfVectorizer(
        analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True, min_df=2, dtype=np.float32
    )
    weights = pieces.fit_transform(documents.values())
    space = TruncatedSVD(n_components=20, n_iter=3, random_state=0)
    vectors = normalize(space.fit_transform(weights))
    names = list(documents)
    for query in queries:
        cosines = vectors @ normalize(space.transform(pieces.transform([query])))[0]
        ours = knn(query)
        assert [s for _, s in ours] == pytest.approx(np.sort(cosines)[::-1][:100], abs=2e-5)
        assert all(s == pytest.approx(cosines[names.index(d)], abs=2e-5) for d, s in ours)


def test_knn_with_a_function(documents):
    def embed(texts):
        return [[text.count(word) for word in WORDS] for text in texts]

    ours = make("knn", {"embed": embed})
    ours.index(documents)
    best, score = ours("river river stone")[0]
    assert documents[best].count("river") >= 2
    assert 0 < score <= 1


def test_knn_refuses_a_wrong_shape(documents):
    ours = make("knn", {"embed": lambda texts: [1.0, 2.0]})
    with pytest.raises(GoodgainError, match="array of shape"):
        ours.index(documents)


def test_hybrid_is_the_fusion_of_its_components(documents, queries, knn):
    from goodgain import fuse

    keyword = make("bm25", {})
    ours = make("hybrid", {"of": [keyword, knn], "method": "wsum", "weights": [0.3, 0.7]})
    ours.index(documents)
    runs = [{q: dict(component(q)) for q in queries} for component in (keyword, knn)]
    theirs = fuse(runs, "wsum", weights=[0.3, 0.7], depth=100).to_dict()
    assert {q: dict(ours(q)) for q in queries} == theirs


def test_hybrid_of_one_empty_ranking(documents, knn):
    ours = make("hybrid", {"of": [make("bm25", {}), knn]})
    ours.index(documents)
    assert dict(ours("zzzz")).keys() == dict(knn("zzzz")).keys()


def test_rerank_scores_the_pool(documents, knn):
    def count_stones(query, texts):
        return [text.count("stone") for text in texts]

    ours = make("rerank", {"of": knn, "scorer": count_stones, "pool": 20})
    ours.index(documents)
    ranking = ours("stone bridge")
    assert {d for d, _ in ranking} == {d for d, _ in knn("stone bridge")[:20]}
    assert [s for _, s in ranking] == sorted(
        (documents[d].count("stone") for d, _ in ranking), reverse=True
    )


def test_async_components(documents, knn):
    async def later(query):
        return [("d1", 1.0), ("d2", 0.5)]

    ours = make("hybrid", {"of": [later, knn]})
    ours.index(documents)
    assert {"d1", "d2"} <= dict(ours("river")).keys()


@pytest.mark.parametrize("name", ["graph", "swarm"])
def test_walks_are_the_same_for_the_same_seed(name, documents, queries, knn):
    ours = make(name, {"of": knn})
    ours.index(documents)
    again = make(name, {"of": knn})
    again.index(documents)
    forwards = {q: ours(q) for q in queries}
    backwards = {q: again(q) for q in reversed(queries)}  # earlier queries change nothing
    assert forwards == backwards
    assert any(ours.seeded(1)(q) != forwards[q] for q in queries)


def test_seeds_reach_the_components(documents, knn):
    from goodgain.experiment.retrievers.base import depends_on_seed

    plain = make("hybrid", {"of": [make("bm25", {}), knn]})
    random = make("hybrid", {"of": [make("swarm", {"of": knn}), knn]})
    random.index(documents)
    assert (depends_on_seed(plain), depends_on_seed(random)) == (False, True)
    twin = random.seeded(5)
    assert twin.components()[0].seed == 5
    assert random.components()[0].seed == 0  # the original is unchanged
    assert twin("river stone") != random("river stone")


def test_graph_reaches_documents_by_edges_only():
    documents = {"a": "red apple", "b": "green pear", "c": "blue plum", "far": "nothing alike"}
    knn = make(
        "knn",
        {"embed": lambda texts: [[w in t for w in ("red", "green", "blue", "no")] for t in texts]},
    )
    ours = make("graph", {"of": knn, "edges": [("a", "far")], "starts": 1, "restart": 0.0})
    ours.index(documents)
    scores = dict(ours("red"))
    assert list(scores)[:2] == ["a", "far"] or scores["far"] > 0.3
    assert "b" not in scores


def test_graph_ranks_by_visits():
    """On a path a - b - c walked from a without restart or flow, every second step is at b."""
    knn = make("knn", {"embed": lambda texts: [[t == "a", 1e-6] for t in texts]})
    ours = make(
        "graph",
        {
            "of": knn,
            "edges": [("a", "b"), ("b", "c")],
            "starts": 1,
            "steps": 100,
            "restart": 0.0,
            "flow": 0.0,
        },
    )
    ours.index({"a": "a", "b": "b", "c": "c"})
    scores = dict(ours("a"))
    assert scores["b"] == pytest.approx(0.5, abs=0.01)
    assert scores["a"] + scores["c"] == pytest.approx(0.5, abs=0.01)


def test_swarm_stays_in_the_pool_and_diversity_spreads_the_votes(documents, knn):
    narrow = make("swarm", {"of": knn, "pool": 30, "diversity": 0.0, "trust": 1.0})
    wide = make("swarm", {"of": knn, "pool": 30, "diversity": 5.0, "trust": 1.0})
    pool = {doc for doc, _ in knn("river stone")[:30]}
    for ours in (narrow, wide):
        ours.index(documents)
        assert {doc for doc, _ in ours("river stone")} == pool
    shares = [np.array([s for _, s in ours("river stone")]) for ours in (narrow, wide)]
    assert shares[1].min() > shares[0].min()  # even the last of the pool gets votes


def test_swarm_without_trust_is_its_pool(documents, knn):
    ours = make("swarm", {"of": knn, "trust": 0.0})
    ours.index(documents)
    assert [d for d, _ in ours("river")] == [d for d, _ in knn("river")][:100]


def test_small_pools_and_graphs_without_edges():
    knn = make("knn", {"embed": lambda texts: [[1.0, len(t)] for t in texts]})
    for name in ("graph", "swarm"):
        ours = make(name, {"of": knn, "edges": []})
        ours.index({"a": "x", "b": "xx", "c": "xxx"})
        assert {d for d, _ in ours("x")} <= {"a", "b", "c"}
        one = make(name, {"of": knn, "edges": []})
        one.index({"a": "x"})
        assert [d for d, _ in one("x")] == ["a"]


def test_edges_lead_both_ways_and_connect_documents():
    graph = DocumentGraph.from_edges(
        ["a", "b", "c"], [("a", "b", 2.0), ("b", "a", 1.0), ("c", "c")]
    )
    assert graph.starts.tolist() == [0, 1, 2, 2]
    assert graph.ends.tolist() == [1, 0]
    assert graph.weights.tolist() == [2.0, 2.0]
    with pytest.raises(GoodgainError, match="unknown document 'x' in an edge"):
        DocumentGraph.from_edges(["a"], [("a", "x")])


def test_edges_from_a_table(tmp_path, documents, knn):
    table = tmp_path / "edges.csv"
    table.write_text("source,target,weight\nd1,d2,0.5\nd2,d3,1\n")
    ours = make("graph", {"of": knn, "edges": str(table)})
    ours.index(documents)
    assert ours._graph.weights.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_edges_count_as_memory(documents, knn):
    ours = make("graph", {"of": knn})
    ours.index(documents)
    graph = ours._graph
    edges = graph.ends.nbytes + graph.weights.nbytes + graph.starts.nbytes
    assert ours.index_bytes() == knn.index_bytes() + edges


def test_index_once_and_size(documents, knn):
    before = knn.vectors
    ours = make("hybrid", {"of": [knn, make("bm25", {})]})
    ours.index(documents)
    assert knn.vectors is before
    assert ours.index_bytes() > knn.index_bytes() >= before.nbytes
    assert ours.index_seconds() >= knn.build_seconds > 0


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("bm26", {}, "unknown retriever 'bm26'\nhint: did you mean 'bm25'"),
        (
            "bm25",
            {"k2": 1},
            "unknown parameter 'k2' for the retriever 'bm25'\nhint: .*: k1, b",
        ),
        ("knn", {"method": "magic"}, "unknown nearest-neighbour method 'magic'"),
        ("hybrid", {"of": ["a"]}, "at least two systems"),
        ("hybrid", {"of": ["a", "b"], "method": "posfuse"}, "needs training judgments"),
        ("graph", {}, "needs a system to start from"),
        ("swarm", {}, "swarm needs a system to start from"),
        ("graph", {"of": "knn", "restart": -1}, "restart must be between 0 and 1, got -1"),
        ("graph", {"of": "knn", "walks": 0}, "walks must be positive, got 0"),
        ("swarm", {"of": "knn", "diversity": -1}, "diversity must not be negative, got -1"),
        ("swarm", {"of": "knn", "decay": 2}, "decay must be between 0 and 1, got 2"),
        ("http", {"url": "nowhere"}, "invalid url='nowhere'"),
        ("elasticsearch", {}, "needs the name of an index"),
        ("postgres", {}, "postgres needs a table"),
    ],
)
def test_wrong_parameters_are_reported(name, parameters, message):
    with pytest.raises(GoodgainError, match=message):
        make(name, parameters)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_has_its_name(name):
    assert retriever_class(name).name == name


@pytest.mark.parametrize(
    "answer", [[("a", float("nan"))], [("a", 1), ("a", 2)], [1.5, 2], "text", [("a", "high")], None]
)
def test_invalid_rankings_are_refused(answer):
    with pytest.raises(GoodgainError):
        check_ranking(answer, 10)


class Passage:
    """As a framework's document: an id, metadata, no score."""

    def __init__(self, doc):
        self.id, self.metadata, self.page_content = doc, {}, "text"


@pytest.mark.parametrize(
    "answer",
    [
        ["d2", "d1", "d3"],
        ("d2", "d1", "d3"),
        [{"id": "d2", "text": "t"}, {"id": "d1"}, {"id": "d3"}],
        [{"id": "d1", "rank": 2}, {"id": "d2", "rank": 1}, {"id": "d3", "rank": 3}],
        [Passage("d2"), Passage("d1"), Passage("d3")],
    ],
)
def test_results_without_scores_are_ranked_by_their_order(answer):
    ranking = check_ranking(answer, 2)
    assert ranking == [("d2", -1), ("d1", -2)]
    assert isinstance(ranking, RankedByOrder)
    assert isinstance(check_ranking(ranking, 1), RankedByOrder)
    assert check_ranking([], 2) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"d1": 0.5, "d2": 0.9},
        [("d1", 0.5), ("d2", 0.9)],
        [{"id": "d2", "score": 0.9}, {"id": "d1", "score": 0.5}],
        [(Passage("d2"), 0.9), (Passage("d1"), 0.5)],
    ],
)
def test_scores_stay_scores(answer):
    ranking = check_ranking(answer, 5)
    assert ranking == [("d2", 0.9), ("d1", 0.5)]
    assert not isinstance(ranking, RankedByOrder)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["d1", ("d2", 0.5)], "scores for all of its documents or for none"),
        (["d1", "d1"], "duplicate document 'd1'"),
        ([{"id": "d1"}, {"id": "d2", "score": 1}], "result 2"),
        ([{"id": "d1", "score": 1}, {"id": "d2", "score": 2}], "not in the order of their scores"),
        ([{"name": "d1"}], "no id"),
    ],
)
def test_mixtures_and_results_without_an_id_are_refused(answer, message):
    with pytest.raises(GoodgainError) as error:
        check_ranking(answer, 10)
    assert message in str(error.value)


def test_scores_are_not_fused_where_there_are_none():
    lists, scored = (lambda _: ["d1", "d2"]), (lambda _: [("d2", 7.0), ("d3", 1.0)])
    assert make("hybrid", {"of": [lists, scored]})("q")[0][0] == "d2"
    with pytest.raises(GoodgainError, match="wsum needs scores"):
        make("hybrid", {"of": [lists, scored], "method": "wsum"})("q")
    assert make("hybrid", {"of": [lists, scored], "method": "wsum", "norm": "rank"})("q")


def test_models_of_sentence_transformers(monkeypatch, documents):
    """A stand-in for the package, so that tests download no model."""
    import sys
    from types import SimpleNamespace

    class Model:
        def __init__(self, name):
            if name != "a/model":
                raise OSError("not found")

        def encode(self, texts, *, normalize_embeddings, show_progress_bar):
            return np.array([[text.count(word) for word in WORDS] for text in texts], dtype=float)

        def predict(self, pairs, *, show_progress_bar):
            return np.array([text.count(query) for query, text in pairs], dtype=float)

    stand_in = SimpleNamespace(SentenceTransformer=Model, CrossEncoder=Model)
    monkeypatch.setitem(sys.modules, "sentence_transformers", stand_in)
    near = make("knn", {"embed": "a/model"})
    near.index(documents)
    assert documents[near("bridge")[0][0]].count("bridge") >= 3
    again = make("rerank", {"of": near, "scorer": "a/model", "pool": 10})
    again.index(documents)
    assert [s for _, s in again("bridge")] == sorted((s for _, s in again("bridge")), reverse=True)
    with pytest.raises(GoodgainError, match="cannot load the model 'no/model': not found"):
        make("knn", {"embed": "no/model"}).index(documents)


@pytest.mark.parametrize(
    ("module", "name", "parameters", "extra"),
    [
        ("bm25s", "bm25", {"stopwords": "de"}, "retrieve"),
        ("sklearn", "knn", {}, "retrieve"),
        ("sentence_transformers", "knn", {"embed": "a/model"}, "embed"),
    ],
)
def test_a_missing_package_names_its_install_command(
    monkeypatch, documents, module, name, parameters, extra
):
    import sys

    for loaded in [m for m in sys.modules if m == module or m.startswith(f"{module}.")]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GoodgainError, match=rf"pip install 'goodgain\[{extra}\]'"):
        make(name, parameters).index(documents)


@pytest.mark.parametrize(
    ("answer", "message"),
    [([("a", 1.0), (None, 0.5)], "the document id None must be text or an integer"),
     ([(1.0, 1.0)], "the document id 1.0 must be text or an integer"),
     ({b"a": 1.0}, "the document id b'a' must be text or an integer"),
     ([b"a"], "the document id b'a' must be text or an integer"),
     ([("a", "0.5"), ("b", "1_0")], "the score of document 'a' must be a finite number, got '0.5'"),
     ([("a", np.timedelta64(3, "ns"))], "the score of document 'a' must be a finite number"),
     ({"a", "b"}, "a retriever returned a set, which has no order"),
     ({"a": 1.0}.keys(), "a retriever returned a set, which has no order"),
     (np.array([1.5, 2.0]), "a retriever must return")],
    ids=repr,
)  # fmt: skip
def test_answers_that_could_mean_anything(answer, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        check_ranking(answer, 10)


def test_ids_of_numpy_and_databases():
    """A vector index returns an array of integers, PostgreSQL UUIDs."""
    assert check_ranking(np.array([7, 3]), 2) == [("7", -1.0), ("3", -2.0)]
    assert check_ranking([np.int64(7), np.int64(3)], 2) == [("7", -1.0), ("3", -2.0)]
    assert check_ranking([(np.int64(7), np.float32(0.5))], 2) == [("7", 0.5)]
    name = uuid.UUID(int=3)
    assert check_ranking({name: 0.5}, 2) == [(str(name), 0.5)]
