"""The ranked lists behind the table of queries, in a form that stays small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.ranking.top_lists import ranked_lists
from goodgain.reports.elements import LONGEST, cut, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.ranking.scores import RunScores
    from goodgain.ranking.top_lists import RankedLists
    from goodgain.reports.contents import Material

DEEP, SHALLOW = 20, 10  # ranks that are shown of each list
MANY = 300_000  # documents of all lists from which on they are shallow
MOST_BYTES = 10_000_000  # of all lists: fewer queries have them where they would take more
# Of one document in one list, of one judged one, and of what it adds to one measure.
DOC_BYTES, HIT_BYTES, PART_BYTES = 11, 6, 6
LONGEST_TITLE = 120
LONGEST_ADDRESS = 2000


def lists_of(material: Material) -> tuple[dict[str, Any] | None, str]:
    """The lists of all systems that have tables, and what a reader should know of them."""
    import numpy as np

    assert material.scores is not None
    runs = {s: seeds[0] for s, seeds in material.scores.runs.items() if s in material.systems}
    if not runs:
        return None, "There are no ranked lists: these scores were made elsewhere."
    units = material.units
    depth = DEEP if len(units) * len(runs) * DEEP <= MANY else SHALLOW
    try:
        ids, found = ranked_lists(runs, depth)
        if depth == DEEP and _size(material, ids, found) > MOST_BYTES:
            depth = SHALLOW
            ids, found = ranked_lists(runs, depth)
    except GoodgainError as error:
        where = f" ({error.where})" if error.where else ""
        return None, f"There are no ranked lists: {error.message}{where}."
    several = {s for s, seeds in material.scores.runs.items() if len(seeds) > 1}
    notes = []
    if several:
        notes.append("Of systems with several seeds the lists are those of the first.")
    size = _size(material, ids, found)
    most = len(units) if size <= MOST_BYTES else max(1, len(units) * MOST_BYTES // size)
    if most < len(units):
        notes.append(
            f"Lists are kept for the {most:,} queries "
            f"{'that differ most' if material.baseline else 'with the lowest values'}: all of them would "
            "make too large a page."
        )
    chosen = _chosen(material, most)
    order = {s: _order(chosen, lists) for s, lists in found.items()}
    docs = {s: lists.docs[_places(lists.counts, order[s])] for s, lists in found.items()}
    used, numbered = _numbered(docs)
    gains = np.unique(np.concatenate([lists.gains for lists in found.values()]))
    block = {
        "depth": depth,
        "gains": gains.tolist(),
        "measures": [m for m in material.measures if all(m in f.parts for f in found.values())],
        "systems": [
            {
                **_columns(found[s], order[s], numbered[s], gains),
                "values": _values(material, runs[s], found[s]) if s in several else {},
            }
            if s in found
            else None
            for s in material.systems
        ],
        **_documents(material, [ids[i] for i in used]),
    }
    return block, " ".join(notes)


def _size(material: Material, ids: list[str], found: Mapping[str, RankedLists]) -> int:
    """About how many bytes the lists take on the page."""
    told = ((material.documents, LONGEST_TITLE), (material.links, LONGEST_ADDRESS))
    size = sum(min(len(i), LONGEST) + 3 for i in ids)
    for texts, longest in told:
        size += sum(min(len(texts.get(i, "")), longest) + 3 for i in ids) if texts else 0
    for lists in found.values():
        size += DOC_BYTES * len(lists.docs)
        size += len(lists.gains) * (HIT_BYTES + PART_BYTES * len(lists.parts))
    return size


def _chosen(material: Material, most: int) -> list[str | None]:
    """The queries in order, None in place of those whose lists are left out.

    Kept are those that differ most from the baseline, or without one those with the lowest values.
    """
    assert material.scores is not None
    units: list[str | None] = [*material.units]
    if len(units) <= most or material.quality is None:
        return units
    values = {s: material.scores.values(s, material.quality) for s in material.systems}
    base = values.pop(material.baseline, {}) if material.baseline else {}
    sign = 1 if material.baseline else -1

    def interest(unit: str) -> float:
        return max(sign * abs(v.get(unit, 0.0) - base.get(unit, 0.0)) for v in values.values())

    kept = set(sorted(material.units, key=lambda u: -interest(u))[:most])
    return [u if u in kept else None for u in units]


def _order(units: list[str | None], lists: RankedLists) -> NDArray[np.int64]:
    """Where the table's queries stand in the lists; -1 where they do not."""
    import numpy as np

    place: dict[str | None, int] = {query: i for i, query in enumerate(lists.queries)}
    return np.array([place.get(u, -1) for u in units], np.int64)


def _numbered(
    docs: dict[str, NDArray[np.uint32]],
) -> tuple[list[int], dict[str, NDArray[np.int64]]]:
    """The documents that are listed at all, and the lists with numbers of those."""
    import numpy as np

    used = np.unique(np.concatenate([*docs.values()]))
    return used.tolist(), {s: np.searchsorted(used, d) for s, d in docs.items()}


def _columns(
    lists: RankedLists,
    kept: NDArray[np.int64],
    docs: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> dict[str, Any]:
    """One system's lists in the order of the table's queries."""
    import numpy as np

    there = kept >= 0
    hits = _places(lists.hit_counts, kept)
    return {
        "counts": packed("u16", np.where(there, lists.counts[kept], 0)),
        "retrieved": packed("u32", np.where(there, lists.retrieved[kept], 0)),
        "docs": packed("u32", docs),
        "scores": packed("f32", lists.scores[_places(lists.counts, kept)]),
        "hitCounts": packed("u16", np.where(there, lists.hit_counts[kept], 0)),
        "hitRanks": packed("u16", lists.hit_ranks[hits]),
        "gains": packed(
            "u16" if len(gains) < 2**16 else "u32", np.searchsorted(gains, lists.gains[hits])
        ),
        "parts": {m: packed("f32", p[hits]) for m, p in lists.parts.items()},
        "bases": {
            m: packed("f32", np.where(there, b[kept], np.nan))
            for m, b in lists.bases.items()
            if np.nan_to_num(b).any()  # nearly always 0
        },
    }


def _values(material: Material, run: RunScores, lists: RankedLists) -> dict[str, dict[str, str]]:
    """The values of the seed whose lists are shown: the table has the means over seeds."""
    found = {}
    for measure in lists.parts:
        own = dict(zip(run.queries, run.column(measure), strict=True))
        found[measure] = packed("f64", [own.get(u, float("nan")) for u in material.units])
    return found


def _places(counts: NDArray[np.uint32], kept: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the items of the kept queries stand in a flat column, query after query."""
    import numpy as np

    ends = np.cumsum(counts, dtype=np.int64)
    taken = kept[kept >= 0]
    sizes = counts[taken].astype(np.int64)
    starts = ends[taken] - sizes
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _documents(material: Material, ids: list[str]) -> dict[str, Any]:
    titles = material.documents
    return {
        "ids": [cut(i) for i in ids],
        "titles": [cut(titles.get(i, ""), LONGEST_TITLE) for i in ids] if titles else None,
        "links": [_address(material.links.get(i)) for i in ids] if material.links else None,
    }


def _address(text: str | None) -> str | None:
    """An address of a bearable length; one that is cut would lead elsewhere."""
    return text if text and len(text) <= LONGEST_ADDRESS else None
