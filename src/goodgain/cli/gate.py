"""`goodgain gate`: pass or fail, for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.compare import add_choice, add_scores, margins, score_columns, score_sources
from goodgain.cli.options import add_evaluation, add_output, command_parser, warn, write
from goodgain.cli.runs import evaluated
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

DEFAULT_MEASURES = "nDCG@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.comparison.gates import GATE_TESTS
    from goodgain.comparison.pairing import UNPAIRED
    from goodgain.stats.paired import TESTS

    p = command_parser(
        "gate",
        "Exit with status 0 where a candidate is shown to be no worse than the baseline by more than a\n"
        "margin on every measure, and with 1 where it is not; name the queries that lost most.",
        "examples:\n"
        "  goodgain gate qrels.txt base.run new.run -m nDCG@10 --margin 0.01\n"
        '  goodgain gate qrels.txt base.run new.run -m "nDCG@10 AP" --margin 2% --margin AP=0.005\n'
        "  goodgain gate qrels.txt base.run new.run --summary gate.md\n"
        "  goodgain gate --scores scores.csv --baseline old --candidate new -m mrr\n",
    )
    p.add_argument("qrels", metavar="QRELS", nargs="?", help="judgements")
    p.add_argument("runs", metavar="BASELINE CANDIDATE", nargs="*", help="the two runs")
    p.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help=f"all of them must pass (default: {DEFAULT_MEASURES}; of scores, every column)",
    )  # fmt: skip
    add_scores(p)
    group = p.add_argument_group("gate")
    group.add_argument("--baseline", metavar="NAME", help="of scores: the system to hold")
    group.add_argument(
        "--candidate", metavar="NAME", help="of scores: the system that is to replace it"
    )
    group.add_argument(
        "--margin", action="append", metavar="[MEASURE=]M",
        help="how much worse is still no worse: 0.01, 2%%, nDCG@10=0.01 (default: 0.01)",
    )  # fmt: skip
    add_choice(group, "--test", {name: TESTS[name] for name in GATE_TESTS}, "t")
    group.add_argument(
        "--alpha", type=float, default=0.05, metavar="P", help="one-sided (default: 0.05)"
    )
    group.add_argument(
        "--worst", type=int, default=10, metavar="N", help="queries named (default: 10)"
    )
    add_choice(group, "--unpaired", UNPAIRED, "drop")
    group.add_argument("--random-seed", type=int, default=0, metavar="N", help="(default: 0)")
    group.add_argument(
        "--summary", metavar="FILE", help="also write a Markdown summary for a pull request"
    )
    add_evaluation(p)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Test, print, and tell by the exit status."""
    from goodgain.comparison.gates import gate

    notes: list[str] = []
    options: dict[str, Any] = {}
    if args.scores:
        sources = score_sources(args)
        options["measures"] = args.measures
        if args.baseline or args.candidate:
            if not (args.baseline and args.candidate):
                raise UsageError("name both systems", hint="--baseline OLD --candidate NEW")
            options["baseline"], options["candidate"] = args.baseline, args.candidate
    else:
        if not args.qrels or len(args.runs) != 2:
            raise UsageError(
                f"the gate takes judgements, a baseline and a candidate, and got {len(args.runs)} runs",
                hint="goodgain gate QRELS BASELINE CANDIDATE",
            )
        result = evaluated(args, args.runs, args.measures or DEFAULT_MEASURES)
        notes += result.warnings()
        sources = [result]
    found = gate(
        *sources,
        margin=margins(args.margin) or 0.01,
        alpha=args.alpha,
        test=args.test,
        worst=args.worst,
        unpaired=args.unpaired,
        columns=score_columns(args),
        lower_is_better=args.lower_is_better,
        seed=args.random_seed,
        threads=args.threads,
        **options,
    )
    summary = {args.summary: found.render("markdown")} if args.summary else {}
    write(args, found.render(args.format), summary)
    warn(args, [*notes, *found.notes])
    return 0 if found.passed else 1
