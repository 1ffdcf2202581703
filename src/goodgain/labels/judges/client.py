"""What the built-in judges share: the key, the call, and how failures are classified.

The runner retries, not the clients, so that one Retry-After delays all calls.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from goodgain.errors import MissingExtraError, UsageError
from goodgain.labels.judges.failures import error_in, reported_error
from goodgain.labels.judges.identity import plain_url
from goodgain.labels.judges.options import check_extra_body, option_parameters, secret_values
from goodgain.labels.judges.protocol import MAX_TOKENS, Fatal, Price, Reply, Request, Retry
from goodgain.labels.judges.replies import loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.labels.template import Prompt

# Failures before a request has left: the server cannot have charged for them.
_NOT_SENT = (
    "ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "LocalProtocolError",
    "UnsupportedProtocol", "InvalidURL",
)  # fmt: skip

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
    url_name = ""  # the variable from which the client takes the server's address
    default_url = ""
    input_tokens: ClassVar[tuple[str, ...]] = ()  # names in the usage of a reply
    output_tokens: ClassVar[tuple[str, ...]] = ()
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
        server = plain_url(base_url or os.environ.get(self.url_name) or self.default_url)
        if server != self.default_url:
            self.parameters["base_url"] = server
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
        if not key and "base_url" not in self.parameters:
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
            detail = self._redact(f"no connection: {type(cause).__name__}: {cause}")
            raise Retry(detail, paid=type(cause).__name__ not in _NOT_SENT) from None
        except module.APIStatusError as error:
            text = self._redact(_decoded(error.response))
            if error.status_code in (400, 422) and self._drop_unsupported(text, frame.body):
                self._frames.clear()
                return await self(request)
            failure = error_in(error.status_code, text)
            return failure.handle(error.response.headers, self.key_name)
        return self._answer(self._redact(_decoded(response)), response.headers)

    def _answer(self, text: str, headers: Any) -> Reply:
        """Read the body of a reply with a status of success, which may still report an error."""
        try:
            data = loads(text)
        except ValueError:
            if text.lstrip().startswith("<"):  # the page of a gateway, not of the model
                raise Retry(f"the reply is a web page: {text:.200}") from None
            return Reply(text, "invalid", detail="the server's reply is not JSON")
        if reported_error(data) is not None:
            return error_in(200, text, data).handle(headers, self.key_name)
        tokens_in, tokens_out = self._usage(data)
        try:
            reply = self._read(data)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            detail = "the server's reply does not follow its API"
            reply = Reply(text, "invalid", detail=detail)
        return replace(reply, tokens_in=tokens_in, tokens_out=tokens_out)

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a call, for APIs that take many at once."""
        frame = self._frame(request.prompt, len(request.documents))
        user = _dumps(request.user_message())
        body: dict[str, Any] = json.loads(f"{frame.before}{user}{frame.after}")
        return body

    def read_result(self, text: str, status: int = 200) -> Reply:
        """What a call of a batch returned; a failure that might pass later is an error here."""
        text = self._redact(text)
        try:
            if status >= 400:
                return error_in(status, text).handle({}, self.key_name)
            return self._answer(text, {})
        except (Retry, Fatal) as error:
            return Reply("", "error", 0, 0, detail=str(error))

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

    def _usage(self, data: Any) -> tuple[int | None, int | None]:
        """The tokens that a reply reports; None for each that it does not."""
        usage = data.get("usage") if isinstance(data, dict) else None
        return count_of(usage, *self.input_tokens), count_of(usage, *self.output_tokens)

    def _drop_unsupported(self, text: str, body: dict[str, Any]) -> bool:
        """Stop sending an option of `body` that the server just rejected; whether there was one."""
        return False

    def _redact(self, text: str) -> str:
        """Replace the key, and the values of headers, wherever they occur in a text."""
        for secret in secret_values(os.environ.get(self.key_name), self.headers):
            text = text.replace(secret, "[key]")
        return text


def _dumps(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _decoded(response: Any) -> str:
    """The text of a body; a damaged character must not cost the label around it."""
    try:
        body: bytes = response.content
    except Exception as error:  # compressed, and damaged
        raise Retry(f"the reply cannot be decompressed: {error}", paid=True) from None
    return body.decode("utf-8-sig", "replace")


def text_of(content: Any) -> str:
    """The text of a message: a string, or its parts without those that are reasoning."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (
            part if isinstance(part, str) else part.get("text")
            for part in content
            if isinstance(part, str)
            or (isinstance(part, dict) and part.get("type", "text") in ("text", "output_text"))
        )
        return "".join(text for text in texts if isinstance(text, str))
    if content is None or isinstance(content, bool):
        return ""
    return json.dumps(content)  # some servers send the JSON of the reply itself


def count_of(usage: Any, *names: str) -> int | None:
    """The sum of token counts; None where the server reports none, or no number."""
    if not isinstance(usage, dict):
        return None
    counts = [usage[name] for name in names if usage.get(name) is not None]
    if not counts or any(type(n) not in (int, float) or not 0 <= n < MAX_TOKENS for n in counts):
        return None
    return int(sum(counts))
