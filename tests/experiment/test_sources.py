"""Data as it comes: folders of BEIR, MTEB and MS MARCO, ir_datasets, frames; samples of queries."""

from __future__ import annotations

import gzip
import json
from typing import NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError, UsageError
from goodgain.experiment.sampling import sample_queries
from goodgain.experiment.sources import read_data

CORPUS = {f"d{i}": f"text number {i} of the {'river' if i % 2 else 'house'}" for i in range(8)}
QUERIES = {f"q{i}": f"number {i}" for i in range(6)}
TEST = {"q0": {"d0": 2, "d2": 1}, "q1": {"d1": 1}}
DEV = {"q2": {"d2": 1}, "q3": {"d3": 1}}


def find_number(query):
    return [(f"d{query.split()[1]}", 1.0)]


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def judged_rows(qrels):
    return [
        {"query-id": q, "corpus-id": d, "score": g}
        for q, own in qrels.items()
        for d, g in own.items()
    ]


def documents():
    return [{"_id": k, "title": "", "text": v} for k, v in CORPUS.items()]


def queries():
    return [{"_id": k, "text": v} for k, v in QUERIES.items()]


def beir(folder, suffix=".jsonl"):
    lines(folder / f"corpus{suffix}", documents())
    lines(folder / f"queries{suffix}", queries())
    for name, qrels in (("test", TEST), ("dev", DEV)):
        path = folder / "qrels" / f"{name}.tsv"
        path.parent.mkdir(exist_ok=True)
        rows = "".join(
            f"{r['query-id']}\t{r['corpus-id']}\t{r['score']}\n" for r in judged_rows(qrels)
        )
        path.write_text("query-id\tcorpus-id\tscore\n" + rows)
    (folder / "README.md").write_text("# a data set")


