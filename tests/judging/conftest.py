"""A judging page over a new store, for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from judging_client import Client, desk_of, judge_with_model, running

from goodgain.judging import JudgingServer
from goodgain.labels import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """`serve(pairs, ...)`: a client of a desk over a new store."""
    contexts = []

    def open_desk(pairs: list[dict[str, Any]], *, labelled: bool = False, **options: Any) -> Client:
        path = tmp_path / "labels.db"
        if labelled:
            judge_with_model(path, pairs)
        store = Store(path)
        context = running(JudgingServer(desk_of(store, pairs, **options)))
        server = context.__enter__()
        contexts.append((context, store))
        return Client(server)

    yield open_desk
    for context, store in contexts:
        context.__exit__(None, None, None)
        store.close()
