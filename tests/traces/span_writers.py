"""Writes a canonical conversation in the formats of spans; see `writers`."""
# ruff: noqa: E501

import datetime
import json

from writers import TOKENS, steps_of

START = 1_700_000_000


def spans_of(trace, shape):
    """(trace number, kind, step or call, times, messages before) of each span, in order."""
    said, second = [], 0
    for number, turn in enumerate(steps_of(trace, shape)):
        said.append(("user", turn.user, None))
        for step in [*turn.steps, None]:
            second += 10
            yield number, "model", step or turn, second, list(said)
            if step is None:
                said.append(("assistant", turn.answer, None))
                continue
            said.append(("assistant", "", step.calls))
            for n, call in enumerate(step.calls):
                yield number, "tool", call, second + 2 + n, None
                said.append(("tool", call.error or call.text, call))


def calls_of(step):
    return getattr(step, "calls", [])


def chat_messages(said, function=True):
    """Messages as OpenAI has them."""
    messages = []
    for role, text, extra in said:
        message = {"role": role, "content": text}
        if role == "assistant" and extra:
            message["tool_calls"] = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                }
                for c in extra
            ]
        if role == "tool":
            message["tool_call_id"] = extra.id
        messages.append(message)
    return messages


def reply(step):
    text = getattr(step, "answer", "")
    return ("assistant", text, calls_of(step) or None)


def tokens(step):
    return getattr(step, "tokens", 0) or step.final


def _otlp(spans):
    def value(v):
        return {"intValue": str(v)} if isinstance(v, int) else {"stringValue": v}

    for span in spans:
        span["attributes"] = [{"key": k, "value": value(v)} for k, v in span["attributes"].items()]
    return json.dumps(
        {
            "resourceSpans": [
                {"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}
            ]
        }
    )


def _span(trace, number, count, name, second, attributes, error=None, parent=True):
    times = {
        "startTimeUnixNano": str((START + second) * 10**9),
        "endTimeUnixNano": str((START + second) * 10**9 + 5 * 10**8),
    }
    status = {"status": {"code": 2, "message": error}} if error else {}
    ids = {"traceId": f"{trace['conversation']}-{number}", "spanId": f"s{count}", "name": name}
    return {**ids, **times, **status, "attributes": attributes}


def otel(trace, shape):
    spans = []
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        shared = {"gen_ai.conversation.id": trace["conversation"]}
        if kind == "model":
            blocks = [
                {"type": "tool_call", "id": c.id, "name": c.tool, "arguments": c.arguments}
                for c in calls_of(item)
            ]
            blocks = blocks or [{"type": "text", "content": item.answer}]
            inputs = [
                {"role": "user", "parts": [{"type": "text", "content": t}]}
                for r, t, _ in said
                if r == "user"
            ]
            attributes = {
                "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": TOKENS, "gen_ai.usage.output_tokens": tokens(item) - TOKENS,
                "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": blocks}]), "gen_ai.input.messages": json.dumps(inputs),
            }  # fmt: skip
            spans.append(_span(trace, number, count, "chat", second, shared | attributes))
        else:
            attributes = {
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": item.tool, "gen_ai.tool.call.id": item.id,
                "gen_ai.tool.call.arguments": json.dumps(item.arguments),
            }  # fmt: skip
            if not item.error:
                attributes["gen_ai.tool.call.result"] = json.dumps(item.output)
            spans.append(
                _span(trace, number, count, "execute_tool", second, shared | attributes, item.error)
            )
    return _otlp(spans)


def openinference(trace, shape):
    spans = []
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        shared = {"session.id": trace["conversation"]}
        if kind == "model":
            attributes = {
                "openinference.span.kind": "LLM",
                "llm.token_count.prompt": TOKENS,
                "llm.token_count.completion": tokens(item) - TOKENS,
            }
            for n, (role, text, _) in enumerate(said):
                attributes |= {
                    f"llm.input_messages.{n}.message.role": role,
                    f"llm.input_messages.{n}.message.content": text,
                }
            attributes |= {
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": getattr(item, "answer", ""),
            }
            for n, c in enumerate(calls_of(item)):
                prefix = f"llm.output_messages.0.message.tool_calls.{n}.tool_call"
                attributes |= {
                    f"{prefix}.id": c.id,
                    f"{prefix}.function.name": c.tool,
                    f"{prefix}.function.arguments": json.dumps(c.arguments),
                }
            spans.append(_span(trace, number, count, "LLM", second, shared | attributes))
        else:
            attributes = {
                "openinference.span.kind": "TOOL",
                "tool.name": item.tool,
                "tool_call.id": item.id,
                "input.value": json.dumps(item.arguments),
            }
            if not item.error:
                attributes["output.value"] = item.text
            spans.append(
                _span(trace, number, count, item.tool, second, shared | attributes, item.error)
            )
    return _otlp(spans)


