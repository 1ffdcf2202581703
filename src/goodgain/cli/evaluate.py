"""`goodgain evaluate`: measures of one or several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_evaluation, add_output, command_parser, pairs, warn, write

if TYPE_CHECKING:
    import argparse

DEFAULT_MEASURES = "nDCG@10 AP RR R@1000 P@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "evaluate",
        "Measure runs against judgements.",
        "examples:\n"
        "  goodgain evaluate qrels.txt run.txt\n"
        '  goodgain evaluate qrels.txt bm25.run knn.parquet -m "nDCG@10 Recall@20 MRR"\n'
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
    add_output(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Evaluate and print."""
    from goodgain.evaluation import Evaluator
    from goodgain.evaluation.evaluator import named_runs
    from goodgain.tables import Qrels

    columns = pairs([args.columns], "--columns")
    roles = {
        "run": ("query", "doc", "score"),
        "qrels": ("query", "doc", "gain", "target", "aspect"),
    }
    of = {t: {r: c for r, c in columns.items() if r in names} for t, names in roles.items()}
    unknown = set(columns) - {r for names in roles.values() for r in names}
    evaluator = Evaluator(
        Qrels(args.qrels, columns=of["qrels"] | {r: columns[r] for r in unknown}),
        args.measures or DEFAULT_MEASURES,
        policy=pairs(args.policy, "--policy"),
        preset=args.preset,
        threads=args.threads,
    )
    result = evaluator.evaluate(named_runs(args.runs, of["run"]))
    saved = {args.save: result.to_json()} if args.save else {}
    write(args, result.render(args.format, args.per_query), saved)
    warn(args, result.warnings())
    return 0
