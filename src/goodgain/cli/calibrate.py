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
    from goodgain.labels.designs import DECLARED
    from goodgain.labels.scale import OUTSIDE

    p = command_parser(
        "calibrate",
        "Compare a judge's labels with human labels of the same pairs: confusion matrix, agreement, kappa,\n"
        "alpha, kappa at the threshold, false and missed good documents. With --runs, also check whether\n"
        "both rank the systems the same way, and correct means and differences of systems by what people\n"
        "judged: of a sample that `goodgain labels sample` drew, or as --design declares.",
        listing("labels outside the scale", OUTSIDE)
        + listing("designs that can be declared", DECLARED)
        + "examples:\n"
        "  goodgain calibrate human.txt labels.db --scale 0..4 --outside clip\n"
        "  goodgain calibrate human.txt labels.db\n"
        '  goodgain calibrate labels.db labels.db --runs bm25.run knn.run -m "nDCG@10 AP" --design first\n'
        '  goodgain calibrate human.txt labels.db --runs bm25.run knn.run -m "P@10" --design pairs\n',
    )
    p.add_argument(
        "human", metavar="HUMAN", help="human judgments, in any format, or a label store"
    )
    p.add_argument("labels", metavar="LABELS", help="label store, or judgments in any format")
    add_runs(p)
    p.add_argument(
        "--design", metavar="SAMPLE|NAME",
        help="how HUMAN was chosen: a sample of the store, or what you declare; listed below "
        "(default: the store's only sample)",
    )  # fmt: skip
    p.add_argument(
        "--generalise", action="store_true",
        help="intervals for queries like these, rather than for these alone",
    )  # fmt: skip
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
        design=args.design,
        generalise=args.generalise,
        confidence=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    write(args, result.render(args.format), side_files(args, result))
    warn(args, result.warnings())
    return 0
