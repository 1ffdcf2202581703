"""Turns, answers and conversations: what starts a turn, what is the answer, which lines belong together."""
# ruff: noqa: E501

import json

import pytest

from goodgain.traces import open_traces, threads

RESULTS = [{"url": "https://x.org/p", "title": "Paris"}]


def read(tmp_path, *documents, name="traces.jsonl", **options):
    path = tmp_path / name
    path.write_text("".join(json.dumps(d) + "\n" for d in documents))
    opened = open_traces(str(path), **options)
    traces = list(opened.read())
    assert opened.ledger.differences() == {}
    return traces, opened.ledger


def steps(trace):
    return [
        [len(i["searches"]) for i in turn["iterations"] if i["searches"]] for turn in trace["turns"]
    ]


def call(name, query="paris"):
    arguments = json.dumps({"query": query})
    return {
        "id": name,
        "type": "function",
        "function": {"name": "web_search", "arguments": arguments},
    }


def assistant(*calls, text=None):
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def tool(name, results=RESULTS):
    return {"role": "tool", "tool_call_id": name, "content": json.dumps(results)}


USER = {"role": "user", "content": "Where is Paris?"}
LOOP = [
    USER,
    assistant(call("c1")),
    tool("c1"),
    assistant(call("c2", "seine")),
    tool("c2"),
    assistant(text="In France."),
]


# --- turns ---

REMINDER = {"type": "text", "text": "<system-reminder>Use at most 3 searches.</system-reminder>"}


def use(name, query="paris"):
    return {"type": "tool_use", "id": name, "name": "web_search", "input": {"query": query}}


def result(name):
    return {
        "type": "tool_result",
        "tool_use_id": name,
        "content": [
            {"type": "search_result", "source": "https://x.org/p", "title": "P", "content": []}
        ],
    }


@pytest.mark.parametrize("text", [REMINDER, {"type": "text", "text": "You have 2 searches left."}])
def test_system_text_beside_a_tool_result_starts_no_turn(text, tmp_path):
    messages = [
        {"role": "user", "content": "Where is Paris?"},
        {"role": "assistant", "content": [use("c1")]},
        {"role": "user", "content": [result("c1"), text]},
        {"role": "assistant", "content": [use("c2", "seine")]},
        {"role": "user", "content": [text, result("c2")]},
        {"role": "assistant", "content": [{"type": "text", "text": "In France."}]},
        {"role": "user", "content": [REMINDER]},
        {"role": "user", "content": "And Rome?"},
    ]
    (trace,), _ = read(tmp_path, {"id": "c", "messages": messages})
    assert [t.get("user") for t in trace["turns"]] == ["Where is Paris?", "And Rome?"]
    assert steps(trace) == [[1, 1], []]
    assert trace["turns"][0]["answer"] == "In France."


def test_reminders_alone_start_no_turn_in_a_chat(tmp_path):
    reminder = {"role": "user", "content": REMINDER["text"]}
    (trace,), _ = read(tmp_path, {"messages": [*LOOP[:3], reminder, *LOOP[3:]]})
    assert steps(trace) == [[1, 1]]


def test_pause_turn_goes_on(tmp_path):
    def response(name, stop, *blocks):
        return {"type": "message", "id": name, "role": "assistant", "content": list(blocks), "stop_reason": stop,
                "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100}}  # fmt: skip

    first = response(
        "m1", "pause_turn",
        {"type": "text", "text": "I will look."},
        {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "paris"}},
        {"type": "web_search_tool_result", "tool_use_id": "w1", "content": [
            {"type": "web_search_result", "url": "https://x.org/p", "title": "P", "encrypted_content": "z"}]},
    )  # fmt: skip
    second = response(
        "m2", "end_turn",
        {"type": "text", "text": "Paris is ", "citations": None},
        {"type": "text", "text": "in France", "citations": [{"type": "web_search_result_location",
         "url": "https://x.org/p", "title": "P", "cited_text": "Paris, France", "encrypted_index": "e"}]},
        {"type": "text", "text": "."},
    )  # fmt: skip
    traces, _ = read(tmp_path, first, second)
    (turn,) = traces[0]["turns"]
    assert len(traces) == 1 and steps(traces[0]) == [[1]]
    assert turn["answer"].replace("\n", "") == "Paris is in France."
    assert turn["citations"] == [{"url": "https://x.org/p", "title": "P", "quote": "Paris, France"}]
    assert [i["tokens"] for i in turn["iterations"]] == [115, 115]


