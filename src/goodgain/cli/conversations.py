"""Options of commands that measure traces, and the measurement itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.options import (
    add_answers,
    add_identity,
    add_threshold,
    add_trace_reading,
    add_turn,
    trace_reading,
)

if TYPE_CHECKING:
    import argparse

    from goodgain.agentic import GoodGain


def add_scoring(parser: argparse.ArgumentParser) -> Any:
    """How gains are counted: --labels, --threshold, --max-gain, --gain, --discount, --turn, ..."""
    group = parser.add_argument_group("scoring of traces")
    group.add_argument(
        "--labels", metavar="FILE",
        help="gains: conversation, result (its id or URL) and gain, in any judgment format; an "
        "optional column 'hop' is the hop of the question that needs it",
    )  # fmt: skip
    add_answers(group)
    add_threshold(group)
    group.add_argument(
        "--max-gain",
        type=float,
        default=4,
        metavar="GAIN",
        help="highest possible gain (default: 4)",
    )
    group.add_argument(
        "--gain",
        choices=("linear", "exp"),
        default="linear",
        help="gain function (default: linear)",
    )
    group.add_argument(
        "--discount", choices=("log2", "none", "reciprocal", "geometric"), default="log2",
        help="discount over iterations (default: log2)",
    )  # fmt: skip
    group.add_argument(
        "--patience", type=float, default=0.8, metavar="P",
        help="parameter of the geometric discount (default: 0.8)",
    )  # fmt: skip
    group.add_argument(
        "--unlabelled", choices=("unknown", "zero"), default="unknown",
        help="gain of results without a label: unknown (gives bounds), or zero if the labels are "
        "complete (default: unknown)",
    )  # fmt: skip
    group.add_argument(
        "--opens", choices=("calls", "content"), default="calls",
        help="what counts as opened: documents that a call read, or also results returned with "
        "their content (default: calls)",
    )  # fmt: skip
    add_turn(group)
    return group


def add_trace_sources(parser: argparse.ArgumentParser) -> None:
    """--traces and everything that says how they are read and scored."""
    parser.add_argument(
        "--traces", metavar="FILE", action="append",
        help="trace files of agents instead of runs; with several, each file is a system",
    )  # fmt: skip
    add_trace_reading(parser)
    add_scoring(parser)
    add_identity(parser)


def measure_traces(args: argparse.Namespace, traces: list[str], by: str) -> GoodGain:
    """Good Gain of traces under the options of the command."""
    from goodgain.agentic import good_gain
    from goodgain.identity import Identity

    return good_gain(
        traces,
        labels=args.labels,
        answers=args.answers,
        threshold=args.threshold,
        max_gain=args.max_gain,
        gain=args.gain,
        discount=args.discount,
        patience=args.patience,
        turn=int(args.turn) if args.turn.isdigit() else args.turn,
        align=getattr(args, "align", "active"),
        unlabelled=args.unlabelled,
        opens=args.opens,
        identity=Identity(args.identity or (), unit=args.unit),
        by=by,  # type: ignore[arg-type]
        ledger=args.ledger,
        threads=args.threads,
        **trace_reading(args),
    )
