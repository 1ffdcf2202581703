"""The interface of judges: requests, replies, and how a reply is read as gains or failures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from goodgain.labels.template import Prompt

Status = Literal["ok", "refused", "filtered", "truncated", "invalid", "error", "no_text"]
STATUSES: tuple[Status, ...] = (
    "ok", "refused", "filtered", "truncated", "invalid", "error", "no_text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One call: a question and the documents to judge, usually one."""

    question: str
    documents: tuple[str, ...]
    prompt: Prompt
    replicate: int = 0
    narrative: str = ""  # what the query means, where the prompt shows it
    answer: str = ""  # the gold answer of the query, where the prompt shows it

    @property
    def document(self) -> str:
        """The only document, or the first."""
        return self.documents[0]

    def messages(self) -> tuple[str, str]:
        """The system message and the user message."""
        return self.prompt.system_message(len(self.documents)), self.user_message()

    def user_message(self) -> str:
        """The user message."""
        return self.prompt.user_message(
            self.question, self.documents, self.narrative, self.answer
        )

    def tokens(self) -> int:
        """A conservative estimate of the tokens of the messages."""
        asked = "".join((self.question, self.narrative, self.answer))
        return self.prompt.tokens(asked, self.documents)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge returned: the raw text, how it ended, and the tokens it took.

    `status` is `ok` if the reply ended normally; whether its text contains a gain is checked later.
    """

    text: str
    status: Status = "ok"
    tokens_in: int = 0
    tokens_out: int = 0
    detail: str = ""


class Retry(Exception):  # noqa: N818 - says what to do, not what went wrong
    """The call failed and may succeed later: `after` so many seconds, if the server said when."""

    def __init__(self, detail: str, after: float | None = None) -> None:
        super().__init__(detail)
        self.after = after


class Fatal(Exception):  # noqa: N818
    """The call failed for a reason that affects every other call too, such as a wrong key."""

    def __init__(self, detail: str, hint: str = "") -> None:
        super().__init__(detail)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million input tokens and of a million output tokens."""

    tokens_in: float
    tokens_out: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """Parse IN/OUT, for example 0.15/0.60."""
        try:
            prices = [float(price) for price in text.split("/")]
        except ValueError:
            prices = []
        if len(prices) != 2 or not all(0 <= p < float("inf") for p in prices):
            raise UsageError(
                f"invalid price '{text}'",
                hint="write IN/OUT, the prices of a million input and output tokens: 0.15/0.60",
            )
        return cls(*prices)

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """The cost of so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


Answer = Reply | int | None


class Judge(Protocol):
    """Anything that can be called with a request: a function, async or not, or an object.

    It returns a gain, a `Reply`, or None if it cannot decide. It may have a `model` (the name under
    which its labels are stored), `parameters` (other settings that affect its replies), a `price`,
    `max_tokens` and a `timeout`.
    """

    def __call__(self, request: Request, /) -> Answer | Awaitable[Answer]:
        """Judge the document."""


def model_of(judge: Any) -> str:
    """The name under which its labels are stored: its `model`, or its qualified name."""
    model = getattr(judge, "model", None)
    if model:
        return str(model)
    kind = judge if hasattr(judge, "__qualname__") else type(judge)
    return f"{kind.__module__}.{kind.__qualname__}"


def parameters_of(judge: Any) -> dict[str, Any]:
    """The settings besides prompt and model that affect its replies."""
    parameters = getattr(judge, "parameters", None)
    return dict(parameters) if isinstance(parameters, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply says about one document: a gain, or why there is none."""

    status: Status
    gain: int | None = None
    detail: str = ""


_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL | re.IGNORECASE)


def read_verdicts(reply: Reply, request: Request) -> list[Verdict]:
    """Read one verdict per document; a failure is never a gain."""
    count = len(request.documents)
    if reply.status != "ok":
        return [Verdict(reply.status, None, reply.detail)] * count
    prompt = request.prompt
    own = prompt.read_reply(reply.text)
    if own is not None:
        return [own] * count
    text = reply.text.strip()
    fenced = _FENCE.fullmatch(text)
    try:
        data = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return [
            Verdict("invalid", None, "the reply is not JSON" if text else "empty reply")
        ] * count
    if not isinstance(data, dict):
        return [Verdict("invalid", None, "the reply is not a JSON object")] * count
    if count == 1:
        return [_verdict(data, prompt)]
    return _batch_verdicts(data.get("labels"), count, prompt)


def _batch_verdicts(rows: Any, count: int, prompt: Prompt) -> list[Verdict]:
    by_number: dict[int, Verdict] = {}
    for row in rows if isinstance(rows, list) else []:
        number = row.get("document") if isinstance(row, dict) else None
        if type(number) is not int or not 1 <= number <= count:
            continue
        duplicate = Verdict("invalid", None, "the reply lists the document twice")
        by_number[number] = duplicate if number in by_number else _verdict(row, prompt)
    missing = Verdict("invalid", None, "the reply omits the document")
    return [by_number.get(i, missing) for i in range(1, count + 1)]


def _verdict(data: dict[str, Any], prompt: Prompt) -> Verdict:
    if "gain" not in data:
        return Verdict("invalid", None, "the reply has no 'gain'")
    gain = data["gain"]
    if type(gain) is not int:
        return Verdict("invalid", None, f"the gain {gain!r:.40} is not a whole number")
    if not prompt.low <= gain <= prompt.high:
        return Verdict(
            "invalid", None, f"the gain {gain} is outside the scale {prompt.low}-{prompt.high}"
        )
    return Verdict("ok", gain, str(data.get("reason") or ""))