def parquet(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def mteb(folder):
    half = len(CORPUS) // 2
    parquet(folder / "corpus" / "corpus-00000-of-00002.parquet", documents()[:half])
    parquet(folder / "corpus" / "corpus-00001-of-00002.parquet", documents()[half:])
    parquet(folder / "queries" / "queries-00000-of-00001.parquet", queries())
    parquet(folder / "data" / "test-00000-of-00001.parquet", judged_rows(TEST))
    parquet(folder / "data" / "dev-00000-of-00001.parquet", judged_rows(DEV))
    (folder / "dataset_info.json").write_text("{}")


def hub_configurations(folder):
    """As the hub stores configurations: default, corpus and queries, each with its split."""
    parquet(folder / "corpus" / "corpus-00000-of-00001.parquet", documents())
    parquet(folder / "queries" / "queries-00000-of-00001.parquet", queries())
    parquet(folder / "qrels" / "test-00000-of-00001.parquet", judged_rows(TEST)[:2])
    parquet(folder / "qrels" / "test-00001-of-00001.parquet", judged_rows(TEST)[2:])
    parquet(folder / "qrels" / "dev-00000-of-00001.parquet", judged_rows(DEV))


def saved_to_disk(folder):
    """As `datasets` saves to disk: Arrow streams and state files."""
    for name, rows in (("corpus", documents()), ("queries", queries()), ("qrels/test", judged_rows(TEST)),
                       ("qrels/dev", judged_rows(DEV))):  # fmt: skip
        path = folder / name / "data-00000-of-00001.arrow"
        path.parent.mkdir(parents=True)
        table = pa.Table.from_pylist(rows)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        (path.parent / "state.json").write_text("{}")


def ms_marco(folder):
    folder.mkdir(exist_ok=True)
    texts = {k: f'{v} "quoted' for k, v in CORPUS.items()}
    (folder / "collection.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in texts.items()))
    for name, qrels in (("test", TEST), ("dev", DEV)):
        own = {q: QUERIES[q] for q in qrels}
        (folder / f"queries.{name}.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in own.items()))
        rows = [f"{q}\t0\t{d}\t{g}\n" for q, docs in qrels.items() for d, g in docs.items()]
        (folder / f"qrels.{name}.tsv").write_text("".join(rows))


LAYOUTS = {
    "beir": beir,
    "beir compressed": lambda folder: beir(folder, ".jsonl.gz"),
    "mteb": mteb,
    "hub": hub_configurations,
    "saved to disk": saved_to_disk,
    "ms marco": ms_marco,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("split", "expected"), [(None, TEST), ("dev", DEV)])
def test_folders(tmp_path, layout, split, expected):
    LAYOUTS[layout](tmp_path)
    experiment = gg.Experiment(
        data=str(tmp_path), split=split, systems={"a": find_number}, measures="RR"
    )
    assert experiment.qrels.to_dict() == expected
    assert list(experiment.queries) == list(expected)
    assert len(experiment.documents) == len(CORPUS)
    assert experiment.documents["d1"].startswith("text number 1 of the river")
    result = experiment.run()
    assert result["RR"] == 1
    name = "dev" if split else "test"
    assert [
        line
        for line in str(result).splitlines()
        if line.startswith("Judgments of '") and name in line
    ]


def test_each_part_of_a_folder_can_be_replaced(tmp_path):
    beir(tmp_path)
    own = {"q5": {"d5": 1}}
    experiment = gg.Experiment(data=tmp_path, qrels=own, systems={"a": find_number}, measures="RR")
    assert experiment.qrels.to_dict() == own and list(experiment.queries) == ["q5"]
    folders = gg.Experiment(
        tmp_path, tmp_path, tmp_path, {"a": find_number}, measures="RR", unjudged="skip"
    )
    assert folders.qrels.to_dict() == TEST


def test_folders_that_cannot_be_read(tmp_path):
    system = {"a": find_number}
    with pytest.raises(InputError, match="folder not found") as error:
        gg.Experiment(data="beir/nfcorpus/test", systems=system)
    assert "ir_datasets:beir/nfcorpus/test" in error.value.hint
    with pytest.raises(InputError, match="no corpus in the folder"):
        gg.Experiment(data=tmp_path, systems=system)
    beir(tmp_path)
    with pytest.raises(InputError, match="has no split 'train': dev, test"):
        gg.Experiment(data=tmp_path, split="train", systems=system)
    (tmp_path / "qrels" / "test.tsv").rename(tmp_path / "qrels" / "train.tsv")
    with pytest.raises(InputError, match="several tables of judgments: dev, train") as error:
        gg.Experiment(data=tmp_path, systems=system)
    assert 'split = "..."' in error.value.hint
    (tmp_path / "qrels" / "train.tsv").unlink()  # one split is left
    assert gg.Experiment(data=tmp_path, systems=system).qrels.to_dict() == DEV
    lines(tmp_path / "collection.jsonl", documents())
    with pytest.raises(InputError, match="several corpora: collection, corpus"):
        gg.Experiment(data=tmp_path, systems=system)
    with pytest.raises(InputError, match="is not a folder"):
        gg.Experiment(data=tmp_path / "corpus.jsonl", systems=system)
    with pytest.raises(UsageError, match="the experiment has no corpus"):
        gg.Experiment(queries=QUERIES, qrels=TEST, systems=system)
    with pytest.raises(UsageError, match="split='dev' needs a folder with splits"):
        gg.Experiment(CORPUS, QUERIES, TEST, system, split="dev", unjudged="skip")
    shard = tmp_path / "twice"
    mteb(shard)
    parquet(shard / "corpus" / "corpus-00002-of-00002.parquet", documents()[:1])
    with pytest.raises(InputError, match="duplicate document id 'd0'"):
        gg.Experiment(data=shard, systems=system)


# --- ir_datasets ---


class Doc(NamedTuple):
    doc_id: str
    title: str
    body: str

    def default_text(self):
        return f"{self.title} {self.body}"


class Query(NamedTuple):
    query_id: str
    text: str


class Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Dataset:
    """What ir_datasets.load returns."""

    def docs_iter(self):
        return (Doc(k, "text", v.removeprefix("text ")) for k, v in CORPUS.items())

    def queries_iter(self):
        return (Query(k, v) for k, v in QUERIES.items())

    def qrels_iter(self):
        return (Judgment(q, d, g, "0") for q, own in TEST.items() for d, g in own.items())


def test_objects_and_iterators_of_ir_datasets():
    dataset = Dataset()
    whole = gg.Experiment(data=dataset, systems={"a": find_number}, measures="RR")
    parts = gg.Experiment(
        dataset.docs_iter(), dataset.queries_iter(), dataset.qrels_iter(), {"a": find_number},
        measures="RR", unjudged="skip",
    )  # fmt: skip
    for experiment in (whole, parts):
        assert experiment.documents == CORPUS
        assert experiment.qrels.to_dict() == TEST
        assert experiment.run()["RR"] == 1
    with pytest.raises(InputError, match="has no judgments"):
        gg.Experiment(data=type("Corpus", (), {"docs_iter": Dataset.docs_iter,
                                               "queries_iter": Dataset.queries_iter})(),
                      systems={"a": find_number})  # fmt: skip


def test_ids_of_ir_datasets(monkeypatch):
    ir_datasets = pytest.importorskip("ir_datasets")
    known = {"mine/test": Dataset()}
    monkeypatch.setattr(ir_datasets, "load", known.__getitem__)
    for name in ("ir_datasets:mine/test", "irds:mine/test"):
        assert gg.Experiment(data=name, systems={"a": find_number}).qrels.to_dict() == TEST
    with pytest.raises(InputError, match="unknown data set 'other' of ir_datasets"):
        gg.Experiment(data="ir_datasets:other", systems={"a": find_number})


def test_a_real_dataset_of_ir_datasets(tmp_path):
    """Its own classes over local files."""
    ir_datasets = pytest.importorskip("ir_datasets")
    ms_marco(tmp_path)
    dataset = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "collection.tsv"),
        queries_tsv=str(tmp_path / "queries.test.tsv"),
        qrels_trec=str(tmp_path / "qrels.test.tsv"),
    )
    experiment = gg.Experiment(data=dataset, systems={"a": find_number}, measures="RR")
    assert experiment.qrels.to_dict() == TEST
    assert experiment.documents["d1"] == 'text number 1 of the river "quoted'


# --- tables ---


def frames(kind):
    corpus = pd.DataFrame({"doc_id": list(CORPUS), "text": list(CORPUS.values())})
    asked = pd.DataFrame({"query_id": list(QUERIES), "text": list(QUERIES.values())})
    qrels = pd.DataFrame(judged_rows(TEST))
    make = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[kind]
    return tuple(map(make, (corpus, asked, qrels)))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames(kind):
    experiment = gg.Experiment(*frames(kind), {"a": find_number}, measures="RR", unjudged="skip")
    assert experiment.documents == CORPUS and experiment.qrels.to_dict() == TEST
    assert experiment.run()["RR"] == 1
    corpus, asked, qrels = frames(kind)
    data = {"corpus": corpus, "queries": asked, "qrels": qrels}
    assert gg.Experiment(data=data, systems={"a": find_number}).qrels.to_dict() == TEST
    with pytest.raises(UsageError, match="the data has no 'qrels'"):
        gg.Experiment(data={"corpus": corpus, "queries": asked}, systems={"a": find_number})


def test_headerless_tables(tmp_path):
    path = tmp_path / "docs.tsv"
    path.write_text('1\ta "text\n2\tmore\u2028text\n')
    data = read_data(corpus=str(path), queries={"q": "x"}, qrels={"q": {"1": 1}})
    assert data.documents == {"1": 'a "text', "2": "more\u2028text"}
    assert data.notes == (f"'{path}' has no header: its columns are read as id, text",)
    path.write_text("D1\thttp://a\tTitle\tBody of it\n")
    data = read_data(corpus=str(path), queries={"q": "x"}, qrels={"q": {"D1": 1}})
    assert data.documents == {"D1": "Title\nBody of it"}
    path.write_text("1\ttext one\n2\n")
    with pytest.raises(InputError, match="expected an id, a tab and a text") as error:
        read_data(corpus=str(path), queries={"q": "x"}, qrels={"q": {"1": 1}})
    assert error.value.where.endswith("docs.tsv:2")
    path.write_text("number\twords\n1\ttext\n")  # a header of other names is not data
    with pytest.raises(InputError, match="no column for the"):
        read_data(corpus=str(path), queries={"q": "x"}, qrels={"q": {"1": 1}})


def test_separators_inside_json_lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "1", "text": "one\u2028two\x85three"}\n', encoding="utf-8")
    data = read_data(corpus=str(path), queries={"q": "x"}, qrels={"q": {"1": 1}})
    assert data.documents == {"1": "one\u2028two\x85three"}


