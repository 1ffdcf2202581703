"""LlamaIndex: spans of OpenInference and OpenLLMetry, of an agent and of a retriever inside a tool."""

from __future__ import annotations

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool
from plan import ANSWER, QUESTION, USAGE, Tools, otlp, save, steps_of, tracer, versions


class FakeModel(FunctionCallingLLM):
    """Makes the calls of the plan, one step at a time."""

    step: int = 0
    only_searches: bool = False
    tag: str = ""

    @property
    def metadata(self):
        return LLMMetadata(is_function_calling_model=True, model_name="fake")

    def _response(self):
        steps = steps_of(self.tag)[: 1 if self.only_searches else None]
        calls = steps[self.step] if self.step < len(steps) else []
        self.step += 1
        usage = {
            "prompt_tokens": USAGE["input"],
            "completion_tokens": USAGE["output"],
            "total_tokens": 120,
        }
        tool_calls = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}}
            for i, n, a in calls
        ]
        message = ChatMessage(
            role="assistant",
            content=None if calls else ANSWER,
            additional_kwargs={"tool_calls": tool_calls},
        )
        return ChatResponse(message=message, raw={"usage": usage}, additional_kwargs=usage)

    def _prepare_chat_with_tools(self, tools, user_msg=None, chat_history=None, **options):
        return {"messages": [*(chat_history or []), *([user_msg] if user_msg else [])]}

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=False, **options):
        return [
            ToolSelection(
                tool_id=c["id"],
                tool_name=c["function"]["name"],
                tool_kwargs=c["function"]["arguments"],
            )
            for c in response.message.additional_kwargs.get("tool_calls", [])
        ]

    @llm_chat_callback()
    async def achat(self, messages, **options):
        return self._response()

    @llm_chat_callback()
    def chat(self, messages, **options):
        return self._response()

    async def astream_chat(self, messages, **options):
        async def stream():
            yield self._response()

        return stream()

    async def astream_chat_with_tools(self, tools, **options):
        return await self.astream_chat([])

    def complete(self, *args, **options):
        raise NotImplementedError

    stream_complete = stream_chat = acomplete = astream_complete = complete


class Retriever(BaseRetriever):
    """Logs its calls in the tools' log."""

    def __init__(self, tools):
        super().__init__()
        self.tools = tools

    def _retrieve(self, query):
        pages = self.tools.web_search(query.query_str)
        return [
            NodeWithScore(
                node=TextNode(text=p["content"], metadata={"url": p["url"], "title": p["title"]}),
                score=1 - n / 10,
            )
            for n, p in enumerate(pages)
        ]


def agent(tools, only_searches):
    if only_searches:

        def web_search(query: str) -> list[dict]:
            """Search the web for pages about a query."""
            nodes = Retriever(tools).retrieve(query)
            return [{"text": n.text, **n.metadata} for n in nodes]

        functions = [FunctionTool.from_defaults(web_search)]
    else:
        functions = [
            FunctionTool.from_defaults(f)
            for f in (tools.web_search, tools.fetch_page, tools.calculator)
        ]
    model = FakeModel(only_searches=only_searches, tag=tools.tag)
    return FunctionAgent(tools=functions, llm=model, streaming=False)


def run(only_searches):
    tools = Tools()

    async def main():
        return await agent(tools, only_searches).run(QUESTION)

    asyncio.run(main())
    return tools.counts()


def record_spans(kind):
    provider, exporter = tracer()
    if kind == "openinference":
        from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

        package, form = "openinference-instrumentation-llama-index", "openinference"
    else:
        from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor

        package, form = "opentelemetry-instrumentation-llamaindex", "otel"
    instrumentor = LlamaIndexInstrumentor()
    instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    for name, only_searches, iterations in (("agent", False, [2, 1, 1]), ("retriever", True, [2])):
        exporter.clear()
        counts = run(only_searches)
        spans = exporter.get_finished_spans()
        packages = versions("llama-index-core", package)
        facts = {
            "format": form,
            "packages": packages,
            "iterations": iterations,
            "spans": len(spans),
        }
        save(f"{kind}-llama-index-{name}.json", otlp(spans), counts, **facts)
    instrumentor.uninstrument()


if __name__ == "__main__":
    import sys

    record_spans(sys.argv[1])
