"""One tree of spans, written in every format of spans."""
# ruff: noqa: E501

import json
from dataclasses import dataclass, field
from typing import Any

START = 1_700_000_000_000_000_000


@dataclass
class Node:
    kind: str  # agent, chain, model, tool, retriever
    name: str = ""
    input: Any = None
    output: Any = None
    children: list["Node"] = field(default_factory=list)
    call: str | None = None
    calls: tuple = ()  # of a model: (id, tool, arguments)
    tokens: tuple | None = None  # input, output
    error: str | None = None
    number: int = 0
    parent: int = 0
    start: int = 0
    end: int = 0


def numbered(root):
    """The nodes in order, with numbers, parents and times."""
    nodes, clock = [], 0

    def walk(node, parent):
        nonlocal clock
        nodes.append(node)
        node.number, node.parent = len(nodes), parent
        clock += 1
        node.start = clock
        for child in node.children:
            walk(child, node.number)
        clock += 1
        node.end = clock

    walk(root, 0)
    return nodes


def _nano(moment):
    return str(START + moment * 10**8)


def _iso(moment):
    return f"2026-01-01T00:{moment // 600:02}:{moment // 10 % 60:02}.{moment % 10}00000Z"


def _otel_span(node, attributes):
    span = {
        "traceId": "t1", "spanId": f"s{node.number}", "name": node.name or node.kind,
        "parentSpanId": f"s{node.parent}" if node.parent else "",
        "startTimeUnixNano": _nano(node.start), "endTimeUnixNano": _nano(node.end),
        "attributes": {k: v for k, v in attributes.items() if v is not None},
    }  # fmt: skip
    if node.error:
        span["status"] = {"code": 2, "message": node.error}
    return span


def openinference(nodes):
    def attributes(n):
        a = {"openinference.span.kind": {"model": "LLM"}.get(n.kind, n.kind.upper())}
        if n.kind == "tool":
            a |= {"tool.name": n.name, "tool.id": n.call}
        if n.input is not None:
            a["input.value"] = n.input if isinstance(n.input, str) else json.dumps(n.input)
        if n.kind == "retriever":
            for i, d in enumerate(n.output or []):
                a |= {f"retrieval.documents.{i}.document.{k}": v for k, v in d.items()}
        elif n.output is not None:
            a["output.value"] = n.output if isinstance(n.output, str) else json.dumps(n.output)
        for i, (call, tool, arguments) in enumerate(n.calls):
            prefix = f"llm.output_messages.0.message.tool_calls.{i}.tool_call."
            a |= {
                prefix + "id": call,
                prefix + "function.name": tool,
                prefix + "function.arguments": json.dumps(arguments),
            }
        if n.tokens:
            a |= {"llm.token_count.prompt": n.tokens[0], "llm.token_count.completion": n.tokens[1]}
            a["llm.token_count.total"] = sum(n.tokens)
        return a

    return "\n".join(json.dumps(_otel_span(n, attributes(n))) for n in nodes)


def otel(nodes):
    operations = {
        "agent": "invoke_agent", "chain": "workflow", "model": "chat", "tool": "execute_tool",
        "retriever": "retrieval",
    }  # fmt: skip

    def attributes(n):
        a = {"gen_ai.operation.name": operations[n.kind]}
        if n.kind == "tool":
            a |= {
                "gen_ai.tool.name": n.name, "gen_ai.tool.call.id": n.call,
                "gen_ai.tool.call.arguments": json.dumps(n.input),
                "gen_ai.tool.call.result": None if n.output is None else json.dumps(n.output),
            }  # fmt: skip
        elif n.kind == "retriever":
            a |= {
                "gen_ai.retrieval.query.text": n.input,
                "gen_ai.retrieval.documents": None if n.output is None else json.dumps(n.output),
            }
        elif n.kind == "model" and n.calls:
            parts = [
                {"type": "tool_call", "id": c, "name": t, "arguments": a} for c, t, a in n.calls
            ]
            a["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": parts}])
        if n.tokens:
            a |= {
                "gen_ai.usage.input_tokens": n.tokens[0],
                "gen_ai.usage.output_tokens": n.tokens[1],
            }
        return a

    return json.dumps([_otel_span(n, attributes(n)) for n in nodes])


def openllmetry(nodes):
    operations = {
        "agent": "invoke_agent", "chain": "execute_task", "model": "chat", "tool": "execute_tool",
        "retriever": "vector_db_retrieve",
    }  # fmt: skip
    kinds = {"agent": "workflow", "chain": "task", "tool": "tool", "retriever": "task"}

    def attributes(n):
        a = {"gen_ai.operation.name": operations[n.kind], "traceloop.entity.name": n.name or None}
        a["traceloop.span.kind"] = kinds.get(n.kind)
        if n.kind == "tool":
            value = {"input_str": str(n.input), "tags": [], "metadata": {}, "inputs": n.input}
            a["traceloop.entity.input"] = json.dumps({**value, "kwargs": {}})
            if n.output is not None:
                a["traceloop.entity.output"] = json.dumps({"output": n.output, "kwargs": {}})
        elif n.kind == "retriever":
            a["traceloop.entity.input"] = json.dumps({"query": n.input})
            if n.output is not None:
                documents = [
                    {"page_content": d["content"], "metadata": {"id": d["id"]}} for d in n.output
                ]
                value = {"documents": documents, "count": len(documents)}
                a["traceloop.entity.output"] = json.dumps(value)
        for i, (call, tool, arguments) in enumerate(n.calls):
            prefix = f"gen_ai.completion.0.tool_calls.{i}."
            a |= {
                prefix + "id": call,
                prefix + "name": tool,
                prefix + "arguments": json.dumps(arguments),
            }
        if n.tokens:
            a |= {
                "gen_ai.usage.prompt_tokens": n.tokens[0],
                "gen_ai.usage.completion_tokens": n.tokens[1],
                "llm.usage.total_tokens": sum(n.tokens),
            }
        return a

    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [
        {**span, "attributes": [{"key": k, "value": {"intValue" if isinstance(v, int) else "stringValue": v}}
                                for k, v in span["attributes"].items()]}
        for span in (_otel_span(n, attributes(n)) for n in nodes)
    ]}]}]})  # fmt: skip


