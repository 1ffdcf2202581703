"""Cut-offs in tokens: against lists that are cut by hand, and every source of lengths."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError, MeasureError, UsageError
from goodgain.measures.grammar import parse

DOCUMENTS = {f"d{i}": "word " * i for i in range(1, 9)}  # dN has N tokens
MEASURES = ["nDCG", "R", "RR", "AP", "P", "Hit", "DCG", "ERR", "RBP", "Judged", "NumRet"]


@given(
    st.lists(st.permutations(sorted(DOCUMENTS)), min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(sorted(DOCUMENTS)), st.integers(0, 3), min_size=1),
    st.integers(1, 40),
)
def test_a_budget_measures_the_results_that_fit(rankings, gains, budget):
    """The first result that does not fit ends the list."""
    qrels = {f"q{i}": gains for i in range(len(rankings))}
    run, cut = {}, {}
    for i, docs in enumerate(rankings):
        run[f"q{i}"] = {doc: float(-rank) for rank, doc in enumerate(docs)}
        total, fitting = 0, []
        for doc in docs:
            total += int(doc[1:])
            if total > budget:
                break
            fitting.append(doc)
        cut[f"q{i}"] = fitting
    labels = [f"{name}@{budget}tokens" for name in MEASURES]
    result = gg.evaluate(qrels, run, [*labels, "nDCG@3"], documents=DOCUMENTS).runs[0]
    expected = gg.evaluate(qrels, cut, MEASURES).runs[0]
    for name, label in zip(MEASURES, labels, strict=True):
        assert result.column(label) == pytest.approx(expected.column(name), nan_ok=True), label
    assert result["nDCG@3"] == gg.evaluate(qrels, run, "nDCG@3")["nDCG@3"]


def test_grammar():
    for text in (
        "nDCG@2000tokens",
        "nDCG(gain=exp)@500tokens",
        "R(rel=2)@1tokens",
        "SpanRecall@90tokens",
    ):
        measure = parse(text)
        assert str(measure) == text and parse(str(measure)) == measure
        assert measure.cutoff is None and measure.budget == int(
            text.split("@")[1].removesuffix("tokens")
        )
    assert str(parse("Recall@20tokens")) == "Recall@20tokens"  # an alias stays as typed
    assert parse("nDCG@1token").budget == 1
    assert parse("nDCG") @ "2000tokens" == parse("nDCG@2000tokens")
    assert parse("nDCG@2000tokens") != parse("nDCG@2000")
    assert not parse("nDCG@2000tokens").same_values(parse("nDCG"))
    for bad in (
        "Latency@20tokens",
        "IPrec@20tokens",
        "R_cap@20tokens",
        "nDCG@0tokens",
        "nDCG@1.5tokens",
    ):
        with pytest.raises(MeasureError):
            parse(bad)
    with pytest.raises(MeasureError, match="invalid cut-off"):
        parse("nDCG") @ "many"


def test_lengths_come_from_the_run_before_the_documents(tmp_path):
    """A column tokens, else a column text, else the documents."""
    qrels = {"q": {"b": 1}}
    rows = [{"query": "q", "doc": "a", "score": 2.0}, {"query": "q", "doc": "b", "score": 1.0}]
    small = {"a": "one", "b": "one"}
    measure = "RR@5tokens"
    assert gg.evaluate(qrels, pd.DataFrame(rows), measure, documents=small)[measure] == 0.5
    stated = [{**row, "tokens": 3} for row in rows]
    written = [{**row, "text": "w " * 3} for row in rows]
    for number, table in enumerate((stated, written)):
        frame = pd.DataFrame(table)
        files = [tmp_path / f"{number}.{form}" for form in ("jsonl", "csv", "parquet")]
        files[0].write_text("".join(json.dumps(row) + "\n" for row in table))
        frame.to_csv(files[1], index=False)
        frame.to_parquet(files[2])
        for source in (frame, table, *map(str, files)):
            assert gg.evaluate(qrels, source, measure)[measure] == 0, source
            assert gg.evaluate(qrels, source, "RR@6tokens")["RR@6tokens"] == 0.5, source
            # what the run says wins over the documents
            assert gg.evaluate(qrels, source, measure, documents=small)[measure] == 0, source
            both = gg.evaluate(qrels, {"x": source, "y": {"q": ["b"]}}, measure, documents=small)
            assert (both["x"][measure], both["y"][measure]) == (0, 1)


def test_unknown_lengths_are_refused_with_a_hint():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    with pytest.raises(
        UsageError, match="the length of the result 'a' of query 'q' is not known"
    ) as error:
        gg.evaluate(qrels, run, "nDCG@20tokens")
    assert "documents=" in error.value.hint and "tokens" in error.value.hint
    with pytest.raises(UsageError, match="the length of the result 'a'"):
        gg.evaluate(qrels, run, "nDCG@20tokens", documents={"b": "text"})
    with pytest.raises(UsageError, match="has no order"):
        gg.evaluate(qrels, run, "nDCG@20tokens", documents={"a": "x"}, ties="average")
    with pytest.raises(UsageError, match="unknown tokenizer 'gpt'"):
        gg.evaluate(qrels, run, "nDCG@20tokens", documents={"a": "x"}, tokenizer="gpt")
    with pytest.raises(MeasureError, match="needs the length of every result"):
        gg.Evaluator(qrels, "nDCG@20tokens")
    bad = [{"query": "q", "doc": "a", "score": 1.0, "tokens": "many"}]
    with pytest.raises(InputError, match="'many' is not a number of tokens"):
        gg.evaluate(qrels, bad, "nDCG@20tokens")


def test_a_first_result_above_the_budget_leaves_nothing_and_is_reported():
    qrels = {"q1": {"d8": 1}, "q2": {"d1": 1}}
    run = {"q1": {"d8": 1.0}, "q2": {"d1": 1.0}}
    result = gg.evaluate(qrels, run, "RR@5tokens RR", documents=DOCUMENTS)
    assert result.runs[0].means == {"RR@5tokens": 0.5, "RR": 1}
    assert result.warnings() == [
        "run: for 1 of 2 queries the first result has more than 5 tokens, so that nothing fits"
    ]
    skipping = gg.evaluate(qrels, run, "RR@5tokens", documents=DOCUMENTS, missing="skip")
    assert skipping["RR@5tokens"] == 0.5  # it answered, so it is not missing


def test_policies_hold_for_the_list_that_is_left():
    qrels = {"q": {"d3": 1}}
    run = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}  # ties: larger ids first
    assert gg.evaluate(qrels, run, "RR@3tokens", documents=DOCUMENTS)["RR@3tokens"] == 1
    assert (
        gg.evaluate(qrels, run, "RR@3tokens", documents=DOCUMENTS, ties="input")["RR@3tokens"] == 0
    )
    low = {"q": {"d2": 2.0, "d3": 1.0}}
    assert (
        gg.evaluate(qrels, low, "RR@5tokens", documents=DOCUMENTS, unjudged="remove")["RR@5tokens"]
        == 1
    )
    assert (
        gg.evaluate(qrels, low, "RR@4tokens", documents=DOCUMENTS, unjudged="remove")["RR@4tokens"]
        == 0
    )
    # chunks of one document are one result, but all of them fill the context
    chunks = {"q": {"d3#0-5": 3.0, "d2#0-5": 2.0, "d2#5-10": 1.0}}
    judged = {"q": {"d2": 1}}
    for budget, expected in ((1, 0), (2, 0.5)):
        label = f"RR@{budget}tokens"
        assert (
            gg.evaluate(judged, chunks, label, documents=DOCUMENTS, identity="doc#chunk")[label]
            == expected
        )


def test_budgets_over_judged_spans():
    documents = {"d": "alpha beta gamma delta epsilon zeta"}
    judged = [{"query": "q", "doc": "d", "quote": "gamma delta"}]
    chunks = [
        {"query": "q", "doc": "d", "start": 0, "end": 11},
        {"query": "q", "doc": "d", "start": 11, "end": 23},
    ]
    measures = "SpanRecall@3tokens SpanRecall@4tokens RR@3tokens RR@4tokens"
    means = gg.evaluate(judged, chunks, measures, documents=documents).runs[0].means
    assert means == {
        "SpanRecall@3tokens": 0,
        "SpanRecall@4tokens": 1,
        "RR@3tokens": 0,
        "RR@4tokens": 0.5,
    }
    with pytest.raises(UsageError, match="is not known in tokens"):
        gg.evaluate([{"query": "q", "doc": "d", "start": 0, "end": 3}], chunks, "RR@3tokens")


def test_the_command_and_saved_results(tmp_path, capsys):
    (tmp_path / "qrels.txt").write_text("q 0 d2 1\n")
    (tmp_path / "run.txt").write_text("q Q0 d3 1 2.0 t\nq Q0 d2 2 1.0 t\n")
    (tmp_path / "docs.jsonl").write_text(
        "".join(json.dumps({"id": k, "text": v}) + "\n" for k, v in DOCUMENTS.items())
    )
    paths = [str(tmp_path / name) for name in ("qrels.txt", "run.txt")]
    saved = tmp_path / "result.json"
    line = ["evaluate", *paths, "-m", "RR@4tokens RR@5tokens nDCG@10", "--format", "json"]
    assert command([*line, "--documents", str(tmp_path / "docs.jsonl"), "--save", str(saved)]) == 0
    rows = {row["measure"]: row["value"] for row in json.loads(capsys.readouterr().out)}
    assert rows == {"RR@4tokens": 0, "RR@5tokens": 0.5, "nDCG@10": pytest.approx(1 / math.log2(3))}
    again = gg.load(saved)
    assert again["RR@5tokens"] == 0.5 and again.measures[1].budget == 5
    assert command(line) == 2
    assert "hint: pass documents=... (--documents)" in capsys.readouterr().err
    assert (
        command(
            [
                "compare",
                *paths,
                paths[1],
                "-m",
                "RR@5tokens",
                "--documents",
                str(tmp_path / "docs.jsonl"),
            ]
        )
        == 0
    )
    assert "RR@5tokens" in capsys.readouterr().out
    assert command(["evaluate", *paths, "-m", "RR@5tokens", "--engine", "spark"]) == 2
    assert "not available with --engine spark" in capsys.readouterr().err
