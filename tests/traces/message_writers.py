"""Writes a canonical conversation in the formats of messages; see `writers`."""
# ruff: noqa: E501

import json

from writers import steps_of, usage_of


def canonical(trace, shape):
    return json.dumps(trace)


def recorded(trace, shape):
    import tempfile
    from pathlib import Path

    import goodgain as gg

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        with gg.record(path) as rec:
            rec.conversation(trace["conversation"], user=trace["turns"][0]["user"])
            for number, turn in enumerate(trace["turns"]):
                if number:
                    rec.turn(turn["user"])
                for iteration in turn["iterations"]:
                    with rec.iteration(tokens=iteration["tokens"]):
                        for s in iteration["searches"]:
                            results = () if s.get("error") else shape(s["results"])
                            rec.search(s["query"], results, tool=s["tool"], error=s.get("error"))
                        for page in iteration.get("opens", ()):
                            rec.open({"url": page["url"]}, tool=page["tool"])
                rec.answer(turn["answer"])
        return path.read_text()


def openai_chat(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            calls = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                }
                for c in step.calls
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages += [
                {
                    "role": "tool",
                    "tool_call_id": c.id,
                    "content": c.text if not c.error else f"Error: {c.error}",
                }
                for c in step.calls
            ]
        messages.append({"role": "assistant", "content": turn.answer})
    return json.dumps({"id": trace["conversation"], "messages": messages})


def openai_functions(trace, shape):
    """The older form: one call a message, answered by the function's name."""
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            for c in step.calls:
                messages.append(
                    {
                        "role": "assistant",
                        "content": None,
                        "function_call": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                    }
                )
                messages.append(
                    {
                        "role": "function",
                        "name": c.tool,
                        "content": c.text if not c.error else f"Error: {c.error}",
                    }
                )
        messages.append({"role": "assistant", "content": turn.answer})
    return json.dumps({"id": trace["conversation"], "messages": messages})


