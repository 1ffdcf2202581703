"""`goodgain plot`: draw saved results as SVG, PNG or PDF."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodgain.cli.options import (
    add_baseline,
    add_measures,
    add_output_file,
    add_quiet,
    listing,
)
from goodgain.cli.parser import command_parser
from goodgain.errors import UsageError

if TYPE_CHECKING:
    import argparse


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    from goodgain.reports.charts import KINDS
    from goodgain.reports.charts.agentic import BUDGETS

    p = command_parser(
        "plot",
        "Draw saved results without a browser. The suffix of the output file selects the format: .svg,\n"
        ".png, .pdf, or .json for the Vega-Lite specification.",
        listing("kinds", {kind.name: kind.text for kind in KINDS.values()}) + "examples:\n"
        "  goodgain evaluate qrels.txt bm25.run dense.run --save scores.json\n"
        "  goodgain plot differences scores.json -o differences.svg -m AP\n"
        "  goodgain plot precision-recall scores.json -o recall.pdf\n"
        "  goodgain trace traces.jsonl --save gain.json\n"
        "  goodgain plot budget gain.json -o budget.png --budget tokens --dark\n",
    )
    p.add_argument("kind", metavar="KIND", help="kind of chart; listed below")
    p.add_argument(
        "results", metavar="SAVED", nargs="+",
        help="files written by --save, an experiment's folder, or a label store; several evaluations or "
        "Good Gain results share one chart",
    )  # fmt: skip
    add_output_file(p, required=True)
    group = p.add_argument_group("content")
    add_measures(group, "the first quality measure")
    group.add_argument(
        "--system", metavar="NAME", help="system to draw (default: the first besides the baseline)"
    )
    add_baseline(group, "that of the result, or the first system")
    group.add_argument("--price", metavar="MEASURE", help="time or cost measure of a trade-off")
    group.add_argument(
        "--budget", metavar="NAME", help=f"budget on the x-axis: {', '.join(BUDGETS)}"
    )
    group = p.add_argument_group("appearance")
    group.add_argument("--dark", action="store_true", help="use a dark background")
    group.add_argument(
        "--width", type=int, metavar="N", help="width; a PNG has two pixels per unit"
    )
    add_quiet(p)
    return p


def run(args: argparse.Namespace) -> int:
    """Load, draw, write."""
    from goodgain.reports.chart import image_format
    from goodgain.reports.charts import plot
    from goodgain.reports.merging import merge_results
    from goodgain.results.loading import load

    image_format(args.output)
    if args.width is not None and not 100 <= args.width <= 10_000:
        raise UsageError(f"--width must be between 100 and 10,000, got {args.width}")
    result = merge_results([load(path) for path in args.results])
    options = {
        "measure": " ".join(args.measures) if args.measures else None,
        "system": args.system,
        "baseline": args.baseline,
        "price": args.price,
        "budget": args.budget,
    }
    chart = plot(result, args.kind, **{k: v for k, v in options.items() if v is not None})
    chart.save(args.output, dark=args.dark, width=args.width)
    if not args.quiet:
        print(f"wrote {args.output}: {chart.title}", file=sys.stderr)
    return 0
