"""`goodgain evaluate`: measures of one or several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_engine,
    add_evaluation,
    add_output,
    add_report,
    beside,
    command_parser,
    warn,
    write,
)
from goodgain.cli.runs import evaluated
from goodgain.ranking.evaluator import DEFAULT_MEASURES

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "evaluate",
        "Measure runs against judgements.",
        "examples:\n"
        "  goodgain evaluate qrels.txt run.txt\n"
        '  goodgain evaluate qrels.txt bm25.run knn.parquet -m "nDCG@10 Recall@20 MRR"\n'
        "  goodgain evaluate --engine spark --master yarn s3a://lake/qrels.parquet s3a://lake/run.parquet\n"
        "  zcat run.gz | goodgain evaluate qrels.txt - --per-query --format csv -o scores.csv\n",
    )
    p.add_argument(
        "qrels", metavar="QRELS", help="judgements: TREC, CSV, TSV, JSON, Parquet, Arrow"
    )
    p.add_argument("runs", metavar="RUN", nargs="+", help="runs in the same formats; - is stdin")
    p.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help=f'for example "nDCG@10 AP"; see goodgain measures (default: {DEFAULT_MEASURES})',
    )  # fmt: skip
    p.add_argument("--save", metavar="FILE", help="save the whole result as JSON")
    add_evaluation(p)
    add_report(p)
    p.add_argument(
        "--skip-bad", action="store_true", help="leave bad rows of runs out, and count them"
    )
    add_engine(p)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    result = evaluated(args, args.runs, args.measures or DEFAULT_MEASURES)
    write(args, result.render(args.format, args.per_query), beside(args, result))
    warn(args, result.warnings())
    return 0
