"""A research agent without a model, under capture: python agent.py FILE [SEARCHES].

It searches for the question, opens the best page, searches again with the headings of what it opened, and
answers with what it opened. Replace `search`, `open_page` and `answer` by your own; capture stays as it is.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import goodgain as gg
from goodgain.experiment.retrievers import BM25, KNN

HANDBOOK = Path(__file__).resolve().parent.parent / "handbook"
PAGES = {
    row["id"]: row["text"]
    for row in map(json.loads, (HANDBOOK / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
}
WORDS, VECTORS = BM25(stemmer="english"), KNN(dimensions=24)
WORDS.index(PAGES)
VECTORS.index(PAGES)


@gg.search_tool
def search(query: str, vectors: bool = False) -> list[dict[str, str]]:
    """Search the handbook."""
    ranking = (VECTORS if vectors else WORDS)(query)[:4]
    return [
        {"id": page, "title": PAGES[page].splitlines()[0][2:], "content": PAGES[page]}
        for page, _ in ranking
    ]


@gg.live.open_tool
def open_page(doc_id: str) -> str:
    """Read a page."""
    return PAGES[doc_id]


def answer(question: str, searches: int, turn: gg.live.Turn) -> None:
    """Search, read, search on, and cite what was read."""
    opened: list[str] = []
    query = question
    for i in range(searches):
        turn.step(tokens=200 + 150 * i)  # what your model's generation before this search used
        new = [
            result["id"]
            for result in search(query, vectors=i % 2 == 1)
            if result["id"] not in opened
        ]
        if new:
            text = open_page(new[0])
            opened.append(new[0])
            query = f"{question} {text.splitlines()[0][2:]}"
    turn.answer(f"See {', '.join(opened)}.", citations=opened)


def main() -> None:
    """Answer all questions of the handbook."""
    file, searches = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4
    live = gg.live.capture(file, system=f"{searches} searches")
    with (HANDBOOK / "queries.tsv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows, delimiter="\t"):
            with live.conversation(row["id"], user=row["text"]) as turn:
                answer(row["text"], searches, turn)
    live.close()
    if live.errors or live.dropped:
        raise SystemExit(f"{live.errors} errors of capture, {live.dropped} dropped")


if __name__ == "__main__":
    main()
