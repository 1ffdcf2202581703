"""What every recorded agent does: the same steps with the same tools, and a log that the tools keep.

The log knows nothing of formats or of goodgain: it is what the samples are checked against.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
import os
import re
from pathlib import Path

_FOLDER = re.compile(r"/[^\"\s]*/(?=site-packages/|lib/python|recording/)")  # in stack traces
SAMPLES = Path(__file__).parent.parent / "samples"

PAGES = {
    "Seine source": [
        {"url": "https://example.org/seine", "title": "Seine", "content": "The Seine rises at Source-Seine, 446 m above the sea."},
        {"url": "https://example.org/source-seine", "title": "Source-Seine", "content": "Source-Seine is a village in Burgundy near Dijon."},
        {"url": "https://example.org/langres", "title": "Langres", "content": "The plateau of Langres is the source of several rivers."},
    ],
    "Seine length": [
        {"url": "https://example.org/seine", "title": "Seine", "content": "The Seine rises at Source-Seine, 446 m above the sea."},
        {"url": "https://example.org/rivers", "title": "Rivers", "content": "Length of the rivers of France: Loire 1006 km, Seine 777 km."},
    ],
    "Seine on the moon": [],
}  # fmt: skip
PAGE = "The Seine is 777 kilometres long and flows through Paris to Le Havre."

QUESTION = "Where does the Seine rise, and how long is it?"
ANSWER = "It rises at Source-Seine and is 777 km long."

# The generations of the model: (call id, tool, arguments) of each; the last one answers.
STEPS = [
    [("call_1", "web_search", {"query": "Seine source"}), ("call_2", "web_search", {"query": "Seine length"})],
    [("call_3", "web_search", {"query": "Seine map"})],
    [("call_4", "web_search", {"query": "Seine on the moon"})],
    [("call_5", "fetch_page", {"url": "https://example.org/seine"}), ("call_6", "calculator", {"expression": "777 * 2"})],
]  # fmt: skip


def steps_of(tag: str = "") -> list:
    """The steps, with queries that name the conversation they are of."""
    return [
        [(i, n, {k: f"{v}{tag}" if k == "query" else v for k, v in a.items()}) for i, n, a in step]
        for step in STEPS
    ]


USAGE = {"input": 100, "output": 20}  # of each generation


class SearchFailedError(Exception):
    """What the search for a map ends in."""


class Tools:
    """The agent's tools. Each call is logged with what it returned."""

    def __init__(self, tag: str = "") -> None:
        self.tag = tag
        self.log: list[dict] = []

    def web_search(self, query: str) -> list[dict]:
        """Search the web for pages about a query."""
        entry = {"tool": "web_search", "query": query}
        self.log.append(entry)
        plain = query.removesuffix(self.tag)
        if plain not in PAGES:
            entry["error"] = True
            raise SearchFailedError("HTTP 503: the search service is not available")
        entry["results"] = len(PAGES[plain])
        return PAGES[plain]

    def fetch_page(self, url: str) -> str:
        """Open a web page and return its text."""
        self.log.append({"tool": "fetch_page", "url": url})
        return PAGE

    def calculator(self, expression: str) -> str:
        """Compute an arithmetic expression."""
        self.log.append({"tool": "calculator"})
        return str(777 * 2)

    def counts(self, generations: list[int] | None = None) -> dict:
        """The independent counts of what happened."""
        searches = [e for e in self.log if e["tool"] == "web_search"]
        return {
            "searches": len(searches),
            "results": sum(e.get("results", 0) for e in searches),
            "failed": sum("error" in e for e in searches),
            "empty": sum(e.get("results") == 0 for e in searches),
            "opens": sum(e["tool"] == "fetch_page" for e in self.log),
            "others": sum(e["tool"] == "calculator" for e in self.log),
            "queries": [e["query"] for e in searches],
        }


def save(name: str, content, counts: dict, **facts) -> None:
    """Write a sample, and its counts with the versions that produced it."""
    SAMPLES.mkdir(exist_ok=True)
    path = SAMPLES / name
    if isinstance(content, bytes) and content[:2] == b"PK":
        path.write_bytes(content)
    else:
        if not isinstance(content, bytes | str):
            content = json.dumps(content, ensure_ascii=False, default=str) + "\n"
        text = content if isinstance(content, str) else content.decode()
        path.write_text(_FOLDER.sub("/", text))
    entry = {"file": name, **facts, "counts": counts}
    with open(os.environ.get("SAMPLES_LOG", SAMPLES / "manifest.log"), "a") as file:  # noqa: PTH123
        file.write(json.dumps(entry) + "\n")


def versions(*packages: str) -> dict[str, str]:
    """The installed versions of packages."""
    from importlib.metadata import version

    return {package: version(package) for package in packages}


def otlp(spans) -> dict:
    """Finished spans as an OTLP/JSON document, as a collector writes it."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    document = MessageToDict(encode_spans(spans))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:  # OTLP/JSON has ids in hexadecimal, protobuf in base64
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = _hexadecimal(span[key])
    return document


def _hexadecimal(text: str) -> str:
    import base64

    return base64.b64decode(text).hex()


def tracer():
    """A tracer provider and the exporter that holds its finished spans."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter
