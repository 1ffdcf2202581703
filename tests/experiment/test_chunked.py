"""Systems over chunks: judged by document, by chunk and by span, against lists made by hand."""

from __future__ import annotations

import json

import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError, UsageError
from goodgain.experiment import Chunked, ExperimentResult, read_experiment
from goodgain.experiment.retrievers import BM25, KNN, Hybrid, Rerank
from goodgain.spans.pieces import parse_chunk_id

CORPUS = {
    "keys": "Rotate keys every month. Run rotate-keys with force on the primary server. " * 2,
    "river": "The river runs under the bridge. Stones lie in the river. Fish swim in it. " * 2,
    "house": "A house with a garden stands there. The garden has a gate and a wall made of stone.",
}
QUERIES = {"q1": "rotate keys", "q2": "stones in the river", "q3": "garden gate"}
QRELS = {"q1": {"keys": 2}, "q2": {"river": 1}, "q3": {"house": 1}}
SPANS = [
    {"query": "q1", "doc": "keys", "quote": "Run rotate-keys with force", "gain": 2},
    {"query": "q2", "doc": "river", "start": 33, "end": 57, "gain": 1},
    {"query": "q3", "doc": "house", "quote": "The garden has a gate", "gain": 1},
]


class ByWords:
    """Ranks what it indexed by shared words."""

    def index(self, documents):
        self.documents = dict(documents)

    def __call__(self, query):
        words = set(query.lower().split())
        scores = {
            name: len(words & set(text.lower().replace(".", "").split()))
            for name, text in self.documents.items()
        }
        return [(name, score) for name, score in scores.items() if score]


def chunked(retriever=None, **settings):
    return Chunked(retriever or ByWords(), **{"splitter": "sentences", "size": 15, **settings})


def test_results_are_chunks_with_their_places(tmp_path):
    experiment = gg.Experiment(CORPUS, QUERIES, QRELS, {"a": chunked()}, measures="MRR")
    result = experiment.run(tmp_path / "out")
    for run in result.results["a"]:
        for docs in run.source.value.values():
            for name in docs:
                piece = parse_chunk_id(name)
                assert 0 <= piece.start < piece.end <= len(CORPUS[piece.doc])
    # judged by document: each once, at the place of its best chunk
    for docs in result.runs["a"][0].source.value.values():
        assert set(docs) <= set(CORPUS)
    assert result["MRR"] == 1
    assert "a chunk (a) is judged as its document" in str(result).lower()


def test_judged_by_document_equals_identity():
    """The same numbers as evaluate with identity="doc#chunk" over the chunks."""
    measures = "MRR nDCG@10 Recall@2 AP P@3 R@60tokens"
    result = gg.Experiment(CORPUS, QUERIES, QRELS, {"a": chunked()}, measures=measures).run()
    raw = {q: dict(docs) for q, docs in result.results["a"][0].source.value.items()}
    expected = gg.evaluate(QRELS, raw, measures, identity="doc#chunk", documents=CORPUS)
    for label in measures.split():
        assert result[label] == pytest.approx(expected[label]), label
    mapped = {q: dict(docs) for q, docs in result.runs["a"][0].source.value.items()}
    assert gg.evaluate(QRELS, mapped, "AP")["AP"] == pytest.approx(result["AP"])


def test_judged_by_span_equals_evaluate(tmp_path):
    systems = {
        "whole": ByWords(), "small": chunked(size=15), "large": chunked(size=30),
        "overlap": chunked(splitter="tokens", size=12, overlap=6),
    }  # fmt: skip
    measures = "SpanRecall@2 SpanPrecision@2 SpanIoU@1 nDCG@3 RR R@20tokens SpanRecall@20tokens"
    experiment = gg.Experiment(CORPUS, QUERIES, SPANS, systems, measures=measures, cover=0.8)
    result = experiment.run(tmp_path / "out")
    for name in systems:
        raw = {q: dict(docs) for q, docs in result.results[name][0].source.value.items()}
        expected = gg.evaluate(SPANS, raw, measures, documents=CORPUS, cover=0.8)
        for label in measures.split():
            assert result[name][label] == pytest.approx(expected[label]), (name, label)
    assert result["whole"]["SpanRecall@2"] > result["whole"]["SpanPrecision@2"]
    assert result["small"]["Latency"] > 0  # latency is that of the calls
    again = ExperimentResult.open(tmp_path / "out")
    assert again.scores.means == result.scores.means
    # other measures of chunks need no texts, those of whole documents do
    with pytest.raises(UsageError, match="needs the texts of the documents"):
        str(ExperimentResult.open(tmp_path / "out", measures="RR AP"))
    fewer = ExperimentResult.open(tmp_path / "out", measures="RR")
    assert fewer.scores.names == result.scores.names
    assert fewer["small"].keys() == ("RR",)


