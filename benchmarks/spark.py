"""Spark with two cores against local with two: overhead, rows a second, driver memory, skew.

As a program this module is one measurement: `spark.py DATA|LOCAL|SPARK|SKEW|GIANT ROWS`.
"""

import json
import os
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
import table
from check import Means, disagreements
from measure import HERE, worker
from subject import Bar, Context, Section, Subject, at_most, ratio

FOLDER = HERE / ".data" / "spark-v1"
DEPTH = 1_000
FILES = 8
FULL_ROWS = 20_000_000
REPEATS = 3
CORES = 2
SLOWER = 3.0
OVER_FLOOR = 2.0  # the longer way, over Spark's own time to pass the rows to Python
MANY, FEW = 200, 8  # partitions that are asked for
MANY_OVER_FEW = 1.5
GROWTH = 1.1
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "6g",
    "spark.ui.enabled": "false",
}


def run(context: Context) -> Section:
    """Each measurement in a process of its own."""
    if peers.version("pyspark") is None or shutil.which("java") is None:
        return Section(["result"], [["not measured: needs pyspark and Java"]])
    rows = FULL_ROWS // 8 if context.quick else FULL_ROWS
    few = rows // 4
    for count in (few, rows):
        worker("spark", "DATA", count)
    local = worker("spark", "LOCAL", rows)
    on_spark = {count: worker("spark", "SPARK", count) for count in (few, rows)}
    full = on_spark[rows]
    skew = worker("spark", "SKEW", rows // 20)
    giant = worker("spark", "GIANT", rows // 4)
    slower = ratio(full["best"], local["best"])
    growth = ratio(full["driver"], on_spark[few]["driver"])
    shown = [
        _row(f"local, {CORES} threads, Parquet", rows, local["best"], local["peak"]),
        _row(f"Spark, local[{CORES}], Parquet", rows, full["best"], full["driver"]),
        _row("Spark, rows that Spark reads, query by query", rows, full["longer"], None),
        _row(
            "Spark, the same rows scattered: one shuffle", rows, full["scattered"][str(FEW)], None
        ),
        _row(f"Spark, the same with {MANY} partitions", rows, full["scattered"][str(MANY)], None),
        _row("Spark alone: rows to a function that does nothing", rows, full["floor"], None),
        _row("Spark, its first job", rows, full["first"], None),
        _row(
            f"Spark, local[{CORES}], Parquet", few, on_spark[few]["best"], on_spark[few]["driver"]
        ),
        ["Spark, starting a session", "-", table.seconds(full["start"]), "-", "-"],
        ["Spark, a job of one query", "1", table.seconds(full["overhead"]), "-", "-"],
        _skew_row("query", "rows", skew),
        _skew_row("conversation", "results", giant),
    ]
    problems = disagreements(Means("local", local["means"]), Means("Spark", full["means"]))
    problems += (
        [] if local["means"] == full["means"] else ["local and Spark differ in a bit of a mean"]
    )
    problems += [] if full["same"] else ["the ways through Spark differ in a bit of a mean"]
    problems += [] if skew["same"] else ["local and Spark differ on a skewed run"]
    bar = f"spark: time of {rows:,} rows over local's, once running"
    return Section(
        columns=["what", "rows", "best", "rows a second a core", "peak"],
        rows=shown,
        text=(
            f"nDCG@10, AP, RR, R@1000 and P@10 of queries of {DEPTH:,} rows, read from {FILES} files of "
            "Parquet, query by query. The peak is that of the driver's own process; of the skewed ones, that "
            "of the largest process that measures. A session and a first job are paid once; all else is once "
            "running."
        ),
        bars=[
            *(
                [] if context.quick else [at_most(bar, SLOWER, slower)]
            ),  # a job itself takes seconds
            at_most(
                "spark: rows that Spark reads, over passing them to Python",
                OVER_FLOOR,
                ratio(full["longer"], full["floor"]),
            ),
            at_most(
                f"spark: {MANY} partitions over {FEW}",
                MANY_OVER_FEW,
                ratio(full["scattered"][str(MANY)], full["scattered"][str(FEW)]),
            ),
            Bar(
                f"spark: the driver's memory for {rows:,} rows over {few:,}",
                f"<= {GROWTH:g}x",
                f"{growth:.2f}x",
                growth <= GROWTH,
            ),
        ],
        problems=problems,
    )


def _row(what: str, rows: int, seconds: float, peak: float | None) -> list[str]:
    rate = f"{rows / seconds / CORES:,.0f}"
    return [what, f"{rows:,}", table.seconds(seconds), rate, table.megabytes(peak)]


def _skew_row(what: str, of: str, found: dict[str, Any]) -> list[str]:
    name = f"Spark, one {what} of {found['giant']:,} {of} among {found['many']:,} small ones"
    return _row(name, found["rows"], found["best"], found["worker"])


# --- one measurement ---


def make(rows: int) -> dict[str, object]:
    """Runs and judgements as Parquet, from a seed."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / str(rows)
    if folder.exists():
        return {}
    partial = folder.with_name(f"{os.getpid()}.{rows}")
    (partial / "run").mkdir(parents=True)
    (partial / "qrels").mkdir()
    rng = np.random.default_rng(1)
    queries = rows // DEPTH
    for part, ids in enumerate(np.array_split(np.arange(queries) + 100_000, FILES)):
        docs = np.concatenate([rng.choice(8_841_823, DEPTH, replace=False) for _ in ids])
        scores = np.sort(np.round(rng.uniform(0, 16, (len(ids), DEPTH)), 6), axis=1)[
            :, ::-1
        ].ravel()
        query = np.repeat(ids, DEPTH)
        judged = rng.random(len(docs)) < 0.04
        gains = rng.integers(0, 4, judged.sum())
        for name, columns in (
            ("run", {"query": query, "doc": docs, "score": scores}),
            ("qrels", {"query": query[judged], "doc": docs[judged], "gain": gains}),
        ):
            found = pa.table(columns)
            for at, column in enumerate(("query", "doc")):
                found = found.set_column(at, column, found[column].cast(pa.string()))
            pq.write_table(found, partial / name / f"part-{part}.parquet")
    partial.replace(folder)
    return {}


def local(rows: int) -> dict[str, object]:
    import pyarrow.parquet as pq

    import goodgain as gg

    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        qrels = gg.Qrels(pq.read_table(FOLDER / str(rows) / "qrels"))
        ranked = pq.read_table(FOLDER / str(rows) / "run")
        result = gg.evaluate(qrels, ranked, list(peers.MEASURES), threads=CORES)
        means = result.means["run"]
        seconds.append(time.perf_counter() - start)
    return {"best": min(seconds), "peak": _peak(), "means": means}


def on_spark(rows: int) -> dict[str, object]:
    import goodgain.spark

    start = time.perf_counter()
    session = _session()
    started = time.perf_counter() - start
    path = f"{FOLDER / str(rows)}"
    means = []

    def timed(change: Callable[[Any], Any], **options: int) -> float:
        start = time.perf_counter()
        qrels, ranked = (session.read.parquet(f"{path}/{name}") for name in ("qrels", "run"))
        found = goodgain.spark.evaluate(
            qrels, change(ranked), list(peers.MEASURES), session=session, **options
        )
        means.append(found.evaluation.means["run"])
        found.release()
        return time.perf_counter() - start

    seconds = [timed(lambda ranked: ranked) for _ in range(REPEATS + 1)]
    longer = min(timed(_filtered) for _ in range(REPEATS - 1))
    scattered = {
        count: min(
            timed(lambda rows: _filtered(rows).repartition(FILES), partitions=count)
            for _ in range(REPEATS - 1)
        )
        for count in (FEW, MANY)
    }
    floor = min(_floor(session.read.parquet(f"{path}/run")) for _ in range(REPEATS - 1))
    start = time.perf_counter()
    goodgain.spark.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", session=session)
    overhead = time.perf_counter() - start
    first, *later = seconds
    return {
        "start": started, "first": first, "best": min(later), "longer": longer, "floor": floor,
        "scattered": {str(count): seconds for count, seconds in scattered.items()},
        "overhead": overhead, "driver": _peak(), "means": means[0],
        "same": all(one == means[0] for one in means),
    }  # fmt: skip


def _filtered(rows: Any) -> Any:
    """Rows that only Spark can produce."""
    return rows.where("score > -1")


def _floor(rows: Any) -> float:
    """What Spark itself takes to pass rows to Python."""

    def nothing(batches: Any) -> Any:
        for _ in batches:
            pass
        return iter(())

    start = time.perf_counter()
    _filtered(rows).mapInArrow(nothing, "nothing int").count()
    return time.perf_counter() - start


def skewed(many: int) -> dict[str, object]:
    """Small queries of five rows each, and one that has as many rows as all of them."""
    import goodgain as gg
    import goodgain.spark

    session = _session()
    giant = 5 * many
    columns = "concat('d', id) doc", "cast(hash(id) as double) score"
    small = session.range(giant).selectExpr(f"concat('q', id % {many}) query", *columns)
    large = session.range(giant).selectExpr("'giant' query", *columns)
    ranked = small.union(large)
    qrels = ranked.where("doc like '%7'").selectExpr("query", "doc", "1 gain")
    with Watch() as watch:
        start = time.perf_counter()
        found = goodgain.spark.evaluate(qrels, ranked, "nDCG@10 AP", session=session).evaluation
        means = found.means
        seconds = time.perf_counter() - start
    local = gg.evaluate(gg.Qrels(qrels.toArrow()), ranked.toArrow(), "nDCG@10 AP", threads=CORES)
    return {
        "rows": 2 * giant, "giant": giant, "many": many, "best": seconds, "worker": watch.peak,
        "same": local.means == means,
    }  # fmt: skip


def giant_conversation(results: int) -> dict[str, object]:
    import goodgain.spark

    session = _session()
    many = results // 5
    one = (
        "to_json(named_struct('conversation', {id}, 'turns', array(named_struct('iterations', "
        "array(named_struct('searches', array(named_struct('query', 'q', 'results', "
        "transform(sequence(1, {n}), i -> named_struct('id', concat('r', i), 'gain', i % 5)))))))))) "
        "trace"
    )
    small = session.range(many).selectExpr(one.format(id="concat('c', id)", n=5))
    traces = small.union(session.range(1).selectExpr(one.format(id="'giant'", n=results)))
    with Watch() as watch:
        start = time.perf_counter()
        found = goodgain.spark.good_gain(traces, session=session)
        seconds = time.perf_counter() - start
    rows = found.per_iteration.where("conversation = 'giant'").select("R").collect()
    assert [row["R"] for row in rows] == [results]
    return {
        "rows": 2 * results, "giant": results, "many": many, "best": seconds, "worker": watch.peak,
    }  # fmt: skip


def _session() -> object:
    import goodgain.spark

    session = goodgain.spark.start(f"local[{CORES}]", SETTINGS)
    session.sparkContext.setLogLevel("ERROR")
    return session


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


class Watch:
    """The largest process of Python that works for this one's Spark, looked at ten times a second."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.1):
            for path in _descendants(os.getpid()):
                try:
                    if b"pyspark.daemon" in (path / "cmdline").read_bytes():
                        pages = int((path / "statm").read_text().split()[1])
                        self.peak = max(self.peak, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
                except (OSError, IndexError):
                    continue


def _descendants(pid: int) -> list[Path]:
    """The processes that a process started, and those that they started: others may run Spark, too."""
    children: dict[int, list[Path]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
        except (OSError, IndexError):
            continue
        children.setdefault(int(parent), []).append(path)
    found = list(children.get(pid, ()))
    for path in found:  # which grows meanwhile
        found += children.get(int(path.name), ())
    return found


SUBJECT = Subject("spark", "Spark and local", 95, run)

if __name__ == "__main__":
    modes = {
        "DATA": make, "LOCAL": local, "SPARK": on_spark, "SKEW": skewed, "GIANT": giant_conversation,
    }  # fmt: skip
    print(json.dumps(modes[sys.argv[1]](int(sys.argv[2]))))
