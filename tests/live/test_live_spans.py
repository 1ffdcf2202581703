"""Spans of OpenTelemetry and of frameworks that take more than one run to tell what belongs to what."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager

import pytest

import goodgain as gg
from goodgain.live import Capture

pytestmark = pytest.mark.filterwarnings("default")  # of the frameworks
PAGES = [{"url": "https://example.org/seine", "title": "Seine", "content": "It rises there."}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


def tracer_of(live, exporter=False):
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    provider = sdk.TracerProvider()
    if exporter:
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor

        from goodgain.live.otel import GoodgainExporter

        provider.add_span_processor(SimpleSpanProcessor(GoodgainExporter(live)))
    else:
        live.opentelemetry(provider)
    return provider.get_tracer("test")


def tool(**attributes):
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.call.arguments": '{"query": "Seine"}',
        "gen_ai.tool.call.result": json.dumps(PAGES),
        **{f"gen_ai.{k}": v for k, v in attributes.items()},
    }


def chat(inputs, output, calls=()):
    parts = [{"type": "text", "content": output}] if output else []
    parts += [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in calls]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(inputs),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}]),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    }


def user(text):
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def said(text):
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


@pytest.mark.parametrize("exporter", [False, True])
def test_a_span_between_two_calls_links_them(path, exporter):
    """An HTTP span knows nothing of searches; without it, one search would be two."""
    with Capture(path) as live:
        tracer = tracer_of(live, exporter)
        with tracer.start_as_current_span("web", attributes={"http.route": "/"}):  # noqa: SIM117
            with tracer.start_as_current_span("execute_tool", attributes=tool()):
                with tracer.start_as_current_span("HTTP GET", attributes={"http.method": "GET"}):
                    attributes = {
                        "openinference.span.kind": "RETRIEVER",
                        "input.value": "Seine",
                        "retrieval.documents.0.document.id": "d1",
                    }
                    with tracer.start_as_current_span("retriever", attributes=attributes):
                        pass
        assert (live.errors, live.dropped) == (0, 0)
    reader = gg.read_traces(path)
    (trace,) = reader
    assert [s.query for s in trace.searches()] == ["Seine"]
    assert reader.ledger.count("call", "wrapped") == 1


def test_the_root_names_the_conversation(path):
    """Its session is known from its start on, and the two turns are one conversation."""
    with Capture(path) as live:
        tracer = tracer_of(live)
        for number in range(2):
            root = {"gen_ai.conversation.id": "c1", "gen_ai.operation.name": "invoke_agent"}
            with tracer.start_as_current_span("agent", attributes=root):
                with tracer.start_as_current_span("t", attributes=tool()):
                    pass
                for line in path.read_text().splitlines():
                    assert json.loads(line)["conversation"] == "c1", number
    (trace,) = gg.read_traces(path)
    assert (trace.conversation, len(trace.turns)) == ("c1", 2)


def test_errors_have_their_message(path):
    with Capture(path) as live:
        tracer = tracer_of(live)
        attributes = {k: v for k, v in tool().items() if not k.endswith("result")}
        with (
            pytest.raises(ValueError, match="no network"),
            tracer.start_as_current_span("t", attributes=attributes),
        ):
            raise ValueError("no network")
    (trace,) = gg.read_traces(path)
    (search,) = trace.searches()
    assert "no network" in search.error


def test_generations_without_a_span_around_them(path):
    """Each is a trace of its own: the messages that they repeat make them one conversation."""
    result = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "k1", "response": PAGES}],
    }
    call = {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "id": "k1", "name": "web_search", "arguments": {"query": "a"}}
        ],
    }
    first = [user("Where?")]
    second = [*first, call, result]
    third = [*second, said("There."), user("How long?")]
    with Capture(path) as live:
        tracer = tracer_of(live)
        for inputs, output, calls in (
            (first, "", [("k1", "web_search", {"query": "a"})]),
            (second, "There.", []),
            (third, "777 km.", []),
            ([user("Something else?")], "No.", []),
        ):
            with tracer.start_as_current_span("chat", attributes=chat(inputs, output, calls)):
                pass
    reader = gg.read_traces(path)
    trace, other = reader
    assert [(t.user, t.answer) for t in trace.turns] == [
        ("Where?", "There."), ("How long?", "777 km."),
    ]  # fmt: skip
    assert [(s.query, len(s.results)) for s in trace.searches()] == [("a", 1)]
    assert other.turns[0].answer == "No."
    assert reader.ledger.is_exact


def test_a_conversation_around_spans_of_threads(path):
    with Capture(path) as live:
        tracer = tracer_of(live)

        def work(context):
            from opentelemetry import context as current

            token = current.attach(context)
            with tracer.start_as_current_span("t", attributes=tool()):
                pass
            current.detach(token)

        with live.conversation("c1", user="Where?") as turn:
            from opentelemetry import context as current

            with tracer.start_as_current_span("agent"):
                with tracer.start_as_current_span("t", attributes=tool()):
                    pass
                thread = threading.Thread(target=work, args=(current.get_current(),))
                thread.start()
                thread.join()
            turn.answer("There.")
    (trace,) = gg.read_traces(path)
    assert trace.conversation == "c1" and len(trace.turns) == 1
    assert len(list(trace.searches())) == 2
    assert (trace.turns[0].user, trace.turns[0].answer) == ("Where?", "There.")


def test_a_hosted_search_of_the_openai_agents_sdk(path):
    pytest.importorskip("agents")
    from agents.tracing import response_span, set_trace_processors, trace
    from openai.types.responses import Response

    from goodgain.live.openai_agents import AgentsProcessor

    output = [
        {"type": "web_search_call", "id": "ws1", "status": "completed", "action": {
            "type": "search", "query": "Seine", "sources": [{"type": "url", "url": PAGES[0]["url"]}]}},
        {"type": "web_search_call", "id": "ws2", "status": "completed", "action": {
            "type": "search", "query": "Loire"}},
        {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [{
            "type": "output_text", "text": "It rises there.", "annotations": [{
                "type": "url_citation", "url": PAGES[0]["url"], "title": "Seine"}]}]},
    ]  # fmt: skip
    with Capture(path) as live:
        set_trace_processors([AgentsProcessor(live)])
        with trace("flow", group_id="c1"), response_span() as span:
            span.span_data.response = Response.model_construct(
                id="r1", model="m", usage=None, output=output
            )
            span.span_data.input = "Where?"
        set_trace_processors([])
        assert live.errors == 0
    (trace,) = gg.read_traces(path)
    (turn,) = trace.turns
    assert (trace.conversation, trace.system) == ("c1", "flow")
    assert [(s.query, len(s.results), bool(s.unread)) for s in trace.searches()] == [
        ("Seine", 1, False), ("Loire", 0, True),
    ]  # fmt: skip
    assert (turn.user, turn.answer) == ("Where?", "It rises there.")
    assert [c.url for c in turn.citations] == [PAGES[0]["url"]]


@pytest.mark.parametrize("is_named", [False, True])
def test_turns_of_langgraph(path, is_named):
    """By the thread's name, or by the messages that the next turn repeats."""
    pytest.importorskip("langgraph")
    from langchain_core.language_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.graph import MessagesState, StateGraph

    from goodgain.live.langchain import LangChainHandler

    model = FakeMessagesListChatModel(responses=[AIMessage("first"), AIMessage("second")])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.set_entry_point("model")
    agent = graph.compile()
    with Capture(path) as live:
        config = {"callbacks": [LangChainHandler(live)]}
        if is_named:
            config["configurable"] = {"thread_id": "c1"}
        state = agent.invoke({"messages": [HumanMessage("one?")]}, config)
        agent.invoke({"messages": [*state["messages"], HumanMessage("two?")]}, config)
        assert live.errors == 0
    (trace,) = gg.read_traces(path)
    assert [(t.user, t.answer) for t in trace.turns] == [("one?", "first"), ("two?", "second")]
    assert (trace.conversation == "c1") == is_named


