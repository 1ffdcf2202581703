"""Made results for the pictures of docs/gallery.md: few and many systems and queries, and agents."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import goodgain as gg

WORDS = (
    "how", "to", "parse", "dates", "sort", "list", "files", "read", "csv", "threads", "wait", "timeout",
    "copy", "folder", "unicode", "regex", "group", "json", "large", "numbers",
)  # fmt: skip
MODELS = (
    "bm25", "bm25-rm3", "bm25-stemmed", "dense-small", "dense-base", "dense-large", "colbert", "splade",
    "hybrid-rrf", "hybrid-weighted", "rerank-small", "rerank-base", "rerank-large", "cascade",
)  # fmt: skip
SITES = ("docs.python.org", "peps.python.org", "stackoverflow.com")


def collection(queries: int, seed: int = 7) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Judgments of thirty documents a query, and the texts of the queries."""
    chance = random.Random(seed)
    qrels, texts = {}, {}
    for i in range(queries):
        query = f"q{i + 1:03d}"
        qrels[query] = {
            f"doc-{chance.randrange(5000):04d}": chance.choice((0, 0, 0, 1, 2, 3))
            for _ in range(30)
        }
        texts[query] = " ".join(chance.sample(WORDS, chance.randint(2, 9)))
    return qrels, texts


def run(
    qrels: dict[str, dict[str, int]], name: str, skill: float, seconds: float, chance: random.Random
) -> gg.Run:
    """Judged documents in an order that is better with more skill, and some that nobody judged."""
    lists = {
        query: {doc: skill * gain + chance.gauss(0, 1) for doc, gain in docs.items()}
        | {f"doc-{chance.randrange(5000, 9000)}": chance.gauss(0, 1) for _ in range(4)}
        for query, docs in qrels.items()
    }
    return gg.Run(lists, name=name, latency={q: seconds * chance.uniform(0.7, 1.4) for q in qrels})


def report(path: Path, names: tuple[str, ...], queries: int, **options: Any) -> None:
    """The page of systems that differ more and more from the first one; one system is only evaluated."""
    chance = random.Random(3)
    qrels, texts = collection(queries)
    runs = [
        run(qrels, name, 0.35 + 0.5 * (i / max(1, len(names) - 1)), 0.008 * (1 + i), chance)
        for i, name in enumerate(names)
    ]
    evaluated = gg.evaluate(qrels, runs, "nDCG@10 AP RR Latency")
    if len(names) == 1:
        evaluated.report(path, queries=texts)
        return
    by = kinds(texts) if queries > 20 else None
    gg.compare(evaluated, by=by, **options).report(path, queries=texts)


def kinds(texts: dict[str, str]) -> dict[str, str]:
    """Groups of queries by their length."""
    return {q: "short" if len(text.split()) < 5 else "long" for q, text in texts.items()}


def trace(system: str, number: int, *, is_labelled: bool) -> dict[str, Any]:
    """A conversation of a few iterations: later ones repeat results, some searches fail."""
    chance = random.Random(f"{system}{number}")
    iterations = []
    for i in range(chance.randint(2, 7)):
        results = []
        for _ in range(5):
            page = chance.randrange(5 + 5 * i)
            words = WORDS[page % len(WORDS)], WORDS[(page + number) % len(WORDS)]
            result: dict[str, Any] = {
                "url": f"https://{SITES[page % 3]}/{number}/{page}",
                "title": f"{words[0].capitalize()}: page {page}",
                "snippet": f"What page {page} says about {words[1]} and {words[0]}.",
            }
            if is_labelled:
                result["gain"] = random.Random(f"{number}/{page}").choice((0, 0, 1, 2, 3, 4))
            results.append(result)
        search: dict[str, Any] = {
            "query": " ".join(chance.sample(WORDS, 4)), "tool": "web", "results": results,
            "latency": chance.uniform(0.2, 1.8), "tokens": chance.randint(200, 900), "cost": 0.004,
        }  # fmt: skip
        if i and chance.random() < 0.1:
            search |= {"results": [], "error": "HTTP 503"}
        iterations.append({"searches": [search]})
    text = " ".join(random.Random(number).sample(WORDS, 5))
    return {
        "conversation": f"c{number:02d}",
        "system": system,
        "turns": [{"user": text, "iterations": iterations}],
    }


def agents(*, is_labelled: bool) -> gg.GoodGain:
    """Two agents on the same questions."""
    return gg.good_gain(
        [
            trace(name, n, is_labelled=is_labelled)
            for name in ("planner", "react")
            for n in range(24)
        ]
    )


PAGES: dict[str, Callable[[Path], None]] = {
    "one-system": lambda path: report(path, ("bm25",), 53),
    "two-systems": lambda path: report(path, ("bm25", "hybrid-rrf"), 53),
    "fourteen-systems": lambda path: report(path, MODELS, 53),
    "sixty-systems": lambda path: report(
        path, tuple(f"grid/run-{i:02d}" for i in range(60)), 50, baseline="all"
    ),
    "one-query": lambda path: report(path, ("bm25", "hybrid-rrf"), 1),
    "many-queries": lambda path: report(path, ("bm25", "dense-base", "hybrid-rrf"), 10_000),
    "agents": lambda path: agents(is_labelled=True).report(path),
    "agents-unlabelled": lambda path: agents(is_labelled=False).report(path),
}


def saved_results(folder: Path) -> None:
    """A folder of results for the viewer: an experiment that was repeated, and a few others."""
    qrels, _ = collection(40)
    folder.mkdir()
    for i in range(12):
        chance = random.Random(i)
        names = ("bm25", "hybrid-rrf") if i % 3 == 0 else ("hybrid-rrf",)
        runs = [run(qrels, n, 0.4 + 0.03 * i + 0.1 * (n != "bm25"), 0.02, chance) for n in names]
        saved = gg.evaluate(qrels, runs, "nDCG@10 AP RR Latency").to_dict()
        saved["created"] = f"2026-03-{i + 1:02d}T04:00:00+00:00"
        (folder / f"nightly-{i + 1:02d}.json").write_text(json.dumps(saved), encoding="utf-8")
    agents(is_labelled=True).save(folder / "agents.json")
