"""Replies saved as streams, and conversations in several lines: messages, requests with their responses."""
# ruff: noqa: E501

import json

import pytest
from reading import PAGES, read, searches

# --- streams ---


def sse(events, named=False):
    return "".join(
        (f"event: {e['type']}\n" if named else "") + f"data: {json.dumps(e)}\n\n" for e in events
    )


def test_two_streams_in_one_file_and_one_cut_off(tmp_path):
    def chunk(number, delta):
        return {
            "id": f"c{number}",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta}],
        }

    def call(number, query):
        return [
            chunk(
                number,
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": f"k{number}",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"que'},
                        }
                    ],
                },
            ),
            chunk(
                number,
                {"tool_calls": [{"index": 0, "function": {"arguments": f'ry": "{query}"}}'}}]},
            ),
        ]

    text = sse(call(1, "one")) + "data: [DONE]\n\n" + ": keep-alive\n\n" + sse(call(2, "two"))
    opened, traces = read(tmp_path, text, "s.sse")
    assert opened.format == "openai-chat"
    assert [searches(t)[0]["query"] for t in traces] == ["one", "two"]
    assert opened.ledger.count("event") == 4
    assert opened.ledger.unread == 2  # the outputs are not in the stream


def test_a_responses_stream_that_was_cut_off_keeps_its_finished_items(tmp_path):
    search = {
        "type": "web_search_call",
        "id": "w1",
        "status": "completed",
        "action": {
            "type": "search",
            "query": "one",
            "sources": [{"type": "url", "url": p["url"]} for p in PAGES],
        },
    }
    events = [
        {
            "type": "response.created",
            "response": {"id": "r1", "object": "response", "model": "m", "output": []},
        },
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "web_search_call", "id": "w1"},
        },
        {"type": "response.output_item.done", "output_index": 0, "item": search},
        {"type": "response.output_text.delta", "delta": "Tw"},
    ]
    for text in (sse(events, named=True), "\n".join(map(json.dumps, events))):
        opened, (trace,) = read(tmp_path, text, "s.txt")
        assert opened.format == "openai-responses"
        assert [len(s["results"]) for s in searches(trace)] == [2]
        assert trace["conversation"] == "r1"


def test_a_cohere_stream(tmp_path):
    def delta(**message):
        return {"message": message}

    events = [
        {"type": "message-start", "id": "m1", "delta": delta(role="assistant")},
        {"type": "tool-plan-delta", "delta": delta(tool_plan="I will ")},
        {
            "type": "tool-call-start",
            "index": 0,
            "delta": delta(
                tool_calls={
                    "id": "k1",
                    "type": "function",
                    "function": {"name": "search", "arguments": ""},
                }
            ),
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": delta(tool_calls={"function": {"arguments": '{"query":'}}),
        },
        {
            "type": "tool-call-delta",
            "index": 0,
            "delta": delta(tool_calls={"function": {"arguments": ' "one"}'}}),
        },
        {
            "type": "message-end",
            "delta": {
                "finish_reason": "TOOL_CALL",
                "usage": {"tokens": {"input_tokens": 7, "output_tokens": 3}},
            },
        },
    ]
    opened, (trace,) = read(tmp_path, sse(events), "s.sse")
    assert opened.format == "cohere"
    assert searches(trace)[0]["query"] == "one"
    assert trace["turns"][0]["iterations"][0]["tokens"] == 10


# --- a loop in several lines ---


def chat_lines():
    call = {
        "id": "k",
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "one"}'},
    }
    return [{"role": "user", "content": "How many?"}, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "k", "content": json.dumps(PAGES)}, {"role": "assistant", "content": "Two."}]  # fmt: skip


