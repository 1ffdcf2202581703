"""`goodgain check`: regression tests for a search."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodgain.cli.compare import parse_margins
from goodgain.cli.options import (
    add_alpha,
    add_concurrency,
    add_depth,
    add_margin,
    add_measures,
    add_output,
    add_queries,
    add_report,
    add_seed,
    add_summary,
    add_timeout,
    parse_pairs,
)
from goodgain.cli.output import warn, write
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

ACTIONS = ("init", "lint", "history")
FORMATS = ("table", "markdown", "junit", "json")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "check",
        "Check a search service against a golden set of queries and expected results, and against the\n"
        "last approved results.\n\n"
        "  GOLDEN          run the check\n"
        "  init GOLDEN     write a first golden set: from --qrels, from a --log, or from --queries\n"
        "  lint GOLDEN     find duplicates, near-identical queries and names that match nothing\n"
        "  history FILE    plot the measures over time\n\n"
        "Exit status: 0 pass, 1 fail, 2 invalid usage, 3 not enough evidence (0 with --unsure pass).",
        "examples:\n"
        '  goodgain check golden.yaml --target "http://localhost:8000/search?q={query}"\n'
        '  goodgain check golden.yaml --target "mcp:python server.py#search" --summary comment.md\n'
        '  goodgain check golden.yaml --update "new analyser, reviewed in #41"\n'
        "  goodgain check init golden.yaml --qrels qrels.txt --queries queries.tsv\n"
        "  goodgain check lint golden.yaml\n",
    )
    p.add_argument("words", metavar="[init|lint|history] FILE", nargs="+", help="see above")
    p.add_argument(
        "--target", metavar="TARGET",
        help="what to query: a URL with {query}, mcp:COMMAND#TOOL, mcp:URL#TOOL, command:..., "
        "module:function, experiment:FILE, or a run file (default: the file's own)",
    )  # fmt: skip
    p.add_argument("--target-version", metavar="TEXT", help="recorded with results")
    gate = p.add_argument_group("verdict")
    add_measures(gate, "nDCG@10 R@10")
    gate.add_argument(
        "--baseline", metavar="FILE",
        help="approved results (default: next to GOLDEN, as *.baseline.jsonl)",
    )  # fmt: skip
    gate.add_argument("--update", metavar="REASON", help="approve what the target returns")
    gate.add_argument("--floor", action="append", metavar="MEASURE=V", help="lowest mean allowed")
    add_margin(gate, "0.02 of the measure's range")
    gate.add_argument(
        "--tag", action="append", metavar="TAG", help="also gate the cases with this tag, or all"
    )
    gate.add_argument(
        "--max-latency", action="append", metavar="P=T", help="p95=500ms, p50=0.1s or p95=+20%%"
    )
    gate.add_argument(
        "--complete", action="store_true", default=None,
        help="all relevant documents are listed: any other result is wrong",
    )  # fmt: skip
    gate.add_argument(
        "--unsure", choices=("fail", "pass"), default="fail",
        help="verdict if there is not enough evidence (default: fail)",
    )  # fmt: skip
    add_alpha(gate)
    add_seed(gate)
    calls = p.add_argument_group("calls")
    add_depth(calls, "as deep as the measures need")
    add_timeout(calls, 30)
    calls.add_argument(
        "--retries", type=int, default=2, metavar="N", help="retries after a failure (default: 2)"
    )
    calls.add_argument("--rate", type=float, metavar="R", help="at most R calls per second")
    add_concurrency(calls, 1)
    calls.add_argument(
        "--warm-up",
        type=int,
        default=1,
        metavar="N",
        help="warm-up calls, not counted (default: 1)",
    )
    start = p.add_argument_group("init")
    start.add_argument("--qrels", metavar="FILE", help="judgments to start from")
    start.add_argument("--log", metavar="FILE", help="search log: query and chosen result")
    add_queries(start)
    start.add_argument(
        "--limit", type=int, default=50, metavar="N", help="maximum number of queries (default: 50)"
    )
    start.add_argument(
        "--grade", default="later", metavar="WHO",
        help="who grades the results: later (in the file), ask (here), or a model's name"
        " (default: later)",
    )  # fmt: skip
    output = add_output(p, per_query=False, formats=FORMATS)
    add_summary(output)
    output.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
    output.add_argument(
        "--unjudged", metavar="FILE",
        help="also write unjudged results as pairs, for: goodgain judge --pairs FILE",
    )  # fmt: skip
    output.add_argument("--history", metavar="FILE", help="append a line about this run")
    add_report(p, texts=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Check, or one of the other actions."""
    action = args.words[0] if args.words[0] in ACTIONS else "check"
    words = args.words[1:] if action != "check" else args.words
    if len(words) != 1:
        raise UsageError(
            f"expected one file, got {len(words)}", hint="goodgain check [init|lint|history] FILE"
        )
    return {"check": _check, "init": _init, "lint": _lint, "history": _history}[action](
        args, words[0]
    )


