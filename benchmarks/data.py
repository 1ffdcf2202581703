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
from typing import Any

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
    "scattered": "txt",
    "csv": "csv",
    "gzip": "txt.gz",
    "zstd": "txt.zst",
    "parquet": "parquet",
    "scattered_parquet": "parquet",
    "arrow": "arrow",
    "large": "txt",
    "large_sorted": "txt",
    "large_qrels": "txt",
    "large_parquet": "parquet",
    "large_scattered_parquet": "parquet",
}
COPIES = 10  # of the collection in a large one


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


def scattered_text(queries: int) -> Iterator[str]:
    """The same lines in any order at all."""
    of_all = [line for query in query_ids(queries) for line in run_lines(query)]
    random.Random("scattered").shuffle(of_all)
    yield from of_all


def csv_text(queries: int) -> Iterator[str]:
    yield "query,doc,score\n"
    for query in query_ids(queries):
        documents, scores, _ = ranking(query)
        yield "".join(
            f"{query},{document},{score:.6f}\n"
            for document, score in zip(documents, scores, strict=True)
        )


def write_gzip(target: Path, queries: int) -> None:
    with gzip.open(target, "wt", compresslevel=6) as file:
        file.writelines(run_text(queries))


def write_zstd(target: Path, queries: int) -> None:
    from goodgain.io.compression import compress

    with target.open("wb") as file:
        chunks = (text.encode() for text in run_text(queries))
        file.writelines(compress(f"run.{SUFFIXES['zstd']}", chunks))


def write_parquet(target: Path, queries: int) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow_table("run", queries), target)


def write_scattered_parquet(target: Path, queries: int) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(arrow_table("scattered", queries), target)


def write_arrow(target: Path, queries: int) -> None:
    import pyarrow as pa

    table = arrow_table("run", queries)
    with pa.OSFile(str(target), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 17)


def arrow_table(kind: str, queries: int) -> Any:
    """Columns query, doc (text) and score."""
    return arrow_batches(kind, queries).read_all()


def arrow_batches(kind: str, queries: int) -> Any:
    """The same, read as it is used."""
    import pyarrow as pa
    import pyarrow.csv

    columns = ["query", "q0", "doc", "rank", "score", "tag"]
    return pyarrow.csv.open_csv(
        path(kind, queries),
        read_options=pyarrow.csv.ReadOptions(column_names=columns, block_size=8 << 20),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" "),
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=["query", "doc", "score"],
            column_types={"query": pa.string(), "doc": pa.string(), "score": pa.float64()},
        ),
    )


def write_large(target: Path, queries: int) -> None:
    """The scattered lines COPIES times, each time with other queries, in any order."""
    rng = random.Random("large")
    lines = path("scattered", queries).read_bytes().splitlines(keepends=True)
    shift = len(lines) // DEPTH // COPIES * DEPTH
    with target.open("wb") as file:
        for start in range(0, len(lines), DEPTH):
            mixed: list[bytes] = []
            for copy in range(COPIES):
                prefix, begin = b"%d" % copy, (start + copy * shift) % len(lines)
                mixed += [prefix + line for line in lines[begin : begin + DEPTH]]
            rng.shuffle(mixed)
            file.writelines(mixed)


def write_large_sorted(target: Path, queries: int) -> None:
    """The sorted lines COPIES times, each time with other queries."""
    lines = path("run", queries).read_bytes()
    with target.open("wb") as file:
        for copy in range(COPIES):
            prefix = b"%d" % copy
            file.write(prefix + lines[:-1].replace(b"\n", b"\n" + prefix) + b"\n")


def write_large_qrels(target: Path, queries: int) -> None:
    """The judgments of the queries of `write_large`."""
    lines = path("qrels", queries).read_bytes().splitlines(keepends=True)
    with target.open("wb") as file:
        for copy in range(COPIES):
            file.writelines(b"%d%b" % (copy, line) for line in lines)


def write_large_parquet(target: Path, queries: int) -> None:
    """The sorted lines COPIES times, each time with other queries, as row groups of the usual size."""
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    table = arrow_table("run", queries)
    with pyarrow.parquet.ParquetWriter(target, table.schema) as writer:
        for copy in range(COPIES):
            ids = pa.compute.binary_join_element_wise(str(copy), table.column("query"), "")
            writer.write_table(table.set_column(0, "query", ids))


def write_large_scattered_parquet(target: Path, queries: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    batches = arrow_batches("large", queries)
    with pyarrow.parquet.ParquetWriter(target, batches.schema) as writer:
        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            if sum(map(len, waiting)) >= 1 << 20:
                writer.write_table(pa.Table.from_batches(waiting).combine_chunks())
                waiting.clear()
        writer.write_table(pa.Table.from_batches(waiting, batches.schema))


TEXTS: dict[str, Callable[[int], Iterator[str]]] = {
    "run": run_text,
    "qrels": qrels_text,
    "shuffled": shuffled_text,
    "interleaved": interleaved_text,
    "scattered": scattered_text,
    "csv": csv_text,
}
WRITERS: dict[str, Callable[[Path, int], None]] = {
    "gzip": write_gzip,
    "zstd": write_zstd,
    "parquet": write_parquet,
    "scattered_parquet": write_scattered_parquet,
    "arrow": write_arrow,
    "large": write_large,
    "large_sorted": write_large_sorted,
    "large_qrels": write_large_qrels,
    "large_parquet": write_large_parquet,
    "large_scattered_parquet": write_large_scattered_parquet,
}


def make(kind: str, queries: int) -> None:
    """Write one file, whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"{kind}-{queries}.{SUFFIXES[kind]}"
    partial = target.with_name(f"{os.getpid()}.{target.name}")
    try:
        if kind in WRITERS:
            WRITERS[kind](partial, queries)
        else:
            with partial.open("w", encoding="ascii") as file:
                file.writelines(TEXTS[kind](queries))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
