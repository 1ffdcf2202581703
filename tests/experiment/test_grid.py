"""Grids: names, points, shared parameters, components, errors."""

from __future__ import annotations

import functools

import pytest

import goodgain as gg
from goodgain.errors import GoodgainError, UsageError
from goodgain.experiment.grid import expand, vary
from goodgain.experiment.retrievers import BM25, KNN, Hybrid, Rerank, make

DOCUMENTS = {f"d{i}": f"common word{i} topic{i % 5}" for i in range(20)}
QUERIES = {f"q{i}": f"topic{i % 5} word{i}" for i in range(10)}
QRELS = {f"q{i}": {f"d{i}": 2, **{f"d{j}": 1 for j in range(i % 5, 20, 5)}} for i in range(10)}


def small(texts):
    return [[text.count(str(i)) + 0.1 for i in range(5)] for text in texts]


def large(texts):
    return [[text.count(str(i)) + 0.1 for i in range(10)] for text in texts]


def experiment(systems, grid, **settings):
    settings = {"measures": "nDCG@5", "warmup": 0, **settings}
    return gg.Experiment(DOCUMENTS, QUERIES, QRELS, systems, grid=grid, **settings)


def test_a_grid_expands_to_ordinary_systems():
    tried = experiment({"keyword": "bm25", "other": "knn"}, {"k1": [0.9, 1.2], "b": [0.5]})
    names = ("keyword[k1=0.9, b=0.5]", "keyword[k1=1.2, b=0.5]")
    assert list(tried.systems) == [*names, "other"]
    assert tried.grids == {"keyword": names}
    assert tried.points == {names[0]: {"k1": 0.9, "b": 0.5}, names[1]: {"k1": 1.2, "b": 0.5}}
    assert [tried.systems[name].k1 for name in names] == [0.9, 1.2]
    result = tried.run()
    assert result.systems == (*names, "other")
    alone = gg.Experiment(
        DOCUMENTS, QUERIES, QRELS, {"a": BM25(k1=1.2, b=0.5)}, measures="nDCG@5"
    ).run()
    assert result.runs[names[1]][0].to_dict() == alone.runs["a"][0].to_dict()
    assert result.settings["grids"] == {"keyword": list(names)}
    assert result.settings["points"][names[0]] == {"k1": 0.9, "b": 0.5}


def test_systems_built_on_a_grid_have_its_points():
    systems = {
        "keyword": BM25(),
        "knn": KNN(),
        "hybrid": Hybrid(["keyword", "knn"], method="wsum"),
    }
    tried = experiment(
        systems, {"k1": [0.9, 1.2], "knn": {"embed": [small, large]}, "alpha": [0.0, 0.5, 1.0]}
    )
    assert {name: len(points) for name, points in tried.grids.items()} == {
        "keyword": 2,
        "knn": 2,
        "hybrid": 12,
    }
    point = tried.systems["hybrid[k1=1.2, embed=large, alpha=0.5]"]
    assert point.components() == [
        tried.systems["keyword[k1=1.2]"],
        tried.systems["knn[embed=large]"],
    ]
    assert point.alpha == 0.5
    result = tried.run()
    for alpha in (0.0, 0.5, 1.0):
        by_hand = Hybrid([BM25(k1=1.2), KNN(large)], method="wsum", weights=[1 - alpha, alpha])
        alone = experiment({"a": by_hand}, None).run().runs["a"][0]
        point = f"hybrid[k1=1.2, embed=large, alpha={alpha}]"
        assert result.runs[point][0].to_dict() == alone.to_dict()


def test_a_shared_parameter_has_one_value_in_a_point():
    systems = {
        "a": BM25(stopwords=None),
        "b": BM25(stopwords=None, k1=1.2),
        "c": BM25(),
        "both": Hybrid(["a", "b", "c"]),
    }
    tried = experiment(systems, {"stopwords": ["en", "de"]})
    assert {name: len(points) for name, points in tried.grids.items()} == {
        "a": 2,
        "b": 2,
        "both": 2,
    }  # c does not set it
    assert tried.systems["both[stopwords=de]"].components() == [
        tried.systems["a[stopwords=de]"],
        tried.systems["b[stopwords=de]"],
        tried.systems["c"],
    ]


