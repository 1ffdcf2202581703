"""Answers of conversations, checked against gold answers or with the labels of a judge."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from goodgain.errors import InputError
from goodgain.io.columns import find_columns
from goodgain.io.tables import load_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREFIX = "answer:"  # of the document under which an answer is labelled
PROMPT = "answer-0-1"

_NUMBER = re.compile(r"(?<!\w)[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
_POINT, _MINUS = "\ue000", "\ue001"  # stand in for those of numbers while punctuation is dropped
_JOINED = "'’.`´"  # dropped without leaving a gap: U.S., O'Neil
_ARTICLES = frozenset(("a", "an", "the"))
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.S | re.I)
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_LINE = re.compile(r"^\W*(?:exact|final)?[ \t]*answer\W*?:[ \t*_]*(\S.*)$", re.I | re.M)
_MARKERS = re.compile(r"\[[^\[\]\n]{1,60}\](?:\([^()\s]*\))?|【[^】\n]*】")
_CONFIDENCE = re.compile(
    r"^\W*(?:overall[ \t]+)?confidence(?:[ \t]+(?:score|level))?\W*?[:=][ \t*_]*"
    r"(\d+(?:\.\d+)?)[ \t]*(%?)",
    re.I | re.M,
)


def normal_answer(text: str) -> str:
    """The form in which answers are compared: case, punctuation and articles dropped, numbers as numbers."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _NUMBER.sub(lambda match: f" {_number(match[0])} ", text)
    text = "".join(
        "" if c in _JOINED else c if c in (_POINT, _MINUS) or unicodedata.category(c)[0] not in "PSC" else " "
        for c in text
    )  # fmt: skip
    words = text.split()
    return " ".join([w for w in words if w not in _ARTICLES] or words)


