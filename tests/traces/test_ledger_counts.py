"""The ledger's sums are those of the source, counted here without goodgain, for every reader."""
# ruff: noqa: E501

import itertools
import json
import os
import random
import re
from pathlib import Path

import provider_samples
import pytest
from samples import SAMPLES, langchain
from span_trees import WRITERS, Node, numbered

from goodgain.traces import FORMATS, open_traces

DATA = (
    Path(os.environ.get("GOODGAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "agent_traces"
)

# --- counting: (conversations, messages, spans, calls, outputs) of a text ---


def documents(text):
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def chats(lists, call_names=("tool_calls",)):
    messages = [m.get("data", m) for one in lists for m in one]
    calls = sum(len(m.get(name) or []) for m in messages for name in call_names)
    tagged = sum(
        m["content"].count("<tool_call>")
        or bool(re.search(r"^Action(?: \d+)?: *\w+\[", m["content"], re.M))  # the first is run
        for m in messages
        if isinstance(m.get("content"), str) and m.get("role") == "assistant"
    )
    outputs = sum((m.get("role") or m.get("type")) == "tool" for m in messages)
    responses = sum(
        max(m["content"].count("<tool_response>"), m["content"].startswith("Observation"))
        for before, m in itertools.pairwise(messages)
        if isinstance(m.get("content"), str)
        and (before.get("role"), m.get("role")) == ("assistant", "user")
        and re.search(r"<tool_call>|^Action(?: \d+)?: *\w+\[", before["content"], re.M)
    )  # other prompts may explain the tags
    return {
        "conversation": len(lists),
        "message": len(messages),
        "call": calls + tagged,
        "output": outputs + responses,
    }


def openai_chat(text):
    value = documents(text)
    value = list(value[0].values()) if "traj" in next(iter(value[0].values()), {}) else value
    return chats([d.get("messages") or d.get("traj") for d in value])


def anthropic(text):
    lists = [d.get("messages") or [d] for d in documents(text)]
    blocks = [
        b for one in lists for m in one if isinstance(m["content"], list) for b in m["content"]
    ]
    kinds = [b["type"] for b in blocks]
    calls = sum(k in ("tool_use", "server_tool_use") for k in kinds)
    outputs = sum(k.endswith("tool_result") for k in kinds)
    return {
        "conversation": len(lists),
        "message": sum(map(len, lists)),
        "call": calls,
        "output": outputs,
    }


def openai_responses(text):
    value = documents(text)
    events = len(value) if str(value[0].get("type")).startswith("response.") else 0
    if events:
        value = [d["response"] for d in value if d["type"] == "response.completed"]
    items = [i for d in value for i in d["output"]]
    outputs = sum(
        i["type"] == "function_call_output"
        or (i["type"] == "web_search_call" and "sources" in i.get("action", {}))
        or (i["type"] == "file_search_call" and i.get("results") is not None)
        for i in items
    )
    return {"conversation": len(value), "message": len(items), "event": events, "output": outputs,
            "call": sum(i["type"].endswith("_call") for i in items)}  # fmt: skip


def inspect(text):
    samples = [s for d in documents(text) for s in d["samples"]]
    return chats([s["messages"] for s in samples])


def browsecomp(text):
    value = documents(text)
    items = [i for d in value for i in d["result"]]
    calls = [i for i in items if i["type"] == "tool_call"]
    return {"conversation": len(value), "message": len(items), "call": len(calls),
            "output": sum(i["output"] is not None for i in calls)}  # fmt: skip


def search_r1(text):
    replies = [r.split("<|im_start|>")[0] for r in text.split("<|im_start|>assistant")[1:]]
    calls = sum(r.count("<search>") for r in replies)
    return {
        "conversation": len(replies),
        "message": len(replies),
        "call": calls,
        "output": sum(r.count("<information>") for r in replies),
    }


def trec_dd(text):
    rows = [line.split("\t") for line in text.splitlines()]
    steps = {(r[0], r[1]) for r in rows}
    return {
        "conversation": len({r[0] for r in rows}),
        "call": len(steps),
        "output": len(steps),
        "result": len(rows),
    }


def spans(kind_of, output_of):
    def count(text):
        value = documents(text)
        if "resourceSpans" in value[0]:
            value = [
                s
                for d in value
                for r in d["resourceSpans"]
                for c in r["scopeSpans"]
                for s in c["spans"]
            ]
        value = [
            o
            for d in value
            for o in (d.get("observations") or (d.get("data") or {}).get("spans") or [d])
        ]
        parents = {s.get("parentObservationId") for s in value}
        calls = [
            s
            for s in value
            if kind_of(s) in ("TOOL", "RETRIEVER")
            or (kind_of(s) == "SPAN" and s["id"] not in parents)
        ]
        return {
            "conversation": 1,
            "span": len(value),
            "call": len(calls),
            "output": sum(map(output_of, calls)),
        }

    return count


def attribute(span, name):
    attributes = span["attributes"]
    if isinstance(attributes, list):
        attributes = {a["key"]: next(iter(a["value"].values())) for a in attributes}
    return attributes.get(name)


def otel_kind(span):
    return {
        "execute_tool": "TOOL",
        "retrieval": "RETRIEVER",
        "vector_db_retrieve": "RETRIEVER",
    }.get(attribute(span, "gen_ai.operation.name"))


def has_otel_output(span):
    names = ("gen_ai.tool.call.result", "gen_ai.retrieval.documents", "traceloop.entity.output")
    return "status" in span or any(attribute(span, n) is not None for n in names)


def has_openinference_output(span):
    documents = attribute(span, "retrieval.documents.0.document.id") is not None
    return documents or attribute(span, "output.value") is not None or "status" in span


COUNTS = {
    "otel": spans(otel_kind, has_otel_output),
    "openinference": spans(lambda s: attribute(s, "openinference.span.kind"), has_openinference_output),
    "langfuse": spans(lambda o: o["type"], lambda o: o.get("output") is not None or o.get("level") == "ERROR"),
    "langsmith": spans(lambda r: r["run_type"].upper(), lambda r: bool(r["outputs"] or r.get("error"))),
    "mlflow": spans(
        lambda s: json.loads(s["attributes"]["mlflow.spanType"]),
        lambda s: "mlflow.spanOutputs" in s["attributes"] or "ERROR" in json.dumps(s.get("status")),
    ),
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "langchain": openai_chat,
    "inspect": inspect,
    "browsecomp-plus": browsecomp,
    "search-r1": search_r1,
    "trec-dd": trec_dd,
    **provider_samples.COUNTS,
}  # fmt: skip


def check(form, text, tmp_path, path=None):
    path = path or tmp_path / "t.json"
    if text is not None:
        path.write_text(text)
    opened = open_traces(str(path), form)
    traces = list(opened.read())
    ledger = opened.ledger
    expected = COUNTS[form](path.read_text())
    sums = {kind: ledger.count(kind) for kind in expected}
    assert sums == expected
    assert ledger.differences() == {}
    found = [s for t in traces for u in t["turns"] for i in u["iterations"] for s in i["searches"]]
    assert ledger.count("result", "result") == sum(len(s["results"]) for s in found)
    assert ledger.unread == sum("unread" in s for s in found)
    assert ledger.count("call", "failed") == sum("error" in s for s in found)
    assert len(traces) == expected["conversation"]
    return ledger, found


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name, tmp_path):
    check(name, SAMPLES[name][0], tmp_path)


def test_every_reader_is_counted():
    assert set(COUNTS) | {"canonical"} == set(FORMATS)


# --- random conversations ---

OUTPUTS = [
    [{"url": "https://x.org/1", "title": "One"}, {"url": "https://x.org/2", "title": "Two"}],
    [{"id": "d7", "content": "Text of a document that is long enough."}],
    [], "No results found.", "The Seine is a river in France.", {"temperature": 17}, "Error: timeout", "",
]  # fmt: skip
TOOLS = ["web_search", "search_docs", "open_page", "calculator", "get_weather", "wikipedia"]


def random_chat(rng):
    """Messages: turns of generations with up to three calls, most of them answered."""
    messages, number = [], 0
    for _ in range(rng.randint(1, 3)):
        messages.append({"role": "user", "content": f"Question {rng.random()}?"})
        for _ in range(rng.randint(0, 4)):
            calls = []
            for _ in range(rng.randint(1, 3)):
                number += 1
                calls.append((f"c{number}", rng.choice(TOOLS), {"query": f"q{rng.random()}"}))
            messages.append({"role": "assistant", "content": "", "calls": calls})
            for call, _, _ in calls:
                if rng.random() < 0.9:
                    messages.append({"role": "tool", "call": call, "content": rng.choice(OUTPUTS)})
        if rng.random() < 0.9:
            messages.append({"role": "assistant", "content": "The answer."})
    return messages


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


def write_openai_chat(chat):
    def write(m):
        if m["role"] == "tool":
            return {"role": "tool", "tool_call_id": m["call"], "content": as_text(m["content"])}
        calls = [
            {"id": c, "type": "function", "function": {"name": t, "arguments": json.dumps(a)}}
            for c, t, a in m.get("calls", ())
        ]
        return {
            "role": m["role"],
            "content": m["content"],
            **({"tool_calls": calls} if calls else {}),
        }

    return {"id": "c", "messages": [write(m) for m in chat]}


def write_langchain(chat):
    def write(m):
        if m["role"] == "tool":
            return {"type": "tool", "tool_call_id": m["call"], "content": as_text(m["content"])}
        calls = [{"id": c, "name": t, "args": a} for c, t, a in m.get("calls", ())]
        kind = "human" if m["role"] == "user" else "ai"
        return {"type": kind, "content": m["content"], **({"tool_calls": calls} if calls else {})}

    return {"thread_id": "c", "messages": [write(m) for m in chat]}


def write_inspect(chat):
    def write(m):
        if m["role"] == "tool":
            return {"role": "tool", "tool_call_id": m["call"], "content": as_text(m["content"])}
        calls = [{"id": c, "function": t, "arguments": a} for c, t, a in m.get("calls", ())]
        return {"role": m["role"], "content": m["content"], "tool_calls": calls}

    return {
        "eval": {"model": "m"},
        "samples": [{"id": 1, "epoch": 1, "messages": [write(m) for m in chat]}],
    }


def write_anthropic(chat):
    def write(m):
        if m["role"] == "tool":
            return {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": m["call"],
                        "content": as_text(m["content"]),
                    }
                ],
            }
        calls = [
            {"type": "tool_use", "id": c, "name": t, "input": a} for c, t, a in m.get("calls", ())
        ]
        return {"role": m["role"], "content": calls or [{"type": "text", "text": m["content"]}]}

    first = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c0", "name": "calculator", "input": {}}],
    }
    return {"id": "c", "messages": [*(write(m) for m in chat), first]}