def test_a_saved_experiment_over_chunks_takes_other_judgments(tmp_path):
    """Spans given later: the places of the chunks are in their ids."""
    systems = {"small": chunked(size=15), "large": chunked(size=30)}
    gg.Experiment(CORPUS, QUERIES, QRELS, systems, measures="RR").run(tmp_path / "out")
    spans = [{"query": "q2", "doc": "river", "start": 33, "end": 57, "gain": 1}]
    result = ExperimentResult.open(tmp_path / "out", qrels=spans, measures="SpanRecall RR")
    assert result["small"]["SpanRecall"] == 1
    raw = result.results["small"][0].source.value
    expected = gg.evaluate(spans, {q: dict(docs) for q, docs in raw.items()}, "RR")
    assert result["small"]["RR"] == expected["RR"]


def test_judged_by_chunk(tmp_path):
    first = gg.Experiment(CORPUS, QUERIES, QRELS, {"a": chunked()}, measures="RR").run()
    best = {q: next(iter(docs)) for q, docs in first.results["a"][0].source.value.items()}
    qrels = {q: {chunk: 1} for q, chunk in best.items()}
    systems = {"a": chunked(), "b": chunked(size=40), "whole": ByWords()}
    result = gg.Experiment(CORPUS, QUERIES, qrels, systems, measures="RR").run(tmp_path / "out")
    assert result["a"]["RR"] == 1 and result["b"]["RR"] < 1 and result["whole"]["RR"] == 0
    warnings = result.warnings()
    assert any("b: " in w and "judged chunks are not among its chunks" in w for w in warnings)
    assert any("whole: it returns documents, but chunks are judged" in w for w in warnings)
    assert not any(w.startswith("a: ") and "judged chunks" in w for w in warnings)
    assert ExperimentResult.open(tmp_path / "out").scores.means == result.scores.means
    with pytest.raises(InputError, match="the judgments are of documents and of chunks"):
        gg.Experiment(CORPUS, QUERIES, {**qrels, "q1": {"keys": 1}}, {"a": chunked()})


def test_retrievers_combine_over_chunks():
    texts = []

    def score(query, passages):
        texts.extend(passages)
        return [len(set(query.split()) & set(p.lower().split())) for p in passages]

    chunk = {"splitter": "sentences", "size": 15}
    systems = {
        "keyword": Chunked(BM25(), **chunk), "knn": Chunked(KNN(dimensions=2), **chunk),
        "hybrid": Hybrid(["keyword", "knn"]), "reranked": Rerank("hybrid", score),
        "inside": Chunked(Hybrid([BM25(), KNN(dimensions=2)]), **chunk),
    }  # fmt: skip
    result = gg.Experiment(CORPUS, QUERIES, QRELS, systems, measures="MRR").run()
    assert not result.failures
    assert result.settings["chunked"] == list(systems)
    assert texts and max(map(len, texts)) < 100  # the scorer reads chunks, not documents
    inside, hybrid = (result.results[n][0].source.value for n in ("inside", "hybrid"))
    assert {q: set(d) for q, d in inside.items()} == {q: set(d) for q, d in hybrid.items()}


