"""What limits on inputs cost: the same evaluation without and with them, in turn."""

import data
import peers
import table
from measure import rounds
from subject import Context, Section, Subject, at_most, ratio

WITHOUT = "no limits"
LIMITS = {
    WITHOUT: "",
    "bytes and seconds": "bytes=1TB,seconds=3600",
    "rows, too": "bytes=1TB,seconds=3600,rows=1e12",
    "all": "bytes=1TB,seconds=3600,rows=1e12,nesting=1000,memory=1TB",
}
REPEATS = 9
MOST = 1.03  # times the same without limits


def run(context: Context) -> Section:
    """Alternate between the limits; the best of each decides, as the machine only ever slows them down."""
    files = [str(data.path(kind, context.queries)) for kind in ("qrels", "run")]
    program = str(peers.program("goodgain"))
    commands = {
        name: [program, "evaluate", *files, *(["--limits", limits] if limits else [])]
        for name, limits in LIMITS.items()
    }
    data.warm(*(data.path(kind, context.queries) for kind in ("qrels", "run")))
    rounds(commands, dict.fromkeys(commands, 1))
    timings = rounds(commands, dict.fromkeys(commands, context.repeats(REPEATS)))
    base = timings[WITHOUT]

    def over(name: str) -> float | None:
        return ratio(timings[name].best, base.best)

    outputs = {timing.output for timing in timings.values()}
    return Section(
        columns=["limits", "best", "median", "peak", "times without"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                table.megabytes(timing.peak_mb),
                table.times(over(name)),
            ]
            for name, timing in timings.items()
        ],
        text=(
            f"`goodgain evaluate` of {data.lines(context.queries):,} lines. Without limits nothing is "
            "counted; rows are counted in a pass of their own, before anything is stored."
        ),
        bars=[at_most("limits on bytes and seconds", MOST, over("bytes and seconds"))],
        notes=[
            "Validation and seeded tables cannot be turned off: the bars against other tools contain them."
        ],
        problems=[] if len(outputs) == 1 else ["limits change what is printed"],
    )


SUBJECT = Subject("limits", "Limits on inputs", 25, run)