def _number(text: str) -> str:
    try:
        number = Decimal(text.replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return text
    plain = format(number.normalize() + 0, "f")
    return plain.replace(".", _POINT).replace("-", _MINUS)


def answers_in(text: str) -> list[str]:
    """The texts that may be the answer: all of it, and what it marks as its answer."""
    listed = [text]
    for pattern in (_TAGGED, _BOXED, _LINE):
        listed += [match[1] for match in pattern.finditer(text)][-1:]
    return [*listed, *(_MARKERS.sub(" ", each) for each in listed)]


def confidence_in(text: str) -> float:
    """The confidence that an answer states, as a share; NaN if none, or if it may be either of two."""
    matches = _CONFIDENCE.findall(text)
    if not matches:
        return math.nan
    number, percent = matches[-1]
    value = float(number)
    if not percent and "." in number and value <= 1:
        return value
    if not percent and value == 1:
        return math.nan  # 1 % or 100 %
    return value / 100 if value <= 100 else math.nan


def answer_name(text: str) -> str:
    """The name under which a label store has an answer: one text, one name."""
    return PREFIX + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


class Checked(NamedTuple):
    """What is known of one answer: its value, or NaN, and whether a gold answer or a label exists."""

    value: float
    is_known: bool  # that it could be checked at all


_UNCHECKED = Checked(math.nan, False)


class AnswerCheck(Protocol):
    """How the answer of a conversation is checked."""

    kind: str  # as recorded in a result
    name: str

    def check(self, conversation: str, answer: str | None) -> Checked:
        """The value of an answer; None is one that the trace does not have."""
        ...

    def conversations(self) -> Iterable[str]:
        """The conversations that it knows."""
        ...


class GoldAnswers:
    """Accepted answers by conversation; an answer is right if its normal form is that of one of them."""

    kind = "exact"

    def __init__(self, answers: Mapping[str, Iterable[str]], name: str = "answers") -> None:
        self.name = name
        self.accepted = {
            str(c): tuple(dict.fromkeys(str(a) for a in listed)) for c, listed in answers.items()
        }
        # A gold answer of nothing but punctuation is compared as it is.
        self._normal = {
            c: {normal_answer(a) or a.strip() for a in listed}
            for c, listed in self.accepted.items()
        }

    def conversations(self) -> Iterable[str]:
        """The conversations with a gold answer."""
        return self.accepted

    def check(self, conversation: str, answer: str | None) -> Checked:
        """1 or 0; undefined without a gold answer or without an answer."""
        accepted = self._normal.get(conversation)
        if not accepted:
            return _UNCHECKED
        if answer is None:
            return Checked(math.nan, True)
        forms = (normal_answer(a) or a.strip() for a in answers_in(answer))
        return Checked(float(any(form in accepted for form in forms)), True)


class JudgedAnswers:
    """The labels that a judge gave to answers, as shares of its scale."""

    kind = "judged"

    def __init__(self, labels: Any) -> None:
        self.name = f"{labels.setting.model}, {labels.setting.prompt}"
        low, high = labels.setting.low, labels.setting.high
        self._values: dict[tuple[str, str], float] = {}
        for label in labels:
            if label.doc.startswith(PREFIX):
                value = math.nan if label.gain is None else (label.gain - low) / (high - low)
                self._values[label.query, label.doc] = value
        self._conversations = dict.fromkeys(query for query, _ in self._values)

    def conversations(self) -> Iterable[str]:
        """The conversations of which an answer was labelled."""
        return self._conversations

    def check(self, conversation: str, answer: str | None) -> Checked:
        """The label; undefined where the judge failed, has not judged this answer, or there is none."""
        if conversation not in self._conversations:
            return _UNCHECKED
        if answer is None or not answer.strip():
            return Checked(math.nan if answer is None else 0.0, True)
        return Checked(self._values.get((conversation, answer_name(answer)), math.nan), True)


def answer_check(source: Any) -> AnswerCheck:
    """Gold answers in any form (see `gold_answers`), or a judge's labels: `Labels`, a `Store`, its path."""
    if isinstance(source, GoldAnswers | JudgedAnswers):
        return source
    if isinstance(source, str | os.PathLike) or hasattr(source, "settings"):  # a path or a `Store`
        from goodgain.results.loading import load_answers

        source = load_answers(source)
    return JudgedAnswers(source) if hasattr(source, "setting") else gold_answers(source)


def gold_answers(source: Any) -> GoldAnswers:
    """Gold answers: {conversation: answer or answers}, a table or its file, or a golden set.

    A table has columns for the conversation and the answer, and may have one for aliases; several rows
    of a conversation are several accepted answers.
    """
    if isinstance(source, GoldAnswers):
        return source
    if isinstance(source, str | os.PathLike):
        from goodgain.results.loading import load_answers

        source = load_answers(source)
    if hasattr(source, "cases"):
        return GoldAnswers({c.id: [c.answer] for c in source.cases if c.answer}, "the golden set")
    if isinstance(source, Mapping) and not {"conversation", "answer"} <= source.keys():
        return GoldAnswers({str(c): list(_several(a)) for c, a in source.items()})
    table = load_table(source, "the answers")
    roles = find_columns(table.columns, "answers", table.name)
    answers: dict[str, list[str]] = {}
    columns = [table.columns[roles[role]] for role in roles]
    for number, row in enumerate(zip(*columns, strict=True)):
        values = dict(zip(roles, row, strict=True))
        conversation = values["query"]
        if conversation is None or str(conversation) == "":
            raise InputError("a gold answer without a conversation", where=table.where(number))
        listed = [*_several(values["answer"]), *_several(values.get("aliases"))]
        answers.setdefault(_id(conversation), []).extend(listed)
    return GoldAnswers({c: listed for c, listed in answers.items() if listed}, table.name)


def _several(value: Any) -> Iterator[str]:
    """The answers in a value: a text, a number, a list of them, or a JSON list in a cell."""
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            yield value
            return
    if isinstance(value, list | tuple | set):
        for item in value:
            yield from _several(item)
    elif isinstance(value, Mapping):
        raise InputError(f"a gold answer must be a text or a list of texts, got {value!r}")
    else:
        yield _id(value)


def _id(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