def test_chunks_and_documents_do_not_mix():
    with pytest.raises(
        UsageError, match="Hybrid combines a system over chunks with one over documents"
    ):
        gg.Experiment(
            CORPUS, QUERIES, QRELS, {"a": chunked(), "b": BM25(), "h": Hybrid(["a", "b"])}
        )
    with pytest.raises(UsageError, match="the system 'a' searches its own documents"):
        gg.Experiment(
            CORPUS, QUERIES, QRELS, {"a": BM25(), "b": BM25(), "c": Chunked(Hybrid(["a", "b"]))}
        )
    with pytest.raises(UsageError, match="chunks need a retriever with an index"):
        Chunked(lambda query: [])
    with pytest.raises(UsageError, match="SpanRecall@1 needs judgments of spans"):
        gg.Experiment(CORPUS, QUERIES, QRELS, {"a": chunked()}, measures="SpanRecall@1")
    with pytest.raises(UsageError, match="identity does not apply"):
        gg.Experiment(CORPUS, QUERIES, SPANS, {"a": chunked()}, identity="doc#chunk")


def test_splitting_is_a_stage(tmp_path):
    log = tmp_path / "log"

    def halves(text, size=20):
        with log.open("a") as file:
            file.write("called\n")
        return [text[i : i + size] for i in range(0, len(text), size)]

    def count():
        return (tmp_path / "log").read_text().count("called")

    def systems(size=20):
        return {
            "a": Chunked(BM25(), halves, size=size),
            "b": Chunked(KNN(dimensions=2), halves, size=size),
        }

    for folder in ("one", "two"):
        gg.Experiment(
            CORPUS, QUERIES, QRELS, systems(), measures="MRR", cache=tmp_path / "cache"
        ).run(tmp_path / folder)
    assert count() == len(CORPUS)  # once for both systems and both experiments
    gg.Experiment(
        CORPUS, QUERIES, QRELS, systems(30), measures="MRR", cache=tmp_path / "cache"
    ).run(tmp_path / "three")
    assert count() == 2 * len(CORPUS)


def test_another_chunk_size_is_another_system(tmp_path):
    for size in (15, 40):
        result = gg.Experiment(
            CORPUS, QUERIES, SPANS, {"a": chunked(size=size)}, measures="SpanPrecision@1"
        ).run(tmp_path / "out")
        fresh = gg.Experiment(
            CORPUS, QUERIES, SPANS, {"a": chunked(size=size)}, measures="SpanPrecision@1"
        ).run()
        assert result["SpanPrecision@1"] == fresh["SpanPrecision@1"]


def test_texts_that_a_splitter_changed_are_said():
    def shout(text):
        return [text[:40].upper(), text[40:]]

    result = gg.Experiment(
        CORPUS, QUERIES, SPANS, {"a": Chunked(ByWords(), shout)}, measures="SpanRecall"
    ).run()
    assert any("3 of 6 chunks are not in their documents" in w for w in result.warnings())
    assert 0 <= result["SpanRecall"] < 1


TOML = """
corpus = "corpus.jsonl"
queries = "queries.jsonl"
qrels = "spans.jsonl"
measures = "SpanRecall@2 nDCG@40tokens RR"
cover = 0.6
tokenizer = "characters"

[systems.whole]
retriever = "bm25"

[systems.sentences]
retriever = "bm25"
chunk = {splitter = "sentences", size = 15}

[systems.own]
retriever = "bm25"
chunk = {splitter = "my_splitter:pieces", width = 30}
"""


@pytest.fixture
def folder(tmp_path):
    tables = {
        "corpus": [{"id": k, "text": v} for k, v in CORPUS.items()],
        "queries": [{"id": k, "text": v} for k, v in QUERIES.items()],
        "spans": SPANS,
    }
    for name, rows in tables.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "my_splitter.py").write_text(
        "def pieces(text, width):\n    return [text[i:i + width] for i in range(0, len(text), width)]\n"
    )
    (tmp_path / "test.toml").write_text(TOML)
    return tmp_path


