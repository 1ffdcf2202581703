"""A small line plot for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import plain
from goodgain.results.screen import current
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = "●○▲△■□◆◇"


def curves(
    series: Mapping[str, Sequence[float]], title: str, *, width: int = 60, height: int = 8
) -> str:
    """Curves over x = 1, 2, ..., each with its own mark; where they overlap, the first is on top."""
    limit = current().width
    width = width if limit is None else min(width, limit - 12)
    longest = max((len(s) for s in series.values()), default=0)
    defined = [v for s in series.values() for v in s if v == v]
    if not defined or longest < 2:
        return ""
    top = max(*defined, 1e-12)
    columns = min(longest, width)
    gap = max(1, min(8, width // columns))
    grid = [[" "] * ((columns - 1) * gap + 1) for _ in range(height)]
    for mark, values in list(zip(_MARKS * (len(series) // 8 + 1), series.values(), strict=False))[
        ::-1
    ]:
        for column in range(columns):
            at = round(column * (longest - 1) / max(columns - 1, 1))
            if at < len(values) and values[at] == values[at]:
                row = height - 1 - round(max(values[at], 0) / top * (height - 1))
                grid[row][column * gap] = mark
    labels = [number(top, 2), *[""] * (height - 2), "0"]
    edge = max(map(len, labels))
    lines = [
        f"{label:>{edge}} ┤{''.join(row).rstrip()}" for label, row in zip(labels, grid, strict=True)
    ]
    axis = f"{'':>{edge}} └" + "─" * len(grid[0])
    ends = f"{'':>{edge}}  1" + f"{longest:>{len(grid[0]) - 1}}"
    legend = [f"{mark} {plain(name)}" for mark, name in zip(_MARKS * 9, series, strict=False)]
    return "\n".join([title, *lines, axis, ends, *_legend_lines(legend, limit)]) + "\n"


def _legend_lines(items: Sequence[str], limit: int | None) -> list[str]:
    """As many items in a line as fit."""
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}   {item}" if lines else item
        if lines and limit is not None and len(longer) > limit:
            lines.append(item)
        else:
            lines[-1:] = [longer]
    return lines
