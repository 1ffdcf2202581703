"""Two files to five printed means, each tool in a fresh process."""

import tempfile

import data
import peers
import table
from check import Means, disagreements
from measure import CommandError, Timing, command, rounds
from subject import Bar, Context, Section, Subject, at_least, ratio

WARM_UP_QUERIES = 10
FIRST_USE = "ranx, first use"
REPEATS = {
    "goodgain": 5,
    "trec_eval": 5,
    "polars": 5,
    "duckdb": 5,
    "ir_measures": 2,
    "ranx": 2,
    FIRST_USE: 1,
}
SLOW = ("ir_measures", "ranx", FIRST_USE)
BARS = {"ir_measures": 30.0, FIRST_USE: 100.0, "trec_eval": 25.0}
RANX_TIES = 5e-3
DETAILS = {
    "goodgain": "the `goodgain evaluate` command",
    "polars": "expressions written by hand",
    "duckdb": "SQL written by hand",
    "ir_measures": "the `ir_measures` command",
    "ranx": "`from_file`, `evaluate`; its compiled code cached by an earlier process",
    FIRST_USE: "the same with an empty cache: it compiles itself",
}


def run(context: Context) -> Section:
    """Time every tool that is there, and compare what they print."""
    commands = _commands(context.queries)
    if context.quick:
        commands.pop(FIRST_USE, None)
    repeats = {tool: context.repeats(REPEATS[tool]) for tool in commands}
    failures = _warm_up(commands)
    for tool in failures:
        del commands[tool]

    qrels, run_file = data.path("qrels", context.queries), data.path("run", context.queries)
    data.warm(qrels, run_file)
    quick = {tool: argv for tool, argv in commands.items() if tool not in SLOW}
    timings = rounds(quick, repeats)
    for tool in SLOW:
        if tool in commands:
            try:
                timings[tool] = _slow(tool, commands[tool], repeats[tool])
            except CommandError as error:
                failures[tool] = str(error)
    own = timings.get("goodgain")
    return Section(
        columns=["tool", "what", "best", "median", "repeats", "peak", "time", "memory"],
        rows=[_row(tool, timings.get(tool), own, failures) for tool in REPEATS],
        text=(
            f"{data.lines(context.queries):,} lines of a run ({context.queries:,} queries), "
            f"five measures ({', '.join(peers.MEASURES)}). "
            "`time` and `memory` are multiples of goodgain's."
        ),
        bars=_bars(timings),
        notes=[
            "Every tool is called once on little data before; the files are in the page cache.",
            "ranx compiles itself on first use; the row above has its code compiled by an earlier process.",
            f"Means are compared as printed. ranx leaves tied documents in another order than "
            f"document id descending, so its means may differ by {RANX_TIES:g}.",
            *_trec_eval_note(),
            *(f"{tool} failed: {message}" for tool, message in failures.items()),
        ],
        problems=_problems(context, timings),
    )


def _commands(queries: int) -> dict[str, list[str]]:
    qrels, run_file = data.path("qrels", queries), data.path("run", queries)
    every = {
        "goodgain": peers.goodgain_command(qrels, run_file),
        "trec_eval": peers.trec_eval_command(qrels, run_file),
        "polars": peers.script_command("polars", qrels, run_file),
        "duckdb": peers.script_command("duckdb", qrels, run_file),
        "ir_measures": peers.ir_measures_command(qrels, run_file),
        "ranx": peers.script_command("ranx", qrels, run_file),
        FIRST_USE: peers.script_command("ranx", qrels, run_file),
    }
    return {tool: argv for tool, argv in every.items() if argv is not None}


def _slow(tool: str, argv: list[str], repeats: int) -> Timing:
    if tool != FIRST_USE:
        return command(argv, repeats)
    with tempfile.TemporaryDirectory() as cache:
        return command(["env", f"NUMBA_CACHE_DIR={cache}", *argv])


def _warm_up(wanted: dict[str, list[str]]) -> dict[str, str]:
    """Call every tool once on little data; the messages of those that fail."""
    failures = {}
    for tool, argv in _commands(WARM_UP_QUERIES).items():
        if tool in wanted and tool != FIRST_USE:
            try:
                command(argv)
            except CommandError as error:
                failures[tool] = str(error)
    return failures


def _row(
    tool: str, timing: Timing | None, own: Timing | None, failures: dict[str, str]
) -> list[str]:
    trec_eval = peers.trec_eval_binary()
    detail = DETAILS.get(tool) or (trec_eval.origin if trec_eval else "")
    if timing is None:
        missing = "failed" if tool in failures else "not available"
        return [tool, detail, missing, "-", "-", "-", "-", "-"]
    return [
        tool,
        detail,
        table.seconds(timing.best),
        table.seconds(timing.median),
        str(len(timing.seconds)),
        table.megabytes(timing.peak_mb),
        table.times(ratio(timing.best, own.best if own else None)),
        table.times(ratio(timing.peak_mb, own.peak_mb if own else None)),
    ]


def _bars(timings: dict[str, Timing]) -> list[Bar]:
    own = timings.get("goodgain")

    def of(tool: str) -> float | None:
        peer = timings.get(tool)
        return ratio(peer.best, own.best) if peer and own else None

    bars = [at_least(f"files: faster than {tool}", bar, of(tool)) for tool, bar in BARS.items()]
    peer = timings.get("trec_eval")
    what, wanted = "files: peak memory", "<= trec_eval's"
    if own is None or peer is None:
        return [*bars, Bar(what, wanted, "not measured", None)]
    got = f"{own.peak_mb:,.0f} MB, trec_eval {peer.peak_mb:,.0f} MB"
    return [*bars, Bar(what, wanted, got, own.peak_mb <= peer.peak_mb)]


def _problems(context: Context, timings: dict[str, Timing]) -> list[str]:
    means = []
    if "trec_eval" in timings:
        values = peers.listed_means(timings["trec_eval"].output, peers.TREC_EVAL)
        means.append(Means("trec_eval", values, decimals=4))
    if "ir_measures" in timings:
        values = peers.listed_means(timings["ir_measures"].output)
        means.append(Means("ir_measures", values, decimals=6))
    means += [
        Means(tool, peers.listed_means(timings[tool].output))
        for tool in ("polars", "duckdb")
        if tool in timings
    ]
    if "ranx" in timings:
        values = peers.listed_means(timings["ranx"].output, peers.RANX)
        means.append(Means("ranx", values, allowed=RANX_TIES))
    if "goodgain" in timings:
        means.append(Means("goodgain", _goodgain(context)))
    found = []
    for i, first in enumerate(means):
        found += disagreements(first, *means[i + 1 :])
    return found


def _goodgain(context: Context) -> dict[str, float]:
    """goodgain's means at full precision, from a further call that is not timed."""
    qrels, run_file = data.path("qrels", context.queries), data.path("run", context.queries)
    argv = peers.goodgain_command(qrels, run_file, "--format", "tsv")
    return peers.goodgain_means(command(argv).output) if argv else {}


def _trec_eval_note() -> list[str]:
    found = peers.trec_eval_binary()
    if found is None:
        return ["trec_eval is neither on the PATH nor could it be linked from pytrec_eval's wheel."]
    return [f"trec_eval {found.version}: {found.origin}."]


SUBJECT = Subject("files", "Files to printed means", 10, run)