def test_toml(folder, capsys):
    assert command(["experiment", str(folder / "test.toml"), "-q"]) == 0
    out = capsys.readouterr().out
    assert "SpanRecall@2" in out and "nDCG@40tokens" in out and "judged@10" in out
    assert "Judged by span: a span is met if chunks cover 0.6 of it" in out
    experiment, _ = read_experiment(folder / "test.toml")
    assert experiment.plan.tokenizer == "characters"
    own = experiment.systems["own"]
    assert own.parameters == {"width": 30}
    # measures of texts can be chosen on the command line, since the run has the texts
    assert command(["experiment", str(folder / "test.toml"), "-q", "-m", "R@50tokens"]) == 0
    assert "R@50tokens" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('chunk = "tokens"', "chunk must be a table, got 'tokens'"),
        ("chunk = {spliter = 'tokens'}", "unknown key 'spliter' in chunk"),
        ("chunk = {splitter = 'words'}", "unknown splitter 'words'"),
        ("chunk = {size = 10, overlap = 10}", "overlap must be smaller than size"),
        ("chunk = {size = '10'}", "size must be a positive number of tokens, got '10'"),
        ("chunk = {splitter = 'my_splitter:pieces', size = 3}", "has no parameter 'size'"),
        (
            "chunk = {splitter = 'my_splitter:nothing'}",
            "module 'my_splitter' has no attribute 'nothing'",
        ),
    ],
)
def test_mistakes_in_toml(folder, capsys, line, message):
    text = TOML.replace('chunk = {splitter = "sentences", size = 15}', line)
    (folder / "test.toml").write_text(text)
    assert command(["experiment", str(folder / "test.toml"), "--check"]) == 2
    error = capsys.readouterr().err
    assert message in error and "[systems.sentences]" in error


class Locked(ByWords):
    """Cannot be copied, as a client cannot."""

    def __deepcopy__(self, memo):
        raise TypeError("cannot copy")


class Collecting(ByWords):
    """Adds to what it has, so that a shared copy would search everything."""

    def __init__(self):
        self.documents = {}

    def index(self, documents):
        self.documents.update(documents)


@pytest.mark.parametrize(
    "shared", [BM25(), ByWords(), Collecting()], ids=["built-in", "plain", "collecting"]
)
def test_one_retriever_may_search_documents_and_chunks(shared):
    """Each has an index of its own."""
    systems = {"whole": shared, "small": chunked(shared), "large": chunked(shared, size=30)}
    result = gg.Experiment(CORPUS, QUERIES, SPANS, systems, measures="SpanPrecision@1 RR").run()
    for name in systems:
        alone = {"a": chunked(type(shared)(), size=30 if name == "large" else 15)}
        alone = alone if name != "whole" else {"a": type(shared)()}
        expected = gg.Experiment(CORPUS, QUERIES, SPANS, alone, measures="SpanPrecision@1 RR").run()
        for label in ("SpanPrecision@1", "RR"):
            assert result[name][label] == expected[label], (name, label)


def test_an_object_that_cannot_be_copied_is_used_once():
    client = Locked()
    assert gg.Experiment(CORPUS, QUERIES, QRELS, {"a": chunked(client)}).run()["MRR"] == 1
    with pytest.raises(
        UsageError, match="one Locked object is used over different documents or chunks"
    ):
        gg.Experiment(CORPUS, QUERIES, QRELS, {"a": client, "b": chunked(client)})


def test_a_grid_over_chunks(tmp_path):
    systems = {"base": chunked(BM25(), size=15), "hybrid": Hybrid(["base", "other"]),
               "other": chunked(KNN(dimensions=2), size=15)}  # fmt: skip
    for grid in ({"chunk.size": [12, 30]}, {"chunk": {"size": [12, 30]}}, {"size": [12, 30]}):
        experiment = gg.Experiment(
            CORPUS, QUERIES, SPANS, systems, grid=grid, measures="SpanPrecision@1 RR"
        )
        assert experiment.grids["base"] == ("base[size=12]", "base[size=30]")
        assert experiment.grids["hybrid"] == ("hybrid[size=12]", "hybrid[size=30]")
        assert experiment.chunked == list(experiment.systems)
    result = experiment.run(tmp_path / "out")
    for size in (12, 30):
        alone = gg.Experiment(
            CORPUS, QUERIES, SPANS, {"a": chunked(BM25(), size=size)}, measures="SpanPrecision@1 RR"
        ).run()
        for label in ("SpanPrecision@1", "RR"):
            assert result[f"base[size={size}]"][label] == alone[label]
    assert result.stages.used["chunk"] == 6 and result.stages.reused["chunk"] == 4
    inner = gg.Experiment(
        CORPUS, QUERIES, QRELS, {"base": chunked(BM25())}, grid={"k1": [0.5, 2.0]}
    )
    assert [each.of.k1 for each in inner.systems.values()] == [0.5, 2.0]
    whole = gg.Experiment(
        CORPUS, QUERIES, QRELS, {"base": chunked(BM25())},
        grid={"chunk": [{"splitter": "tokens", "size": 9}, {"splitter": "headings"}]},
    )  # fmt: skip
    assert [(e.splitter, e.size) for e in whole.systems.values()] == [
        ("tokens", 9),
        ("headings", None),
    ]


