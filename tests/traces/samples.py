"""Small samples of each format: two iterations, the first with two parallel searches."""
# ruff: noqa: E501

import json

import provider_samples

DOCS = [
    {
        "page_content": "Paris is in France.",
        "metadata": {"source": "https://x.org/paris", "title": "Paris"},
    }
]


def _span(kind, number, attributes, trace="t1", parent=None):
    return {
        "traceId": trace, "spanId": f"s{number}", "parentSpanId": parent, "name": kind,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 10**9),
        "endTimeUnixNano": str(1_700_000_000_500_000_000 + number * 10**9),
        "attributes": attributes,
    }  # fmt: skip


def _otlp(spans):
    def value(v):
        return (
            {"stringValue": v}
            if isinstance(v, str)
            else {"doubleValue": v}
            if isinstance(v, float)
            else {"intValue": str(v)}
        )

    for span in spans:
        span["attributes"] = [{"key": k, "value": value(v)} for k, v in span["attributes"].items()]
    return {
        "resourceSpans": [
            {"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}
        ]
    }


def otel():
    def chat(number, calls):
        blocks = [{"type": "tool_call", "id": c, "name": "search", "arguments": {}} for c in calls]
        outputs = (
            [{"role": "assistant", "parts": blocks}]
            if blocks
            else [{"role": "assistant", "parts": [{"type": "text", "content": "done"}]}]
        )
        inputs = [{"role": "user", "parts": [{"type": "text", "content": "Where is Paris?"}]}]
        return _span("chat", number, {
            "gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conv", "gen_ai.agent.name": "agent",
            "gen_ai.output.messages": json.dumps(outputs), "gen_ai.input.messages": json.dumps(inputs),
        })  # fmt: skip

    def tool(number, call, query, results):
        return _span("execute_tool search", number, {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": call,
            "gen_ai.tool.call.arguments": json.dumps({"query": query}), "gen_ai.tool.call.result": json.dumps(results),
        })  # fmt: skip

    retrieval = _span("retrieval", 6, {
        "gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "seine",
        "gen_ai.retrieval.documents": json.dumps([{"id": "d3", "score": 0.5}]),
    })  # fmt: skip
    fetch = _span(
        "execute_tool fetch",
        7,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fetch_page"},
    )
    return json.dumps(_otlp([
        chat(1, ["c1", "c2"]), tool(2, "c1", "paris", [{"id": "d1", "title": "Paris"}]), tool(3, "c2", "france", []),
        chat(5, []), retrieval, fetch,
    ]))  # fmt: skip


def openinference():
    llm = _span("LLM", 1, {
        "openinference.span.kind": "LLM", "session.id": "conv",
        "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Where is Paris?",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.1.tool_call.id": "c2",
    })  # fmt: skip
    tools = [
        _span("search", n, {"openinference.span.kind": "TOOL", "tool.name": "search", "tool.id": f"c{n - 1}",
                            "input.value": json.dumps({"query": q}), "output.value": json.dumps([{"url": f"https://x.org/{q}"}])})
        for n, q in ((2, "paris"), (3, "france"))
    ]  # fmt: skip
    retriever = _span("retrieve", 9, {
        "openinference.span.kind": "RETRIEVER", "input.value": "seine",
        "retrieval.documents.0.document.id": "d3", "retrieval.documents.0.document.score": 0.5,
        "retrieval.documents.0.document.content": "The Seine.",
        "retrieval.documents.0.document.metadata": json.dumps({"title": "Seine"}),
    })  # fmt: skip
    second = _span("LLM", 8, {"openinference.span.kind": "LLM"})
    return "\n".join(json.dumps(s) for s in [llm, *tools, second, retriever])


def langfuse():
    def observation(kind, number, name, inputs, output):
        return {
            "id": f"o{number}", "traceId": "t1", "parentObservationId": None, "type": kind, "name": name,
            "startTime": f"2026-01-01T00:00:0{number}.000Z", "endTime": f"2026-01-01T00:00:0{number}.250Z",
            "input": json.dumps(inputs), "output": json.dumps(output),
        }  # fmt: skip

    calls = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "function": {"name": "search"}}, {"id": "c2"}],
    }
    return json.dumps({
        "trace": {"id": "t1", "sessionId": "conv"},
        "observations": [
            observation("GENERATION", 1, "ChatOpenAI", [{"role": "user", "content": "Where is Paris?"}], calls),
            observation("TOOL", 2, "search", {"query": "paris"}, {"tool_call_id": "c1", "content": [{"url": "https://x.org/p"}]}),
            observation("TOOL", 3, "search", {"query": "france"}, {"tool_call_id": "c2", "content": []}),
            observation("GENERATION", 4, "ChatOpenAI", [], {"role": "assistant", "content": "again"}),
            observation("RETRIEVER", 5, "VectorStore", {"query": "seine"}, DOCS),
            observation("SPAN", 6, "agent", {}, {}),
        ],
    })  # fmt: skip


