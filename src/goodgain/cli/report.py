"""`goodgain report`: write an HTML report of saved results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_baseline,
    add_documents,
    add_output_file,
    add_queries,
    add_quiet,
)
from goodgain.cli.output import command_line
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "report",
        "Write saved results as one self-contained HTML file: summary, single queries with their ranked\n"
        "lists, trade-offs, groups, labels, provenance. It opens from disk and loads nothing else.\n"
        "evaluate, compare, trace, experiment and calibrate write the same with --report FILE.",
        "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run dense.run --save scores.json\n"
        "  goodgain report scores.json --baseline bm25 -o report.html\n"
        "  goodgain report before.json after.json --baseline before -o report.html\n"
        "  goodgain report my-experiment -o report.html\n",
    )
    p.add_argument(
        "results", metavar="SAVED", nargs="+",
        help="files written by --save (evaluation, comparison, Good Gain, stopping, calibration), or an "
        "experiment's folder",
    )  # fmt: skip
    add_output_file(p, required=True)
    add_baseline(p)
    p.add_argument("--title", metavar="TEXT", help="page title (default: the names of the systems)")
    p.add_argument(
        "--qrels",
        metavar="FILE",
        help="judgments to use instead of those in an experiment's folder",
    )
    add_queries(p)
    add_documents(p)
    add_quiet(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Load the results and write the page."""
    from pathlib import Path

    from goodgain.reports import report
    from goodgain.results.loading import load

    if args.qrels and not any(Path(path).is_dir() for path in args.results):
        raise UsageError(
            "--qrels requires an experiment's folder",
            hint="saved evaluations already refer to their judgments",
        )
    report(
        *(load(path, args.qrels) for path in args.results),
        output=args.output,
        title=args.title,
        baseline=args.baseline,
        queries=args.queries,
        documents=args.documents,
        command=command_line(args),
    )
    if not args.quiet:
        size = Path(args.output).stat().st_size
        print(f"wrote {args.output} ({size / 1e6:.1f} MB)", file=sys.stderr)
    return 0
