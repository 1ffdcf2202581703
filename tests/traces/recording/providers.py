"""Replies of Gemini, Cohere, Anthropic and OpenAI, read by today's SDKs from a local server and dumped by them.

The server's bodies follow the providers' API references; the SDKs parse them, so that a field that does
not exist would not come through.
"""

# ruff: noqa: E501
from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from plan import ANSWER, PAGES, QUESTION, STEPS, USAGE, Tools, save, versions


class Server:
    """Answers every request with the next body; strings are streams of server-sent events."""

    def __init__(self, bodies):
        self.bodies, self.raw = list(bodies), []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = server.bodies.pop(0)
                stream = isinstance(body, str)
                data = (body if stream else json.dumps(body)).encode()
                self.send_response(200)
                self.send_header(
                    "Content-Type", "text/event-stream" if stream else "application/json"
                )
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"


def call(tools, name, arguments):
    """What a tool returns, or its error."""
    try:
        return getattr(tools, name)(**arguments), None
    except Exception as error:
        return None, str(error)


def events(items):
    return "".join(f"data: {json.dumps(item)}\n\n" for item in items)


# --- Gemini ---


def gemini_body(step):
    calls = STEPS[step] if step < len(STEPS) else []
    blocks = [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in calls] or [
        {"text": ANSWER}
    ]
    return {
        "candidates": [{"content": {"role": "model", "parts": blocks}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": USAGE["input"], "candidatesTokenCount": USAGE["output"], "totalTokenCount": 120},
        "modelVersion": "gemini-fake",
        "responseId": f"r{step}",
    }  # fmt: skip


def gemini():
    from google import genai
    from google.genai import types

    server = Server([gemini_body(n) for n in range(len(STEPS) + 1)])
    client = genai.Client(api_key="none", http_options={"base_url": server.url})
    tools, contents = Tools(), [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    for _ in range(len(STEPS) + 1):
        response = client.models.generate_content(model="gemini-fake", contents=contents)
        contents.append(response.candidates[0].content)
        replies = []
        for block in response.function_calls or []:
            output, error = call(tools, block.name, block.args)
            content = {"error": error} if error else {"result": output}
            reply = types.FunctionResponse(id=block.id, name=block.name, response=content)
            replies.append(types.Part(function_response=reply))
        if replies:
            contents.append(types.Content(role="user", parts=replies))
    facts = {"format": "gemini", "packages": versions("google-genai"), "iterations": [2, 1, 1]}
    dumped = [c.model_dump(mode="json", exclude_none=True) for c in contents]
    save("gemini-contents.json", {"contents": dumped}, tools.counts(), **facts)
    camel = [json.loads(c.model_dump_json(by_alias=True, exclude_none=True)) for c in contents]
    save("gemini-contents-camel.json", camel, tools.counts(), **facts)
    gemini_grounding(genai)


def gemini_grounding(genai):
    pages = PAGES["Seine source"]
    grounding = {
        "webSearchQueries": ["Seine source", "Seine length"],
        "groundingChunks": [{"web": {"uri": p["url"], "title": p["title"]}} for p in pages],
        "groundingSupports": [{"segment": {"endIndex": 20, "text": ANSWER[:20]}, "groundingChunkIndices": [0, 1]}],
        "searchEntryPoint": {"renderedContent": "<div></div>"},
    }  # fmt: skip
    body = gemini_body(len(STEPS))
    body["candidates"][0]["groundingMetadata"] = grounding
    server = Server([body])
    client = genai.Client(api_key="none", http_options={"base_url": server.url})
    response = client.models.generate_content(model="gemini-fake", contents=QUESTION)
    counts = {
        "searches": 1,
        "results": 3,
        "failed": 0,
        "empty": 0,
        "opens": 0,
        "others": 0,
        "queries": ["Seine source | Seine length"],
    }
    facts = {
        "format": "gemini",
        "packages": versions("google-genai"),
        "iterations": [1],
        "tokens": 120,
    }
    save(
        "gemini-grounding.json",
        response.model_dump(mode="json", exclude_none=True),
        counts,
        **facts,
    )
    chunks = [gemini_body(len(STEPS)) for _ in range(3)]
    for number, chunk in enumerate(chunks):
        chunk["responseId"] = "r1"
        chunk["candidates"][0]["content"]["parts"][0]["text"] = ANSWER[
            number * 15 : (number + 1) * 15
        ]
        if number < 2:
            del chunk["candidates"][0]["finishReason"]
    chunks[-1]["candidates"][0]["groundingMetadata"] = grounding
    text = "".join(f"data: {json.dumps(c)}\r\n\r\n" for c in chunks)
    client = genai.Client(api_key="none", http_options={"base_url": Server([text]).url})
    received = list(client.models.generate_content_stream(model="gemini-fake", contents=QUESTION))
    assert len(received) == 3
    save("gemini-stream.sse", text, counts, **facts)


# --- Cohere ---


def cohere():
    from cohere import ClientV2

    def body(step):
        calls = STEPS[step] if step < len(STEPS) else []
        message = {"role": "assistant"}
        if calls:
            message |= {
                "tool_plan": "I will search.",
                "tool_calls": [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls],
            }  # fmt: skip
        else:
            source = {"type": "tool", "id": "call_1:0", "tool_output": PAGES["Seine source"][0]}
            message |= {
                "content": [{"type": "text", "text": ANSWER}],
                "citations": [{"start": 0, "end": 20, "text": ANSWER[:20], "sources": [source], "type": "TEXT_CONTENT"}],
            }  # fmt: skip
        tokens = {"input_tokens": USAGE["input"], "output_tokens": USAGE["output"]}
        return {
            "id": f"r{step}",
            "finish_reason": "TOOL_CALL" if calls else "COMPLETE",
            "message": message,
            "usage": {"tokens": tokens},
        }

    server = Server([body(n) for n in range(len(STEPS) + 1)])
    client = ClientV2(api_key="none", base_url=server.url)
    tools, messages = Tools(), [{"role": "user", "content": QUESTION}]
    for _ in range(len(STEPS) + 1):
        response = client.chat(model="fake", messages=messages)
        messages.append(json.loads(response.message.model_dump_json(exclude_none=True)))
        for block in response.message.tool_calls or []:
            output, error = call(tools, block.function.name, json.loads(block.function.arguments))
            pages = (
                output if isinstance(output, list) else [{"output": output or f"Error: {error}"}]
            )
            documents = [{"type": "document", "document": {"data": json.dumps(p)}} for p in pages]
            messages.append({"role": "tool", "tool_call_id": block.id, "content": documents})
    facts = {"format": "cohere", "packages": versions("cohere"), "iterations": [2, 1, 1]}
    save("cohere-messages.json", {"messages": messages}, tools.counts(), **facts)


# --- Anthropic ---


def anthropic_body(step):
    calls = STEPS[step] if step < len(STEPS) else []
    blocks = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls] or [
        {"type": "text", "text": ANSWER}
    ]
    return {
        "id": f"msg_{step}", "type": "message", "role": "assistant", "model": "fake", "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": USAGE["input"], "output_tokens": USAGE["output"]},
    }  # fmt: skip


def anthropic_stream():
    """A hosted search in a stream, as the API sends it."""
    found = [
        {
            "type": "web_search_result",
            "url": p["url"],
            "title": p["title"],
            "encrypted_content": "zz",
            "page_age": None,
        }
        for p in PAGES["Seine source"]
    ]
    start = {**anthropic_body(len(STEPS)), "content": [], "stop_reason": None}
    items = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"query": "Sei'}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 'ne source"}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": found}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "", "citations": []}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": ANSWER[:10]}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": ANSWER[10:]}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": USAGE["output"]}},
        {"type": "message_stop"},
    ]  # fmt: skip
    return "".join(f"event: {i['type']}\ndata: {json.dumps(i)}\n\n" for i in items)


