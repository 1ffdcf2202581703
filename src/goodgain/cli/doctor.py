"""`goodgain doctor`: examine inputs before believing numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_output
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "doctor",
        "Check judgments and runs, or traces: swapped files, ids that do not match, coverage, ties, the\n"
        "scale of gains, judged depth, what the number of queries can show, and which test to use.\n"
        "Exit status 1 if something makes numbers wrong or meaningless.",
        "examples:\n"
        "  goodgain doctor qrels.txt bm25.run dense.run\n"
        "  goodgain doctor traces.jsonl\n",
    )
    p.add_argument(
        "files", metavar="FILE", nargs="+", help="judgments and runs, or one file of traces"
    )
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Examine and print."""
    from goodgain.checks.doctor import examine, examine_traces
    from goodgain.results.text import render

    if len(args.files) == 1:
        diagnosis = examine_traces(args.files[0])
    else:
        diagnosis = examine(args.files[0], args.files[1:])
    if args.format == "table":
        write(args, f"{diagnosis}\n")
    else:
        write(args, render(args.format, *diagnosis.rows()))
    return 1 if diagnosis.problems else 0
