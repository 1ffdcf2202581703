"""`goodgain experiment` and its TOML file; `goodgain demo`."""

from __future__ import annotations

import json
import re
import sys
import time
from html import unescape
from pathlib import Path

import pytest

from goodgain.cli import run
from goodgain.experiment import read_experiment

FILE = """
corpus = "corpus.jsonl"
queries = "queries.tsv"
qrels = "qrels.txt"
baseline = "keyword"
measures = "MRR DR@20"
by = "kind"
seeds = [0, 1]
repeats = 2

[systems.keyword]
retriever = "bm25"
k1 = 1.2

[systems.knn]
retriever = "knn"

[systems.hybrid]
retriever = "hybrid"
of = ["keyword", "knn"]

[systems.graph]
retriever = "graph"
of = "knn"
edges = "edges.csv"

[systems.swarm]
retriever = "swarm"
of = "knn"

[systems.mine]
retriever = "own_search:search"

[systems.reranked]
retriever = "rerank"
of = "keyword"
scorer = "own_search:score"
"""


@pytest.fixture
def folder(tmp_path):
    documents = [
        {"id": f"d{i}", "title": f"word{i}", "text": f"about topic{i % 5}"} for i in range(40)
    ]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    rows = "".join(f"q{i}\ttopic{i % 5} word{i}\t{'odd' if i % 2 else 'even'}\n" for i in range(10))
    (tmp_path / "queries.tsv").write_text("query_id\ttext\tkind\n" + rows)
    judged = [f"q{i} 0 d{d} 1\n" for i in range(10) for d in range(40) if d % 5 == i % 5]
    (tmp_path / "qrels.txt").write_text("".join(judged))
    (tmp_path / "edges.csv").write_text("source,target\nd0,d5\nd5,d10\n")
    (tmp_path / "own_search.py").write_text(
        "def search(query):\n    return [('d0', 1.0)]\n\n"
        "def score(query, texts):\n    return [len(t) for t in texts]\n"
    )
    (tmp_path / "test.toml").write_text(FILE)
    yield tmp_path
    sys.modules.pop("own_search", None)


def test_the_command(folder, capsys):
    assert run(["experiment", str(folder / "test.toml"), "-q"]) == 0
    out = capsys.readouterr().out
    for word in (
        "keyword (baseline)",
        "swarm",
        "MRR",
        "DR@20",
        "queries/s",
        "even: 5 queries",
        "Holm",
    ):
        assert word in out
    assert (folder / "test" / "runs" / "swarm.seed1.run").exists()

    assert run(["experiment", str(folder / "test"), "-q"]) == 0  # opened again: nothing runs
    assert capsys.readouterr().out == out
    assert (
        run(["experiment", str(folder / "test"), "-q", "--format", "json", "--baseline", "mine"])
        == 0
    )
    rows = json.loads(capsys.readouterr().out)
    assert {row["baseline"] for row in rows} == {"mine"}
    assert run(["experiment", str(folder / "test"), "-q", "-m", "AP", "--format", "csv"]) == 0
    assert ",AP," in capsys.readouterr().out
    assert run(["experiment", str(folder / "test"), "-q", "--format", "csv", "--per-query"]) == 0
    assert "swarm (seed 1),q3,MRR," in capsys.readouterr().out
    for form in ("markdown", "latex"):
        assert run(["experiment", str(folder / "test"), "-q", "--format", form]) == 0
        assert "keyword" in capsys.readouterr().out
    assert run(["experiment", str(folder / "test"), "-q", "--details"]) == 0
    assert "seeds: standard deviation" in capsys.readouterr().out


def test_check_runs_nothing(folder, capsys):
    assert run(["experiment", str(folder / "test.toml"), "--check"]) == 0
    assert "7 systems, 40 documents, 10 queries: ready to run" in capsys.readouterr().err
    assert not (folder / "test").exists()


def test_parameters_reach_the_retrievers(folder):
    experiment, where = read_experiment(folder / "test.toml")
    assert experiment.systems["keyword"].k1 == 1.2
    assert experiment.systems["graph"].edges == str(folder / "edges.csv")
    assert where == folder / "test"
    assert next(iter(experiment.documents.values())) == "word0\nabout topic0"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = [0, 1]", "seeds = [0, 1", "invalid TOML"),
        ('retriever = "bm25"', 'retriever = "bm26"', "unknown retriever 'bm26'"),
        ("k1 = 1.2", "kk = 1.2", "unknown parameter 'kk'"),
        ("repeats = 2", "repeat = 2", "unknown key 'repeat'"),
        ("measures =", "metrics =", "use measures="),
        ("corpus.jsonl", "nowhere.jsonl", "file not found"),
        ('qrels = "qrels.txt"', "", "the experiment has no 'qrels'"),
        ('of = ["keyword", "knn"]', 'of = ["keyword", "nn"]', "unknown system 'nn'"),
        (
            "own_search:search",
            "own_searches:search",
            "module 'own_searches' of",
        ),
        ("own_search:search", "own_search:find", "module 'own_search' has no attribute 'find'"),
        ("edges.csv", "edge.csv", "file not found"),
        ('baseline = "keyword"', 'baseline = "bm25"', "unknown baseline 'bm25'"),
        ('by = "kind"', 'by = "type"', "column 'type' not found"),
        ("seeds = [0, 1]", "seeds = 3", "wrong type"),
    ],
)
def test_errors_come_first(folder, capsys, old, new, message):
    file = folder / "test.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    assert run(["experiment", str(file)]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    assert not (folder / "test").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", "", "the file is empty"),
        (
            "corpus.jsonl",
            '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n',
            "duplicate document id 'a'",
        ),
        ("queries.tsv", "query_id\ttext\tkind\n", "there are no queries"),
        ("queries.tsv", "query_id\ttext\tkind\nother\tx\ty\n", "no query has judgments"),
        ("queries.tsv", "number\twords\nq1\tx\n", "no column for the text of a query"),
    ],
)
def test_bad_data_comes_first(folder, capsys, name, text, message):
    (folder / name).write_text(text)
    assert run(["experiment", str(folder / "test.toml")]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "test").exists()


