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
from goodgain.results.text import LONG_FORMATS

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from goodgain.labels.calibration import Calibration
    from goodgain.labels.passport import Passport

DEFAULT_MEASURES = "nDCG@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.labels.designs import DECLARED
    from goodgain.labels.scale import OUTSIDE

    p = command_parser(
        "calibrate",
        "Compare a judge's labels with human labels of the same pairs: confusion matrix, agreement, kappa,\n"
        "alpha, kappa at the threshold, false and missed good documents. With --runs, also check whether\n"
        "both rank the systems the same way, and correct means and differences with the human labels,\n"
        "from a sample drawn by `goodgain labels sample` or as declared by --design.",
        listing("labels outside the scale", OUTSIDE)
        + listing("designs that can be declared", DECLARED)
        + "examples:\n"
        "  goodgain calibrate human.txt labels.db --scale 0..4 --outside clip\n"
        "  goodgain calibrate human.txt labels.db\n"
        '  goodgain calibrate labels.db labels.db --runs bm25.run knn.run -m "nDCG@10 AP" --design first\n'
        '  goodgain calibrate human.txt labels.db --runs bm25.run knn.run -m "P@10" --design pairs\n'
        "  goodgain calibrate human.txt labels.db --passport new.passport.json \\\n"
        "      --earlier-passport old.passport.json\n",
    )
    p.add_argument(
        "human", metavar="HUMAN", help="human judgments, in any format, or a label store"
    )
    p.add_argument("labels", metavar="LABELS", help="label store, or judgments in any format")
    add_runs(p)
    p.add_argument(
        "--design", metavar="SAMPLE|NAME",
        help="how HUMAN was chosen: a sample in the store, or a declared design; listed below "
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
        help="lowest and highest gain on both sides (default: not checked)",
    )
    add_outside(p, OUTSIDE, "error")
    add_confidence(p)
    p.add_argument(
        "--resamples", type=int, default=1000, metavar="N",
        help="bootstrap samples of the intervals (default: 1000)",
    )  # fmt: skip
    add_seed(p)
    add_label_filter(p)
    passport = p.add_argument_group("passport")
    passport.add_argument(
        "--passport", metavar="FILE",
        help="write the judge's passport; reports look for *.passport.json next to the store",
    )  # fmt: skip
    passport.add_argument(
        "--earlier-passport", metavar="FILE", help="test for drift since an earlier passport"
    )
    add_save(p)
    add_report(p, texts=False)
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Calibrate and print."""
    from goodgain.labels import Labels
    from goodgain.labels.calibration import calibrate

    labels = args.labels
    if args.model or args.prompt or args.setting:
        labels = Labels.of(args.labels, model=args.model, prompt=args.prompt, setting=args.setting)
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
    files, text, notes = side_files(args, result), result.render(args.format), result.warnings()
    if args.passport or args.earlier_passport:
        passport = _passport(args, labels, result)
        if args.passport:
            files[args.passport] = passport.to_json()
        if args.format not in LONG_FORMATS:
            text = f"{text}\n{passport.render(args.format)}"
        notes += _passport_notes(args, passport)
    write(args, text, files)
    warn(args, notes)
    return 0


def _passport(args: argparse.Namespace, labels: Any, result: Calibration) -> Passport:
    from goodgain.errors import UsageError
    from goodgain.labels.passport import Passport, make_passport
    from goodgain.labels.result import stored_labels

    own = stored_labels(labels, prefer="model")
    if own is None:
        raise UsageError(
            f"'{args.labels}' is not a label store, so its judge is unknown",
            hint="a passport needs the store that `goodgain label` wrote",
        )
    earlier = Passport.load(args.earlier_passport) if args.earlier_passport else None
    return make_passport(args.human, own, result, earlier=earlier)


def _passport_notes(args: argparse.Namespace, passport: Passport) -> list[str]:
    from goodgain.labels.passport import SUFFIX

    notes = []
    if args.passport and not args.passport.endswith(SUFFIX):
        notes.append(f"reports look for a passport next to its store, named *{SUFFIX}")
    if passport.drift is not None and passport.drift.changed:
        notes.append(passport.drift.sentence())
    return notes
