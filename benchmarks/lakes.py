"""Parquet as it lies in a lake: parts of a folder, and judgments of one query in a hundred."""

import json
import sys
from pathlib import Path

import data
import peers
import table
from check import Means, disagreements
from measure import Timing, command, worker
from subject import Bar, Context, Section, Subject, at_least, at_most, ratio

REPEATS = 3
ROW_GROUP = 100_000
PARTS = 8
SHARE = 100  # one query in so many is judged
ALL, FEW = "one file, all judged", f"one file, 1 query in {SHARE} judged"
TEXT = f"text, 1 query in {SHARE} judged"
FOLDER, DELTA = f"a folder of {PARTS} parts, all judged", "a Delta table of one version, all judged"
BAR = 2.0
DELTA_BAR = 1.5  # its log is read, and the package for it imported


def run(context: Context) -> Section:
    """Time `goodgain evaluate` on each; forms with the same judgments must agree."""
    if peers.version("goodgain") is None or peers.version("pyarrow") is None:
        return Section(["input"], [], notes=["needs goodgain and pyarrow"])
    places = {name: Path(path) for name, path in worker("lakes", context.queries).items()}
    plain = data.path("qrels", context.queries)
    cases = {
        ALL: (plain, places["file"]),
        FOLDER: (plain, places["folder"]),
        FEW: (places["few"], places["file"]),
        f"a folder of {PARTS} parts, 1 in {SHARE} judged": (places["few"], places["folder"]),
        TEXT: (places["few"], data.path("run", context.queries)),
    }
    if "delta" in places:
        cases[DELTA] = (plain, places["delta"])
    timings, means = {}, {}
    for name, (qrels, ranked) in cases.items():
        argv = [*(peers.goodgain_command(qrels, ranked) or []), "-q"]
        means[name] = Means(name, peers.goodgain_means(command([*argv, "--format", "tsv"]).output))
        timings[name] = command(argv, context.repeats(REPEATS))
    whole, few = [[means[n] for n in cases if ("all" in n) == is_all] for is_all in (True, False)]
    return Section(
        columns=["input", "best", "median", "peak", "times all judged"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                table.megabytes(timing.peak_mb),
                table.times(ratio(timing.best, timings[ALL].best)),
            ]
            for name, timing in timings.items()
        ],
        text=f"Parquet with row groups of {ROW_GROUP:,} rows, sorted by query; judged queries lie together.",
        bars=[] if context.quick else _bars(timings),  # of few rows, starting takes most
        problems=disagreements(whole[0], *whole[1:]) + disagreements(few[0], *few[1:]),
    )


def _bars(timings: dict[str, Timing]) -> list[Bar]:
    few = ratio(timings[ALL].best, timings[FEW].best)
    bars = [at_least(f"lakes: {ALL} over {FEW}", BAR, few)]
    if DELTA in timings:
        slower = ratio(timings[DELTA].best, timings[FOLDER].best)
        bars.append(at_most("lakes: a Delta table over its files", DELTA_BAR, slower))
    return bars


def _work(queries: int) -> dict[str, str]:
    import pyarrow.parquet as pq

    folder = data.FOLDER / f"lake-{queries}"
    file, few = data.FOLDER / f"lake-{queries}.parquet", data.FOLDER / f"few-{queries}.txt"
    if not few.exists():
        ranked = pq.read_table(data.path("parquet", queries))
        pq.write_table(ranked, file, row_group_size=ROW_GROUP)
        folder.mkdir(exist_ok=True)
        (folder / "_SUCCESS").touch()
        size = -(-len(ranked) // PARTS)
        for part in range(PARTS):
            piece = ranked.slice(part * size, size)
            pq.write_table(piece, folder / f"part-{part:05}.parquet", row_group_size=ROW_GROUP)
        lines = data.path("qrels", queries).read_text().splitlines(keepends=True)
        chosen = list(dict.fromkeys(line.split()[0] for line in lines))[: max(queries // SHARE, 1)]
        few.write_text("".join(line for line in lines if line.split()[0] in set(chosen)))
    places = {"file": str(file), "folder": str(folder), "few": str(few)}
    if peers.version("deltalake") is not None:
        import deltalake

        delta = data.FOLDER / f"delta-{queries}"
        if not delta.exists():
            deltalake.write_deltalake(delta, pq.read_table(file))
        places["delta"] = str(delta)
    return places


SUBJECT = Subject("lakes", "Parquet in folders, and few judgments", 61, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]))))