def chat_log(trace, shape):
    """A loop logged as one request and response a line."""
    lines, said = [], []
    for turn in steps_of(trace, shape):
        said.append({"role": "user", "content": turn.user})
        for step in [*turn.steps, None]:
            message = {"role": "assistant", "content": turn.answer}
            if step:
                calls = [
                    {
                        "id": c.id,
                        "type": "function",
                        "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                    }
                    for c in step.calls
                ]
                message = {"role": "assistant", "content": None, "tool_calls": calls}
            usage = usage_of(
                step.tokens if step else turn.final, "prompt_tokens", "completion_tokens"
            )
            response = {
                "object": "chat.completion",
                "choices": [{"index": 0, "message": message}],
                "usage": usage,
            }
            lines.append(
                json.dumps(
                    {
                        "request": {"messages": list(said)},
                        "response": {"id": f"r{len(lines)}", **response},
                    }
                )
            )
            said.append(message)
            said += [
                {
                    "role": "tool",
                    "tool_call_id": c.id,
                    "content": c.text if not c.error else f"Error: {c.error}",
                }
                for c in (step.calls if step else ())
            ]
    return "\n".join(lines)


def anthropic(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            blocks = [
                {"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments}
                for c in step.calls
            ]
            messages.append(
                {"role": "assistant", "content": blocks, "usage": usage_of(step.tokens)}
            )
            messages.append({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": c.id, "content": c.error or c.text, "is_error": bool(c.error)} for c in step.calls]})  # fmt: skip
        messages.append(
            {
                "role": "assistant",
                "content": [{"type": "text", "text": turn.answer}],
                "usage": usage_of(turn.final),
            }
        )
    return json.dumps({"id": trace["conversation"], "messages": messages})


def openai_responses(trace, shape):
    items = []
    for turn in steps_of(trace, shape):
        items.append({"type": "message", "role": "user", "content": turn.user})
        for step in turn.steps:
            items.append({"type": "reasoning", "summary": []})
            items += [
                {
                    "type": "function_call",
                    "call_id": c.id,
                    "name": c.tool,
                    "arguments": json.dumps(c.arguments),
                }
                for c in step.calls
            ]
            items += [
                {
                    "type": "function_call_output",
                    "call_id": c.id,
                    "output": c.text if not c.error else f"Error: {c.error}",
                }
                for c in step.calls
            ]
        items.append(
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": turn.answer}],
            }
        )
    return json.dumps(items)


def langchain(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"type": "human", "content": turn.user})
        for step in turn.steps:
            calls = [
                {"name": c.tool, "args": c.arguments, "id": c.id, "type": "tool_call"}
                for c in step.calls
            ]
            usage = {**usage_of(step.tokens), "total_tokens": step.tokens}
            messages.append(
                {"type": "ai", "content": "", "tool_calls": calls, "usage_metadata": usage}
            )
            messages += [
                {
                    "type": "tool",
                    "tool_call_id": c.id,
                    "content": c.error or c.text,
                    "status": "error" if c.error else "success",
                }
                for c in step.calls
            ]
        messages.append(
            {
                "type": "ai",
                "content": turn.answer,
                "usage_metadata": {**usage_of(turn.final), "total_tokens": turn.final},
            }
        )
    return messages


def langchain_flat(trace, shape):
    return json.dumps({"thread_id": trace["conversation"], "messages": langchain(trace, shape)})


def langchain_dict(trace, shape):
    messages = [{"type": m["type"], "data": m} for m in langchain(trace, shape)]
    return json.dumps({"thread_id": trace["conversation"], "messages": messages})


def langchain_dumps(trace, shape):
    names = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
    messages = [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", names[m["type"]]],
            "kwargs": m,
        }
        for m in langchain(trace, shape)
    ]
    return json.dumps({"thread_id": trace["conversation"], "messages": messages})


def inspect(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            calls = [
                {"id": c.id, "function": c.tool, "arguments": c.arguments, "type": "function"}
                for c in step.calls
            ]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": c.id, "function": c.tool, "content": c.text if not c.error else "", **({"error": {"type": "unknown", "message": c.error}} if c.error else {})}
                for c in step.calls]  # fmt: skip
        messages.append({"role": "assistant", "content": turn.answer})
    return json.dumps(
        {
            "eval": {"model": "m"},
            "samples": [{"id": trace["conversation"], "epoch": 1, "messages": messages}],
        }
    )


def browsecomp(trace, shape):
    (turn,) = steps_of(trace, shape)
    items = []
    for step in turn.steps:
        items.append({"type": "reasoning", "output": "hm"})
        items += [
            {
                "type": "tool_call",
                "tool_name": c.tool,
                "arguments": json.dumps(c.arguments),
                "output": c.text if not c.error else f"Error: {c.error}",
            }
            for c in step.calls
        ]
    items.append({"type": "output_text", "output": turn.answer})
    return json.dumps({"query_id": trace["conversation"], "result": items})


def bedrock(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": [{"text": turn.user}]})
        for step in turn.steps:
            messages.append(
                {
                    "role": "assistant",
                    "content": [
                        {"toolUse": {"toolUseId": c.id, "name": c.tool, "input": c.arguments}}
                        for c in step.calls
                    ],
                }
            )
            messages.append({"role": "user", "content": [
                {"toolResult": {"toolUseId": c.id, "status": "error" if c.error else "success", "content": [{"text": c.error or c.text}]}} for c in step.calls]})  # fmt: skip
        messages.append({"role": "assistant", "content": [{"text": turn.answer}]})
    return json.dumps({"sessionId": trace["conversation"], "messages": messages})


def gemini(trace, shape, ids=True):
    contents = []
    for turn in steps_of(trace, shape):
        contents.append({"role": "user", "parts": [{"text": turn.user}]})
        for step in turn.steps:
            named = [({"id": c.id} if ids else {}) | {"name": c.tool} for c in step.calls]
            contents.append(
                {
                    "role": "model",
                    "parts": [
                        {"functionCall": {**n, "args": c.arguments}}
                        for n, c in zip(named, step.calls, strict=True)
                    ],
                }
            )
            contents.append({"role": "user", "parts": [
                {"functionResponse": {**n, "response": {"error": c.error} if c.error else {"result": c.output}}} for n, c in zip(named, step.calls, strict=True)]})  # fmt: skip
        contents.append({"role": "model", "parts": [{"text": turn.answer}]})
    return json.dumps({"id": trace["conversation"], "contents": contents})


def gemini_without_ids(trace, shape):
    return gemini(trace, shape, ids=False)


def cohere(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            calls = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                }
                for c in step.calls
            ]
            messages.append({"role": "assistant", "tool_plan": "I search.", "tool_calls": calls})
            messages += [
                {
                    "role": "tool",
                    "tool_call_id": c.id,
                    "content": c.text if not c.error else f"Error: {c.error}",
                }
                for c in step.calls
            ]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": turn.answer}]})
    return json.dumps({"id": trace["conversation"], "messages": messages})


def cohere_1(trace, shape):
    history = []
    for turn in steps_of(trace, shape):
        history.append({"role": "USER", "message": turn.user})
        for step in turn.steps:
            history.append(
                {
                    "role": "CHATBOT",
                    "message": "",
                    "tool_calls": [{"name": c.tool, "parameters": c.arguments} for c in step.calls],
                }
            )
            history.append({"role": "TOOL", "tool_results": [
                {"call": {"name": c.tool, "parameters": c.arguments}, "outputs": [{"output": c.output}] if not c.error else [{"error": c.error}]} for c in step.calls]})  # fmt: skip
        history.append({"role": "CHATBOT", "message": turn.answer})
    return json.dumps({"conversation_id": trace["conversation"], "chat_history": history})


def pydantic_ai(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        request = [{"part_kind": "user-prompt", "content": turn.user}]
        for step in turn.steps:
            messages.append(
                {"kind": "request", "parts": request, "conversation_id": trace["conversation"]}
            )
            calls = [
                {
                    "part_kind": "tool-call",
                    "tool_name": c.tool,
                    "args": json.dumps(c.arguments),
                    "tool_call_id": c.id,
                }
                for c in step.calls
            ]
            messages.append({"kind": "response", "parts": calls, "usage": usage_of(step.tokens)})
            request = [
                {
                    "part_kind": "retry-prompt",
                    "tool_name": c.tool,
                    "tool_call_id": c.id,
                    "content": c.error,
                }
                if c.error
                else {
                    "part_kind": "tool-return",
                    "tool_name": c.tool,
                    "tool_call_id": c.id,
                    "content": c.output,
                }
                for c in step.calls
            ]
        messages.append({"kind": "request", "parts": request})
        messages.append(
            {
                "kind": "response",
                "parts": [{"part_kind": "text", "content": turn.answer}],
                "usage": usage_of(turn.final),
            }
        )
    return json.dumps(messages)


def vercel(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            messages.append(
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool-call",
                            "toolCallId": c.id,
                            "toolName": c.tool,
                            "input": c.arguments,
                        }
                        for c in step.calls
                    ],
                }
            )
            messages.append({"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": c.id, "toolName": c.tool, "output": {"type": "error-text", "value": c.error} if c.error else {"type": "json", "value": c.output}}
                for c in step.calls]})  # fmt: skip
        messages.append({"role": "assistant", "content": [{"type": "text", "text": turn.answer}]})
    return json.dumps({"id": trace["conversation"], "messages": messages})


