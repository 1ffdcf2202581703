"""`goodgain fuse`: several runs made into one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodgain.cli.options import (
    add_measures,
    add_name,
    add_output,
    add_seed,
    add_threads,
    parse_pairs,
)
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

FORMATS = ("trec", "csv", "tsv", "jsonl")
DEFAULT_MEASURE = "nDCG@10"


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.fusion.methods import METHODS, NORMS

    size = max(map(len, METHODS))
    methods = "".join(f"  {name:<{size}}  {m.summary}{_more(m)}\n" for name, m in METHODS.items())
    norms = "".join(f"  {name:<16}  {text}\n" for name, text in NORMS.items())
    p = command_parser(
        "fuse",
        "Fuse runs into one and write it as a run.",
        f"methods:\n{methods}\nnormalisations:\n{norms}\nexamples:\n"
        "  goodgain fuse bm25.run dense.run -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method wsum --weights 0.3,0.7 -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method wsum --tune qrels.txt -m nDCG@10 -o hybrid.run\n"
        "  goodgain fuse bm25.run dense.run --method posfuse --train qrels.txt \\\n"
        "      --train-runs bm25.train.run dense.train.run -o hybrid.run\n",
    )
    p.add_argument("runs", metavar="RUN", nargs="+", help="two or more runs")
    p.add_argument("--method", default="rrf", metavar="NAME", help="(default: rrf)")
    p.add_argument(
        "--norm", metavar="NAME", help="(default: min-max where scores matter, else none)"
    )
    p.add_argument("--weights", metavar="W,W,...", help="one for each run")
    p.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the method's, for example k=20",
    )
    p.add_argument("--depth", type=int, metavar="N", help="keep the best N of each query")
    add_name(p, "the method")
    add_threads(p)
    group = p.add_argument_group("learning")
    group.add_argument("--train", metavar="QRELS", help="judgements of training queries")
    group.add_argument(
        "--train-runs",
        nargs="+",
        metavar="RUN",
        help="runs over training queries (default: the runs)",
    )
    group.add_argument(
        "--tune",
        metavar="QRELS",
        help="choose weights or parameter by cross-validation over queries",
    )
    add_measures(group, DEFAULT_MEASURE)
    group.add_argument("--folds", type=int, default=5, metavar="N", help="(default: 5)")
    add_seed(group)
    add_output(p, per_query=False, formats=FORMATS)
    return p


def _more(method: object) -> str:
    from goodgain.fusion.methods import Method

    assert isinstance(method, Method)
    notes = []
    if method.param:
        notes.append(f"{method.param.name}={method.param.default:g}")
    if method.weighted:
        notes.append("weights")
    if method.trained:
        notes.append("learns")
    return f" ({', '.join(notes)})" if notes else ""


def run(args: argparse.Namespace) -> int:
    """Fuse and write."""
    from goodgain.fusion import fuse, tune

    params: Mapping[str, Any] = _params(args.param)
    if args.tune:
        if args.weights or args.param or args.train:
            raise UsageError("--tune chooses what --weights, --param and --train would give")
        measure = " ".join(args.measures or [DEFAULT_MEASURE])
        tuned = tune(args.tune, args.runs, args.method, args.norm, measure=measure, folds=args.folds,
                     seed=args.seed, depth=args.depth, threads=args.threads)  # fmt: skip
        if not args.quiet:
            to = sys.stdout if args.output and args.output != "-" else sys.stderr
            print(tuned, file=to)
        fused = tuned.run
    else:
        fused = fuse(
            args.runs, args.method, args.norm,
            weights=_weights(args.weights), qrels=args.train, training_runs=args.train_runs,
            depth=args.depth, threads=args.threads, **params,
        )  # fmt: skip
        if args.train and not args.train_runs and not args.quiet:
            print(
                "warning: the method learnt from the runs that it fuses; scores on these queries will "
                "look too good (--tune tells held-out ones)",
                file=sys.stderr,
            )
    write(args, _text(fused.source.value, args.format, args.name or args.method))
    return 0


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(w) for w in text.split(",")]
    except ValueError:
        raise UsageError(f"--weights '{text}' is not W,W,...", hint="for example 0.3,0.7") from None


def _params(texts: list[str]) -> dict[str, float]:
    found = {}
    for name, value in parse_pairs(texts, "--param").items():
        try:
            found[name] = float(value)
        except ValueError:
            raise UsageError(f"--param {name}='{value}' is not a number") from None
    return found


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
