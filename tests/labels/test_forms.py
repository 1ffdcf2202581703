"""Every form of runs, judgments, labels, pairs and traces works in calibrate, pool, label and with_gains."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goodgain.data import Qrels, Run, Trace
from goodgain.errors import GoodgainError, InputError
from goodgain.labels import Labels, Pair, Request, Store, label, pool, with_gains
from goodgain.labels.calibration import Calibration, calibrate
from goodgain.labels.imports import import_labels
from goodgain.measures import nDCG

HUMAN = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "d": 3}}
JUDGE = {"q1": {"a": 2, "b": 1, "c": 1}, "q2": {"a": 0, "d": 2}}
RUNS = {
    "first": {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 2.0, "a": 1.0}},
    "second": {"q1": {"b": 3.0, "c": 2.0, "x": 1.0}, "q2": {"a": 2.0, "d": 1.0}},
}

Table = dict[str, dict[str, float]]


def rows_of(table: Table) -> list[tuple[str, str, float]]:
    return [(q, d, value) for q, docs in table.items() for d, value in docs.items()]


def text_file(table: Table, path: Path, line: str) -> Path:
    path.write_text("".join(line.format(q=q, d=d, v=v) for q, d, v in rows_of(table)))
    return path


def qrels_file(table: Table, folder: Path, name: str = "judged.txt") -> Path:
    return text_file(table, folder / name, "{q} 0 {d} {v}\n")


def run_file(table: Table, folder: Path, name: str) -> Path:
    return text_file(table, folder / f"{name}.run", "{q} Q0 {d} 1 {v} tag\n")


def parquet_file(table: Table, folder: Path, name: str, value: str) -> Path:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = zip(*rows_of(table), strict=True)
    path = folder / f"{name}.parquet"
    parquet.write_table(pa.table(dict(zip(("query", "doc", value), columns, strict=True))), path)
    return path


def frame(table: Table, value: str, library: str) -> Any:
    module = pytest.importorskip(library)
    columns = {
        name: list(column)
        for name, column in zip(
            ("query", "doc", value), zip(*rows_of(table), strict=True), strict=True
        )
    }
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def stored(table: Table, folder: Path) -> Store:
    """A store with the gains of a table, and its labels in the order of the store."""
    pairs = [Pair(q, d, f"question {q}", f"{gain} for {q} {d}") for q, d, gain in rows_of(table)]
    store = Store(folder / "labels.db")
    label(pairs, lambda request: int(request.document[0]), store)
    return store


JUDGMENTS: dict[str, Callable[[Table, Path], Any]] = {
    "dict": lambda table, folder: table,
    "path": qrels_file,
    "path as text": lambda table, folder: str(qrels_file(table, folder)),
    "parquet": lambda table, folder: parquet_file(table, folder, "judged", "gain"),
    "rows": lambda table, folder: rows_of(table),
    "objects": lambda table, folder: [
        {"query": q, "doc": d, "gain": gain} for q, d, gain in rows_of(table)
    ],
    "pandas": lambda table, folder: frame(table, "gain", "pandas"),
    "polars": lambda table, folder: frame(table, "gain", "polars"),
    "arrow": lambda table, folder: frame(table, "gain", "pyarrow"),
    "Qrels": lambda table, folder: Qrels(table),
    "Labels": lambda table, folder: Labels.of(stored(table, folder)),
    "Store": stored,
    "store path": lambda table, folder: stored(table, folder).path,
}

SEVERAL: dict[str, Callable[[Path], Any]] = {
    "dict of dicts": lambda folder: RUNS,
    "dict of paths": lambda folder: {n: run_file(r, folder, f"x{n}") for n, r in RUNS.items()},
    "dict of rows": lambda folder: {n: rows_of(r) for n, r in RUNS.items()},
    "dict of frames": lambda folder: {n: frame(r, "score", "pandas") for n, r in RUNS.items()},
    "dict of Runs": lambda folder: {n: Run(r, name=n) for n, r in RUNS.items()},
    "list of paths": lambda folder: [run_file(r, folder, n) for n, r in RUNS.items()],
    "list of parquet": lambda folder: [
        parquet_file(r, folder, n, "score") for n, r in RUNS.items()
    ],
    "tuple of paths as text": lambda folder: tuple(
        str(run_file(r, folder, n)) for n, r in RUNS.items()
    ),
    "list of Runs": lambda folder: [Run(r, name=n) for n, r in RUNS.items()],
}

ONE: dict[str, Callable[[Table, Path], Any]] = {
    "dict": lambda run, folder: run,
    "path": lambda run, folder: run_file(run, folder, "run"),
    "rows": lambda run, folder: rows_of(run),
    "pandas": lambda run, folder: frame(run, "score", "pandas"),
    "polars": lambda run, folder: frame(run, "score", "polars"),
    "arrow": lambda run, folder: frame(run, "score", "pyarrow"),
    "Run": lambda run, folder: Run(run),
    "list": lambda run, folder: [run],
}


def figures(result: Calibration) -> list[tuple[str, float, int]]:
    return [(f.name, f.value, f.n) for f in result.figures]


@pytest.fixture(scope="module")
def expected() -> Calibration:
    return calibrate(HUMAN, JUDGE, RUNS, "nDCG@10 AP", resamples=20)


@pytest.mark.parametrize("side", ["human", "labels"])
@pytest.mark.parametrize("form", JUDGMENTS)
def test_calibrate_takes_judgments_and_labels_in_every_form(
    form: str, side: str, tmp_path: Path, expected: Calibration
) -> None:
    tables: dict[str, Any] = {"human": HUMAN, "labels": JUDGE}
    tables[side] = JUDGMENTS[form](tables[side], tmp_path)
    result = calibrate(**tables, runs=RUNS, measures="nDCG@10 AP", resamples=20)
    assert result.matrix == expected.matrix
    assert figures(result) == figures(expected)
    assert result.corrected == expected.corrected


@pytest.mark.parametrize("form", SEVERAL)
def test_calibrate_takes_several_runs_in_every_form(
    form: str, tmp_path: Path, expected: Calibration
) -> None:
    result = calibrate(HUMAN, JUDGE, SEVERAL[form](tmp_path), "nDCG@10 AP", resamples=20)
    assert figures(result) == figures(expected)
    assert [c.corrected for c in result.corrected] == [c.corrected for c in expected.corrected]
    if form != "dict of paths":
        assert {c.run for c in result.corrected} == {"first", "second"}


@pytest.mark.parametrize("form", ONE)
def test_calibrate_takes_one_run_in_every_form(
    form: str, tmp_path: Path, expected: Calibration
) -> None:
    result = calibrate(HUMAN, JUDGE, ONE[form](RUNS["first"], tmp_path), "AP", resamples=20)
    (mean,) = result.corrected
    assert mean.corrected == next(
        c.corrected for c in expected.corrected if (c.run, c.measure) == ("first", "AP")
    )
    assert not any("tau" in f.name for f in result.figures)  # one system has no order


@pytest.mark.parametrize("runs", [None, [], (), {}])
def test_calibrate_works_without_runs(runs: Any) -> None:
    assert calibrate(HUMAN, JUDGE, runs, resamples=20).corrected == ()


def test_calibrate_takes_measures_in_every_form(expected: Calibration) -> None:
    for measures in (["nDCG@10", "AP"], [nDCG @ 10, "AP"], "nDCG@10,AP"):
        result = calibrate(HUMAN, JUDGE, RUNS, measures=measures, resamples=20)
        assert figures(result) == figures(expected)


@pytest.mark.parametrize("form", SEVERAL)
def test_pool_takes_several_runs_in_every_form(form: str, tmp_path: Path) -> None:
    pooled = pool(SEVERAL[form](tmp_path), depth=1)
    assert {(p.query, p.doc) for p in pooled} == {
        ("q1", "a"),
        ("q1", "b"),
        ("q2", "d"),
        ("q2", "a"),
    }
    assert {(p.question, p.text) for p in pooled} == {("", "")}


@pytest.mark.parametrize("form", ONE)
def test_pool_takes_one_run_in_every_form(form: str, tmp_path: Path) -> None:
    pooled = pool(ONE[form](RUNS["second"], tmp_path), depth=2)
    assert [(p.query, p.doc) for p in pooled] == [
        ("q1", "b"),
        ("q1", "c"),
        ("q2", "a"),
        ("q2", "d"),
    ]


@pytest.mark.parametrize("form", JUDGMENTS)
def test_pool_takes_judgments_in_every_form(form: str, tmp_path: Path) -> None:
    pooled = pool(RUNS, depth=3, qrels=JUDGMENTS[form](HUMAN, tmp_path))
    assert [(p.query, p.doc) for p in pooled] == [("q1", "x")]


def texts_file(texts: dict[str, str], path: Path) -> Path:
    rows = [{"id": key, "text": text} for key, text in texts.items()]
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".json":
            path.write_text(json.dumps(rows))
        case ".tsv":
            path.write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
        case ".csv":
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("text", "id"), *((t, k) for k, t in texts.items())])
    return path


def tsv_with_header(texts: dict[str, str], folder: Path) -> Path:
    path = folder / "header.tsv"
    path.write_text("text\tid\n" + "".join(f"{text}\t{key}\n" for key, text in texts.items()))
    return path


TEXTS: dict[str, Callable[[dict[str, str], Path], Any]] = {
    "dict": lambda texts, folder: texts,
    "dict of objects": lambda texts, folder: {k: {"text": t} for k, t in texts.items()},
    "rows": lambda texts, folder: [*texts.items()],
    "objects": lambda texts, folder: [{"id": k, "text": t} for k, t in texts.items()],
    "pandas": lambda texts, folder: pytest.importorskip("pandas").DataFrame(
        {"id": [*texts], "text": [*texts.values()]}
    ),
    "jsonl": lambda texts, folder: texts_file(texts, folder / "texts.jsonl"),
    "json": lambda texts, folder: texts_file(texts, folder / "texts.json"),
    "tsv": lambda texts, folder: texts_file(texts, folder / "texts.tsv"),
    "tsv with header": tsv_with_header,
    "csv": lambda texts, folder: texts_file(texts, folder / "texts.csv"),
}


@pytest.mark.parametrize("form", TEXTS)
def test_pool_takes_texts_in_every_form(form: str, tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    (tmp_path / "d").mkdir()
    questions = {"q1": "first question", "q2": "second question"}
    documents = {doc: f"text of {doc}" for doc in "abcdx"}
    pooled = pool(
        RUNS,
        1,
        queries=TEXTS[form](questions, tmp_path / "q"),
        documents=TEXTS[form](documents, tmp_path / "d"),
    )
    assert pooled[0] == Pair("q1", "a", "first question", "text of a")
    assert {(p.question, p.text) for p in pooled} == {
        (questions[p.query], documents[p.doc]) for p in pooled
    }


def test_a_pool_without_questions_cannot_be_labelled() -> None:
    with pytest.raises(GoodgainError, match="query 'q1' has no text"):
        label(pool(RUNS, 1), lambda request: 1)
    with pytest.raises(GoodgainError, match="depth must be a positive integer, got 0"):
        pool(RUNS, 0)


PAIRS = [("q1", "a", "what?", "first text"), ("q1", "b", "what?", "second text")]
NAMES = ("query_id", "doc_id", "question", "text")
PAIR_OBJECTS = [dict(zip(NAMES, row, strict=True)) for row in PAIRS]


def pairs_file(path: Path) -> Path:
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix)
    if delimiter:
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows([NAMES, *PAIRS])
    elif path.suffix == ".json":
        path.write_text(json.dumps(PAIR_OBJECTS))
    elif path.suffix == ".parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(PAIR_OBJECTS), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in PAIR_OBJECTS))
    return path


PAIR_FORMS: dict[str, Callable[[Path], Any]] = {
    "tuples": lambda folder: PAIRS,
    "objects": lambda folder: PAIR_OBJECTS,
    "Pairs": lambda folder: [Pair(*row) for row in PAIRS],
    "generator": lambda folder: (Pair(*row) for row in PAIRS),
    "pandas": lambda folder: pytest.importorskip("pandas").DataFrame(PAIR_OBJECTS),
    "polars": lambda folder: pytest.importorskip("polars").DataFrame(PAIR_OBJECTS),
    "arrow": lambda folder: pytest.importorskip("pyarrow").Table.from_pylist(PAIR_OBJECTS),
    **{
        suffix: lambda folder, suffix=suffix: pairs_file(folder / f"pairs{suffix}")
        for suffix in (".jsonl", ".txt", ".json", ".csv", ".tsv", ".parquet")
    },
    "list of paths": lambda folder: [pairs_file(folder / "pairs.csv")],
}


@pytest.mark.parametrize("form", PAIR_FORMS)
def test_label_takes_pairs_in_every_form(form: str, tmp_path: Path) -> None:
    labels = label(PAIR_FORMS[form](tmp_path), lambda r: 1 if "first" in r.document else 2)
    assert labels.to_dict() == {"q1": {"a": 1, "b": 2}}


def test_label_takes_one_pair() -> None:
    for pair in (Pair(*PAIRS[0]), PAIR_OBJECTS[0]):
        assert label(pair, lambda request: 3).to_dict() == {"q1": {"a": 3}}


def test_a_missing_text_in_a_frame_is_an_error_and_an_empty_one_is_no_text() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [*PAIR_OBJECTS, {"query_id": "q1", "doc_id": "c", "question": "what?"}]
    with pytest.raises(InputError, match="text of the document is missing"):
        label(pandas.DataFrame(rows), lambda request: 1)
    labels = label(pandas.DataFrame(rows).fillna(""), lambda request: 1)
    assert {row.doc: row.status for row in labels} == {"a": "ok", "b": "ok", "c": "no_text"}


def trace(conversation: str) -> dict[str, Any]:
    results = [{"id": name, "snippet": f"about {name}"} for name in ("x", "y")]
    iterations = [{"searches": [{"query": "words", "results": results}]}]
    return {"conversation": conversation, "turns": [{"user": "what?", "iterations": iterations}]}


def traces_file(folder: Path, *conversations: str) -> Path:
    path = folder / f"{'-'.join(conversations)}.jsonl"
    path.write_text("".join(json.dumps(trace(c)) + "\n" for c in conversations))
    return path


TRACES: dict[str, Callable[[Path], Any]] = {
    "path": lambda folder: traces_file(folder, "c1", "c2"),
    "paths": lambda folder: [traces_file(folder, "c1"), str(traces_file(folder, "c2"))],
    "dicts": lambda folder: [trace("c1"), trace("c2")],
    "Traces": lambda folder: [Trace.from_dict(trace(c)) for c in ("c1", "c2")],
    "generator": lambda folder: (trace(c) for c in ("c1", "c2")),
    "systems": lambda folder: {"one": traces_file(folder, "c1"), "two": [trace("c2")]},
    "systems of single traces": lambda folder: {
        "one": trace("c1"),
        "two": Trace.from_dict(trace("c2")),
    },
}


def by_name(request: Request) -> int:
    return 3 if request.document.endswith("x") else 1


@pytest.mark.parametrize("form", TRACES)
def test_label_and_with_gains_take_traces_in_every_form(form: str, tmp_path: Path) -> None:
    labels = label(TRACES[form](tmp_path), by_name)
    assert labels.to_dict() == {"c1": {"x": 3, "y": 1}, "c2": {"x": 3, "y": 1}}
    written = with_gains(TRACES[form](tmp_path), labels)
    assert [
        (t.conversation, [r.gain for s in t.searches() for r in s.results]) for t in written
    ] == [("c1", [3, 1]), ("c2", [3, 1])]


@pytest.mark.parametrize("source", [trace("c1"), Trace.from_dict(trace("c1"))])
def test_label_takes_one_trace(source: Any) -> None:
    labels = label(source, by_name)
    assert labels.to_dict() == {"c1": {"x": 3, "y": 1}}
    assert len(list(with_gains(source, labels))) == 1


@pytest.mark.parametrize("form", JUDGMENTS)
def test_with_gains_takes_labels_in_every_form(form: str, tmp_path: Path) -> None:
    gains = {"c1": {"x": 3, "y": 1}}
    (written,) = with_gains([trace("c1")], JUDGMENTS[form](gains, tmp_path))
    assert [r.gain for s in written.searches() for r in s.results] == [3, 1]


def test_with_gains_takes_no_labels_at_all() -> None:
    failed = label([trace("c1")], lambda request: None)
    for labels in ({}, failed):
        (written,) = with_gains([trace("c1")], labels)
        assert [r.gain for s in written.searches() for r in s.results] == [None, None]


@pytest.mark.parametrize("form", JUDGMENTS)
def test_import_takes_judgments_in_every_form(form: str, tmp_path: Path) -> None:
    with Store() as store:
        assert import_labels(store, JUDGMENTS[form](HUMAN, tmp_path), "human").replies == 5
        assert Labels.of(store, model="human").to_dict() == HUMAN