def write_openai_responses(chat):
    items = [{"type": "reasoning", "summary": []}]
    for m in chat:
        if m["role"] == "tool":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": m["call"],
                    "output": as_text(m["content"]),
                }
            )
        for c, t, a in m.get("calls", ()):
            items.append(
                {"type": "function_call", "call_id": c, "name": t, "arguments": json.dumps(a)}
            )
        if m["role"] != "tool" and not m.get("calls"):
            items.append({"type": "message", "role": m["role"], "content": m["content"]})
    return {"id": "r", "object": "response", "output": items}


def write_browsecomp(chat):
    outputs = {m["call"]: m["content"] for m in chat if m["role"] == "tool"}
    items = [
        {
            "type": "tool_call",
            "tool_name": t,
            "arguments": json.dumps(a),
            "output": as_text(outputs[c]) if c in outputs else None,
        }
        for m in chat
        for c, t, a in m.get("calls", ())
    ]
    return {"query_id": "c", "result": [*items, {"type": "output_text", "output": "The answer."}]}


CHATS = {
    "openai-chat": write_openai_chat, "langchain": write_langchain, "inspect": write_inspect,
    "anthropic": write_anthropic, "openai-responses": write_openai_responses, "browsecomp-plus": write_browsecomp,
}  # fmt: skip