def langsmith(nodes):
    kinds = {"agent": "chain", "model": "llm"}

    def run(n):
        outputs = None
        if n.kind == "retriever" and n.output is not None:
            documents = [
                {"page_content": d["content"], "metadata": {"id": d["id"]}} for d in n.output
            ]
            outputs = {"documents": documents}
        elif n.kind == "model":
            calls = [{"id": c, "name": t, "args": a} for c, t, a in n.calls]
            message = {"lc": 1, "type": "constructor", "id": ["schema", "AIMessage"],
                       "kwargs": {"content": "", "tool_calls": calls}}  # fmt: skip
            outputs = {"generations": [[{"message": message}]]}
        elif n.output is not None:
            outputs = {"output": {"content": n.output, "tool_call_id": n.call, "type": "tool"}}
        run = {
            "id": f"r{n.number}", "trace_id": "t1", "parent_run_id": f"r{n.parent}" if n.parent else None,
            "dotted_order": f"2026{n.number:06}", "run_type": kinds.get(n.kind, n.kind), "name": n.name or n.kind,
            "start_time": _iso(n.start), "end_time": _iso(n.end), "error": n.error, "outputs": outputs,
            "inputs": {"query": n.input} if n.kind == "retriever" else {"input": str(n.input)},
        }  # fmt: skip
        if n.tokens:
            run |= {"prompt_tokens": n.tokens[0], "completion_tokens": n.tokens[1]}
            run["total_tokens"] = sum(n.tokens)
        return run

    return json.dumps([run(n) for n in nodes])


def langfuse(nodes):
    kinds = {"model": "GENERATION", "agent": "AGENT", "chain": "CHAIN"}

    def observation(n):
        output = n.output
        if n.kind == "model":
            output = {"role": "assistant", "content": "", "tool_calls": [
                {"id": c, "function": {"name": t, "arguments": json.dumps(a)}} for c, t, a in n.calls
            ]}  # fmt: skip
        elif n.kind == "tool" and n.call and output is not None:
            output = {"tool_call_id": n.call, "content": output}
        observation = {
            "id": f"o{n.number}", "traceId": "t1", "type": kinds.get(n.kind, n.kind.upper()), "name": n.name or n.kind,
            "parentObservationId": f"o{n.parent}" if n.parent else None,
            "startTime": _iso(n.start), "endTime": _iso(n.end),
            "input": n.input if isinstance(n.input, str) else json.dumps(n.input),
            "output": None if output is None else json.dumps(output),
        }  # fmt: skip
        if n.error:
            observation |= {"level": "ERROR", "statusMessage": n.error}
        if n.tokens:
            observation["usageDetails"] = {"input": n.tokens[0], "output": n.tokens[1]}
        return observation

    return json.dumps({"trace": {"id": "t1"}, "observations": [observation(n) for n in nodes]})


def mlflow(nodes):
    kinds = {"model": "CHAT_MODEL"}

    def span(n):
        output = n.output
        if n.kind == "model":
            calls = [
                {"id": c, "function": {"name": t, "arguments": json.dumps(a)}}
                for c, t, a in n.calls
            ]
            output = {"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]}
        elif n.kind == "tool" and n.call and output is not None:
            output = {"tool_call_id": n.call, "content": output}
        elif n.kind == "retriever" and output is not None:
            output = [{"page_content": d["content"], "id": d["id"], "metadata": {}} for d in output]
        attributes = {"mlflow.spanType": kinds.get(n.kind, n.kind.upper()), "mlflow.spanInputs": n.input,
                      "mlflow.spanOutputs": output}  # fmt: skip
        if n.tokens:
            attributes["mlflow.chat.tokenUsage"] = {
                "input_tokens": n.tokens[0], "output_tokens": n.tokens[1], "total_tokens": sum(n.tokens),
            }  # fmt: skip
        return {
            "name": n.name or n.kind, "span_id": f"s{n.number}", "parent_span_id": f"s{n.parent}" if n.parent else None,
            "start_time_unix_nano": START + n.start * 10**8, "end_time_unix_nano": START + n.end * 10**8,
            "status": {"code": "STATUS_CODE_ERROR" if n.error else "STATUS_CODE_OK"},
            "attributes": {k: json.dumps(v) for k, v in attributes.items() if v is not None},
        }  # fmt: skip

    return json.dumps(
        {
            "info": {"trace_id": "t1", "trace_metadata": {}},
            "data": {"spans": [span(n) for n in nodes]},
        }
    )


WRITERS = {
    "openinference": openinference, "otel": otel, "openllmetry": openllmetry, "langsmith": langsmith,
    "langfuse": langfuse, "mlflow": mlflow,
}  # fmt: skip