def vercel_ui(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"id": "u", "role": "user", "parts": [{"type": "text", "text": turn.user}]})
        blocks = []
        for step in turn.steps:
            blocks.append({"type": "step-start"})
            for n, c in enumerate(step.calls):
                head = (
                    {"type": "dynamic-tool", "toolName": c.tool}
                    if n % 2
                    else {"type": f"tool-{c.tool}"}
                )
                state = (
                    {"state": "output-error", "errorText": c.error}
                    if c.error
                    else {"state": "output-available", "output": c.output}
                )
                blocks.append({**head, "toolCallId": c.id, "input": c.arguments, **state})
        blocks += [{"type": "step-start"}, {"type": "text", "text": turn.answer}]
        messages.append({"id": "a", "role": "assistant", "parts": blocks})
    return json.dumps({"id": trace["conversation"], "messages": messages})


def claude_code(trace, shape):
    lines, count = [], 0

    def line(kind, message, **more):
        nonlocal count
        count += 1
        lines.append(
            json.dumps(
                {
                    "type": kind,
                    "uuid": f"u{count}",
                    "sessionId": trace["conversation"],
                    "isSidechain": False,
                    "message": message,
                    **more,
                }
            )
        )

    lines.append(json.dumps({"type": "summary", "summary": "About it", "leafUuid": "u1"}))
    for turn in steps_of(trace, shape):
        line("user", {"role": "user", "content": turn.user})
        for number, step in enumerate(turn.steps):
            for c in step.calls:  # a line for each block, with the usage of the whole message
                block = {"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments}
                line(
                    "assistant",
                    {
                        "id": f"msg_{turn.user}_{number}",
                        "role": "assistant",
                        "content": [block],
                        "usage": usage_of(step.tokens),
                    },
                )
            for c in step.calls:
                line(
                    "user",
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": c.id,
                                "content": c.error or c.text,
                                "is_error": bool(c.error),
                            }
                        ],
                    },
                )
        line(
            "assistant",
            {
                "id": f"msg_{turn.user}",
                "role": "assistant",
                "content": [{"type": "text", "text": turn.answer}],
                "usage": usage_of(turn.final),
            },
        )
    return "\n".join(lines)


