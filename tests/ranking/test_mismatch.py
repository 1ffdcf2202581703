"""Ids that differ only in how they are written are reported, with what would match; ids are never changed."""

import gzip
import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.errors import DisjointError, InputError

FORMS: dict[str, tuple[str, Callable[[int], str], Callable[[int], str]]] = {
    "case": ("case", "Doc-{}".format, "doc-{}".format),
    "blanks": ("blanks", "doc {}".format, "doc{}".format),
    "zeros": ("leading zeros", "{:08d}".format, "{}".format),
    "zeros inside": ("leading zeros", "doc-{:04d}".format, "doc-{}".format),
    "decimals": ("whole numbers", "{}.0".format, "{}".format),
    "unicode": (
        "Unicode forms",
        "caf\u00e9{}".format,
        lambda i: unicodedata.normalize("NFD", f"caf\u00e9{i}"),
    ),
    "invisible": ("blanks", "doc-{}\u200b".format, "doc-{}".format),
    "URLs": ("URL encoding", "a%20b/{}".format, "a b/{}".format),
    "HTML": ("HTML escapes", "a&amp;{}".format, "a&{}".format),
    "encoding": ("encoding", "Ã¼-{}".format, "ü-{}".format),
    "separators": ("separators", "doc_a_{}".format, "doc-a-{}".format),
    "prefix": ("what is around them ('doc:' before, '' after)", "doc:a{}".format, "a{}".format),
    "suffix": ("what is around them ('' before, '.html' after)", "a{}.html".format, "a{}".format),
    "quotes": ("""what is around them ('"' before, '"' after)""", '"a{}"'.format, "a{}".format),
    "path": ("case and what is around them", "/Data/DOC {}.txt".format, "doc{}".format),
}


def tables(judged: Callable[[int], str], retrieved: Callable[[int], str]) -> tuple[dict, dict]:
    qrels = {f"q{q}": {judged(10 * q + d): d % 2 for d in range(1, 8)} for q in range(1, 6)}
    run = {f"q{q}": {retrieved(10 * q + d): 1.0 / d for d in range(1, 8)} for q in range(1, 6)}
    return qrels, run


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("swapped", [False, True])
def test_documents(name: str, swapped: bool) -> None:
    what, one, other = FORMS[name]
    judged, retrieved = (other, one) if swapped else (one, other)
    (note,) = gg.evaluate(*tables(judged, retrieved), "nDCG@10").warnings()
    assert f"ignoring {what}" in note
    assert ", 35 of 35 unmatched documents (100%) would match" in note
    assert f"the run has '{retrieved(11)}', the judgments have '{judged(11)}'" in note


@pytest.mark.parametrize("name", FORMS)
def test_queries_some_of_which_match(name: str) -> None:
    what, one, other = FORMS[name]
    qrels = {"same": {"a": 1}, **{one(i): {"a": 1} for i in range(1, 5)}}
    run = {"same": {"a": 1.0}, **{other(i): {"a": 1.0} for i in range(1, 5)}}
    notes = gg.evaluate(qrels, run, "P@1").warnings()
    assert any(
        f"ignoring {what}" in note and ", 4 of 4 unmatched queries (100%) would match" in note
        for note in notes
    )


def test_documents_of_another_collection() -> None:
    (note,) = gg.evaluate(*tables("a{}".format, "b{}".format), "nDCG@10").warnings()
    assert note == (
        "run: none of the 35 documents is judged: query 'q1' has document 'b11', its judgments have 'a11'"
    )


def test_silent_when_judgments_are_sparse_but_found() -> None:
    qrels = {f"q{i}": {"answer": 1} for i in range(20)}
    run = {
        f"q{i}": {**{f"d{j}": 1.0 - j / 1000 for j in range(200)}, "answer": 0.0} for i in range(20)
    }
    assert gg.evaluate(qrels, run, "RR").warnings() == []


def test_the_command_warns_also_about_a_pipe(tmp_path: Path) -> None:
    lines = {"qrels.txt": "", "run.txt": ""}
    for i in range(1, 8):
        lines["qrels.txt"] += f"q 0 Doc-{i} 1\n"
        lines["run.txt"] += f"q Q0 doc-{i} {i} {1 / i} t\n"
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "goodgain", "evaluate", str(tmp_path / "qrels.txt")]
    expected = {
        str(tmp_path / "run.txt"): "7 of 7 unmatched documents (100%) would match",
        "-": "none of the 7 documents is judged: are the ids written alike?",
    }
    for run, note in expected.items():
        done = subprocess.run(
            [*command, run], input=lines["run.txt"], capture_output=True, text=True, check=True
        )
        assert note in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        '{"q1": {"a": 1, "a": 0}}',
        '{"q1": {"a": 1}, "q1": {"b": 1}}',
        '{"q1": {"a": 1, "\\u0061": 2}}',
    ],
)
def test_a_repeated_key_of_a_dictionary_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"duplicate key '(a|q1)' in a JSON object"):
        gg.evaluate(str(path), {"q1": {"a": 1.0}}, "P@1")