# --- answers ---


def test_only_the_final_answer_and_all_of_it(tmp_path):
    blocks = [{"type": "text", "text": "In "}, {"type": "text", "text": "France."}]
    messages = [
        USER,
        assistant(call("c1"), text="Let me search."),
        tool("c1"),
        {"role": "assistant", "content": blocks},
    ]
    (trace,), _ = read(tmp_path, {"messages": messages})
    assert trace["turns"][0]["answer"] == "In \nFrance."


def test_text_before_a_call_is_not_the_answer(tmp_path):
    (trace,), _ = read(tmp_path, {"messages": [*LOOP, USER, assistant(call("c3"), text="Wait.")]})
    assert [t.get("answer") for t in trace["turns"]] == ["In France.", None]


def test_citations(tmp_path):
    text = "In France [1], see [Paris](https://x.org/p) and https://x.org/q.\n\n[1] Atlas: https://x.org/a"
    annotation = {
        "type": "url_citation",
        "url_citation": {"url": "https://x.org/p", "title": "P", "start_index": 0, "end_index": 9},
    }
    message = {"role": "assistant", "content": text, "annotations": [annotation]}
    (trace,), _ = read(tmp_path, {"messages": [USER, message]})
    citations = trace["turns"][0]["citations"]
    assert citations[0] == {"url": "https://x.org/p", "title": "P", "marker": "In France"}
    assert {"url": "https://x.org/a", "marker": "[1]"} in citations
    assert {"url": "https://x.org/q"} in citations
    assert len(citations) == 3


# --- conversations ---


def completion(number, message, **facts):
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "message": {**message, "refusal": None}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}, **facts}  # fmt: skip


def test_a_log_that_repeats_its_history_is_one_conversation(tmp_path):
    lines = [
        {"request": {"messages": LOOP[:n]}, "response": completion(n, LOOP[n])} for n in (1, 3, 5)
    ]
    other = [{**m, "content": "Where is Rome?"} if m is USER else m for m in LOOP]
    lines.insert(1, {"request": {"messages": other[:1]}, "response": completion(9, other[1])})
    traces, ledger = read(tmp_path, *lines)
    assert len(traces) == 2
    assert steps(traces[0]) == [[1, 1]]
    assert traces[0]["turns"][0]["answer"] == "In France."
    assert [i["tokens"] for i in traces[0]["turns"][0]["iterations"]] == [110, 110, 110]
    assert ledger.count("message", "duplicate") == 2 + 4
    assert ledger.count("message") == sum(len(x["request"]["messages"]) + 1 for x in lines)


def test_requests_alone_are_one_conversation(tmp_path):
    traces, _ = read(tmp_path, *({"messages": LOOP[:n]} for n in (1, 3, 5, 6)))
    assert len(traces) == 1 and steps(traces[0]) == [[1, 1]]


@pytest.mark.parametrize(
    "key", ["session_id", "thread_id", "conversation_id", "trace_id", "metadata"]
)
def test_lines_with_the_same_id_are_one_conversation(key, tmp_path):
    pieces = [LOOP[:2], LOOP[2:4], LOOP[4:]]
    link = {"metadata": {"session_id": "s1"}} if key == "metadata" else {key: "s1"}
    traces, _ = read(tmp_path, *({**link, "messages": p} for p in pieces))
    assert len(traces) == 1 and steps(traces[0]) == [[1, 1]]
    assert traces[0]["conversation"] == "s1"


def test_runs_and_systems_over_the_same_conversation_stay_apart(tmp_path):
    other = [USER, assistant(call("d1", "rome")), tool("d1"), assistant(text="Rome.")]
    lines = [
        {"conversation_id": "c", "system": "a", "messages": LOOP},
        {"conversation_id": "c", "system": "b", "messages": LOOP},
        {"conversation_id": "c", "system": "a", "messages": other},
        {"conversation_id": "c", "system": "a", "messages": other},
    ]
    traces, ledger = read(tmp_path, *lines)
    assert [(t["conversation"], t["system"]) for t in traces] == [("c", s) for s in "abaa"]
    assert [steps(t) for t in traces] == [[[1, 1]], [[1, 1]], [[1]], [[1]]]
    assert ledger.count("message", "duplicate") == 0


