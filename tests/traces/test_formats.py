"""Every format is recognised by its content and read into the same canonical form."""

import json

import pytest
from samples import SAMPLES, langchain

import goodgain as gg
from goodgain.traces import FORMATS, open_traces
from goodgain.traces.results import find_results
from goodgain.traces.searching import Call, SearchRules


def opened(tmp_path, text, name="traces.json", **options):
    path = tmp_path / name
    path.write_text(text)
    traces = open_traces(str(path), **options)
    return traces, list(traces.read())


def searches_by_step(turn):
    """The searches of each iteration; steps without a search are not iterations."""
    return [len(i["searches"]) for i in turn["iterations"] if i["searches"]]


def test_every_format_has_a_sample():
    assert set(SAMPLES) | {"canonical"} == set(FORMATS)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name, tmp_path):
    text, iterations, results = SAMPLES[name]
    file, (trace,) = opened(tmp_path, text)
    assert file.format == name
    assert searches_by_step(trace["turns"][-1]) == iterations
    searches = [s for i in trace["turns"][-1]["iterations"] for s in i["searches"]]
    assert sum(len(s["results"]) for s in searches) == results
    if name not in ("trec-dd",):
        assert searches[0]["query"] == "paris"
        assert searches[-1]["query"] == "seine"
    if name not in ("openai-responses", "browsecomp-plus", "trec-dd"):
        assert trace["turns"][-1]["user"] == "Where is Paris?"
    if name not in ("search-r1", "trec-dd"):
        assert trace["conversation"] == {"inspect": "7/2"}.get(name, "conv")
    path = tmp_path / "traces.json"
    assert (
        gg.good_gain(path).figure("R@i").value == results
    )  # valid canonical form, measured without a word more
    (read,) = gg.read_traces(path)
    assert read.to_dict() == json.loads(read.to_json())
    assert gg.Trace.from_dict(read.to_dict()) == read


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_with_named_format(name, tmp_path):
    _, traces = opened(tmp_path, SAMPLES[name][0], "x.txt", format=name)
    assert traces


def first_results(name, tmp_path):
    _, (trace,) = opened(tmp_path, SAMPLES[name][0])
    return [
        r for i in trace["turns"][-1]["iterations"] for s in i["searches"] for r in s["results"]
    ]


def test_fields_of_results(tmp_path):
    assert first_results("langchain", tmp_path)[0] == {
        "content": "Paris is in France.",
        "url": "https://x.org/paris",
        "title": "Paris",
    }
    assert first_results("openinference", tmp_path)[-1] == {
        "id": "d3",
        "score": 0.5,
        "content": "The Seine.",
        "title": "Seine",
    }
    assert first_results("anthropic", tmp_path) == [
        {"url": "https://x.org/p", "title": "Paris", "content": "In France."},
        {"url": "https://x.org/s", "title": "Seine", "type": "web"},
    ]
    assert first_results("openai-responses", tmp_path)[-1] == {
        "id": "f",
        "ids": {"doc_id": "f"},
        "title": "rivers.txt",
        "content": "The Seine.",
        "score": 0.9,
        "type": "passage",
    }
    assert first_results("browsecomp-plus", tmp_path)[0] == {
        "id": "d1",
        "ids": {"doc_id": "d1"},
        "score": 0.5,
        "snippet": "In France.",
    }
    assert first_results("search-r1", tmp_path)[0] == {"title": "Paris", "content": "In France."}
    assert first_results("trec-dd", tmp_path)[0] == {
        "id": "d1",
        "ids": {"doc_id": "d1"},
        "score": 9.5,
        "gain": 3,
        "aspects": {"T1.1": 3, "T1.2": 1},
    }


def test_failed_calls_keep_their_error(tmp_path):
    _, (trace,) = opened(tmp_path, SAMPLES["inspect"][0])
    assert trace["turns"][0]["iterations"][0]["searches"][1]["error"] == "too slow"
    _, (trace,) = opened(tmp_path, SAMPLES["anthropic"][0])
    assert trace["turns"][0]["iterations"][0]["searches"][1]["error"] == "timeout"


def test_spans_have_their_latency(tmp_path):
    _, (trace,) = opened(tmp_path, SAMPLES["otel"][0])
    assert trace["turns"][0]["iterations"][0]["searches"][0]["latency"] == 0.5
    assert trace["system"] == "agent"


def test_flat_langchain_messages(tmp_path):
    file, (trace,) = opened(tmp_path, langchain(wrapped=False))
    assert file.format == "langchain"
    assert searches_by_step(trace["turns"][0]) == [2, 1]


def test_adjacent_calls_can_be_merged(tmp_path):
    _, (trace,) = opened(tmp_path, SAMPLES["browsecomp-plus"][0], merge_adjacent=True)
    assert searches_by_step(trace["turns"][0]) == [2, 1]


def test_retrievals_without_models_are_iterations_of_their_own(tmp_path):
    spans = [json.loads(line) for line in SAMPLES["openinference"][0].splitlines()]
    others = [s for s in spans if s["attributes"]["openinference.span.kind"] != "LLM"]
    file, (trace,) = opened(tmp_path, "\n".join(map(json.dumps, others)))
    assert searches_by_step(trace["turns"][0]) == [1, 1, 1]
    assert "calls count as one iteration only where they ran side by side" in file.notes[0]


def test_turns_of_a_session(tmp_path):
    first = json.loads(SAMPLES["langfuse"][0])
    second = json.loads(
        SAMPLES["langfuse"][0].replace('"t1"', '"t0"').replace("2026-01-01", "2025-01-01")
    )
    _, (trace,) = opened(tmp_path, "\n".join(map(json.dumps, (first, second))))
    assert len(trace["turns"]) == 2


def test_tool_results_in_a_user_message_start_no_turn(tmp_path):
    _, (trace,) = opened(tmp_path, SAMPLES["anthropic"][0])
    assert len(trace["turns"]) == 1


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("web_search", True),
        ("retrieve_docs", True),
        ("query_knowledge_base", True),
        ("execute_sql_query", False),
        ("Web-Search", True),
        ("open_page", False),
        ("find_in_page", False),
        ("get_document", False),
        ("search_and_replace", False),
        ("calculator", False),
        (None, False),
    ],
)
def test_which_tools_search(tool, expected):
    verdict = SearchRules.load().classify(Call(tool=tool), find_results("[]"))
    assert (verdict.account == "search") is expected


def test_search_tools_option_overrides_names():
    rules = SearchRules.load(search_tools=("Calculator",))
    assert rules.classify(Call(tool="calculator"), find_results("[]")).account == "search"
