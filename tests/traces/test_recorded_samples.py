"""Samples recorded from today's packages read as the tools' own log says, and as no other format."""

import json
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.traces import FORMATS, open_traces
from goodgain.traces.files import trace_format

SAMPLES = Path(__file__).parent / "samples"
MANIFEST = json.loads((SAMPLES / "manifest.json").read_text())


def test_every_sample_is_in_the_manifest():
    assert {p.name for p in SAMPLES.iterdir()} == {*MANIFEST, "manifest.json"}
    assert len(MANIFEST) >= 45


@pytest.mark.parametrize("name", MANIFEST)
def test_counts_are_those_of_the_tools(name):
    expected = MANIFEST[name]
    opened = open_traces(str(SAMPLES / name))
    (trace,) = opened.read()
    (turn,) = trace["turns"]
    iterations = [i for i in turn["iterations"] if i["searches"]]
    searches = [s for i in iterations for s in i["searches"]]
    counts = {
        "searches": len(searches),
        "results": sum(len(s["results"]) for s in searches),
        "failed": sum("error" in s for s in searches),
        "empty": sum(not s["results"] and not {"error", "unread"} & set(s) for s in searches),
        "unread": sum("unread" in s for s in searches),
        "opens": sum(len(i.get("opens", ())) for i in turn["iterations"]),
        "others": opened.ledger.count("call", "not a search"),
        "queries": sorted(s["query"] for s in searches),
    }
    logged = {"unread": 0, **expected["counts"]}
    assert opened.format == expected["format"]
    assert counts == {**logged, "queries": sorted(logged["queries"])}
    assert [len(i["searches"]) for i in iterations] == expected["iterations"]
    assert ("Where does the Seine rise" in turn.get("user", "")) == (
        "user" not in expected["lacks"]
    )
    assert ("777 km" in turn.get("answer", "")) == ("answer" not in expected["lacks"])
    if "tokens" in expected:
        steps = sum(i.get("tokens", 0) for i in turn["iterations"])
        assert steps + turn.get("tokens", 0) == expected["tokens"]
    if "spans" in expected:
        assert opened.ledger.count("span") == expected["spans"]
    assert opened.ledger.differences() == {}


@pytest.mark.parametrize("name", MANIFEST)
def test_results_are_the_pages(name):
    """The URL of every page that the tool returned, in its order."""
    from recording.plan import PAGES

    (trace,) = open_traces(str(SAMPLES / name)).read()
    for iteration in trace["turns"][0]["iterations"]:
        for search in iteration["searches"]:
            if search["results"]:
                pages = PAGES[search["query"].split(" | ")[0]]
                assert [r["url"] for r in search["results"]] == [p["url"] for p in pages]


@pytest.mark.parametrize("name", MANIFEST)
def test_measured_without_an_error(name):
    gain = gg.good_gain(SAMPLES / name)
    assert gain.render()


@pytest.mark.parametrize("name", MANIFEST)
def test_only_its_own_format_recognises_it(name):
    """Detection does not depend on the order of formats, except that more specific ones come first."""
    from goodgain.io.files import plain_descriptor
    from goodgain.traces.layouts import detect_layout

    sample = detect_layout(plain_descriptor(str(SAMPLES / name)), name).sample
    claims = [form for form, fmt in FORMATS.items() if not fmt.mismatch(sample)]
    assert claims[0] == MANIFEST[name]["format"] == trace_format(str(SAMPLES / name))
    chats = (
        "hosted-chat",
        "anthropic",
        "vercel",
        "cohere",
        "bedrock",
        "gemini",
        "openai-responses",
    )
    general = {name: {"openai-chat"} for name in chats}  # special cases of messages with roles
    general |= {name: {"otel"} for name in ("openinference", "vercel-telemetry")}
    assert set(claims[1:]) <= general.get(claims[0], set())


@pytest.mark.parametrize("name", ["vercel-5-telemetry", "vercel-6-telemetry", "pydantic-ai-spans"])
def test_spans_without_parents_are_not_counted_twice(name, tmp_path):
    """Without a context manager every span is exported as a trace of its own."""
    document = json.loads((SAMPLES / f"{name}.json").read_text())
    scopes = [c for r in document["resourceSpans"] for c in r["scopeSpans"]]
    for number, span in enumerate(s for c in scopes for s in c["spans"]):
        span["traceId"] = f"{number:032x}"
        span.pop("parentSpanId", None)
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    opened = open_traces(str(path))
    turns = [t for trace in opened.read() for t in trace["turns"]]
    searches = [s for t in turns for i in t["iterations"] for s in i["searches"]]
    logged = MANIFEST[f"{name}.json"]["counts"]
    assert sorted(s["query"] for s in searches) == sorted(logged["queries"])
    assert sum(len(s["results"]) for s in searches) == logged["results"]
    assert opened.ledger.differences() == {}
