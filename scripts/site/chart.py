"""Small line charts as SVG inside the page, drawn by Vega-Lite, in the colours of the theme."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import vl_convert

if TYPE_CHECKING:
    from reaction import Reaction

# Colours that stand for those of the theme until the SVG is in the page.
COLOURS = {
    "#010101": "var(--pst-color-primary)",
    "#020202": "var(--pst-color-secondary)",
    "#030303": "var(--pst-color-warning)",
    "#040404": "var(--pst-color-text-muted)",
    "#050505": "var(--pst-color-border)",
}
LINES, INK, GRID = ["#010101", "#020202", "#030303"], "#040404", "#050505"
DASHES = [[1, 0], [6, 3], [2, 2]]  # lines differ in more than colour


def chart(reaction: Reaction, name: str) -> str:
    """A chart as HTML, with a description for those who do not see it."""
    svg = vl_convert.vegalite_to_svg(specification(reaction))
    for colour, variable in COLOURS.items():
        svg = svg.replace(colour, variable)
    svg = re.sub(r'fill="white"|fill="#fff"', 'fill="none"', svg)
    svg = re.sub(r'font-family="[^"]*"', 'font-family="inherit"', svg)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{description(reaction, name)}" ', 1)
    return f'<div class="reaction">{svg}</div>'


def description(reaction: Reaction, name: str) -> str:
    """The chart in words: the first and the last value of every line."""
    ends = [
        f"{label} from {points[0][1]:.3g} to {points[-1][1]:.3g}"
        for label, points in reaction.lines.items()
        if points
    ]
    return html.escape(f"{name} over {reaction.axis}: {'; '.join(ends)}", quote=True)


def specification(reaction: Reaction) -> dict[str, Any]:
    """The Vega-Lite specification."""
    rows = [
        {"x": x, "y": y, "line": label}
        for label, points in reaction.lines.items()
        for x, y in points
    ]
    names = list(reaction.lines)
    legend = {
        "title": None,
        "orient": "top",
        "symbolType": "stroke",
        "symbolSize": 300,
        "labelLimit": 300,
    }
    single = len(names) == 1
    scale = {"domain": names, "range": LINES[: len(names)]}
    dashes = {"domain": names, "range": DASHES[: len(names)]}
    values = [row["y"] for row in rows]
    lowest, highest = min([0.0, *values]), max([0.0, *values])
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 460,
        "height": 190,
        "background": None,
        "data": {"values": rows},
        "mark": {"type": "line", "point": {"filled": True, "size": 34}, "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "title": reaction.axis,
                "axis": {"tickMinStep": 1, "grid": False},
            },
            "y": {
                "field": "y",
                "type": "quantitative",
                "title": None,
                "scale": {"domain": [lowest, highest or 1]},
                "axis": {"tickCount": 5},
            },
            "color": {
                "field": "line",
                "type": "nominal",
                "scale": scale,
                "legend": None if single else legend,
            },
            "strokeDash": {
                "field": "line",
                "type": "nominal",
                "scale": dashes,
                "legend": None if single else legend,
            },
        },
        "config": {
            "view": {"stroke": None},
            "axis": {
                "labelColor": INK,
                "titleColor": INK,
                "tickColor": GRID,
                "domainColor": INK,
                "gridColor": GRID,
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
            },
            "legend": {"labelColor": INK, "labelFontSize": 12},
        },
    }
