"""`goodgain calibrate`: check an LLM's labels against human labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.labels import add_label_filter
from goodgain.cli.options import (
    add_confidence,
    add_measures,
    add_output,
    add_outside,
    add_report,
    add_runs,
    add_save,
    add_seed,
    add_threshold,
    listing,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse

DEFAULT_MEASURES = "nDCG@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.labels.scale import OUTSIDE

    p = command_parser(
        "calibrate",
        "Compare a judge's labels with human labels of the same pairs: confusion matrix, agreement, kappa,\n"
        "alpha, kappa at the threshold, false and missed good documents. With --runs, also check whether\n"
        "both rank the systems the same way, and correct the means of measures by prediction-powered\n"
        "inference.",
        listing("labels outside the scale", OUTSIDE) + "examples:\n"
        "  goodgain calibrate human.txt labels.db --scale 0..4 --outside clip\n"
        "  goodgain calibrate human.txt labels.db\n"
        '  goodgain calibrate human.txt labels.db --runs bm25.run knn.run -m "nDCG@10 AP"\n',
    )
    p.add_argument("human", metavar="HUMAN", help="human judgments, in any format")
    p.add_argument("labels", metavar="LABELS", help="label store, or judgments in any format")
    add_runs(p)
    add_measures(p, DEFAULT_MEASURES)
    add_threshold(p)
    p.add_argument(
        "--scale",
        metavar="LOW..HIGH",
        help="lowest and highest gain of both (default: not checked)",
    )
    add_outside(p, OUTSIDE, "error")
    add_confidence(p)
    p.add_argument(
        "--resamples", type=int, default=1000, metavar="N",
        help="bootstrap samples of the intervals (default: 1000)",
    )  # fmt: skip
    add_seed(p)
    add_label_filter(p)
    add_save(p)
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
        args.measures or DEFAULT_MEASURES,
        threshold=args.threshold,
        scale=args.scale,
        outside=args.outside,
        confidence=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    write(args, result.render(args.format), side_files(args, result))
    warn(args, result.warnings())
    return 0
