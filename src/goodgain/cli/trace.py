"""`goodgain trace`: measure an agent's searches, per iteration and conversation (Good Gain)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_identity,
    add_output,
    add_report,
    add_save,
    add_threads,
    add_threshold,
    add_traces,
    add_turn,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "trace",
        "Measure what each search of an agent contributed: gain, redundancy and cost per iteration.",
        "examples:\n"
        "  goodgain trace traces.jsonl\n"
        "  goodgain trace before.jsonl after.jsonl --by file --labels labels.tsv\n"
        "  goodgain trace langfuse.json --search-tool web_search --per-conversation --format csv\n",
    )
    add_traces(p)
    add_save(p)
    p.add_argument("--no-plot", action="store_true", help="do not plot the gain curve")
    group = p.add_argument_group("scoring")
    group.add_argument(
        "--labels", metavar="FILE",
        help="gains: conversation, result (its id or URL) and gain, in any format of judgments",
    )  # fmt: skip
    group.add_argument(
        "--by", choices=("system", "file"), default="system",
        help="what to group conversations by (default: system)",
    )  # fmt: skip
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
    add_turn(group)
    group.add_argument(
        "--align", choices=("active", "carry"), default="active",
        help="average over conversations still searching at an iteration, or carry finished ones "
        "forward (default: active)",
    )  # fmt: skip
    add_threads(group)
    add_identity(p)
    add_report(p, texts=False)
    group = add_output(p, per_query=False)
    group.add_argument(
        "--per-conversation", action="store_true",
        help="one row per iteration of each conversation",
    )  # fmt: skip
    return p


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from goodgain.agentic import good_gain
    from goodgain.identity import Identity

    result = good_gain(
        args.traces,
        labels=args.labels,
        threshold=args.threshold,
        max_gain=args.max_gain,
        gain=args.gain,
        discount=args.discount,
        patience=args.patience,
        turn=int(args.turn) if args.turn.isdigit() else args.turn,
        align=args.align,
        identity=Identity(args.profiles or (), unit=args.unit),
        by=args.by,
        format=args.source_format,
        search_tools=args.search_tool,
        skip_bad=args.skip_bad,
        threads=args.threads,
    )
    text = result.render(args.format, args.per_conversation)
    if args.format == "table" and not args.per_conversation and not args.no_plot:
        text = "\n".join(filter(None, (text, result.sketch())))
    write(args, text, side_files(args, result))
    warn(args, result.warnings())
    return 0
