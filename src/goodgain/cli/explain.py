"""`goodgain explain`: where a number comes from, and why two tools differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_evaluation, command_parser, pairs, write

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "explain",
        "One query's number, term by term; or the difference between two tools, split into its causes.",
        "examples:\n"
        "  goodgain explain qrels.txt run.txt -m nDCG@10 --query q1\n"
        "  goodgain explain qrels.txt run.txt -m nDCG@10 --against elasticsearch\n"
        "  goodgain explain qrels.txt run.txt -m RR@10 --query q1 --preset trec_eval --against ir_measures\n",
    )
    p.add_argument(
        "qrels", metavar="QRELS", help="judgements: TREC, CSV, TSV, JSON, Parquet, Arrow"
    )
    p.add_argument("run", metavar="RUN", help="a run in one of these formats; - is stdin")
    p.add_argument("-m", "--measure", required=True, help="one measure, for example nDCG@10")
    p.add_argument(
        "--query", metavar="ID", help="the query; with --against may be left out: all queries"
    )
    p.add_argument("--against", metavar="PRESET", help="another tool's conventions")
    add_evaluation(p)
    group = p.add_argument_group("output")
    group.add_argument(
        "--format", choices=("table", "json"), default="table", help="(default: table)"
    )
    group.add_argument("-o", "--output", metavar="FILE", help="write there, whole or not at all")
    return p


def run(args: argparse.Namespace) -> int:
    """Explain and print."""
    import json

    from goodgain.data import Qrels, Run
    from goodgain.errors import UsageError
    from goodgain.ranking.explain import explain

    given = pairs(args.policy, "--policy")
    columns = pairs([args.columns], "--columns")
    qrels = Qrels(args.qrels, columns={r: c for r, c in columns.items() if r != "score"})
    run_ = Run(
        args.run, columns={r: c for r, c in columns.items() if r in ("query", "doc", "score")}
    )
    if args.against is None and args.query is None:
        raise UsageError(
            "say which query to explain: --query ID",
            hint=f"for example --query {qrels.queries[0]}; with --against PRESET it may be left out",
        )
    found = explain(
        qrels, run_, args.measure, args.query, against=args.against, preset=args.preset, **given
    )
    if args.format == "json":
        write(args, json.dumps(found.to_dict(), ensure_ascii=False, indent=1) + "\n")
    else:
        write(args, f"{found}\n")
    return 0