def sharegpt(trace, shape):
    messages = []
    for turn in steps_of(trace, shape):
        messages.append({"from": "human", "value": turn.user})
        for step in turn.steps:
            messages.append(
                {
                    "from": "function_call",
                    "value": json.dumps(
                        [{"name": c.tool, "arguments": c.arguments} for c in step.calls]
                    ),
                }
            )
            messages += [
                {"from": "observation", "value": c.text if not c.error else f"Error: {c.error}"}
                for c in step.calls
            ]
        messages.append({"from": "gpt", "value": turn.answer})
    return json.dumps({"id": trace["conversation"], "conversations": messages})


def hosted_chat(trace, shape):
    """Groq's compound systems."""
    (turn,) = steps_of(trace, shape)
    tools = [
        {"index": n, "type": "search" if "query" in c.arguments else "visit", "arguments": json.dumps(c.arguments), "output": c.text if not c.error else f"Error: {c.error}"}
        for n, c in enumerate(c for s in turn.steps for c in s.calls)
    ]  # fmt: skip
    message = {"role": "assistant", "content": turn.answer, "executed_tools": tools}
    response = {
        "id": trace["conversation"],
        "object": "chat.completion",
        "model": "groq/compound",
        "choices": [{"index": 0, "message": message}],
    }
    return json.dumps({**response, "messages": [{"role": "user", "content": turn.user}]})


def search_r1(trace, shape):
    (turn,) = trace["turns"]
    text = (
        f"<|im_start|>user\nAnswer. Question: {turn['user']}\n<|im_end|>\n<|im_start|>assistant\n"
    )
    for iteration in turn["iterations"]:
        for search in iteration["searches"]:
            pages = "\n".join(
                f"Doc {n}(Title: {p['title']}) {p['content']}"
                for n, p in enumerate(search["results"], 1)
            )
            text += f"<search>{search['query']}</search>\n<information>{pages or 'No results found.'}</information>\n"
    return text + f"<answer>{turn['answer']}</answer>"
