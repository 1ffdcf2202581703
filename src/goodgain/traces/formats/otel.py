"""OpenTelemetry GenAI: spans of retrievals, tool calls and generations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.format import TraceFormat
from goodgain.traces.messages import Message, find_messages
from goodgain.traces.spans import Kind, Span, conversations
from goodgain.traces.telemetry import (
    common_fields,
    flat,
    mismatch_of_spans,
    objects,
    spans_of,
    text_in,
    usage_of_attributes,
)
from goodgain.traces.values import decode_json, dicts, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.traces.context import Context
    from goodgain.traces.format import Conversations, Documents

_SESSIONS = (
    "gen_ai.conversation.id", "session.id",
    "traceloop.association.properties.session_id", "traceloop.association.properties.thread_id",
    "traceloop.association.properties.conversation_id", "langfuse.session.id", "thread.id",
)  # fmt: skip
_KINDS: dict[Any, Kind] = {
    "retrieval": "retriever",
    "vector_db_retrieve": "retriever",  # OpenLLMetry
    "execute_tool": "tool",
    "chat": "model",
    "text_completion": "model",
    "completion": "model",
    "generate_content": "model",
}


def _mismatch(document: Any) -> str:
    return mismatch_of_spans(document, follows, "no attribute gen_ai.* or traceloop.*")


def follows(attributes: Mapping[str, Any]) -> bool:
    """Whether attributes are in these conventions."""
    return any(k.startswith(("gen_ai.", "traceloop.")) for k in attributes)


def session_of(attributes: Mapping[str, Any]) -> str | None:
    """The conversation that a span names."""
    return text_in(attributes, *_SESSIONS)


def _read(documents: Documents, context: Context) -> Conversations:
    spans = (
        span_of_attributes(s, a, f"{where} span {n}")
        for where, document in documents
        for n, (s, a) in enumerate(spans_of(document), 1)
    )
    return conversations(spans, context)


def span_of_attributes(span: dict[str, Any], a: dict[str, Any], where: str) -> Span:
    """A span by its attributes in these conventions."""
    kind = kind_of(a)
    inputs = first_of(a, "gen_ai.retrieval.query.text", "gen_ai.tool.call.arguments")
    output = first_of(a, "gen_ai.retrieval.documents", "gen_ai.tool.call.result")
    if inputs is None:
        inputs = first_of(a, "traceloop.entity.input", "gen_ai.task.input", "input.value")
    if output is None:
        output = first_of(a, "traceloop.entity.output", "gen_ai.task.output", "output.value")
    value = _result(output)
    tool = value.get("tool_name") if isinstance(value, dict) and "raw_output" in value else None
    if tool and kind == "other":  # OpenLLMetry records LlamaIndex's tools as tasks
        kind = "tool"
    return Span(
        kind=kind,
        **common_fields(span),
        where=where,
        session=session_of(a),
        name=(tool if isinstance(tool, str) else None)
        or name_of(a)
        or ("retrieval" if kind == "retriever" else text_in(span, "name")),
        description=text_in(a, "gen_ai.tool.description"),
        call=call_of(a),
        query=_arguments(inputs),
        output=value,
        system=text_in(a, "gen_ai.agent.name"),
        inputs=_messages(span, a, "input", "prompt") if kind == "model" else [],
        outputs=_messages(span, a, "output", "completion") if kind == "model" else [],
        usage=usage_of_attributes(a, "gen_ai.usage.", "llm.usage."),
        model=text_in(a, "gen_ai.response.model", "gen_ai.request.model"),
    )


def name_of(a: Mapping[str, Any]) -> str | None:
    """The name of a tool or a retriever, where its attributes have one."""
    return text_in(a, "gen_ai.tool.name", "traceloop.entity.name", "gen_ai.data_source.id")


def call_of(a: Mapping[str, Any]) -> str | None:
    """The call that a span answers."""
    return text_in(a, "gen_ai.tool.call.id")


def kind_of(a: Mapping[str, Any]) -> Kind:
    """What a span is of, as far as its attributes say so themselves."""
    operation = a.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _KINDS:
        return _KINDS[operation]
    step = str(a.get("traceloop.span.kind")).casefold()
    if step == "tool":
        return "tool"
    if step == "task" and "retriev" in str(a.get("traceloop.entity.name")).casefold():
        return "retriever"
    if a.get("llm.request.type") in ("chat", "completion"):
        return "model"
    return "other"


def _arguments(value: Any) -> Any:
    """OpenLLMetry wraps the input of a tool: {"input_str", "inputs", ...}, {"args", "kwargs"}."""
    inner = decode_json(value)
    if isinstance(inner, dict) and "input_str" in inner:
        return inner.get("inputs") or inner["input_str"]
    if isinstance(inner, dict) and set(inner) == {"args", "kwargs"}:
        return inner["kwargs"] or inner["args"]
    return inner


def _result(value: Any) -> Any:
    inner = decode_json(value)
    if isinstance(inner, dict) and set(inner) == {"output", "kwargs"}:
        return inner["output"]
    return inner


def _messages(span: dict[str, Any], a: dict[str, Any], side: str, older: str) -> list[Message]:
    """Messages in an attribute, in numbered attributes (OpenLLMetry), or in the span's events."""
    value = a.get(f"gen_ai.{side}.messages")
    if value is None:
        value = [_numbered(m) for m in objects(a, f"gen_ai.{older}.")]
    if not value:
        value = list(_events(span, side))
    return list(find_messages(value))


def _numbered(message: dict[str, Any]) -> dict[str, Any]:
    """`role`, `content`, `tool_calls.0.name`, ... as a message."""
    plain = {k: v for k, v in message.items() if "." not in k}
    calls = objects(message, "tool_calls.")
    return {"role": "assistant", **plain, **({"tool_calls": calls} if calls else {})}


_ROLES = {
    "gen_ai.user.message": "user", "gen_ai.system.message": "system", "gen_ai.tool.message": "tool",
    "gen_ai.assistant.message": "assistant", "gen_ai.choice": "assistant",
}  # fmt: skip


def _events(span: dict[str, Any], side: str) -> Iterator[dict[str, Any]]:
    """Messages recorded as events of a span, in the older conventions."""
    for event in dicts(span.get("events")):
        role = _ROLES.get(str(event.get("name")))
        if role is None or (event.get("name") == "gen_ai.choice") != (side == "output"):
            continue
        fields = {
            k.rpartition(".")[2]: decode_json(v) for k, v in flat(event.get("attributes")).items()
        }
        inner = fields.get("message")
        fields = {**fields, **inner} if isinstance(inner, dict) else fields
        call = fields.get("id")
        yield {
            **fields,
            "role": role,
            **({"tool_call_id": call} if role == "tool" and call else {}),
        }


FORMAT = TraceFormat("otel", "OpenTelemetry GenAI spans", _mismatch, _read)
