"""Pydantic AI: all messages as JSON, and its OpenTelemetry spans."""

from __future__ import annotations

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
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage


def agent(tools, **options):
    step, steps = 0, steps_of(tools.tag)

    def model(messages, info):
        nonlocal step
        calls = steps[step] if step < len(steps) else []
        step += 1
        blocks = [ToolCallPart(n, a, tool_call_id=i) for i, n, a in calls] or [TextPart(ANSWER)]
        usage = RequestUsage(input_tokens=USAGE["input"], output_tokens=USAGE["output"])
        return ModelResponse(parts=blocks, usage=usage)

    researcher = Agent(FunctionModel(model), name="researcher", **options)

    @researcher.tool_plain
    def web_search(query: str) -> list[dict]:
        """Search the web for pages about a query."""
        try:
            return tools.web_search(query)
        except SearchFailedError as error:
            raise ModelRetry(str(error)) from error

    researcher.tool_plain(tools.fetch_page)
    researcher.tool_plain(tools.calculator)
    return researcher


def run(**options):
    tools = Tools()
    return agent(tools, **options).run_sync(QUESTION), tools


def main():
    facts = {"packages": versions("pydantic-ai-slim"), "iterations": [2, 1, 1], "tokens": 600}
    result, tools = run()
    save(
        "pydantic-ai-messages.json",
        result.all_messages_json(),
        tools.counts(),
        format="pydantic-ai",
        **facts,
    )
    record_spans(facts)


def record_spans(facts):
    from pydantic_ai.models.instrumented import InstrumentationSettings

    provider, exporter = tracer()
    settings = InstrumentationSettings(tracer_provider=provider, include_content=True)
    try:
        _, tools = run(instrument=settings)
    except TypeError:  # version 2 takes capabilities
        from pydantic_ai.capabilities import Instrumentation

        _, tools = run(capabilities=[Instrumentation(settings)])
    spans = exporter.get_finished_spans()
    save(
        "pydantic-ai-spans.json",
        otlp(spans),
        tools.counts(),
        format="otel",
        spans=len(spans),
        **facts,
    )


if __name__ == "__main__":
    main()
