"""Prompts: versioned text files with a rubric, into which documents are inserted as delimited data."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.errors import InputError, UsageError
from goodgain.io.whole import read_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.labels.examples import Example
    from goodgain.labels.judges.replies import Verdict

FOLDER = Path(__file__).parent / "prompts"
BUILT_IN = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
DEFAULT = "gain-0-4"

FIELDS = ("question", "document", "narrative", "answer", "examples")
_PLACEHOLDER = re.compile(r"\{(" + "|".join(FIELDS) + r")\}")
_FORM = re.compile(r"scale:\s*(\d+)\s*-\s*(\d+)\s*\n--- system\n(.*?)--- user\n(.*)", re.DOTALL)
_ONE = (
    'Reply with JSON and nothing else: {{"reason": one short sentence, "gain": a whole number from '
    "{low} to {high}}}."
)
_SEVERAL = (
    "There are {count} documents. Judge each for itself, as if the others were not there.\n"
    'Reply with JSON and nothing else: {{"labels": [{{"document": its number, "gain": a whole number '
    "from {low} to {high}}}, ...]}}, each document once."
)


_DELIMITERS = 30  # tokens around a document


@dataclass(frozen=True)
class Prompt:
    """A scale, a rubric, and a template for the question and the document."""

    name: str
    low: int
    high: int
    system: str
    user: str
    examples: tuple[Example, ...] = ()  # labels of people that the judge is shown
    shots: int = 0  # how many of them, without those of the query that is judged

    @classmethod
    def of(cls, value: Prompt | str | os.PathLike[str] | None = None) -> Prompt:
        """The prompt itself, a built-in one by name, or one from a file."""
        if isinstance(value, Prompt):
            return value
        if value is None or str(value) in BUILT_IN:
            return cls.read(FOLDER / f"{value or DEFAULT}.txt")
        return cls.read(Path(value))

    @classmethod
    def read(cls, path: Path) -> Prompt:
        """Read a prompt file."""
        if not os.path.lexists(path):
            raise InputError(
                f"prompt not found: '{path}'",
                hint=f"pass a file or one of: {', '.join(BUILT_IN)}",
            )
        match = _FORM.fullmatch(read_document(path))
        if not match:
            raise InputError(
                "the file is not a prompt",
                where=str(path),
                hint="it needs a line 'scale: 0-4', a line '--- system' followed by the rubric, and a line "
                "'--- user' followed by a text with {question} and {document}; for a published prompt that "
                "is sent as it stands, use --template FILE --raw",
            )
        low, high, system, user = int(match[1]), int(match[2]), match[3], match[4]
        for field in ("{question}", "{document}"):
            if field not in user:
                raise InputError(
                    f"{field} is missing after '--- user' in the prompt",
                    where=str(path),
                    hint="the prompt must show both the question and the document",
                )
        if low >= high:
            raise InputError(
                f"the scale {low}-{high} must have at least two gains",
                where=str(path),
                hint="scale: 0-4",
            )
        return cls(name=path.stem, low=low, high=high, system=system.strip(), user=user.strip())

    def with_examples(self, examples: Sequence[Example], shots: int) -> Self:
        """The prompt with examples, shown where it has {examples}, else before everything else."""
        off = next((e for e in examples if not self.low <= e.gain <= self.high), None)
        if off is not None:
            raise InputError(
                f"example {off.gain:g} of query '{off.query}', document '{off.doc}' is outside the scale "
                f"{self.low}-{self.high} of prompt '{self.name}'"
            )
        return replace(self, examples=tuple(examples), shots=shots)

    @cached_property
    def version(self) -> str:
        """Its name and a hash of its text, so that any change makes a new version."""
        text = "\0".join((self.system, self.user, _ONE, _SEVERAL, f"{self.low}-{self.high}"))
        return f"{self.name}@{self._hash(text)}"

    def _hash(self, text: str) -> str:
        for example in self.examples:
            text += "\0" + "\0".join(map(str, example))
        text += f"\0{self.shots}" if self.shots else ""
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def takes_several(self) -> bool:
        """Whether one call may show several documents."""
        return True

    @cached_property
    def fields(self) -> frozenset[str]:
        """What the user message shows: question and document, and possibly narrative and answer."""
        return frozenset(_PLACEHOLDER.findall(self.user))

    def system_message(self, count: int) -> str:
        """The rubric and the format of the reply, which do not depend on the question."""
        form = (_ONE if count == 1 else _SEVERAL).format(low=self.low, high=self.high, count=count)
        return f"{self.system}\n\n{form}"

    def user_message(
        self, question: str, documents: Sequence[str], narrative: str = "", answer: str = ""
    ) -> str:
        """The question and the documents, with narrative and gold answer where the template has them."""
        count = len(documents)
        blocks = [block(text, i if count > 1 else None) for i, text in enumerate(documents, 1)]
        examples = self.examples_text(question) if self.shots else ""
        values = (question, "\n\n".join(blocks), narrative, answer, examples)
        text = self._fill(dict(zip(FIELDS, values, strict=True)))
        return text if not examples or "examples" in self.fields else f"{examples}\n\n{text}"

    def _fill(self, values: Mapping[str, str]) -> str:
        """Every placeholder is replaced once: text that is inserted is never searched for more."""
        pieces = self._pieces  # text and names of fields in turn
        return "".join([values[piece] if i % 2 else piece for i, piece in enumerate(pieces)])

    def examples_text(self, question: str) -> str:
        """The examples, without those of this question."""
        from goodgain.labels.examples import examples_for

        examples = examples_for(self.examples, question, self.shots)
        texts = [
            f"Question:\n{e.question}\n\n{block(e.text, None, 'example')}\n\nGain: {e.gain:g}"
            for e in examples
        ]
        return "How people judged other documents:\n\n" + "\n\n---\n\n".join(texts) + "\n\n---"

    @cached_property
    def _pieces(self) -> list[str]:
        return _PLACEHOLDER.split(self.user)

    has_own_rule: ClassVar[bool] = False  # True: `read_reply` reads replies, rather than replies.py

    def read_reply(self, text: str) -> Verdict:
        """What a reply says by the prompt's own rule."""
        raise NotImplementedError

    def tokens(self, question: str, documents: Sequence[str]) -> int:
        """A conservative estimate of the tokens of a call, without rendering it."""
        return (
            self._fixed_tokens
            + tokens_of(question)
            + sum(tokens_of(d) + _DELIMITERS for d in documents)
        )

    @cached_property
    def _fixed_tokens(self) -> int:
        examples = sum(tokens_of(e.question + e.text) + _DELIMITERS for e in self.examples)
        return tokens_of(self.system + _SEVERAL + self.user) + examples

    def to_dict(self) -> dict[str, Any]:
        """All of its text, for the store and the judge's passport."""
        facts = {
            "system": self.system_message(1),
            "user": self.user,
            "scale": [self.low, self.high],
        }
        if self.examples:
            facts["examples"] = [[e.query, e.doc, e.gain] for e in self.examples]
        return facts

    def schema(self, count: int) -> dict[str, Any] | None:
        """The JSON schema of a reply about `count` documents; None if it is not JSON."""
        gain = {"type": "integer", "enum": list(range(self.low, self.high + 1))}
        if count == 1:
            return _object({"reason": {"type": "string"}, "gain": gain})
        row = _object({"document": {"type": "integer"}, "gain": gain})
        return _object({"labels": {"type": "array", "items": row}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def block(text: str, number: int | None, tag: str = "document") -> str:
    """The document between marks derived from its hash, so it cannot contain its own end mark."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    count = "" if number is None else f" {number}"
    return f"<{tag}{count} mark={mark}>\n{text}\n</{tag} mark={mark}>"


def cut(text: str, limit: int) -> tuple[str, int | None]:
    """The text as valid UTF-8 of at most `limit` characters, and its full length if it was longer."""
    if limit < 1:
        raise UsageError(f"text_limit must be at least 1, got {limit}")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return (text, None) if len(text) <= limit else (text[:limit], len(text))


def tokens_of(text: str) -> int:
    """A conservative estimate of the tokens of a text, at three bytes each."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return size // 3 + 1
