"""The one list of trace formats: how each is told from the others, and who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.traces.formats import (
    anthropic,
    benchmarks,
    chat,
    openai_responses,
    platforms,
    telemetry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodgain.traces.builder import Context

    Reader = Callable[[Iterator[tuple[str, Any]], Context], Iterator[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A format: `refuses` says why a document is not of it, or nothing."""

    name: str
    title: str
    refuses: Callable[[Any], str]
    read: Reader


def _refuses_canonical(document: Any) -> str:
    found = document[0] if isinstance(document, list) and document else document
    if not isinstance(found, dict) or "conversation" not in found:
        return "no 'conversation'"
    return "" if "turns" in found else "no 'turns'"


def _read_canonical(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    for _, document in documents:
        yield from document if isinstance(document, list) else [document]


# In the order in which they are tried: the most particular first.
FORMATS: dict[str, TraceFormat] = {
    f.name: f
    for f in (
        TraceFormat("canonical", "goodgain's own JSON lines", _refuses_canonical, _read_canonical),
        TraceFormat(
            "openinference",
            "OpenInference (Phoenix) spans",
            telemetry.refuses_openinference,
            telemetry.read_openinference,
        ),
        TraceFormat(
            "otel", "OpenTelemetry GenAI spans", telemetry.refuses_genai, telemetry.read_genai
        ),
        TraceFormat("mlflow", "MLflow traces", platforms.refuses_mlflow, platforms.read_mlflow),
        TraceFormat(
            "langfuse", "Langfuse observations", platforms.refuses_langfuse, platforms.read_langfuse
        ),
        TraceFormat(
            "langsmith", "LangSmith runs", platforms.refuses_langsmith, platforms.read_langsmith
        ),
        TraceFormat(
            "browsecomp-plus",
            "BrowseComp-Plus runs",
            benchmarks.refuses_browsecomp,
            benchmarks.read_browsecomp,
        ),
        TraceFormat("inspect", "inspect_ai logs", chat.refuses_inspect, chat.read_inspect),
        TraceFormat("anthropic", "Anthropic Messages", anthropic.refuses, anthropic.read),
        TraceFormat(
            "openai-responses", "OpenAI Responses", openai_responses.refuses, openai_responses.read
        ),
        TraceFormat(
            "langchain", "LangChain and LangGraph messages", chat.refuses_langchain, chat.read_chat
        ),
        TraceFormat("openai-chat", "OpenAI Chat Completions", chat.refuses_chat, chat.read_chat),
        TraceFormat(
            "search-r1",
            "Search-R1 transcripts",
            benchmarks.refuses_search_r1,
            benchmarks.read_search_r1,
        ),
        TraceFormat(
            "trec-dd",
            "TREC Dynamic Domain runs",
            benchmarks.refuses_trec_dd,
            benchmarks.read_trec_dd,
        ),
    )
}
