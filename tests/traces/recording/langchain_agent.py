"""LangChain and LangGraph: messages, `dumps`, LangSmith runs, OpenInference and OpenLLMetry spans."""

from __future__ import annotations

import json

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, messages_to_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool, ToolException, create_retriever_tool
from langchain_core.tracers.langchain import LangChainTracer
from langsmith import Client
from plan import (
    ANSWER,
    QUESTION,
    USAGE,
    SearchFailedError,
    Tools,
    otlp,
    save,
    steps_of,
    tracer,
    versions,
)
from pydantic import ConfigDict

VERSIONS = versions("langchain", "langchain-core", "langgraph")


class FakeModel(BaseChatModel):
    """Makes the calls of the plan, one step at a time."""

    only_searches: bool = False
    tag: str = ""

    @property
    def _llm_type(self):
        return "fake"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        step = sum(isinstance(m, AIMessage) for m in messages)
        steps = steps_of(self.tag)[: 1 if self.only_searches else None]
        calls = steps[step] if step < len(steps) else []
        message = AIMessage(
            content="" if calls else ANSWER,
            tool_calls=[{"id": i, "name": n, "args": a} for i, n, a in calls],
            usage_metadata={
                "input_tokens": USAGE["input"],
                "output_tokens": USAGE["output"],
                "total_tokens": USAGE["input"] + USAGE["output"],
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


class Runs(LangChainTracer):
    """Collects finished runs as they would be sent to LangSmith."""

    def __init__(self, **options):
        client = Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
        super().__init__(**{**options, "client": client})
        self.runs = []

    def copy_with_metadata_defaults(self, **options):
        return self

    def _persist_run_single(self, run):
        pass

    def _update_run_single(self, run):
        fields = (
            "id", "trace_id", "parent_run_id", "dotted_order", "run_type", "name", "inputs", "outputs",
            "error", "start_time", "end_time", "extra", "tags",
        )  # fmt: skip
        data = {name: getattr(run, name, None) for name in fields}
        self.runs.append(json.loads(json.dumps(data, default=_plain)))


def _plain(value):
    """As the LangSmith client serialises: models by their fields, everything else as text."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


def agent(tools):
    def web_search(query: str) -> str:
        """Search the web for pages about a query."""
        try:
            return json.dumps(tools.web_search(query))
        except SearchFailedError as error:
            raise ToolException(str(error)) from error

    functions = [
        StructuredTool.from_function(web_search, handle_tool_error=True),
        StructuredTool.from_function(tools.fetch_page),
        StructuredTool.from_function(tools.calculator),
    ]
    return create_agent(FakeModel(tag=tools.tag), functions)


class Retriever(BaseRetriever):
    """Logs its calls in the tools' log."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    tools: Tools

    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(page_content=p["content"], metadata={"source": p["url"], "title": p["title"]})
            for p in self.tools.web_search(query)
        ]


def retrieval_agent(tools):
    """An agent whose tool is a retriever: a tool span with a retriever span inside."""
    tool = create_retriever_tool(Retriever(tools=tools), "web_search", "Search the web.")
    return create_agent(FakeModel(only_searches=True, tag=tools.tag), [tool])


def run(build, **config):
    tools = Tools()
    result = build(tools).invoke({"messages": [("user", QUESTION)]}, config)
    return tools.counts(), result


def main():
    runs = Runs()
    counts, result = run(agent, callbacks=[runs])
    facts = {"format": "langchain", "packages": VERSIONS, "iterations": [2, 1, 1], "tokens": 600}
    save("langchain-messages.json", messages_to_dict(result["messages"]), counts, **facts)
    save(
        "langchain-flat.json",
        {"messages": [m.model_dump(mode="json") for m in result["messages"]]},
        counts,
        **facts,
    )
    save("langchain-dumps.json", dumps(result), counts, **facts)
    save("langchain-dumps-lines.jsonl", dumps(result["messages"]) + "\n", counts, **facts)
    save(
        "langsmith-runs.jsonl",
        "".join(json.dumps(r) + "\n" for r in runs.runs),
        counts,
        **{**facts, "format": "langsmith"},
    )

    runs = Runs()
    counts, _ = run(retrieval_agent, callbacks=[runs])
    nested = {"packages": VERSIONS, "iterations": [2], "tokens": 240}
    save("langsmith-retriever-tool.json", runs.runs, counts, format="langsmith", **nested)

    record_spans("openinference", nested)
    record_spans("openllmetry", nested)


def record_spans(kind, nested):
    """The same agents under an instrumentation, in OTLP/JSON and as the console exporter prints spans."""
    provider, exporter = tracer()
    if kind == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        package, form = "openinference-instrumentation-langchain", "openinference"
    else:
        from opentelemetry.instrumentation.langchain import (
            LangchainInstrumentor as LangChainInstrumentor,
        )

        package, form = "opentelemetry-instrumentation-langchain", "otel"
    instrumentor = LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    packages = {**VERSIONS, **versions(package)}
    for name, build, iterations, tokens in (
        ("agent", agent, [2, 1, 1], 600),
        ("retriever", retrieval_agent, [2], 240),
    ):
        exporter.clear()
        counts, _ = run(build)
        spans = exporter.get_finished_spans()
        facts = {"format": form, "packages": packages, "iterations": iterations, "tokens": tokens}
        save(f"{kind}-langchain-{name}.json", otlp(spans), counts, spans=len(spans), **facts)
        if name == "agent":
            continue
        save(
            f"{kind}-langchain-{name}.console.txt",
            "".join(s.to_json() + "\n" for s in spans),
            counts,
            spans=len(spans),
            **facts,
        )
    instrumentor.uninstrument()


if __name__ == "__main__":
    main()
