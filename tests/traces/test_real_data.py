"""Real traces of other people's agents, if available; the counts are those that their sources report."""

import json
import os
import re
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.traces import open_traces

DATA = (
    Path(os.environ.get("GOODGAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "agent_traces"
)
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not available")

# Tongyi: 567 calls of search and 2 of google_scholar, a tool that does not exist: failed searches.
# file: format, conversations, iterations, searches, results
FILES = {
    "webdancer/sample_traj.jsonl": ("openai-chat", 60, 63, 179, 1667),
    "tongyi_qampari/qwen3-0.6b.jsonl": ("browsecomp-plus", 20, 569, 569, 2540),
    "search_r1/case.txt": ("search-r1", 2, 3, 3, 9),
    "inspect_ai/2025-05-12_browser.json": ("inspect", 1, 0, 0, 0),
    "langfuse_framework_traces/langgraph-2025-08-22.json": ("langfuse", 1, 1, 1, 1),
    "langfuse_framework_traces/llamaindex-2025-06-05.json": ("langfuse", 1, 0, 0, 0),
    "langfuse_framework_traces/google-gemini-2025-08-01.json": ("langfuse", 1, 0, 0, 0),
    "provider_fixtures_vercel_ai/anthropic-web-search-tool.1.json": ("anthropic", 1, 2, 2, 10),
    "provider_fixtures_vercel_ai/anthropic-web-fetch-tool.1.json": ("anthropic", 1, 0, 0, 0),
    "provider_fixtures_vercel_ai/azure-web-search-preview-tool.1.json": (
        "openai-responses",
        1,
        1,
        2,
        0,
    ),
    "provider_fixtures_vercel_ai/cohere-citations.json": ("cohere", 1, 0, 0, 0),
    "provider_fixtures_vercel_ai/perplexity-citations.json": ("hosted-chat", 1, 1, 1, 7),
    "provider_fixtures_vercel_ai/google-search.json": ("gemini", 1, 1, 1, 0),  # unread
    "provider_fixtures_vercel_ai/openai-file-search-tool.1.json": ("openai-responses", 1, 1, 1, 0),
    "provider_fixtures_vercel_ai/openai-web-search-tool.1.json": ("openai-responses", 1, 1, 1, 16),
    "provider_fixtures_vercel_ai/openai-web-search-tool.1.chunks.txt": (
        "openai-responses",
        1,
        2,
        2,
        21,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_counts(name):
    form, *counts = FILES[name]
    opened = open_traces(str(DATA / name))
    traces = list(opened.read())
    iterations = [
        i for t in traces for turn in t["turns"] for i in turn["iterations"] if i["searches"]
    ]
    searches = [s for i in iterations for s in i["searches"]]
    assert opened.format == form
    assert [
        len(traces),
        len(iterations),
        len(searches),
        sum(len(s["results"]) for s in searches),
    ] == counts
    assert opened.ledger.searches + opened.ledger.batched == len(searches)  # as the tables count
    gg.good_gain(DATA / name).render()


def test_react_trajectories():
    (path,) = (DATA / "fireact_hotpotqa").glob("*.json")
    traces = list(gg.read_traces(path))
    assert len(traces) == 465
    # Of several actions in one reply the agent ran the first (its observations say so): the others are
    # not searches, and one observation is not the result of all of them.
    data = json.loads(path.read_text()).values()
    replies = [m["content"] for d in data for m in d["traj"] if m["role"] == "assistant"]
    actions = [re.search(r"^Action(?: \d+)?: *(\w+)\[", reply, re.M) for reply in replies]
    assert sum(a is not None and a[1].lower() == "search" for a in actions) == 775
    assert sum(1 for t in traces for _ in t.searches()) == 775


def test_failed_calls_of_a_research_agent():
    searches = [
        s
        for t in gg.read_traces(DATA / "tongyi_qampari" / "qwen3-0.6b.jsonl")
        for s in t.searches()
    ]
    assert sum(bool(s.results) for s in searches) == 508  # as the source counts
    assert sum(s.error is not None for s in searches) > 40


def test_an_agent_that_repeats_results():
    gain = gg.good_gain(DATA / "tongyi_qampari" / "qwen3-0.6b.jsonl")
    assert 0.3 < gain.figure("SRR").value < 0.9
    assert any("no result has a label" in w for w in gain.warnings())