def anthropic():
    from anthropic import Anthropic

    server = Server([*(anthropic_body(n) for n in range(len(STEPS) + 1)), anthropic_stream()])
    client = Anthropic(api_key="none", base_url=server.url)
    tools, messages = Tools(), [{"role": "user", "content": QUESTION}]
    for _ in range(len(STEPS) + 1):
        response = client.messages.create(model="fake", max_tokens=100, messages=messages)
        messages.append(
            {
                "role": "assistant",
                "content": [
                    json.loads(b.model_dump_json(exclude_none=True)) for b in response.content
                ],
            }
        )
        replies = []
        for block in response.content:
            if block.type == "tool_use":
                output, error = call(tools, block.name, block.input)
                text = json.dumps(output) if error is None else error
                replies.append(
                    {
                        "type": "tool_result",
                        "tool_use_id": block.id,
                        "content": text,
                        "is_error": error is not None,
                    }
                )
        if replies:
            messages.append({"role": "user", "content": replies})
    facts = {"format": "anthropic", "packages": versions("anthropic")}
    save(
        "anthropic-messages.json",
        {"messages": messages},
        tools.counts(),
        iterations=[2, 1, 1],
        **facts,
    )
    with client.messages.stream(model="fake", max_tokens=100, messages=messages) as stream:
        final = stream.get_final_message()
    counts = {
        "searches": 1,
        "results": 3,
        "failed": 0,
        "empty": 0,
        "opens": 0,
        "others": 0,
        "queries": ["Seine source"],
    }
    save("anthropic-stream.sse", anthropic_stream(), counts, iterations=[1], **facts)
    save("anthropic-response.json", final.model_dump_json(), counts, iterations=[1], **facts)