def test_a_grid_of_one_system_may_use_names_of_another():
    systems = {"a": BM25(), "b": BM25(), "both": Hybrid(["a", "b"])}
    tried = experiment(systems, {"a": {"k1": [1, 2]}, "b": {"k1": [1, 2]}})
    assert len(tried.grids["both"]) == 4
    assert "both[a.k1=1, b.k1=2]" in tried.systems
    assert tried.points["both[a.k1=1, b.k1=2]"] == {"a.k1": 1, "b.k1": 2}


def test_functions_partials_objects_and_nested_values():
    def mine(query, size=3, *, step=1):
        return [f"d{i * step}" for i in range(size)]

    class Own:
        def __init__(self, chunk=None, size=1):
            self.chunk, self.size = chunk, size

        def __call__(self, query):
            return [f"d{i}" for i in range((self.chunk or {}).get("size", 2) * self.size)]

    systems = {"mine": mine, "half": functools.partial(mine, step=2), "own": Own()}
    tried = experiment(
        systems,
        {
            "mine": {"size": [2, 4]},
            "half": {"size": [5]},
            "own": {"chunk.size": [1, 3], "size": [2]},
        },
    )
    assert len(tried.systems["mine[size=4]"]("q")) == 4
    assert tried.systems["half[size=5]"]("q") == ["d0", "d2", "d4", "d6", "d8"]
    assert len(tried.systems["own[chunk.size=3, size=2]"]("q")) == 6
    nested = experiment({"own": Own({"by": "words"})}, {"chunk": {"size": [4]}})
    assert nested.systems["own[size=4]"].chunk == {"by": "words", "size": 4}
    assert Own({"by": "x"}).chunk == {"by": "x"}


def test_parameters_inside_components():
    systems = {"hybrid": Hybrid([BM25(), KNN(small)]), "rerank": Rerank("hybrid", len)}
    tried = experiment(systems, {"hybrid": {"of.0.k1": [1, 2], "of.1.embed": [small, large]}})
    one, two = (tried.systems[f"hybrid[k1={k1}, embed=large]"].components() for k1 in (1, 2))
    assert (one[0].k1, two[0].k1) == (1, 2)
    assert one[1].embed is large
    assert len(tried.grids["rerank"]) == 4
    deep = Rerank(Hybrid(["a", "b"]), len)
    tried = experiment({"a": BM25(), "b": KNN(), "deep": deep}, {"k1": [1, 2]})
    inner = tried.systems["deep[k1=2]"].components()[0]
    assert inner.components()[0] is tried.systems["a[k1=2]"]


def test_an_experiment_can_be_set_up_twice_with_the_same_objects():
    systems = {"a": BM25(), "b": KNN(), "both": Hybrid(["a", "b"])}
    first = experiment(systems, {"k1": [1, 2]})
    second = experiment(systems, {"k1": [1, 2, 3]})
    assert len(first.grids["both"]) == 2
    assert len(second.grids["both"]) == 3
    assert [r.components()[0].k1 for n, r in second.systems.items() if "both" in n] == [1, 2, 3]


def test_values_have_readable_and_different_names():
    def one(texts):
        return small(texts)

    models = [one, lambda texts: small(texts), lambda texts: large(texts), "lsa"]
    tried = experiment({"knn": KNN()}, {"embed": models})
    assert list(tried.systems) == [
        "knn[embed=one]",
        "knn[embed=<lambda>]",
        "knn[embed=<lambda>#2]",
        "knn[embed=lsa]",
    ]
    tried = experiment(
        {"keyword": "bm25"}, {"stemmer": [None, "english"], "stopwords": ["x " * 40]}
    )
    assert next(iter(tried.systems)).startswith("keyword[stemmer=null, stopwords=x x x")
    assert len(next(iter(tried.systems))) < 80