def vercel_telemetry(trace, shape):
    spans = []
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        shared = {"ai.telemetry.metadata.sessionId": trace["conversation"]}
        if kind == "model":
            prompt = [
                {"role": r, "content": [{"type": "text", "text": t}]}
                for r, t, _ in said
                if r == "user"
            ]
            attributes = {
                "ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(prompt), "ai.usage.promptTokens": TOKENS,
                "ai.usage.completionTokens": tokens(item) - TOKENS,
            }  # fmt: skip
            if calls_of(item):
                attributes["ai.response.toolCalls"] = json.dumps(
                    [
                        {"toolCallId": c.id, "toolName": c.tool, "input": json.dumps(c.arguments)}
                        for c in item.calls
                    ]
                )
            else:
                attributes["ai.response.text"] = item.answer
            spans.append(
                _span(
                    trace, number, count, "ai.generateText.doGenerate", second, shared | attributes
                )
            )
        else:
            attributes = {
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": item.tool,
                "ai.toolCall.id": item.id,
                "ai.toolCall.args": json.dumps(item.arguments),
            }
            if not item.error:
                attributes["ai.toolCall.result"] = json.dumps(item.output)
            spans.append(
                _span(trace, number, count, "ai.toolCall", second, shared | attributes, item.error)
            )
    return _otlp(spans)


def console(trace, shape):
    """OpenTelemetry's console exporter: objects one after another, over many lines."""
    document = json.loads(otel(trace, shape))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    text = ""
    for span in spans:
        attributes = {a["key"]: next(iter(a["value"].values())) for a in span["attributes"]}
        text += json.dumps(
            {
                "name": span["name"],
                "context": {"trace_id": span["traceId"], "span_id": span["spanId"], "trace_state": "[]"},
                "kind": "SpanKind.INTERNAL", "parent_id": None, "start_time": _iso(int(span["startTimeUnixNano"])), "end_time": _iso(int(span["endTimeUnixNano"])),
                "status": {"status_code": "ERROR", "description": span["status"]["message"]} if "status" in span else {"status_code": "UNSET"},
                "attributes": attributes, "events": [], "links": [], "resource": {"attributes": {}, "schema_url": ""},
            },
            indent=4,
        ) + "\n"  # fmt: skip
    return text


def _iso(nanoseconds):
    return (
        datetime.datetime.fromtimestamp(nanoseconds / 1e9, datetime.UTC)
        .isoformat()
        .replace("+00:00", "Z")
    )


def _moment(second, more=0.0):
    return _iso(int((START + second + more) * 10**9))


def langfuse(trace, shape):
    observations = []
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        head = {
            "id": f"o{count}",
            "traceId": f"{trace['conversation']}-{number}",
            "sessionId": trace["conversation"],
            "startTime": _moment(second),
            "endTime": _moment(second, 0.5),
        }
        if kind == "model":
            usage = {"input": TOKENS, "output": tokens(item) - TOKENS, "total": tokens(item)}
            body = {
                "type": "GENERATION",
                "name": "model",
                "input": json.dumps(chat_messages(said)),
                "output": json.dumps(chat_messages([reply(item)])[0]),
                "usageDetails": usage,
            }
        else:
            output = {"tool_call_id": item.id, "content": item.output}
            state = (
                {"level": "ERROR", "statusMessage": item.error}
                if item.error
                else {"output": json.dumps(output)}
            )
            body = {
                "type": "TOOL",
                "name": item.tool,
                "input": json.dumps({**item.arguments}),
                **state,
            }
        observations.append({**head, **body})
    return "\n".join(json.dumps(o) for o in observations)