def test_states_from_the_newest_to_the_oldest(tmp_path):
    states = [{"thread_id": "t", "values": {"messages": LOOP[:n]}} for n in (6, 4, 2)]
    (trace,), ledger = read(tmp_path, *states)
    assert steps(trace) == [[1, 1]]
    assert ledger.count("message", "duplicate") == 6


def test_the_same_question_twice_is_two_conversations(tmp_path):
    traces, _ = read(tmp_path, {"id": "1", "messages": LOOP}, {"id": "2", "messages": LOOP[:3]})
    assert [steps(t) for t in traces] == [[[1, 1]], [[1]]]
    traces, _ = read(tmp_path, {"id": "1", "messages": LOOP}, {"id": "2", "messages": LOOP})
    assert [t["conversation"] for t in traces] == ["1", "2"]
    different = [USER, assistant(call("d1", "rome")), tool("d1"), assistant(text="Rome.")]
    traces, _ = read(tmp_path, {"messages": LOOP}, {"messages": different})
    assert [steps(t) for t in traces] == [[[1, 1]], [[1]]]


def response(number, previous, *output, **facts):
    return {"id": f"resp_{number}", "object": "response", "model": "m", "previous_response_id": previous,
            "output": list(output), "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}, **facts}  # fmt: skip


def function_call(name, query="paris"):
    return {
        "type": "function_call",
        "id": f"fc_{name}",
        "call_id": name,
        "name": "web_search",
        "arguments": json.dumps({"query": query}),
    }


def output(name):
    return {"type": "function_call_output", "call_id": name, "output": json.dumps(RESULTS)}


ANSWER = {"type": "message", "role": "assistant", "content": [
    {"type": "output_text", "text": "In France.", "annotations": [
        {"type": "url_citation", "url": "https://x.org/p", "title": "P", "start_index": 0, "end_index": 2}]}]}  # fmt: skip


def test_responses_that_name_the_one_before_are_one_conversation(tmp_path):
    lines = [
        response(1, None, function_call("c1"), input="Where is Paris?"),
        response(2, "resp_1", function_call("c2", "seine"), input=[output("c1")]),
        response(3, "resp_2", ANSWER, input=[output("c2")]),
        response(4, None, function_call("c9", "rome"), input="Where is Rome?"),
    ]
    traces, _ = read(tmp_path, *lines)
    assert [steps(t) for t in traces] == [[[1, 1]], [[1]]]
    (turn,) = traces[0]["turns"]
    assert turn["user"] == "Where is Paris?" and turn["answer"] == "In France."
    assert turn["citations"] == [{"url": "https://x.org/p", "title": "P", "marker": "In"}]
    assert [i["tokens"] for i in turn["iterations"]] == [110, 110, 110]


def test_responses_that_repeat_their_input_are_one_conversation(tmp_path):
    user = {"role": "user", "content": "Where is Paris?"}
    history = [user, function_call("c1"), output("c1")]
    lines = [
        response(1, None, function_call("c1"), input=[user]),
        response(2, None, function_call("c2", "seine"), input=history),
        response(3, None, ANSWER, input=[*history, function_call("c2", "seine"), output("c2")]),
    ]
    (trace,), ledger = read(tmp_path, *lines)
    assert steps(trace) == [[1, 1]]
    assert ledger.count("message", "duplicate") == 2 + 4


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_responses_of_a_conversation(conversation, tmp_path):
    lines = [
        response(1, None, function_call("c1"), input="Where is Paris?", conversation=conversation),
        response(2, None, ANSWER, input=[output("c1")], conversation=conversation),
    ]
    (trace,), _ = read(tmp_path, *lines)
    assert trace["conversation"] == "conv_1" and steps(trace) == [[1]]


def test_conversations_far_apart_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "OPEN_THREADS", 3)
    lines = [{"session_id": f"s{n}", "messages": LOOP} for n in range(6)]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(d) + "\n" for d in [*lines, lines[0]]))
    opened = open_traces(str(path))
    assert len(list(opened.read())) == 7
    assert "conversation 's0' continues after more than 3 others" in opened.notes[0]


