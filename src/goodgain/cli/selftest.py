"""`goodgain selftest`: check the numbers on your own data."""

from __future__ import annotations

from goodgain.cli.options import (
    add_columns,
    add_measures,
    add_output,
    add_seed,
    parse_pairs,
)
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "selftest",
        "Recompute a sample of your own queries from the definitions of the measures, and with trec_eval's\n"
        "code, ir_measures, ranx and scipy where they are installed. Without files: generated queries.\n"
        "Exit status 1 if a value differs and no known convention explains it.",
        "examples:\n"
        "  goodgain selftest\n"
        "  goodgain selftest qrels.txt run.txt\n"
        '  goodgain selftest qrels.txt run.txt -m "nDCG@10 AP" --sample 100 --seed 7\n',
    )
    p.add_argument(
        "qrels", metavar="QRELS", nargs="?", help="judgments; leave out for generated data"
    )
    p.add_argument("run", metavar="RUN", nargs="?", help="a run")
    add_measures(p, "all ranked measures")
    p.add_argument(
        "--sample", type=int, default=20, metavar="N", help="queries to recompute (default: 20)"
    )
    add_seed(p)
    add_columns(p)
    add_output(p, per_query=False, quiet=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Check and print."""
    from goodgain.verification import selftest

    result = selftest(
        args.qrels,
        args.run,
        measures=args.measures or None,
        queries=args.sample,
        seed=args.seed,
        columns=parse_pairs([args.columns], "--columns") if args.columns else None,
    )
    write(args, result.render(args.format))
    return 0 if result.passed else 1
