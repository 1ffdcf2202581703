"""LlamaIndex: a span handler, and an event handler for what models say when they stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent, LLMCompletionEndEvent
from llama_index.core.llms.llm import LLM
from llama_index.core.schema import TextNode
from llama_index.core.tools.types import BaseTool
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import active_span_id
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from goodgain.live.handlers import add_span, guarded
from goodgain.live.recent import Recent
from goodgain.traces.messages import Message, parse_message
from goodgain.traces.objects import plain
from goodgain.traces.spans import Kind, Span
from goodgain.traces.usage import read_usage

if TYPE_CHECKING:
    from goodgain.live.capturing import Capture

_TOOL_METHODS = ("call", "acall", "__call__")
_RETRIEVER_METHODS = ("retrieve", "aretrieve")
_MODEL_METHODS = ("chat", "achat", "stream_chat", "astream_chat", "complete", "acomplete",
                  "stream_complete", "astream_complete")  # fmt: skip
_SESSIONS = ("session_id", "thread_id", "conversation_id")


def install(capture: Capture) -> SpanHandler:
    """Add the handlers to the root dispatcher."""
    handler = SpanHandler()
    handler.bind(capture)
    events = EventHandler()
    events.bind(handler)
    dispatcher = get_dispatcher()  # the root
    dispatcher.add_span_handler(handler)
    dispatcher.add_event_handler(events)
    return handler


class SpanHandler(BaseSpanHandler[Any]):
    """Captures tools, retrievers and models when they return."""

    @classmethod
    def class_name(cls) -> str:
        """The handler's name."""
        return "GoodgainSpanHandler"

    def bind(self, capture: Capture) -> None:
        """Say where spans go; fields of a model cannot be set by its constructor."""
        object.__setattr__(self, "capture", capture)
        object.__setattr__(self, "runs", Recent())
        capture.surroundings.append(self._place)

    @guarded
    def _place(self) -> tuple[str, str] | None:
        """The span inside which this code is called."""
        run = self.runs.get(active_span_id.get() or "")
        return None if run is None else (run.trace, run.id)

    @guarded
    def span_enter(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Something starts."""
        outer = self.runs.get(parent_id or "")
        if outer is not None and outer.instance is instance and outer.is_call:
            self.runs[id_] = outer  # a method that calls another of the same object
            return
        arguments = bound_args.arguments
        kind, name, description, query = _described(id_, instance, arguments)
        event = arguments.get("ev")
        session = None
        if tags:
            session = next((str(tags[n]) for n in _SESSIONS if tags.get(n)), None)
        run = _Run(
            kind=kind,
            trace=outer.trace if outer is not None else id_,
            id=id_,
            parent=outer.id if outer is not None else parent_id,
            start=time.time_ns(),
            where="",
            session=session,
            name=name,
            description=description,
            query=query,
            call=getattr(event, "tool_id", None) or (outer.call if outer is not None else None),
        )
        run.instance = instance
        if kind == "model":
            run.inputs = _messages(arguments.get("messages")) or _prompt(arguments.get("prompt"))
        if session:
            self.capture.learn_session(run.trace, session)
        self.runs[id_] = run

    @guarded
    def span_exit(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **facts: Any
    ) -> None:
        """Something has returned; a model that streams ends with an event."""
        run = self._ending(id_)
        if run is None:
            return
        if run.kind == "model":
            if not hasattr(result, "message") and not hasattr(result, "text"):
                return
            _add_reply(run, result)
        elif run.kind == "tool":
            run.output = _tool_output(result)
        elif run.kind == "retriever":
            run.output = [_node(n) for n in result or ()]
        self._end(run)

    @guarded
    def span_drop(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        err: BaseException | None = None,
        **facts: Any,
    ) -> None:
        """Something has failed."""
        run = self._ending(id_)
        if run is not None:
            if run.kind in ("tool", "retriever", "model"):
                run.error = str(err) or type(err).__name__
            self._end(run)

    def _ending(self, id_: str) -> _Run | None:
        """The run that ends with a span: none if it has ended, or goes on around the span."""
        run: _Run | None = self.runs.get(id_)
        if run is not None and run.id != id_:
            self.runs.pop(id_)
            return None
        return None if run is None or run.end is not None else run

    def end_model(self, id_: str, result: Any) -> None:
        """A model has said all that it had to say."""
        run = self.runs.get(id_)
        if run is not None and run.kind == "model" and run.end is None:
            _add_reply(run, result)
            self._end(run)

    def _end(self, run: _Run) -> None:
        run.end = time.time_ns()
        if run.kind == "other":
            run.call = None
        run.instance = None
        self.runs.pop(run.id)
        if run.is_call:
            self.capture.add(run)
        else:
            add_span(self.capture, run)

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        """Spans are followed in `span_enter`."""

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        """Spans are followed in `span_exit`."""

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        """Spans are followed in `span_drop`."""


class EventHandler(BaseEventHandler):
    """Passes on what a model said at the end of its stream."""

    @classmethod
    def class_name(cls) -> str:
        """The handler's name."""
        return "GoodgainEventHandler"

    def bind(self, handler: SpanHandler) -> None:
        """Say whose models end."""
        object.__setattr__(self, "spans", handler)
        object.__setattr__(self, "capture", handler.capture)

    @guarded
    def handle(self, event: Any, **facts: Any) -> None:
        """The end of a model's stream; other events say nothing new."""
        if (
            isinstance(event, LLMChatEndEvent | LLMCompletionEndEvent)
            and event.response is not None
        ):
            self.spans.end_model(event.span_id, event.response)


class _Run(Span):
    """A span that has not ended, with the object that it is of."""

    __slots__ = ("instance",)
    instance: Any


def _described(
    id_: str, instance: Any, arguments: dict[str, Any]
) -> tuple[Kind, str | None, str | None, Any]:
    """The kind, name, description and query."""
    method = id_.rpartition(".")[2].partition("-")[0]
    if isinstance(instance, BaseTool) and method in _TOOL_METHODS:
        facts = instance.metadata
        query = arguments.get("kwargs") or arguments.get("input") or list(arguments.get("args", ()))
        return "tool", facts.name, facts.description, query
    if isinstance(instance, BaseRetriever) and method in _RETRIEVER_METHODS:
        query = arguments.get("str_or_query_bundle")
        text = getattr(query, "query_str", query)
        return "retriever", type(instance).__name__, None, {"query": text}
    if isinstance(instance, LLM) and method in _MODEL_METHODS:
        return "model", None, None, None
    return "other", None, None, None


def _node(scored: Any) -> dict[str, Any]:
    """A node with its score, in the words of other documents."""
    node = scored.node
    fields = {
        "id": node.id_,
        "node_id": node.id_,
        "text": node.text if isinstance(node, TextNode) else node.get_content(),
        "metadata": node.metadata,
        "score": scored.score,
    }
    if node.relationships and node.source_node is not None:
        fields["doc_id"] = node.source_node.node_id
    return fields


def _tool_output(result: Any) -> Any:
    """A tool's output as its reader knows it."""
    if not hasattr(result, "raw_output"):
        return result
    return {
        "raw_output": result.raw_output,
        "raw_input": None,
        "is_error": bool(getattr(result, "is_error", False)),
        "content": getattr(result, "content", ""),
    }


def _messages(messages: Any) -> list[Message]:
    return [_message(m) for m in messages or ()]


def _prompt(prompt: Any) -> list[Message]:
    return [Message(role="user", text=prompt)] if isinstance(prompt, str) and prompt else []


def _message(message: Any) -> Message:
    extra = dict(message.additional_kwargs or {})
    blocks = getattr(message, "blocks", None) or ()
    calls = [
        {"id": b.tool_call_id, "name": b.tool_name, "arguments": b.tool_kwargs}
        for b in blocks
        if getattr(b, "block_type", None) == "tool_call"
    ]
    role = getattr(message.role, "value", message.role)
    return parse_message(
        {
            "role": role,
            "content": message.content or "",
            "tool_calls": calls or [_plain(c) for c in extra.get("tool_calls") or ()],
            "tool_call_id": extra.get("tool_call_id"),
            "annotations": [_plain(a) for a in extra.get("annotations") or ()],
        }
    )


def _add_reply(run: Span, result: Any) -> None:
    """What a model said, and what that used."""
    message = getattr(result, "message", None)
    if message is not None:
        run.outputs = [_message(message)]
    else:
        run.outputs = [Message(role="assistant", text=str(result.text or ""))]
    raw = getattr(result, "raw", None)
    usage = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    model = raw.get("model") if isinstance(raw, dict) else getattr(raw, "model", None)
    run.usage = read_usage(_plain(usage), getattr(result, "additional_kwargs", None))
    run.model = model if isinstance(model, str) else None


def _plain(value: Any) -> Any:
    try:
        return plain(value)
    except Exception:
        return None
