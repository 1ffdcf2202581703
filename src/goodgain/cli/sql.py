"""`goodgain sql`: measures and policies as one query for a database."""

from __future__ import annotations

from goodgain.cli.options import (
    add_columns,
    add_conventions,
    add_measures,
    add_output_file,
    add_per_query,
    parse_pairs,
)
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser
from goodgain.ranking.evaluator import DEFAULT_MEASURES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_ROLES = ("query", "doc", "gain", "score", "system")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "sql",
        "Print one SQL query that computes measures where the data is. Tables have the columns query,\n"
        "doc and gain (judgments) or score (a run); --columns names others, and system= a column with\n"
        "the names of several runs. A measure or policy without an exact SQL form is an error.",
        "examples:\n"
        '  goodgain sql --dialect duckdb --measures "nDCG@10 AP"\n'
        "  goodgain sql --dialect bigquery lake.qrels lake.runs --columns system=model,query=topic -o q.sql\n"
        "  goodgain sql --dialect snowflake --preset trec_eval --per-query\n",
    )
    p.add_argument(
        "qrels",
        metavar="QRELS",
        nargs="?",
        default="qrels",
        help="table of judgments (default: qrels)",
    )
    p.add_argument(
        "run", metavar="RUN", nargs="?", default="run", help="table of runs (default: run)"
    )
    p.add_argument(
        "--dialect", required=True, metavar="NAME", help="duckdb, spark, bigquery or snowflake"
    )
    add_measures(p, DEFAULT_MEASURES)
    add_conventions(p)
    add_columns(p)
    add_per_query(p)
    add_output_file(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Compile and print."""
    from goodgain.errors import UsageError
    from goodgain.sql import Tables, compile_sql

    columns = parse_pairs([args.columns], "--columns")
    for role in columns:
        if role not in _ROLES:
            raise UsageError(f"unknown column role '{role}'", hint=f"roles: {', '.join(_ROLES)}")
    text = compile_sql(
        args.measures or DEFAULT_MEASURES,
        args.dialect,
        tables=Tables(qrels=args.qrels, run=args.run, **columns),
        per_query=args.per_query,
        policy=parse_pairs(args.policy, "--policy"),
        preset=args.preset,
    )
    write(args, text)
    return 0
