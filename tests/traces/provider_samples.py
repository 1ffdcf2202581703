"""Samples of the formats of providers and frameworks, written from one conversation, and their items counted."""
# ruff: noqa: E501

import json

import span_writers
import writers

CONVERSATION = {
    "conversation": "conv",
    "turns": [
        {
            "user": "Where is Paris?",
            "iterations": [
                {"tokens": 120, "searches": [
                    {"query": "paris", "tool": "web_search", "results": [{"url": "https://x.org/p", "title": "Paris", "content": "Paris is the capital of France."}]},
                    {"query": "france", "tool": "web_search", "results": []},
                ]},
                {"tokens": 130, "searches": [
                    {"query": "seine", "tool": "web_search", "results": [{"url": "https://x.org/s", "title": "Seine", "content": "The Seine flows through Paris."}]},
                ], "opens": [{"url": "https://x.org/s", "tool": "fetch_page"}]},
            ],
            "answer": "In France.",
        }
    ],
}  # fmt: skip


def _sample(write, iterations=(2, 1)):
    return write(CONVERSATION, writers.as_json), list(iterations), 2


SAMPLES = {
    "gemini": _sample(writers.gemini),
    "cohere": _sample(writers.cohere),
    "bedrock": _sample(writers.bedrock),
    "pydantic-ai": _sample(writers.pydantic_ai),
    "vercel": _sample(writers.vercel),
    "claude-code": _sample(writers.claude_code),
    "sharegpt": _sample(writers.sharegpt),
    "hosted-chat": _sample(writers.hosted_chat, (1, 1, 1)),
    "vercel-telemetry": _sample(span_writers.vercel_telemetry),
    "openai-agents": _sample(span_writers.openai_agents),
}


# --- counting without goodgain: conversations, messages, spans, events, calls, outputs ---


def _documents(text):
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines()]


def _blocks(messages, name):
    return [b for m in messages for b in m.get(name) or () if isinstance(b, dict)]


def gemini(text):
    contents = [c for d in _documents(text) for c in d["contents"]]
    blocks = _blocks(contents, "parts")
    return _counts(
        contents,
        sum("functionCall" in b for b in blocks),
        sum("functionResponse" in b for b in blocks),
    )


def cohere(text):
    messages = [m for d in _documents(text) for m in d["messages"]]
    return _counts(
        messages, len(_blocks(messages, "tool_calls")), sum(m["role"] == "tool" for m in messages)
    )


def bedrock(text):
    messages = [m for d in _documents(text) for m in d["messages"]]
    blocks = _blocks(messages, "content")
    return _counts(
        messages, sum("toolUse" in b for b in blocks), sum("toolResult" in b for b in blocks)
    )


def pydantic_ai(text):
    (messages,) = _documents(text)
    kinds = [b["part_kind"] for b in _blocks(messages, "parts")]
    return _counts(
        messages, kinds.count("tool-call"), kinds.count("tool-return") + kinds.count("retry-prompt")
    )


def vercel(text):
    messages = [m for d in _documents(text) for m in d["messages"]]
    kinds = [b["type"] for m in messages if isinstance(m["content"], list) for b in m["content"]]
    return _counts(messages, kinds.count("tool-call"), kinds.count("tool-result"))


def claude_code(text):
    lines = _documents(text)
    messages = [line["message"] for line in lines if "message" in line]
    kinds = [b["type"] for m in messages if isinstance(m["content"], list) for b in m["content"]]
    return {
        **_counts(messages, kinds.count("tool_use"), kinds.count("tool_result")),
        "event": len(lines) - len(messages),
    }


def sharegpt(text):
    messages = [m for d in _documents(text) for m in d["conversations"]]
    calls = sum(len(json.loads(m["value"])) for m in messages if m["from"] == "function_call")
    return _counts(messages, calls, sum(m["from"] == "observation" for m in messages))


def hosted_chat(text):
    (document,) = _documents(text)
    tools = document["choices"][0]["message"]["executed_tools"]
    return _counts([*document["messages"], document["choices"][0]], len(tools), len(tools))


def vercel_telemetry(text):
    spans = [
        s
        for d in _documents(text)
        for r in d["resourceSpans"]
        for c in r["scopeSpans"]
        for s in c["spans"]
    ]
    calls = [s for s in spans if s["name"] == "ai.toolCall"]
    return {"conversation": 1, "span": len(spans), "call": len(calls), "output": len(calls)}


def openai_agents(text):
    items = _documents(text)
    spans = [i for i in items if i["object"] == "trace.span"]
    calls = [s for s in spans if s["span_data"]["type"] == "function"]
    return {
        "conversation": 1,
        "span": len(spans),
        "event": len(items) - len(spans),
        "call": len(calls),
        "output": len(calls),
    }


def recorded(text):
    lines = _documents(text)
    searches = [line["search"] for line in lines if "search" in line]
    calls = len(searches) + sum("open" in line for line in lines)
    return {
        "conversation": 1,
        "event": len(lines),
        "call": calls,
        "result": sum(len(s["results"]) for s in searches),
    }


def _counts(messages, calls, outputs):
    return {"conversation": 1, "message": len(messages), "call": calls, "output": outputs}


COUNTS = {
    "gemini": gemini, "cohere": cohere, "bedrock": bedrock, "pydantic-ai": pydantic_ai, "vercel": vercel,
    "claude-code": claude_code, "sharegpt": sharegpt, "hosted-chat": hosted_chat, "vercel-telemetry": vercel_telemetry,
    "openai-agents": openai_agents, "recorded": recorded,
}  # fmt: skip
