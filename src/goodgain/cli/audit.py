"""`goodgain audit`: find the conventions behind a published table."""

from __future__ import annotations

from goodgain.cli.options import add_columns, add_output, add_qrels, add_threads, parse_pairs
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "audit",
        "Find the conventions (ties, missing queries, gains, thresholds, cut-offs, precision, rounding)\n"
        "that reproduce a published table to its last digit, or the closest ones and the remaining\n"
        "differences.\n"
        "Exit status 1 if some values are not reproduced.",
        "examples:\n"
        "  goodgain audit qrels.txt runs/*.gz --table leaderboard.csv\n"
        "  goodgain audit qrels.txt bm25.run --table paper.csv --format csv -o cells.csv\n",
    )
    add_qrels(p)
    p.add_argument("runs", metavar="RUN", nargs="+", help="the runs of the table, named as in it")
    p.add_argument(
        "--table", metavar="TABLE", required=True,
        help="published values as printed: a row per run, a column per measure",
    )  # fmt: skip
    add_columns(p)
    add_threads(p)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Search and print."""
    from goodgain.auditing import audit
    from goodgain.cli.output import warn

    result = audit(
        args.qrels,
        args.runs,
        args.table,
        columns=parse_pairs([args.columns], "--columns"),
        threads=args.threads,
    )
    write(args, result.render(args.format))
    warn(args, result.notes())
    return 0 if result.reproduced else 1
