"""Runs agents of a framework on fake models under capture, as a program of its own.

    python live_agents.py FRAMEWORK MODE CAPTURE LOG

The tools log every call themselves, and each answer, to LOG: nothing of goodgain is involved in that.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "traces" / "recording"))

from plan import ANSWER, QUESTION, Tools, steps_of

_lock = threading.Lock()


def question(tag):
    return f"{QUESTION}{tag}"


class LoggedTools(Tools):
    """Writes each call to a file when it is made, so that a killed program leaves its log."""

    def __init__(self, tag, file):
        super().__init__(tag)
        self.file = file

    def web_search(self, query: str) -> list[dict]:
        """Search the web for pages about a query."""
        try:
            return super().web_search(query)
        finally:
            self.write({"tag": self.tag, **self.log[-1]})

    def fetch_page(self, url: str) -> str:
        """Open a web page and return its text."""
        self.write({"tag": self.tag, "tool": "fetch_page", "url": url})
        return super().fetch_page(url)

    def calculator(self, expression: str) -> str:
        """Compute an arithmetic expression."""
        self.write({"tag": self.tag, "tool": "calculator"})
        return super().calculator(expression)

    def write(self, entry):
        with _lock:
            os.write(self.file, json.dumps(entry).encode() + b"\n")


def langchain(capture):
    from langchain_agent import agent, retrieval_agent

    if capture is not None:
        capture.langchain()

    async def run(tools, nested):
        built = (retrieval_agent if nested else agent)(tools)
        result = await built.ainvoke({"messages": [("user", question(tools.tag))]})
        return result["messages"][-1].content

    def run_sync(tools, nested):
        built = (retrieval_agent if nested else agent)(tools)
        return built.invoke({"messages": [("user", question(tools.tag))]})["messages"][-1].content

    return run, run_sync


def llama_index(capture):
    from llama_index_agent import agent

    if capture is not None:
        capture.llama_index()

    async def run(tools, nested):
        return str(await agent(tools, nested).run(question(tools.tag)))

    return run, None


def openai_agents(capture):
    from agents import Runner, set_trace_processors
    from openai_agents_agent import agent

    set_trace_processors([])
    if capture is not None:
        capture.openai_agents()

    async def run(tools, nested):
        kind = "generation" if nested else "response"
        return (await Runner.run(agent(tools, kind), question(tools.tag))).final_output

    return run, None


def pydantic_ai(capture):
    from pydantic_ai_agent import agent

    if capture is not None:
        capture.pydantic_ai()

    async def run(tools, nested):
        return (await agent(tools).run(question(tools.tag))).output

    return run, None


def haystack(capture):
    from haystack.dataclasses import ChatMessage
    from haystack_agent import agent

    if capture is not None:
        capture.haystack()

    async def run(tools, nested):
        message = ChatMessage.from_user(question(tools.tag))
        return (await agent(tools, nested).run_async(messages=[message]))["last_message"].text

    def run_sync(tools, nested):
        message = ChatMessage.from_user(question(tools.tag))
        return agent(tools, nested).run(messages=[message])["last_message"].text

    return run, run_sync


def openinference(capture):
    """LangChain under an instrumentation that knows nothing of goodgain."""
    from openinference.instrumentation.langchain import LangChainInstrumentor

    return instrumented(capture, LangChainInstrumentor)


def openllmetry(capture):
    """The same under the other one."""
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    return instrumented(capture, LangchainInstrumentor)


def instrumented(capture, instrumentor):
    from opentelemetry.sdk.trace import TracerProvider

    provider = TracerProvider()
    instrumentor().instrument(tracer_provider=provider, skip_dep_check=True)
    if capture is not None:
        capture.opentelemetry(provider)
    return langchain(None)


def functions(capture):
    """Plain functions, with an agent that is a loop."""
    import goodgain as gg

    def build(tools):
        return gg.search_tool(tools.web_search), gg.live.open_tool(tools.fetch_page)

    async def run(tools, nested):
        fetch = build(tools)[1]

        @gg.search_tool(name="web_search")
        async def search_later(query):
            await asyncio.sleep(0)
            return tools.web_search(query)

        with capture.conversation(f"c{tools.tag}", user=question(tools.tag)) as turn:
            for step in steps_of(tools.tag)[: 1 if nested else None]:
                turn.step(tokens=120)
                calls = [search_later(a["query"]) for _, n, a in step if n == "web_search"]
                await asyncio.gather(*calls, return_exceptions=True)
                for _, name, arguments in step:
                    if name == "fetch_page":
                        fetch(arguments["url"])
            turn.answer(ANSWER, tokens=120)
        return ANSWER

    def run_sync(tools, nested):
        search, fetch = build(tools)
        with capture.conversation(f"c{tools.tag}", user=question(tools.tag)) as turn:
            for step in steps_of(tools.tag)[: 1 if nested else None]:
                turn.step(tokens=120)
                for _, name, arguments in step:
                    try:
                        if name == "web_search":
                            search(arguments["query"])
                        elif name == "fetch_page":
                            fetch(arguments["url"])
                    except Exception as error:
                        assert "HTTP 503" in str(error), error
            turn.answer(ANSWER, tokens=120)
        return ANSWER

    return run, run_sync


FRAMEWORKS = {
    f.__name__: f
    for f in (
        functions, langchain, llama_index, openai_agents, pydantic_ai, haystack, openinference, openllmetry,
    )
}  # fmt: skip


def main(framework, mode, path, log):
    import goodgain as gg

    redact = os.environ.get("REDACT")
    capture = None
    if path != "-":
        capture = gg.live.capture(path, system=framework, redact=redact)
    run, run_sync = FRAMEWORKS[framework](capture)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def one(number, nested=False):
        tools = LoggedTools(f" #{number}", file)
        if run_sync is None:
            return finish(tools, asyncio.run(run(tools, nested)))
        return finish(tools, run_sync(tools, nested))

    async def one_task(number):
        tools = LoggedTools(f" #{number}", file)
        return finish(tools, await run(tools, False))

    def finish(tools, answer):
        tools.write({"tag": tools.tag, "tool": "answer", "answer": answer})
        return answer

    async def tasks(numbers):
        return await asyncio.gather(*map(one_task, numbers))

    if mode == "all":
        answers = [one(0), one(1, nested=True)]
        with ThreadPoolExecutor(8) as pool:
            answers += pool.map(one, range(100, 116))
        answers += asyncio.run(tasks(range(200, 250)))
    elif mode == "decorated":
        LoggedTools.web_search = gg.search_tool(LoggedTools.web_search)
        answers = [one(0), one(1, nested=True)]
    elif mode == "once":
        answers = [one(0), one(1, nested=True)]
    else:
        number = 0
        while True:
            one(number)
            number += 1
            print(number, flush=True)
    print(json.dumps(answers))
    if capture is not None:
        print(json.dumps([capture.errors, capture.dropped]), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