def test_a_grid_over_chunks_in_toml(folder):
    text = (
        TOML + "\n[grid.sentences]\nchunk = {size = [10, 20]}\n[grid.own.chunk]\nwidth = [20, 40]\n"
    )
    (folder / "test.toml").write_text(text)
    experiment, _ = read_experiment(folder / "test.toml")
    assert [experiment.systems[n].size for n in experiment.grids["sentences"]] == [10, 20]
    assert [experiment.systems[n].parameters for n in experiment.grids["own"]] == [
        {"width": 20},
        {"width": 40},
    ]


def test_optimise_over_chunks_and_spans():
    systems = {"small": chunked(size=12), "large": chunked(size=60)}
    queries = {f"{q} {i}": text for q, text in QUERIES.items() for i in range(6)}
    spans = [{**row, "query": f"{row['query']} {i}"} for row in SPANS for i in range(6)]

    def experiment():
        return gg.Experiment(CORPUS, queries, spans, systems, measures="SpanPrecision@1")

    run = experiment().run()
    means = {name: run[name]["SpanPrecision@1"] for name in systems}
    assert means["small"] > 0 and means["large"] > 0
    settings = {s.name: s.mean for s in experiment().optimise("SpanPrecision@1").settings}
    assert settings.keys() == means.keys()
    better = max(means, key=means.get)
    assert max(settings, key=settings.get) == better


def test_places_that_a_service_reports(tmp_path):
    """Results with start and end are chunks: all of them count, also two of one document."""
    text = CORPUS["keys"]

    def service(query):
        return [
            {"id": "keys", "start": 0, "end": 25, "score": 3.0},
            {"id": "keys", "start": 25, "end": len(text), "score": 2.0},
            {"id": "river", "start": 0, "end": 20, "score": 1.0},
        ]

    measures = "SpanRecall@1 SpanRecall@2 SpanPrecision@2 RR"
    spans = [row for row in SPANS if row["query"] == "q1"]
    queries = {"q1": QUERIES["q1"]}
    systems = {"a": service, "b": chunked()}
    result = gg.Experiment(CORPUS, queries, spans, systems, measures=measures).run(tmp_path / "out")
    chunks = [{"query": "q1", "doc": r["id"], **r} for r in service("")]
    expected = gg.evaluate(spans, chunks, measures, documents=CORPUS).runs[0]
    assert {m: result["a"][m] for m in measures.split()} == expected.means
    assert result.judged_shares["a"] == pytest.approx(2 / 3) == expected.coverage.judged_at_10
    assert not any("held a document twice" in w for w in result.warnings())
    page = tmp_path / "page.html"
    assert command(["report", str(tmp_path / "out"), "-o", str(page), "-q"]) == 0
    assert "SpanRecall@1" in page.read_text()


def test_lists_of_chunks_that_hold_too_few_documents_are_reported():
    corpus = {f"d{i}": "river stone. " * 30 for i in range(10)}
    system = {"a": chunked(splitter="tokens", size=3)}
    for depth, is_cut in ((20, True), (400, False)):
        result = gg.Experiment(
            corpus, {"q": "river"}, {"q": {"d1": 1}}, system, measures="Recall@10", depth=depth
        ).run()
        notes = [w for w in result.warnings() if "a larger depth finds more" in w]
        assert bool(notes) == is_cut