def test_a_stream_of_llama_index(path):
    """The answer of a model that streams is known when the stream has ended."""
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import MockLLM
    from llama_index_instrumentation import get_dispatcher

    root = get_dispatcher()
    before = root.span_handlers, root.event_handlers
    with Capture(path) as live:
        root.span_handlers, root.event_handlers = list(before[0]), list(before[1])
        live.llama_index()
        with live.conversation("c1", user="say"):
            *_, last = MockLLM(max_tokens=3).stream_complete("one two three")
        root.span_handlers, root.event_handlers = before
        assert live.errors == 0
    (trace,) = gg.read_traces(path)
    assert trace.turns[0].answer == last.text != ""


def test_another_tracer_of_haystack_goes_on(path):
    tracing = pytest.importorskip("haystack.tracing")
    from haystack.tracing.tracer import NullSpan

    seen = []

    class Other(tracing.Tracer):
        @contextmanager
        def trace(self, operation_name, tags=None, parent_span=None):
            seen.append(operation_name)
            yield NullSpan()

        def current_span(self):
            return None

    tracing.enable_tracing(Other())
    try:
        with Capture(path) as live:
            live.haystack()
            tags = {"haystack.component.name": "r", "haystack.component.type": "BM25Retriever"}
            with tracing.tracer.trace("haystack.component.run", tags=tags) as span:
                span.set_content_tag("haystack.component.input", {"query": "Seine"})
                span.set_content_tag("haystack.component.output", {"documents": []})
            assert live.errors == 0
    finally:
        tracing.disable_tracing()
    assert seen == ["haystack.component.run"]
    (trace,) = gg.read_traces(path)
    assert [(s.query, len(s.results)) for s in trace.searches()] == [("Seine", 0)]
