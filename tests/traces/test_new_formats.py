"""What is peculiar to the formats of providers and frameworks, beyond the conversation that all of them hold."""
# ruff: noqa: E501

import json

import pytest
from reading import DATA, PAGES, opens, read, searches

from goodgain.traces import open_traces

# --- searches by the provider of a chat completion ---


def completion(message, **more):
    return {"id": "r1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Two [1].", **message}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (completion({}, citations=["https://x.org/1", "https://x.org/2"]), [2]),  # Perplexity, xAI
        (completion({}, search_results=PAGES, citations=["https://x.org/1"]), [2]),
        (completion({}, search_results=[]), [0]),
        (completion({"context": {"citations": [{"content": "The first page, about one.", "title": "One", "url": "https://x.org/1", "chunk_id": "0"}], "intent": '["one"]'}}), [1]),  # Azure
        (completion({"annotations": [{"type": "url_citation", "url_citation": {**p, "content": p["snippet"]}} for p in PAGES]}), [2]),  # OpenRouter
        (completion({"reasoning_steps": [{"thought": "hm", "type": "web_search", "web_search": {"search_keywords": ["a", "b"], "search_results": PAGES}},
                                         {"thought": "so", "type": "web_search", "web_search": {"search_keywords": ["c"], "search_results": PAGES[:1]}}]}), [2, 1]),
        (completion({"executed_tools": [{"type": "search", "arguments": '{"query": "one"}', "output": "...", "search_results": {"results": PAGES}}]}), [2]),  # Groq
    ],
)  # fmt: skip
def test_hosted_searches_of_chat_completions(response, expected, tmp_path):
    opened, (trace,) = read(tmp_path, response)
    assert opened.format == "hosted-chat"
    assert [len(s["results"]) for s in searches(trace)] == expected
    assert not any("unread" in s for s in searches(trace))
    assert sum(i.get("tokens", 0) for i in trace["turns"][0]["iterations"]) == 10
    assert trace["turns"][0]["answer"] == "Two [1]."


def test_sources_that_are_only_cited_are_unread(tmp_path):
    cited = [
        {
            "type": "url_citation",
            "url_citation": {
                "url": "https://x.org/1",
                "title": "One",
                "start_index": 0,
                "end_index": 3,
            },
        }
    ]
    opened, (trace,) = read(tmp_path, completion({"annotations": cited}))
    (search,) = searches(trace)
    assert search["results"] == []
    assert "unread" in search
    assert opened.ledger.unread == 1
    assert trace["turns"][0]["citations"][0]["url"] == "https://x.org/1"


def test_tools_that_groq_runs_are_told_apart(tmp_path):
    tools = [
        {"type": "visit", "arguments": '{"url": "https://x.org/1"}', "output": "The page."},
        {"type": "python", "arguments": '{"code": "1+1"}', "output": "2"},
        {
            "type": "search",
            "arguments": '{"query": "one"}',
            "output": "Title: One\nURL: https://x.org/1\nContent: The first page.\n\nTitle: Two\nURL: https://x.org/2\nContent: The second page.",
        },
    ]
    opened, (trace,) = read(tmp_path, completion({"executed_tools": tools}))
    assert [(s["query"], len(s["results"])) for s in searches(trace)] == [("one", 2)]
    assert [o["url"] for o in opens(trace)] == ["https://x.org/1"]
    assert opened.ledger.count("call", "not a search") == 1


# --- Gemini ---


def gemini(grounding, text="Two.", **candidate):
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": text}]}, "finishReason": "STOP", "groundingMetadata": grounding, **candidate}],
            "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "totalTokenCount": 10}, "responseId": "g1", "modelVersion": "gemini-x"}  # fmt: skip


