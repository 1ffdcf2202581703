"""Judgments and runs from pipes, as `<(zcat run.gz)` gives them."""

from __future__ import annotations

import os
import threading

import pytest

from goodgain.cli import run

QRELS, RUN = "q1 0 d1 1\nq2 0 d2 1\n", "q1 Q0 d1 1 2 a\nq2 Q0 x 1 2 a\n"


@pytest.mark.parametrize("piped", [("qrels",), ("run",), ("qrels", "run")])
def test_evaluate_reads_pipes(tmp_path, capsys, piped):
    paths, writers = {}, []
    for name, text in (("qrels", QRELS), ("run", RUN)):
        path = tmp_path / name
        paths[name] = str(path)
        if name in piped:
            os.mkfifo(path)
            writers.append(threading.Thread(target=path.write_text, args=(text,)))
        else:
            path.write_text(text)
    for writer in writers:
        writer.start()
    assert run(["evaluate", paths["qrels"], paths["run"], "-m", "RR", "--format", "csv"]) == 0
    for writer in writers:
        writer.join(10)
    assert "run,RR,0.5,2" in capsys.readouterr().out