@pytest.mark.parametrize("field", ["query_id", "doc_id", "score"])
def test_a_repeated_field_of_a_line_is_an_error(tmp_path: Path, field: str) -> None:
    row = {"query_id": "q1", "doc_id": "a", "score": 1.0}
    line = json.dumps(row)[:-1] + f", {json.dumps(field)}: {json.dumps(row[field])}}}"
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({**row, "doc_id": "b"}) + "\n" + line + "\n")
    with pytest.raises(InputError, match=f"field '{field}' occurs twice") as error:
        gg.evaluate({"q1": {"a": 1}}, str(path), "P@1")
    assert error.value.where.endswith("run.jsonl:2")


@pytest.mark.parametrize("swapped", [False, True])
def test_ids_that_differ_in_several_ways(swapped: bool) -> None:
    one, other = "Doc 0{}".format, "doc{}".format
    judged, retrieved = (other, one) if swapped else (one, other)
    (note,) = gg.evaluate(*tables(judged, retrieved), "nDCG@10").warnings()
    assert "35 of 35 unmatched documents (100%) would match" in note
    assert "case, blanks, zeros, decimals and Unicode forms" in note


QRELS, RUN = tables("Doc-{}".format, "doc-{}".format)
CASES = [{"id": q, "query": q, "relevant": list(docs)} for q, docs in QRELS.items()]
FILES = {
    "qrels.json": json.dumps(QRELS), "a.json": json.dumps(RUN), "b.json": json.dumps(RUN),
    "labels.json": json.dumps({q: dict.fromkeys(docs, 1) for q, docs in RUN.items()}),
    "golden.jsonl": "".join(f"{json.dumps(case)}\n" for case in CASES),
    "answers_in_lower_case.py": f"def search(query, k=10):\n    return list({RUN!r}[query])\n",
}  # fmt: skip
COMMANDS = {
    "evaluate qrels.json a.json": 0,
    "compare qrels.json a.json b.json": 2,
    "gate qrels.json a.json b.json": 1,
    "explain qrels.json a.json -m nDCG@10 --query q1": 0,
    "fuse a.json b.json --tune qrels.json": 0,
    "fuse a.json qrels.json": 0,
    "fuse a.json b.json --method posfuse --train qrels.json": 0,
    "calibrate qrels.json labels.json": 2,
    "check golden.jsonl --target answers_in_lower_case:search": 0,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_why_nothing_is_judged(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodgain.cli import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, content in FILES.items():
        Path(name).write_text(content)
    assert run(command.split()) == COMMANDS[command]
    message = capsys.readouterr().err
    assert "ignoring case, " in message and "unmatched documents (100%) would match" in message
    assert "'doc-" in message and "'Doc-" in message


LINE = '{"id": "a", "text": "x", "text": "y"}\n'


@pytest.mark.parametrize("reader", ["table", "pairs", "golden", "baseline"])
def test_a_repeated_name_is_an_error_in_every_file_of_lines(tmp_path: Path, reader: str) -> None:
    from goodgain.checks.baseline import read_baseline
    from goodgain.checks.golden import read_golden
    from goodgain.io.tables import load_table
    from goodgain.labels.pairs import read_objects

    read = {"table": load_table, "pairs": lambda path: list(read_objects(path)), "golden": read_golden,
            "baseline": read_baseline}[reader]  # fmt: skip
    path = tmp_path / "lines.jsonl"
    path.write_text('{"id": "b", "text": "x"}\n' * (reader != "golden") + LINE)
    with pytest.raises(InputError, match="duplicate key 'text' in a JSON object") as error:
        read(str(path))
    assert error.value.where.endswith(f"lines.jsonl:{1 + (reader != 'golden')}")


@pytest.mark.parametrize("name", FORMS)
def test_no_query_matches(name: str, tmp_path: Path) -> None:
    """The error says what would match, where the two examples may look the same."""
    what, one, other = FORMS[name]
    qrels = {one(i): {"a": 1} for i in range(1, 5)}
    run = {other(i): {"a": 1.0} for i in range(1, 5)}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    for source in (run, str(path)):
        with pytest.raises(DisjointError, match="no query of the run is judged") as error:
            gg.evaluate(qrels, source, "P@1")
        assert f"ignoring {what}" in error.value.hint
        assert ", 4 of 4 unmatched queries (100%) would match" in error.value.hint


def test_parts_of_numbers_and_words_are_no_prefixes() -> None:
    for one, other in (("1{}".format, "{}".format), ("xa{}".format, "a{}".format)):
        (note,) = gg.evaluate(*tables(one, other), "nDCG@10").warnings()
        assert "would match" not in note


def test_rows_that_were_skipped_do_not_fail_the_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run is read again for what would match, and its bad rows are as bad as before."""
    from goodgain.cli import run

    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    Path("run.txt").write_text("q1 Q0 d\nq1 Q0 a 1 1 t\nq9 Q0 x 1 1 t\n")
    assert run(["evaluate", "qrels.txt", "run.txt", "--skip-bad"]) == 0
    assert "1 bad row skipped" in capsys.readouterr().err
    result = gg.evaluate("qrels.txt", "run.txt", "RR", skip_bad=True)
    assert any("not in the run" in warning for warning in result.warnings())


@pytest.mark.parametrize("form", ["txt", "txt.gz", "parquet", "rows"])
def test_hints_keep_to_the_memory(tmp_path: Path, form: str) -> None:
    """Looking for what would match reads the run again, into Python objects: only if they fit."""
    qrels = {f"q{q}": {f"D{d}": 1 for d in range(20)} for q in range(40)}
    rows = [(f"q{q}", f"d{d}", -float(d)) for q in range(40) for d in range(200)]
    run: object = rows
    if form != "rows":
        path = tmp_path / f"run.{form}"
        text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)
        if form == "parquet":
            pa = pytest.importorskip("pyarrow")
            columns = dict(zip(("query", "doc", "score"), zip(*rows, strict=True), strict=True))
            pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)
        else:
            path.write_bytes(gzip.compress(text.encode()) if form == "txt.gz" else text.encode())
        run = {"run": str(path)}
    assert "ignoring case" in gg.evaluate(qrels, run, "RR").warnings()[-1]
    (note,) = gg.evaluate(qrels, run, "RR", memory="200KB").warnings()
    assert "none of the 8,000 documents is judged: are the ids written alike?" in note
    others = {f"Q{q}": docs for q, docs in enumerate(qrels.values())}
    for memory, says in (
        ("1GB", "ignoring case"),
        ("200KB", "both must use the same query ids"),
    ):
        with pytest.raises(DisjointError) as caught:
            gg.evaluate(others, run, "RR", memory=memory)
        assert says in caught.value.hint


def test_the_query_to_explain_is_not_in_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from goodgain.cli import run

    monkeypatch.chdir(tmp_path)
    Path("qrels.json").write_text(json.dumps({str(i): {"a": 1} for i in range(1, 5)}))
    queries = {f"q{i}": {"a": 1.0} for i in range(1, 5)}
    command = ["explain", "qrels.json", "run.json", "-m", "RR", "--query", "1"]
    Path("run.json").write_text(json.dumps(queries))
    assert run(command) == 2
    assert "no query of the run is judged: the run has query 'q1'" in capsys.readouterr().err
    Path("run.json").write_text(json.dumps({**queries, "4": {"a": 1.0}}))
    assert run(command) == 0
    note = "the run has 'q1', the judgments have '1'"
    assert note in capsys.readouterr().err


TRACES = "".join(
    json.dumps({"conversation": f"c{i}", "turns": [{"user": "?", "iterations": [{"searches": [
        {"query": "s", "results": [{"id": f"doc:{i}{k}"} for k in range(3)]}]}]}]}) + "\n"
    for i in range(4)
)  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "message", "piped"),
    [("c{i} 0 {i}{k} 1\n", "ignoring what is around them ('doc:' before, '' after), 12 of 12 unmatched "
      "results (100%) would match: the traces have 'doc:00', the labels have '00'", False),
     ("c{i} 0 other-{k} 1\n", "none of the results of conversation 'c0' is in its labels: the traces have "
      "'doc:00', the labels have 'other-0'", False),
     ("c{i} 0 other-{k} 1\n", "stdin: no result has a label", True),  # cannot be read again
     ("C{i} 0 doc:{i}{k} 1\n", "ignoring case, 4 of 4 unmatched conversations (100%) would match: the traces "
      "have 'c0', the labels have 'C0'", False),
     ("C{i} 0 doc:{i}{k} 1\n", "ignoring case, 4 of 4 unmatched conversations (100%) would match: the "
      "traces have", True)],
)  # fmt: skip
def test_labels_of_traces(tmp_path: Path, labels: str, message: str, piped: bool) -> None:
    (tmp_path / "traces.jsonl").write_text(TRACES)
    rows = "".join(labels.format(i=i, k=k) for i in range(4) for k in range(3))
    (tmp_path / "labels.txt").write_text(rows)
    command = [sys.executable, "-m", "goodgain", "trace", "-" if piped else "traces.jsonl"]
    done = subprocess.run(
        [*command, "--labels", "labels.txt", "--no-plot"],
        cwd=tmp_path, input=TRACES, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"warning: {message}" in done.stderr


def test_silent_where_some_results_have_labels(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(TRACES)
    result = gg.good_gain(path, labels={"c0": {"doc:00": 2}, "c1": {"x": 1}, "other": {"y": 1}})
    assert not any("match" in note or "none of" in note for note in result.warnings())
