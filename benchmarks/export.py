"""Values of a million queries as files: each format compared with printing the means alone."""

import sys
from pathlib import Path

import data
import peers
import table
from measure import CommandError, Timing, command, spawn
from subject import Context, Section, Subject, at_most, ratio

QUERIES = 1_000_000
REPEATS = 3
MEANS = "means only"
FORMATS = {
    "CSV": ("csv", ("--format", "csv")),
    "JSON lines": ("jsonl", ("--format", "jsonl")),
    "Parquet": ("parquet", ()),
}
BAR = 3.0


def run(context: Context) -> Section:
    """Time `goodgain evaluate --per-query -o FILE`, which writes five values per query."""
    queries = QUERIES // 10 if context.quick else QUERIES
    qrels, ranked = _files(queries)
    timings: dict[str, Timing] = {}
    notes: list[str] = []
    means = peers.goodgain_command(qrels, ranked, "-q")
    if means is not None:
        timings[MEANS] = command(means, context.repeats(REPEATS))
        for name, (suffix, options) in FORMATS.items():
            target = str(data.FOLDER / f"scores.{suffix}")
            try:
                argv = [*means, "--per-query", *options, "-o", target]
                timings[name] = command(argv, context.repeats(REPEATS))
            except CommandError as error:
                notes.append(f"{name} failed: {error}")
            finally:
                Path(target).unlink(missing_ok=True)
    base = timings.get(MEANS)

    def over_means(name: str) -> float | None:
        return ratio(timings[name].best, base.best) if base and name in timings else None

    return Section(
        columns=["output", "best", "median", "peak", "times the means"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                table.megabytes(timing.peak_mb),
                table.times(over_means(name)),
            ]
            for name, timing in timings.items()
        ],
        text=f"{queries:,} queries with two results and one judgment each, five measures.",
        bars=[at_most(f"export: {name} over {MEANS}", BAR, over_means(name)) for name in FORMATS],
        notes=notes,
    )


def _files(queries: int) -> tuple[Path, Path]:
    paths = data.FOLDER / f"export-qrels-{queries}.txt", data.FOLDER / f"export-run-{queries}.txt"
    if not all(path.exists() for path in paths):
        spawn([sys.executable, __file__, str(queries), *map(str, paths)])
    return paths


def _work(queries: int, qrels: str, ranked: str) -> None:
    Path(qrels).parent.mkdir(parents=True, exist_ok=True)
    with Path(qrels).open("w") as judged, Path(ranked).open("w") as run_file:
        for q in range(queries):
            judged.write(f"q{q} 0 d{q % 7} {q % 3}\n")
            run_file.write(f"q{q} Q0 d{q % 5} 1 2.5 t\nq{q} Q0 d{q % 5 + 1} 2 1.5 t\n")


SUBJECT = Subject("export", "Values per query as files", 62, run)

if __name__ == "__main__":
    _work(int(sys.argv[1]), sys.argv[2], sys.argv[3])
