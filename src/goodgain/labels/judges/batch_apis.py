"""The batch APIs of OpenAI and Anthropic: many calls at once, done within a day, at a lower price."""

from __future__ import annotations

import json
import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from goodgain.errors import JudgeError, UsageError
from goodgain.labels.judges.anthropic import AnthropicJudge
from goodgain.labels.judges.openai import OpenAIJudge
from goodgain.labels.judges.replies import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.labels.judges.client import ClientJudge

_READ_RETRIES = 5


class UnknownOutcomeError(Exception):
    """The request to create a batch failed in a way that leaves open whether the server took it."""


class RemoteState(NamedTuple):
    """Where a batch stands at the provider."""

    ended: bool
    failure: str = ""  # why it was never run


class Result(NamedTuple):
    """What one call of a batch returned."""

    custom_id: str
    status: int  # of HTTP; 0 if the call was never made
    text: str  # the body of the reply or, for 0, the reason


class BatchApi(Protocol):
    """What the two services have in common."""

    max_calls: int
    max_bytes: int

    def create(self, name: str, requests: list[tuple[str, dict[str, Any]]]) -> str:
        """Submit a batch and return its id there."""

    def find(self, name: str, calls: int, known: set[str]) -> tuple[str | None, bool]:
        """The id of a batch that may have been submitted, and whether that is decided."""

    def state(self, remote: str) -> RemoteState:
        """Where it stands."""

    def results(self, remote: str) -> Iterator[Result]:
        """What its calls returned, in any order."""

    def close(self) -> None:
        """Close its connections."""


def batch_api(judge: Any) -> BatchApi:
    """The batch API of a judge."""
    if isinstance(judge, OpenAIJudge):
        return _OpenAI(judge)
    if isinstance(judge, AnthropicJudge):
        return _Anthropic(judge)
    raise UsageError(
        "batch APIs exist for the built-in judges only",
        hint="use a model of OpenAI, of Anthropic, or of a server that has their batch API",
    )


class _Api:
    """The official client, without retries where a request must not be made twice."""

    client_class = ""

    def __init__(self, judge: ClientJudge) -> None:
        judge.prepare()
        self.judge = judge
        self.module = judge._module
        options: dict[str, Any] = {} if judge.base_url is None else {"base_url": judge.base_url}
        self.client = getattr(self.module, self.client_class)(
            api_key=os.environ.get(judge.key_name) or "none",
            timeout=judge.timeout,
            max_retries=_READ_RETRIES,
            default_headers=judge.headers,
            **options,
        )

    def close(self) -> None:
        """Close its connections."""
        self.client.close()

    def _once(self, action: Callable[[Any], Any]) -> Any:
        """Run a request that creates something; a lost reply leaves open whether it did."""
        try:
            return action(self.client.with_options(max_retries=0))
        except self.module.APIConnectionError as error:
            raise UnknownOutcomeError(self.judge._redact(str(error))) from None
        except self.module.APIStatusError as error:
            detail = self.judge._redact(f"status {error.status_code}: {error.message}")
            if error.status_code >= 500 or error.status_code in (408, 409, 429):
                raise UnknownOutcomeError(detail) from None
            raise JudgeError(f"the batch was refused: {detail}") from None

    def _read(self, action: Callable[[], Any]) -> Any:
        """Run a request that only reads; the client retries it."""
        try:
            return action()
        except self.module.APIError as error:
            raise JudgeError(
                self.judge._redact(f"cannot reach the batch API: {error}"),
                hint="run the same command again; what was submitted is not submitted again",
            ) from None


