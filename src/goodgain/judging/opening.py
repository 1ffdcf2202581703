"""Set up a desk from what the command line, or a program, names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.judging.items import file_items, items_of, run_pairs, store_pairs
from goodgain.judging.labels_desk import LabelsDesk
from goodgain.judging.scales import grades
from goodgain.judging.sides_desk import SidesDesk, side_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.judging.items import Item
    from goodgain.labels.store import Store


def sides_desk(
    store: Store, first: str, second: str, *, queries: str | None = None,
    documents: str | None = None, depth: int = 10, **options: Any,
) -> tuple[SidesDesk, list[str]]:  # fmt: skip
    """Two systems to compare: runs with their documents, or files of answers."""
    items, warnings = side_items(first, second, queries=queries, documents=documents, depth=depth)
    desk = SidesDesk(store, items, **options)
    if desk.identical:
        warnings.append(
            f"{desk.identical:,} of {len(items):,} queries have identical lists or answers: they count as "
            "same, and nobody is asked"
        )
    return desk, warnings


def labels_desk(
    store: Store, *, sample: str | None = None, pairs: str | None = None,
    runs: Sequence[str] = (), qrels: str | None = None, order: str = "",
    measure: str = "nDCG@10", prompt: str | None = None, queries: str | None = None,
    documents: str | None = None, depth: int = 10, **options: Any,
) -> tuple[LabelsDesk, list[str]]:  # fmt: skip
    """Documents to label: of a sample, a file, runs, or of the store; and warnings.

    `order` is "next" (by the effect on the interval of a mean) or "settle" (what decides between two runs).
    """
    texts: dict[str, Any] = {"queries": queries, "documents": documents}
    scale = grades(prompt, store)
    warnings: list[str] = []
    if pairs is not None:
        items = file_items(pairs)
    elif order:
        source = _Suggested(store, runs, order, measure, qrels, depth, texts)
        items, banner = source()
        warnings = source.warnings
        options |= {"ordered": True, "banner": banner, "more": source}
    elif sample is not None:
        from goodgain.labels.sampling import read_sample

        items, warnings = items_of(store, read_sample(store, sample).pairs(), **texts)
        options["ordered"] = True  # the order is part of the design
    else:
        wanted = run_pairs(list(runs), depth, qrels) if runs else store_pairs(store)
        items, warnings = items_of(store, wanted, **texts)
    if not items and not order:
        raise InputError(
            "there is nothing to judge",
            where=store.path,
            hint="name a source: --pairs, --sample, --runs or --side-by-side",
        )
    if pairs is not None:
        empty = sum(not (item.text or item.title or item.url) for item in items)
        if empty:
            warnings.append(f"{empty:,} documents have neither text nor URL")
    return LabelsDesk(store, items, scale, **options), warnings


class _Suggested:
    """Items in the order in which they help most, computed again when they are done."""

    def __init__(
        self, store: Store, runs: Sequence[str], order: str, measure: str, qrels: str | None,
        depth: int, texts: dict[str, Any],
    ) -> None:  # fmt: skip
        self._store = store
        self._runs = list(runs)
        self._order = order
        self._measure = measure
        self._qrels = qrels
        self._depth = depth
        self._texts = texts
        self.warnings: list[str] = []

    def __call__(self) -> tuple[list[Item], str]:
        """The items, and a sentence about them."""
        suggest = self._next if self._order == "next" else self._settle
        pairs, reasons, banner = suggest()
        items, self.warnings = items_of(self._store, pairs, reasons=reasons, **self._texts)
        return items, banner

    def _next(self) -> tuple[list[tuple[str, str]], dict[tuple[str, str], str], str]:
        from goodgain.labels.next_label import next_pairs

        chosen = next_pairs(
            self._store, self._runs, count=10, measure=self._measure, depth=self._depth
        )
        pairs = [(one.query, one.doc) for one in chosen]
        banner = f"These are the labels that shrink the interval of {self._measure} fastest."
        return pairs, {}, banner if pairs else "No further label would shrink the interval."

    def _settle(self) -> tuple[list[tuple[str, str]], dict[tuple[str, str], str], str]:
        from goodgain.labels.next_label import settling_labels

        first, second = self._runs
        settling = settling_labels(self._judgments(), first, second, self._measure)
        return list(settling.pairs), {}, settling.sentence

    def _judgments(self) -> dict[str, dict[str, float]]:
        """The judgments of the file, with those of people in the store over them."""
        from goodgain.labels.people import aggregate, read_votes
        from goodgain.labels.result import gains_of

        gains = {} if self._qrels is None else gains_of(self._qrels)
        for query, docs in aggregate(read_votes(self._store)).gains.items():
            gains.setdefault(query, {}).update(docs)
        return gains
