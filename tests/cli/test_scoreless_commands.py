"""Commands on runs without scores: the numbers of scored twins, and no invented scores."""

import io
import json
import os
import threading

import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError
from goodgain.ranking.top_lists import ranked_lists

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(6)}
ONE = {q: ["c", "a", "zz", "b"] for q in QRELS}
TWO = {q: ["a", "b", "c"] if i else ["c", "b"] for i, q in enumerate(QRELS)}
FORMATS = ("json", "jsonl", "csv", "tsv")
FORMS = (*FORMATS, "scored")


def text_of(run, form):
    rows = [(q, doc, i) for q, docs in run.items() for i, doc in enumerate(docs, 1)]
    if form == "json":
        return json.dumps(run)
    if form == "jsonl":
        return "".join(json.dumps({"query": q, "results": docs}) + "\n" for q, docs in run.items())
    if form == "csv":
        return "query,doc,rank\n" + "".join(f"{q},{d},{i}\n" for q, d, i in rows)
    return "".join(f"{q}\t{d}\t{i}\n" for q, d, i in rows)


def scored(run):
    return {q: {doc: 100.0 - i for i, doc in enumerate(docs)} for q, docs in run.items()}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """qrels.json, and one and two in every format; their scored twins."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for name, run in (("one", ONE), ("two", TWO)):
        for form in FORMS:
            (tmp_path / form).mkdir(exist_ok=True)
            text = json.dumps(scored(run)) if form == "scored" else text_of(run, form)
            suffix = "json" if form == "scored" else form
            (tmp_path / form / f"{name}.{suffix}").write_text(text)
    return tmp_path


def paths(form):
    suffix = "json" if form == "scored" else form
    return [f"{form}/one.{suffix}", f"{form}/two.{suffix}"]


def output(capsys, *arguments, status=0):
    assert command([*arguments]) == status, capsys.readouterr().err
    return capsys.readouterr().out


def stdin(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("form", FORMATS)
def test_compare_and_gate(files, capsys, form):
    for name in ("compare", "gate"):
        results = [
            output(capsys, name, "qrels.json", *paths(each), "-m", "nDCG@3")
            for each in (form, "scored")
        ]
        assert results[0] == results[1]
        assert "+0." in results[0]
    worse = [*paths(form)[::-1], "-m", "nDCG@3"]
    assert command(["gate", "qrels.json", *worse]) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_fuse(files, capsys, form):
    for method in ("rrf", "bordafuse"):
        results = [output(capsys, "fuse", *paths(f), "--method", method) for f in (form, "scored")]
        assert results[0] == results[1]
        assert len(results[0].splitlines()) == sum(len({*ONE[q], *TWO[q]}) for q in QRELS)
    assert command(["fuse", *paths(form), "--method", "wsum"]) == 2
    assert "wsum needs scores, but run 'one' has only ranks" in capsys.readouterr().err


@pytest.mark.parametrize("form", FORMATS)
def test_convert_says_what_it_writes(files, capsys, form):
    for target in ("out.txt", "out.jsonl", "out.parquet"):
        assert command(["convert", paths(form)[0], target, "--kind", "run"]) == 0
        err = capsys.readouterr().err
        assert "the run has no scores: negated ranks are written as scores" in err
        ranked = gg.Run(target).to_dict()
        assert {q: sorted(d, key=d.get, reverse=True) for q, d in ranked.items()} == ONE


@pytest.mark.parametrize("form", FORMATS)
def test_explain_shows_ranks_and_no_scores(files, capsys, form):
    path = paths(form)[0]
    out = output(capsys, "explain", "qrels.json", path, "-m", "nDCG@3", "--query", "q1")
    assert out.splitlines()[2].split()[:3] == ["rank", "document", "judged"]
    assert "-1" not in out
    record = json.loads(
        output(
            capsys, "explain", "qrels.json", path, "-m", "AP", "--query", "q1", "--format", "json"
        )
    )
    assert [(t["rank"], t["doc"], t["score"]) for t in record["terms"]] == [
        (rank, doc, None) for rank, doc in enumerate(ONE["q1"], 1)
    ]
    with_scores = output(
        capsys, "explain", "qrels.json", paths("scored")[0], "-m", "nDCG@3", "--query", "q1"
    )
    assert "score" in with_scores.splitlines()[2]


@pytest.mark.parametrize("form", FORMS)
def test_report(files, capsys, form):
    import numpy as np

    assert command(["compare", "qrels.json", *paths(form), "-m", "RR", "--save", "c.json"]) == 0
    capsys.readouterr()
    assert command(["report", "c.json", "-o", "page.html"]) == 0
    assert "zz" in (files / "page.html").read_text()
    _, lists = ranked_lists({"one": gg.evaluate(QRELS, paths(form)[0], "RR").runs[0]}, 10)
    assert np.isnan(lists["one"].scores).all() == (form != "scored")
    assert lists["one"].counts.tolist() == [4] * len(QRELS)


# --- standard input and pipes ---


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv"])
def test_standard_input(files, capsys, monkeypatch, form):
    for arguments in (
        ["evaluate", "qrels.json", "RUN", "-m", "nDCG@3 AP", "--per-query"],
        ["compare", "qrels.json", "RUN", paths(form)[1], "-m", "RR"],
        ["fuse", "RUN", paths(form)[1]],
        ["explain", "qrels.json", "RUN", "-m", "AP", "--query", "q1"],
    ):
        stdin(monkeypatch, text_of(ONE, form))
        here, there = (
            output(capsys, *[path if a == "RUN" else a for a in arguments])
            for path in ("-", paths(form)[0])
        )
        assert here.replace("stdin", "one").split() == there.split(), arguments
    stdin(monkeypatch, text_of(ONE, form))
    assert command(["convert", "-", "out.txt", "--kind", "run"]) == 0
    assert "negated ranks are written as scores" in capsys.readouterr().err
    assert gg.Run("out.txt").to_dict() == gg.Run(paths(form)[0]).to_dict()


def test_scores_on_standard_input_are_fused(files, capsys, monkeypatch):
    """Whether there are scores is found out before the rows are read."""
    trec = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, v in scored(ONE).items() for d, s in v.items())
    stdin(monkeypatch, trec)
    here = output(capsys, "fuse", "-", paths("scored")[1], "--method", "wsum")
    assert here == output(capsys, "fuse", *paths("scored"), "--method", "wsum")


def test_standard_input_is_not_both_tables(monkeypatch):
    stdin(monkeypatch, "q1 0 a 1\n")
    with pytest.raises(InputError, match="cannot be both the run and the judgments"):
        gg.evaluate("-", "-", "AP")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv"])
def test_a_pipe_is_read_once(files, form):
    os.mkfifo("pipe")
    writer = threading.Thread(
        target=(files / "pipe").write_text, args=(text_of(ONE, form),), daemon=True
    )
    writer.start()
    values = gg.evaluate(QRELS, "pipe", "nDCG@3 AP").runs[0].per_query
    writer.join(timeout=10)
    assert values == gg.evaluate(QRELS, ONE, "nDCG@3 AP").runs[0].per_query
