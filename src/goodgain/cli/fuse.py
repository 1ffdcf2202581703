"""`goodgain fuse`: fuse several runs into one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import command_parser, pairs, warn, write
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from goodgain.fusion.methods import Method

FORMATS = ("trec", "csv", "tsv", "jsonl")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.fusion.methods import METHODS, NORMS

    size = max(map(len, METHODS))
    methods = "".join(f"  {name:<{size}}  {m.summary}{_notes(m)}\n" for name, m in METHODS.items())
    norms = "".join(f"  {name:<16}  {text}\n" for name, text in NORMS.items())
    p = command_parser(
        "fuse",
        "Fuse several runs into one.",
        f"methods:\n{methods}\nnormalisations:\n{norms}\nexamples:\n"
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
        help="normalisation of scores (default: min-max for methods that use scores, else none)",
    )  # fmt: skip
    p.add_argument("--weights", metavar="W,W,...", help="one weight per run")
    p.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE",
        help="parameter of the method, for example k=20",
    )  # fmt: skip
    p.add_argument("--depth", type=int, metavar="N", help="maximum documents per query")
    p.add_argument("--name", metavar="NAME", help="name of the fused run (default: the method)")
    group = p.add_argument_group("training and tuning")
    group.add_argument("--train", metavar="QRELS", help="judgments of the training queries")
    group.add_argument(
        "--train-runs", nargs="+", metavar="RUN",
        help="runs over the training queries (default: the runs to fuse)",
    )  # fmt: skip
    group.add_argument(
        "--tune", metavar="QRELS",
        help="judgments by which to choose weights or parameter, with cross-validation over queries",
    )  # fmt: skip
    group.add_argument(
        "-m", "--measures", default="nDCG@10", metavar="MEASURE",
        help="measure that --tune optimises (default: nDCG@10)",
    )  # fmt: skip
    group.add_argument(
        "--folds", type=int, default=5, metavar="N", help="folds of --tune (default: 5)"
    )
    group.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    out = p.add_argument_group("output")
    out.add_argument(
        "--format", choices=FORMATS, default="trec", help="format of the run (default: trec)"
    )
    out.add_argument("-o", "--output", metavar="FILE", help="write to FILE (atomically)")
    out.add_argument("--threads", type=int, metavar="N", help="threads (default: all cores)")
    out.add_argument(
        "-q", "--quiet", action="store_true", help="suppress warnings and the tuning table"
    )
    return p


def _notes(method: Method) -> str:
    return f" ({method.notes})" if method.notes else ""


def run(args: argparse.Namespace) -> int:
    """Fuse the runs and write the result."""
    from goodgain.fusion import fuse, tune

    name = args.name or args.method
    if args.tune:
        if args.weights or args.param or args.train:
            raise UsageError(
                "--tune cannot be combined with --weights, --param or --train",
                hint="--tune chooses weights and parameters, and trains in every fold",
            )
        tuned = tune(
            args.runs, args.method, args.norm, qrels=args.tune, measures=args.measures,
            folds=args.folds, seed=args.seed, depth=args.depth, name=name, threads=args.threads,
        )  # fmt: skip
        if not args.quiet:
            to_file = args.output and args.output != "-"
            print(tuned, file=sys.stdout if to_file else sys.stderr)
        fused = tuned.run
    else:
        fused = fuse(
            args.runs, args.method, args.norm, qrels=args.train, training_runs=args.train_runs,
            weights=_weights(args.weights), depth=args.depth, name=name, threads=args.threads,
            **_params(args.param),
        )  # fmt: skip
        if args.train and not args.train_runs:
            warn(args, [
                "the method was trained on the runs that it fuses, so scores on these queries will be "
                "optimistic (--tune reports held-out scores)"
            ])  # fmt: skip
    write(args, _text(fused.source.value, args.format, name))
    return 0


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
    for name, value in pairs(texts, "--param").items():
        try:
            params[name] = float(value)
        except ValueError:
            raise UsageError(f"--param {name} must be a number, got '{value}'") from None
    return params


def _text(table: Mapping[str, Mapping[str, float]], format: str, name: str) -> str:  # noqa: A002
    from goodgain.results.text import render

    if format == "trec":
        return "".join(
            f"{query} Q0 {doc} {rank} {score!r} {name}\n"
            for query, docs in table.items()
            for rank, (doc, score) in enumerate(docs.items(), 1)
        )
    rows = [[q, doc, score] for q, docs in table.items() for doc, score in docs.items()]
    return render(format, ["query", "doc", "score"], rows)
