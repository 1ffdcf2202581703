"""`goodgain check`: what a check of 50 queries adds to the target's own time."""

import sys
import tempfile
from pathlib import Path

import peers
import table
from measure import rounds
from subject import Bar, Context, Section, Subject

BARE = "`python -c pass`"
CHECK = "`goodgain check`, 50 cases, a run as target"
LIMIT = 0.5  # seconds


def run(context: Context) -> Section:
    """The target answers at once, so that all of the time is the check's own."""
    with tempfile.TemporaryDirectory() as folder:
        golden, target = Path(folder) / "golden.yaml", Path(folder) / "target.run"
        cases = [
            f"  - {{id: c{i}, query: q{i}, relevant: {{d{i}: 3, e{i}: 1}}}}" for i in range(50)
        ]
        golden.write_text("\n".join(["cases:", *cases]) + "\n")
        target.write_text(
            "".join(
                f"c{i} Q0 {kind}{i + r} 1 {9 - r} r\n"
                for i in range(50)
                for r in range(8)
                for kind in "dx"
            )
        )
        commands = {BARE: [sys.executable, "-c", "pass"]}
        if peers.version("goodgain") is not None:
            commands[CHECK] = [
                str(peers.program("goodgain")),
                "check",
                str(golden),
                "--target",
                str(target),
            ]
        rounds(commands, dict.fromkeys(commands, 1))
        timings = rounds(commands, dict.fromkeys(commands, context.repeats(15)))
    got = timings[CHECK].median - timings[BARE].median if CHECK in timings else None
    shown = "not measured" if got is None else f"{got:.2f} s"
    return Section(
        columns=["command", "best", "median", "peak"],
        rows=[
            [name, table.seconds(t.best), table.seconds(t.median), table.megabytes(t.peak_mb)]
            for name, t in timings.items()
        ],
        text="The whole command, from start to verdict.",
        bars=[
            Bar(
                "check: 50 cases beyond a bare Python",
                f"<= {LIMIT:g} s",
                shown,
                None if got is None else got <= LIMIT,
            )
        ],
    )


SUBJECT = Subject("check", "A check of 50 queries", 95, run)
