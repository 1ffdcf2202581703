"""How every command refuses bad input."""

from __future__ import annotations

import re
from pathlib import Path

from goodgain.cli import run

QRELS = "q1 0 a 1\nq1 0 b 0\n"
RUN = "q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\n"


def put(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def refused(*arguments, capsys, says=(), where="", hint=None):
    """Runs a command that must fail as every command fails; returns what it said."""
    before = sorted(p.name for p in Path().iterdir())
    try:
        status = run(["evaluate", *arguments])
    except SystemExit as stopped:  # argparse's way out
        status = stopped.code
    except UnicodeEncodeError:
        status = "raw bytes of the file in the message"
    out, err = capsys.readouterr()
    assert status == 2, err
    assert out == ""
    assert "Traceback" not in err
    assert sorted(p.name for p in Path().iterdir()) == before, "something was written"
    lines = err.rstrip("\n").split("\n")
    assert lines[0].startswith("goodgain: ")
    for text in (says,) if isinstance(says, str) else says:
        assert text in lines[0], err
    assert f"({where})" in lines[0] if where else True, err
    if hint is not None:
        assert len(lines) == 2 and lines[1].startswith("hint: "), err
        assert hint in lines[1], err
    assert len(lines) <= 2, err
    assert not re.search(r"\.\s", lines[0]), f"more than one sentence: {lines[0]}"
    return err
