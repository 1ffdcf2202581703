"""Other orders, formats and numbers of threads of the same run. For information: no bars."""

import json
import sys

import data
import peers
import table
from check import Means, disagreements
from measure import CommandError, Timing, calls, command, worker
from subject import Context, Section, Subject, ratio

REPEATS = 3
SORTED = "sorted text"
KINDS = {
    SORTED: ("run", ()),
    "sorted text, 1 thread": ("run", ("--threads", "1")),
    "sorted text, 2 threads": ("run", ("--threads", "2")),
    "shuffled inside queries": ("shuffled", ()),
    f"queries in {data.BLOCKS} places each": ("interleaved", ()),
    "gzip": ("gzip", ()),
    "Parquet": ("parquet", ()),
}
ARROW = "Arrow table in memory, `goodgain.evaluate`"


def run(context: Context) -> Section:
    """Time `goodgain evaluate` on each; all must give the same means."""
    timings: dict[str, Timing] = {}
    means: list[Means] = []
    notes: list[str] = []
    for name, (kind, options) in KINDS.items():
        if kind == "parquet" and peers.version("pyarrow") is None:
            continue
        qrels, run_file = data.path("qrels", context.queries), data.path(kind, context.queries)
        argv = peers.goodgain_command(qrels, run_file, *options)
        if argv is None:
            break
        try:
            data.warm(qrels, run_file)
            output = command([*argv, "--format", "tsv"]).output
            means.append(Means(name, peers.goodgain_means(output)))
            timings[name] = command(argv, context.repeats(REPEATS))
        except CommandError as error:
            notes.append(f"{name} failed: {error}")
    if peers.version("goodgain") is not None and peers.version("pyarrow") is not None:
        try:
            found = worker("inputs", context.queries, context.repeats(REPEATS))
            timings[ARROW] = Timing(tuple(found["seconds"]))
            means.append(Means(ARROW, found["means"]))
        except CommandError as error:
            notes.append(f"{ARROW} failed: {error}")
    plain = timings.get(SORTED)
    return Section(
        columns=["input", "best", "median", "peak", "times the sorted text"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                table.megabytes(timing.peak_mb),
                table.times(ratio(timing.best, plain.best if plain else None)),
            ]
            for name, timing in timings.items()
        ],
        text="`goodgain evaluate` on the same run in other forms. For information.",
        notes=notes,
        problems=disagreements(means[0], *means[1:]) if means else [],
    )


def _work(queries: int, repeats: int) -> dict[str, object]:
    import pyarrow.parquet

    import goodgain as gg

    ranked = pyarrow.parquet.read_table(data.path("parquet", queries))
    qrels = str(data.path("qrels", queries))
    names = list(peers.MEASURES)
    result = gg.evaluate(qrels, ranked, names)
    return {
        "seconds": calls(lambda: gg.evaluate(qrels, ranked, names), repeats).seconds,
        "means": {measure: float(result[measure]) for measure in names},
    }


SUBJECT = Subject("inputs", "Other inputs and threads", 60, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]), int(sys.argv[2]))))
