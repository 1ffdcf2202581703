"""Labels: what a store holds about each query and document, read when needed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from statistics import median_low
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from goodgain.data.qrels import Qrels
from goodgain.errors import InputError, UsageError
from goodgain.io.files import is_sqlite, is_store
from goodgain.labels.canaries import PREFIX
from goodgain.labels.people import aggregate, annotators_of, check_method, read_votes
from goodgain.labels.store import Store
from goodgain.results.frames import AsFrames
from goodgain.results.text import html_table, render_data
from goodgain.results.views import Plottable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodgain.labels.progress import Progress
    from goodgain.labels.scale import Gains
    from goodgain.labels.store import Setting

_COLUMNS = ["query", "doc", "gain", "status", "replicates", "spread", "detail"]


_LISTED = 8  # settings in a message
_CHOICES = ("people", "annotator", "model", "setting")  # of labels, after # in a path
_PEOPLE_COLUMNS = ["query", "doc", "gain", "status", "votes", "spread", "detail", "rule"]


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


class _LabelTable(AsFrames, Plottable):
    """What labels of a model and labels of people have in common: one `Label` per query and document."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Whose labels they are."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Label]:
        raise NotImplementedError

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def statuses(self) -> dict[str, int]:
        """The number of labels with each status, most frequent first."""
        return dict(Counter(label.status for label in self).most_common())

    def to_dict(self) -> Gains:
        """{query: {doc: gain}}, without failures, which are not 0, and without canaries."""
        gains: Gains = {}
        for label in self:
            if label.gain is not None and not label.doc.startswith(PREFIX):
                gains.setdefault(label.query, {})[label.doc] = label.gain
        return gains

    def to_qrels(self) -> Qrels:
        """The gains as judgments."""
        return Qrels(self.to_dict(), name=f"labels of {self.name}")

    def rows(self, first: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every label, or for the `first` ones."""
        return _COLUMNS, [
            [label.query, label.doc, whole(label.gain), label.status, label.replicates,
             whole(label.spread), label.detail]
            for label in islice(self, first)
        ]  # fmt: skip

    def render(self, format: str = "table") -> str:  # noqa: A002
        """The labels as text, in any format of the command line."""
        return render_data(format, *self.rows())

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def _repr_html_(self) -> str:
        columns, rows = self.rows(first=20)
        return html_table(columns, rows, repr(self), left_out=len(self) - len(rows))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"{type(self).__name__}({self.name}; {counts or 'none'})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(_LabelTable):
    """The labels of one setting; iterating reads them from the store, so memory use stays constant.

    >>> import goodgain as gg
    >>> pairs = [("q1", "d1", "Where is it?", "Here."), ("q1", "d2", "Where is it?", "No idea.")]
    >>> labels = gg.label(pairs, lambda request: 4 if request.document == "Here." else None)
    >>> labels.to_dict()
    {'q1': {'d1': 4.0}}
    >>> labels.statuses
    {'ok': 1, 'refused': 1}
    >>> labels.to_qrels()["q1"]["d1"]
    4.0
    """

    store: Store
    setting: Setting
    pairs_table: str = ""  # with the pairs of one run; empty for all pairs of the setting
    summary: Progress | None = None

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        model: str | None = None,
        prompt: str | None = None,
        setting: str | None = None,
    ) -> Labels:
        """A model's labels in a store; if it has several settings, the other arguments choose one.

        `source` is a `Store` or its path; labels are returned as they are. `setting` is the beginning
        of a setting's digest, which tells settings of one model and prompt apart.
        """
        if isinstance(source, Labels):
            return source
        store = source if isinstance(source, Store) else Store(source, read_only=True)
        settings = [
            own
            for _, own in store.settings()
            if model in (None, own.model)
            and (prompt is None or prompt in (own.prompt, own.prompt.partition("@")[0]))
            and own.digest.startswith(setting or "")
        ]
        if prompt is None and setting is None:  # nuggets and preferences are not gains of documents
            tasks = [s.prompt.partition("@")[0] for s in settings if "task" in s.parameters]
            settings = [s for s in settings if "task" not in s.parameters]
            if tasks and not settings:
                raise InputError(
                    f"the label store has no gains of documents, only labels of: {', '.join(tasks)}",
                    where=store.path,
                    hint=f"choose them by their prompt (--prompt {tasks[0]})",
                )
        if not settings:
            raise InputError(_none_match(model, prompt, setting), where=store.path)
        if len(settings) > 1:
            raise UsageError(
                f"the label store has {len(settings)} settings: {_listed(settings)}",
                where=store.path,
                hint="choose one with model=, prompt= or setting= (--model, --prompt, --setting); "
                f"as a file: '{store.path}#setting={settings[0].digest[:8]}'",
            )
        return cls(store, settings[0])

    @property
    def name(self) -> str:
        """The model and the prompt."""
        return str(self.setting)

    def __iter__(self) -> Iterator[Label]:
        ensemble = self.setting.parameters.get("ensemble")
        rows_of_pairs = self.store.db.stream(
            "SELECT p.query, p.doc, p.replicate, p.document, p.question, r.gain, r.status, r.detail "
            f"FROM {self._pairs()} p LEFT JOIN replies r ON r.id = (SELECT id FROM replies "
            "WHERE key = p.key ORDER BY (status = 'ok') DESC, id DESC LIMIT 1) "
            "ORDER BY p.query, p.doc, p.created, p.id"
        )
        for (query, doc), rows in groupby(rows_of_pairs, key=lambda row: (row[0], row[1])):
            last = current_replicates(row[2:] for row in rows)
            replies = {number: _Reply(*row) for number, row in last.items()}
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
            columns = "id, query, doc, key, replicate, question, '' AS created, "
            columns += "CAST(NULL AS TEXT) AS document"
            return f"(SELECT {columns} FROM {self.pairs_table})"
        return (
            "(SELECT a.id, a.query, a.doc, a.key, a.replicate, q.text AS question, a.created, a.document "
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

    def to_qrels(self) -> Qrels:
        """The gains as judgments, with what is known of the judge."""
        from goodgain.labels.passport import judge_facts

        qrels = Qrels(self.to_dict(), name=f"labels of {self.name}")
        return qrels.judged_by(judge_facts(self))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeopleLabels(_LabelTable):
    """The labels of people in a store: of one annotator, or of all by a rule.

    `replicates` of a label is the number of votes it rests on.
    """

    store: Store
    method: str = "majority"
    annotator: str | None = None

    def rows(self, first: int | None = None) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for every label, with the number of votes and the rule."""
        _, rows = super(PeopleLabels, self).rows(first)
        rule = f"vote of {self.annotator}" if self.annotator else self.method
        return [*_PEOPLE_COLUMNS], [[*row, rule] for row in rows]

    @property
    def name(self) -> str:
        """The annotator, or people and the rule."""
        return f"annotator {self.annotator}" if self.annotator else f"people by {self.method}"

    def __iter__(self) -> Iterator[Label]:
        votes = read_votes(self.store, self.annotator)
        gains, _, counts = aggregate(votes, self.method)
        for (query, doc), group in groupby(votes, key=lambda vote: (vote.query, vote.doc)):
            own = list(group)
            values = [vote.gain for vote in own if vote.gain is not None]
            yield Label(
                query=query,
                doc=doc,
                gain=gains.get(query, {}).get(doc),
                status="ok" if values else "skipped",
                replicates=counts.get(query, {}).get(doc, 0),
                spread=max(values) - min(values) if values else None,
                detail="; ".join(filter(None, (vote.reason or vote.note for vote in own))),
                question=next((vote.question for vote in own if vote.question), ""),
            )


def labels_of(
    source: Any,
    *,
    model: str | None = None,
    prompt: str | None = None,
    setting: str | None = None,
    annotator: str | None = None,
    people: str | None = None,
    prefer: Literal["people", "model"] | None = None,
) -> Labels | PeopleLabels:
    """The labels that a store has, of a model or of people; what they are must be chosen if it has both.

    `people` is the rule that makes one gain of several votes, `annotator` chooses those of one person.
    `prefer` decides where nothing else does, and only if the store has both.
    """
    if isinstance(source, Labels | PeopleLabels):
        return source
    store = source if isinstance(source, Store) else Store(source, read_only=True)
    by_model = [choice for choice in (model, prompt, setting) if choice is not None]
    if by_model and (annotator is not None or people is not None):
        raise UsageError("choose labels of a model or of people, not of both")
    if by_model:
        return Labels.of(store, model=model, prompt=prompt, setting=setting)
    annotators = annotators_of(store)
    if annotator is not None and annotator not in annotators:
        raise InputError(
            f"the label store has no votes of '{annotator}'",
            where=store.path,
            hint=f"annotators: {', '.join(annotators)}" if annotators else "",
        )
    if people is not None and not annotators:
        raise InputError("the label store has no votes of people", where=store.path)
    if annotator is None and people is None:
        settings = [own for _, own in store.gain_settings()]
        models = list(dict.fromkeys(own.model for own in settings))
        if not annotators or (models and prefer == "model"):
            return Labels.of(store)
        if models and prefer is None:
            raise UsageError(
                f"the label store has labels of models ({', '.join(models)}) "
                f"and of people ({', '.join(annotators)})",
                where=store.path,
                hint="choose with model=, annotator= or people= (--model, --annotator, --people); "
                f"as a file: '{store.path}#people', '{store.path}#annotator={annotators[0]}' or "
                f"'{store.path}#model={models[0]}'",
            )
    if people is not None:
        check_method(people)
    return PeopleLabels(store, people or "majority", annotator)


def stored_labels(
    source: Any, prefer: Literal["people", "model"] | None = None
) -> Labels | PeopleLabels | None:
    """Labels, or those of a store or of its path; None for any other form of judgments.

    A path may choose: `labels.db#people`, `#people=mean`, `#annotator=NAME`, `#model=NAME`, `#setting=ID`.
    """
    if isinstance(source, str | os.PathLike):
        if not is_store(os.fspath(source)):
            return None
        path, choice = store_and_choice(os.fspath(source))
        return labels_of(path, prefer=prefer, **choice)
    if isinstance(source, Store | Labels | PeopleLabels):
        return labels_of(source, prefer=prefer)
    return None


def store_and_choice(path: str) -> tuple[str, dict[str, str]]:
    """The path or URL of a store, and which of its labels."""
    if is_sqlite(path):
        return path, {}
    store, mark, words = path.partition("#")
    name, _, value = words.partition("=")
    if mark and (name not in _CHOICES or (not value and name != "people")):
        raise UsageError(
            f"invalid choice of labels '#{words}' in '{path}'",
            hint="use #people, #people=mean, #annotator=NAME, #model=NAME or #setting=ID",
        )
    return store, {name: value or "majority"} if mark else {}


def judgments_of(source: Any, prefer: Literal["people", "model"] | None = None) -> Qrels:
    """Judgments in any form: labels, a `Store` or its path, or any form that `evaluate` accepts."""
    labels = stored_labels(source, prefer)
    return Qrels.of(source) if labels is None else labels.to_qrels()


def gains_of(source: Any, prefer: Literal["people", "model"] | None = None) -> Gains:
    """{query: {doc: gain}} of judgments in any form; they may be empty."""
    labels = stored_labels(source, prefer)
    if labels is not None:
        return labels.to_dict()
    if isinstance(source, Mapping) and not any(source.values()):
        return {}
    return Qrels.of(source).to_dict()


def people_gains(source: Any) -> Gains:
    """The gains that people gave: the votes of a store, or judgments in any other form.

    A store's labels of a model are refused: whoever asks for people would take them for the truth.
    """
    labels = stored_labels(source, prefer="people")
    if isinstance(labels, Labels):
        raise InputError(
            f"human labels are needed, but these are from the model '{labels.setting.model}'",
            where=labels.store.path,
            hint="goodgain labels import STORE FILE --annotator NAME, or goodgain judge STORE",
        )
    return gains_of(source) if labels is None else labels.to_dict()


def current_replicates(rows: Iterable[Sequence[Any]]) -> dict[int, Sequence[Any]]:
    """What counts of the rows of one pair, oldest first: replicate, document, question, and whatever follows.

    The last row of a replicate counts, unless a later one is about another text: then it is out of date.
    Returns {replicate: its question and whatever follows}.
    """
    current: dict[int, Sequence[Any]] = {}
    last_document = last_question = None
    for replicate, document, question, *rest in rows:
        changed = document and last_document and document != last_document
        if changed or question != last_question:
            current.clear()
        last_document, last_question = document or last_document, question
        current[replicate] = (question, *rest)
    return current


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


def _listed(settings: Sequence[Setting]) -> str:
    """The first settings by id, model and prompt, and by the parameters in which equal ones differ."""
    names = []
    for own in settings[:_LISTED]:
        same = [s.parameters for s in settings if (s.model, s.prompt) == (own.model, own.prompt)]
        keys = sorted({key for parameters in same for key in parameters})
        differ = [key for key in keys if any(p.get(key) != same[0].get(key) for p in same)]
        values = "".join(f", {key}={own.parameters.get(key)!r:.40}" for key in differ)
        names.append(f"{own.digest[:8]}: {own}{values}")
    more = len(settings) - len(names)
    return "; ".join(names) + (f"; and {more:,} more" if more > 0 else "")


def _none_match(model: str | None, prompt: str | None, setting: str | None) -> str:
    choices = (("model", model), ("prompt", prompt), ("setting", setting))
    criteria = [f"{name} '{value}'" for name, value in choices if value is not None]
    return f"the label store has no labels{' of ' if criteria else ''}{' and '.join(criteria)}"


def whole(value: float | None) -> float | int | None:
    """A whole number as an int, so that it prints without decimals."""
    return int(value) if value is not None and value == int(value) else value