@pytest.mark.parametrize("form", CHATS)
def test_random_chats(form, tmp_path):
    rng = random.Random(form)
    for _ in range(40):
        check(form, json.dumps(CHATS[form](random_chat(rng))), tmp_path)


def test_the_same_chat_in_every_format(tmp_path):
    """The searches, opens and other calls are the same whatever the format."""
    rng = random.Random(7)
    for _ in range(20):
        chat = random_chat(rng)
        seen = set()
        for form, write in CHATS.items():
            ledger, found = check(form, json.dumps(write(chat)), tmp_path)
            extra = 1 if form == "anthropic" else 0
            accounts = tuple(
                ledger.count("call", a) - extra * (a == "not a search")
                for a in ("search", "empty", "failed", "unread", "open", "not a search")
            )
            seen.add((accounts, tuple(len(s["results"]) for s in found)))
        assert len(seen) == 1, seen


def random_tree(rng):
    def tool(call, depth=0):
        arguments = {"query": f"q{rng.random()}"}
        name = rng.choice(TOOLS)
        node = Node("tool", name, arguments, rng.choice(OUTPUTS[:6]), call=call)
        if depth < 2 and rng.random() < 0.5:
            documents = [
                {"id": f"d{n}", "content": f"Document {n}, with words."}
                for n in range(rng.randint(1, 3))
            ]
            query = arguments["query"] if rng.random() < 0.7 else "other"
            node.children.append(Node("retriever", "Retriever", query, documents))
        return node

    children, number = [], 0
    for _ in range(rng.randint(1, 4)):
        calls = []
        for _ in range(rng.randint(1, 3)):
            number += 1
            calls.append(tool(f"c{number}"))
        made = tuple((c.call, c.name, c.input) for c in calls)
        children += [Node("model", "Model", calls=made, tokens=(rng.randint(1, 99), 5)), *calls]
    return numbered(
        Node("agent", "Agent", children=[*children, Node("model", "Model", tokens=(3, 4))])
    )


