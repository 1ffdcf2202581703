"""Labels: what a store holds about each query and document, read when needed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from statistics import median_low
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.io.files import is_sqlite
from goodgain.labels.canaries import PREFIX
from goodgain.labels.store import Store
from goodgain.results.frames import AsFrames
from goodgain.results.text import html_table, render
from goodgain.results.views import Plottable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.labels.runner import Progress
    from goodgain.labels.store import Setting

_COLUMNS = ["query", "doc", "gain", "status", "replicates", "spread", "detail"]


class Label(NamedTuple):
    """The label of one query and document.

    `gain` is the median of the replicates that have one (the lower one of two, so that it stays on the
    scale), or None; `status` then says why. `spread` is the largest difference between replicates.
    """

    query: str
    doc: str
    gain: float | None
    status: str
    replicates: int
    spread: float | None
    detail: str
    question: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(AsFrames, Plottable):
    """The labels of one setting; iterating reads them from the store, so memory use stays constant."""

    store: Store
    setting: Setting
    pairs_table: str = ""  # with the pairs of one run; empty for all pairs of the setting
    summary: Progress | None = None

    @classmethod
    def of(cls, source: Any, *, model: str | None = None, prompt: str | None = None) -> Labels:
        """All labels of a store; if it has several settings, `model` and `prompt` choose one.

        `source` is a `Store` or its path; labels are returned as they are.
        """
        if isinstance(source, Labels):
            return source
        store = source if isinstance(source, Store) else Store(source, read_only=True)
        settings = [
            setting
            for _, setting in store.settings()
            if model in (None, setting.model)
            and (prompt is None or prompt in (setting.prompt, setting.prompt.partition("@")[0]))
        ]
        if prompt is None:  # nuggets and preferences are not gains, unless they are asked for
            settings = [s for s in settings if "task" not in s.parameters] or settings
        if not settings:
            raise InputError(_none_match(model, prompt), where=store.path)
        if len(settings) > 1:
            names = "; ".join(f"{s.model}, {s.prompt}, {s.parameters}" for s in settings)
            raise UsageError(
                f"the label store has {len(settings)} settings: {names}",
                where=store.path,
                hint="choose one with model= and prompt= (--model, --prompt)",
            )
        return cls(store, settings[0])

    def __iter__(self) -> Iterator[Label]:
        ensemble = self.setting.parameters.get("ensemble")
        rows_of_pairs = self.store.db.stream(
            "SELECT p.query, p.doc, p.replicate, p.question, r.gain, r.status, r.detail "
            f"FROM {self._pairs()} p LEFT JOIN replies r ON r.id = (SELECT id FROM replies "
            "WHERE key = p.key ORDER BY (status = 'ok') DESC, id DESC LIMIT 1) "
            "ORDER BY p.query, p.doc, p.created, p.id"
        )
        for (query, doc), rows in groupby(rows_of_pairs, key=lambda row: (row[0], row[1])):
            last = {row[2]: row for row in rows}  # by replicate: the latest one counts
            replies = {number: _Reply(*row[3:]) for number, row in last.items()}
            if ensemble is not None:
                yield _ensemble_label(query, doc, replies, ensemble)
            else:
                yield _label(query, doc, list(replies.values()))

    def __len__(self) -> int:
        row = self.store.db.execute(
            f"SELECT count(*) FROM (SELECT DISTINCT query, doc FROM {self._pairs()} p) d"
        )
        return int(row.fetchone()[0])

    def _pairs(self) -> str:
        """The table of pairs, or a query for those of the setting."""
        if self.pairs_table:
            columns = "id, query, doc, key, replicate, question, '' AS created"
            return f"(SELECT {columns} FROM {self.pairs_table})"
        return (
            "(SELECT a.id, a.query, a.doc, a.key, a.replicate, q.text AS question, a.created "
            "FROM asked a JOIN questions q ON q.id = a.question "
            f"WHERE a.setting = {self.store.find_setting(self.setting)})"
        )

    def raw_replies(self) -> dict[tuple[str, str], str]:
        """The text of the reply that counts for each query and document."""
        rows = self.store.db.execute(
            f"SELECT p.query, p.doc, r.raw FROM {self._pairs()} p JOIN replies r ON r.id = (SELECT id "
            "FROM replies WHERE key = p.key ORDER BY (status = 'ok') DESC, id DESC LIMIT 1) "
            "ORDER BY p.created, p.id"
        )
        return {(query, doc): raw for query, doc, raw in rows.fetchall()}

    @property
    def statuses(self) -> dict[str, int]:
        """The number of labels with each status, most frequent first."""
        return dict(Counter(label.status for label in self).most_common())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """{query: {doc: gain}}, without failures, which are not 0, and without canaries."""
        gains: dict[str, dict[str, float]] = {}
        for label in self:
            if label.gain is not None and not label.doc.startswith(PREFIX):
                gains.setdefault(label.query, {})[label.doc] = label.gain
        return gains

    def to_qrels(self) -> Qrels:
        """The gains as judgments."""
        from goodgain.labels.passport import judge_facts

        qrels = Qrels(self.to_dict(), name=f"labels of {self.setting.model}")
        return qrels.judged_by(judge_facts(self))

    def rows(self, first: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every label, or for the `first` ones."""
        return _COLUMNS, [
            [label.query, label.doc, whole(label.gain), label.status, label.replicates,
             whole(label.spread), label.detail]
            for label in islice(self, first)
        ]  # fmt: skip

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The labels as text, in any format of the command line."""
        return render(format, *self.rows())

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def _repr_html_(self) -> str:
        columns, rows = self.rows(first=20)
        return html_table(columns, rows, repr(self), left_out=len(self) - len(rows))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"Labels({self.setting}; {counts or 'none'})"


def stored_labels(source: Any) -> Labels | None:
    """Labels, or those of a store or of its path; None for any other form of judgments."""
    if isinstance(source, str | os.PathLike) and not is_sqlite(os.fspath(source)):
        return None
    return Labels.of(source) if isinstance(source, str | os.PathLike | Store | Labels) else None


def judgments_of(source: Any) -> Qrels:
    """Judgments in any form: `Labels`, a `Store` or its path, or any form that `evaluate` accepts."""
    labels = stored_labels(source)
    return Qrels.of(source) if labels is None else labels.to_qrels()


def gains_of(source: Any) -> dict[str, dict[str, float]]:
    """{query: {doc: gain}} of judgments in any form; they may be empty."""
    labels = stored_labels(source)
    if labels is not None:
        return labels.to_dict()
    if isinstance(source, Mapping) and not any(source.values()):
        return {}
    return Qrels.of(source).to_dict()


class _Reply(NamedTuple):
    question: str
    gain: float | None
    status: str | None
    detail: str | None


def _label(query: str, doc: str, replies: list[_Reply]) -> Label:
    """The label that the replicates' replies make together."""
    successes = [reply for reply in replies if reply.status == "ok"]
    gains = [reply.gain for reply in successes if reply.gain is not None]
    reply = successes[0] if successes else replies[-1]
    return Label(
        query=query,
        doc=doc,
        gain=median_low(gains) if gains else None,
        status=reply.status or "pending",
        replicates=len(gains),
        spread=max(gains) - min(gains) if gains else None,
        detail=reply.detail or "",
        question=replies[-1].question,
    )


def _ensemble_label(
    query: str, doc: str, replies: dict[int, _Reply], parameters: Mapping[str, Any]
) -> Label:
    """The label that an ensemble's members make; `replicates` counts those with a gain."""
    from goodgain.labels.ensemble import Opinion, combine_replies

    opinions = {
        number: Opinion(
            reply.gain if reply.status == "ok" else None,
            reply.status or "pending",
            reply.detail or "",
        )
        for number, reply in replies.items()
    }
    combined = combine_replies(opinions, parameters)
    return Label(
        query=query,
        doc=doc,
        gain=combined.gain,
        status=combined.status,
        replicates=combined.members,
        spread=combined.spread,
        detail=combined.detail,
        question=next(iter(replies.values())).question,
    )


def _none_match(model: str | None, prompt: str | None) -> str:
    criteria = [f"{k} '{v}'" for k, v in (("model", model), ("prompt", prompt)) if v is not None]
    return f"the label store has no labels{' of ' if criteria else ''}{' and '.join(criteria)}"


def whole(value: float | None) -> float | int | None:
    """A whole number as an int, so that it prints without decimals."""
    return int(value) if value is not None and value == int(value) else value