def langsmith():
    def run(number, kind, name, inputs, outputs, **more):
        return {
            "id": f"r{number}", "trace_id": "t1", "dotted_order": f"2026.{number}", "run_type": kind, "name": name,
            "start_time": f"2026-01-01T00:00:0{number}", "end_time": f"2026-01-01T00:00:0{number}.5",
            "inputs": inputs, "outputs": outputs, "extra": {"metadata": {"session_id": "conv"}}, **more,
        }  # fmt: skip

    calls = {
        "generations": [
            [
                {
                    "message": {
                        "kwargs": {
                            "tool_calls": [
                                {"id": "c1", "name": "search"},
                                {"id": "c2", "name": "search"},
                            ]
                        }
                    }
                }
            ]
        ]
    }
    runs = [
        run(5, "retriever", "Retriever", {"query": "seine"}, {"documents": DOCS}),
        run(1, "llm", "ChatOpenAI", {"messages": [[{"type": "human", "content": "Where is Paris?"}]]}, calls),
        run(2, "tool", "search", {"input": "{'query': 'paris'}"}, {"output": {"tool_call_id": "c1", "content": json.dumps([{"url": "https://x.org/p"}])}}),
        run(3, "tool", "search", {"input": "france"}, {"output": {"tool_call_id": "c2", "content": "[]"}}),
        run(4, "llm", "ChatOpenAI", {}, {"generations": []}),
    ]  # fmt: skip
    return json.dumps(runs)


def mlflow():
    def span(number, kind, name, inputs, outputs):
        return {
            "name": name, "start_time_unix_nano": number * 10**9, "end_time_unix_nano": number * 10**9 + 5 * 10**8,
            "attributes": {"mlflow.spanType": json.dumps(kind), "mlflow.spanInputs": json.dumps(inputs), "mlflow.spanOutputs": json.dumps(outputs)},
        }  # fmt: skip

    calls = {"choices": [{"message": {"tool_calls": [{"id": "c1"}, {"id": "c2"}]}}]}
    return json.dumps({
        "info": {"trace_id": "tr", "trace_metadata": {"mlflow.trace.session": "conv"}},
        "data": {"spans": [
            span(1, "CHAT_MODEL", "model", {"messages": [{"role": "user", "content": "Where is Paris?"}]}, calls),
            span(2, "TOOL", "search", {"query": "paris"}, {"tool_call_id": "c1", "content": [{"url": "https://x.org/p"}]}),
            span(3, "TOOL", "search", {"query": "france"}, {"tool_call_id": "c2", "content": []}),
            span(4, "CHAT_MODEL", "model", {}, {}),
            span(5, "RETRIEVER", "retrieve", {"query": "seine"}, [{"page_content": "The Seine.", "metadata": {}, "id": "d3"}]),
        ]},
    })  # fmt: skip


def openai_chat():
    def call(name, query, tool="web_search"):
        return {
            "id": name,
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps({"query": query})},
        }

    return json.dumps({"id": "conv", "messages": [
        {"role": "system", "content": "Search."},
        {"role": "user", "content": "Where is Paris?"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1", "paris"), call("c2", "france")]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"results": [{"link": "https://x.org/p", "title": "Paris", "snippet": "In France"}]})},
        {"role": "tool", "tool_call_id": "c2", "content": "No results found"},
        {"role": "assistant", "content": "", "tool_calls": [call("c3", "x", "open_page")]},
        {"role": "tool", "tool_call_id": "c3", "content": "a page"},
        {"role": "assistant", "content": "", "tool_calls": [call("c4", "seine")]},
        {"role": "tool", "tool_call_id": "c4", "content": json.dumps([{"title": "Seine", "text": "The Seine is a river."}])},
        {"role": "assistant", "content": "In France."},
    ]})  # fmt: skip


def openai_responses():
    return json.dumps({"id": "conv", "object": "response", "model": "m", "output": [
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "paris", "sources": [{"type": "url", "url": "https://x.org/p"}]}},
        {"type": "function_call", "call_id": "c1", "name": "search_docs", "arguments": '{"q": "france"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "[]"},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "w2", "action": {"type": "open_page", "url": "https://x.org"}},
        {"type": "file_search_call", "id": "f1", "queries": ["seine"], "results": [
            {"file_id": "f", "filename": "rivers.txt", "score": 0.9, "text": "The Seine.", "attributes": {}}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "In France."}]},
    ]})  # fmt: skip


def anthropic():
    result = {
        "type": "search_result",
        "source": "https://x.org/p",
        "title": "Paris",
        "content": [{"type": "text", "text": "In France."}],
    }
    return json.dumps({"id": "conv", "messages": [
        {"role": "user", "content": "Where is Paris?"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "paris"}},
            {"type": "tool_use", "id": "c2", "name": "search", "input": {"query": "france"}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [result]},
            {"type": "tool_result", "tool_use_id": "c2", "is_error": True, "content": "timeout"}]},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "seine"}},
            {"type": "web_search_tool_result", "tool_use_id": "w1", "content": [
                {"type": "web_search_result", "url": "https://x.org/s", "title": "Seine", "encrypted_content": "zzz"}]},
            {"type": "text", "text": "In France."}]},
    ]})  # fmt: skip


