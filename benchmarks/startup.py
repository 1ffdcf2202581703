"""Start-up: imports and the smallest commands, compared with a bare Python."""

import sys

import data
import peers
import table
from measure import rounds
from subject import Context, Section, Subject, at_most, ratio

BARE = "`python -c pass`"
REPEATS = 40
SLOW_REPEATS = 5
QUERIES = 10
# At most so many times a bare Python.
BARS = {
    "`import goodgain`": 3.0,
    "`goodgain --version`": 3.0,
    f"`goodgain evaluate`, {QUERIES} queries": 4.0,
    f"`goodgain trec-eval`, {QUERIES} queries": 4.0,
}
SLOW = {
    "numpy": "numpy",
    "pytrec_eval-terrier": "pytrec_eval",
    "ir-measures": "ir_measures",
    "ranx": "ranx",
    "polars": "polars",
}


def run(context: Context) -> Section:
    """Start each many times in turn; the median decides."""
    commands = {BARE: _python("pass")}
    if peers.version("goodgain") is not None:
        program = str(peers.program("goodgain"))
        files = [str(data.path(kind, QUERIES)) for kind in ("qrels", "run")]
        ours = (
            _python("import goodgain"),
            [program, "--version"],
            [program, "evaluate", *files],
            [program, "trec-eval", *files],
        )
        commands |= dict(zip(BARS, ours, strict=True))
    repeats = dict.fromkeys(commands, 10 if context.quick else REPEATS)
    for package, module in SLOW.items():
        if peers.version(package) is not None:
            commands[f"`import {module}`"] = _python(f"import {module}")
            repeats[f"`import {module}`"] = context.repeats(SLOW_REPEATS)
    rounds(commands, dict.fromkeys(commands, 1))
    timings = rounds(commands, repeats)
    bare = timings[BARE].median

    def over_bare(name: str) -> float | None:
        return ratio(timings[name].median, bare) if name in timings else None

    return Section(
        columns=["start", "best", "median", "repeats", "peak", "times a bare Python"],
        rows=[
            [
                name,
                table.seconds(timing.best),
                table.seconds(timing.median),
                str(len(timing.seconds)),
                table.megabytes(timing.peak_mb),
                table.times(over_bare(name)),
            ]
            for name, timing in timings.items()
        ],
        text="One start of each is not counted; ratios are of the medians.",
        bars=[
            at_most(f"startup: {name} over {BARE}", bar, over_bare(name))
            for name, bar in BARS.items()
        ],
        notes=["A peak cannot be seen below that of the measuring process."],
    )


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


SUBJECT = Subject("startup", "Starting", 40, run)
