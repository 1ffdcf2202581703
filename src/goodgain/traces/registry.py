"""The list of trace formats: the built-in ones, and those that other packages provide."""

from __future__ import annotations

from goodgain.errors import UsageError
from goodgain.plugins import load_plugin, load_plugins, plugin_names
from goodgain.traces.format import TraceFormat
from goodgain.traces.formats import (
    anthropic,
    bedrock,
    browsecomp_plus,
    canonical,
    claude_code,
    cohere,
    gemini,
    hosted_chat,
    inspect_ai,
    langchain,
    langfuse,
    langsmith,
    mlflow,
    openai_agents,
    openai_chat,
    openai_responses,
    openinference,
    otel,
    pydantic_ai,
    recorded,
    search_r1,
    sharegpt,
    trec_dd,
    vercel,
    vercel_telemetry,
)

GROUP = "goodgain.trace_formats"

# In the order in which they are tried: the most specific first.
FORMATS: dict[str, TraceFormat] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        canonical,
        recorded,
        openinference,
        vercel_telemetry,
        otel,
        mlflow,
        langfuse,
        langsmith,
        openai_agents,
        browsecomp_plus,
        inspect_ai,
        claude_code,
        pydantic_ai,
        vercel,
        bedrock,
        gemini,
        cohere,
        anthropic,
        openai_responses,
        langchain,
        hosted_chat,
        openai_chat,
        sharegpt,
        search_r1,
        trec_dd,
    )
}


def plugin_formats() -> dict[str, TraceFormat]:
    """The formats of other packages; tried last, so that installing one changes no file's format."""
    return load_plugins(GROUP, FORMATS, TraceFormat)


def find_format(name: str) -> TraceFormat:
    """The format of this name."""
    trace_format = FORMATS.get(name) or load_plugin(GROUP, name, TraceFormat)
    if trace_format is None:
        names = dict.fromkeys([*FORMATS, *plugin_names(GROUP)])
        raise UsageError(f"unknown trace format '{name}'", hint=f"one of: {', '.join(names)}")
    return trace_format
