"""Published prompts, sent byte for byte: only placeholders are filled, and their own rule reads replies."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from goodgain.errors import InputError, UsageError
from goodgain.io.whole import read_document
from goodgain.labels.judges.replies import Verdict, loads
from goodgain.labels.scale import Scale
from goodgain.labels.template import FIELDS, Prompt, tokens_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from goodgain.labels.examples import Example

_NAMES = {
    "question": "question", "query": "question", "document": "document", "passage": "document",
    "doc": "document", "segment": "document", "text": "document", "narrative": "narrative",
    "answer": "answer", "examples": "examples",
}  # fmt: skip
_NAME = "|".join(_NAMES)
_PLACEHOLDER = re.compile(rf"(\{{\{{\s*(?:{_NAME})\s*\}}\}}|\{{(?:{_NAME})\}})")
_SYSTEM = re.compile(r"--- system\r?\n(.*?)--- user\r?\n(.*)", re.DOTALL)
_PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_EXCERPT = 40  # characters of a reply in a message


@dataclass(frozen=True)
class RawPrompt(Prompt):
    """A prompt as somebody published it.

    `reply` says where the reply has the gain: a regular expression whose group is the number, or a JSON
    path such as `$.O`. All places that match must agree; a reply with two different numbers is invalid.
    """

    has_own_rule: ClassVar[bool] = True
    reply: str = ""

    @classmethod
    def read_file(
        cls, path: str | os.PathLike[str], *, scale: str | tuple[float, float] | Scale, reply: str
    ) -> RawPrompt:
        """The prompt of a file, with its scale ("0..3") and the rule that reads a reply."""
        text = read_document(path, exact=True)
        ends = Scale.of(scale)
        if ends is None or ends.low != int(ends.low) or ends.high != int(ends.high):
            raise UsageError(
                f"the scale of a prompt must have whole ends, got '{scale}'",
                hint="for example 0..3",
            )
        parted = _SYSTEM.fullmatch(text)
        system, user = (parted[1], parted[2]) if parted else ("", text)
        prompt = cls(
            name=Path(path).stem,
            low=int(ends.low),
            high=int(ends.high),
            system=system,
            user=user,
            reply=reply,
        )
        for field in ("question", "document"):
            if field not in prompt.fields:
                names = ", ".join(f"{{{name}}}" for name, role in _NAMES.items() if role == field)
                raise InputError(
                    f"the prompt has no place for the {field}",
                    where=str(path),
                    hint=f"one of: {names}",
                )
        prompt.check_rule()
        return prompt

    def check_rule(self) -> None:
        """Refuse a rule that can read nothing."""
        if not self.reply:
            raise UsageError(
                "a raw prompt needs a rule that reads the reply",
                hint="--reply 'final score: *([0-3])', or a JSON path such as --reply '$.O'",
            )
        if not _is_path(self.reply):
            try:
                groups = re.compile(self.reply).groups
            except re.error as error:
                raise UsageError(f"invalid --reply '{self.reply}': {error}") from None
            if groups > 1:
                raise UsageError(
                    f"--reply '{self.reply}' has {groups} groups",
                    hint="the group is the number; write the others as (?:...)",
                )
        elif _steps(self.reply) is None:
            raise UsageError(
                f"invalid JSON path '{self.reply}'", hint="for example $.O or $.scores[0].value"
            )

    @property
    def takes_several(self) -> bool:
        """A published prompt shows one document."""
        return False

    @cached_property
    def version(self) -> str:
        """Its name and a hash of its text, scale and rule."""
        text = "\0".join((self.system, self.user, f"{self.low}-{self.high}", self.reply, "raw"))
        return f"{self.name}@{self._hash(text)}"

    def with_examples(self, examples: Sequence[Example], shots: int) -> Self:
        """A published prompt shows examples only where it has a place for them."""
        if "examples" not in self.fields:
            raise UsageError(f"prompt '{self.name}' has no place for examples", hint="{examples}")
        return super().with_examples(examples, shots)

    def to_dict(self) -> dict[str, Any]:
        """All of its text and its rule."""
        return {**super().to_dict(), "raw": True, "reply": self.reply}

    @cached_property
    def fields(self) -> frozenset[str]:
        """What the user message shows."""
        return frozenset(_role(piece) for piece in self._pieces[1::2])

    def system_message(self, count: int) -> str:
        """The text before `--- user`, or nothing; no rubric or form of reply is added."""
        return self.system

    def user_message(
        self, question: str, documents: Sequence[str], narrative: str = "", answer: str = ""
    ) -> str:
        """The published text with its placeholders filled; the document stands as it is."""
        examples = self.examples_text(question) if self.shots else ""
        listed = (question, documents[0], narrative, answer, examples)
        values = dict(zip(FIELDS, listed, strict=True))
        pieces = self._pieces
        return "".join([values[_role(p)] if i % 2 else p for i, p in enumerate(pieces)])

    @cached_property
    def _pieces(self) -> list[str]:
        return _PLACEHOLDER.split(self.user)

    @cached_property
    def _fixed_tokens(self) -> int:
        examples = "".join(e.question + e.text for e in self.examples)
        return tokens_of(self.system + self.user + examples)

    def schema(self, count: int) -> dict[str, Any] | None:
        """No schema: it would change what is asked for."""
        return None

    def read_reply(self, text: str) -> Verdict:
        """The gain by the rule; all places that match must agree."""
        values = list(_at_path(text, self.reply) if _is_path(self.reply) else self._matches(text))
        if not values:
            values = _returned(text)
        if not values:
            return Verdict(
                "invalid", None, f"nothing matches '{self.reply}' in {text!r:.{_EXCERPT}}"
            )
        gains = {_whole(value) for value in values}
        if len(gains) > 1:
            return Verdict("invalid", None, f"'{self.reply}' matches different numbers")
        (gain,) = gains
        if gain is None:
            return Verdict(
                "invalid", None, f"the gain {values[0]!r:.{_EXCERPT}} is not a whole number"
            )
        if not self.low <= gain <= self.high:
            return Verdict(
                "invalid", None, f"the gain {gain} is outside the scale {self.low}-{self.high}"
            )
        return Verdict("ok", gain)

    def _matches(self, text: str) -> Iterator[str]:
        for match in re.finditer(self.reply, text):
            value = match[match.re.groups]  # the only group, or all of it
            if value is not None:
                yield value


def _returned(text: str) -> list[Any]:
    """The gain of a judge that is a function: it returns a number rather than a text to be read."""
    try:
        data = loads(text)
    except ValueError:
        return []
    return [data["gain"]] if isinstance(data, dict) and data.keys() == {"gain"} else []


def _role(piece: str) -> str:
    return _NAMES[piece.strip("{} \t\r\n")]


def _is_path(rule: str) -> bool:
    return rule.startswith(("$.", "$["))


def _steps(path: str) -> list[str | int] | None:
    """The steps of a JSON path; None if it is not one."""
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _PATH_STEP.match(path, at)
        if not match:
            return None
        name, index, single, double = match.groups()
        names = [n for n in (name, single, double) if n is not None]
        steps.append(names[0] if names else int(index))
        at = match.end()
    return steps


def _at_path(text: str, path: str) -> Iterator[Any]:
    """The value at the path in each JSON value of a reply, which may stand in prose or fences."""
    steps = _steps(path) or []
    for data in _json_values(text):
        value = data
        try:
            for step in steps:
                value = value[step]
        except (KeyError, IndexError, TypeError):
            continue
        yield value


def _json_values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at = 0
    while (match := re.compile(r"[\[{]").search(text, at)) is not None:
        try:
            data, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.start() + 1
            continue
        yield data


def _whole(value: Any) -> int | None:
    """A whole number, also as 2.0 or "2"; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number == number and abs(number) < 1e9 and number == int(number) else None
