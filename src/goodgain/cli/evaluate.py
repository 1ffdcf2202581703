"""`goodgain evaluate`: measure runs against judgments."""

from __future__ import annotations

from goodgain.cli.options import (
    add_engine,
    add_evaluation,
    add_measures,
    add_output,
    add_qrels,
    add_report,
    add_save,
    add_skip_bad,
    add_spans,
    is_url,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser
from goodgain.cli.runs import evaluate_runs
from goodgain.errors import UsageError
from goodgain.ranking.evaluator import DEFAULT_MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "evaluate",
        "Measure runs against judgments.",
        "examples:\n"
        "  goodgain evaluate qrels.txt run.txt\n"
        '  goodgain evaluate qrels.txt bm25.run knn.parquet -m "nDCG@10 Recall@20 MRR"\n'
        "  goodgain evaluate --engine spark --master yarn s3a://lake/qrels.parquet s3a://lake/run.parquet\n"
        "  zcat run.gz | goodgain evaluate qrels.txt - --per-query --format csv -o scores.csv\n",
    )
    add_qrels(p)
    p.add_argument("runs", metavar="RUN", nargs="+", help="runs, in the same formats; - is stdin")
    add_measures(p, DEFAULT_MEASURES)
    add_save(p)
    add_skip_bad(p)
    add_spans(add_evaluation(p))
    add_report(p)
    add_engine(p)
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Evaluate and print; to a URL Spark writes the values per query, and the means are printed."""
    to_lake = is_url(args.output)
    if to_lake and (args.engine != "spark" or not args.per_query):
        raise UsageError(
            f"cannot write to '{args.output}'",
            hint="a URL needs --engine spark and --per-query: the cluster writes a table of Parquet",
        )
    result = evaluate_runs(args, args.runs, args.measures or DEFAULT_MEASURES)
    if to_lake:
        args.output = None
    text = result.render(args.format, args.per_query and not to_lake)
    write(args, text, side_files(args, result))
    warn(args, result.warnings())
    return 0