def langsmith(trace, shape):
    runs = []
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        head = {
            "id": f"r{count}", "trace_id": f"{trace['conversation']}-{number}", "dotted_order": f"{number:03}.{count:04}", "start_time": _moment(second), "end_time": _moment(second, 0.5),
            "extra": {"metadata": {"session_id": trace["conversation"]}},
        }  # fmt: skip
        if kind == "model":
            message = {
                "type": "ai",
                "content": getattr(item, "answer", ""),
                "tool_calls": [
                    {"id": c.id, "name": c.tool, "args": c.arguments} for c in calls_of(item)
                ],
            }
            message["usage_metadata"] = {
                "input_tokens": TOKENS,
                "output_tokens": tokens(item) - TOKENS,
                "total_tokens": tokens(item),
            }
            inputs = [{"type": "human", "content": t} for r, t, _ in said if r == "user"]
            body = {
                "run_type": "llm",
                "name": "model",
                "inputs": {"messages": [inputs]},
                "outputs": {
                    "generations": [[{"message": {"kwargs": message, "id": ["AIMessage"]}}]]
                },
            }
        else:
            state = (
                {"error": item.error, "outputs": None}
                if item.error
                else {"outputs": {"output": {"tool_call_id": item.id, "content": item.output}}}
            )
            body = {
                "run_type": "tool",
                "name": item.tool,
                "inputs": {"input": str(item.arguments)},
                **state,
            }
        runs.append({**head, **body})
    return json.dumps(runs)


def mlflow(trace, shape):
    traces = {}
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        if kind == "model":
            choice = {
                "choices": [{"message": chat_messages([reply(item)])[0]}],
                "usage": {"prompt_tokens": TOKENS, "completion_tokens": tokens(item) - TOKENS},
            }
            body = ("CHAT_MODEL", "model", {"messages": chat_messages(said)}, choice, None)
        else:
            body = (
                "TOOL",
                item.tool,
                item.arguments,
                None if item.error else {"tool_call_id": item.id, "content": item.output},
                item.error,
            )
        form, name, inputs, outputs, error = body
        attributes = {
            "mlflow.spanType": json.dumps(form),
            "mlflow.spanInputs": json.dumps(inputs),
            "mlflow.spanOutputs": json.dumps(outputs),
        }
        span = {
            "span_id": f"s{count}",
            "name": name,
            "start_time_unix_nano": (START + second) * 10**9,
            "end_time_unix_nano": (START + second) * 10**9 + 5 * 10**8,
            "attributes": attributes,
        }
        if error:
            span["status"] = {"code": "STATUS_CODE_ERROR", "message": error}
        traces.setdefault(number, []).append(span)
    return "\n".join(
        json.dumps(
            {
                "info": {
                    "trace_id": f"tr-{n}",
                    "trace_metadata": {"mlflow.trace.session": trace["conversation"]},
                },
                "data": {"spans": spans},
            }
        )
        for n, spans in traces.items()
    )


def openai_agents(trace, shape):
    items, seen = [], set()
    for count, (number, kind, item, second, said) in enumerate(spans_of(trace, shape)):
        name = f"{trace['conversation']}-{number}"
        if name not in seen:
            seen.add(name)
            items.append(
                {
                    "object": "trace",
                    "id": name,
                    "workflow_name": "Agent workflow",
                    "group_id": trace["conversation"],
                }
            )
        head = {
            "object": "trace.span",
            "id": f"s{count}",
            "trace_id": name,
            "parent_id": None,
            "started_at": _moment(second),
            "ended_at": _moment(second, 0.5),
            "error": None,
        }
        if kind == "model":
            usage = {"input_tokens": TOKENS, "output_tokens": tokens(item) - TOKENS}
            data = {
                "type": "generation",
                "input": chat_messages(said),
                "output": chat_messages([reply(item)]),
                "model": "m",
                "usage": usage,
            }
        else:
            data = {
                "type": "function",
                "name": item.tool,
                "input": json.dumps(item.arguments),
                "output": None if item.error else item.text,
            }
            head["error"] = {"message": item.error, "data": None} if item.error else None
        items.append({**head, "span_data": data})
    return "\n".join(json.dumps(i) for i in items)
