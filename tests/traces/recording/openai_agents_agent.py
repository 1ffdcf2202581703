"""OpenAI Agents SDK: spans of its own tracing, and the list of items of a run."""

from __future__ import annotations

import asyncio
import json

from agents import Agent, Runner, add_trace_processor, function_tool, set_trace_processors
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.tracing import generation_span, response_span
from agents.tracing.processor_interface import TracingProcessor
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from plan import ANSWER, QUESTION, USAGE, Tools, save, steps_of, versions


class Collector(TracingProcessor):
    """Keeps what would be exported, in the order in which spans end."""

    def __init__(self):
        self.items = []

    def on_trace_start(self, trace):
        self.items.append(trace.export())

    def on_trace_end(self, trace):
        pass

    def on_span_start(self, span):
        pass

    def on_span_end(self, span):
        self.items.append(span.export())

    def shutdown(self):
        pass

    def force_flush(self):
        pass


class FakeModel(Model):
    """Makes the calls of the plan, one step at a time."""

    def __init__(self, kind, tag=""):
        self.kind, self.step, self.steps = kind, 0, steps_of(tag)

    async def get_response(self, system_instructions, input, *args, **options):  # noqa: A002
        calls = self.steps[self.step] if self.step < len(self.steps) else []
        self.step += 1
        output = [
            ResponseFunctionToolCall(
                id=f"fc_{i}", call_id=i, name=n, arguments=json.dumps(a), type="function_call"
            )
            for i, n, a in calls
        ] or [
            ResponseOutputMessage(
                id="msg_1",
                role="assistant",
                status="completed",
                type="message",
                content=[ResponseOutputText(text=ANSWER, type="output_text", annotations=[])],
            )
        ]
        usage = Usage(
            requests=1, input_tokens=USAGE["input"], output_tokens=USAGE["output"], total_tokens=120
        )
        if self.kind == "generation":
            with generation_span(
                input=input if isinstance(input, list) else [{"role": "user", "content": input}],
                model="fake",
            ) as span:
                span.span_data.output = [_as_message(output)]
                span.span_data.usage = {
                    "input_tokens": USAGE["input"],
                    "output_tokens": USAGE["output"],
                }
        else:
            with response_span() as span:
                span.span_data.response = Response.model_construct(
                    id=f"resp_{self.step}", output=output, usage=None
                )
                span.span_data.input = input
        return ModelResponse(output=output, usage=usage, response_id=f"resp_{self.step}")

    def stream_response(self, *args, **options):
        raise NotImplementedError


def _as_message(output):
    calls = [
        {
            "id": o.call_id,
            "type": "function",
            "function": {"name": o.name, "arguments": o.arguments},
        }
        for o in output
        if o.type == "function_call"
    ]
    return {
        "role": "assistant",
        "content": None if calls else ANSWER,
        **({"tool_calls": calls} if calls else {}),
    }


def agent(tools, kind):
    functions = (tools.web_search, tools.fetch_page, tools.calculator)
    return Agent(
        name="Researcher",
        model=FakeModel(kind, tools.tag),
        tools=[function_tool(f) for f in functions],
    )


def run(kind):
    collector, tools = Collector(), Tools()
    set_trace_processors([])
    add_trace_processor(collector)
    result = asyncio.run(Runner.run(agent(tools, kind), QUESTION))
    return tools.counts(), collector.items, result.to_input_list()


def main():
    facts = {"packages": versions("openai-agents"), "iterations": [2, 1, 1]}
    counts, items, inputs = run("response")
    save(
        "openai-agents-spans.jsonl",
        "".join(json.dumps(i, default=str) + "\n" for i in items),
        counts,
        format="openai-agents",
        **facts,
    )
    save("openai-agents-items.json", inputs, counts, format="openai-responses", **facts)
    counts, items, _ = run("generation")
    save(
        "openai-agents-generations.json", items, counts, format="openai-agents", tokens=600, **facts
    )


if __name__ == "__main__":
    main()
