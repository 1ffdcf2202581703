"""The ranked lists behind the table of queries, in a compact form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import GoodgainError
from goodgain.ranking.top_lists import ranked_lists, unjudged_bounds
from goodgain.reports.elements import MAX_CHARACTERS, cut, packed

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from goodgain.ranking.scores import RunScores
    from goodgain.ranking.top_lists import RankedLists, RelevantDocuments
    from goodgain.reports.contents import PageContents

DEEP, SHALLOW = 20, 10  # ranks listed per query and system
MAX_DEEP_DOCUMENTS = 300_000  # above this number in all lists, lists are shallow
MAX_BYTES = 10_000_000  # of all lists; above it only some queries have lists
# Size of a listed document, of a judged one, and of its contribution to one measure.
DOCUMENT_BYTES, JUDGED_BYTES, CONTRIBUTION_BYTES = 11, 6, 6
RELEVANT_BYTES = 9  # of a relevant document, and again for its rank in each system
MAX_BOUNDED_DOCUMENTS = 4_000_000  # retrieved by all systems; bounds of more would take too long
MAX_TITLE_CHARACTERS = 120
MAX_URL_CHARACTERS = 2000
# Of a document's text; all texts of a page have a budget, which many documents share.
MAX_TEXT_CHARACTERS, MIN_TEXT_CHARACTERS, MAX_TEXT_BYTES = 2_000, 200, 3_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLists:
    """The ranked lists of the systems of a page, read from their tables; or why there are none."""

    depth: int
    ids: list[str]  # of documents
    by_system: Mapping[str, RankedLists]
    missing: str = ""


def read_lists(contents: PageContents) -> PageLists:
    """The lists of all systems whose tables are available."""
    assert contents.scores is not None
    runs = _first_runs(contents)
    if contents.unit_nouns[0] == "conversation":
        return PageLists(depth=0, ids=[], by_system={})
    if not runs:
        missing = "Ranked lists are not available: the scores were imported."
        return PageLists(depth=0, ids=[], by_system={}, missing=missing)
    depth = DEEP if len(contents.units) * len(runs) * DEEP <= MAX_DEEP_DOCUMENTS else SHALLOW
    try:
        ids, by_system = ranked_lists(runs, depth)
        if depth == DEEP and _size(contents, ids, by_system) > MAX_BYTES:
            depth = SHALLOW
            ids, by_system = ranked_lists(runs, depth)
    except GoodgainError as error:
        where = f" ({error.where})" if error.where else ""
        missing = f"Ranked lists are not available: {error.message}{where}."
        return PageLists(depth=0, ids=[], by_system={}, missing=missing)
    return PageLists(depth=depth, ids=ids, by_system=by_system)


def _first_runs(contents: PageContents) -> dict[str, RunScores]:
    """The run of each system; of several seeds the first."""
    assert contents.scores is not None
    return {s: seeds[0] for s, seeds in contents.scores.runs.items() if s in contents.systems}


def lists_block(contents: PageContents) -> tuple[dict[str, Any] | None, str]:
    """The lists of all systems whose tables are available, and a note for the reader."""
    import numpy as np

    assert contents.scores is not None
    page = contents.lists
    if not page.by_system:
        return None, page.missing
    ids, lists_by_system = page.ids, page.by_system
    runs, units = _first_runs(contents), contents.units
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
    first = next(iter(lists_by_system))
    judged = lists_by_system[first].relevant
    places = _positions(judged.counts, rows[first])
    listed, renumbered = _renumber({**docs, "": judged.docs[places]})
    gains = np.unique(
        np.concatenate([*(lists.gains for lists in lists_by_system.values()), judged.gains])
    )
    documents, note = _documents(contents, [ids[i] for i in listed])
    retrieved = sum(int(lists.retrieved.sum()) for lists in lists_by_system.values())
    if retrieved > MAX_BOUNDED_DOCUMENTS:
        notes.append(
            f"What judging unjudged documents could change is left out: too many documents ({retrieved:,})."
        )
    block = {
        "depth": page.depth,
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
                "bounds": _bounds(contents, runs[s]) if retrieved <= MAX_BOUNDED_DOCUMENTS else {},
                "relevantRanks": packed("u32", lists_by_system[s].relevant.ranks[places])
                if lists_by_system[s].relevant.same_documents(judged)
                else None,
            }
            if s in lists_by_system
            else None
            for s in contents.systems
        ],
        "relevant": _relevant(judged, rows[first], places, renumbered[""], gains),
        **documents,
    }
    return block, " ".join([*notes, *([note] if note else [])])


def _relevant(
    judged: RelevantDocuments,
    rows: NDArray[np.int64],
    places: NDArray[np.int64],
    docs: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> dict[str, dict[str, str]]:
    """The relevant documents of each query in the ideal order: the best first."""
    import numpy as np

    present = rows >= 0
    return {
        "totals": packed("u32", np.where(present, judged.totals[rows], 0)),
        "counts": packed("u16", np.where(present, judged.counts[rows], 0)),
        "docs": packed("u32", docs),
        "gains": packed("u32", np.searchsorted(gains, judged.gains[places])),
    }


def _bounds(contents: PageContents, run: RunScores) -> dict[str, list[dict[str, str]]]:
    """The lowest and highest value of each measure over all gains of unjudged documents, by query."""
    import numpy as np

    queries, bounds = unjudged_bounds(run)
    rows = {query: i for i, query in enumerate(queries)}
    places = np.array([rows.get(unit, -1) for unit in contents.units], np.int64)
    return {
        measure: [packed("f32", np.where(places >= 0, side[places], np.nan)) for side in pair]
        for measure, pair in bounds.items()
    }


def _size(
    contents: PageContents, ids: list[str], lists_by_system: Mapping[str, RankedLists]
) -> int:
    """The approximate number of bytes of the lists on the page."""
    limits = ((contents.documents, MAX_TITLE_CHARACTERS), (contents.links, MAX_URL_CHARACTERS))
    size = sum(min(len(i), MAX_CHARACTERS) + 3 for i in ids)
    for texts, limit in limits:
        size += sum(min(len(texts.get(i, "")), limit) + 3 for i in ids) if texts else 0
    for lists in lists_by_system.values():
        size += DOCUMENT_BYTES * len(lists.docs) + RELEVANT_BYTES * len(lists.relevant.docs)
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


def _documents(contents: PageContents, ids: list[str]) -> tuple[dict[str, Any], str]:
    """Ids, titles, links and texts of the listed documents, and a note if texts are shortened."""
    texts = contents.documents
    block: dict[str, Any] = {
        "ids": [cut(i) for i in ids],
        "titles": [cut(texts.get(i, ""), MAX_TITLE_CHARACTERS) for i in ids] if texts else None,
        "links": [_url(contents.links.get(i)) for i in ids] if contents.links else None,
        "texts": None,
    }
    if not texts:
        return block, ""
    limit, note = MAX_TEXT_CHARACTERS, ""
    sizes = sorted(min(len(texts.get(i, "")), limit) for i in ids)
    if sum(sizes) > MAX_TEXT_BYTES:
        limit = MAX_TEXT_BYTES // len(ids)
        note = (
            f"To limit the size of the page, texts of documents are cut after {limit:,} characters."
        )
        if limit < MIN_TEXT_CHARACTERS:
            return block, "To limit the size of the page, it has no texts of documents."
    block["texts"] = [cut(texts.get(i, ""), limit) for i in ids]
    return block, note


def _url(text: str | None) -> str | None:
    """A URL that is not too long; a truncated one would lead elsewhere."""
    return text if text and len(text) <= MAX_URL_CHARACTERS else None
