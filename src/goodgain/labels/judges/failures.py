"""What a server's error means: try again later, end the run, or a failure of this document alone.

Codes are those that the services document. Text is searched only where a service has no code for it: a
message may link to anything, so a 429 that mentions billing is a rate limit unless its code says that no
money is left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goodgain.labels.judges.protocol import Fatal, Reply, Retry
from goodgain.labels.judges.replies import loads

_LONGEST_WAIT = 600.0  # seconds, whatever Retry-After says
_TRANSIENT = (408, 409, 425, 429)
_HINTS = {
    401: "check that the key in {key} is valid for this server",
    403: "check that the key in {key} may use this model",
    404: "check --model and --base-url",
}
_NO_MONEY = frozenset({
    "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error",
    "insufficient_balance", "insufficient_credits", "insufficient_funds", "credit_balance_too_low",
    "exceeded_current_quota_error", "payment_required", "arrearage",
})  # fmt: skip
_NO_MONEY_TEXT = re.compile(
    r"credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds)", re.IGNORECASE
)
_MODERATION = re.compile(
    r"moderation|flagged|content[ _-]?(?:filter|policy|management|safety|violation)|responsible ?ai|"
    r"(?:prompt|input|output|request|response|content) (?:was |were |has been |is )?(?:blocked|rejected)|"
    r"(?:blocked|rejected) (?:by|due to|because of)[\w ]{0,30}(?:filter|polic|safety|guardrail)|"
    r"data_?inspection|content exists risk|prohibited[ _]content|safety (?:system|filter|settings|reasons)|"
    r"usage polic|guardrail|inappropriate content|sensitive (?:content|words)",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    r"(?:account|organi[sz]ation|project|api key|subscription|region|country)\b[^.]{0,60}"
    r"(?:suspend|deactivat|disabl|terminat|banned|blocked|restrict|not supported)",
    re.IGNORECASE,
)
_ERROR_FIELDS = ("errors", "detail", "message", "msg", "error_message", "error_msg")
# Names of errors, for those that come with status 200 or with none of their own.
_STATUS_BY_NAME = {
    "authentication_error": 401, "invalid_api_key": 401, "unauthorized": 401, "unauthenticated": 401,
    "permission_error": 403, "permission_denied": 403, "forbidden": 403,
    "not_found_error": 404, "model_not_found": 404, "not_found": 404,
    "invalid_request_error": 400, "invalid_argument": 400, "bad_request": 400,
    "context_length_exceeded": 400, "request_too_large": 413,
    "rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429,
    "overloaded_error": 529,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error that a server reported."""

    status: int
    names: frozenset[str]  # its codes and types, in lower case
    message: str
    text: str  # all of its reply

    @property
    def detail(self) -> str:
        """One line for people."""
        return f"status {self.status}: {self.message}"

    def is_moderation(self) -> bool:
        """Whether the server refused the content of this request."""
        said = " ".join((*self.names, self.message))
        if self.status not in (400, 403, 422) or _ACCOUNT.search(self.message):
            return self.status == 451
        is_page = self.text.lstrip().startswith("<")  # of a firewall, about anything
        return not is_page and bool(_MODERATION.search(said))

    def handle(self, headers: Any, key_name: str) -> Reply:
        """Raise `Fatal` or `Retry`, or return what this document's status is."""
        if self.status == 402 or self.names & _NO_MONEY:
            raise Fatal(self.detail, "the account has no credit left")
        if self.status in _TRANSIENT or self.status >= 500:
            raise Retry(self.detail, retry_after(headers))
        if self.is_moderation():
            return Reply(self.text, "filtered", 0, 0, detail=self.detail)
        if _NO_MONEY_TEXT.search(self.message):
            raise Fatal(self.detail, "the account has no credit left")
        if self.status in _HINTS:
            hint = _HINTS[self.status].format(key=key_name)
            raise Fatal(self.detail, hint, unless_others_succeed=self.status != 401)
        return Reply(self.text, "error", 0, 0, detail=self.detail)


def error_in(status: int, text: str, data: Any = None) -> ServerError:
    """The error in a reply of this HTTP status; `data` is the reply as JSON, if it was parsed already."""
    if data is None:
        try:
            data = loads(text)
        except ValueError:
            data = None
    data = _unwrapped(data)
    error = reported_error(data)
    if isinstance(error, list) and error:
        error = error[0]
    fields = error if isinstance(error, Mapping) else {}
    if not fields and isinstance(data, Mapping):
        fields = data
    names = frozenset(
        str(value).lower()
        for source in (fields, data if isinstance(data, Mapping) else {})
        for name in ("code", "type", "status", "reason", "error_code", "statusCode", "status_code")
        if isinstance(value := source.get(name), str | int) and not isinstance(value, bool)
    )
    message = next(
        (
            value
            for value in (fields.get("message"), error, fields.get("detail"), fields.get("msg"))
            if isinstance(value, str) and value
        ),
        text,
    )
    if status < 400:
        status = next(
            (int(name) for name in names if re.fullmatch(r"[45]\d\d", name)),
            next((_STATUS_BY_NAME[name] for name in names if name in _STATUS_BY_NAME), 500),
        )
    return ServerError(status, names, " ".join(message.split())[:300], text)


def reported_error(data: Any) -> Any:
    """The error that a body reports, whatever the status of the reply; None if it reports none."""
    data = _unwrapped(data)
    if not isinstance(data, Mapping):
        return None
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    for source in (data, first):
        if isinstance(source, Mapping) and source.get("error"):
            return source["error"]
    if choices or data.get("content"):
        return None
    if data.get("type") == "error" or data.get("object") == "error":
        return data
    # Gateways and frameworks have forms of their own; an answer has none of these.
    values = (data.get(name) for name in _ERROR_FIELDS)
    return next((value for value in values if value and isinstance(value, str | list)), None)


def _unwrapped(data: Any) -> Any:
    """The object in a list of one, as some services send their errors."""
    is_wrapped = isinstance(data, list) and len(data) == 1 and isinstance(data[0], Mapping)
    return data[0] if is_wrapped else data


def retry_after(headers: Any) -> float | None:
    """The delay that Retry-After requests, in seconds; the header is a number or a date."""
    from datetime import UTC
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
                moment = parsedate_to_datetime(value)
                seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - time()
            except (ValueError, TypeError, IndexError, OverflowError):
                continue
        if seconds == seconds:
            return min(max(seconds, 0.0), _LONGEST_WAIT)
    return None
