"""Keyword search: the built-in BM25 against tantivy and bm25s, and near neighbours by an index."""

import json
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import table
from measure import worker
from subject import Bar, Context, Section, Subject, at_most, ratio

DOCUMENTS, WORDS, VOCABULARY = 100_000, 60, 200_000
MANY, SHORT = 1_000_000, 10
QUERIES, QUERY_WORDS, DEPTH = 200, 5, 100
VECTORS, DIMENSIONS, NEIGHBOURS = 20_000, 128, 10
MEMORY = 2048  # MB, for a million short documents
TOOLS = ("goodgain", "tantivy", "bm25s")


def run(context: Context) -> Section:
    """Index and search in turn, tool by tool and query by query, in one process for each size."""
    share = 8 if context.quick else 1
    result = worker("keywords", "search", DOCUMENTS // share)
    many = worker("keywords", "many", MANY // share)
    near = worker("keywords", "neighbours", VECTORS // share)
    index, search = result["index"], result["search"]
    rows = [
        [
            tool,
            table.seconds(index[tool]),
            table.seconds(search[tool]),
            table.times(ratio(search["tantivy"], search[tool])),
        ]
        for tool in TOOLS
    ]
    return Section(
        columns=["tool", "index", "a query", "times tantivy's speed"],
        rows=rows,
        text=(
            f"{DOCUMENTS // share:,} documents of {WORDS} words, Zipf's law over {VOCABULARY:,}; {QUERIES} "
            f"queries of {QUERY_WORDS} words, the best {DEPTH} documents (of goodgain with their ids, of "
            f"the others without); median of 3 rounds in which the tools take turns."
        ),
        bars=[
            at_most(
                "keywords: time of a query, of tantivy's",
                3,
                ratio(search["goodgain"], search["tantivy"]),
            ),
            at_most(
                "keywords: time of indexing, of tantivy's",
                4,
                ratio(index["goodgain"], index["tantivy"]),
            ),
            Bar(
                f"keywords: memory of the process with {MANY // share:,} documents of {SHORT} words",
                f"<= {MEMORY:,} MB",
                f"{many['peak_mb']:,.0f} MB",
                many["peak_mb"] <= MEMORY,
            ),
        ],
        notes=[
            f"{MANY // share:,} documents of {SHORT} words: indexed in {table.seconds(many['index'])}, "
            f"a query takes {table.seconds(many['search'])}.",
            f"{NEIGHBOURS} neighbours of each of {VECTORS // share:,} vectors of {DIMENSIONS} numbers: exact "
            f"{table.seconds(near['exact'])}, clusters {table.seconds(near['clusters'])} with "
            f"{near['recall']}.",
        ],
        problems=result["problems"],
    )


def texts(documents: int, words: int) -> dict[str, str]:
    """Documents by Zipf's law."""
    import numpy as np

    drawn = _draw(np.random.default_rng(documents), documents * words)
    return {
        f"d{i}": " ".join(drawn[i * words : (i + 1) * words].tolist()) for i in range(documents)
    }


def queries() -> list[str]:
    import numpy as np

    drawn = _draw(np.random.default_rng(0), QUERIES * QUERY_WORDS)
    return [" ".join(drawn[i : i + QUERY_WORDS]) for i in range(0, len(drawn), QUERY_WORDS)]


def _draw(rng: Any, count: int) -> Any:
    import numpy as np

    letters = random.Random("words")
    words = np.array([
        "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=2 + i % 9)) + f"{i:x}"
        for i in range(VOCABULARY)
    ])  # fmt: skip
    weights = 1 / np.arange(1, VOCABULARY + 1)
    return words[rng.choice(VOCABULARY, size=count, p=weights / weights.sum())]


# --- the tools: index documents, return a function that searches ---


def goodgain_index(documents: dict[str, str]) -> Callable[[str], list[tuple[str, float]]]:
    from goodgain.experiment.retrievers import BM25

    bm25 = BM25(depth=DEPTH)
    bm25.index(documents)
    return bm25


def tantivy_index(documents: dict[str, str]) -> Callable[[str], Any]:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", stored=False)
    index = tantivy.Index(builder.build())
    writer = index.writer(256_000_000)
    for doc, text in documents.items():
        writer.add_document(tantivy.Document(id=doc, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda query: searcher.search(index.parse_query(query, ["text"]), DEPTH).hits


def bm25s_index(documents: dict[str, str]) -> Callable[[str], list[float]]:
    import bm25s

    index = bm25s.BM25()
    words = bm25s.tokenize(list(documents.values()), stopwords="en", show_progress=False)
    index.index(words, show_progress=False)

    def search(query: str) -> list[float]:
        own = bm25s.tokenize([query], stopwords="en", show_progress=False, return_ids=False)
        _, scores = index.retrieve(own, k=DEPTH, show_progress=False)
        return [score for score in scores[0].tolist() if score > 0]

    return search


INDEX = {"goodgain": goodgain_index, "tantivy": tantivy_index, "bm25s": bm25s_index}


# --- what the processes do ---


def _search(count: int) -> dict[str, Any]:
    documents, asked = texts(count, WORDS), queries()
    indexed: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    search = {}
    for turn in range(2):
        for tool in TOOLS[: 2 if turn else 3]:  # bm25s takes long
            start = time.perf_counter()
            search[tool] = INDEX[tool](documents)
            indexed[tool].append(time.perf_counter() - start)
    rounds: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    for _ in range(3):
        spent = dict.fromkeys(TOOLS, 0.0)
        for query in asked:
            for tool in TOOLS:
                start = time.perf_counter()
                search[tool](query)
                spent[tool] += time.perf_counter() - start
        for tool, seconds in spent.items():
            rounds[tool].append(seconds / len(asked))
    problems = []
    for query in asked:
        own, peer = [score for _, score in search["goodgain"](query)], search["bm25s"](query)
        if len(own) != len(peer) or any(
            abs(a - b) > 1e-5 * (1 + b) for a, b in zip(own, peer, strict=False)
        ):
            problems.append(f"keywords: the scores of '{query}' are not those of bm25s")
    return {
        "index": {tool: min(seconds) for tool, seconds in indexed.items()},
        "search": {tool: statistics.median(seconds) for tool, seconds in rounds.items()},
        "problems": problems[:3],
    }


def _many(count: int) -> dict[str, Any]:
    documents, asked = texts(count, SHORT), queries()
    start = time.perf_counter()
    search = goodgain_index(documents)
    indexed = time.perf_counter() - start
    start = time.perf_counter()
    for query in asked:
        search(query)
    seconds = (time.perf_counter() - start) / len(asked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return {"index": indexed, "search": seconds, "peak_mb": peak}


def _neighbours(count: int) -> dict[str, Any]:
    import numpy as np

    from goodgain.experiment.retrievers.clusters import Clusters, exact_neighbours
    from goodgain.experiment.retrievers.vectors import unit

    rng = np.random.default_rng(0)
    topics = rng.normal(size=(500, DIMENSIONS))
    near = topics[rng.integers(0, 500, count)] + rng.normal(size=(count, DIMENSIONS))
    vectors, ranks = unit(near.astype(np.float32)), np.arange(count)
    start = time.perf_counter()
    exact_neighbours(vectors, NEIGHBOURS, ranks)
    exact = time.perf_counter() - start
    start = time.perf_counter()
    edges = Clusters(vectors, ranks).neighbours(NEIGHBOURS)
    return {
        "exact": exact,
        "clusters": time.perf_counter() - start,
        "recall": str(edges.recall),
    }


SUBJECT = Subject("keywords", "Built-in retrievers at scale", 85, run)

if __name__ == "__main__":
    work = {"search": _search, "many": _many, "neighbours": _neighbours}[sys.argv[1]]
    print(json.dumps(work(int(sys.argv[2]))))
