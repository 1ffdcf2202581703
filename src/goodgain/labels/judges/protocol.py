"""The interface of judges: requests, replies, and what a judge may return or raise."""

from __future__ import annotations

import json
import math
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
MAX_TOKENS = 2**53  # of one reply; a larger number is no count


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
        return self.prompt.user_message(self.question, self.documents, self.narrative, self.answer)

    def tokens(self) -> int:
        """A conservative estimate of the tokens of the messages."""
        question = "".join((self.question, self.narrative, self.answer))
        return self.prompt.tokens(question, self.documents)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge returned: the raw text, how it ended, and the tokens it took.

    `status` is `ok` if the reply ended normally; whether its text contains a gain is checked later.
    Tokens are None if the server did not report them; the runner then estimates them.
    """

    text: str
    status: Status = "ok"
    tokens_in: int | None = None
    tokens_out: int | None = None
    detail: str = ""
    estimated: bool = False  # whether tokens are the runner's estimate


class Retry(Exception):  # noqa: N818 - says what to do, not what went wrong
    """The call failed and may succeed later: `after` so many seconds, if the server said when.

    `paid` says that the server may have answered, and charged for it, though the reply was lost.
    """

    def __init__(self, detail: str, after: float | None = None, *, paid: bool = False) -> None:
        super().__init__(detail)
        self.after = after
        self.paid = paid


class Fatal(Exception):  # noqa: N818
    """The call failed for a reason that affects every other call too, such as a wrong key.

    With `unless_others_succeed` it ends the run only if no call has succeeded: afterwards it concerns this
    document alone, as when a firewall rejects its text.
    """

    def __init__(self, detail: str, hint: str = "", *, unless_others_succeed: bool = False) -> None:
        super().__init__(detail)
        self.hint = hint
        self.unless_others_succeed = unless_others_succeed


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


Answer = Reply | int | float | str | Mapping[str, Any] | None


class Judge(Protocol):
    """Anything that can be called with a request: a function, async or not, or an object.

    It returns a gain (a whole number of any type, or text as a model would write it), a `Reply`, or
    None if it cannot decide. It may have a `model` (the name under which its labels are stored),
    `parameters` (other settings that affect its replies), a `price`, `max_tokens` and a `timeout`.

    >>> import goodgain as gg
    >>> def judge(request):
    ...     return 4 if "hash" in request.document else 0
    ...
    >>> pairs = [("q1", "d1", "How does dict find a key?", "It takes the hash of the key.")]
    >>> gg.label(pairs, judge).to_dict()
    {'q1': {'d1': 4.0}}
    """

    def __call__(self, request: Request, /) -> Answer | Awaitable[Answer]:
        """Judge the document."""


def reply_of(answer: Any) -> Reply:
    """What a judge returned, as a reply; docs/labels.md states the rules."""
    if isinstance(answer, Reply):
        return _storable(answer)
    if answer is None:
        return Reply("", "refused", 0, 0, detail="the judge gave no gain")
    if isinstance(answer, str):
        return Reply(answer, tokens_in=0, tokens_out=0)
    try:
        structured = isinstance(answer, Mapping | list | tuple)
        text = json.dumps(answer if structured else {"gain": _plain(answer)}, default=_plain)
    except Exception as error:  # of a type from elsewhere, or nested in itself
        detail = f"the judge returned a {type(answer).__name__}, which is not a gain: {error}"
        return Reply("", "invalid", 0, 0, detail=detail[:300])
    return Reply(text, tokens_in=0, tokens_out=0)


def _storable(reply: Reply) -> Reply:
    """A reply of a judge from elsewhere, in which nothing can keep it and others from being stored."""
    text, detail = (value if isinstance(value, str) else "" for value in (reply.text, reply.detail))
    status: Status = reply.status
    if status not in STATUSES or text is not reply.text:
        what = f"status {status!r:.40}" if text is reply.text else f"text {reply.text!r:.40}"
        status, detail = "invalid", f"the judge returned a Reply with {what}"
    tokens = [
        int(count) if isinstance(count, int | float) and 0 <= count < MAX_TOKENS else None
        for count in (reply.tokens_in, reply.tokens_out)
    ]
    return Reply(text, status, tokens[0], tokens[1], detail, bool(reply.estimated))


def _plain(value: Any) -> Any:
    """A number of any type (numpy, torch, Decimal, Enum) as one of Python's."""
    if isinstance(value, bool | int):
        return value
    for name in ("item", "value"):  # of arrays and tensors; of members of an Enum
        inner = getattr(value, name, None)
        if inner is not None:
            return _plain(inner() if callable(inner) else inner)
    number = float(value)
    return int(number) if math.isfinite(number) and number == int(number) == value else number
