"""How a reply is read as gains or failures; docs/labels.md states the rules.

A reply is text of unknown origin: nothing in it may raise, and what is ambiguous is a failure, never a gain.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodgain.labels.judges.protocol import Reply, Request, Status
    from goodgain.labels.template import Prompt

_MAX_DIGITS = 300  # of an integer; int() refuses more than 4,300
_MAX_OBJECTS = 200  # places in a reply at which a JSON object is looked for
_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad"
_OPEN = re.compile(rf"<(?:{_TAGS})\b[^<>]*>|\[THINK\]|◁think▷", re.IGNORECASE)
_CLOSE = re.compile(rf"</(?:{_TAGS})\s*>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*json\s*)?<\|message\|>")
_FENCE = re.compile(r"(?:```|~~~)[\w-]*[^\S\n]*\n(.*)\n\s*(?:```|~~~)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d{1,18}(?:\.0*)?")
_STATED = re.compile(
    r"(?<![\w-])(?:gain|label|grade|score|rating)s?[*_`)\]]*\s*(?::|=|\bis\b|->|→)[\s*_`\"'(\[]*"
    r"(?P<number>[+-]?\d++(?:\.\d++)?+)"  # possessive: 0.85 is not 0 and the end of a sentence
    r"(?P<rest>[*_`\"')\]]*+(?:\s*(?:/|or|to|and|-|–|—|,|;|out of)\s*[+-]?\d++(?:\.\d++)?+)?+)"
    r"(?=\s*(?:[.,;!)\n](?!\d)|[-–—]\s|\(|$))",  # the sentence ends, or a remark follows
    re.IGNORECASE,
)
_OF = re.compile(r"\W*(?:/|out of)\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply says about one document: a gain, or why there is none."""

    status: Status
    gain: int | None = None
    detail: str = ""


class _Twice:
    """The value of a name that a JSON object has twice, with different values."""

    def __repr__(self) -> str:
        return "two values"


_TWICE = _Twice()


def read_verdicts(reply: Reply, request: Request) -> list[Verdict]:
    """Read one verdict per document; a failure is never a gain."""
    count = len(request.documents)
    if reply.status not in ("ok", "truncated"):
        return [Verdict(reply.status, None, reply.detail)] * count
    if request.prompt.has_own_rule:
        return [_by_own_rule(reply, request.prompt)] * count
    data = parsed_whole(reply.text)
    if reply.status == "truncated":  # a complete object may be followed by endless white space
        verdicts = _verdicts(data, count, request.prompt) if isinstance(data, dict) else []
        if any(verdict.status == "ok" for verdict in verdicts):
            return verdicts
        return [Verdict("truncated", None, reply.detail)] * count
    if data is None:
        answer = without_reasoning(reply.text)
        if answer is None:
            return [Verdict("truncated", None, "the reply ends inside its reasoning")] * count
        if not answer.strip():
            return [Verdict("invalid", None, "empty reply")] * count
        data = parsed_whole(answer)
        if data is None:
            return _from_prose(answer, request)
    return _verdicts(data, count, request.prompt)


def _by_own_rule(reply: Reply, prompt: Prompt) -> Verdict:
    """What the prompt's own rule reads in the reply, without the model's reasoning."""
    answer = without_reasoning(reply.text)
    if reply.status == "truncated":
        return Verdict("truncated", None, reply.detail)
    if answer is None:
        return Verdict("truncated", None, "the reply ends inside its reasoning")
    return prompt.read_reply(answer)


def parsed_whole(text: str) -> Any:
    """The JSON that makes up all of a text, or all of its only fenced block; None if it is not JSON."""
    text = text.strip()
    if text.startswith(("`", "~")) and (fenced := _FENCE.fullmatch(text)):
        text = fenced[1].strip()
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def without_reasoning(text: str) -> str | None:
    """The text without the model's reasoning; None if it ends inside it."""
    final = [match.end() for match in _FINAL.finditer(text)]
    if final:
        return text[final[-1] :].partition("<|")[0]
    pieces = []
    at = 0
    while opened := _OPEN.search(text, at):
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            return None
        pieces.append(text[at : opened.start()])
        at = closed.end()
    pieces.append(text[at:])
    rest = "".join(pieces)
    stray = [match.end() for match in _CLOSE.finditer(rest)]  # the prompt may have opened it
    return rest[stray[-1] :] if stray else rest


def _from_prose(text: str, request: Request) -> list[Verdict]:
    """The verdicts of the only labels in a text; labels that the document itself contains are quotes."""
    count, prompt = len(request.documents), request.prompt
    sources = (request.question, *request.documents)
    candidates = [
        verdicts
        for data, source in _objects(text)
        if not any(source in quoted for quoted in sources)
        and (verdicts := _verdicts(data, count, prompt))
    ]
    if not candidates and count == 1:
        candidates = [[verdict] for verdict in _stated(text, sources, prompt)]
    if not candidates:
        return [Verdict("invalid", None, "the reply has no label that can be read")] * count
    gains = [[(verdict.status, verdict.gain) for verdict in each] for each in candidates]
    if any(each != gains[0] for each in gains):
        return [Verdict("invalid", None, "the reply has more than one label")] * count
    return candidates[0]