def langchain(wrapped=True):
    def message(kind, **data):
        return {"type": kind, "data": {**data, "type": kind}} if wrapped else {"type": kind, **data}

    calls = [
        {"name": "search", "args": {"query": q}, "id": c}
        for c, q in (("c1", "paris"), ("c2", "france"))
    ]
    return json.dumps({"thread_id": "conv", "messages": [
        message("human", content="Where is Paris?"),
        message("ai", content="", tool_calls=calls),
        message("tool", tool_call_id="c1", content="text for the model", artifact=DOCS),
        message("tool", tool_call_id="c2", content="[]"),
        message("ai", content="", tool_calls=[{"name": "search", "args": {"query": "seine"}, "id": "c3"}]),
        message("tool", tool_call_id="c3", content=json.dumps([{"page_content": "The Seine.", "id": "d3"}])),
        message("ai", content="In France."),
    ]})  # fmt: skip


def inspect():
    def call(name, query):
        return {"id": name, "function": "web_search", "arguments": {"query": query}}

    return json.dumps({"eval": {"model": "m"}, "samples": [{"id": 7, "epoch": 2, "attachments": {"a1": json.dumps([{"title": "Seine", "snippet": "The Seine is long."}])}, "messages": [
        {"role": "user", "content": "Where is Paris?"},
        {"role": "assistant", "content": "", "tool_calls": [call("c1", "paris"), call("c2", "france")]},
        {"role": "tool", "tool_call_id": "c1", "function": "web_search", "content": json.dumps([{"url": "https://x.org/p"}])},
        {"role": "tool", "tool_call_id": "c2", "function": "web_search", "content": "", "error": {"type": "timeout", "message": "too slow"}},
        {"role": "assistant", "content": "", "tool_calls": [call("c3", "seine")]},
        {"role": "tool", "tool_call_id": "c3", "function": "web_search", "content": "attachment://a1"},
    ]}]})  # fmt: skip


def browsecomp():
    def call(query, output, tool="search"):
        return {
            "type": "tool_call",
            "tool_name": tool,
            "arguments": json.dumps({"query": query}),
            "output": output,
        }

    return json.dumps({"query_id": "conv", "metadata": {"model": "m"}, "retrieved_docids": ["d1"], "result": [
        {"type": "reasoning", "output": "hm"},
        call("paris", json.dumps([{"docid": "d1", "score": 0.5, "snippet": "In France."}])),
        call("france", "Error: timeout"),
        {"type": "reasoning", "output": "hm"},
        call("seine", json.dumps([{"docid": "d3", "score": 0.4, "snippet": "The Seine."}])),
        call("d1", "text", "get_document"),
        {"type": "output_text", "output": "In France."},
    ]})  # fmt: skip


def search_r1():
    return (
        "<|im_start|>user\nAnswer. Call a search engine by <search> query </search>, results are between <information> and "
        "</information>. Question: Where is Paris?\n<|im_end|>\n<|im_start|>assistant\n<think>hm</think>\n<search> paris </search>\n"
        '<information>Doc 1(Title: "Paris") In France.\nDoc 2(Title: "Texas") In Texas.</information>\n'
        "<search>seine</search>\n\n<information>Doc 1(Title: Seine) A river.</information>\n<answer> In France </answer>"
    )


def recorded():
    def line(**event):
        return json.dumps({"recorded": 1, "key": "k1", "conversation": "conv", "turn": 1, **event})

    def search(query, *results):
        return {"query": query, "results": list(results)}

    return "\n".join([
        line(user="Where is Paris?"),
        line(iteration=1, search=search("paris", {"url": "https://x.org/p"})),
        line(iteration=1, search=search("france")),
        line(iteration=2, search=search("seine", {"id": "d3"})),
        line(answer={"answer": "In France."}),
    ])  # fmt: skip


def trec_dd():
    return "T1\t0\td1\t9.5\t1\tT1.1:3|T1.2:1\nT1\t0\td2\t9.0\t0\t\nT1\t1\td3\t8\t1\tT1.2:4\n"


# format: text, (searches of each iteration), results, user's words, error texts
SAMPLES = {
    "otel": (otel(), [2, 1], 2), "openinference": (openinference(), [2, 1], 3), "langfuse": (langfuse(), [2, 1], 2),
    "langsmith": (langsmith(), [2, 1], 2), "mlflow": (mlflow(), [2, 1], 2), "openai-chat": (openai_chat(), [2, 1], 2),
    "openai-responses": (openai_responses(), [2, 1], 2), "anthropic": (anthropic(), [2, 1], 2),
    "langchain": (langchain(), [2, 1], 2), "inspect": (inspect(), [2, 1], 2), "browsecomp-plus": (browsecomp(), [1, 1, 1], 2),
    "search-r1": (search_r1(), [1, 1], 3), "trec-dd": (trec_dd(), [1, 1], 3),
    "recorded": (recorded(), [2, 1], 2), **provider_samples.SAMPLES,
}  # fmt: skip
