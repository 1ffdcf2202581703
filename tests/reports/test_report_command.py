"""`goodgain report` and `--report`: from files to a page, written atomically."""

from __future__ import annotations

import json
import re

import pytest
from page_results import calibration, evaluation, judged

from goodgain.cli import run
from goodgain.reports.page import page_html
from goodgain.reports.sections import ORDER


def blocks(text: str) -> dict[str, object]:
    matches = re.findall(
        r'<script type="application/json" id="data-([^"]+)">(.*?)</script>', text, re.S
    )
    return {key: json.loads(value) for key, value in matches}


def sections(path) -> list[str]:
    return [s["key"] for s in blocks(path.read_text())["page"]["sections"]]


def table(path, key: str) -> list[list[object]]:
    for section in blocks(path.read_text())["page"]["sections"]:
        for element in section["elements"]:
            if element.get("key") == key and element["kind"] == "table":
                return element["rows"]
    raise AssertionError(f"no table {key}")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments, three runs, and texts, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    qrels = judged()
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items())
    )
    for scores in evaluation().runs:
        _, table_ = scores.tables()
        lines = [f"{q} Q0 {d} 0 {s!r} t\n" for q, d, s in zip(*table_.rows(), strict=True)]
        (tmp_path / f"{scores.name}.run").write_text("".join(lines))
    rows = "".join(f"q{i}\tquestion {i}\t{('short', 'long')[i % 2]}\n" for i in range(40))
    (tmp_path / "queries.tsv").write_text("query_id\ttext\tkind\n" + rows)
    (tmp_path / "documents.tsv").write_text(
        "id\ttext\n" + "".join(f"d{i}\ttext {i}\n" for i in range(600))
    )
    return tmp_path


RUNS = ("bm25.run", "dense.run", "hybrid.run")


def test_from_saved_results(files, capsys):
    assert run(["evaluate", "qrels.txt", *RUNS, "--save", "scores.json", "-o", "x.txt"]) == 0
    command = ["report", "scores.json", "--baseline", "bm25", "--queries", "queries.tsv",
               "--documents", "documents.tsv", "-o", "page.html"]  # fmt: skip
    assert run(command) == 0
    assert re.search(r"wrote page.html \(\d\.\d MB\)", capsys.readouterr().err)
    page = blocks((files / "page.html").read_text())
    assert page["queries"]["texts"][3] == "question 3"
    assert page["lists"]["titles"][0].startswith("text ")
    assert len(page["lists"]["ids"]) == len(page["lists"]["titles"])
    inputs = table(files / "page.html", "inputs")
    assert [row[0] for row in inputs] == ["qrels", "run", "run", "run"]
    assert all(len(row[5]) == 64 for row in inputs)
    text = (files / "page.html").read_text()
    assert "goodgain report scores.json --baseline bm25" in text


def test_from_the_inputs_of_a_comparison(files):
    command = ["compare", "qrels.txt", *RUNS, "--by", "kind", "--queries", "queries.tsv",
               "--report", "page.html", "--save", "saved.json", "-q", "-o", "x.txt"]  # fmt: skip
    assert run(command) == 0
    keys = ["summary", "differences", "queries", "groups", "labels", "provenance"]
    assert sections(files / "page.html") == keys
    page = blocks((files / "page.html").read_text())
    assert page["queries"]["group"]["name"] == "kind" and page["lists"] is not None
    assert page["queries"]["texts"][0] == "question 0"
    # A saved comparison alone has no single queries; with the evaluation it has.
    run(
        [
            "evaluate",
            "qrels.txt",
            *RUNS,
            "-m",
            "nDCG@10 AP RR",
            "--save",
            "scores.json",
            "-o",
            "x.txt",
        ]
    )
    assert run(["report", "saved.json", "-q", "-o", "alone.html"]) == 0
    assert "does not include the scores of each query" in (files / "alone.html").read_text()
    assert run(["report", "saved.json", "scores.json", "-q", "-o", "both.html"]) == 0
    both = blocks((files / "both.html").read_text())
    assert both["queries"]["values"] == page["queries"]["values"]


def test_evaluate_writes_its_page_or_nothing(files, capsys):
    command = ["evaluate", "qrels.txt", "bm25.run", "-m", "nDCG@10"]
    assert run([*command, "--report", "page.html"]) == 0
    assert sections(files / "page.html") == ["summary", "queries", "labels", "provenance"]
    assert run([*command, "--save", "s.json", "--report", "nowhere/page.html"]) == 2
    assert not (files / "s.json").exists()
    assert "cannot write 'nowhere/page.html'" in capsys.readouterr().err


def test_bounds_are_reported(files):
    command = ["evaluate", "qrels.txt", "dense.run", "-m", "nDCG@10", "--policy", "unjudged=bounds"]
    assert run([*command, "--report", "page.html", "--save", "s.json", "-o", "x.txt"]) == 0
    ((name, measure, value, lower, upper),) = table(files / "page.html", "bounds")
    assert (name, measure) == ("dense", "nDCG@10") and lower <= value < upper


def test_results_of_other_systems_are_not_mixed(files, capsys):
    run(["compare", "qrels.txt", "bm25.run", "dense.run", "--save", "c.json", "-o", "x.txt"])
    run(["evaluate", "qrels.txt", "bm25.run", "--save", "e.json", "-o", "x.txt"])
    assert run(["report", "c.json", "e.json", "-o", "page.html"]) == 2
    assert "the comparison has system 'dense'" in capsys.readouterr().err


