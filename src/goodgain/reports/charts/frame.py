"""What all charts share: display names, scales in a fixed order, and the conversion to a Chart.

User text only appears as field values, never in field names or expressions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, MissingExtraError, plain
from goodgain.io.naming import unique_names, without_shared_prefix
from goodgain.reports.chart import Chart
from goodgain.reports.theme import DASHES, LIGHT
from goodgain.results.nouns import counted as counted
from goodgain.results.nouns import unit_nouns as unit_nouns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import altair as alt

    from goodgain.measures import Measure

MAX_CHARACTERS = 60  # of a name; axes truncate further, to the pixel
LONG = 20  # characters of a name that an axis has room for
NUMBER = ".4~f"
MAX_BANDS = 4  # with more systems, bands would hide each other


def altair() -> Any:
    """The altair package; an error says how to install it."""
    try:
        import altair
    except ImportError:
        raise MissingExtraError.for_package("altair", "plot", "a chart") from None
    return altair


def make_chart(
    *,
    key: str,
    title: str,
    description: str,
    view: Any,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> Chart:
    """A Chart from an Altair view; an error if there are no rows."""
    if not rows:
        raise InputError(f"no data to plot: {title}")
    # Validation takes a second; the tests validate every chart instead.
    spec = view.to_dict(validate=False)
    spec.pop("config", None)  # colours and sizes come from the theme
    return Chart(
        key=key,
        title=title,
        description=description,
        spec=spec,
        columns=list(columns),
        rows=[[_finite(value) for value in row] for row in rows],
    )


def data(rows: Iterable[dict[str, Any]]) -> alt.Data:
    """Rows as inline data of a specification; NaN becomes null."""
    alt = altair()
    values = [{name: _finite(value) for name, value in row.items()} for row in rows]
    with alt.utils.schemapi.debug_mode(False):  # validating each value would be slow
        return alt.Data(values=values)  # type: ignore[no-any-return]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def display_names(names: Iterable[str]) -> dict[str, str]:
    """Names as displayed: without control characters, truncated, and unique.

    Long ones are without the beginning that all share, which would be all that an axis shows of them.
    """
    listed = list(dict.fromkeys(names))
    short = {name: name for name in listed}
    if max(map(len, listed), default=0) > LONG:
        short = without_shared_prefix(listed)
    return dict(zip(listed, unique_names(cut(short[name]) for name in listed), strict=True))


def cut(text: str, limit: int = MAX_CHARACTERS) -> str:
    """User text, truncated for a title or a label."""
    printable = plain(text[: limit + 1]) or "(no name)"
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def system_colours(everyone: Sequence[str], legend: Any = None) -> Any:
    """The colour of each system: by its place among all systems, the same in every chart of a page."""
    alt = altair()
    return alt.Color("system:N", title=None, legend=legend, scale=alt.Scale(domain=list(everyone)))


def by_system(
    names: Sequence[str], lines: bool = False, everyone: Sequence[str] = ()
) -> dict[str, Any]:
    """The colour encoding, plus dashes if there are more lines than colours.

    `everyone` names all systems where the chart has only some of them.
    """
    alt = altair()
    legend = None
    if len(names) > 1:
        only = {"values": list(names)} if everyone else {}
        legend = legend_of(names, "stroke" if lines else "circle", **only)
    encodings = {"color": system_colours(everyone or names, legend)}
    if lines and len(names) > len(LIGHT.series):
        dashes = [DASHES[i // len(LIGHT.series) % len(DASHES)] for i in range(len(names))]
        encodings["strokeDash"] = alt.StrokeDash(
            "system:N", title=None, legend=legend,
            scale=alt.Scale(domain=list(names), range=dashes),
        )  # fmt: skip
    return encodings


def legend_of(names: Sequence[str], symbol: str | None = None, **more: Any) -> Any:
    """A legend above the chart, with as many columns as fit its width."""
    pixels = min(220, 7 * max(map(len, names), default=0)) + 40
    if symbol == "stroke":
        more |= {"symbolSize": 300, "symbolStrokeWidth": 2.5}
    if symbol is not None:
        more["symbolType"] = symbol
    columns = {"expr": f"max(1, floor(width / {pixels}))"}
    return altair().Legend(columns=columns, symbolOpacity=1, **more)


def rows_height(count: int, each: int = 38) -> int:
    """The height in pixels of a chart with one row per system."""
    return max(1, count) * each


def direction_note(measure: Measure) -> str:
    """What to add to the title of an axis if lower values are better."""
    return " (lower is better)" if measure.lower_is_better else ""
