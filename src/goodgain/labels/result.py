"""Labels: what the store says about each question and document, read from it when asked for."""

from __future__ import annotations

from collections import Counter
from itertools import groupby, islice
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.labels.canaries import PREFIX
from goodgain.results.frames import AsFrames
from goodgain.results.text import html_table, render
from goodgain.results.views import Plottable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.runner import Progress
    from goodgain.labels.store import Setting, Store

_COLUMNS = ["query", "doc", "gain", "status", "replicates", "spread", "detail"]


class Label(NamedTuple):
    """What is known of a question and a document.

    `gain` is the median of the replicates that have one (the lower middle, so that it stays on the
    scale), and None where there is none: `status` then says why. `spread` is their largest
    difference.
    """

    query: str
    doc: str
    gain: float | None
    status: str
    replicates: int
    spread: float | None
    detail: str
    question: str


class Labels(AsFrames, Plottable):
    """The labels of one setting; iterating reads them from the store, so memory stays flat."""

    __slots__ = ("_table", "setting", "store", "summary")

    def __init__(
        self, store: Store, setting: Setting, table: str = "", summary: Progress | None = None
    ) -> None:
        self.store = store
        self.setting = setting
        self.summary = summary
        number = store.setting(setting)
        self._table = table or (
            "(SELECT a.id, a.query, a.doc, a.key, a.replicate, q.text AS question FROM asked a "
            f"JOIN questions q ON q.id = a.question WHERE a.setting = {number})"
        )

    @classmethod
    def of(cls, store: Any, *, model: str | None = None, prompt: str | None = None) -> Labels:
        """All labels of a store; where it has several settings, model or prompt say which."""
        from goodgain.labels.store import Store

        opened = store if isinstance(store, Store) else Store(store, create=False)
        found = [
            setting
            for _, setting in opened.settings()
            if model in (None, setting.model)
            and (prompt is None or prompt in (setting.prompt, setting.prompt.partition("@")[0]))
        ]
        if not found:
            raise InputError("the store has no such labels", where=opened.path)
        if len(found) > 1:
            names = "; ".join(f"{s.model}, {s.prompt}, {s.parameters}" for s in found)
            raise UsageError(
                f"the store has labels of {len(found)} settings: {names}",
                where=opened.path,
                hint="say which with model= and prompt= (--model, --prompt)",
            )
        return cls(opened, found[0])

    def __iter__(self) -> Iterator[Label]:
        cursor = self.store.db.execute(
            "SELECT w.query, w.doc, w.replicate, w.id, w.question, r.gain, r.status, r.detail "
            f"FROM {self._table} w LEFT JOIN replies r ON r.id = (SELECT id FROM replies "
            "WHERE key = w.key ORDER BY (status = 'ok') DESC, id DESC LIMIT 1) "
            "ORDER BY w.query, w.doc, w.id"
        )
        for (query, doc), rows in groupby(cursor, key=lambda row: (row[0], row[1])):
            last = {row[2]: row for row in rows}  # by replicate; what was asked last counts
            yield _label(query, doc, list(last.values()))

    def __len__(self) -> int:
        row = self.store.db.execute(
            f"SELECT count(*) FROM (SELECT DISTINCT query, doc FROM {self._table})"
        )
        return int(row.fetchone()[0])

    @property
    def statuses(self) -> dict[str, int]:
        """How many questions and documents have which status."""
        found = Counter(label.status for label in self)
        return dict(found.most_common())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {doc: gain}}, without the failures, which are not 0, and without canaries."""
        gains: dict[str, dict[str, float]] = {}
        for label in self:
            if label.gain is not None and not label.doc.startswith(PREFIX):
                gains.setdefault(label.query, {})[label.doc] = label.gain
        return gains

    def to_qrels(self) -> Qrels:
        """The gains as judgements."""
        return Qrels(self.to_dict(), name=f"labels of {self.setting.model}")

    def rows(self, first: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every question and document, or for the first of them."""
        return _COLUMNS, [
            [label.query, label.doc, whole(label.gain), label.status, label.replicates,
             whole(label.spread), label.detail]
            for label in islice(self, first)
        ]  # fmt: skip

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The labels as text in any of the command line's formats."""
        return render(format, *self.rows())

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def _repr_html_(self) -> str:
        columns, rows = self.rows(first=20)
        return html_table(columns, rows, repr(self), left_out=len(self) - len(rows))

    def __repr__(self) -> str:
        found = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"Labels({self.setting}; {found or 'none'})"


def _label(query: str, doc: str, rows: list[Any]) -> Label:
    gains = [row[5] for row in rows if row[6] == "ok"]
    failed = [row for row in rows if row[6] != "ok"]
    question = rows[-1][4]
    if not gains:
        _, _, _, _, _, _, status, detail = failed[-1]
        return Label(query, doc, None, status or "pending", 0, None, detail or "", question)
    detail = next((row[7] for row in rows if row[6] == "ok"), "")
    spread = max(gains) - min(gains)
    return Label(query, doc, median_low(gains), "ok", len(gains), spread, detail, question)


def whole(value: float | None) -> float | int | None:
    """A whole number without its decimals."""
    return int(value) if value is not None and value == int(value) else value
