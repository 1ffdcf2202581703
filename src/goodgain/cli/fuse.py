"""`goodgain fuse`: fuse several runs into one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_depth,
    add_measures,
    add_name,
    add_output,
    add_seed,
    add_threads,
    listing,
    parse_pairs,
)
from goodgain.cli.output import warn, write
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from goodgain.fusion.methods import Method

FORMATS = ("trec", "csv", "tsv", "jsonl")
DEFAULT_MEASURE = "nDCG@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.fusion.methods import METHODS, NORMS

    methods = {name: f"{m.summary}{_notes(m)}" for name, m in METHODS.items()}
    p = command_parser(
        "fuse",
        "Fuse several runs into one.",
        listing("methods", methods) + listing("normalisations", NORMS) + "examples:\n"
        "  goodgain fuse bm25.run dense.run -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method wsum --weights 0.3,0.7 -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method wsum --tune qrels.txt -m nDCG@10 -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method posfuse --train qrels.txt \\\n"
        "      --train-runs bm25.train.run dense.train.run -o hybrid.run\n",
    )
    p.add_argument("runs", metavar="RUN", nargs="+", help="two or more runs")
    p.add_argument("--method", default="rrf", metavar="NAME", help="fusion method (default: rrf)")
    p.add_argument(
        "--norm", metavar="NAME",
        help="normalisation of scores (default: min-max for methods that use scores, otherwise none)",
    )  # fmt: skip
    p.add_argument("--weights", metavar="W,W,...", help="one weight per run")
    p.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE",
        help="parameter of the method, e.g. k=20",
    )  # fmt: skip
    add_depth(p)
    add_name(p, "the method")
    add_threads(p)
    group = p.add_argument_group("training and tuning")
    group.add_argument("--train", metavar="QRELS", help="judgments of the training queries")
    group.add_argument(
        "--train-runs", nargs="+", metavar="RUN",
        help="runs over the training queries (default: the runs to fuse)",
    )  # fmt: skip
    group.add_argument(
        "--tune", metavar="QRELS",
        help="choose weights or parameter by a measure, with cross-validation over queries",
    )  # fmt: skip
    add_measures(group, DEFAULT_MEASURE)
    group.add_argument(
        "--folds", type=int, default=5, metavar="N", help="folds of --tune (default: 5)"
    )
    add_seed(group)
    add_output(p, per_query=False, formats=FORMATS)
    return p


def _notes(method: Method) -> str:
    return f" ({method.notes})" if method.notes else ""


def run(args: argparse.Namespace) -> int:
    """Fuse the runs and write the result."""
    from goodgain.fusion import tune
    from goodgain.fusion.fuser import fuse_with_notes

    name = args.name or args.method
    if args.tune:
        if args.weights or args.param or args.train:
            raise UsageError(
                "--tune cannot be combined with --weights, --param or --train",
                hint="--tune chooses weights and parameters, and trains in every fold",
            )
        measures = " ".join(args.measures or [DEFAULT_MEASURE])
        tuned = tune(
            args.runs, args.method, args.norm, qrels=args.tune, measures=measures,
            folds=args.folds, seed=args.seed, depth=args.depth, name=name, threads=args.threads,
        )  # fmt: skip
        if not args.quiet:
            to_file = args.output and args.output != "-"
            print(tuned, file=sys.stdout if to_file else sys.stderr)
        warn(args, tuned.notes)
        fused = tuned.run
    else:
        fused, notes = fuse_with_notes(
            args.runs, args.method, args.norm, qrels=args.train, training_runs=args.train_runs,
            weights=_weights(args.weights), depth=args.depth, name=name, threads=args.threads,
            **_params(args.param),
        )  # fmt: skip
        warn(args, notes)
        if args.train:
            _warn_of_ids(args, args.train)
        if args.train and not args.train_runs:
            warn(args, [
                "the method was trained on the runs that it fuses, so scores on these queries will be "
                "optimistic (--tune reports held-out scores)"
            ])  # fmt: skip
    write(args, _text(fused.source.value, args.format, name))
    return 0


def _warn_of_ids(args: argparse.Namespace, qrels: str) -> None:
    """Say what is wrong with the ids of files that training has just read; a pipe cannot be read twice."""
    from goodgain.io.files import is_stream
    from goodgain.ranking import evaluate

    runs = args.train_runs or args.runs
    if not any(is_stream(path) for path in (qrels, *runs)):
        warn(args, evaluate(qrels, runs, DEFAULT_MEASURE).warnings())


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(w) for w in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--weights must be comma-separated numbers, got '{text}'", hint="for example 0.3,0.7"
        ) from None


def _params(texts: list[str]) -> dict[str, float]:
    params = {}
    for name, value in parse_pairs(texts, "--param").items():
        try:
            params[name] = float(value)
        except ValueError:
            raise UsageError(f"--param {name} must be a number, got '{value}'") from None
    return params


def _text(table: Mapping[str, Mapping[str, float]], format: str, name: str) -> str:  # noqa: A002
    from goodgain.results.text import render_data

    if format == "trec":
        from goodgain.io.writers import trec_text

        return trec_text(table, name, "the fused run")
    rows = [[q, doc, score] for q, docs in table.items() for doc, score in docs.items()]
    return render_data(format, ["query", "doc", "score"], rows)
