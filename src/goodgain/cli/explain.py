"""`goodgain explain`: show where a number comes from, or why two tools differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_evaluation,
    add_measures,
    add_output,
    add_qrels,
    as_id,
    parse_pairs,
)
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "explain",
        "Show how one measure of one query is computed, term by term; or, with --against, split the\n"
        "difference between two tools into its causes.",
        "examples:\n"
        "  goodgain explain qrels.txt run.txt -m nDCG@10 --query q1\n"
        "  goodgain explain qrels.txt run.txt -m nDCG@10 --against elasticsearch\n"
        "  goodgain explain qrels.txt run.txt -m RR@10 --query q1 --preset trec_eval --against ir_measures\n",
    )
    add_qrels(p)
    p.add_argument("run", metavar="RUN", help="run, in the same formats; - is stdin")
    add_measures(p, required=True)
    p.add_argument(
        "--query",
        metavar="ID",
        type=as_id,
        help="query to explain; optional with --against (default: all)",
    )
    p.add_argument("--against", metavar="PRESET", help="conventions to compare with")
    add_evaluation(p)
    add_output(p, per_query=False, formats=("table", "json"), quiet=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Explain and print."""
    import json
    import sys

    from goodgain.cores import memory_limit
    from goodgain.data import Qrels, Run
    from goodgain.errors import UsageError
    from goodgain.io.columns import columns_of
    from goodgain.ranking.explain import Explanation, explain
    from goodgain.ranking.mismatch import Group, alike_notes, disjoint_hint
    from goodgain.results.judges import judge_notes

    measure = " ".join(args.measures)
    policies = parse_pairs(args.policy, "--policy")
    columns = parse_pairs([args.columns], "--columns")
    qrels = Qrels.of(args.qrels, columns=columns_of("qrels", columns))
    scored = Run(args.run, columns=columns_of("run", columns))
    if args.against is None and args.query is None:
        raise UsageError(
            "no query to explain: --query ID is missing",
            hint=f"for example --query {qrels.queries[0]}; it is optional with --against PRESET",
        )
    result = explain(
        qrels,
        scored,
        measure,
        args.query,
        against=args.against,
        preset=args.preset,
        **policies,  # type: ignore[arg-type] # checked there
    )
    if args.format == "json":
        write(args, json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n")
    else:
        write(args, f"{result}\n")
    notes = judge_notes([qrels.source.provenance(hashed=False)])
    if isinstance(result, Explanation) and all(term.judged is None for term in result.terms):
        others = [term.doc for term in result.terms]
        notes += alike_notes("documents", [Group(args.query, set(qrels[args.query]), others)])
    if isinstance(result, Explanation) and not result.terms:
        notes += filter(None, [disjoint_hint(qrels, scored, memory_limit(None))])
    for note in notes:
        print(f"warning: {note}", file=sys.stderr)
    return 0
