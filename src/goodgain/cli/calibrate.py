"""`goodgain calibrate`: how far to trust labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_output, add_report, beside, command_parser, warn, write

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "calibrate",
        "Hold the labels of a judge against human ones over the same pairs: who said what how often,\n"
        "agreement, kappa, alpha, false and missed good documents; with runs, whether both put the systems\n"
        "in the same order, and the means of measures corrected by prediction-powered inference.",
        "examples:\n"
        "  goodgain calibrate human.txt labels.db\n"
        '  goodgain calibrate human.txt labels.db --runs bm25.run knn.run -m "nDCG@10 AP"\n',
    )
    p.add_argument("human", metavar="HUMAN", help="human judgements, in any form")
    p.add_argument("labels", metavar="LABELS", help="a store, or judgements in any form")
    p.add_argument(
        "--runs", metavar="RUN", nargs="+", default=[], help="the systems to put in order"
    )
    p.add_argument(
        "-m", "--measures", metavar="MEASURES", default="nDCG@10", help="(default: nDCG@10)"
    )
    p.add_argument(
        "--threshold", type=float, default=2, metavar="GAIN", help="good from here on (default: 2)"
    )
    p.add_argument("--confidence", type=float, default=0.95, metavar="P", help="(default: 0.95)")
    p.add_argument("--resamples", type=int, default=1000, metavar="N", help="(default: 1000)")
    p.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the resampling (default: 0)"
    )
    p.add_argument("--model", metavar="NAME", help="the labels of this model in the store")
    p.add_argument("--prompt", metavar="NAME", help="the labels of this prompt in the store")
    p.add_argument("--save", metavar="FILE", help="save the whole result as JSON")
    add_report(p, texts=False)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Calibrate and print."""
    from goodgain.labels import Labels
    from goodgain.labels.calibration import calibrate

    labels = args.labels
    if args.model or args.prompt:
        labels = Labels.of(args.labels, model=args.model, prompt=args.prompt)
    result = calibrate(
        args.human,
        labels,
        args.runs,
        args.measures,
        threshold=args.threshold,
        confidence=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    write(args, result.render(args.format), beside(args, result))
    warn(args, result.warnings())
    return 0
