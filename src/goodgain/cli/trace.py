"""`goodgain trace`: Good Gain of an agent's searches, per iteration and conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.cli.options import add_output, add_report, beside, command_parser, warn, write

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "trace",
        "Measure what each search of an agent was worth: gain, redundancy and cost per iteration.",
        "examples:\n"
        "  goodgain trace traces.jsonl\n"
        "  goodgain trace before.jsonl after.jsonl --by file --labels labels.tsv\n"
        "  goodgain trace langfuse.json --search-tool web_search --per-conversation --format csv\n",
    )
    add_traces(p)
    group = p.add_argument_group("counting")
    group.add_argument(
        "--labels",
        metavar="FILE",
        help="gains: conversation, result (its id or URL), gain; in the formats of judgements",
    )
    group.add_argument(
        "--by", choices=("system", "file"), default="system", help="(default: system)"
    )
    group.add_argument(
        "--threshold",
        type=float,
        default=2,
        metavar="GAIN",
        help="the lowest good gain (default: 2)",
    )
    group.add_argument(
        "--max-gain", type=float, default=4, metavar="GAIN", help="the scale's end (default: 4)"
    )
    group.add_argument(
        "--gain", choices=("linear", "exp"), default="linear", help="(default: linear)"
    )
    group.add_argument(
        "--discount",
        choices=("log2", "none", "reciprocal", "geometric"),
        default="log2",
        help="over iterations (default: log2)",
    )
    group.add_argument(
        "--patience",
        type=float,
        default=0.8,
        metavar="P",
        help="of the geometric discount (default: 0.8)",
    )
    group.add_argument(
        "--turn", default="last", metavar="last|all|N", help="which turns count (default: last)"
    )
    group.add_argument(
        "--align",
        choices=("active", "carry"),
        default="active",
        help="mean over conversations that reached an iteration, or with ended ones carried on",
    )
    group.add_argument("--threads", type=int, metavar="N", help="(default: all cores)")
    add_identity(p)
    add_report(p, texts=False)
    add_output(p, per_query=False)
    p.add_argument(
        "--per-conversation",
        action="store_true",
        help="a row for every iteration of every conversation",
    )
    p.add_argument("--save", metavar="FILE", help="save the whole result as JSON")
    p.add_argument("--no-plot", action="store_true", help="no plot of the gain curve")
    return p


def add_traces(p: argparse.ArgumentParser) -> None:
    """TRACES, --from, --search-tool, --skip-bad."""
    p.add_argument(
        "traces",
        metavar="TRACES",
        nargs="+",
        help="files of traces in any known format; - is stdin",
    )
    add_reading(p)


def add_reading(p: argparse.ArgumentParser) -> None:
    """--from, --search-tool, --skip-bad."""
    from goodgain.traces import FORMATS

    group = p.add_argument_group("reading")
    group.add_argument(
        "--from",
        dest="source_format",
        metavar="FORMAT",
        help=f"trace format (default: detected): {', '.join(FORMATS)}, or one of a plug-in",
    )
    group.add_argument(
        "--search-tool", action="append", default=[], metavar="NAME", help="only these tools search"
    )
    group.add_argument(
        "--skip-bad", action="store_true", help="leave bad conversations out, and count them"
    )


def add_identity(p: argparse.ArgumentParser) -> None:
    """--unit, --profiles."""
    group = p.add_argument_group("identity")
    group.add_argument(
        "--unit",
        choices=("document", "passage"),
        default="document",
        help="whether two chunks of one document are one result (default: document)",
    )
    group.add_argument(
        "--profiles", metavar="FILE.toml", help="rules of your own; see docs/identity.md"
    )


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from goodgain.agentic import good_gain
    from goodgain.identity import Identity

    turn = int(args.turn) if args.turn.isdigit() else args.turn
    result = good_gain(
        args.traces,
        labels=args.labels,
        threshold=args.threshold,
        max_gain=args.max_gain,
        gain=args.gain,
        discount=args.discount,
        patience=args.patience,
        turn=turn,
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
    write(args, text, beside(args, result))
    warn(args, result.warnings())
    return 0
