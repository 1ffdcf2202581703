"""A keyword search over the handbook: BM25, with the words of titles counted more than once."""

from __future__ import annotations

import json
from pathlib import Path

from goodgain.experiment.retrievers import BM25

TITLE_WEIGHT = 3
HANDBOOK = Path(__file__).resolve().parent.parent / "handbook" / "corpus.jsonl"


def read_pages() -> dict[str, str]:
    """The pages by id."""
    lines = HANDBOOK.read_text(encoding="utf-8").splitlines()
    return {row["id"]: row["text"] for row in map(json.loads, lines)}


PAGES = read_pages()
INDEX = BM25(stemmer="english")
INDEX.index(
    {page: f"{text.splitlines()[0]} " * TITLE_WEIGHT + text for page, text in PAGES.items()}
)


def find(query: str, depth: int) -> list[dict[str, str]]:
    """The best pages for a query."""
    return [{"id": page, "text": PAGES[page]} for page, _ in INDEX(query)[:depth]]
