"""`goodgain gate`: pass or fail in CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.compare import add_scores, measured_sources, parse_margins, score_columns
from goodgain.cli.conversations import add_trace_sources
from goodgain.cli.options import (
    add_alpha,
    add_baseline,
    add_documents,
    add_evaluation,
    add_margin,
    add_measures,
    add_output,
    add_qrels,
    add_seed,
    add_seeds,
    add_spans,
    add_summary,
    add_test,
    add_unpaired,
    listing,
)
from goodgain.cli.output import warn, write
from goodgain.cli.parser import command_parser
from goodgain.cli.runs import evaluate_runs
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

DEFAULT_MEASURES = "nDCG@10"
DEFAULT_MARGIN = 0.01


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.comparison.gates import GATE_TESTS
    from goodgain.comparison.pairing import UNPAIRED
    from goodgain.comparison.replicates import SEEDS
    from goodgain.stats.paired import TESTS

    tests = {name: TESTS[name] for name in GATE_TESTS}
    p = command_parser(
        "gate",
        "Test whether a candidate is no worse than the baseline by more than a margin (one-sided).\n"
        "Exit status 0 if it passes on every measure, 1 if it does not. A measure passes only on\n"
        "evidence: not without labels, and not if missing labels could reverse the verdict. Accepts runs,\n"
        "saved results, agent traces (--traces) or scores (--scores). Lists the queries that lost most.",
        listing("tests", tests)
        + listing("unpaired queries", UNPAIRED)
        + listing("seeds", SEEDS)
        + "examples:\n"
        "  goodgain gate qrels.txt base.run new.run -m nDCG@10 --margin 0.01\n"
        '  goodgain gate qrels.txt base.run new.run -m "nDCG@10 AP" --margin 2% --margin AP=0.005\n'
        "  goodgain gate qrels.txt base.run new.run --summary gate.md\n"
        "  goodgain gate --scores scores.csv --baseline old --candidate new -m mrr\n"
        '  goodgain gate --traces before.jsonl --traces after.jsonl --labels labels.tsv -m "CG SRR"\n',
    )
    add_qrels(p, nargs="?")
    p.add_argument("runs", metavar="BASELINE CANDIDATE", nargs="*", help="the two runs")
    add_measures(p, f"{DEFAULT_MEASURES}; with --scores, every column")
    add_scores(p)
    add_trace_sources(p)
    group = p.add_argument_group("gate")
    add_baseline(group, "the first")
    group.add_argument(
        "--candidate", metavar="NAME", help="system that would replace it (default: the second)"
    )
    add_margin(group, f"{DEFAULT_MARGIN}")
    add_test(group, tests, "t")
    add_alpha(group)
    group.add_argument(
        "--worst", type=int, default=10, metavar="N", help="number of queries to list (default: 10)"
    )
    add_unpaired(group, UNPAIRED, "drop")
    add_seeds(group, SEEDS, "random")
    add_seed(group)
    add_summary(group)
    group = add_evaluation(p)
    add_spans(group)
    add_documents(group)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Test, print, and pass or fail by the exit status."""
    from goodgain.comparison.gates import gate
    from goodgain.results.nouns import counted

    warnings: list[str] = []
    measured = measured_sources(args)
    if measured:
        sources = measured
    else:
        if not args.qrels or len(args.runs) != 2:
            raise UsageError(
                "expected judgments, a baseline and a candidate, got "
                f"{counted(len(args.runs), 'run')}",
                hint="goodgain gate QRELS BASELINE CANDIDATE",
            )
        evaluation = evaluate_runs(args, args.runs, args.measures or DEFAULT_MEASURES)
        if len(evaluation.runs) != 2:
            raise UsageError(
                f"expected a baseline and a candidate, got {len(evaluation.runs)} runs: "
                f"{', '.join(evaluation.names[:4])}",
                hint="name the two files",
            )
        warnings += evaluation.warnings()
        sources = [evaluation]
    result = gate(
        *sources,
        measures=args.measures if measured else None,
        baseline=args.baseline,
        candidate=args.candidate,
        margin=parse_margins(args.margin) or DEFAULT_MARGIN,
        alpha=args.alpha,
        test=args.test,
        worst=args.worst,
        unpaired=args.unpaired,
        seeds=args.seeds,
        columns=score_columns(args),
        lower_is_better=args.lower_is_better,
        higher_is_better=args.higher_is_better,
        seed=args.seed,
        threads=args.threads,
    )
    summary = {args.summary: result.render("markdown")} if args.summary else {}
    write(args, result.render(args.format), summary)
    warn(args, [*warnings, *result.notes])
    return 0 if result.passed else 1