def test_spans_of_one_session_without_a_root_are_one_turn(tmp_path):
    def span(number, **attributes):
        return {"traceId": f"t{number}", "spanId": f"s{number}", "name": "chat", "startTimeUnixNano": f"17000000000000000{number:02}",
                "endTimeUnixNano": f"17000000000000000{number:02}", "attributes": {"gen_ai.operation.name": "chat",
                "gen_ai.conversation.id": "c", **{k: json.dumps(v) for k, v in attributes.items()}}}  # fmt: skip

    user = {"role": "user", "parts": [{"type": "text", "content": "Where is Paris?"}]}
    asks = {
        "role": "assistant",
        "parts": [
            {"type": "tool_call", "id": "c1", "name": "web_search", "arguments": {"query": "paris"}}
        ],
    }
    tells = {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": RESULTS}],
    }
    answers = {"role": "assistant", "parts": [{"type": "text", "content": "In France."}]}
    first = span(1, **{"gen_ai.input.messages": [user], "gen_ai.output.messages": [asks]})
    second = span(
        2, **{"gen_ai.input.messages": [user, asks, tells], "gen_ai.output.messages": [answers]}
    )
    (trace,), _ = read(tmp_path, first, second)
    assert steps(trace) == [[1]]
    assert len(trace["turns"][0]["iterations"][0]["searches"][0]["results"]) == 1
    assert trace["turns"][0]["answer"] == "In France."


def test_a_hosted_search_without_sources_is_unread(tmp_path):
    lines = [
        response(
            1,
            None,
            {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "paris"}},
            ANSWER,
        )
    ]
    (trace,), ledger = read(tmp_path, *lines)
    (search,) = trace["turns"][0]["iterations"][0]["searches"]
    assert search["unread"] == "the provider did not return the results"
    assert ledger.unread == 1 and ledger.count("call", "empty") == 0


def test_a_stream_that_repeats_the_message_of_a_generation(tmp_path):
    def block(content, tokens):
        return {
            "role": "assistant",
            "id": "m1",
            "content": [content],
            "usage": {"input_tokens": 10, "output_tokens": tokens},
        }

    messages = [
        {"role": "user", "content": "?"},
        block({"type": "text", "text": "I will look."}, 1),
        block(use("c1"), 9),
        block(use("c2", "seine"), 9),
        {"role": "user", "content": [result("c1"), result("c2")]},
        {
            "role": "assistant",
            "id": "m2",
            "content": "In France.",
            "usage": {"input_tokens": 10, "output_tokens": 1},
        },
    ]
    (trace,), _ = read(tmp_path, {"messages": messages})
    assert steps(trace) == [[2]]
    assert [i["tokens"] for i in trace["turns"][0]["iterations"]] == [19, 11]
    assert trace["turns"][0]["answer"] == "In France."


def test_a_transcript_without_a_search_is_a_conversation(tmp_path):
    lines = [
        {
            "id": "1",
            "response": "<search>paris</search><information>Doc 1(Title: P) x</information><answer>a</answer>",
        },
        {"id": "2", "response": "<think>I know that.</think><answer>In France.</answer>"},
    ]
    traces, _ = read(tmp_path, *lines)
    assert [t["conversation"] for t in traces] == ["1", "2"]
    assert [steps(t) for t in traces] == [[[1]], [[]]]
    assert traces[1]["turns"][0]["answer"] == "In France."


def test_a_prompt_that_explains_tags_is_a_question(tmp_path):
    prompt = "Results are in <tool_response> and </tool_response>. Where is Paris?"
    call_text = '<tool_call>{"name": "search", "arguments": {"query": "paris"}}</tool_call>'
    output = "<tool_response>" + json.dumps(RESULTS) + "</tool_response>"
    roles = ("user", "assistant", "user", "assistant")
    texts = (prompt, call_text, output, "In France.")
    messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
    (trace,), ledger = read(tmp_path, {"messages": messages})
    assert [t["user"] for t in trace["turns"]] == [prompt]
    assert steps(trace) == [[1]]
    assert ledger.count("output") == 1 and ledger.is_well
