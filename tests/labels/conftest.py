from collections.abc import Iterator

import pytest
from server import Server

from goodgain.labels import Limits

QUICK = Limits(wait=0.02, concurrency=16)
KEY = "sk-secret-4711"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Server() as running:
        yield running
