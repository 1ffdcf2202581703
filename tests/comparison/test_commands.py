"""compare and gate on the command line."""

import json
import re
from pathlib import Path

import pytest

from goodgain.cli import run


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    queries = [f"q{i}" for i in range(12)]
    Path("qrels.txt").write_text("".join(f"{q} 0 d{i % 3} 1\n" for i, q in enumerate(queries)))

    def write(name: str, order: str) -> None:
        lines = []
        for i, q in enumerate(queries):
            turned = order[i % len(order)] == "b"
            docs = ["d0", "d1", "d2"] if not turned else ["d2", "d1", "d0"]
            lines += [f"{q} Q0 {d} {r} {9 - r} {name}\n" for r, d in enumerate(docs)]
        Path(name).write_text("".join(lines))

    write("base.run", "a")
    write("new.run", "aab")
    write("seed1.run", "ab")
    write("seed2.run", "aaab")
    Path("queries.csv").write_text(
        "query,kind\n" + "".join(f"q{i},{'xy'[i % 2]}\n" for i in range(12))
    )
    Path("scores.csv").write_text(
        "method,query_id,mrr,latency,kind\n"
        + "".join(
            f"{s},q{i},{0.5 + 0.01 * i * (s == 'B')},{1 + i / 9 + (s == 'B')},{'xy'[i % 2]}\n"
            for s in "AB"
            for i in range(12)
        )
    )
    Path("labels.csv").write_text("query,doc,label\nq1,d1,Good\nq2,d2,Same\nq3,d3,Bad\nq4,d4,Bad\n")
    return tmp_path


def out(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert run(list(arguments)) == status
    captured = capsys.readouterr()
    return captured.out if status != 2 else captured.err


def test_compare_runs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "compare", "qrels.txt", "base.run", "new.run", "-m", "RR nDCG@10")
    assert "base (baseline)" in text
    assert "paired t-test, two-sided, against base; Holm correction over 2 tests" in text
    rows = json.loads(
        out(capsys, "compare", "qrels.txt", "base.run", "new.run", "-m", "RR", "--format", "json", "--test",
            "randomisation", "--correction", "bh", "--margin", "RR=5%", "--threads", "2")
    )  # fmt: skip
    assert rows[0]["system"] == "new"
    assert rows[0]["p_noninferior"] is not None


def test_compare_seeds_groups_and_baselines(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(
        capsys, "compare", "qrels.txt", "base.run", "dense=seed1.run", "dense=seed2.run", "new.run",
        "-m", "RR", "--by", "kind", "--queries", "queries.csv",
    )  # fmt: skip
    assert "p, these seeds" in text
    assert "difference within each kind" in text and re.search(r"^system +x \(\d+\)", text, re.M)
    assert "F test of the interaction" in text
    text = out(
        capsys, "compare", "qrels.txt", "base.run", "new.run", "one=seed1.run", "--baseline", "base",
        "--baseline", "one", "-m", "RR",
    )  # fmt: skip
    assert "b = one" in text
    assert "Tukey" in out(
        capsys,
        "compare",
        "qrels.txt",
        "base.run",
        "new.run",
        "seed1.run",
        "--baseline",
        "all",
        "--test",
        "tukey",
    )


def test_compare_scores(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(
        capsys, "compare", "--scores", "scores.csv", "--system", "method", "--query", "query_id",
        "--baseline", "A", "--by", "kind", "--save", "saved.json",
    )  # fmt: skip
    assert "latency ↓" in text
    assert "Pareto" in text
    saved = json.loads(Path("saved.json").read_text())
    assert saved["goodgain"] == "comparison"
    assert len(saved["inputs"][0]["sha256"]) == 64
    out(capsys, "compare", "qrels.txt", "base.run", "new.run", "-m", "RR", "--save", "saved.json")
    saved = json.loads(Path("saved.json").read_text())
    assert [i.get("role", i["kind"]) for i in saved["inputs"]] == [
        "qrels",
        "run",
        "run",
        "evaluation",
    ]
    assert saved["inputs"][-1]["policy"]["missing"] == "zero"
    only = out(
        capsys, "compare", "--scores", "scores.csv", "-m", "mrr", "--format", "csv", "-o", "out.csv"
    )
    assert only == ""
    assert Path("out.csv").read_text().count("\n") == 2
    latex = out(capsys, "compare", "--scores", "scores.csv", "--format", "latex")
    assert r"\bottomrule" in latex


def test_compare_labels(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(capsys, "compare", "--gsb", "labels.csv")
    assert "-0.250" in text
    assert "Do not ship" in text
    assert (
        json.loads(out(capsys, "compare", "--gsb", "labels.csv", "--format", "json"))[0]["value"]
        == -0.25
    )


def test_gate(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = out(
        capsys, "gate", "qrels.txt", "new.run", "base.run", "-m", "RR", "--margin", "0.01",
        "--summary", "gate.md", status=1,
    )  # fmt: skip
    assert "FAILED" in text
    assert "queries that lost most" in text
    assert Path("gate.md").read_text().startswith("## ❌ Retrieval gate")
    assert "PASSED" in out(capsys, "gate", "qrels.txt", "base.run", "base.run", "-m", "RR")
    assert "PASSED" in out(
        capsys, "gate", "--scores", "scores.csv", "--baseline", "A", "--candidate", "B", "-m", "mrr"
    )
    out(
        capsys,
        "gate",
        "--scores",
        "scores.csv",
        "--baseline",
        "A",
        "--candidate",
        "B",
        "-m",
        "latency",
        status=1,
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("compare", "nothing to compare"),
        ("compare qrels.txt base.run", "nothing to compare 'base' with"),
        ("compare qrels.txt base.run none.run", "file not found: 'none.run'"),
        ("compare qrels.txt base.run new.run --baseline x", "unknown baseline 'x'"),
        (
            "compare qrels.txt base.run new.run --margin x",
            "margin must be a non-negative number, got 'x'",
        ),
        ("compare qrels.txt base.run new.run --by kind", "no column 'kind' to group by"),
        (
            "compare qrels.txt base.run new.run --by size --queries queries.csv",
            "column 'size' not found",
        ),
        (
            "compare qrels.txt base.run new.run --permutations 0",
            "permutations must be a positive integer, got 0",
        ),
        ("compare qrels.txt --scores scores.csv", "--scores cannot be combined"),
        ("compare qrels.txt --gsb labels.csv", "--gsb cannot be combined"),
        ("compare --scores none.csv", "file not found: 'none.csv'"),
        ("compare --scores scores.csv -m AP", "no scores for the measure 'AP'"),
        ("compare --scores scores.csv --query z", "column 'z' not found"),
        ("compare --gsb scores.csv", "no column for the label"),
        ("gate qrels.txt base.run", "got 1 run\n"),
        ("gate --scores scores.csv --baseline Z", "unknown system 'Z'"),
        ("gate qrels.txt base.run new.run -m nope", "unknown measure 'nope'"),
    ],
)
def test_bad_input_is_a_sentence_and_status_2(
    arguments: str, words: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = out(capsys, *arguments.split(), status=2)
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "arguments", ["compare --test z", "gate --test tukey", "compare --format x"]
)
def test_bad_options_leave_with_status_2(
    arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        run(arguments.split())
    assert left.value.code == 2
    assert "hint: see: goodgain" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run([command, "--help"])
    assert left.value.code == 0
    assert "examples:" in capsys.readouterr().out
