"""`goodgain trace`: measure an agent's searches, per iteration and conversation (Good Gain)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.conversations import add_scoring, measure_traces
from goodgain.cli.options import (
    add_identity,
    add_output,
    add_report,
    add_save,
    add_threads,
    add_traces,
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
        "  goodgain trace runs/ --labels evidence.tsv --threshold 1 --answers gold.jsonl\n"
        "  goodgain trace before.jsonl after.jsonl --by file --labels labels.tsv\n"
        "  goodgain trace langfuse.json --search-tool web_search --per-conversation --format csv\n",
    )
    add_traces(p)
    add_save(p)
    p.add_argument("--no-plot", action="store_true", help="do not plot the gain curve")
    group = add_scoring(p)
    group.add_argument(
        "--by", choices=("system", "file"), default="system",
        help="what to group conversations by (default: system)",
    )  # fmt: skip
    group.add_argument(
        "--align", choices=("active", "carry"), default="active",
        help="average over conversations still searching at an iteration, or carry finished ones "
        "forward (default: active)",
    )  # fmt: skip
    group.add_argument(
        "--evidence", choices=("any", "all"), default="any",
        help="with --answers: count a conversation as having the evidence if any or all of it was "
        "returned (default: any)",
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
    result = measure_traces(args, args.traces, args.by)
    text = result.render(args.format, args.per_conversation, args.evidence)
    if args.format == "table" and not args.per_conversation and not args.no_plot:
        text = "\n".join(filter(None, (text, result.sketch())))
    write(args, text, side_files(args, result))
    if not args.quiet:
        print(result.account(), file=sys.stderr)
    warn(args, result.warnings())
    return 0
