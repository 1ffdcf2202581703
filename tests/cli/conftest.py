from __future__ import annotations

import contextlib

import pytest
from refusals import QRELS, RUN


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with good judgments and a good run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return tmp_path


@pytest.fixture(scope="session")
def long_inputs(tmp_path_factory):
    """A folder with inputs that keep every command busy for some tenths of a second."""
    from interrupts import build  # it reads /proc, which only Linux has

    path = tmp_path_factory.mktemp("long")
    with contextlib.chdir(path):
        build(path)
    return path


@pytest.fixture(scope="session")
def slow_server():
    """A server that replies late."""
    from interrupts import SlowServer

    with SlowServer() as started:
        yield started