def test_grounding(tmp_path):
    chunks = [{"web": {"uri": p["url"], "title": p["title"]}} for p in PAGES]
    supports = [{"segment": {"text": "Two."}, "groundingChunkIndices": [1]}]
    pages = {
        "urlContextMetadata": {
            "urlMetadata": [
                {
                    "retrievedUrl": "https://x.org/3",
                    "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS",
                }
            ]
        }
    }
    response = gemini(
        {
            "webSearchQueries": ["one", "two"],
            "groundingChunks": chunks,
            "groundingSupports": supports,
        },
        **pages,
    )
    opened, (trace,) = read(tmp_path, {"contents": "How many?", "response": response})
    assert opened.format == "gemini"
    (search,) = searches(trace)
    assert (search["query"], [r["url"] for r in search["results"]]) == (
        "one | two",
        ["https://x.org/1", "https://x.org/2"],
    )
    assert [o["url"] for o in opens(trace)] == ["https://x.org/3"]
    turn = trace["turns"][0]
    assert (turn["user"], turn["answer"]) == ("How many?", "Two.")
    assert turn["citations"][0] == {
        "url": "https://x.org/2",
        "title": "Two",
        "type": "web",
        "quote": "Two.",
    }
    assert turn["iterations"][0]["tokens"] == 10


def test_grounding_without_chunks_is_unread(tmp_path):
    _, (trace,) = read(tmp_path, gemini({"webSearchQueries": ["one"]}))
    assert "unread" in searches(trace)[0]
    _, (trace,) = read(tmp_path, gemini({}))
    assert searches(trace) == []
    retrieved = [
        {"retrievedContext": {"uri": "gs://b/a.pdf", "title": "a.pdf", "text": "The passage."}}
    ]
    _, (trace,) = read(
        tmp_path, gemini({"retrievalQueries": ["one"], "groundingChunks": retrieved})
    )
    assert searches(trace)[0]["results"] == [
        {"url": "gs://b/a.pdf", "title": "a.pdf", "content": "The passage."}
    ]


def test_a_gemini_stream_is_a_json_array_of_chunks(tmp_path):
    first = gemini({}, "Two")
    del first["candidates"][0]["finishReason"]
    _, (trace,) = read(tmp_path, [first, gemini({"webSearchQueries": ["one"]}, " pages.")])
    assert trace["turns"][0]["answer"] == "Two pages."
    assert len(searches(trace)) == 1


def test_interactions(tmp_path):
    interaction = {"object": "interaction", "id": "i1", "model": "m", "input": "How many?", "usage": {"total_tokens": 9}, "steps": [
        {"type": "thought", "signature": "x"},
        {"type": "google_search_call", "id": "s1", "arguments": {"queries": ["one"]}},
        {"type": "google_search_result", "call_id": "s1", "result": [{"search_suggestions": "<div></div>"}]},
        {"type": "function_call", "id": "f1", "name": "search_docs", "arguments": {"query": "two"}},
        {"type": "function_result", "call_id": "f1", "result": PAGES},
        {"type": "model_output", "content": [{"type": "text", "text": "Two."}]},
    ]}  # fmt: skip
    opened, (trace,) = read(tmp_path, interaction)
    assert [("unread" in s, len(s["results"])) for s in searches(trace)] == [(True, 0), (False, 2)]
    assert trace["turns"][0]["tokens"] == 9
    assert opened.ledger.unread == 1


# --- Cohere's first version ---


def test_web_search_connector(tmp_path):
    response = {"generation_id": "g1", "text": "Two.", "search_queries": [{"text": "one"}, {"text": "two"}],
                "search_results": [{"search_query": {"text": "one"}, "connector": {"id": "web-search"}, "document_ids": ["d1", "d2"]},
                                   {"search_query": {"text": "two"}, "connector": {"id": "web-search"}, "document_ids": []}],
                "documents": [{"id": f"d{n}", **p} for n, p in enumerate(PAGES, 1)],
                "citations": [{"start": 0, "end": 3, "text": "Two", "document_ids": ["d2"]}], "meta": {"billed_units": {"input_tokens": 5, "output_tokens": 2}}}  # fmt: skip
    opened, (trace,) = read(tmp_path, response)
    assert opened.format == "cohere"
    assert [(s["query"], len(s["results"])) for s in searches(trace)] == [("one", 2), ("two", 0)]
    assert trace["turns"][0]["citations"][0]["url"] == "https://x.org/2"
    del response["search_results"]
    _, (trace,) = read(tmp_path, response)
    assert [("unread" in s) for s in searches(trace)] == [True, True]


