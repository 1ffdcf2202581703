"""What all charts share: names that are safe to show, scales in a fixed order, and the way to a Chart.

Texts of users are values of fields, never names of fields nor parts of expressions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, plain
from goodgain.reports.chart import Chart
from goodgain.reports.theme import DASHES, LIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

LONGEST = 60  # characters of a name; the axis cuts further, to the pixel
NUMBER = ".4~f"
MOST_BANDS = 4  # bands of more systems would hide each other


def altair() -> Any:
    """The package that makes specifications, or how to install it."""
    try:
        import altair
    except ImportError:
        raise MissingExtraError.for_package("altair", "plot", "a chart") from None
    return altair


def make(
    key: str, title: str, description: str, view: Any, columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> Chart:  # fmt: skip
    """A Chart of an Altair view; without rows there is nothing to show."""
    if not rows:
        raise InputError(f"there is nothing to show: {title}")
    spec = view.to_dict(
        validate=False
    )  # tests hold every chart against the schema; it takes a second
    spec.pop("config", None)  # colours and sizes are the theme's
    table = [[_bare(value) for value in row] for row in rows]
    return Chart(key, title, description, spec, list(columns), table)


def data(rows: Iterable[dict[str, Any]]) -> alt.Data:
    """Rows as data of a specification; undefined is null."""
    alt = altair()
    found = [{name: _bare(value) for name, value in row.items()} for row in rows]
    with alt.utils.schemapi.debug_mode(False):  # thousands of values need no look at each
        return alt.Data(values=found)  # type: ignore[no-any-return]


def _bare(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Each name as it is shown: no control characters, cut, and different from all others."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        text = cut(name)
        unique, number = text, 1
        while unique in taken:
            number += 1
            unique = f"{text} #{number}"
        taken.add(unique)
        found[name] = unique
    return found


def cut(text: str, longest: int = LONGEST) -> str:
    """A text of users for a title or a label."""
    shown = plain(text[: longest + 1]) or "(no name)"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def by_system(names: Sequence[str], lines: bool = False) -> dict[str, Any]:
    """The encodings of colour, and of dashes where there are more lines than colours."""
    alt = altair()
    legend = legend_of(names, "stroke" if lines else "circle") if len(names) > 1 else None
    found = {
        "color": alt.Color(
            "system:N", title=None, legend=legend, scale=alt.Scale(domain=list(names))
        )
    }
    if lines and len(names) > len(LIGHT.series):
        dashes = [DASHES[i // len(LIGHT.series) % len(DASHES)] for i in range(len(names))]
        found["strokeDash"] = alt.StrokeDash(
            "system:N", title=None, legend=legend,
            scale=alt.Scale(domain=list(names), range=dashes),
        )  # fmt: skip
    return found


def legend_of(names: Sequence[str], symbol: str | None = None, **more: Any) -> Any:
    """A legend above the chart in as many columns as its width has room for."""
    pixels = min(220, 7 * max(map(len, names), default=0)) + 40
    if symbol == "stroke":
        more |= {"symbolSize": 300, "symbolStrokeWidth": 2.5}
    if symbol is not None:
        more["symbolType"] = symbol
    columns = {"expr": f"max(1, floor(width / {pixels}))"}
    return altair().Legend(columns=columns, symbolOpacity=1, **more)


def rows_height(count: int, each: int = 38) -> int:
    """Of a chart with a row for each system; in pixels, so that a page may fit its width alone."""
    return max(1, count) * each


def counted(count: int, one: str, several: str = "") -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
