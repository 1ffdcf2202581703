"""LangChain and LangGraph: a callback handler."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler

from goodgain.live.handlers import add_span, guarded
from goodgain.live.recent import Recent
from goodgain.traces.formats.langsmith import SESSION_NAMES, span_of_run
from goodgain.traces.spans import Kind, Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from goodgain.live.capturing import Capture

_MESSAGE = ("type", "content", "tool_calls", "tool_call_id", "artifact", "status", "usage_metadata")


# The retriever that runs: LangChain itself tells its code only of the tools and chains around it.
_retriever: ContextVar[str] = ContextVar("retriever", default="")


def install(capture: Capture) -> LangChainHandler:
    """Add a handler to every run of this process, without passing it to any."""
    from langchain_core.tracers.context import register_configure_hook

    handler = LangChainHandler(capture)
    variable: ContextVar[Any] = ContextVar("goodgain_capture", default=handler)
    register_configure_hook(variable, inheritable=True)
    return handler


class LangChainHandler(BaseCallbackHandler):
    """Captures tools, retrievers and models: `config={"callbacks": [LangChainHandler(capture)]}`."""

    run_inline = True  # also in asyncio: what has ended is on disk before the agent goes on

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._runs: Recent[_Run] = Recent()
        capture.surroundings.append(self._place)

    @guarded
    def _place(self) -> tuple[str, str] | None:
        """The run inside which this code is called."""
        from langchain_core.runnables.config import var_child_runnable_config

        run = self._runs.get(_retriever.get())
        if run is None:
            manager = (var_child_runnable_config.get() or {}).get("callbacks")
            run_id = getattr(manager, "parent_run_id", None)
            run = None if run_id is None else self._runs.get(run_id.hex)
        return None if run is None else (run.trace, run.id or "")

    def _start(
        self,
        kind: Kind,
        name: Any,
        inputs: Any,
        run_id: UUID,
        parent_run_id: UUID | None,
        facts: Any,
    ) -> _Run:
        own = run_id.hex
        parent, outer = None, None
        if parent_run_id is not None:
            parent = parent_run_id.hex
            outer = self._runs.get(parent)
        run = _Run(
            kind=kind,
            trace=outer.trace if outer is not None else parent or own,
            start=time.time_ns(),
            where="",
            id=own,
            parent=parent,
            name=name,
            query=inputs,
        )
        run.metadata = facts.get("metadata")
        run.is_inside = (
            outer is not None and (outer.kind != "other" or outer.is_inside)
        ) or self.capture.is_inside
        self._runs[own] = run
        return run

    def _end(self, run_id: UUID, outputs: Any = None, error: BaseException | None = None) -> None:
        run = self._runs.pop(run_id.hex)
        if run is None or (run.kind == "other" and not run.is_inside):
            return  # only between calls a chain links what is inside to what is around it
        run.end = time.time_ns()
        if error is not None:
            run.error = str(error) or type(error).__name__
        if run.kind == "model":
            add_span(self.capture, _generation(run, outputs))
            return
        if run.metadata:
            run.session = _session(run.metadata)
        if isinstance(outputs, dict) and "tool_call_id" in outputs:
            run.call = outputs["tool_call_id"]
        run.output = outputs
        if run.kind == "other":
            add_span(self.capture, run)
        else:
            self.capture.add(run)

    # --- the framework's events ---

    @guarded
    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **facts: Any,
    ) -> None:
        """A chain, graph or node starts: what runs inside is linked through it."""
        run = self._start("other", None, None, run_id, parent_run_id, facts)
        if parent_run_id is None:
            self.capture.learn_session(run.trace, _session(run.metadata))

    @guarded
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **facts: Any) -> None:
        """A chain has ended."""
        self._end(run_id)

    @guarded
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **facts: Any) -> None:
        """A chain has failed; that is no failure of a search inside."""
        self._end(run_id)

    @guarded
    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: Any = None,
        **facts: Any,
    ) -> None:
        """A tool is called."""
        serialized = serialized or {}
        name = facts.get("name") or serialized.get("name")
        content = input_str if inputs is None else inputs
        run = self._start("tool", name, content, run_id, parent_run_id, facts)
        run.description = serialized.get("description")
        run.call = facts.get("tool_call_id")

    @guarded
    def on_tool_end(self, output: Any, *, run_id: UUID, **facts: Any) -> None:
        """A tool has returned."""
        self._end(run_id, _tool_output(output))

    @guarded
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **facts: Any) -> None:
        """A tool has failed."""
        self._end(run_id, error=error)

    @guarded
    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **facts: Any,
    ) -> None:
        """A retriever is called."""
        name = facts.get("name") or (serialized or {}).get("name")
        self._start("retriever", name, {"query": query}, run_id, parent_run_id, facts)
        _retriever.set(run_id.hex)

    @guarded
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **facts: Any) -> None:
        """A retriever has returned its documents."""
        self._end(run_id, [_document(d) for d in documents])

    @guarded
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **facts: Any) -> None:
        """A retriever has failed."""
        self._end(run_id, error=error)

    @guarded
    def on_chat_model_start(
        self,
        serialized: Any,
        messages: Sequence[Sequence[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **facts: Any,
    ) -> None:
        """A model generates."""
        content = {"messages": [_message(m) for m in (messages[0] if messages else ())]}
        self._start("model", facts.get("name"), content, run_id, parent_run_id, facts)

    @guarded
    def on_llm_start(
        self,
        serialized: Any,
        prompts: Sequence[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **facts: Any,
    ) -> None:
        """A model without messages generates."""
        content = {"messages": [{"role": "user", "content": p} for p in prompts[:1]]}
        self._start("model", facts.get("name"), content, run_id, parent_run_id, facts)

    @guarded
    def on_llm_end(self, response: Any, *, run_id: UUID, **facts: Any) -> None:
        """A model has generated."""
        first = response.generations[0][0]
        message = getattr(first, "message", None)
        fields = (
            {"role": "assistant", "content": first.text} if message is None else _message(message)
        )
        output = response.llm_output if isinstance(response.llm_output, dict) else {}
        usage = fields.get("usage_metadata") or output.get("token_usage") or output.get("usage")
        self._end(run_id, {"message": fields, **({"usage_metadata": usage} if usage else {})})

    @guarded
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **facts: Any) -> None:
        """A model has failed."""
        self._end(run_id, error=error)


class _Run(Span):
    """A run that has not ended."""

    __slots__ = ("is_inside", "metadata")
    is_inside: bool
    metadata: Any


def _generation(run: _Run, outputs: Any) -> Span:
    """What a model was given and said, read as LangSmith's runs are."""
    fields = {
        "id": run.id,
        "parent_run_id": run.parent,
        "trace_id": run.trace,
        "run_type": "llm",
        "inputs": run.query,
        "outputs": outputs,
        "start_time": run.start,
        "end_time": run.end,
        "error": run.error,
        "extra": {"metadata": run.metadata or {}},
    }
    return span_of_run(fields, "")


def _session(metadata: Any) -> str | None:
    return (
        next((str(metadata[n]) for n in SESSION_NAMES if metadata.get(n)), None)
        if metadata
        else None
    )


def _document(document: Any) -> dict[str, Any]:
    fields = {"page_content": document.page_content, "metadata": document.metadata}
    return fields if document.id is None else {**fields, "id": document.id}


def _message(message: Any) -> dict[str, Any]:
    """The fields of a message that matter."""
    fields = {name: value for name in _MESSAGE if (value := getattr(message, name, None))}
    fields.setdefault("content", "")
    if metadata := getattr(message, "response_metadata", None):
        fields["response_metadata"] = metadata
    return fields


def _tool_output(output: Any) -> Any:
    """What a tool returned: a message, a LangGraph command that holds one, or anything else."""
    update = getattr(output, "update", None)
    if isinstance(update, dict) and isinstance(update.get("messages"), list) and update["messages"]:
        output = update["messages"][-1]
    if hasattr(output, "tool_call_id") and hasattr(output, "content"):
        return _message(output)
    return output
