"""inspect_ai: evaluation logs, with a chat in each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.builder import Builder
from goodgain.traces.chat import add_messages
from goodgain.traces.format import TraceFormat
from goodgain.traces.telemetry import text_in
from goodgain.traces.values import dicts

if TYPE_CHECKING:
    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_ATTACHMENT = "attachment://"


def _mismatch(document: Any) -> str:
    if not isinstance(document, dict) or not isinstance(document.get("samples"), list):
        return "no samples"
    return (
        "" if any("messages" in s for s in dicts(document["samples"])) else "no sample has messages"
    )


def _read(documents: Documents, context: Context) -> Conversations:
    """One conversation per sample and epoch."""
    for where, log in documents:
        facts = log if isinstance(log, dict) else {}
        evaluation = facts.get("eval")
        system = text_in(evaluation, "model") if isinstance(evaluation, dict) else None
        for sample in dicts(facts.get("samples")):
            builder = Builder(
                name := f"{sample.get('id')}/{sample.get('epoch', 1)}", system, context
            )
            attachments = sample.get("attachments")
            attachments = attachments if isinstance(attachments, dict) else {}
            messages = _with_attachments(sample.get("messages"), attachments)
            add_messages(messages, builder, f"{where} sample {name}")
            yield builder.build()


def _with_attachments(value: Any, attachments: dict[str, str]) -> Any:
    """The messages with the attachments that they refer to in their place."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_with_attachments(v, attachments) for v in value]
    if isinstance(value, dict):
        return {k: _with_attachments(v, attachments) for k, v in value.items()}
    return value


FORMAT = TraceFormat("inspect", "inspect_ai logs", _mismatch, _read)
