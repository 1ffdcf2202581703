"""Side by side: which of two systems' lists or answers is better, with the sides at random."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from goodgain.comparison import gsb_labels
from goodgain.data.run import Run
from goodgain.errors import InputError
from goodgain.judging.desk import ROLES, Desk, RefusalError, seconds_of, text_field
from goodgain.judging.items import TEXT_LIMIT, document_fields, item_key, query_fields
from goodgain.labels.pairs import file_rows, has_json_lines
from goodgain.labels.pooling import rows_by_id, top_documents
from goodgain.labels.preferences import IDENTICAL, Preference, add_preferences, gsb_rows
from goodgain.labels.store import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.judging.ballots import Ballot
    from goodgain.labels.store import Store

_ANSWERS = ("answer", "response", "output", "prediction", "completion")
_QUERIES = ("query_id", "qid", "id", "_id", "conversation", "query", "question")
_RESULT_LIMIT = 10_000  # characters of a result in a list
_ORDERS = ("first second", "second first")


@dataclass(frozen=True, slots=True, kw_only=True)
class SideItem:
    """What two systems returned for one query: lists of results, or answers."""

    query: str
    question: str
    narrative: str
    systems: tuple[str, str]
    contents: tuple[dict[str, Any], dict[str, Any]]

    @property
    def place(self) -> tuple[str, ...]:
        """What a preference is about."""
        return self.query, *self.systems

    def to_dict(self) -> dict[str, Any]:
        """The question alone: which system stands where depends on the annotator."""
        return {
            "key": item_key(self.place),
            "query": self.query,
            "question": self.question,
            "narrative": self.narrative,
        }


class SidesDesk(Desk):
    """People compare two systems; the page never gets their names."""

    mode = "sides"
    table = "preferences"

    def __init__(self, store: Store, items: Sequence[SideItem], **options: Any) -> None:
        identical = [item for item in items if item.contents[0] == item.contents[1]]
        self.identical = len(identical)
        super().__init__(store, [item for item in items if item not in identical], **options)
        self.systems = items[0].systems
        self._add_identical(identical)

    def _add_identical(self, items: Sequence[SideItem]) -> None:
        """Identical lists are the same to everyone: that is stored once, and nobody is asked."""
        rows = self.store.db.execute(
            "SELECT query FROM preferences WHERE source = ? AND first = ? AND second = ?",
            (IDENTICAL, *self.systems),
        )
        stored = {query for (query,) in rows.fetchall()}
        add_preferences(
            self.store,
            [
                Preference(
                    annotator="",
                    query=item.query,
                    first=self.systems[0],
                    second=self.systems[1],
                    choice="same",
                    sides="",
                    source=IDENTICAL,
                )
                for item in items
                if item.query not in stored
            ],
        )

    def _sides(self, annotator: str, query: str) -> str:
        """Which system stands left: drawn once for each annotator and query, by the seed."""
        return _ORDERS[int(digest(self.seed, "sides", annotator, query)[:8], 16) % 2]

    def _present(self, key: str, annotator: str) -> dict[str, Any]:
        item = cast("SideItem", self.items[key])
        left, right = item.contents
        if self._sides(annotator, item.query) == _ORDERS[1]:
            left, right = right, left
        seen = digest(self.seed, annotator, left, right)[:16]
        return {**item.to_dict(), "seen": seen, "left": left, "right": right}

    def _choice_of(self, ballot: Ballot) -> Any:
        return _other_name(ballot.choice, ballot.sides)

    def _text_of(self, ballot: Ballot) -> str:
        return "skipped" if ballot.status == "skipped" else str(self._choice_of(ballot))

    def _item_name(self, key: str) -> str:
        return cast("SideItem", self.items[key]).question[:120]

    def _store(self, annotator: str, key: str, request: str, posted: dict[str, Any]) -> None:
        choice = posted.get("choice")
        reason = text_field(posted, "reason", 1000)
        if choice not in ("left", "same", "right", None):
            raise RefusalError(f"'{choice}' is neither left, same nor right", 400)
        if choice is None and not reason.strip():
            raise RefusalError("a skip needs a reason", 400)
        sides = self._sides(annotator, self.items[key].query)
        self._add(
            key,
            annotator=annotator,
            choice="skipped" if choice is None else _other_name(choice, sides),
            reason=reason if choice is None else "",
            note=text_field(posted, "note"),
            seconds=seconds_of(posted),
            source=f"page {request}",
        )

    def _add(self, key: str, *, annotator: str, **fields: Any) -> None:
        query = self.items[key].query
        add_preferences(
            self.store,
            [
                Preference(
                    annotator=annotator,
                    query=query,
                    first=self.systems[0],
                    second=self.systems[1],
                    sides=self._sides(annotator, query),
                    **fields,
                )
            ],
        )

    def _withdraw(self, ballot: Ballot, request: str) -> None:
        self._add(
            ballot.key,
            annotator=ballot.annotator,
            choice="withdrawn",
            note=ballot.note,
            source=f"page {request}",
        )

    def summary(self) -> str:
        """What was judged, and GSB so far."""
        return "\n".join(filter(None, (super().summary(), self.sentence())))

    def sentence(self) -> str:
        """GSB of the new system against the old one, as far as it was judged; it names the systems."""
        try:
            rows = gsb_rows(self.store, self.systems[0])
        except InputError:
            return ""
        result = gsb_labels(rows)
        note = f" {self.identical:,} identical lists count as same." if self.identical else ""
        return f"{self.systems[1]} against {self.systems[0]}: {result.sentence}{note}"

    def agreement(self, name: Any) -> dict[str, Any]:
        """How many have judged, and how far they agree; not which system is ahead, which would unblind."""
        with self.lock:
            self.ballots.refresh()
            annotator = self._require(name, *ROLES)
            votes = {
                key: [b.choice for b in self.ballots.of(key).values() if b.status == "label"]
                for key in self.items
            }
            judged = sum(bool(own) for own in votes.values())
            several = [own for own in votes.values() if len(own) > 1]
            sentence = f"{judged:,} of {len(self.items):,} comparisons are judged"
            if several:
                result = gsb_labels(gsb_rows(self.store, self.systems[0]))
                kappa = "not defined" if result.kappa is None else f"{result.kappa:.2f}"
                sentence += (
                    f", {len(several):,} of them by several people: of two, "
                    f"{100 * (result.agreement or 0):.0f}% agree (Fleiss' kappa {kappa})"
                )
            finished = not any(True for _ in self._open(annotator))
            return {
                "sentence": f"{sentence}.",
                "figures": [],
                "people": self.people(),
                "gsb": self.sentence() if finished else "",
            }


def _other_name(choice: str, sides: str) -> str:
    """Left or right for first or second, and the other way round."""
    names = dict(zip(sides.split(), ("left", "right"), strict=True))
    return {**names, **{side: name for name, side in names.items()}}.get(choice, choice)


# --- what two systems returned ---


def side_items(
    first: str,
    second: str,
    *,
    queries: str | None,
    documents: str | None,
    depth: int,
) -> tuple[list[SideItem], list[str]]:
    """The queries of two runs with their first results, or of two files of answers; and warnings."""
    systems = (Path(first).stem, Path(second).stem)
    if systems[0] == systems[1]:
        systems = (first, second)
    both = [_answers(path) for path in (first, second)]
    warnings: list[str] = []
    if all(answers is not None for answers in both):
        contents, questions = _answer_contents(cast("list[_Answers]", both), warnings)
    elif any(answers is not None for answers in both):
        raise InputError(f"'{first}' and '{second}' are not of one kind: answers, and a run")
    else:
        contents, questions = _list_contents((first, second), documents, depth, warnings), {}
    rows = rows_by_id(queries, set(contents))
    items = []
    for query, sides in contents.items():
        question, narrative = query_fields(rows.get(query))
        question = question or questions.get(query, "")
        if not question:
            raise InputError(
                f"no text for query '{query}'",
                hint="--queries must have the id and the text of every query",
            )
        items.append(
            SideItem(
                query=query,
                question=question,
                narrative=narrative,
                systems=systems,
                contents=sides,
            )
        )
    if not items:
        raise InputError(f"'{first}' and '{second}' have no query in common")
    return items, warnings


_Answers = dict[str, tuple[str, str]]  # {query: (question, answer)}
_Contents = dict[str, tuple[dict[str, Any], dict[str, Any]]]


def _answers(path: str) -> _Answers | None:
    """The answers of a file of objects with a query and an answer; None if it is something else."""
    if not has_json_lines(path):
        return None
    answers: _Answers = {}
    for where, row in file_rows(path):
        names = {str(name).casefold(): name for name in row}
        answer = next((names[name] for name in _ANSWERS if name in names), None)
        key = next((names[name] for name in _QUERIES if name in names), None)
        if answer is None or key is None:
            return None
        question = next((str(row[names[n]]) for n in ("question", "query") if n in names), "")
        query = str(row[key])
        if query in answers:
            raise InputError(f"two answers to query '{query}'", where=where)
        answers[query] = (question, "" if row[answer] is None else str(row[answer]))
    return answers


def _answer_contents(both: list[_Answers], warnings: list[str]) -> tuple[_Contents, dict[str, str]]:
    first, second = both
    common = [query for query in first if query in second]
    alone = len(first.keys() ^ second.keys())
    if alone:
        warnings.append(f"{alone:,} queries have an answer of one system only and are left out")
    contents = {query: (_answer(first[query][1]), _answer(second[query][1])) for query in common}
    return contents, {query: first[query][0] for query in common}


def _answer(text: str) -> dict[str, Any]:
    return {"answer": _cut(text, TEXT_LIMIT), "results": []}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [cut: {len(text):,} characters]"


def _list_contents(
    paths: tuple[str, str], documents: str | None, depth: int, warnings: list[str]
) -> _Contents:
    tops: list[Mapping[str, list[str]]] = [top_documents(Run.of(path), depth) for path in paths]
    ids = {doc for top in tops for docs in top.values() for doc in docs}
    rows = rows_by_id(documents, ids)
    fields_of = {doc: document_fields(doc, rows.get(doc)) for doc in ids}
    missing = [doc for doc, fields in fields_of.items() if not any(fields.values())]
    if missing and len(missing) == len(ids):
        raise InputError(
            f"none of the {len(ids):,} documents has a text",
            hint="--documents takes a table of documents: id, text, optional title and url",
        )
    if missing:
        warnings.append(
            f"{len(missing):,} documents have neither text nor URL; their ids are shown"
        )
    for doc in missing:
        fields_of[doc]["title"] = doc
    for fields in fields_of.values():
        fields["text"] = _cut(fields["text"], _RESULT_LIMIT)

    def content(top: Mapping[str, list[str]], query: str) -> dict[str, Any]:
        return {"answer": None, "results": [fields_of[doc] for doc in top.get(query, [])]}

    queries = dict.fromkeys([*tops[0], *tops[1]])
    return {query: (content(tops[0], query), content(tops[1], query)) for query in queries}
