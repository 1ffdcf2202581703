"""What live capture costs a search, beyond what the framework itself costs.

`python benchmarks/live.py ADAPTER ROUNDS` measures one adapter: batches of searches with capture and with a
handler of the same framework that does nothing, in turn.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import table
from measure import CommandError, worker
from subject import Bar, Context, Section, Subject

RESULTS, TEXT, BATCH, ROUNDS = 10, 300, 5, 1_000
WANTED = 50e-6
Search = Callable[[], Any]


def pages() -> list[dict[str, Any]]:
    """What a search returns."""
    text = "word " * (TEXT // 5)
    return [
        {
            "url": f"https://example.org/{n}",
            "title": f"Page {n}",
            "content": text,
            "score": 1 / (n + 1),
        }
        for n in range(RESULTS)
    ]


def functions(live: Any) -> tuple[Search, Search]:
    found = pages()

    def search(query: str) -> list[dict[str, Any]]:
        return found

    decorated = live.search_tool(search)
    live.conversation("c1").__enter__()
    return lambda: search("Seine"), lambda: decorated("Seine")


def langchain_tool(live: Any) -> tuple[Search, Search]:
    from langchain_core.tools import StructuredTool

    text = json.dumps(pages())

    def web_search(query: str) -> str:
        """Search the web."""
        return text

    return _langchain(live, StructuredTool.from_function(web_search), {"query": "Seine"})


def langchain_retriever(live: Any) -> tuple[Search, Search]:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    documents = [
        Document(page_content=p["content"], metadata={"source": p["url"], "title": p["title"]})
        for p in pages()
    ]

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return documents

    return _langchain(live, Retriever(), "Seine")


def _langchain(live: Any, runnable: Any, argument: Any) -> tuple[Search, Search]:
    from langchain_core.callbacks import BaseCallbackHandler

    from goodgain.live.langchain import LangChainHandler

    class Nothing(BaseCallbackHandler):
        run_inline = True

    idle, ours = {"callbacks": [Nothing()]}, {"callbacks": [LangChainHandler(live)]}
    return lambda: runnable.invoke(argument, idle), lambda: runnable.invoke(argument, ours)


def otel_tool(live: Any) -> tuple[Search, Search]:
    """A tool span in the GenAI conventions, as Pydantic AI writes it."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "web_search",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.arguments": '{"query": "Seine"}',
        "gen_ai.tool.call.result": json.dumps(pages()),
    }
    return _otel(live, "execute_tool web_search", attributes)


def openinference_retriever(live: Any) -> tuple[Search, Search]:
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "Seine"}
    for number, page in enumerate(pages()):
        prefix = f"retrieval.documents.{number}.document."
        metadata = json.dumps({"source": page["url"], "title": page["title"]})
        attributes |= {f"{prefix}content": page["content"], f"{prefix}metadata": metadata}
    return _otel(live, "Retriever", attributes)


def _otel(live: Any, name: str, attributes: dict[str, Any]) -> tuple[Search, Search]:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    def searcher(processor: Any) -> Search:
        provider = TracerProvider()
        if processor is None:
            live.opentelemetry(provider)
        else:
            provider.add_span_processor(processor)
        tracer = provider.get_tracer("bench")

        def search() -> None:
            with tracer.start_as_current_span(name) as span:
                span.set_attributes(attributes)

        return search

    return searcher(SpanProcessor()), searcher(None)


def openai_agents(live: Any) -> tuple[Search, Search]:
    from agents.tracing import function_span, get_trace_provider, trace
    from agents.tracing.processor_interface import TracingProcessor

    from goodgain.live.openai_agents import AgentsProcessor

    class Nothing(TracingProcessor):
        def on_trace_start(self, trace: Any) -> None: ...
        def on_trace_end(self, trace: Any) -> None: ...
        def on_span_start(self, span: Any) -> None: ...
        def on_span_end(self, span: Any) -> None: ...
        def shutdown(self) -> None: ...
        def force_flush(self) -> None: ...

    idle, ours = Nothing(), AgentsProcessor(live)
    output = json.dumps(pages())
    trace("bench").start(mark_as_current=True)

    def searcher(processor: Any) -> Search:
        def search() -> None:
            with function_span("web_search", input='{"query": "Seine"}') as span:
                span.span_data.output = output

        def prepared() -> None:
            search()

        prepared.prepare = lambda: get_trace_provider().set_processors([processor])  # type: ignore[attr-defined]
        return prepared

    return searcher(idle), searcher(ours)


