"""The ranked lists behind the table of queries, in a compact form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.ranking.top_lists import ranked_lists
from goodgain.reports.elements import MAX_CHARACTERS, cut, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.ranking.scores import RunScores
    from goodgain.ranking.top_lists import RankedLists
    from goodgain.reports.contents import PageContents

DEEP, SHALLOW = 20, 10  # ranks listed per query and system
MAX_DEEP_DOCUMENTS = 300_000  # above this number in all lists, lists are shallow
MAX_BYTES = 10_000_000  # of all lists; above it only some queries have lists
# Size of a listed document, of a judged one, and of its contribution to one measure.
DOCUMENT_BYTES, JUDGED_BYTES, CONTRIBUTION_BYTES = 11, 6, 6
MAX_TITLE_CHARACTERS = 120
MAX_URL_CHARACTERS = 2000


def lists_block(contents: PageContents) -> tuple[dict[str, Any] | None, str]:
    """The lists of all systems whose tables are available, and a note for the reader."""
    import numpy as np

    assert contents.scores is not None
    runs = {s: seeds[0] for s, seeds in contents.scores.runs.items() if s in contents.systems}
    if contents.unit_nouns[0] == "conversation":
        return None, ""
    if not runs:
        return None, "Ranked lists are not available: the scores were imported."
    units = contents.units
    depth = DEEP if len(units) * len(runs) * DEEP <= MAX_DEEP_DOCUMENTS else SHALLOW
    try:
        ids, lists_by_system = ranked_lists(runs, depth)
        if depth == DEEP and _size(contents, ids, lists_by_system) > MAX_BYTES:
            depth = SHALLOW
            ids, lists_by_system = ranked_lists(runs, depth)
    except GoodgainError as error:
        where = f" ({error.where})" if error.where else ""
        return None, f"Ranked lists are not available: {error.message}{where}."
    seeded = {s for s, seeds in contents.scores.runs.items() if len(seeds) > 1}
    notes = []
    if seeded:
        notes.append("For systems with several seeds, the lists are those of the first seed.")
    size = _size(contents, ids, lists_by_system)
    limit = len(units) if size <= MAX_BYTES else max(1, len(units) * MAX_BYTES // size)
    if limit < len(units):
        notes.append(
            f"To limit the size of the page, only the {limit:,} queries "
            f"{'that differ most from the baseline' if contents.baseline else 'with the worst values'} "
            "have ranked lists."
        )
    selected = _select_queries(contents, limit)
    rows = {s: _list_rows(selected, lists) for s, lists in lists_by_system.items()}
    docs = {
        s: lists.docs[_positions(lists.counts, rows[s])] for s, lists in lists_by_system.items()
    }
    listed, renumbered = _renumber(docs)
    gains = np.unique(np.concatenate([lists.gains for lists in lists_by_system.values()]))
    block = {
        "depth": depth,
        "gains": gains.tolist(),
        "measures": [
            m.label
            for m in contents.measures
            if all(m.label in lists.contributions for lists in lists_by_system.values())
        ],
        "systems": [
            {
                **_columns(lists_by_system[s], rows[s], renumbered[s], gains),
                "values": _values(contents, runs[s], lists_by_system[s]) if s in seeded else {},
            }
            if s in lists_by_system
            else None
            for s in contents.systems
        ],
        **_documents(contents, [ids[i] for i in listed]),
    }
    return block, " ".join(notes)


def _size(
    contents: PageContents, ids: list[str], lists_by_system: Mapping[str, RankedLists]
) -> int:
    """The approximate number of bytes of the lists on the page."""
    limits = ((contents.documents, MAX_TITLE_CHARACTERS), (contents.links, MAX_URL_CHARACTERS))
    size = sum(min(len(i), MAX_CHARACTERS) + 3 for i in ids)
    for texts, limit in limits:
        size += sum(min(len(texts.get(i, "")), limit) + 3 for i in ids) if texts else 0
    for lists in lists_by_system.values():
        size += DOCUMENT_BYTES * len(lists.docs)
        size += len(lists.gains) * (JUDGED_BYTES + CONTRIBUTION_BYTES * len(lists.contributions))
    return size


def _select_queries(contents: PageContents, limit: int) -> list[str | None]:
    """The queries in order, with None for those whose lists are omitted.

    Selects those that differ most from the baseline or, without one, those with the worst values.
    """
    units: list[str | None] = [*contents.units]
    if len(units) <= limit or (quality := contents.quality) is None:
        return units
    values = {s: contents.values(s, quality) for s in contents.systems}
    base = values.pop(contents.baseline, {}) if contents.baseline else None

    def interest(unit: str) -> float:
        if base is None:
            return max(-quality.sign * v.get(unit, 0.0) for v in values.values())
        return max(abs(v.get(unit, 0.0) - base.get(unit, 0.0)) for v in values.values())

    selected = set(sorted(contents.units, key=lambda u: -interest(u))[:limit])
    return [u if u in selected else None for u in units]


def _list_rows(units: list[str | None], lists: RankedLists) -> NDArray[np.int64]:
    """The row of each query in the lists; -1 if it has none."""
    import numpy as np

    rows: dict[str | None, int] = {query: i for i, query in enumerate(lists.queries)}
    return np.array([rows.get(u, -1) for u in units], np.int64)


def _renumber(
    docs: dict[str, NDArray[np.uint32]],
) -> tuple[list[int], dict[str, NDArray[np.int64]]]:
    """The numbers of the listed documents, and each system's documents as positions among them."""
    import numpy as np

    listed = np.unique(np.concatenate([*docs.values()]))
    return listed.tolist(), {s: np.searchsorted(listed, d) for s, d in docs.items()}


