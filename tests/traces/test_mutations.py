"""Malformed traces: whatever a value is replaced with, a reader reads or reports it, and accounts for it."""
# ruff: noqa: E501

import copy
import json
import os
import random
from pathlib import Path

import pytest
from samples import SAMPLES, langchain
from span_trees import WRITERS, Node, numbered

import goodgain as gg
from goodgain.errors import InputError
from goodgain.traces import FORMATS, open_traces

MUTATIONS = int(os.environ.get("GOODGAIN_MUTATIONS", "60"))  # of each sample
VALUES = [
    None, True, False, 0, -1, 3.5, 10**400, float("nan"), "", " ", "x", "0", "{", "[]", "{}", '[{"a": 1}]',
    '"quoted"', "null", "\ud800", "2026-01-01T00:00:00Z", [], {}, [None], [[]], [{}], [1, "a", {}], {"": None},
    {"id": {}}, {"type": []}, {"role": 3, "content": {"text": []}}, {"content": [{"type": ["text"]}]},
    {"tool_calls": {"id": 1}}, {"function": 1}, {"usage": [1]}, {"results": {"results": [None]}},
    {"attributes": [{"key": 1, "value": {"arrayValue": {"values": 3}}}]}, {"data": {"data": {}}}, {"kwargs": [1]},
]  # fmt: skip
DATA = (
    Path(os.environ.get("GOODGAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "agent_traces"
)


def _tree():
    tool = Node("tool", "search", {"query": "q"}, [{"url": "https://x.org/1"}], call="c1")
    tool.children = [Node("retriever", "R", "q", [{"id": "d", "content": "text"}])]
    model = Node("model", "M", calls=(("c1", "search", {"query": "q"}),), tokens=(5, 5))
    return numbered(Node("agent", "A", children=[model, tool, Node("model", "M", tokens=(1, 1))]))


def texts():
    """(format, text) of every reader: samples, trees of spans, and real files if available."""
    for name, sample in SAMPLES.items():
        yield name, name, sample[0]
    yield "langchain", "langchain flat", langchain(wrapped=False)
    for name, write in WRITERS.items():
        yield {"openllmetry": "otel"}.get(name, name), f"{name} tree", write(_tree())
    if DATA.is_dir():
        for path in sorted(DATA.glob("*/*.json")):
            if path.stat().st_size < 200_000:
                try:
                    yield open_traces(str(path)).format, path.stem, path.read_text()
                except InputError:
                    continue


TEXTS = [t for t in texts() if t[2].lstrip()[:1] in "{["]


def places(value, found=None):
    """Every (container, key) of a document."""
    found = [] if found is None else found
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        found.append((value, key))
        if isinstance(inner, dict | list):
            places(inner, found)
    return found


def mutated(text, rng):
    """The documents of a text with one to three values replaced, removed or nested."""
    lines = text.splitlines() if text.lstrip().startswith("{") and "\n{" in text else [text]
    documents = [json.loads(line) for line in lines]
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(places(documents))
        choice = rng.random()
        if choice < 0.15:
            del container[key]
            if not documents:
                return "{}"
        elif choice < 0.3:
            container[key] = {"x": container[key]} if rng.random() < 0.5 else [container[key]]
        elif choice < 0.4 and isinstance(container[key], dict | list):
            container[key] = json.dumps(container[key])
        else:
            container[key] = copy.deepcopy(rng.choice(VALUES))
    return "\n".join(json.dumps(d) for d in documents)


@pytest.mark.parametrize(("form", "name", "text"), TEXTS, ids=[t[1] for t in TEXTS])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_readers_raise_only_input_errors(form, name, text, skip_bad, tmp_path):
    rng = random.Random(f"{name} {skip_bad}")
    path = tmp_path / "t.json"
    read = 0
    for _ in range(MUTATIONS):
        changed = mutated(text, rng)
        path.write_text(changed, encoding="utf-8", errors="surrogatepass")
        try:
            opened = open_traces(str(path), form, skip_bad=skip_bad)
            traces = list(opened.read())
        except InputError as error:
            assert "Traceback" not in str(error)
            continue
        assert opened.ledger.differences() == {}, changed
        assert opened.ledger.searches == sum(1 for _ in _searches(traces)), changed
        assert opened.ledger.count("result", "result") == sum(
            len(s["results"]) for s in _searches(traces)
        ), changed
        try:
            read += len(list(gg.read_traces(path, format=form, skip_bad=skip_bad)))
        except InputError as error:
            assert error.message, changed
    assert read > MUTATIONS / 4


def _searches(traces):
    for trace in traces:
        for turn in trace["turns"]:
            for iteration in turn["iterations"]:
                yield from iteration["searches"]


def test_every_reader_of_json_is_mutated():
    assert {t[0] for t in TEXTS} >= set(FORMATS) - {"canonical", "search-r1", "trec-dd"}
