import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from server import KEY, Server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Server() as running:
        yield running


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """A store of format 1, as version 0.1 wrote it."""
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript((Path(__file__).parent / "store-0.1.sql").read_text())
        db.execute("PRAGMA application_id = 0x47474C42")
        db.execute("PRAGMA user_version = 1")
    return path
