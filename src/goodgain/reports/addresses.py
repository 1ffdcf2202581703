"""Links to the table of queries with its filters set, as assets/address.js reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Sequence

    Range = tuple[float | None, float | None]

MAX_SYSTEMS = 4  # side by side


def queries_link(
    *,
    systems: Sequence[str] = (),
    measure: str | None = None,
    group: str | None = None,
    words: Range | None = None,
    relevant: Range | None = None,
    unjudged: Range | None = None,
    outcome: str | None = None,
    top: str | None = None,
    repeated: str | None = None,
    search: str | None = None,
    sort: str | None = None,
    query: str | None = None,
) -> str:
    """The fragment of the page that shows these queries; the bounds of a range are included, None is open.

    The first system is the reference of the differences. Names are those of the page: `cut`.
    """
    texts = {"measure": measure, "group": group}
    ranges = {"words": words, "relevant": relevant, "unjudged": unjudged}
    texts |= {name: _range(bounds) for name, bounds in ranges.items() if bounds is not None}
    texts |= {
        "outcome": outcome,
        "top": top,
        "repeated": repeated,
        "search": search,
        "sort": sort,
        "query": query,
    }
    pairs = [("system", name) for name in systems[:MAX_SYSTEMS]]
    pairs += [(name, text) for name, text in texts.items() if text is not None]
    return "#" + (urlencode(pairs, errors="replace") or "queries")


def _range(bounds: Range) -> str:
    low, high = ("" if bound is None else f"{bound:.6g}" for bound in bounds)
    return f"{low}..{high}"