# --- samples ---


def test_samples_depend_on_ids_and_seed_only():
    queries = [f"q{i}" for i in range(500)]
    sample = sample_queries(queries, 50, 0)
    assert len(sample) == len(set(sample)) == 50
    assert set(sample_queries(reversed(queries), 50, 0)) == set(sample)
    assert sample == [q for q in queries if q in set(sample)]
    assert set(sample) <= set(sample_queries(queries, 80, 0))
    assert set(sample_queries(queries, 50, 1)) != set(sample)
    assert sample_queries(queries, 900, 0) == queries
    for bad in (0, -1, 1.5, True):
        with pytest.raises(UsageError, match="sample must be a positive number"):
            sample_queries(queries, bad, 0)
    # every query has the same chance: 400 seeds, 10 of 20 drawn
    counts = dict.fromkeys(queries[:20], 0)
    for seed in range(400):
        for query in sample_queries(queries[:20], 10, seed):
            counts[query] += 1
    assert all(150 < n < 250 for n in counts.values())


def test_a_sample_is_said_and_nothing_else_counts(tmp_path):
    qrels = {q: {f"d{i}": 1} for i, q in enumerate(QUERIES)}
    experiment = gg.Experiment(CORPUS, QUERIES, qrels, {"a": find_number, "b": find_number},
                               measures="RR", sample=4, sample_seed=7)  # fmt: skip
    result = experiment.run(tmp_path / "out")
    assert len(experiment.queries) == 4 == len(experiment.qrels)
    assert result["a"]["RR"] == 1  # queries outside the sample are not empty lists
    assert "A sample of 4 of 6 judged queries (seed 7)." in str(result)
    assert result.settings["data_notes"] == ["a sample of 4 of 6 judged queries (seed 7)"]