class _OpenAI(_Api):
    """Batch: a file of requests, a batch of that file, a file of results and one of errors."""

    client_class = "OpenAI"
    max_calls = 50_000
    max_bytes = 150_000_000

    def create(self, name: str, requests: list[tuple[str, dict[str, Any]]]) -> str:
        """Upload the requests, then create the batch, which carries its name."""
        path = "/v1" + self.judge.path
        lines = [
            json.dumps(
                {"custom_id": key, "method": "POST", "url": path, "body": body}, ensure_ascii=False
            )
            for key, body in requests
        ]
        data = "\n".join(lines).encode()
        file = self._once(
            lambda client: client.files.create(file=(f"{name}.jsonl", data), purpose="batch")
        )
        batch = self._once(
            lambda client: client.batches.create(
                input_file_id=file.id,
                endpoint=path,
                completion_window="24h",
                metadata={"goodgain": name},
            )
        )
        return str(batch.id)

    def find(self, name: str, calls: int, known: set[str]) -> tuple[str | None, bool]:
        """By the name in its metadata."""
        for batch in self._read(lambda: list(self.client.batches.list(limit=100))):
            if (batch.metadata or {}).get("goodgain") == name:
                return str(batch.id), True
        return None, True

    def state(self, remote: str) -> RemoteState:
        """Cancelled and expired batches have the results of the calls that were made."""
        batch = self._read(lambda: self.client.batches.retrieve(remote))
        if batch.status == "failed":
            errors = [e.message for e in (batch.errors.data or [])] if batch.errors else []
            return RemoteState(True, self.judge._redact("; ".join(map(str, errors)) or "failed"))
        return RemoteState(batch.status in ("completed", "expired", "cancelled"))

    def results(self, remote: str) -> Iterator[Result]:
        """The lines of both files."""
        batch = self._read(lambda: self.client.batches.retrieve(remote))
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                content = self._read(partial(self.client.files.content, file)).content
                yield from _lines(content.decode("utf-8", "replace"), _openai_result)


def _openai_result(line: dict[str, Any]) -> Result:
    response, error = line.get("response"), line.get("error")
    if isinstance(response, dict) and "body" in response:
        status = response.get("status_code")
        text = json.dumps(response["body"])
        return Result(str(line["custom_id"]), status if type(status) is int else 200, text)
    return Result(str(line["custom_id"]), 0, _reason(error))


class _Anthropic(_Api):
    """Message Batches: one request with all calls, and a stream of results."""

    client_class = "Anthropic"
    max_calls = 100_000
    max_bytes = 200_000_000

    def create(self, name: str, requests: list[tuple[str, dict[str, Any]]]) -> str:
        """The name is the beginning of every call's id."""
        calls = [{"custom_id": key, "params": body} for key, body in requests]
        batch = self._once(lambda client: client.messages.batches.create(requests=calls))
        return str(batch.id)

    def find(self, name: str, calls: int, known: set[str]) -> tuple[str | None, bool]:
        """By the ids in its results; a batch that still runs may be it, which is then undecided."""
        decided = True
        for batch in self._read(lambda: list(self.client.messages.batches.list(limit=100))):
            counts = batch.request_counts
            total = sum(
                int(getattr(counts, n) or 0)
                for n in ("processing", "succeeded", "errored", "canceled", "expired")
            )
            if batch.id in known or total != calls:
                continue
            if batch.processing_status != "ended":
                decided = False
                continue
            first = next(self.results(batch.id), None)
            if first is not None and first.custom_id.startswith(f"{name}-"):
                return str(batch.id), True
        return None, decided

    def state(self, remote: str) -> RemoteState:
        """Ended means that every call has a result, also if it failed or expired."""
        batch = self._read(lambda: self.client.messages.batches.retrieve(remote))
        return RemoteState(batch.processing_status == "ended")

    def results(self, remote: str) -> Iterator[Result]:
        """The lines of its results."""
        path = f"/v1/messages/batches/{remote}/results"
        kind = import_module("httpx2").Response
        response = self._read(lambda: self.client.get(path, cast_to=kind))
        yield from _lines(response.content.decode("utf-8", "replace"), _anthropic_result)


def _anthropic_result(line: dict[str, Any]) -> Result:
    result = line["result"]
    key = str(line["custom_id"])
    match result["type"]:
        case "succeeded":
            return Result(key, 200, json.dumps(result["message"]))
        case "errored":
            return Result(key, 400, json.dumps(result.get("error")))
        case kind:
            return Result(key, 0, f"the call has {kind}")


def _lines(text: str, read: Callable[[dict[str, Any]], Result]) -> Iterator[Result]:
    """The results in JSON lines; a line that cannot be read leaves its call without a result."""
    for line in text.splitlines():
        try:
            data = loads(line)
            if isinstance(data, dict):
                yield read(data)
        except (ValueError, KeyError, TypeError):
            continue


def _reason(error: Any) -> str:
    if isinstance(error, dict):
        return f"{error.get('code', 'error')}: {error.get('message', '')}"[:300]
    return str(error or "the call was not made")[:300]
