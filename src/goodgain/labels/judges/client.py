"""What the judges over HTTP share: the key, the call, and which failure means what.

Retries are not left to the clients: the runner makes them, so that one Retry-After holds back all calls.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from goodgain.errors import MissingExtraError, UsageError
from goodgain.labels.judges.protocol import Fatal, Price, Reply, Request, Retry

if TYPE_CHECKING:
    from goodgain.labels.template import Prompt

_PASSING = (408, 409, 425, 429)
_HINTS = {
    401: "is the key in {key} right, and meant for this server?",
    403: "may the key in {key} use this model?",
    404: "are --model and --base-url right?",
}

# What machine calls, which no server needs to know, takes the clients a seventh of a call to say.
_UNSAID = tuple(
    f"X-Stainless-{name}"
    for name in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)
_USER = "\0"  # stands for the user's message, which no other message can be


class Frame(NamedTuple):
    """What is the same in every call: the body but for the user's message, and its JSON around that."""

    body: dict[str, Any]
    before: str
    after: str


class ClientJudge:
    """A judge behind an official client; its subclasses know one service each."""

    package = ""
    client_class = ""
    path = ""
    key_name = ""
    options: ClassVar[dict[str, Any]] = {}  # of each call, besides those of all services

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        price: Price | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 300,
        timeout: float = 60.0,
    ) -> None:
        if max_tokens < 1 or not timeout > 0:
            raise UsageError(f"max_tokens={max_tokens} and timeout={timeout} must be above 0")
        self.model = model
        self.base_url = base_url
        self.price = price
        self.max_tokens = max_tokens
        self.timeout = timeout
        self.parameters: dict[str, Any] = {"max_tokens": max_tokens}
        if temperature is not None:
            self.parameters["temperature"] = temperature
        self._frames: dict[tuple[Prompt, int], Frame] = {}
        self._client: Any = None
        self._module: Any = None
        self._sent: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """All but what is open: another process opens its own."""
        return {**self.__dict__, "_frames": {}, "_client": None, "_module": None, "_sent": {}}

    def prepare(self) -> None:
        """Fail now, not on the first call, where the package or the key is missing."""
        try:
            self._module = import_module(self.package)
        except ImportError:
            raise MissingExtraError.for_package(
                self.package, "label", f"the model '{self.model}'"
            ) from None
        key = os.environ.get(self.key_name, "")
        if not key.isprintable():  # it would stand in the error of whoever finds out later
            raise UsageError(
                f"the key in {self.key_name} has a line break or another invisible character in it",
                hint=f"export {self.key_name}=... without it",
            )
        if not key and self.base_url is None:
            raise UsageError(
                f"there is no key for the model '{self.model}'",
                hint=f"export {self.key_name}=..., or give base_url (--base-url) of a server of your own",
            )

    async def __call__(self, request: Request) -> Reply:
        """One call, without retries."""
        client = self._opened()
        module = self._module
        frame = self._frame(request.prompt, len(request.documents))
        user = _dumps(request.prompt.user_message(request.question, request.documents))
        try:
            response = await client.post(
                content=f"{frame.before}{user}{frame.after}".encode(), **self._sent
            )
        except module.APIConnectionError as error:  # or none in time
            cause = error.__cause__ or error
            raise Retry(self._clean(f"no connection: {type(cause).__name__}: {cause}")) from None
        except module.APIStatusError as error:
            return self._failed(error.status_code, error.response, frame.body)
        try:
            return self._read(json.loads(response.content))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            text = self._clean(response.text)
            return Reply(
                text, "invalid", detail="the server's reply has not the form of its interface"
            )

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _opened(self) -> Any:
        if self._client is None:
            if self._module is None:
                self.prepare()
            given: dict[str, Any] = {} if self.base_url is None else {"base_url": self.base_url}
            if find_spec("httptools"):
                direct = import_module("goodgain.labels.judges.direct")
                given["http_client"] = direct.DirectClient(self.timeout)
            self._client = getattr(self._module, self.client_class)(
                api_key=os.environ.get(self.key_name) or "none",
                max_retries=0,
                timeout=self.timeout,
                default_headers=dict.fromkeys(_UNSAID, self._module.Omit()),
                **given,
            )
            # The URL whole and the options given, or each call would put them together anew.
            self._sent = {
                "path": str(self._client.base_url).rstrip("/") + self.path,
                "cast_to": import_module("httpx2").Response,
                "options": {"headers": {}, "max_retries": 0, "timeout": self.timeout}
                | self.options,
            }
        return self._client

    def _frame(self, prompt: Prompt, count: int) -> Frame:
        frame = self._frames.get((prompt, count))
        if frame is None:
            body = self._body(prompt, count, prompt.system_message(count), _USER)
            before, after = _dumps(body).split(_dumps(_USER))
            frame = self._frames[prompt, count] = Frame(body, before, after)
        return frame

    def _body(self, prompt: Prompt, count: int, system: str, user: str) -> dict[str, Any]:
        raise NotImplementedError

    def _read(self, data: Any) -> Reply:
        raise NotImplementedError

    def _without(self, text: str, body: dict[str, Any]) -> bool:
        """Whether the next call can do without what this server just refused in `body`."""
        return False

    def _failed(self, status: int, response: Any, body: dict[str, Any]) -> Reply:
        text = self._clean(response.text)
        said = f"status {status}: {_message(text)}"
        if "insufficient_quota" in text or ("billing" in text and status in (402, 429)):
            raise Fatal(said, "the account has no money left")
        if status in _PASSING or status >= 500:
            raise Retry(said, _after(response.headers))
        if status in _HINTS:
            raise Fatal(said, _HINTS[status].format(key=self.key_name))
        if "content_filter" in text or "content_policy" in text:
            return Reply(text, "filtered", detail=said)
        if self._without(text, body):
            self._frames.clear()
            raise Retry(said, 0.0)
        return Reply(text, "error", detail=said)

    def _clean(self, text: str) -> str:
        """Text without the key, whoever put it there."""
        key = os.environ.get(self.key_name)
        return text.replace(key, "[key]") if key else text


def _dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _message(text: str) -> str:
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = text
    return " ".join(str(message).split())[:300]


def _after(headers: Any) -> float | None:
    """What Retry-After asks for, in seconds: a number, or a date."""
    from email.utils import parsedate_to_datetime
    from time import time

    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time()
            except ValueError:
                continue
        if seconds == seconds:
            return min(max(seconds, 0.0), 600.0)
    return None