@pytest.mark.parametrize("name", WRITERS)
def test_random_spans(name, tmp_path):
    rng = random.Random(name)
    form = {"openllmetry": "otel"}.get(name, name)
    for _ in range(30):
        tree = random_tree(rng)
        _, _ = check(form, WRITERS[name](tree), tmp_path)


def test_tokens_of_random_spans(tmp_path):
    rng = random.Random(5)
    for _ in range(10):
        tree = random_tree(rng)
        for name, write in WRITERS.items():
            path = tmp_path / "t.json"
            path.write_text(write(tree))
            (trace,) = open_traces(str(path), {"openllmetry": "otel"}.get(name, name)).read()
            spent = sum(i.get("tokens", 0) for i in trace["turns"][0]["iterations"])
            assert spent == sum(sum(n.tokens) for n in tree if n.tokens), name


def test_flat_langchain(tmp_path):
    check("langchain", langchain(wrapped=False), tmp_path)


# --- real files ---

REAL = {
    "fireact_hotpotqa/*.json": "openai-chat", "inspect_ai/*.json": "inspect", "search_r1/case.txt": "search-r1",
    "tongyi_qampari/*.jsonl": "browsecomp-plus", "webdancer/sample_traj.jsonl": "openai-chat",
    "provider_fixtures_vercel_ai/anthropic-*.json": "anthropic",
    "provider_fixtures_vercel_ai/openai-*.json": "openai-responses",
    "provider_fixtures_vercel_ai/openai-*.chunks.txt": "openai-responses",
    "provider_fixtures_vercel_ai/azure-*.json": "openai-responses",
}  # fmt: skip


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not available")
@pytest.mark.parametrize("pattern", REAL)
def test_real_files(pattern, tmp_path):
    paths = sorted(DATA.glob(pattern))
    assert paths
    for path in paths:
        ledger = open_traces(str(path), REAL[pattern])
        traces = list(ledger.read())
        expected = COUNTS[REAL[pattern]](path.read_text())
        assert {kind: ledger.ledger.count(kind) for kind in expected} == expected, path.name
        assert ledger.ledger.differences() == {}
        assert len(traces) == expected["conversation"]
