"""What it costs to start: imports and the smallest commands, against a bare Python."""

import sys

import peers
import table
from measure import rounds
from subject import Context, Section, Subject, at_most, ratio

BARE = "`python -c pass`"
REPEATS = 40
SLOW_REPEATS = 5
BAR = 3.0
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
        commands["`import goodgain`"] = _python("import goodgain")
        commands["`goodgain --version`"] = [str(peers.program("goodgain")), "--version"]
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
        text="Each after one start that is not counted; ratios of the medians.",
        bars=[
            at_most(f"startup: {name} over {BARE}", BAR, over_bare(name))
            for name in ("`import goodgain`", "`goodgain --version`")
        ],
        notes=["A peak cannot be seen below that of the measuring process."],
    )


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


SUBJECT = Subject("startup", "Starting", 40, run)
