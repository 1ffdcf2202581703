"""Seventy million lines: as text and as Parquet, sorted and in any order, and with little memory."""

import data
import peers
import table
from check import Means, disagreements
from measure import CommandError, Timing, command
from subject import Bar, Context, Section, Subject, at_most, below, ratio

REPEATS = 3
ANY, SMALL = "text, any order", "text, any order, --memory 256MB"
SORTED, PARQUET, PARQUET_ANY = "text, sorted", "Parquet, sorted", "Parquet, any order"
CASES = {
    SORTED: ("large_sorted", ()),
    ANY: ("large", ()),
    SMALL: ("large", ("--memory", "256MB")),
    PARQUET: ("large_parquet", ()),
    PARQUET_ANY: ("large_scattered_parquet", ()),
}
DUCKDB = "DuckDB, SQL written by hand: text, any order"
TEXT_SECONDS, TEXT_MB, PARQUET_MB, SMALL_MB = 8, 1500, 1000, 600


def run(context: Context) -> Section:
    """Time `goodgain evaluate` on each, and DuckDB once on the first; all must give the same means."""
    timings: dict[str, Timing] = {}
    means: list[Means] = []
    notes: list[str] = []
    qrels = data.path("large_qrels", context.queries)
    for name, (kind, options) in CASES.items():
        if kind.endswith("parquet") and peers.version("pyarrow") is None:
            continue
        ranked = data.path(kind, context.queries)
        argv = peers.goodgain_command(qrels, ranked, "--format", "tsv", *options)
        if argv is None:
            break
        data.warm(qrels, ranked)
        try:
            timings[name] = command(argv, context.repeats(REPEATS))
            means.append(Means(name, peers.goodgain_means(timings[name].output)))
        except CommandError as error:
            notes.append(f"{name} failed: {error}")
        if name == SORTED:  # made in seconds, and as large as all the others
            ranked.unlink()
    peer = peers.script_command("duckdb", qrels, data.path("large", context.queries))
    if peer is not None:
        timings[DUCKDB] = command(peer)
        means.append(Means(DUCKDB, peers.listed_means(timings[DUCKDB].output)))
    return Section(
        columns=["input", "best", "median", "repeats", "peak"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                str(len(timing.seconds)),
                table.megabytes(timing.peak_mb),
            ]
            for name, timing in timings.items()
        ],
        text=(
            f"{data.COPIES * data.lines(context.queries):,} lines, "
            f"{data.COPIES * context.queries:,} queries, five measures."
        ),
        bars=[] if context.quick else _bars(timings),
        notes=notes,
        problems=disagreements(means[0], *means[1:]) if means else [],
    )


def _bars(timings: dict[str, Timing]) -> list[Bar]:
    def peak(name: str) -> float | None:
        return timings[name].peak_mb if name in timings else None

    def seconds(name: str) -> float | None:
        return timings[name].best if name in timings else None

    return [
        below(f"large: {ANY}", TEXT_SECONDS, "s", seconds(ANY)),
        below(f"large: peak of {ANY}", TEXT_MB, "MB", peak(ANY)),
        below(f"large: peak of {SMALL}", SMALL_MB, "MB", peak(SMALL)),
        at_most(f"large: {PARQUET}, of text", 1, ratio(seconds(PARQUET), seconds(SORTED))),
        below(f"large: peak of {PARQUET}", PARQUET_MB, "MB", peak(PARQUET)),
        below(f"large: peak of {PARQUET_ANY}", PARQUET_MB, "MB", peak(PARQUET_ANY)),
    ]


SUBJECT = Subject("large", "Seventy million lines", 52, run)
