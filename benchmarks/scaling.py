"""Time against the number of lines, which should grow linearly, and against the number of threads.

Every form and order of a run, from files and inside Python, is measured at four sizes and with 1, 2, 4 and 8
threads, and gives the same means.
"""

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

import data
import peers
import table
from check import Means, disagreements
from dicts import read_run
from measure import HERE, CommandError, Timing, calls, command, rounds, worker
from subject import Bar, Context, Section, Subject, at_most, below, ratio

PARTS = (8, 4, 2, 1)
REPEATS = 5
SLACK = 1.25
THREADS = (1, 2, 4, 8)
SERIAL_SHARE = 0.03  # of processor time: Amdahl's law then allows 11x on 16 cores
TWO_THREADS = 0.55
FILES = {
    "text": "run",
    "text, shuffled in queries": "shuffled",
    f"text, queries in {data.BLOCKS} places": "interleaved",
    "text, any order": "scattered",
    "CSV": "csv",
    "gzip": "gzip",
    "zstd": "zstd",
    "Parquet": "parquet",
    "Parquet, any order": "scattered_parquet",
    "Arrow file": "arrow",
}
IN_PYTHON = {
    "dictionaries": None,
    "Arrow table": "pyarrow",
    "Arrow stream": "pyarrow",
    "DuckDB relation": "duckdb",
}  # with the package that each needs
NEED_PYARROW = ("parquet", "scattered_parquet", "arrow")
COMPRESSED = 2.0  # gzip and zstd, of text
PARQUET_MB = 1000
Growth = list[tuple[int, Timing]]


def run(context: Context) -> Section:
    """Time parts of each run, judgments cut alike, and all of it by threads."""
    rows: list[list[str]] = []
    bars: list[Bar] = []
    notes: list[str] = []
    means: list[Means] = []
    largest: dict[str, Timing] = {}
    for form in [*FILES, *IN_PYTHON]:
        try:
            growth, threads, values = (
                _of_file(context, form) if form in FILES else _inside(context, form)
            )
        except CommandError as error:
            notes.append(f"{form} failed: {error}")
            continue
        if growth:
            largest[form] = growth[-1][1]
            rows.append(_row(form, growth, threads))
            bars.append(_bar(form, growth))
            means.append(Means(form, values))
    return Section(
        columns=[
            "run",
            *(f"{data.lines(context.queries // part):,} lines" for part in PARTS),
            "peak",
            *(f"{n} thread{'s'[: n > 1]}" for n in THREADS),
        ],
        rows=rows,
        text=(
            "Judgments and a run to five means: the best time at four sizes, and of the largest by "
            "the number of threads. `goodgain evaluate` reads files in a process of its own, whose start "
            "is included; what is inside Python goes to `goodgain.evaluate`, and its peak includes the "
            "data. Bars compare what a line costs in the last half with those before, free of the cost of "
            "starting."
        ),
        bars=[*bars, *_form_bars(largest), *_thread_bars(context)],
        notes=notes,
        problems=disagreements(means[0], *means[1:]) if means else [],
    )