def test_toml_with_a_folder(tmp_path, capsys):
    beir(tmp_path / "data set")
    (tmp_path / "my_search.py").write_text(
        "def find(query):\n    return [(f'd{query.split()[1]}', 1.0)]\n"
    )
    text = 'data = "data set"\nsplit = "dev"\nsample = 1\nmeasures = "RR"\n'
    text += '[systems.a]\nretriever = "my_search:find"\n[systems.b]\nretriever = "my_search:find"\n'
    file = tmp_path / "test.toml"
    file.write_text(text)
    assert command(["experiment", str(file), "-q"]) == 0
    out = capsys.readouterr().out
    assert "A sample of 1 of 2 judged queries (seed 0)." in out and "qrels/dev.tsv" in out
    file.write_text(text.replace("data set", "data sat"))
    assert command(["experiment", str(file), "--check"]) == 2
    assert "ir_datasets:data sat" in capsys.readouterr().err
    file.write_text(text.replace('data = "data set"', 'corpus = "data set"'))
    assert command(["experiment", str(file), "--check"]) == 2
    assert "the experiment has no 'queries'" in capsys.readouterr().err
    file.write_text(text.replace('data = "data set"', "data = 3"))
    assert command(["experiment", str(file), "--check"]) == 2
    assert "'data' must be a path" in capsys.readouterr().err


# --- what is judged ---


def test_judged_share_and_what_only_one_system_returned(tmp_path, capsys):
    qrels = {"q0": {"d0": 1}, "q1": {"d1": 1}}
    asked = {q: QUERIES[q] for q in qrels}
    systems = {
        "a": lambda query: [("d0", 4.0), ("d1", 3.0), ("d6", 2.0)],
        "b": lambda query: [("d0", 4.0), ("d1", 3.0), ("d7", 2.0), ("d5", 1.0)],
    }
    experiment = gg.Experiment(CORPUS, asked, qrels, systems, measures="RR")
    result = experiment.run(tmp_path / "out")
    assert result.judged_shares == {"a": pytest.approx(1 / 3), "b": pytest.approx(1 / 4)}
    expected = gg.evaluate(
        qrels, {n: {q: dict(s(q)) for q in asked} for n, s in systems.items()}, "RR"
    )
    for run in expected.runs:
        assert result.judged_shares[run.name] == pytest.approx(run.coverage.judged_at_10)
    once = {(query, doc, system) for query, doc, system, _ in result.unjudged}
    assert once == {(q, d, s) for q in asked for d, s in (("d6", "a"), ("d7", "b"), ("d5", "b"))}
    text = str(result)
    assert "judged@10" in text and "33 %" in text and "25 %" in text
    assert "6 documents in the first 10 of one system only are not judged" in text
    assert f"goodgain judge labels.db --pairs {tmp_path / 'out' / 'judge.jsonl'}" in text
    rows = json.loads(result.render("json"))
    assert rows[0]["judged_at_10"] == pytest.approx(1 / 4)
    assert rows[0]["baseline_judged_at_10"] == pytest.approx(1 / 3)
    again = gg.ExperimentResult.open(tmp_path / "out")
    assert str(again) == text
    # the file is what `goodgain judge` takes
    from goodgain.judging.items import file_items

    items = file_items(str(tmp_path / "out" / "judge.jsonl"))
    assert {(i.query, i.doc) for i in items} == {(q, d) for q, d, _ in once}
    assert all(i.text == CORPUS[i.doc] and i.question == QUERIES[i.query] for i in items)


def test_the_judged_share_stands_beside_its_own_system():
    """Rows are ordered by rank, not as the systems were named."""
    qrels = {q: {f"d{i}": 1} for i, q in enumerate(QUERIES)}
    systems = {
        "worst": lambda query: [("d7", 2.0), ("d6", 1.0)],
        "best": find_number,
        "middle": lambda query: [("d7", 2.0), find_number(query)[0]],
    }
    result = gg.Experiment(CORPUS, QUERIES, qrels, systems, measures="RR").run()
    rows = {line.split()[0]: line.split() for line in str(result).splitlines() if " %" in line}
    assert {name: row[-2] for name, row in rows.items()} == {
        "worst": "0",
        "best": "100",
        "middle": "50",
    }


def test_relevant_documents_outside_the_corpus_are_reported():
    qrels = {"q0": {"d0": 1, "gone": 1, "junk": 0}}
    result = gg.Experiment(
        CORPUS, {"q0": "number 0"}, qrels, {"a": find_number}, measures="R"
    ).run()
    assert (
        "1 relevant judgments are of documents that are not in the corpus, such as 'gone': no system can "
        "return them"
    ) in result.warnings()
