"""The generated collection, shaped like the development queries of MS MARCO passage ranking.

Every query is made from a seed of its own, so a smaller collection is a part of a larger one.
Scores are below 16 with six decimals, so that tools that read them as 32-bit floats rank alike.
About 3 in 100 documents tie with the one before; their order in the file is arbitrary. Every query
is both judged and retrieved.

`python benchmarks/data.py KIND QUERIES` makes one file; `path` does that where it is missing.
"""

import gzip
import os
import random
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from measure import HERE, spawn

FOLDER = HERE / ".data" / "v1"
DOCUMENTS = 8_841_823
QUERY_IDS = 1_102_400
DEPTH = 1_000
MOST_QUERIES = 13_960
JUDGED = range(30, 85)
RETRIEVED_SHARE = 0.65
GRADES = (0, 1, 2, 3)
RETRIEVED_WEIGHTS = (50, 28, 13, 9)
MISSED_WEIGHTS = (72, 18, 6, 4)
GAPS = [0] * 30 + [round(12_000 * i / 970) for i in range(1, 971)]
BLOCKS = 10
SUFFIXES = {
    "run": "txt",
    "qrels": "txt",
    "shuffled": "txt",
    "interleaved": "txt",
    "gzip": "txt.gz",
    "parquet": "parquet",
}


def path(kind: str, queries: int) -> Path:
    """The file of a kind (see SUFFIXES) with so many queries; made first where missing."""
    target = FOLDER / f"{kind}-{queries}.{SUFFIXES[kind]}"
    if not target.exists():
        print(f"making {target.name}", file=sys.stderr)
        spawn([sys.executable, __file__, kind, str(queries)])
    return target


def warm(*paths: Path) -> None:
    """Read files once, so that they are in the page cache for every tool alike."""
    for each in paths:
        with each.open("rb", buffering=0) as file:
            while file.read(2**20):
                pass


def lines(queries: int) -> int:
    """How many lines a run of so many queries has."""
    return queries * DEPTH


def query_ids(queries: int) -> list[int]:
    ids = random.Random("queries").sample(range(1, QUERY_IDS), MOST_QUERIES)
    return sorted(ids[:queries])


def ranking(query: int) -> tuple[list[int], list[float], list[tuple[int, int]]]:
    """Retrieved documents and their scores from the best, and (document, grade) judgements."""
    rng = random.Random(query)
    documents = rng.sample(range(DOCUMENTS), DEPTH + max(JUDGED))

    judged = rng.choice(JUDGED)
    wanted = round(judged * RETRIEVED_SHARE)
    ranks: set[int] = set()
    while len(ranks) < wanted:
        ranks.add(int(DEPTH * rng.random() ** 3))
    hits = rng.choices(GRADES, RETRIEVED_WEIGHTS, k=wanted)
    misses = rng.choices(GRADES, MISSED_WEIGHTS, k=judged - wanted)
    if not any(hits) and not any(misses):
        hits[0] = 1
    judgements = [(documents[rank], grade) for rank, grade in zip(sorted(ranks), hits, strict=True)]
    judgements += zip(documents[DEPTH:], misses, strict=False)

    best = rng.randrange(13_000_000, 15_900_000)
    losses = accumulate(rng.choices(GAPS, k=DEPTH - 1), initial=0)
    return documents[:DEPTH], [(best - loss) / 1e6 for loss in losses], sorted(judgements)


def run_lines(query: int) -> list[str]:
    documents, scores, _ = ranking(query)
    return [
        f"{query} Q0 {document} {rank} {score:.6f} generated\n"
        for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
    ]


def run_text(queries: int) -> Iterator[str]:
    for query in query_ids(queries):
        yield "".join(run_lines(query))


def qrels_text(queries: int) -> Iterator[str]:
    for query in query_ids(queries):
        yield "".join(f"{query} 0 {document} {grade}\n" for document, grade in ranking(query)[2])


def shuffled_text(queries: int) -> Iterator[str]:
    """The same lines, in any order inside each query."""
    for query in query_ids(queries):
        of_query = run_lines(query)
        random.Random(query).shuffle(of_query)
        yield "".join(of_query)


def interleaved_text(queries: int) -> Iterator[str]:
    """The same lines, every query in BLOCKS places of the file, as after joining shards."""
    size = DEPTH // BLOCKS
    blocks: list[list[str]] = [[] for _ in range(BLOCKS)]
    for query in query_ids(queries):
        of_query = run_lines(query)
        for number, block in enumerate(blocks):
            block.append("".join(of_query[number * size : (number + 1) * size]))
    for block in blocks:
        yield from block


def write_gzip(target: Path, queries: int) -> None:
    with gzip.open(target, "wt", compresslevel=6) as file:
        file.writelines(run_text(queries))


def write_parquet(target: Path, queries: int) -> None:
    """Columns query, doc (text) and score."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    columns = ["query", "q0", "doc", "rank", "score", "tag"]
    table = pyarrow.csv.read_csv(
        path("run", queries),
        read_options=pyarrow.csv.ReadOptions(column_names=columns),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" "),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=["query", "doc", "score"],
            column_types={"query": pa.string(), "doc": pa.string(), "score": pa.float64()},
        ),
    )
    pyarrow.parquet.write_table(table, target)


TEXTS: dict[str, Callable[[int], Iterator[str]]] = {
    "run": run_text,
    "qrels": qrels_text,
    "shuffled": shuffled_text,
    "interleaved": interleaved_text,
}


def make(kind: str, queries: int) -> None:
    """Write one file, whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"{kind}-{queries}.{SUFFIXES[kind]}"
    partial = target.with_name(f"{os.getpid()}.{target.name}")
    try:
        if kind == "gzip":
            write_gzip(partial, queries)
        elif kind == "parquet":
            write_parquet(partial, queries)
        else:
            with partial.open("w", encoding="ascii") as file:
                file.writelines(TEXTS[kind](queries))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
