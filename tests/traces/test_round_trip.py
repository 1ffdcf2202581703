"""One canonical conversation written in every format and in common shapes of results reads back the same."""

import pytest
import span_writers
import writers
from writers import EVERYTHING, SHAPES, conversation

import goodgain as gg
from goodgain.traces import FORMATS, open_traces

# format: what it cannot hold
MESSAGES = {
    writers.canonical: ("canonical", ()),
    writers.recorded: ("recorded", ()),
    writers.openai_chat: ("openai-chat", ("tokens",)),
    writers.openai_functions: ("openai-chat", ("tokens", "parallel")),
    writers.chat_log: ("openai-chat", ("name",)),
    writers.anthropic: ("anthropic", ()),
    writers.openai_responses: ("openai-responses", ("tokens", "name")),
    writers.langchain_flat: ("langchain", ()),
    writers.langchain_dict: ("langchain", ()),
    writers.langchain_dumps: ("langchain", ()),
    writers.inspect: ("inspect", ("tokens", "name")),
    writers.browsecomp: ("browsecomp-plus", ("tokens", "parallel", "turns", "user")),
    writers.bedrock: ("bedrock", ("tokens",)),
    writers.gemini: ("gemini", ("tokens",)),
    writers.gemini_without_ids: ("gemini", ("tokens",)),
    writers.cohere: ("cohere", ("tokens",)),
    writers.cohere_1: ("cohere", ("tokens",)),
    writers.pydantic_ai: ("pydantic-ai", ()),
    writers.vercel: ("vercel", ("tokens",)),
    writers.vercel_ui: ("vercel", ("tokens",)),
    writers.claude_code: ("claude-code", ()),
    writers.sharegpt: ("sharegpt", ("tokens",)),
    writers.hosted_chat: ("hosted-chat", ("tokens", "parallel", "turns")),
    writers.search_r1: (
        "search-r1",
        ("tokens", "parallel", "turns", "url", "opens", "failed", "name"),
    ),
    span_writers.otel: ("otel", ()),
    span_writers.console: ("otel", ()),
    span_writers.openinference: ("openinference", ()),
    span_writers.vercel_telemetry: ("vercel-telemetry", ()),
    span_writers.langfuse: ("langfuse", ()),
    span_writers.langsmith: ("langsmith", ()),
    span_writers.mlflow: ("mlflow", ()),
    span_writers.openai_agents: ("openai-agents", ()),
}
SEEDS = range(4)


def test_every_format_is_written():
    assert {form for form, _ in MESSAGES.values()} | {"trec-dd"} == set(FORMATS)  # trec-dd: below


def view(trace, holds):
    """What a format that holds these things can give back."""
    turns = []
    for turn in trace["turns"]:
        iterations = [i for i in turn["iterations"] if i["searches"] or i.get("opens")]
        searches = [[_search(s, holds) for s in i["searches"]] for i in iterations if i["searches"]]
        if "parallel" not in holds:
            searches = [[s] for step in searches for s in step]
        opens = [o.get("url") for i in iterations for o in i.get("opens", ())]
        turns.append(
            {
                "user": turn.get("user") if "user" in holds else None,
                "answer": turn.get("answer"),
                "searches": searches,
                "opens": opens if "opens" in holds else [],
                "tokens": [i.get("tokens") for i in iterations] if "tokens" in holds else None,
            }
        )
    return turns


def _search(search, holds):
    names = [n for n in ("url", "title", "content") if n in holds or n == "content"]
    results = [
        {n: r.get(n, r.get("snippet") if n == "content" else None) for n in names}
        for r in search["results"]
    ]
    outcome = "failed" if "error" in search else "unread" if "unread" in search else "results"
    return {
        "query": search.get("query"),
        "outcome": outcome if "failed" in holds else None,
        "results": results,
    }


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.__name__)
@pytest.mark.parametrize("write", MESSAGES, ids=lambda w: w.__name__)
def test_round_trip(write, shape, tmp_path):
    form, lacks = MESSAGES[write]
    holds = EVERYTHING - set(lacks)
    for seed in SEEDS:
        trace = conversation(seed, turns=3 if "turns" in holds else 1)
        path = tmp_path / f"t{seed}.json"
        path.write_text(write(trace, shape))
        opened = open_traces(str(path))
        (read,) = opened.read()
        assert opened.format == form
        assert view(read, holds) == view(trace, holds)
        if "name" in holds:
            assert read["conversation"] == trace["conversation"]
        assert opened.ledger.differences() == {}
        assert opened.ledger.searches == sum(
            len(i["searches"]) for t in trace["turns"] for i in t["iterations"]
        )
        _same_gains(path, trace, read["conversation"], holds)


def _same_gains(path, trace, name, holds):
    """Gains from outside are the same, for the pages that the URLs name."""
    if "url" not in holds or "parallel" not in holds:
        return
    urls = {
        r["url"]
        for t in trace["turns"]
        for i in t["iterations"]
        for s in i["searches"]
        for r in s["results"]
    }
    gains = {url: n % 5 for n, url in enumerate(sorted(urls))}
    if not gains:
        return
    expected = gg.good_gain([trace], labels={trace["conversation"]: gains})
    actual = gg.good_gain(path, labels={name: gains})
    for measure in ("R@i", "UR@i", "GR@i", "CG@i", "DCG@i", "SRE@i", "SRR@i"):
        assert _value(actual, measure) == _value(expected, measure)


def _value(gain, measure):
    figure = gain.figure(measure)
    return None if figure.value is None or figure.value != figure.value else figure.value


@pytest.mark.parametrize(
    "write", [w for w in MESSAGES if w is not writers.search_r1], ids=lambda w: w.__name__
)
def test_gains_in_results(write, tmp_path):
    trace = conversation(4, turns=1)
    pages = [
        r for i in trace["turns"][0]["iterations"] for s in i["searches"] for r in s["results"]
    ]
    for number, page in enumerate(pages):
        page["gain"] = number % 5
    path = tmp_path / "t.json"
    path.write_text(write(trace, writers.as_json))
    (read,) = open_traces(str(path)).read()
    results = [
        r for i in read["turns"][0]["iterations"] for s in i["searches"] for r in s["results"]
    ]
    assert [r["gain"] for r in results] == [p["gain"] for p in pages]
    assert len(pages) > 3


def test_trec_dd_holds_document_ids_only(tmp_path):
    trace = conversation(3, turns=1)
    rows = []
    for number, iteration in enumerate(trace["turns"][0]["iterations"]):
        for search in iteration["searches"]:
            rows += [
                f"{trace['conversation']}\t{number}\t{r['url']}\t1.0\t1\t"
                for r in search["results"]
            ]
    path = tmp_path / "t.txt"
    path.write_text("\n".join(rows) + "\n")
    (read,) = open_traces(str(path)).read()
    ids = [
        r["id"] for i in read["turns"][0]["iterations"] for s in i["searches"] for r in s["results"]
    ]
    assert ids == [row.split("\t")[2] for row in rows]