def test_a_folder_without_an_experiment(tmp_path, capsys):
    assert run(["experiment", str(tmp_path)]) == 2
    assert "is not the folder of an experiment" in capsys.readouterr().err


def words_of(text: str) -> str:
    """The words of an output, without numbers, stars and bars, which depend on the machine and the width."""
    return " ".join(word for word in text.split() if not re.search(r"[\d│─·●█░]", word))


def test_the_words_of_an_output():
    assert (
        words_of("hybrid  0.5007*  16 ms\n  0 │··──●── +0.1\nknown 870 ███ 100 %")
        == "hybrid ms known %"
    )


@pytest.mark.slow
def test_the_demo(tmp_path, capsys):
    start = time.process_time()
    page = tmp_path / "page.html"
    assert run(["demo", "-q", "--folder", str(tmp_path / "demo"), "--report", str(page)]) == 0
    assert time.process_time() - start < 60  # other work on the machine does not count
    out = capsys.readouterr().out
    for word in ("graph (baseline)", "keyword", "knn", "hybrid", "swarm"):
        assert word in out
    picture = (Path(__file__).parents[2] / "docs" / "demo.svg").read_text(encoding="utf-8")
    lines = [unescape(line) for line in re.findall(r"<text[^>]*>([^<]*)", picture)]
    for name in ("verdict", "by how much", "system", "known", "returned", "cited"):
        pictured = {words_of(line) for line in lines if line.replace("\xa0", " ").startswith(name)}
        printed = {words_of(line) for line in out.splitlines() if line.startswith(name)}
        assert pictured & printed, f"renew the README's picture: make docs ({name})"
    # In one look: who is better, by how much, at what cost, by the primary measures only.
    verdict, numbers = out.splitlines()[:2]
    assert verdict.startswith("verdict") and "hybrid is better than graph" in verdict
    assert "95% interval +0.0" in numbers and "(rel=" not in out
    assert re.search(r"^cost +Latency .* (faster|slower)", out, re.M)
    header = next(line.split() for line in out.splitlines() if line.startswith("system"))
    assert header == ["system", "rank", "MRR", "DR@20", "Latency", "↓", "judged@10"]
    assert re.search(r"^graph \(baseline\) .* 81 %$", out, re.M)
    legend = " ".join(out.split())
    assert "8 tests of the primary measures, apart from 4 of time and cost" in legend
    steps = dict(re.findall(r"^(known|returned|opened|cited) +([\d,]+) ", out, re.M))
    counts = [int(steps[name]) for name in ("known", "returned", "opened", "cited")]
    assert counts == sorted(counts, reverse=True) and counts[-1] > 50
    written = page.read_text()
    for group in ("simple (", "medium (4-6)", "complex (", "Exploratory measures"):
        assert group in written
    assert f"Of {counts[0]:,} good results known, {counts[1]:,} (" in written
    capsys.readouterr()
    traces, labels = (str(tmp_path / "demo" / name) for name in ("traces.jsonl", "qrels.jsonl"))
    assert run(["trace", traces, "--labels", labels, "-q", "--format", "csv"]) == 0
    assert "agent,5,CG," in capsys.readouterr().out


def test_the_agent_opens_what_it_reads_and_cites_what_matches():
    from goodgain.demo.agent import Agent

    documents = {
        "a": "zebra stripes",
        "b": "stripes of grass",
        "c": "nothing",
        "d": "grass zebra food",
    }
    ranking = [(doc, 1.0) for doc in "cabd"]
    trace = Agent(lambda query: ranking, documents, read=2, cited=2).answer("c1", "zebra food")
    (turn,) = trace["turns"]
    assert [[o["id"] for o in i.get("opens", [])] for i in turn["iterations"]] == [["c", "a"], []]
    assert [c["id"] for c in turn["citations"]] == ["a", "c"]
    assert "See a, c." in turn["answer"]
    empty = Agent(lambda query: [], documents).answer("c2", "zebra")["turns"][0]
    assert empty["citations"] == [] and empty["answer"] == ""


def test_the_agent_refines_its_query_with_words_it_read():
    from goodgain.demo.agent import Agent

    documents = {
        "a": "zebra stripes stripes stripes stripes and grass",
        "b": "stripes of a flag",
        "c": "grass of a field",
        "d": "nothing at all",
    }

    def search(query):
        scores = {d: sum(t.split().count(w) for w in query.split()) for d, t in documents.items()}
        return sorted(
            ((d, s) for d, s in scores.items() if s), key=lambda pair: (-pair[1], pair[0])
        )

    trace = Agent(search, documents, read=1, terms=1).answer("c1", "zebra")
    queries = [i["searches"][0]["query"] for i in trace["turns"][0]["iterations"]]
    assert queries[0] == "zebra"
    assert queries[1] == "zebra stripes"
    documents_by_search = [
        {r["id"] for r in i["searches"][0]["results"]} for i in trace["turns"][0]["iterations"]
    ]
    assert documents_by_search[0] == {"a"}
    assert documents_by_search[1] == {"a", "b"}
    assert trace == {
        **Agent(search, documents, read=1, terms=1).answer("c1", "zebra"),
        "turns": trace["turns"],
    }