def llama_index(live: Any) -> tuple[Search, Search]:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index_instrumentation import get_dispatcher
    from llama_index_instrumentation.span_handlers import NullSpanHandler

    nodes = [
        NodeWithScore(
            node=TextNode(text=p["content"], metadata={"url": p["url"], "title": p["title"]}),
            score=p["score"],
        )
        for p in pages()
    ]

    class Retriever(BaseRetriever):
        def _retrieve(self, query: Any) -> list[Any]:
            return nodes

    retriever, root = Retriever(), get_dispatcher()
    handlers = {"idle": [NullSpanHandler()], "ours": [live.llama_index()]}

    def searcher(name: str) -> Search:
        def search() -> None:
            retriever.retrieve("Seine")

        search.prepare = lambda: setattr(root, "span_handlers", handlers[name])  # type: ignore[attr-defined]
        return search

    return searcher("idle"), searcher("ours")


def haystack(live: Any) -> tuple[Search, Search]:
    from haystack import Document
    from haystack.tracing.tracer import NullTracer

    from goodgain.live.haystack import GoodgainTracer

    documents = [
        Document(content=p["content"], meta={"url": p["url"]}, score=p["score"]) for p in pages()
    ]
    tags = {"haystack.component.name": "retriever", "haystack.component.type": "BM25Retriever"}

    def searcher(tracer: Any) -> Search:
        def search() -> None:
            with tracer.trace("haystack.component.run", tags=tags) as span:
                span.set_content_tag("haystack.component.input", {"query": "Seine"})
                span.set_content_tag("haystack.component.output", {"documents": documents})

        return search

    return searcher(NullTracer()), searcher(GoodgainTracer(live))


ADAPTERS = {
    "a function": functions,
    "LangChain tool": langchain_tool,
    "LangChain retriever": langchain_retriever,
    "OpenTelemetry tool span": otel_tool,
    "OpenInference retriever span": openinference_retriever,
    "OpenAI Agents function span": openai_agents,
    "LlamaIndex retriever": llama_index,
    "Haystack retriever": haystack,
}


def measured(name: str, rounds: int) -> dict[str, float]:
    """Seconds a search without and with capture, by batches in turn."""
    from goodgain.live import Capture

    with tempfile.TemporaryDirectory() as folder, Capture(Path(folder) / "t.jsonl") as live:
        pair = ADAPTERS[name](live)
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for search, own in zip(pair, times, strict=True):
                getattr(search, "prepare", lambda: None)()
                start = time.perf_counter()
                for _ in range(BATCH):
                    search()
                own.append((time.perf_counter() - start) / BATCH)
        if live.errors:
            raise RuntimeError(f"{live.errors} errors of capture")
    idle, ours = times
    return {
        "idle": min(idle),
        "ours": min(ours),
        "median": statistics.median(b - a for a, b in zip(idle, ours, strict=True)),
    }


def run(context: Context) -> Section:
    """Measure each adapter in a process of its own."""
    rows, bars = [], []
    for name in ADAPTERS:
        try:
            found = worker("live", name, ROUNDS // 8 if context.quick else ROUNDS)
        except CommandError as error:
            reason = str(error).strip().splitlines()[-1]
            rows.append([name, "not measured", reason, "", ""])
            bars.append(Bar(f"live: {name}", "< 50 µs", "not measured", None))
            continue
        best = found["ours"] - found["idle"]
        cells = (found["idle"], found["ours"], best, found["median"])
        rows.append([name, *(table.seconds(value) for value in cells)])
        cost = found["median"]
        bars.append(Bar(f"live: {name}", "< 50 µs", table.seconds(cost), cost < WANTED))
    return Section(
        columns=["search", "without", "with capture", "difference", "median difference"],
        rows=rows,
        text=(
            f"A search that returns {RESULTS} results of {TEXT} characters, captured to a file: each line "
            "is with the operating system before the search returns. *Without* is the framework with a "
            f"handler that does nothing. Best of batches of {BATCH} searches, and the median difference of "
            "batches that follow one another."
        ),
        bars=bars,
    )


SUBJECT = Subject("live", "Live capture", 75, run)

if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