def _of_file(context: Context, form: str) -> tuple[Growth, list[Timing], dict[str, float]]:
    """Times by size and by threads of one kind of file, and the means."""
    kind = FILES[form]
    if kind in NEED_PYARROW and peers.version("pyarrow") is None:
        return [], [], {}
    commands: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for queries in (context.queries // part for part in PARTS):
        qrels, run_file = data.path("qrels", queries), data.path(kind, queries)
        argv = peers.goodgain_command(qrels, run_file, "--format", "tsv")
        if argv is None:
            return [], [], {}
        data.warm(qrels, run_file)
        commands[run_file.name], lines[run_file.name] = argv, data.lines(queries)
    rounds(commands, dict.fromkeys(commands, 1))
    timings = rounds(commands, dict.fromkeys(commands, context.repeats(REPEATS)))
    whole = commands[run_file.name]
    by_threads = {str(n): [*whole, "--threads", str(n)] for n in THREADS}
    threads = rounds(by_threads, dict.fromkeys(by_threads, context.repeats(3)))
    growth = [(lines[name], timing) for name, timing in timings.items()]
    return growth, list(threads.values()), peers.goodgain_means(growth[-1][1].output)


def _inside(context: Context, form: str) -> tuple[Growth, list[Timing], dict[str, float]]:
    """The same inside Python, in a process for each size."""
    package = IN_PYTHON[form]
    if peers.version("goodgain") is None or (package and peers.version(package) is None):
        return [], [], {}
    growth: Growth = []
    for queries in (context.queries // part for part in PARTS):
        result = worker("scaling", form, queries, context.repeats(REPEATS))
        timing = Timing(tuple(result["seconds"]), result["peak_mb"])
        growth.append((data.lines(queries), timing))
    return growth, [Timing((seconds,)) for seconds in result["threads"]], result["means"]


def _row(form: str, growth: Growth, threads: list[Timing]) -> list[str]:
    return [
        form,
        *(table.seconds(timing.best) for _, timing in growth),
        table.megabytes(growth[-1][1].peak_mb),
        *(table.seconds(timing.best) for timing in threads),
    ]


def _form_bars(largest: dict[str, Timing]) -> list[Bar]:
    """Forms against text."""

    def of_text(form: str) -> float | None:
        if form not in largest or "text" not in largest:
            return None
        return ratio(largest[form].best, largest["text"].best)

    parquet = largest.get("Parquet")
    return [
        *(
            at_most(f"scaling: {form}, of text", COMPRESSED, of_text(form))
            for form in ("gzip", "zstd")
        ),
        below("scaling: peak of Parquet", PARQUET_MB, "MB", parquet.peak_mb if parquet else None),
    ]


def _thread_bars(context: Context) -> list[Bar]:
    """Judgments and a run from files in one process, by the number of threads."""
    qrels, run_file = data.path("qrels", context.queries), data.path("run", context.queries)
    script = [sys.executable, str(HERE / "scripts" / "threads.py"), str(qrels), str(run_file)]
    commands = {n: [*script, str(n)] for n in THREADS}
    best: dict[int, dict[str, float]] = {}
    for _ in range(context.repeats(REPEATS)):
        for n, argv in commands.items():
            measured = json.loads(command(argv).output)
            before = best.setdefault(n, measured)
            best[n] = {name: min(value, before[name]) for name, value in measured.items()}
    one, two = best[1], best[2]
    by_threads = ", ".join(f"{n}: {of['seconds']:.2f} s" for n, of in best.items())
    return [
        at_most("scaling: serial share of processor time, 2 threads", SERIAL_SHARE, two["serial"]),
        at_most(
            "scaling: processor time of the busiest of 2 threads, of 1",
            TWO_THREADS,
            two["longest"] / one["longest"],
        ),
        at_most(
            f"scaling: 2 threads, of 1 ({by_threads})", TWO_THREADS, two["seconds"] / one["seconds"]
        ),
    ]


def _slope(start: tuple[int, Timing], end: tuple[int, Timing]) -> float:
    """Nanoseconds that each line costs between two sizes."""
    return (end[1].best - start[1].best) / (end[0] - start[0]) * 1e9


def _bar(form: str, growth: Growth) -> Bar:
    """The later half of the lines against those before it, both free of the cost of starting."""
    what = f"scaling: {form}, a line of the last half, of a line before"
    before, after = _slope(growth[0], growth[-2]), _slope(growth[-2], growth[-1])
    if min(before, after) <= 0:  # too little for the noise of the machine
        return Bar(what, f"<= {SLACK:g}x", "not measured", None)
    return at_most(what, SLACK, after / before)


# --- inside Python: a function that returns the run, which a stream needs again for each call ---


def _dictionaries(queries: int) -> Callable[[], Any]:
    ranked = read_run(data.path("run", queries))
    return lambda: ranked


def _arrow_table(queries: int) -> Callable[[], Any]:
    import pyarrow.parquet

    ranked = pyarrow.parquet.read_table(data.path("parquet", queries))
    return lambda: ranked


def _arrow_stream(queries: int) -> Callable[[], Any]:
    import pyarrow as pa

    path = str(data.path("arrow", queries))

    def stream() -> Any:
        file = pa.ipc.open_file(pa.memory_map(path))
        batches = (file.get_batch(i) for i in range(file.num_record_batches))
        return pa.RecordBatchReader.from_batches(file.schema, batches)

    return stream


def _duckdb_relation(queries: int) -> Callable[[], Any]:
    import duckdb

    path = str(data.path("parquet", queries))
    return lambda: duckdb.from_parquet(path)


def _work(form: str, queries: int, repeats: int) -> dict[str, Any]:
    import goodgain as gg

    makers = (_dictionaries, _arrow_table, _arrow_stream, _duckdb_relation)
    make = dict(zip(IN_PYTHON, makers, strict=True))[form](queries)
    qrels, names = str(data.path("qrels", queries)), list(peers.MEASURES)

    def means(threads: int | None = None) -> dict[str, float]:
        result = gg.evaluate(qrels, make(), names, threads=threads)
        return {measure: float(result[measure]) for measure in names}

    values = means()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return {
        "seconds": calls(means, repeats).seconds,
        "threads": [min(calls(lambda n=n: means(n), min(repeats, 3)).seconds) for n in THREADS],
        "means": values,
        "peak_mb": peak,
    }


SUBJECT = Subject("scaling", "Growth with size", 50, run)

if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
