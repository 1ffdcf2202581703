"""`goodgain evaluate`: formats, options, and files written atomically."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest

from goodgain import Evaluation, evaluate
from goodgain.cli import run

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n"
BM25 = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq2 Q0 a 1 1 t\n"
KNN = "q1 Q0 a 1 3 t\nq1 Q0 x 2 3 t\nq7 Q0 a 1 1 t\n"
VALUES = {("bm25", "AP"): 0.75, ("bm25", "RR"): 0.75, ("knn", "AP"): 0.25, ("knn", "RR"): 0.25}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels.txt", QRELS), ("bm25.txt", BM25), ("knn.run", KNN)):
        (tmp_path / name).write_text(text)
    return tmp_path


def called(*arguments, capsys):
    status = run(["evaluate", "qrels.txt", *arguments])
    return status, *capsys.readouterr()


BOTH = ("bm25.txt", "knn.run", "-m", "AP RR")


def test_table(files, capsys):
    status, out, err = called(*BOTH, capsys=capsys)
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["run", "AP", "RR", "queries"]
    assert lines[1] == ["bm25", "0.7500", "0.7500", "2"]
    assert lines[2] == ["knn", "0.2500", "0.2500", "2"]
    assert "knn" in err and "1 of 2 judged queries" in err  # warnings are not in the table


def test_quiet(files, capsys):
    assert called(*BOTH, "--quiet", capsys=capsys)[2] == ""
    assert called(*BOTH, "-q", capsys=capsys)[2] == ""


def rows_of(text, kind):
    if kind == "json":
        return json.loads(text)
    if kind == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(io.StringIO(text), delimiter="," if kind == "csv" else "\t"))


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "tsv"])
def test_machine_formats_are_long(files, capsys, kind):
    status, out, _ = called(*BOTH, "--format", kind, capsys=capsys)
    rows = rows_of(out, kind)
    assert status == 0
    assert [list(row) for row in rows] == [["run", "measure", "value", "queries"]] * 4
    assert {(r["run"], r["measure"]): float(r["value"]) for r in rows} == VALUES
    assert {int(r["queries"]) for r in rows} == {2}


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "tsv"])
def test_machine_formats_per_query(files, capsys, kind):
    _, out, _ = called(*BOTH, "--format", kind, "--per-query", capsys=capsys)
    rows = rows_of(out, kind)
    assert [list(row) for row in rows] == [["run", "query", "measure", "value"]] * 8
    values = {(r["run"], r["query"], r["measure"]): float(r["value"]) for r in rows}
    assert values["bm25", "q1", "AP"] == 0.5 and values["bm25", "q2", "AP"] == 1
    assert values["knn", "q1", "RR"] == 0.5 and values["knn", "q2", "RR"] == 0


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_undefined_is_empty_for_machines_and_a_dash_for_people(files, capsys, kind):
    _, out, _ = called("bm25.txt", "-m", "Accuracy", "--per-query", "--format", kind, capsys=capsys)
    assert rows_of(out, kind)[1]["value"] in (None, "")
    _, out, _ = called("bm25.txt", "-m", "Accuracy", "--per-query", capsys=capsys)
    assert out.splitlines()[2].split() == ["bm25", "q2", "-"]


def test_machine_formats_hold_every_digit(files, capsys):
    _, out, _ = called("bm25.txt", "-m", "nDCG", "--format", "json", capsys=capsys)
    assert (
        json.loads(out)[0]["value"]
        == evaluate(files / "qrels.txt", files / "bm25.txt", "nDCG")["nDCG"]
    )


def test_markdown(files, capsys):
    _, out, _ = called(*BOTH, "--format", "markdown", capsys=capsys)
    lines = out.splitlines()
    assert lines[0] == "| run | AP | RR | queries |"
    assert set(lines[1]) <= set("|-: ")
    assert lines[2] == "| bm25 | 0.7500 | 0.7500 | 2 |"


def test_latex(files, capsys):
    _, out, _ = called("bm25.txt", "-m", "alpha_nDCG@5 AP", "--format", "latex", capsys=capsys)
    assert out.startswith("\\begin{tabular}") and out.endswith("\\end{tabular}\n")
    assert "alpha\\_nDCG@5" in out and "\\toprule" in out


def test_wide_per_query(files, capsys):
    _, out, _ = called(*BOTH, "--per-query", capsys=capsys)
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["run", "query", "AP", "RR"]
    assert lines[1] == ["bm25", "q1", "0.5000", "0.5000"]
    assert len(lines) == 5


def test_default_measures(files, capsys):
    _, out, _ = called("bm25.txt", "--format", "csv", capsys=capsys)
    assert [r["measure"] for r in rows_of(out, "csv")] == ["nDCG@10", "AP", "RR", "R@1000", "P@10"]


def test_measures_several_times(files, capsys):
    _, out, _ = called(
        "bm25.txt", "-m", "AP", "-m", "Recall@20,MRR", "--format", "csv", capsys=capsys
    )
    assert [r["measure"] for r in rows_of(out, "csv")] == ["AP", "Recall@20", "MRR"]


def test_policies_and_presets(files, capsys):
    _, out, _ = called(
        "knn.run", "-m", "AP", "--preset", "trec_eval", "--format", "json", capsys=capsys
    )
    assert json.loads(out)[0] == {"run": "knn", "measure": "AP", "value": 0.5, "queries": 1}
    options = ("--policy", "ties=average", "--policy", "missing=skip")
    _, out, _ = called("knn.run", "-m", "AP", *options, "--format", "json", capsys=capsys)
    assert json.loads(out)[0]["value"] == 0.75
    _, out, _ = called(
        "knn.run", "-m", "AP", "--policy", "ties=bounds", "--format", "csv", capsys=capsys
    )
    (row,) = rows_of(out, "csv")
    assert list(row) == ["run", "measure", "value", "lower", "upper", "queries"]
    assert (float(row["lower"]), float(row["upper"])) == (0.25, 0.5)


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_threads(files, capsys, threads):
    assert called(*BOTH, "--threads", threads, "--format", "csv", capsys=capsys)[0] == 0


def test_columns(files, capsys):
    (files / "r.csv").write_text("a,b,c\nq1,a,1\n")
    status, out, _ = called(
        "r.csv", "-m", "RR", "--columns", "query=a,doc=b,score=c", "--format", "json", capsys=capsys
    )
    assert status == 0 and json.loads(out)[0]["value"] == 0.5


def test_output_file(files, capsys):
    status, out, _ = called(*BOTH, "--format", "csv", "-o", "out.csv", capsys=capsys)
    assert (status, out) == (0, "")
    assert len(rows_of((files / "out.csv").read_text(), "csv")) == 4


def test_output_file_is_replaced_whole(files, capsys):
    (files / "out.csv").write_text("old" * 1000)
    called(*BOTH, "--format", "csv", "--output", "out.csv", capsys=capsys)
    assert "old" not in (files / "out.csv").read_text()


@pytest.mark.parametrize("existing", [True, False])
def test_nothing_is_written_on_failure(files, capsys, existing):
    if existing:
        (files / "out.csv").write_text("kept")
    (files / "bad.txt").write_text(BM25 + "q2 Q0 a\n")
    before = sorted(p.name for p in files.iterdir())
    status, out, err = called(
        "bm25.txt", "bad.txt", "-o", "out.csv", "--save", "s.json", capsys=capsys
    )
    assert (status, out) == (2, "") and "bad.txt:4" in err
    assert sorted(p.name for p in files.iterdir()) == before
    assert not existing or (files / "out.csv").read_text() == "kept"


def test_nothing_is_saved_where_the_output_cannot_be_written(files, capsys):
    before = sorted(p.name for p in files.iterdir())
    status, _, err = called(
        "bm25.txt", "-o", "no/such/folder/out.csv", "--save", "s.json", capsys=capsys
    )
    assert status == 2 and "no/such/folder" in err
    assert sorted(p.name for p in files.iterdir()) == before


def test_save(files, capsys):
    assert called(*BOTH, "--save", "all.json", capsys=capsys)[0] == 0
    loaded = Evaluation.load(files / "all.json")
    assert {(r.name, m): v for r in loaded.runs for m, v in r.means.items()} == VALUES


def test_names_that_would_move_the_cursor_are_shown(files, capsys):
    (files / "r.csv").write_text("query,doc,score\nq\x1b[2J,a,1\nq\u202e,a,1\n")
    (files / "q.csv").write_text("query,doc,gain\nq\x1b[2J,a,1\nq\u202e,a,1\n")
    assert run(["evaluate", "q.csv", "r.csv", "-m", "AP", "--per-query"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\\x1b[2J" in out
    assert "\u202e" not in out and "\\u202e" in out


def test_numbers_are_never_rounded_to_a_false_one(files, capsys):
    docs = "".join(f"q1 0 d{i} 1\n" for i in range(30000))
    (files / "qrels.txt").write_text(docs)
    (files / "r.txt").write_text("".join(f"q1 Q0 d{i} 1 {-i} t\n" for i in range(29999)))
    _, out, _ = called("r.txt", "-m", "R", capsys=capsys)
    assert out.splitlines()[1].split()[1] == "0.9999"


# --- as a program ---


def program(*arguments, folder, data=None):
    return subprocess.run(
        [sys.executable, "-m", "goodgain", *arguments],
        cwd=folder,
        input=data,
        capture_output=True,
        check=False,
    )


def test_program(files):
    done = program("evaluate", "qrels.txt", *BOTH, "--format", "tsv", folder=files)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[0] == "run\tmeasure\tvalue\tqueries"


def test_program_reads_standard_input(files):
    done = program(
        "evaluate",
        "qrels.txt",
        "-",
        "-m",
        "AP",
        "--format",
        "json",
        folder=files,
        data=BM25.encode(),
    )
    assert json.loads(done.stdout)[0]["value"] == 0.75
    done = program(
        "evaluate",
        "-",
        "bm25.txt",
        "-m",
        "AP",
        "--format",
        "json",
        folder=files,
        data=QRELS.encode(),
    )
    assert json.loads(done.stdout)[0]["value"] == 0.75


def test_program_with_ids_that_are_no_utf8(files):
    raw = b"q\xff1 Q0 a\xfe 1 1 t\n"
    (files / "r.txt").write_bytes(raw)
    (files / "qrels.txt").write_bytes(b"q\xff1 0 a\xfe 1\n")
    done = program(
        "evaluate", "qrels.txt", "r.txt", "-m", "AP", "--per-query", "--format", "csv", folder=files
    )
    assert done.returncode == 0 and b"q\xff1,AP,1.0" in done.stdout


def test_program_stops_quietly_when_its_reader_has_gone(files):
    (files / "qrels.txt").write_text("".join(f"q{i} 0 a 1\n" for i in range(20000)))
    (files / "r.txt.gz").write_bytes(
        gzip.compress("".join(f"q{i} Q0 a 1 1 t\n" for i in range(20000)).encode())
    )
    command = f"{sys.executable} -m goodgain evaluate qrels.txt r.txt.gz --per-query --format csv | head -1"
    done = subprocess.run(command, shell=True, cwd=files, capture_output=True, check=False)
    assert done.stdout.startswith(b"run,query") and b"Traceback" not in done.stderr


def test_version(files):
    import goodgain

    assert (
        program("--version", folder=files).stdout.decode() == f"goodgain {goodgain.__version__}\n"
    )


def test_quiet_looks_for_no_warnings(tmp_path, monkeypatch, capsys):
    """What would match if ids were written alike takes longer to find than the numbers."""
    from goodgain.ranking import mismatch

    (tmp_path / "qrels.txt").write_text("q1 0 A 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 2 t\n")
    command = ["evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), "-m", "AP"]
    assert run(command) == 0
    assert "ignoring case" in capsys.readouterr().err
    monkeypatch.setattr(mismatch, "mismatch_notes", None)
    assert run([*command, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
