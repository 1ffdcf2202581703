"""Time against the number of lines, which should grow linearly, and against the number of threads."""

import json
import sys

import data
import peers
import table
from measure import HERE, Timing, command, rounds
from subject import Bar, Context, Section, Subject, at_most

PARTS = (8, 4, 2, 1)
REPEATS = 5
SLACK = 1.25
THREADS = (1, 2, 4, 8)
SERIAL_SHARE = 0.03  # of processor time: Amdahl's law then allows 11x on 16 cores
TWO_THREADS = 0.55


def run(context: Context) -> Section:
    """Time `goodgain evaluate` on parts of the run, judgements cut alike."""
    commands: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for part in PARTS:
        queries = context.queries // part
        qrels, run_file = data.path("qrels", queries), data.path("run", queries)
        argv = peers.goodgain_command(qrels, run_file)
        if argv is not None:
            data.warm(qrels, run_file)
            name = run_file.name
            commands[name], lines[name] = argv, data.lines(queries)
    rounds(commands, dict.fromkeys(commands, 1))
    timings = rounds(commands, dict.fromkeys(commands, context.repeats(REPEATS)))
    found = [(lines[name], timing) for name, timing in timings.items()]
    return Section(
        columns=["lines", "best", "median", "ns a line", "ns a further line", "peak"],
        rows=[
            [
                f"{lines:,}",
                table.seconds(timing.best),
                table.seconds(timing.median),
                f"{timing.best / lines * 1e9:.1f}",
                f"{_slope(found[i - 1], found[i]):.1f}" if i else "-",
                table.megabytes(timing.peak_mb),
            ]
            for i, (lines, timing) in enumerate(found)
        ],
        text=(
            "`goodgain evaluate` as above, from files. `ns a further line` is the slope from the "
            "size before, free of the cost of starting."
        ),
        bars=[_bar(found), *_thread_bars(context)],
    )


def _thread_bars(context: Context) -> list[Bar]:
    """Judgments and a run from files in one process, by the number of threads."""
    qrels, run_file = data.path("qrels", context.queries), data.path("run", context.queries)
    script = [sys.executable, str(HERE / "scripts" / "threads.py"), str(qrels), str(run_file)]
    timings = [
        json.loads(command([*script, str(n)], context.repeats(REPEATS)).output) for n in THREADS
    ]
    one, two = timings[0], timings[1]
    shares = ", ".join(f"{n}: {t['seconds']:.2f} s" for n, t in zip(THREADS, timings, strict=True))
    return [
        at_most("scaling: serial share of processor time, 2 threads", SERIAL_SHARE, two["serial"]),
        at_most(
            f"scaling: 2 threads, of 1 ({shares})", TWO_THREADS, two["seconds"] / one["seconds"]
        ),
    ]


def _slope(start: tuple[int, Timing], end: tuple[int, Timing]) -> float:
    """Nanoseconds that each line costs between two sizes."""
    return (end[1].best - start[1].best) / (end[0] - start[0]) * 1e9


def _bar(found: list[tuple[int, Timing]]) -> Bar:
    """The later half of the lines against those before it, both free of the cost of starting."""
    what, wanted = "scaling: a line of the last half, of a line before", f"<= {SLACK:g}x"
    before = _slope(found[0], found[-2]) if found else 0.0
    if before <= 0:
        return Bar(what, wanted, "not measured", None)
    return at_most(what, SLACK, _slope(found[-2], found[-1]) / before)


SUBJECT = Subject("scaling", "Growth with size", 50, run)