def _objects(text: str) -> Iterator[tuple[Any, str]]:
    """The outermost JSON objects in a text that may hold labels, with their source."""
    at = 0
    for _ in range(_MAX_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            data, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if any(name.lower() in ("gain", "labels") for name in data):
            yield data, text[at:end]
        at = end


def _stated(text: str, sources: Sequence[str], prompt: Prompt) -> Iterator[Verdict]:
    """A verdict for each sentence such as `gain: 3`, or for a text that is a number and nothing else."""
    bare = text.strip().strip("*_`\"'.").strip()
    if _INTEGER.fullmatch(bare):
        yield _verdict(bare, prompt)
        return
    for match in _STATED.finditer(text):
        if any(text[match.start() : match.end("number")] in quoted for quoted in sources):
            continue
        rest, scale = match["rest"], _OF.fullmatch(match["rest"])
        if any(map(str.isdigit, rest)) and not (scale and int(scale[1][:18]) == prompt.high):
            yield Verdict("invalid", None, f"the gain '{match[0]:.40}' is not one number")
        else:
            yield _verdict(match["number"], prompt)


def _verdicts(data: Any, count: int, prompt: Prompt) -> list[Verdict]:
    """The verdicts of parsed JSON."""
    if count > 1:
        rows = _value(data, "labels") if isinstance(data, dict) else data
        return _batch_verdicts(data if rows is None else rows, count, prompt)
    if isinstance(data, list) and len(data) == 1:
        data = data[0]
    if not isinstance(data, dict):
        return [_verdict(data, prompt)]
    gain = _value(data, "gain")
    if gain is not None:
        reason = _value(data, "reason")
        return [_verdict(gain, prompt, reason if isinstance(reason, str) else "")]
    rows = _value(data, "labels")
    if rows is not None:
        return _batch_verdicts(rows, count, prompt)
    return [Verdict("invalid", None, "the reply has no 'gain'")]


def _batch_verdicts(rows: Any, count: int, prompt: Prompt) -> list[Verdict]:
    """The verdict of each document by its number.

    A number that is not in the call, or twice in the reply, says that the reply counts differently: then no
    number in it can be trusted.
    """
    by_number: dict[int, Verdict] = {}
    for number, row in _numbered(rows):
        if number is None or not 1 <= number <= count or number in by_number:
            twice = number in by_number
            what = (
                "lists a document twice" if twice else "numbers a document that is not in the call"
            )
            return [Verdict("invalid", None, f"the reply {what}")] * count
        gain = _value(row, "gain") if isinstance(row, dict) else row
        reason = _value(row, "reason") if isinstance(row, dict) else ""
        by_number[number] = (
            Verdict("invalid", None, "the reply has no 'gain' for the document")
            if gain is None
            else _verdict(gain, prompt, reason if isinstance(reason, str) else "")
        )
    missing = Verdict("invalid", None, "the reply omits the document")
    return [by_number.get(i, missing) for i in range(1, count + 1)]


def _numbered(rows: Any) -> Iterator[tuple[int | None, Any]]:
    """The rows of a batch with their documents' numbers: a list of objects, or an object by number."""
    if isinstance(rows, dict):
        for name, row in rows.items():
            yield _whole(name), row
    elif isinstance(rows, list):
        for row in rows:
            yield (_whole(_value(row, "document")) if isinstance(row, dict) else None), row


def _value(data: dict[str, Any], name: str) -> Any:
    """A value by name, or by its name in other letters if there is only one of these."""
    if name in data:
        return data[name]
    values = [value for key, value in data.items() if key.lower() == name]
    return _TWICE if len(values) > 1 else values[0] if values else None


def _verdict(gain: Any, prompt: Prompt, reason: str = "") -> Verdict:
    """A gain on the scale: a whole number, also as 3.0 or "3"; a boolean only on a scale of 0 and 1."""
    number = _whole(gain)
    if isinstance(gain, bool) and (prompt.low, prompt.high) == (0, 1):
        number = int(gain)
    if number is None:
        return Verdict("invalid", None, f"the gain {_shortened(gain)} is not a whole number")
    if not prompt.low <= number <= prompt.high:
        return Verdict(
            "invalid", None,
            f"the gain {_shortened(number)} is outside the scale {prompt.low}-{prompt.high}",
        )  # fmt: skip
    return Verdict("ok", number, reason)


def _whole(value: Any) -> int | None:
    """A whole number as an int, also if it is a float or text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


def _shortened(value: Any) -> str:
    try:
        return f"{value!r:.40}"
    except (RecursionError, ValueError):  # nested too deeply, or too many digits
        return f"({type(value).__name__})"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, value in pairs:
        data[name] = value if name not in data or data[name] == value else _TWICE
    return data


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, strict=False)


def loads(text: str) -> Any:
    """Parse JSON in which any number may be huge; ValueError if it cannot be parsed."""
    try:
        return _DECODER.decode(text.strip())
    except RecursionError:
        raise ValueError("nested too deeply") from None