def _check(args: argparse.Namespace, path: str) -> int:
    from goodgain.checks import check
    from goodgain.experiment.progress import Progress
    from goodgain.io.descriptors import require_appendable

    if args.history:
        require_appendable(args.history)
    bar: list[Progress] = []

    def progress(done: int, total: int) -> None:
        if not bar:
            bar.append(Progress("asking the target", total, not args.quiet))
        bar[0].advance()
        if done == total:
            bar[0].close()

    result = check(
        path,
        args.target,
        baseline=args.baseline,
        measures=args.measures,
        floors=_numbers(args.floor, "--floor"),
        margin=_margins(args.margin),
        tags=None if args.tag is None else "all" if args.tag == ["all"] else args.tag,
        alpha=args.alpha,
        latency=parse_pairs(args.max_latency or (), "--max-latency") or None,
        complete=args.complete,
        depth=args.depth,
        version=args.target_version,
        update=args.update,
        timeout=args.timeout,
        retries=args.retries,
        rate=args.rate,
        concurrency=args.concurrency,
        warm_up=args.warm_up,
        seed=args.seed,
        progress=progress,
    )
    files = {}
    if args.summary:
        files[args.summary] = result.render("markdown")
    if args.junit:
        files[args.junit] = result.render("junit")
    if args.report:
        from goodgain.reports.checks import check_page

        files[args.report] = check_page(result)
    if args.unjudged:
        files[args.unjudged] = result.unjudged_pairs()
    write(args, result.render(args.format), files)
    if args.history:
        from goodgain.checks.history import append_history

        append_history(args.history, result)
    warn(args, [*result.notes, *result.latency.notes])
    if args.update is not None:
        if not args.quiet:
            print("the baseline was written", file=sys.stderr)
        return 0 if not result.failed_cases else 1
    return result.status(args.unsure)


def _numbers(texts: Any, option: str) -> dict[str, Any] | None:
    return dict(parse_pairs(texts, option)) if texts else None


def _margins(texts: Any) -> Any:
    """Margins as numbers: those of a check are in the unit of the measure."""
    margins = parse_margins(texts)
    if margins is None:
        return None
    numbers = {}
    for name, text in margins.items():
        try:
            numbers[name] = float(text)
        except ValueError:
            raise UsageError(f"the margin must be a non-negative number, got '{text}'",
                             hint="--margin 0.02, or --margin nDCG@10=0.02") from None  # fmt: skip
    return numbers.pop("") if set(numbers) == {""} else numbers


def _lint(args: argparse.Namespace, path: str) -> int:
    from goodgain.checks import read_golden
    from goodgain.checks.checking import open_target
    from goodgain.checks.lint import lint
    from goodgain.checks.session import CallSettings, call_target

    golden = read_golden(path)
    calls = None
    if args.target or golden.settings.get("target"):
        target = open_target(args.target, golden, args.timeout)
        try:
            settings = CallSettings(
                depth=args.depth or 50, retries=args.retries, rate=args.rate, warm_up=0,
                concurrency=args.concurrency,
            )  # fmt: skip
            calls = call_target(target, golden.cases, settings)
        finally:
            target.close()
    problems = lint(golden, calls)
    lines = [f"{p.where}: {p.level}: {p.text}\n" for p in problems]
    errors = sum(p.level == "error" for p in problems)
    lines.append(f"{len(golden.cases)} cases: {errors} errors, {len(problems) - errors} warnings\n")
    write(args, "".join(lines))
    return 1 if errors else 0


def _history(args: argparse.Namespace, path: str) -> int:
    from goodgain.checks.history import history_chart, history_table, read_history
    from goodgain.results.text import render

    rows = read_history(path)
    if args.format == "json":
        import json

        write(args, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        return 0
    shape = "markdown" if args.format == "markdown" else "table"
    write(args, f"{history_chart(rows)}\n{render(shape, *history_table(rows[-20:]))}")
    return 0


def _init(args: argparse.Namespace, path: str) -> int:
    from goodgain.checks.start import start_golden

    text, count = start_golden(
        path,
        qrels=args.qrels,
        log=args.log,
        queries=args.queries,
        target=args.target,
        limit=args.limit,
        depth=args.depth or 10,
        timeout=args.timeout,
        grade=args.grade,
    )
    from pathlib import Path

    from goodgain.io.atomic import write_texts

    if Path(path).exists():
        raise UsageError(f"'{path}' exists", hint="name another file, or remove it first")
    write_texts({path: text})
    print(f"wrote {count} cases to {path}; review them, then: goodgain check {path}")
    return 0
