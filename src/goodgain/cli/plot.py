"""`goodgain plot`: pictures of saved results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse

_OPTIONS = ("measure", "system", "baseline", "price", "budget")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.reports.charts import KINDS
    from goodgain.reports.charts.agentic import BUDGETS

    size = max(map(len, KINDS))
    known = "".join(f"  {kind.name:<{size}}  {kind.text}\n" for kind in KINDS.values())
    p = command_parser(
        "plot",
        "Draw saved results: SVG, PNG, PDF, or the Vega-Lite specification as JSON, without a browser.",
        f"kinds:\n{known}\n"
        "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run dense.run --save scores.json\n"
        "  goodgain plot differences scores.json -o differences.svg --measure AP\n"
        "  goodgain plot precision-recall scores.json -o recall.pdf\n"
        "  goodgain trace traces.jsonl --save gain.json\n"
        "  goodgain plot budget gain.json -o budget.png --budget tokens --dark\n",
    )
    p.add_argument("kind", metavar="KIND", help="one of the kinds below")
    p.add_argument(
        "results", metavar="SAVED", nargs="+",
        help="what --save wrote, an experiment's folder, or a store of labels; several evaluations or Good "
        "Gains are drawn together",
    )  # fmt: skip
    p.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="its ending says the format: .svg, "
        ".png, .pdf, .json",
    )  # fmt: skip
    group = p.add_argument_group("what is shown")
    group.add_argument("--measure", metavar="MEASURE", help="(default: the first of quality)")
    group.add_argument("--system", metavar="NAME", help="(default: the first but the baseline)")
    group.add_argument("--baseline", metavar="NAME", help="(default: the result's, or the first)")
    group.add_argument("--price", metavar="MEASURE", help="time or cost of a trade-off")
    group.add_argument("--budget", metavar="NAME", help=f"one of {', '.join(BUDGETS)}")
    group = p.add_argument_group("how it looks")
    group.add_argument("--dark", action="store_true", help="on a dark background")
    group.add_argument(
        "--width", type=int, metavar="N", help="of the picture; PNG has two pixels for each"
    )
    p.add_argument("-q", "--quiet", action="store_true", help="say nothing")
    return p


def run(args: argparse.Namespace) -> int:
    """Load, draw, write."""
    from goodgain.reports.chart import image_format
    from goodgain.reports.charts import plot
    from goodgain.reports.merging import merge_results
    from goodgain.results.loading import load_result

    image_format(args.output)
    if args.width is not None and not 100 <= args.width <= 10_000:
        raise UsageError(f"--width {args.width} is not between 100 and 10,000")
    result = merge_results([load_result(path) for path in args.results])
    given = {name: getattr(args, name) for name in _OPTIONS if getattr(args, name) is not None}
    chart = plot(result, args.kind, **given)
    chart.save(args.output, dark=args.dark, width=args.width)
    if not args.quiet:
        print(f"wrote {args.output}: {chart.title}", file=sys.stderr)
    return 0
