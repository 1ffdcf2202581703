from __future__ import annotations

import pytest
from refusals import QRELS, RUN


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with good judgments and a good run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return tmp_path