# --- Claude Code ---


def line(kind, content, **more):
    return {
        "type": kind,
        "uuid": more.pop("uuid", "u"),
        "sessionId": "s1",
        "isSidechain": False,
        "message": {"role": kind, "content": content, **more.pop("message", {})},
        **more,
    }


def use(call, name, **arguments):
    return [{"type": "tool_use", "id": call, "name": name, "input": arguments}]


def result(call, content):
    return [{"type": "tool_result", "tool_use_id": call, "content": content}]


def test_claude_code(tmp_path):
    text = 'Web search results for query: "one"\n\nLinks: [{"title": "One", "url": "https://x.org/1"}]\n\nBoth say two.'
    found = {
        "query": "one",
        "results": [
            {
                "tool_use_id": "srv",
                "content": [{"title": p["title"], "url": p["url"]} for p in PAGES],
            },
            "Both say two.",
        ],
        "durationSeconds": 2.5,
    }
    lines = [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "sessionId": "s1"},
        line("user", "<command-name>/clear</command-name>"),
        line("user", "Caveat: The messages below were generated by the user while running local commands.", isMeta=True),
        line("user", "How many pages?"),
        line("assistant", [{"type": "thinking", "thinking": "hm"}], message={"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 5}}),
        line("assistant", use("k1", "WebSearch", query="one"), message={"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 5}}),
        line("assistant", use("k2", "Task", prompt="look deeper", subagent_type="general-purpose"), message={"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 5}}),
        line("user", result("k1", text), toolUseResult=found),
        line("user", "look deeper", isSidechain=True),
        line("assistant", use("k3", "WebSearch", query="two"), isSidechain=True, message={"id": "m2", "usage": {"input_tokens": 1, "output_tokens": 1}}),
        line("user", result("k3", "API Error: 500"), isSidechain=True) | {"message": {"role": "user", "content": [{**result("k3", "API Error: 500")[0], "is_error": True}]}},
        line("assistant", [{"type": "text", "text": "Nothing more."}], isSidechain=True, message={"id": "m3"}),
        line("user", result("k2", "Nothing more.")),
        line("assistant", use("k4", "WebFetch", url="https://x.org/1", prompt="count"), message={"id": "m4"}),
        line("user", result("k4", "The page.")),
        line("assistant", use("k5", "Bash", command="ls"), message={"id": "m5"}),
        line("user", result("k5", "a b")),
        line("assistant", [{"type": "text", "text": "Two pages."}], message={"id": "m6"}),
        line("user", "[Request interrupted by user]"),
    ]  # fmt: skip
    opened, (trace,) = read(tmp_path, "\n".join(map(json.dumps, lines)), "s.jsonl")
    assert opened.format == "claude-code"
    (turn,) = trace["turns"]
    assert (turn["user"], turn["answer"]) == ("How many pages?", "Two pages.")
    assert [
        (s["query"], len(s["results"]), s.get("latency"), "error" in s) for s in searches(trace)
    ] == [("one", 2, 2.5, False), ("two", 0, None, True)]
    assert [o["url"] for o in opens(trace)] == ["https://x.org/1"]
    assert (
        sum(i.get("tokens", 0) for i in turn["iterations"]) == 17
    )  # the lines of one message repeat its usage
    assert opened.ledger.count("message") == 18
    assert opened.ledger.count("event") == 1


# --- Vercel AI SDK, older and other forms ---


def test_tool_invocations_of_version_4(tmp_path):
    call = {
        "state": "result",
        "toolCallId": "k1",
        "toolName": "search",
        "args": {"query": "one"},
        "result": PAGES,
    }
    for message in ({"role": "assistant", "content": "Two.", "toolInvocations": [call]},
                    {"role": "assistant", "content": "Two.", "parts": [{"type": "step-start"}, {"type": "tool-invocation", "toolInvocation": call}, {"type": "step-start"}, {"type": "text", "text": "Two."}]}):  # fmt: skip
        opened, (trace,) = read(
            tmp_path, {"messages": [{"role": "user", "content": "How many?"}, message]}
        )
        assert opened.format == "vercel"
        assert [len(s["results"]) for s in searches(trace)] == [2]
        assert trace["turns"][0]["answer"] == "Two."


def test_a_result_of_generate_text(tmp_path):
    steps = [
        {"content": [{"type": "tool-call", "toolCallId": "k1", "toolName": "search", "input": {"query": "one"}}, {"type": "tool-result", "toolCallId": "k1", "toolName": "search", "output": PAGES},
                     {"type": "tool-call", "toolCallId": "k2", "toolName": "search", "input": {"query": "two"}}, {"type": "tool-error", "toolCallId": "k2", "toolName": "search", "error": "HTTP 503"}],
         "finishReason": "tool-calls", "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}},
        {"content": [{"type": "text", "text": "Two."}], "finishReason": "stop", "usage": {"totalTokens": 5}},
    ]  # fmt: skip
    opened, (trace,) = read(tmp_path, {"text": "Two.", "steps": steps})
    assert opened.format == "vercel"
    assert [(len(s["results"]), s.get("error")) for s in searches(trace)] == [
        (2, None),
        (0, "HTTP 503"),
    ]
    assert [i.get("tokens") for i in trace["turns"][0]["iterations"]] == [10, 5]


# --- ShareGPT with tags ---


def test_sharegpt_with_tags(tmp_path):
    messages = [
        {"from": "human", "value": "How many?"},
        {
            "from": "gpt",
            "value": '<tool_call>\n{"name": "search", "arguments": {"query": "one"}}\n</tool_call>',
        },
        {"from": "tool", "value": f"<tool_response>\n{json.dumps(PAGES)}\n</tool_response>"},
        {"from": "gpt", "value": "Two."},
    ]
    opened, (trace,) = read(tmp_path, [{"id": "a", "conversations": messages}])
    assert opened.format == "sharegpt"
    assert [len(s["results"]) for s in searches(trace)] == [2]
    assert trace["turns"][0]["answer"] == "Two."


def test_bedrock_response_with_its_request(tmp_path):
    use = {"toolUse": {"toolUseId": "k1", "name": "search", "input": {"query": "one"}}}
    output = {
        "toolResult": {
            "toolUseId": "k1",
            "content": [{"json": {"results": PAGES}}],
            "status": "success",
        }
    }
    document = {
        "modelId": "m", "messages": [{"role": "user", "content": [{"text": "How many?"}]}, {"role": "assistant", "content": [use]}, {"role": "user", "content": [output, {"text": "<system>go on</system>"}]}],
        "output": {"message": {"role": "assistant", "content": [{"text": "Two."}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
    }  # fmt: skip
    opened, (trace,) = read(tmp_path, document)
    assert opened.format == "bedrock"
    assert [len(s["results"]) for s in searches(trace)] == [2]
    assert len(trace["turns"]) == 1
    assert trace["turns"][0]["iterations"][-1]["tokens"] == 10


# --- recordings of live traffic ---


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not available")
def test_cassettes_of_live_traffic(tmp_path):
    yaml = pytest.importorskip("yaml")

    def exchanges(name):
        content = yaml.safe_load((DATA / "provider_cassettes" / name).read_text())
        return [
            (i["request"].get("parsed_body"), i["response"]["parsed_body"])
            for i in content["interactions"]
        ]

    pairs = exchanges("test_anthropic_web_search_tool.yaml")
    text = "\n".join(json.dumps({"request": rq, "response": rs}) for rq, rs in pairs)
    opened, traces = read(tmp_path, text, "a.jsonl")
    blocks = [b for _, response in pairs for b in response["content"]]
    found = [r for b in blocks if b["type"] == "web_search_tool_result" for r in b["content"]]
    assert opened.format == "anthropic"
    assert (
        len([s for t in traces for s in searches(t)])
        == sum(b["type"] == "server_tool_use" for b in blocks)
        == 2
    )
    assert [r["url"] for t in traces for s in searches(t) for r in s["results"]] == [
        r["url"] for r in found
    ]

    pairs = exchanges("test_openai_responses_model_file_search_tool_with_results.yaml")
    (response,) = (rs for _, rs in pairs if rs.get("object") == "response")
    calls = [i for i in response["output"] if i["type"] == "file_search_call"]
    opened, (trace,) = read(tmp_path, response, "o.json")
    assert opened.format == "openai-responses"
    assert [len(s["results"]) for s in searches(trace)] == [len(c["results"]) for c in calls]
    assert [r["id"] for s in searches(trace) for r in s["results"]] == [
        r["file_id"] for c in calls for r in c["results"]
    ]


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not available")
def test_fixtures_of_live_responses(tmp_path):
    """Counted here from the files themselves."""
    folder = DATA / "provider_fixtures_vercel_ai"

    def opened(name):
        traces = open_traces(str(folder / name))
        (trace,) = traces.read()
        return json.loads((folder / name).read_text()), trace

    source, trace = opened("perplexity-citations.json")
    assert [r["url"] for s in searches(trace) for r in s["results"]] == source["citations"]
    source, trace = opened("google-search.json")
    calls = [s for s in source["steps"] if s["type"] == "google_search_call"]
    assert [s["query"] for s in searches(trace)] == [
        " | ".join(c["arguments"]["queries"]) for c in calls
    ]
    assert all("unread" in s for s in searches(trace))
    cited = [
        a["url"] for s in source["steps"] for b in s.get("content", ()) for a in b["annotations"]
    ]
    assert [c["url"] for c in trace["turns"][0]["citations"]][: len(cited)] == cited
    source, trace = opened("cohere-citations.json")
    assert searches(trace) == []
    assert [c["quote"] for c in trace["turns"][0]["citations"]] == [
        c["text"] for c in source["message"]["citations"]
    ]


def test_a_list_of_chats_on_one_line_is_several_conversations(tmp_path):
    def chat(number):
        calls = [
            {
                "id": "k",
                "type": "function",
                "function": {"name": "search", "arguments": '{"query": "one"}'},
            }
        ]
        output = {"role": "tool", "tool_call_id": "k", "content": json.dumps(PAGES)}
        return {
            "id": f"c{number}",
            "messages": [
                {"role": "user", "content": "How many?"},
                {"role": "assistant", "tool_calls": calls},
                output,
            ],
        }

    for text in (
        json.dumps([chat(1), chat(2)]),
        json.dumps([chat(1), chat(2)], indent=1),
        f"{json.dumps([chat(1)])}\n{json.dumps([chat(2)])}",
    ):
        _, traces = read(tmp_path, text)
        assert [t["conversation"] for t in traces] == ["c1", "c2"]
        assert [len(s["results"]) for t in traces for s in searches(t)] == [2, 2]


def test_steps_of_an_agent_executor(tmp_path):
    def action(query, tool="search"):
        return {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "agent", "AgentAction"],
            "kwargs": {"tool": tool, "tool_input": {"query": query}, "log": "..."},
        }

    steps = [
        [action("one"), json.dumps(PAGES)],
        [action("two"), "No results found."],
        [action("1+1", "calculator"), "2"],
    ]
    opened, (trace,) = read(
        tmp_path, {"input": "How many?", "output": "Two.", "intermediate_steps": steps}
    )
    assert opened.format == "langchain"
    assert [(s["query"], len(s["results"])) for s in searches(trace)] == [("one", 2), ("two", 0)]
    assert (trace["turns"][0]["user"], trace["turns"][0]["answer"]) == ("How many?", "Two.")


def test_lines_of_a_batch(tmp_path):
    """OpenAI's batches and logs of gateways: the response is the body of an HTTP message."""
    body = completion(
        {
            "content": None,
            "tool_calls": [
                {
                    "id": "k",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"query": "one"}'},
                }
            ],
        }
    )
    line = {
        "id": "b1",
        "custom_id": "x",
        "response": {"status_code": 200, "body": body},
        "error": None,
    }
    opened, (trace,) = read(tmp_path, json.dumps(line))
    assert opened.format == "openai-chat"
    assert searches(trace)[0]["query"] == "one"
