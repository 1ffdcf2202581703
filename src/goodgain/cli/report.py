"""`goodgain report`: one HTML file to look at and to send."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import add_texts, command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "report",
        "Make one self-contained HTML file of saved results: summary, single queries with their ranked\n"
        "lists, trade-offs, groups, labels, provenance. It opens from disk and loads nothing from anywhere.\n"
        "evaluate, compare, trace, experiment and calibrate make the same of their inputs: --report FILE.",
        "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run dense.run --save scores.json\n"
        "  goodgain report scores.json --baseline bm25 -o report.html\n"
        "  goodgain report before.json after.json --baseline before -o report.html\n"
        "  goodgain report my-experiment -o report.html\n",
    )
    p.add_argument(
        "results", metavar="SAVED", nargs="+",
        help="what --save wrote (evaluations, comparison, Good Gain, calibration), or an experiment's folder",
    )  # fmt: skip
    p.add_argument("-o", "--output", metavar="FILE", required=True, help="the page to write")
    p.add_argument(
        "--baseline", metavar="NAME", help="the system that all others are compared with"
    )
    p.add_argument("--title", metavar="TEXT", help="(default: the names of the systems)")
    p.add_argument("--qrels", metavar="FILE", help="other judgements for an experiment's folder")
    add_texts(p)
    p.add_argument("-q", "--quiet", action="store_true", help="say nothing")
    return p


def run(args: argparse.Namespace) -> int:
    """Load, make the page, write it."""
    from pathlib import Path

    from goodgain.reports import write_report
    from goodgain.results.loading import load_result

    if args.qrels and not any(Path(path).is_dir() for path in args.results):
        raise UsageError(
            "--qrels is for the folder of an experiment",
            hint="saved evaluations know their judgements",
        )
    write_report(
        args.output,
        *(load_result(path, args.qrels) for path in args.results),
        title=args.title,
        baseline=args.baseline,
        queries=args.queries,
        documents=args.documents,
        command=args.command_line,
    )
    if not args.quiet:
        size = Path(args.output).stat().st_size
        print(f"wrote {args.output} ({size / 1e6:.1f} MB)", file=sys.stderr)
    return 0