def _columns(
    lists: RankedLists,
    rows: NDArray[np.int64],
    docs: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> dict[str, Any]:
    """One system's lists as packed columns, in the order of the table of queries."""
    import numpy as np

    present = rows >= 0
    judged = _positions(lists.hit_counts, rows)
    return {
        "counts": packed("u16", np.where(present, lists.counts[rows], 0)),
        "retrieved": packed("u32", np.where(present, lists.retrieved[rows], 0)),
        "docs": packed("u32", docs),
        "scores": packed("f32", lists.scores[_positions(lists.counts, rows)]),
        "judgedCounts": packed("u16", np.where(present, lists.hit_counts[rows], 0)),
        "judgedRanks": packed("u16", lists.hit_ranks[judged]),
        "gains": packed(
            "u16" if len(gains) < 2**16 else "u32", np.searchsorted(gains, lists.gains[judged])
        ),
        "contributions": {m: packed("f32", c[judged]) for m, c in lists.contributions.items()},
        "bases": {
            m: packed("f32", np.where(present, b[rows], np.nan))
            for m, b in lists.bases.items()
            if np.nan_to_num(b).any()  # nearly always 0
        },
    }


def _values(
    contents: PageContents, run: RunScores, lists: RankedLists
) -> dict[str, dict[str, str]]:
    """The values of the seed whose lists are shown; the table has the means over seeds."""
    columns = {}
    for measure in lists.contributions:
        own = dict(zip(run.queries, run.column(measure), strict=True))
        columns[measure] = packed("f64", [own.get(u, float("nan")) for u in contents.units])
    return columns


def _positions(counts: NDArray[np.uint32], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions, in a flat column, of the items of the given rows, query after query."""
    import numpy as np

    ends = np.cumsum(counts, dtype=np.int64)
    present = rows[rows >= 0]
    sizes = counts[present].astype(np.int64)
    starts = ends[present] - sizes
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _documents(contents: PageContents, ids: list[str]) -> dict[str, Any]:
    titles = contents.documents
    return {
        "ids": [cut(i) for i in ids],
        "titles": [cut(titles.get(i, ""), MAX_TITLE_CHARACTERS) for i in ids] if titles else None,
        "links": [_url(contents.links.get(i)) for i in ids] if contents.links else None,
    }


def _url(text: str | None) -> str | None:
    """A URL that is not too long; a truncated one would lead elsewhere."""
    return text if text and len(text) <= MAX_URL_CHARACTERS else None
