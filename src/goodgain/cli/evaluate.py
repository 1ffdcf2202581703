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
from goodgain.io.naming import format_of
from goodgain.ranking.evaluator import DEFAULT_MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from goodgain.ranking import Evaluation


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "evaluate",
        "Measure runs against judgments.",
        "examples:\n"
        "  goodgain evaluate qrels.txt run.txt\n"
        '  goodgain evaluate qrels.txt bm25.run knn.parquet -m "nDCG@10 Recall@20 MRR"\n'
        "  goodgain evaluate s3://lake/qrels.parquet s3://lake/runs/ --per-query -o scores.parquet\n"
        "  goodgain evaluate --engine spark --master yarn s3a://lake/qrels.parquet s3a://lake/run.parquet\n"
        "  zcat run.gz | goodgain evaluate qrels.txt - --per-query --format csv -o scores.csv\n",
    )
    add_qrels(p)
    p.add_argument(
        "runs", metavar="RUN", nargs="+",
        help="runs, in the same formats, or folders of them; NAME=PATH is one run of that name; - is stdin",
    )  # fmt: skip
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
    per_query = args.per_query and not to_lake
    write(args, _contents(result, args, per_query), side_files(args, result))
    warn(args, result.warnings)
    return 0


def _contents(result: Evaluation, args: argparse.Namespace, per_query: bool) -> Any:
    """The text to print, or the bytes of a file; rows per query come in pieces."""
    form = format_of(args.output or "")
    if form not in ("parquet", "arrow"):
        form = args.format
        if not per_query or form not in ("csv", "tsv", "jsonl"):
            return result.render(args.format, per_query)
    from goodgain.ranking.export import file_bytes

    return file_bytes(result, form, per_query)
