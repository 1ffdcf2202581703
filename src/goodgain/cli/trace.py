"""`goodgain trace`: measure an agent's searches, per iteration and conversation (Good Gain)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.conversations import add_scoring, measure_traces
from goodgain.cli.options import (
    add_confidence,
    add_identity,
    add_output,
    add_report,
    add_save,
    add_seed,
    add_threads,
    add_traces,
    listing,
)
from goodgain.cli.output import side_files, warn, write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse

    from goodgain.agentic import GoodGain
    from goodgain.agentic.stopping import Stopping


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.agentic.rules import RULES

    p = command_parser(
        "trace",
        "Measure what each search of an agent contributed: gain, redundancy and cost per iteration.",
        "examples:\n"
        "  goodgain trace traces.jsonl\n"
        "  goodgain trace runs/ --labels evidence.tsv --threshold 1 --answers gold.jsonl\n"
        "  goodgain trace before.jsonl after.jsonl --by file --labels labels.tsv\n"
        "  goodgain trace langfuse.json --search-tool web_search --per-conversation --format csv\n"
        '  goodgain trace traces.jsonl --labels labels.tsv --stop "after 3" "tokens 20000 or stale 2"\n'
        "\n" + listing("rules of --stop, joined by 'or' and 'and'", RULES).rstrip("\n") + "\n",
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
    group = p.add_argument_group("stopping")
    group.add_argument(
        "--stop", nargs="*", action="extend", metavar="RULE",
        help="after TRACES: report what stopping rules would have saved and lost; listed below "
        "(default: a selection)",
    )  # fmt: skip
    add_confidence(group)
    add_seed(group)
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
    if args.stop is not None:
        return _stop(args, result)
    text = result.render(args.format, args.per_conversation, args.evidence)
    if args.format in ("table", "markdown") and not args.per_conversation:
        text = "\n".join(filter(None, (_verdict(result, args.format), text)))
    if args.format == "table" and not args.per_conversation and not args.no_plot:
        text = "\n".join(filter(None, (text, result.sketch())))
    write(args, text, side_files(args, result))
    return _remarks(args, result)


def _verdict(result: GoodGain, format: str) -> str:  # noqa: A002
    """Which of several agents is better; empty if labels or shared conversations are missing."""
    from goodgain.comparison import compare
    from goodgain.comparison.card_views import card_markdown, card_text
    from goodgain.errors import GoodgainError

    if len(result.systems) < 2 or not result.labelled:
        return ""
    try:
        card = compare(result).card()
    except GoodgainError:  # no conversation is shared
        return ""
    if card is None:
        return ""
    return card_text(card) if format == "table" else card_markdown(card)


def _stop(args: argparse.Namespace, gain: GoodGain) -> int:
    """Replay under stopping rules and print."""
    from goodgain.agentic.stopping import stopping

    result = stopping(gain, args.stop or None, confidence=args.confidence, seed=args.seed)
    text = result.render(args.format, args.per_conversation)
    write(args, text, side_files(args, result, gain))
    return _remarks(args, gain, result)


def _remarks(args: argparse.Namespace, gain: GoodGain, *others: Stopping) -> int:
    """The ledger and the warnings."""
    if not args.quiet:
        print(gain.account(), file=sys.stderr)
    warn(args, dict.fromkeys(w for result in (gain, *others) for w in result.warnings()))
    return 0
