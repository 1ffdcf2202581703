"""Haystack: an agent, and an agent whose tool runs a pipeline with a retriever."""

from __future__ import annotations

from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import create_tool_from_function
from plan import ANSWER, USAGE, steps_of


@component
class FakeGenerator:
    """Makes the calls of the plan, one step at a time."""

    def __init__(self, tag="", only_searches=False):
        self.step, self.steps = 0, steps_of(tag)[: 1 if only_searches else None]

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list | None = None):
        calls = self.steps[self.step] if self.step < len(self.steps) else []
        self.step += 1
        usage = {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"]}
        reply = ChatMessage.from_assistant(
            None if calls else ANSWER,
            tool_calls=[ToolCall(id=i, tool_name=n, arguments=a) for i, n, a in calls],
            meta={"model": "fake", "usage": usage},
        )
        return {"replies": [reply]}


@component
class PageRetriever:
    """Logs its calls in the tools' log."""

    def __init__(self, tools):
        self.tools = tools

    @component.output_types(documents=list[Document])
    def run(self, query: str):
        pages = self.tools.web_search(query)
        return {"documents": [_document(p) for p in pages]}


def _document(page):
    return Document(
        content=page["content"], meta={"url": page["url"], "title": page["title"]}, score=0.5
    )


def agent(tools, only_searches=False):
    def web_search(query: str) -> list[dict]:
        """Search the web for pages about a query."""
        return tools.web_search(query)

    def retrieve_pages(query: str) -> list[dict]:
        """Search the web for pages about a query."""
        pipeline = Pipeline()
        pipeline.add_component("retriever", PageRetriever(tools))
        documents = pipeline.run({"retriever": {"query": query}})["retriever"]["documents"]
        return [{"content": d.content, **d.meta} for d in documents]

    def fetch_page(url: str) -> str:
        """Open a web page and return its text."""
        return tools.fetch_page(url)

    def calculator(expression: str) -> str:
        """Compute an arithmetic expression."""
        return tools.calculator(expression)

    functions = (web_search, fetch_page, calculator)
    if only_searches:
        retrieve_pages.__name__ = "web_search"
        functions = (retrieve_pages,)
    return Agent(
        chat_generator=FakeGenerator(tools.tag, only_searches),
        tools=[create_tool_from_function(f) for f in functions],
    )
