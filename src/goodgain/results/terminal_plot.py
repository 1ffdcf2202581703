"""A small plot in the terminal: a few curves over the same steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import plain
from goodgain.results.text import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = "●○▲△■□◆◇"


def curves(
    series: Mapping[str, Sequence[float]], title: str, *, width: int = 60, height: int = 8
) -> str:
    """Curves from step 1 on, a mark each; where several meet, the first is seen."""
    longest = max((len(s) for s in series.values()), default=0)
    known = [v for s in series.values() for v in s if v == v]
    if not known or longest < 2:
        return ""
    top = max(*known, 1e-12)
    steps = min(longest, width)
    gap = max(1, min(8, width // steps))
    grid = [[" "] * ((steps - 1) * gap + 1) for _ in range(height)]
    for mark, values in list(zip(_MARKS * (len(series) // 8 + 1), series.values(), strict=False))[
        ::-1
    ]:
        for column in range(steps):
            at = round(column * (longest - 1) / max(steps - 1, 1))
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
    named = "   ".join(
        f"{mark} {plain(name)}" for mark, name in zip(_MARKS * 9, series, strict=False)
    )
    return "\n".join([title, *lines, axis, ends, named]) + "\n"
