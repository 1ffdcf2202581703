"""Limits on what one input may cost, and readers in a process of their own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import goodgain as gg
from goodgain.errors import UsageError
from goodgain.io.limits import LimitError
from goodgain.ranking import sandbox

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"d1": 1}}
LINE = "q1 Q0 d{} 1 2.5 t\n"


@pytest.fixture
def bomb(tmp_path: Path) -> str:
    """Ten million bytes in some thousand."""
    path = tmp_path / "run.txt.gz"
    path.write_bytes(gzip.compress((LINE.format(1) * 500_000).encode()))
    return str(path)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_bytes(tmp_path: Path, suffix: str) -> None:
    import bz2
    import lzma

    text = "".join(LINE.format(i) for i in range(2000)).encode()
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
    path = tmp_path / f"run.txt{suffix}"
    path.write_bytes(pack(text))
    with gg.Limits(bytes=len(text)):
        assert gg.evaluate(QRELS, path, "RR")["RR"] > 0
    with gg.Limits(bytes=len(text) - 1), pytest.raises(LimitError, match="more than"):
        gg.evaluate(QRELS, path, "RR")
    assert gg.evaluate(QRELS, path, "RR")["RR"] > 0  # limits end with their block


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_rows(kind: str) -> None:
    table = {"q1": {f"d{i}": i for i in range(10)}}
    tables = (QRELS, table) if kind == "run" else (table, {"q1": {"d1": 1.0}})
    with gg.Limits(rows=10):
        gg.evaluate(*tables, "RR")
    with gg.Limits(rows=9), pytest.raises(LimitError, match="more than 9 rows"):
        gg.evaluate(*tables, "RR")


def test_nesting(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"q1": {"d1": 1, "[[[[": 2, "\\"[": 3}}')
    with gg.Limits(nesting=2):
        gg.evaluate(QRELS, path, "RR")
    with gg.Limits(nesting=1), pytest.raises(LimitError, match="more than 1 levels"):
        gg.evaluate(QRELS, path, "RR")


def test_seconds_end_native_loops() -> None:
    import numpy as np

    from goodgain import _core

    values = np.ones((500, 2))
    start = time.process_time()
    with pytest.raises(LimitError, match=r"stopped after 0\.1 seconds"), gg.Limits(seconds=0.1):
        _core.random_flips(values, 10**7, 1, 2)
    assert time.process_time() - start < 2


def test_limits_can_be_nested() -> None:
    with gg.Limits(rows=1):
        with gg.Limits(rows=100):
            gg.evaluate(QRELS, {"q1": {"d1": 1.0, "d2": 2.0}}, "RR")
        with pytest.raises(LimitError):
            gg.evaluate(QRELS, {"q1": {"d1": 1.0, "d2": 2.0}}, "RR")


@pytest.mark.parametrize(
    "text",
    [
        "rows", "rows=", "rows=-1", "rows=0", "rows=many", "size=1", "rows=1,rows=2", "bytes=1XB",
        "seconds=1k", "rows=nan", "bytes=1e99",
    ],
)  # fmt: skip
def test_bad_limits(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        gg.Limits.parse(text)
    assert "for example" in refused.value.hint


def test_units() -> None:
    limits = gg.Limits.parse("bytes=2GB, rows=1e6,nesting=100,seconds=1.5,memory=4g")
    assert limits == gg.Limits(2 * 10**9, 10**6, 100, 1.5, 4 * 10**9)


def test_every_command_has_limits() -> None:
    from importlib import import_module

    from goodgain.cli import COMMANDS

    for command in COMMANDS:
        parser = import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()
        assert "--limits" in parser._option_string_actions or command == "trec-eval"


def test_the_command_line(tmp_path: Path, bomb: str, capsys: pytest.CaptureFixture[str]) -> None:
    from goodgain.cli import run

    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    arguments = ["evaluate", str(tmp_path / "qrels.txt"), bomb, "--limits", "bytes=1MB"]
    assert run(arguments) == 2
    assert "more than 1,000,000 bytes" in capsys.readouterr().err


# --- processes of their own ---


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d1 1 1 t\n")
    return str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt")


def test_a_sandbox_gives_the_same_numbers(files: tuple[str, str]) -> None:
    ours = gg.evaluate(*files, ["nDCG@10", "RR"])
    theirs = sandbox.evaluate(*files, ["nDCG@10", "RR"])
    assert theirs.per_query == ours.per_query


def test_a_sandbox_refuses_as_we_do(files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("q1 Q0 d2 1 two t\n")
    with pytest.raises(gg.GoodgainError, match=r"the score 'two' is not a number"):
        sandbox.evaluate(files[0], tmp_path / "bad.txt")


def test_a_sandbox_limits_bytes(files: tuple[str, str], bomb: str) -> None:
    with pytest.raises(gg.GoodgainError, match="more than 1,000,000 bytes"):
        sandbox.evaluate(files[0], bomb, limits=gg.Limits(bytes="1MB", seconds=60))


def test_a_sandbox_is_killed_in_time(files: tuple[str, str], tmp_path: Path) -> None:
    pipe = tmp_path / "never.txt"
    os.mkfifo(pipe)  # nobody writes
    with pytest.raises(LimitError, match="stopped after 1 seconds"):
        sandbox.evaluate(files[0], pipe, limits=gg.Limits(seconds=1))


def _limits_address_space() -> bool:
    """Whether this system enforces them; some kernels of containers do not."""
    code = (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (10**8, 10**8))\n"
        "try: bytearray(10**9)\nexcept MemoryError: print('yes')"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return said.stdout.strip() == "yes"


@pytest.mark.skipif(not _limits_address_space(), reason="the system has no limits on memory")
def test_a_sandbox_limits_memory(files: tuple[str, str], tmp_path: Path) -> None:
    deep = tmp_path / "large.json"
    deep.write_text(json.dumps({f"q{i}": {f"d{j}": j for j in range(300)} for i in range(1500)}))
    with pytest.raises(gg.GoodgainError):
        sandbox.evaluate(files[0], deep, limits=gg.Limits(memory="30MB", seconds=60))


def test_a_sandbox_has_none_of_our_secrets(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    environment = sandbox._environment(gg.Limits())
    assert "SOME_API_KEY" not in environment
    program = "import os; print(sorted(os.environ))"
    said = subprocess.run(
        [sys.executable, "-I", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "SOME_API_KEY" not in said