# --- OpenAI ---


def chat_body(step):
    calls = STEPS[step] if step < len(STEPS) else []
    message = {"role": "assistant", "content": None if calls else ANSWER}
    if calls:
        message["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in calls
        ]
    return {
        "id": f"chatcmpl-{step}", "object": "chat.completion", "created": 1_700_000_000, "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}],
        "usage": {"prompt_tokens": USAGE["input"], "completion_tokens": USAGE["output"], "total_tokens": 120},
    }  # fmt: skip


def chat_stream():
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": "chatcmpl-s",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "fake",
            "choices": [choice],
        }

    def piece(index, **function):
        return {"index": index, "function": function}

    items = [chunk({"role": "assistant", "content": None})]
    for index, (i, n, a) in enumerate(STEPS[0]):
        text = json.dumps(a)
        items.append(
            chunk(
                {
                    "tool_calls": [
                        {**piece(index, name=n, arguments=""), "id": i, "type": "function"}
                    ]
                }
            )
        )
        items.append(chunk({"tool_calls": [piece(index, arguments=text[:9])]}))
        items.append(chunk({"tool_calls": [piece(index, arguments=text[9:])]}))
    items.append(chunk({}, "tool_calls"))
    usage = {
        "prompt_tokens": USAGE["input"],
        "completion_tokens": USAGE["output"],
        "total_tokens": 120,
    }
    items.append(
        {
            "id": "chatcmpl-s",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "fake",
            "choices": [],
            "usage": usage,
        }
    )
    return events(items) + "data: [DONE]\n\n"


def openai():
    from openai import OpenAI

    provider = instrument()
    server = Server([*(chat_body(n) for n in range(len(STEPS) + 1)), chat_stream()])
    client = OpenAI(api_key="none", base_url=server.url)
    tools, messages, responses = Tools(), [{"role": "user", "content": QUESTION}], []
    for _ in range(len(STEPS) + 1):
        response = client.chat.completions.create(model="fake", messages=messages)
        request = list(messages)
        responses.append(
            {"request": {"messages": request}, "response": json.loads(response.model_dump_json())}
        )
        message = response.choices[0].message
        messages.append(json.loads(message.model_dump_json(exclude_none=True)))
        for block in message.tool_calls or []:
            output, error = call(tools, block.function.name, json.loads(block.function.arguments))
            content = json.dumps(output) if error is None else f"Error: {error}"
            messages.append({"role": "tool", "tool_call_id": block.id, "content": content})
    facts = {"format": "openai-chat", "packages": versions("openai"), "iterations": [2, 1, 1]}
    save("openai-chat-messages.json", {"messages": messages}, tools.counts(), **facts)
    save(
        "openai-chat-log.jsonl",
        "".join(json.dumps(r) + "\n" for r in responses),
        tools.counts(),
        **{**facts, "tokens": 600},
    )
    finish(provider, tools.counts())
    assert list(client.chat.completions.create(model="fake", messages=messages, stream=True))
    counts = {
        "searches": 2,
        "results": 0,
        "failed": 0,
        "empty": 0,
        "unread": 2,
        "opens": 0,
        "others": 0,
        "queries": ["Seine source", "Seine length"],
    }
    save("openai-chat-stream.sse", chat_stream(), counts, **{**facts, "iterations": [2]})


def instrument():
    """OpenInference's instrumentation of the SDK: spans of models only, the tools run outside of it."""
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from plan import tracer

    provider, exporter = tracer()
    OpenAIInstrumentor().instrument(tracer_provider=provider, skip_dep_check=True)
    return exporter


def finish(exporter, counts):
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from plan import otlp

    OpenAIInstrumentor().uninstrument()
    spans = exporter.get_finished_spans()
    facts = {
        "format": "openinference",
        "packages": versions("openai", "openinference-instrumentation-openai"),
    }
    save(
        "openinference-openai-models.json",
        otlp(spans),
        counts,
        spans=len(spans),
        tokens=600,
        iterations=[2, 1, 1],
        **facts,
    )


for record in (gemini, cohere, anthropic, openai):
    record()