def test_scores_made_elsewhere(files):
    lines = [f"{s},q{i},{v + i % 5 / 10}\n" for s, v in (("a", 0.1), ("b", 0.3)) for i in range(20)]
    (files / "scores.csv").write_text("system,query,nDCG@10\n" + "".join(lines))
    assert run(["compare", "--scores", "scores.csv", "--report", "page.html", "-q", "-o", "x"]) == 0
    page = blocks((files / "page.html").read_text())
    assert page["lists"] is None and len(page["queries"]["units"]) == 20


def test_calibrate_and_trace(files):
    labels = {q: dict(list(docs.items())[:9]) for q, docs in judged().items()}
    (files / "labels.json").write_text(json.dumps(labels))
    assert run(["calibrate", "qrels.txt", "labels.json", "--report", "page.html", "-o", "x"]) == 0
    assert sections(files / "page.html") == ["summary", "labels", "provenance"]
    trace = {"conversation": "c", "turns": [{"user": "u", "iterations": [{"searches": [
        {"query": "x", "results": [{"id": "a", "gain": 3}, {"id": "b", "gain": 0}]}]}]}]}  # fmt: skip
    (files / "traces.jsonl").write_text(json.dumps(trace) + "\n")
    assert (
        run(["trace", "traces.jsonl", "--report", "trace.html", "--save", "t.json", "-o", "x"]) == 0
    )
    assert "provenance" in sections(files / "trace.html")
    assert run(["report", "t.json", "-q", "-o", "again.html"]) == 0
    calibration().save("c.json")
    assert run(["report", "c.json", "t.json", "-q", "-o", "both.html"]) == 0
    assert {"agentic", "labels", "provenance"} <= set(sections(files / "both.html"))
    opening = (files / "both.html").read_text().partition('<section id="opening"')[2]
    assert "a mean good gain of" in opening and "The judge agrees with people" in opening


def test_an_experiment_and_its_folder(files):
    (files / "experiment.toml").write_text(
        'corpus = "corpus.jsonl"\nqueries = "q.tsv"\nqrels = "judged.txt"\n'
        '[systems.keyword]\nretriever = "bm25"\n[systems.knn]\nretriever = "knn"\n'
    )
    words = ["apple pie", "apple tree", "pear tree", "pear pie", "plum jam"]
    (files / "corpus.jsonl").write_text(
        "".join(
            json.dumps({"id": f"d{i}", "text": f"{w} number {i}"}) + "\n"
            for i, w in enumerate(words * 6)
        )
    )
    (files / "q.tsv").write_text(
        "id\ttext\n" + "".join(f"q{i}\t{w}\n" for i, w in enumerate(words))
    )
    (files / "judged.txt").write_text(
        "".join(f"q{i} 0 d{i + 5 * k} 1\n" for i in range(5) for k in range(3))
    )
    command = ["experiment", "experiment.toml", "--report", "page.html", "-q", "-o", "x.txt"]
    assert run(command) == 0
    keys = sections(files / "page.html")
    assert keys == [
        "summary",
        "differences",
        "queries",
        "tradeoffs",
        "latency",
        "labels",
        "provenance",
    ]
    page = blocks((files / "page.html").read_text())
    assert page["queries"]["texts"][0] == "apple pie"
    assert any("apple pie number" in title for title in page["lists"]["titles"])
    assert {row[0] for row in table(files / "page.html", "timings")} == {"keyword", "knn"}
    (files / "judged.txt").unlink()  # the folder has what the page needs
    (files / "corpus.jsonl").unlink()
    assert run(["report", "experiment", "-q", "-o", "folder.html"]) == 0
    again = blocks((files / "folder.html").read_text())
    assert again["queries"]["texts"] == page["queries"]["texts"]
    assert again["lists"]["titles"] == page["lists"]["titles"]
    (files / "other.txt").write_text("q0 0 d1 1\n")
    command = ["report", "experiment", "--qrels", "other.txt", "-q", "-o", "other.html"]
    assert run(command) == 0
    assert blocks((files / "other.html").read_text())["queries"]["units"] == ["q0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "file not found: 'nothing.json'"),
        (["qrels.txt"], "JSON"),
        (["queries.json"], "not a saved result"),
        (["scores.json", "--baseline", "x"], "unknown baseline 'x'"),
        (["scores.json", "--qrels", "qrels.txt"], "--qrels requires an experiment's folder"),
        (["scores.json", "--queries", "none.tsv"], "file not found: 'none.tsv'"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(files, capsys, arguments, message):
    (files / "queries.json").write_text('{"a": 1}')
    run(["evaluate", "qrels.txt", "bm25.run", "dense.run", "--save", "scores.json", "-o", "x.txt"])
    capsys.readouterr()
    assert run(["report", *arguments, "-o", "page.html"]) == 2
    error = capsys.readouterr().err
    assert message in error and "Traceback" not in error
    assert not (files / "page.html").exists()


def test_a_page_of_no_sections_is_a_page():
    assert "<main" in page_html("Empty", [])
    assert len(set(ORDER)) == len(ORDER)