def test_long_names_have_files(tmp_path):
    names = [f"parameter_with_a_long_name_{i}" for i in range(20)]
    body = ", ".join(f"{name}=0" for name in names)
    scope = {}
    exec(f"def search(query, {body}): return ['d1']", scope)
    tried = experiment(
        {"a": scope["search"]}, {name: [1, 2][: 1 + (name == names[-1])] for name in names}
    )
    tried.run(tmp_path)
    assert len(list((tmp_path / "runs").glob("*.run"))) == 2


@pytest.mark.parametrize(
    ("grid", "message", "hint"),
    [
        ({"k": [1, 2]}, "no system has the parameter 'k' of the grid", "k1"),
        ({"keyword": {"kk1": [1]}}, "unknown parameter 'kk1' for the system 'keyword'", "k1"),
        ({"k1": []}, "the grid has an empty list for 'k1'", None),
        ({"k1": 1.2}, "the grid needs a list of values for 'k1', got 1.2", "list"),
        ({"stopwords": "en"}, "the grid needs a list of values for 'stopwords', got 'en'", "list"),
        ({"k1": [1.2, 1.2]}, "the grid has the value 1.2 twice for 'k1'", None),
        ({}, "the grid has no parameters", "grid="),
        ({"k1": [1], "keyword": {"k1": [1]}}, "varies 'k1' of the system 'keyword' twice", None),
        ({"k1.x": [1]}, "the grid has 'x' inside 1.5 of the system 'keyword'", None),
        ({"keyword": {"b": [2.0, 0.5]}, "k1": list(range(1, 400))}, "798 points", "grid_limit = 798"),
    ],
)  # fmt: skip
def test_mistakes_are_named(grid, message, hint):
    with pytest.raises(GoodgainError) as error:
        experiment({"keyword": "bm25", "knn": "knn"}, grid)
    assert message in str(error.value)
    if hint:
        assert hint in str(error.value.hint)


def test_a_large_grid_must_be_confirmed():
    grid = {"k1": [i / 100 for i in range(1, 101)], "b": [i / 100 for i in range(100)]}
    with pytest.raises(UsageError, match="the grid has 10,000 points"):
        experiment({"keyword": "bm25"}, grid)
    assert len(expand({"keyword": make("bm25", {})}, grid, 10_000).systems) == 10_000


def test_an_object_that_forgets_its_parameters_is_said():
    class Own:
        def __init__(self, size):
            self.length = size

        def __call__(self, query):
            return []

    with pytest.raises(UsageError, match="does not store its parameter 'size'"):
        vary(Own(3), {"size": 4}, "own")


def test_a_value_that_a_retriever_refuses_is_an_error():
    with pytest.raises(UsageError, match="unknown nearest-neighbour method 'exct'"):
        experiment({"knn": "knn"}, {"method": ["exact", "exct"]})


def test_the_baseline_is_one_point():
    systems = {"keyword": "bm25"}
    grid = {"k1": [1, 2]}
    with pytest.raises(
        UsageError, match="the baseline 'keyword' has 2 points in the grid"
    ) as error:
        experiment(systems, grid, baseline="keyword")
    assert "keyword[k1=1]" in error.value.hint
    assert experiment(systems, grid, baseline="keyword[k1=2]").plan.baseline == "keyword[k1=2]"


def test_a_version_of_a_system_is_that_of_its_points():
    tried = experiment({"keyword": "bm25"}, {"k1": [1, 2]}, versions={"keyword": "7"})
    assert tried.versions == {"keyword[k1=1]": "7", "keyword[k1=2]": "7"}
    assert all(search.version == "7" for search in tried.systems.values())


