"""Nothing is counted twice: spans inside spans, messages and spans, retries, repeated history."""

import json

import pytest
from span_trees import WRITERS, Node, numbered

from goodgain.traces import open_traces

DOCS = [{"id": "d1", "content": "Paris is in France."}, {"id": "d2", "content": "Seine, a river."}]


def read(tmp_path, text, name="traces.json", **options):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    opened = open_traces(str(path), **options)
    traces = list(opened.read())
    assert opened.ledger.differences() == {}
    return traces, opened.ledger


def searches(traces):
    return [s for t in traces for u in t["turns"] for i in u["iterations"] for s in i["searches"]]


def search_tool(call="c1", query="paris", output="Paris is in France.", **fields):
    arguments = {"query": query}
    return Node("tool", "search_docs", arguments, output, call=call, **fields)


def retriever(query="paris", documents=DOCS, **fields):
    return Node("retriever", "VectorStoreRetriever", query, documents, **fields)


def model(*calls, tokens=(100, 10), **fields):
    made = tuple((c, "search_docs", {"query": q}) for c, q in calls)
    return Node("model", "ChatModel", calls=made, tokens=tokens, **fields)


def agent(*children, **fields):
    return Node("agent", "agent", children=list(children), **fields)


@pytest.fixture(params=WRITERS)
def written(request, tmp_path):
    """Writes a tree in a format and reads it: traces and ledger."""

    def write_and_read(root, **options):
        return read(tmp_path, WRITERS[request.param](numbered(root)), **options)

    return write_and_read


def test_a_retriever_inside_a_tool_is_one_search(written):
    root = agent(
        model(("c1", "paris"), ("c2", "seine")),
        search_tool(children=[Node("chain", "chain", children=[retriever()])]),
        search_tool("c2", "seine", children=[retriever("seine")]),
        model(("c3", "rome")),
        search_tool("c3", "rome", children=[retriever("rome")]),
        model(),
    )
    (trace,), ledger = written(root)
    iterations = [i for i in trace["turns"][0]["iterations"] if i["searches"]]
    assert [len(i["searches"]) for i in iterations] == [2, 1]
    assert [len(s["results"]) for s in searches([trace])] == [2, 2, 2]
    assert ledger.count("call", "search") == 3
    assert ledger.count("call", "wrapped") == 3
    assert ledger.count("call") == 6
    assert ledger.count("result", "result") == 6


def test_retrievers_inside_retrievers_are_one_search(written):
    inner = retriever(children=[retriever(children=[retriever()])])
    traces, ledger = written(agent(model(("c1", "paris")), search_tool(children=[inner]), model()))
    assert len(searches(traces)) == 1
    assert len(searches(traces)[0]["results"]) == 2
    assert ledger.count("call", "wrapped") == 3


def test_two_retrievers_for_one_question_are_one_search(written):
    both = [retriever(), retriever(documents=[{"id": "d3", "content": "Rome is in Italy."}])]
    traces, ledger = written(agent(model(("c1", "paris")), search_tool(children=both), model()))
    (search,) = searches(traces)
    assert len(search["results"]) == ledger.count("result", "result")


def test_several_questions_inside_one_tool_are_several_searches(written):
    parts = [retriever("paris"), retriever("seine"), retriever("rome")]
    traces, _ = written(agent(model(("c1", "travel")), search_tool(query="travel", children=parts)))
    assert [s["query"] for s in searches(traces)] == ["paris", "seine", "rome"]


def test_the_tool_counts_where_its_retriever_has_no_documents(written):
    tool = search_tool(output=[{"url": "https://x.org/p"}], children=[retriever(documents=None)])
    traces, ledger = written(agent(model(("c1", "paris")), tool))
    assert [len(s["results"]) for s in searches(traces)] == [1]
    assert (ledger.count("call", "search"), ledger.count("call", "wrapped")) == (1, 1)


def test_an_agent_as_a_tool_keeps_its_searches(written):
    inner = [
        model(("c2", "paris")),
        search_tool("c2"),
        model(("c3", "rome")),
        search_tool("c3", "rome"),
        model(),
    ]
    outer = Node("tool", "delegate", {"task": "travel"}, "done", call="c1", children=inner)
    first = Node(
        "model", "ChatModel", calls=(("c1", "delegate", {"task": "travel"}),), tokens=(1, 1)
    )
    (trace,), _ = written(agent(first, outer, model()))
    iterations = [i for i in trace["turns"][0]["iterations"] if i["searches"]]
    assert [len(i["searches"]) for i in iterations] == [1, 1]


