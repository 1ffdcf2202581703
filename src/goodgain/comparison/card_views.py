"""The verdict card as text for terminals, and as HTML that needs neither scripts nor styles."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodgain.errors import plain
from goodgain.results.numbers import decimals, signed
from goodgain.results.screen import Screen, current
from goodgain.results.spans import spans_html, spans_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.comparison.card import Card
    from goodgain.comparison.comparison import Pair

_MARGIN = 13  # columns before the sentences: the longest name and two spaces
_STYLES = {"better": ("bold", "better"), "worse": ("bold", "worse")}


def card_text(card: Card, screen: Screen | None = None) -> str:
    """The card for a terminal or a file: the verdict first, then a line for everything it says."""
    from textwrap import wrap

    screen = screen or current()
    width = max(40, (screen.width or 100) - _MARGIN)
    rows: list[tuple[str, str]] = [("verdict", f"{card.word}: {spans_text(card.headline)}")]
    rows += [(name, spans_text(spans)) for name, spans in card.lines()]
    lines: list[str] = []
    for name, text in rows:
        wrapped = wrap(plain(text), width, break_on_hyphens=False) or [""]
        if name == "verdict":  # painted after it is wrapped, since colours have no width
            styles = _STYLES.get(card.word, ("bold",))
            wrapped[0] = screen.paint(card.word, *styles) + wrapped[0][len(card.word) :]
        for i, line in enumerate(wrapped):
            lines.append(f"{name if i == 0 else '':<{_MARGIN}}{line}")
        if name == "by how much" and (bar := text_bar(card.pair, min(width, 60))):
            lines.append(f"{'':<{_MARGIN}}{bar}")
    return "\n".join(lines) + "\n"


def card_markdown(card: Card) -> str:
    """The card in Markdown."""

    def safe(text: str) -> str:
        return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in plain(text))

    lines = [f"**{card.word}**: {safe(spans_text(card.headline))}", ""]
    lines += [
        f"- {name}: {safe(spans_text(spans))}" if name else f"  {safe(spans_text(spans))}"
        for name, spans in card.lines()
    ]
    return "\n".join(lines) + "\n"


def text_bar(pair: Pair, width: int) -> str:
    """The interval and the difference on a line, with 0 marked; empty without an interval."""
    if pair.low is None or pair.high is None or pair.low == pair.high == 0:
        return ""
    digits = decimals(pair.mean, pair.baseline_mean)
    ends = [signed(min(0.0, pair.low), digits), signed(max(0.0, pair.high), digits)]
    cells = width - len(ends[0]) - len(ends[1]) - 2
    place = _scale(pair, cells - 1)
    line = ["·"] * cells
    for i in range(round(place(pair.low)), round(place(pair.high)) + 1):
        line[i] = "─"
    line[round(place(0.0))] = "│"
    line[round(place(pair.difference))] = "●"
    return f"{ends[0]} {''.join(line)} {ends[1]}"


def _scale(pair: Pair, size: float) -> Callable[[float], float]:
    """From a difference to its place on a line of this size, from the lower end or 0 to the upper or 0."""
    low, high = min(0.0, pair.low or 0.0), max(0.0, pair.high or 0.0)
    span = (high - low) or 1.0
    return lambda value: size * (value - low) / span


def card_html(card: Card) -> str:
    """The card as HTML that reads well without styles and scripts: in a mail preview, in a notebook."""
    rows = []
    for name, spans in card.lines():
        bar = _svg_bar(card) if name == "by how much" else ""
        title = f"<dt>{escape(name.capitalize())}</dt>" if name else ""
        rows.append(f"{title}<dd>{spans_html(spans)}{bar}</dd>")
    kind = card.word.replace(" ", "-")
    return (
        f'<div class="verdict {kind}"><p class="verdict-head"><strong class="verdict-word">'
        f"{escape(card.word.capitalize())}</strong> {spans_html(card.headline)}.</p>"
        f"<dl>{''.join(rows)}</dl></div>"
    )


_WIDTH, _HEIGHT, _PAD = 420, 40, 8


def _svg_bar(card: Card) -> str:
    """The interval as a bar, with 0 marked; sizes are attributes, so that no style is needed."""
    pair = card.pair
    if pair.low is None or pair.high is None or pair.low == pair.high == 0:
        return ""
    place = _scale(pair, _WIDTH - 2 * _PAD)
    zero, low, high, middle = (
        round(_PAD + place(v), 1) for v in (0.0, pair.low, pair.high, pair.difference)
    )
    digits = decimals(pair.mean, pair.baseline_mean)
    text = (
        f"{signed(pair.difference, digits)}, {100 * card.confidence:g}% interval "
        f"{signed(pair.low, digits)} to {signed(pair.high, digits)}; the line marks 0"
    )
    labels = [(signed(pair.low, digits), low), (signed(pair.high, digits), high)]
    labels = [("0", zero), *(labels if high - low > 60 else [])]
    edges = {label: 4 if label == "0" else 24 for label, _ in labels}
    places = [(label, min(_WIDTH - edges[label], max(edges[label], x))) for label, x in labels]
    texts = "".join(
        f'<text x="{x}" y="36" text-anchor="middle" font-size="11" fill="currentColor">{escape(label)}'
        "</text>"
        for label, x in places
        if label != "0" or all(abs(x - other) > 34 for name, other in places if name != "0")
    )
    return (
        f'<svg class="verdict-bar" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'role="img" aria-label="{escape(text)}">'
        f'<line x1="{_PAD}" x2="{_WIDTH - _PAD}" y1="13" y2="13" stroke="currentColor" '
        'stroke-opacity="0.25"/>'
        f'<line x1="{zero}" x2="{zero}" y1="2" y2="24" stroke="currentColor"/>'
        f'<rect class="verdict-span" x="{low}" y="9" width="{max(1.0, round(high - low, 1))}" height="8" '
        'rx="3" fill="currentColor" fill-opacity="0.45"/>'
        f'<circle class="verdict-span" cx="{middle}" cy="13" r="5.5" fill="currentColor"/>{texts}</svg>'
    )
