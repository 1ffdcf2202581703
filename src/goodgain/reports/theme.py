"""Colours and fonts of charts and pages, light and dark.

The series can be distinguished with any kind of colour vision, and have enough contrast with the
background (3:1), as text has (4.5:1): tests/reports/test_theme.py computes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
WIDTH = 560  # default width of a chart
# The first eight systems have solid lines; further systems repeat the colours with other dashes.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


# One kind of minus everywhere: the one that terminals print and that can be copied.
NUMBERS = {
    "decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "minus": "-",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """One set of colours."""

    background: str
    surface: str  # slightly different from the background: code, table heads
    text: str
    muted: str  # secondary text
    rule: str  # axes and borders of controls
    grid: str  # grid lines
    accent: str  # links and focus
    better: str
    worse: str
    series: tuple[str, ...]
    gains: tuple[tuple[str, str], ...]  # background and text, from no gain to the highest
    unknown: tuple[str, str]  # of a result without a label


# Each colour in the light and in the dark palette.
_COLOURS: dict[str, tuple[Any, Any]] = {
    "background": ("#ffffff", "#16181c"),
    "surface": ("#f4f5f7", "#22252b"),
    "text": ("#1b1d22", "#eceef2"),
    "muted": ("#5a606b", "#a4abb8"),
    "rule": ("#868c98", "#757d8b"),
    "grid": ("#e3e5ea", "#31353d"),
    "accent": ("#0b5cad", "#84bdff"),
    "better": ("#0b4a8f", "#84bdff"),
    "worse": ("#b44a08", "#f0954a"),
    "series": (
        ("#0b4a8f", "#dd6b10", "#177759", "#b65e9d", "#0088e6", "#892b02", "#858b4e", "#352b2f"),
        ("#84bdff", "#dc7f00", "#2ee8a0", "#b7729c", "#ffe73d", "#6f6bd4", "#e84a4c", "#d1ece9"),
    ),
    "gains": (
        (("#e6e8ec", "#1b1d22"), ("#d3e5f5", "#1b1d22"), ("#9ecbee", "#1b1d22"),
         ("#2572b4", "#ffffff"), ("#0b3f7a", "#ffffff")),
        (("#31353d", "#eceef2"), ("#1c3f63", "#eceef2"), ("#22619c", "#ffffff"),
         ("#6db1f0", "#101215"), ("#cde6ff", "#101215")),
    ),
    "unknown": (("#ffffff", "#5a606b"), ("#16181c", "#a4abb8")),
}  # fmt: skip
LIGHT = Palette(**{name: light for name, (light, _) in _COLOURS.items()})
DARK = Palette(**{name: dark for name, (_, dark) in _COLOURS.items()})


def config(palette: Palette, width: int = WIDTH) -> dict[str, Any]:
    """The Vega-Lite configuration: all colours and sizes that a chart does not set itself."""
    text = {"labelColor": palette.text, "titleColor": palette.muted, "labelFontSize": 12}
    return {
        "background": palette.background,
        "font": FONT,
        "locale": {"number": NUMBERS},
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": 280},
        "axis": {
            **text,
            "domainColor": palette.rule,
            "tickColor": palette.rule,
            "gridColor": palette.grid,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "labelLimit": max(70, min(180, width // 3)),
            "labelPadding": 5,
            "labelOverlap": "greedy",
            "labelSeparation": 8,
        },
        "axisQuantitative": {"tickCount": 7, "grid": True},
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            **text,
            "orient": "top",
            "direction": "horizontal",
            "titleFontWeight": "normal",
            "titleFontSize": 12,
            "titleLimit": 400,
            "symbolSize": 90,
            "symbolBaseFillColor": palette.rule,
            "symbolBaseStrokeColor": palette.rule,
            "labelLimit": 220,
            "columnPadding": 16,
        },
        "title": {
            "color": palette.text,
            "subtitleColor": palette.muted,
            "fontSize": 15,
            "subtitleFontSize": 12,
            "fontWeight": 600,
            "anchor": "start",
            "frame": "bounds",
            "offset": 14,
            "subtitlePadding": 6,
        },
        "range": {
            "category": list(palette.series),
            "ordinal": [colour for colour, _ in palette.gains],
            # Worse, no difference, better, what missing labels leave open, and tied.
            "diverging": [
                palette.worse,
                palette.rule,
                palette.better,
                palette.series[3],
                palette.series[2],
            ],
        },
        "line": {"strokeWidth": 2},
        "point": {"filled": True, "size": 60},
        "bar": {"color": palette.series[0]},
        "area": {"line": False},
        "rule": {"color": palette.rule},
        "text": {"fontSize": 12},
        # For marks that refer to one of these by `style`.
        "style": {
            "zero": {"color": palette.rule, "strokeWidth": 1},
            "guide": {"color": palette.rule, "strokeDash": [4, 4], "strokeWidth": 1},
            "interval": {"strokeWidth": 2, "strokeCap": "round"},
            "note": {"color": palette.muted, "fontSize": 11},
            "label": {"color": palette.text},
            "inverse": {"color": palette.background},
            "accent": {"color": palette.accent},
        },
    }
