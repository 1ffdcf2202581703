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

_AT_ONCE = 10  # suggested items


def sides_desk(
    store: Store, first: str, second: str, *, queries: str | None = None,
    documents: str | None = None, depth: int = 10, **options: Any,
) -> tuple[SidesDesk, list[str]]:  # fmt: skip
    """Two systems to compare: runs with their documents, or files of answers."""
    items, warnings = side_items(first, second, queries=queries, documents=documents, depth=depth)
    desk = SidesDesk(store, items, **options)
    if desk.identical:
        warnings.append(
            f"{desk.identical:,} of {len(items):,} queries have identical lists or answers; they "
            "count as same and are not shown"
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
        source = _Suggested(
            store, runs, order=order, measure=measure, qrels=qrels, depth=depth, texts=texts,
            scale=(scale[0][0], scale[-1][0]),
        )  # fmt: skip
        items, banner = source(0)
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
            where=store.path if pairs is None else str(pairs),
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
        self, store: Store, runs: Sequence[str], *, order: str, measure: str, qrels: str | None,
        depth: int, scale: tuple[float, float], texts: dict[str, Any],
    ) -> None:  # fmt: skip
        self._store = store
        self._runs = list(runs)
        self._order = order
        self._measure = measure
        self._qrels = qrels
        self._depth = depth
        self._scale = scale
        self._texts = texts
        self.warnings: list[str] = []

    def __call__(self, waiting: int) -> tuple[list[Item], str]:
        """Items besides those that `waiting` others have before them, and a sentence about them.

        Why each helps is not shown: it would tell what the model said about it.
        """
        pairs, banner = self._next(waiting) if self._order == "next" else self._settle()
        items, self.warnings = items_of(self._store, pairs, **self._texts)
        return items, banner

    def _next(self, waiting: int) -> tuple[list[tuple[str, str]], str]:
        from goodgain.labels.next_label import next_pairs

        chosen = next_pairs(
            self._store, self._runs, count=_AT_ONCE + waiting, measure=self._measure,
            depth=self._depth,
        )  # fmt: skip
        banner = f"These are the labels that shrink the interval of {self._measure} fastest."
        return [(one.query, one.doc) for one in chosen], banner if chosen else ""

    def _settle(self) -> tuple[list[tuple[str, str]], str]:
        from goodgain.labels.next_label import settling_labels

        first, second = self._runs
        settling = settling_labels(
            self._judgments(), first, second, self._measure, scale=self._scale
        )
        return list(settling.pairs), settling.sentence

    def _judgments(self) -> dict[str, dict[str, float]]:
        """The judgments of the file, with those of people in the store over them."""
        from goodgain.labels.people import aggregate, read_votes
        from goodgain.labels.result import gains_of

        gains = {} if self._qrels is None else gains_of(self._qrels)
        for query, docs in aggregate(read_votes(self._store)).gains.items():
            gains.setdefault(query, {}).update(docs)
        return gains
