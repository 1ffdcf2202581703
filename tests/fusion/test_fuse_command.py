"""`goodgain fuse` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from goodgain.cli import run

WSUM = ("fuse", "a.run", "b.run", "--method", "wsum")


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs over twelve queries; one ranks the documents of every second query in reverse."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{i}" for i in range(12)]
    Path("qrels.txt").write_text("".join(f"{q} 0 d{i % 3} 1\n" for i, q in enumerate(queries)))
    for name in ("a.run", "b.run"):
        lines = []
        for i, query in enumerate(queries):
            docs = ["d2", "d1", "d0"] if name == "b.run" and i % 2 else ["d0", "d1", "d2"]
            lines += [f"{query} Q0 {doc} {r} {9 - r} x\n" for r, doc in enumerate(docs)]
        Path(name).write_text("".join(lines))


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_run_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "fuse", "a.run", "b.run", "--depth", "2", "--name", "both").splitlines()
    assert lines[0].split()[:4] == ["q0", "Q0", "d0", "1"]
    assert lines[0].endswith(" both")
    assert len(lines) == 24
    assert output(capsys, *WSUM, "--weights", "0.3,0.7", "-o", "fused.run") == ""
    assert "RR" in output(capsys, "evaluate", "qrels.txt", "fused.run", "-m", "RR")
    for form in ("csv", "tsv", "jsonl"):
        assert output(capsys, "fuse", "a.run", "b.run", "--format", form)
    assert output(capsys, "fuse", "a.run", "b.run", "--method", "rbc", "--param", "phi=0.5")


def test_tuning(capsys: pytest.CaptureFixture[str]) -> None:
    tune = (*WSUM, "--tune", "qrels.txt", "-m", "RR", "--folds", "3", "--seed", "4")
    assert "held out" in output(capsys, *tune, "-o", "tuned.run")
    assert run([*tune, "--name", "both"]) == 0
    captured = capsys.readouterr()
    assert "held out" in captured.err
    assert captured.out.splitlines()[0].endswith(" both")


def test_training_on_the_fused_runs_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    train = ["fuse", "a.run", "b.run", "--method", "posfuse", "--train", "qrels.txt"]
    assert run(train) == 0
    assert "warning: the method was trained on the runs that it fuses" in capsys.readouterr().err
    assert run([*train, "-q"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("fuse a.run", "at least two runs"),
        ("fuse a.run b.run --method x", "unknown fusion method 'x'"),
        ("fuse a.run b.run --method wsum --weights a,b", "got 'a,b'"),
        ("fuse a.run b.run --param k=x", "--param k must be a number, got 'x'"),
        ("fuse a.run b.run --method wsum --tune qrels.txt --weights 1,1", "cannot be combined"),
        ("fuse a.run none.run", "none.run"),
    ],
)
def test_bad_input_is_reported(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments.split()) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [("fuse", "see: goodgain fuse --help"), ("fuse a.run b.run --random-seed 1", "use --seed")],
)
def test_bad_options_exit_with_status_2(
    arguments: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(arguments.split())
    assert stopped.value.code == 2
    assert f"hint: {hint}" in capsys.readouterr().err
