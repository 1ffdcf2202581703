"""What the built-in judges share: the key, the call, and how failures are classified.

The runner retries, not the clients, so that one Retry-After delays all calls.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from goodgain.errors import MissingExtraError, UsageError
from goodgain.labels.judges.options import check_extra_body, option_parameters, secret_values
from goodgain.labels.judges.protocol import Fatal, Price, Reply, Request, Retry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.labels.template import Prompt

_TRANSIENT = (408, 409, 425, 429)
_HINTS = {
    401: "check that the key in {key} is valid for this server",
    403: "check that the key in {key} may use this model",
    404: "check --model and --base-url",
}

# The clients spend a seventh of a call on these headers about the machine, which no server needs.
_OMITTED_HEADERS = tuple(
    f"X-Stainless-{name}"
    for name in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)
_USER = "\0"  # placeholder for the user message; no real message equals it


class Frame(NamedTuple):
    """The body with a placeholder for the user message, and its JSON before and after that."""

    body: dict[str, Any]
    before: str
    after: str


class ClientJudge:
    """A judge behind an official API client; each subclass supports one service."""

    package = ""
    client_class = ""
    path = ""
    key_name = ""
    options: ClassVar[dict[str, Any]] = {}  # of each call, in addition to those of all services

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        price: Price | None = None,
        temperature: float | None = 0.0,
        max_tokens: int = 300,
        timeout: float = 60.0,
        seed: int | None = None,
        reasoning_effort: str | None = None,
        extra_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if max_tokens < 1 or not timeout > 0:
            raise UsageError(
                f"max_tokens and timeout must be positive, got {max_tokens} and {timeout}"
            )
        self.model = model
        self.base_url = base_url
        self.price = price
        self.max_tokens = max_tokens
        self.timeout = timeout
        self.parameters: dict[str, Any] = {"max_tokens": max_tokens}
        if temperature is not None:
            self.parameters["temperature"] = temperature
        self.extra_body = dict(extra_body or {})
        self.headers = dict(headers or {})
        self.parameters |= option_parameters(seed, reasoning_effort, self.extra_body, self.headers)
        self._check_options()
        self._frames: dict[tuple[Prompt, int], Frame] = {}
        self._client: Any = None
        self._module: Any = None
        self._call_options: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out clients and modules: another process opens its own."""
        return {
            **self.__dict__,
            "_frames": {},
            "_client": None,
            "_module": None,
            "_call_options": {},
        }

    def prepare(self) -> None:
        """Fail now rather than on the first call if the package or the key is missing."""
        try:
            self._module = import_module(self.package)
        except ImportError:
            raise MissingExtraError.for_package(
                self.package, "label", f"the model '{self.model}'"
            ) from None
        key = os.environ.get(self.key_name, "")
        if not key.isprintable():  # a later error would contain the key
            raise UsageError(
                f"the key in {self.key_name} contains a line break or another invisible character",
                hint=f"export {self.key_name}=... without it",
            )
        if not key and self.base_url is None:
            raise UsageError(
                f"no API key for model '{self.model}'",
                hint=f"export {self.key_name}=..., or pass base_url= (--base-url) for your own server",
            )

    async def __call__(self, request: Request) -> Reply:
        """Make one call, without retries."""
        client = self._open_client()
        module = self._module
        frame = self._frame(request.prompt, len(request.documents))
        user = _dumps(request.user_message())
        try:
            response = await client.post(
                content=f"{frame.before}{user}{frame.after}".encode(), **self._call_options
            )
        except module.APIConnectionError as error:  # timeouts included
            cause = error.__cause__ or error
            raise Retry(self._redact(f"no connection: {type(cause).__name__}: {cause}")) from None
        except module.APIStatusError as error:
            return self._handle_failure(error.status_code, error.response, frame.body)
        try:
            return self._read(json.loads(response.content))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            text = self._redact(response.text)
            return Reply(text, "invalid", detail="the server's reply does not follow its API")

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open_client(self) -> Any:
        if self._client is None:
            if self._module is None:
                self.prepare()
            options: dict[str, Any] = {} if self.base_url is None else {"base_url": self.base_url}
            if find_spec("httptools"):
                http_client = import_module("goodgain.labels.judges.http_client")
                options["http_client"] = http_client.LeanClient(self.timeout)
            self._client = getattr(self._module, self.client_class)(
                api_key=os.environ.get(self.key_name) or "none",
                max_retries=0,
                timeout=self.timeout,
                default_headers=dict.fromkeys(_OMITTED_HEADERS, self._module.Omit()) | self.headers,
                **options,
            )
            # The full URL and all options: otherwise each call would assemble them again.
            self._call_options = {
                "path": str(self._client.base_url).rstrip("/") + self.path,
                "cast_to": import_module("httpx2").Response,
                "options": {"headers": {}, "max_retries": 0, "timeout": self.timeout}
                | self.options,
            }
        return self._client

    def _frame(self, prompt: Prompt, count: int) -> Frame:
        frame = self._frames.get((prompt, count))
        if frame is None:
            body = self._body(prompt, count, prompt.system_message(count), _USER) | self.extra_body
            before, after = _dumps(body).split(_dumps(_USER))
            frame = self._frames[prompt, count] = Frame(body, before, after)
        return frame

    def _check_options(self) -> None:
        """Refuse options that the service does not have, or that would replace the prompt."""
        check_extra_body(self.extra_body)

    def _body(self, prompt: Prompt, count: int, system: str, user: str) -> dict[str, Any]:
        raise NotImplementedError

    def _read(self, data: Any) -> Reply:
        raise NotImplementedError

    def _drop_unsupported(self, text: str, body: dict[str, Any]) -> bool:
        """Stop sending an option of `body` that the server just rejected; whether there was one."""
        return False

    def _handle_failure(self, status: int, response: Any, body: dict[str, Any]) -> Reply:
        text = self._redact(response.text)
        detail = f"status {status}: {_message(text)}"
        if "insufficient_quota" in text or ("billing" in text and status in (402, 429)):
            raise Fatal(detail, "the account has no money left")
        if status in _TRANSIENT or status >= 500:
            raise Retry(detail, _retry_after(response.headers))
        if status in _HINTS:
            raise Fatal(detail, _HINTS[status].format(key=self.key_name))
        if "content_filter" in text or "content_policy" in text:
            return Reply(text, "filtered", detail=detail)
        if self._drop_unsupported(text, body):
            self._frames.clear()
            raise Retry(detail, 0.0)
        return Reply(text, "error", detail=detail)

    def _redact(self, text: str) -> str:
        """Replace the key, and the values of headers, wherever they occur in a text."""
        for secret in (os.environ.get(self.key_name), *secret_values(self.headers)):
            if secret:
                text = text.replace(secret, "[key]")
        return text


def _dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _message(text: str) -> str:
    try:
        message = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = text
    return " ".join(str(message).split())[:300]


def _retry_after(headers: Any) -> float | None:
    """The delay that Retry-After requests, in seconds; the header is a number or a date."""
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