def test_a_grid_in_a_file(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(
        "\n".join(f'{{"id": "{key}", "text": "{text}"}}' for key, text in DOCUMENTS.items())
    )
    (tmp_path / "q.tsv").write_text(
        "id\ttext\n" + "".join(f"{key}\t{text}\n" for key, text in QUERIES.items())
    )
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    (tmp_path / "grid_models.py").write_text(
        "def one(texts):\n    return [[len(text), 1.0] for text in texts]\n"
        "def two(texts):\n    return [[text.count('1'), 1.0] for text in texts]\n"
        "def search_of(size, step=1):\n"
        "    return lambda query: [f'd{i * step}' for i in range(size)]\n"
    )
    file = tmp_path / "e.toml"
    head = 'corpus = "corpus.jsonl"\nqueries = "q.tsv"\nqrels = "qrels.txt"\nmeasures = "nDCG@5"\n'
    file.write_text(
        head + '[systems.keyword]\nretriever = "bm25"\n[systems.knn]\nretriever = "knn"\n'
        '[systems.own]\nretriever = "grid_models:search_of"\nsize = 3\n'
        '[systems.hybrid]\nretriever = "hybrid"\nof = ["keyword", "knn"]\nmethod = "wsum"\n'
        "[grid]\nalpha = [0.2, 0.8]\n"
        '[grid.knn]\nembed = ["grid_models:one", "grid_models:two"]\n'
        "[grid.own]\nsize = [2, 5]\n"
    )
    tried = gg.experiment.read_experiment(file).experiment
    assert {name: len(points) for name, points in tried.grids.items()} == {
        "knn": 2,
        "own": 2,
        "hybrid": 4,
    }
    assert "hybrid[alpha=0.2, embed=two]" in tried.systems
    assert len(tried.systems["own[size=5]"]("q")) == 5
    assert not tried.run().failures
    for bad, message in (
        ('[grid.knn]\nembed = ["grid_models:three"]\n', "no attribute 'three'"),
        ("[grid.own]\nlength = [1]\n", "unknown parameter 'length' for the system 'own'"),
        ("[grid]\nk1 = 3\n", "needs a list of values"),
    ):
        file.write_text(
            head + '[systems.knn]\nretriever = "knn"\n[systems.keyword]\nretriever = "bm25"\n'
            '[systems.own]\nretriever = "grid_models:search_of"\nsize = 3\n' + bad
        )
        with pytest.raises(GoodgainError, match=message):
            gg.experiment.read_experiment(file)


def test_alpha_weighs_two_systems():
    for settings in (
        {"alpha": 0.5},  # rrf has no weights
        {"alpha": 0.5, "method": "wsum", "weights": [1, 2]},
        {"alpha": 1.5, "method": "wsum"},
    ):
        with pytest.raises(UsageError, match="alpha"):
            Hybrid(["a", "b"], **settings)
    with pytest.raises(UsageError, match="alpha weighs two systems, got 3"):
        Hybrid(["a", "b", "c"], method="wsum", alpha=0.5)


def test_chunks_and_their_retriever_vary_alike(tmp_path):
    from goodgain.experiment.chunks import Chunked

    systems = {
        "keyword": Chunked(BM25(), "tokens", size=2),
        "knn": Chunked(KNN(), "tokens", size=2),
        "hybrid": Hybrid(["keyword", "knn"], method="wsum"),
    }
    grid = {"chunk.size": [1, 2], "chunk.overlap": [0], "embed": [small, large], "alpha": [0.5]}
    tried = experiment(systems, grid)
    assert list(tried.grids["hybrid"]) == [
        f"hybrid[size={size}, overlap=0, embed={embed}, alpha=0.5]"
        for size in (1, 2)
        for embed in ("small", "large")
    ]
    point = tried.systems["knn[size=1, overlap=0, embed=large]"]
    assert (point.size, point.overlap, point.of.embed) == (1, 0, large)
    assert tried.systems["keyword[size=2, overlap=0]"].size == 2
    result = tried.run(tmp_path)
    assert not result.failures
    used, reused = result.stages.used, result.stages.reused
    assert used["chunk"] - reused["chunk"] == 2
    assert used["embed"] - reused["embed"] == 4
    tables = [{"splitter": "tokens", "size": 2}, {"splitter": "sentences", "size": 9}]
    whole = experiment({"keyword": Chunked(BM25(), size=3)}, {"chunk": tables})
    assert [search.splitter for search in whole.systems.values()] == ["tokens", "sentences"]
    with pytest.raises(GoodgainError, match="sise"):
        experiment(systems, {"chunk.sise": [1]})