LANGCHAIN = [
    {"type": "human", "content": "How many?"}, {"type": "ai", "content": "", "tool_calls": [{"id": "k", "name": "search", "args": {"query": "one"}}]},
    {"type": "tool", "tool_call_id": "k", "content": json.dumps(PAGES)}, {"type": "ai", "content": "Two."},
]  # fmt: skip
GEMINI = [
    {"role": "user", "parts": [{"text": "How many?"}]}, {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"query": "one"}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {"result": PAGES}}}]}, {"role": "model", "parts": [{"text": "Two."}]},
]  # fmt: skip
BEDROCK = [
    {"role": "user", "content": [{"text": "How many?"}]}, {"role": "assistant", "content": [{"toolUse": {"toolUseId": "k", "name": "search", "input": {"query": "one"}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "k", "content": [{"json": {"results": PAGES}}]}}]}, {"role": "assistant", "content": [{"text": "Two."}]},
]  # fmt: skip
ITEMS = [
    {"type": "message", "role": "user", "content": "How many?"}, {"type": "function_call", "call_id": "k", "name": "search", "arguments": '{"query": "one"}'},
    {"type": "function_call_output", "call_id": "k", "output": json.dumps(PAGES)}, {"type": "message", "role": "assistant", "content": "Two."},
]  # fmt: skip
PYDANTIC = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "How many?"}]},
    {
        "kind": "response",
        "parts": [
            {
                "part_kind": "tool-call",
                "tool_name": "search",
                "args": {"query": "one"},
                "tool_call_id": "k",
            }
        ],
    },
    {
        "kind": "request",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "search",
                "content": PAGES,
                "tool_call_id": "k",
            }
        ],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": "Two."}]},
]
UI = [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": "How many?"}]},
    {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "tool-search", "toolCallId": "k", "state": "output-available", "input": {"query": "one"}, "output": PAGES},
                                               {"type": "step-start"}, {"type": "text", "text": "Two."}]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("openai-chat", chat_lines()), ("langchain", LANGCHAIN), ("langchain", [{"type": m["type"], "data": m} for m in LANGCHAIN]),
        ("langchain", [{"agent": {"messages": [m]}} for m in LANGCHAIN]), ("gemini", GEMINI), ("bedrock", BEDROCK), ("openai-responses", ITEMS),
        ("pydantic-ai", PYDANTIC), ("vercel", UI),
    ],
)  # fmt: skip
def test_a_message_a_line(form, lines, tmp_path):
    opened, (trace,) = read(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl")
    assert opened.format == form
    assert [(s["query"], len(s["results"])) for s in searches(trace)] == [("one", 2)]
    assert (trace["turns"][0]["user"], trace["turns"][0]["answer"]) == ("How many?", "Two.")


def test_messages_of_two_conversations_in_turn(tmp_path):
    lines = [{"session_id": name, **m} for m in chat_lines() for name in "ab"]
    _, traces = read(tmp_path, "\n".join(map(json.dumps, lines)), "t.jsonl")
    assert [t["conversation"] for t in traces] == ["a", "b"]
    assert [len(searches(t)) for t in traces] == [1, 1]


def _log(messages, reply):
    """A request and its response a line, each repeating what was said."""
    replies = [n for n, m in enumerate(messages) if m.get("role") in ("assistant", "model")]
    return "\n".join(json.dumps(reply(messages[:n], messages[n])) for n in replies)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("gemini", _log(GEMINI, lambda m, r: {"request": {"contents": m}, "response": {"candidates": [{"content": r, "finishReason": "STOP"}]}})),
        ("gemini", _log(GEMINI, lambda m, r: {"contents": m, "candidates": [{"content": r, "finishReason": "STOP"}]})),
        ("bedrock", _log(BEDROCK, lambda m, r: {"messages": m, "output": {"message": r}, "stopReason": "x"})),
        ("bedrock", _log(BEDROCK, lambda m, r: {"modelId": "m", "input": {"inputBodyJson": {"messages": m}}, "output": {"outputBodyJson": {"output": {"message": r}, "stopReason": "x"}}})),
        ("cohere", _log(chat_lines(), lambda m, r: {"request": {"messages": m}, "response": {"id": "x", "message": r, "finish_reason": "COMPLETE"}})),
        ("pydantic-ai", "\n".join(json.dumps(PYDANTIC[:n]) for n in (2, 4))),
        ("vercel", "\n".join(json.dumps({"messages": UI[:n]}) for n in (2,))),
    ],
)  # fmt: skip
def test_a_loop_of_requests_is_one_conversation(form, text, tmp_path):
    opened, traces = read(tmp_path, text, "t.jsonl")
    assert opened.format == form
    (trace,) = traces
    assert [(s["query"], len(s["results"])) for s in searches(trace)] == [("one", 2)]
    assert trace["turns"][-1]["answer"] == "Two."


def test_a_history_of_automatic_function_calls(tmp_path):
    response = {
        "candidates": [{"content": GEMINI[3], "finish_reason": "STOP"}, {"content": GEMINI[3]}],
        "automatic_function_calling_history": GEMINI[:3],
    }
    opened, (trace,) = read(tmp_path, response)
    assert [len(s["results"]) for s in searches(trace)] == [2]
    assert opened.ledger.count("message") == 5
