"""Redaction: texts are dropped, hashed or rewritten before anything is written; ids and URLs stay.

Results are then read when they are captured, since only a result says what of it is text.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import UsageError
from goodgain.live.encoding import encode
from goodgain.traces.calls import CallRecord
from goodgain.traces.citations import text_citations
from goodgain.traces.envelopes import unwrap_arguments, unwrap_output
from goodgain.traces.opens import opened_documents
from goodgain.traces.results import Finding, find_results
from goodgain.traces.searching import EXCLUDED, Call, SearchRules
from goodgain.traces.values import query_of

if TYPE_CHECKING:
    from goodgain.traces.messages import Message, ToolCall, ToolOutput
    from goodgain.traces.spans import Span

Redactor = Literal["drop", "hash"] | Callable[[str, str], str | None]
_TEXTS = ("title", "snippet", "content", "quote")
_OTHERS = ("id", "type", "ids", "score", "gain", "aspects", "marker", "tool")
_SALT = os.urandom(16)


class Redaction:
    """Applies what the user wants done with texts; where that fails, the text is dropped."""

    def __init__(
        self, redact: Redactor, rules: SearchRules, report: Callable[[BaseException], None]
    ) -> None:
        if redact not in ("drop", "hash") and not callable(redact):
            raise UsageError(
                f"invalid redact={redact!r}", hint='"drop", "hash", or a function of (text, field)'
            )
        self._redact = redact
        self._rules = rules
        self._report = report

    def apply(self, span: Span) -> None:
        """Redact a span."""
        if span.is_call:
            self._apply_to_call(span)
        else:
            span.query = span.output = None
        span.error = self._text(span.error, "error") or "error" if span.error else None
        span.inputs = [m for m in map(self._message, span.inputs) if m.text or m.outputs]
        span.outputs = [self._message(m) for m in span.outputs]

    def _apply_to_call(self, span: Span) -> None:
        arguments = unwrap_arguments(_data(span.query))
        finding = self._finding(span)
        if span.said not in (EXCLUDED, "not a search"):
            kind = "retriever" if span.kind == "retriever" else span.said
            call = Call(
                tool=span.name, description=span.description, arguments=arguments, kind=kind
            )
            span.said = self._rules.classify(call, finding).account
        span.query = span.output = span.finding = None
        if span.said == "search":
            span.query = self._query(arguments)
            span.finding = self._redacted(finding)
        elif span.said == "open":
            record = CallRecord(tool=None, arguments=arguments, where="", place=(0, 0))
            record.finding = finding
            span.query = [self._result(d) for d in opened_documents(record)]

    def _finding(self, span: Span) -> Finding:
        if span.error:
            return Finding([], "failed", "error")
        if span.finding is not None:
            return span.finding
        if span.output is None:
            return Finding([], "unread", "no output is recorded")
        output, error = unwrap_output(_data(span.output))
        return Finding([], "failed", error) if error else find_results(output)

    def _redacted(self, finding: Finding) -> Finding | None:
        reason = finding.reason
        if finding.account == "failed":
            reason = self._text(reason, "error") or "error"
        results = [self._result(r) for r in finding.results]
        return Finding(results, finding.account, reason)

    def _query(self, arguments: Any) -> dict[str, Any]:
        """The query, and a number that tells one call from another within this process."""
        text = json.dumps(arguments, sort_keys=True, default=str).encode("utf-8", "replace")
        number = hashlib.blake2b(text, digest_size=6, key=_SALT).digest()
        query = self._text(query_of(arguments), "query")
        redacted: dict[str, Any] = {} if query is None else {"query": query}
        return {**redacted, "redacted": int.from_bytes(number)}

    def _result(self, result: dict[str, Any]) -> dict[str, Any]:
        """A result or a citation without its texts; one that has nothing else is known by their hash."""
        fields = {k: v for k, v in result.items() if k in _OTHERS}
        if "url" in result:
            url = result["url"]
            fields["url"] = self._text(url, "url") if callable(self._redact) else url
        for name in _TEXTS:
            if name in result:
                fields[name] = self._text(result[name], name)
        fields = {k: v for k, v in fields.items() if v is not None}
        if not fields.keys() & {"id", "ids", "url", "marker"}:
            fields["id"] = _hash(json.dumps(result, sort_keys=True, default=str))
        return fields

    def _message(self, message: Message) -> Message:
        is_user = message.role == "user"
        citations = list(message.citations)
        if message.role == "assistant":
            known = {c.get("url") or c.get("marker") for c in citations}
            cited = text_citations(message.text)
            citations += [c for c in cited if (c.get("url") or c.get("marker")) not in known]
        return replace(
            message,
            text=self._text(message.text, "user" if is_user else "answer") or "",
            calls=[self._call(c) for c in message.calls],
            outputs=[self._output(o) for o in message.outputs],
            citations=[self._result(c) for c in citations],
        )

    def _call(self, call: ToolCall) -> ToolCall:
        verdict = self._rules.decided_by_name(call.name)
        is_other = verdict is not None and verdict.account == "not a search"
        return replace(call, arguments=None if is_other else self._query(call.arguments))

    def _output(self, output: ToolOutput) -> ToolOutput:
        finding = find_results(_data(output.value))
        value = {"results": [self._result(r) for r in finding.results]}
        is_read = finding.account in ("result", "empty")
        error = None if output.error is None else self._text(output.error, "error") or "error"
        return replace(output, value=value if is_read else "(redacted)", error=error)

    def _text(self, text: Any, field: str) -> str | None:
        if not isinstance(text, str) or not text:
            return None
        if self._redact == "drop":
            return None
        if self._redact == "hash":
            return _hash(text)
        try:
            redacted = self._redact(text, field)
            if redacted is not None and not isinstance(redacted, str):
                raise TypeError(f"redact returned {type(redacted).__name__}, not a text or None")
        except Exception as error:
            self._report(error)
            return None
        return redacted


def _hash(text: str) -> str:
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _data(value: Any) -> Any:
    """A value as it would be read back."""
    return json.loads(encode({"value": value}))["value"]