def test_retries_of_a_call_are_one_search(written):
    results = [{"url": "https://x.org/p", "title": "Paris"}]
    root = agent(
        model(("c1", "paris")),
        search_tool(call=None, output=None, error="timeout"),
        search_tool(call=None, output=None, error="timeout"),
        search_tool(call=None, output=results),
        model(),
    )
    traces, ledger = written(root)
    (search,) = searches(traces)
    assert search["tries"] == 3
    assert len(search["results"]) == 1 and "error" not in search
    assert ledger.count("call", "search") == 1
    assert ledger.count("call", "duplicate") == 2


def test_a_call_that_fails_is_failed_and_not_empty(written):
    root = agent(model(("c1", "paris")), search_tool(output=None, error="timeout"), model())
    traces, ledger = written(root)
    (search,) = searches(traces)
    assert search["error"] and search["results"] == []
    assert (ledger.count("call", "failed"), ledger.count("call", "empty")) == (1, 0)


def test_tokens_of_parents_are_not_added_to_those_of_their_children(written):
    root = agent(
        model(("c1", "paris")),
        search_tool(children=[retriever()]),
        model(children=[model()]),  # two instrumentations of one generation
        tokens=(200, 20),
    )
    (trace,), _ = written(root)
    (turn,) = trace["turns"]
    assert [i.get("tokens") for i in turn["iterations"]] == [110, 110]
    assert "tokens" not in turn


def test_tokens_of_the_whole_turn_stay_there(written):
    root = agent(
        model(("c1", "paris"), tokens=None), search_tool(children=[retriever()]), tokens=(200, 20)
    )
    (trace,), _ = written(root)
    (turn,) = trace["turns"]
    assert turn["tokens"] == 220
    assert all("tokens" not in i for i in turn["iterations"])


def test_a_model_inside_a_search_belongs_to_the_search(written):
    root = agent(model(("c1", "paris")), search_tool(children=[retriever(), model()]), model())
    (trace,), _ = written(root)
    spent = [
        (i.get("tokens"), [s.get("tokens") for s in i["searches"]])
        for i in trace["turns"][0]["iterations"]
    ]
    total = sum((t or 0) + sum(x or 0 for x in inner) for t, inner in spent)
    assert total == 330
    assert len(searches([trace])) == 1


def test_calls_without_spans_are_read_from_messages(written):
    traces, ledger = written(agent(model(("c1", "paris")), model()))
    (search,) = searches(traces)
    assert search["query"] == "paris"
    assert search["unread"]  # its output is nowhere
    assert ledger.unread == 1 and not ledger.is_exact


def test_events_that_create_and_update_a_span_are_one(tmp_path):
    def event(kind, number, **body):
        body = {"id": f"o{number}", "traceId": "t1", **body}
        return {
            "id": f"e{number}{kind}",
            "type": kind,
            "timestamp": "2026-01-01T00:00:00Z",
            "body": body,
        }

    def moment(second):
        return f"2026-01-01T00:00:{second:02}Z"

    batch = [
        event("trace-create", 0, sessionId="s") | {"body": {"id": "t1", "sessionId": "s"}},
        event("generation-create", 1, name="m", startTime=moment(1)),
        event("generation-update", 1, endTime=moment(2), usageDetails={"input": 5, "output": 2}),
        event("span-create", 2, name="web_search", startTime=moment(3), input={"query": "paris"}),
        event("span-update", 2, endTime=moment(4), output=[{"url": "https://x.org/p"}]),
    ]
    traces, ledger = read(tmp_path, {"batch": batch})
    (search,) = searches(traces)
    assert search["query"] == "paris" and len(search["results"]) == 1 and search["latency"] == 1
    assert traces[0]["conversation"] == "s"
    assert (ledger.count("span", "read"), ledger.count("span", "duplicate")) == (2, 2)
    assert traces[0]["turns"][0]["iterations"][0]["tokens"] == 7


def test_a_listed_tool_has_the_documents_of_the_retriever_inside_it(written):
    root = agent(model(("c1", "paris")), search_tool(children=[retriever()]), model())
    traces, ledger = written(root, search_tools=("search_docs",))
    (search,) = searches(traces)
    assert search["tool"] == "search_docs"
    assert len(search["results"]) == 2 == ledger.count("result", "result")
    assert (ledger.count("call", "search"), ledger.count("call", "wrapped")) == (1, 1)


def test_a_tool_listed_as_no_search_hides_the_retriever_inside_it(written):
    root = agent(model(("c1", "paris")), search_tool(children=[retriever()]), model())
    traces, ledger = written(root, not_search_tools=("search_docs",))
    assert searches(traces) == []
    assert ledger.count("call", "not a search") == 2
