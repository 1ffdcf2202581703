"""Results in outputs of tools: documented shapes, outputs without results, and what must never happen."""

# ruff: noqa: E501

import gc
import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_outputs import OTHERS
from result_shapes import SHAPES

from goodgain.traces.results import find_results, results_of

ONE = [{"url": "https://x.org/a", "title": "A", "snippet": "text"}]
ITEM = {"link": "https://x.org/a", "name": "A", "description": "text"}


def key_of(result):
    """What a result is known by: its URL, or else an id, the title, the text."""
    ids = result.get("ids", {})
    known = [result.get("url"), result.get("id"), *ids.values()]
    texts = [result.get(name) for name in ("title", "content", "snippet")]
    return next(str(k) for k in (*known, *texts) if k is not None)


def test_the_tables_are_large_enough():
    assert len(SHAPES) >= 150
    assert len(OTHERS) >= 60


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name):
    output, expected = SHAPES[name]
    finding = find_results(output)
    assert [key_of(r) for r in finding.results] == expected
    assert finding.account == "result"
    assert finding.reason


@pytest.mark.parametrize("name", OTHERS)
def test_output_without_results(name):
    output, account = OTHERS[name]
    finding = find_results(output)
    assert (finding.account, finding.results) == (account, [])
    assert finding.reason


@pytest.mark.parametrize(
    "output",
    [
        [ITEM],
        json.dumps([ITEM]),
        json.dumps(json.dumps([ITEM])),
        {"results": [ITEM]},
        {"organic": [ITEM]},
        {"hits": {"hits": [{"_source": ITEM}]}},
        [{"type": "text", "text": json.dumps([ITEM])}],
        str([ITEM]),
        {"data": {"items": [ITEM]}},
    ],
)
def test_lists_by_the_usual_names(output):
    assert results_of(output) == ONE


def test_a_pair_keeps_its_score():
    assert results_of([[ITEM, 0.7]]) == [{**ONE[0], "score": 0.7}]


def test_fields_of_a_result():
    output = {
        "id": 7, "docid": "d7", "chunk_id": "c1", "sourceUrl": "https://x.org/a", "pageTitle": "A", "raw_content": "long",
        "content": "text", "description": "about", "relevanceScore": "0.5", "author": "Ann", "fileName": "a.txt",
        "type": "file", "gain": 2, "thumbnail_url": "https://i.org/1.png", "metadata": {"modified": "2024", "title": "B"},
    }  # fmt: skip
    assert results_of([output]) == [{
        "id": "7", "type": "file", "ids": {"chunk_id": "c1", "doc_id": "d7"}, "url": "https://x.org/a", "title": "A",
        "snippet": "about", "content": "text", "score": 0.5, "gain": 2,
        "fields": {"author": "Ann", "file_name": "a.txt", "modified": "2024"},
    }]  # fmt: skip


def test_the_reason_of_a_failure_is_its_message():
    assert find_results({"error": {"code": 1, "message": "bad key"}}).reason == "bad key"
    assert find_results("Error: timeout").reason == "Error: timeout"


def test_numbered_links():
    text = "## Web Results\n1. [A (b)](https://x.org/a_(b))\nDate published: May 2\n\nfirst\n\n2. [C](https://x.org/c)\n\nsecond\n"
    assert results_of(text) == [
        {"url": "https://x.org/a_(b)", "title": "A (b)", "snippet": "first"},
        {"url": "https://x.org/c", "title": "C", "snippet": "second"},
    ]


def test_numbered_documents():
    text = "A search for 'x' found 2 results:\n\n1. <docid: 7__0> [First ...]\nFirst text\n\n"
    text += "2. <docid: 8__1> [Second ...]\nSecond text"
    assert results_of(text) == [
        {"id": "7__0", "ids": {"doc_id": "7__0"}, "content": "First text"},
        {"id": "8__1", "ids": {"doc_id": "8__1"}, "content": "Second text"},
    ]


def test_tagged_documents():
    text = '<document id="1"><title>A</title><content>text</content></document><document><url>https://x.org</url>more</document>'
    assert results_of(text) == [
        {"id": "1", "title": "A", "content": "text"},
        {"url": "https://x.org", "content": "more"},
    ]


def test_labelled_blocks():
    text = "Title: A\nURL: https://x.org/a\nSnippet: one\n\nTitle: B\nURL: https://x.org/b\nSnippet: two"
    assert results_of(text) == [
        {"title": "A", "url": "https://x.org/a", "snippet": "one"},
        {"title": "B", "url": "https://x.org/b", "snippet": "two"},
    ]


def test_strings_in_a_list():
    assert results_of(["https://x.org/a", "doc-7", "Paris is in France, they say."]) == [
        {"url": "https://x.org/a"},
        {"id": "doc-7"},
        {"content": "Paris is in France, they say."},
    ]


def test_a_page_with_links_is_one_result():
    page = "- [A](https://x.org/a)\n- [B](https://x.org/b)\n- [C](https://x.org/c)"
    assert results_of([{"content": page}, {"content": page + "\n"}]) == [
        {"content": page},
        {"content": page + "\n"},
    ]
    assert results_of([{"url": "https://x.org", "content": page}]) == [
        {"url": "https://x.org", "content": page}
    ]


# --- properties ---

WORDS = st.text("abcdefghijklmnop", min_size=2, max_size=8)
SENTENCES = st.lists(WORDS, min_size=5, max_size=12).map(" ".join)
DOCUMENTS = st.lists(
    st.tuples(st.integers(0, 10**6), SENTENCES, SENTENCES),
    min_size=1,
    max_size=6,
    unique_by=lambda t: t[0],
).map(
    lambda rows: [
        {"url": f"https://site.example/{n}", "title": title, "snippet": text}
        for n, title, text in rows
    ]
)
ENVELOPES = (
    lambda v: {"results": v},
    lambda v: {"query": "x", "took": 3, "data": v},
    lambda v: {"status": "ok", "response": v, "usage": {"tokens": 3}},
    lambda v: {"facets": [{"id": 1, "name": "x"}], "hits": v, "total": 2},
    lambda v: {"output": v},
    lambda v: {"jsonrpc": "2.0", "id": 1, "result": v},
)


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


ENCODINGS = (
    lambda v: v,
    json.dumps,
    lambda v: json.dumps(v, indent=2),
    lambda v: json.dumps(json.dumps(v)),
    repr,
    lambda v: f"Here are the results:\n{as_text(v)}\nThat is all.",
    lambda v: f"```json\n{as_text(v)}\n```",
    lambda v: [{"type": "text", "text": json.dumps(v)}],
    lambda v: {"content": [{"type": "text", "text": json.dumps(v)}], "isError": False},
    lambda v: [{"type": "text", "text": f"Results: {as_text(v)}"}],
    lambda v: [v],
)


@given(
    DOCUMENTS,
    st.lists(st.sampled_from(ENVELOPES), max_size=3),
    st.lists(st.sampled_from(ENCODINGS), max_size=2),
)
def test_envelopes_and_encodings_change_nothing(documents, envelopes, encodings):
    value = documents
    for wrap in (*envelopes, *encodings):
        value = wrap(value)
    assert results_of(value) == documents


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_text_forms_hold_the_same_results(documents, choice):
    def labelled(order):
        return "\n\n".join(
            "\n".join(f"{label}: {d[name]}" for label, name in order) for d in documents
        )

    labels = [("Title", "title"), ("URL", "url"), ("Snippet", "snippet")]
    choice.shuffle(labels)
    forms = (
        labelled(labels),
        "\n".join(f"{n}. [{d['title']}]({d['url']})\n   {d['snippet']}" for n, d in enumerate(documents, 1)),
        "\n".join(f"- [{d['title']}]({d['url']}): {d['snippet']}" for d in documents),
        "\n\n".join(f"## [{d['title']}]({d['url']})\n{d['snippet']}" for d in documents),
        "".join(f"<result><title>{d['title']}</title><url>{d['url']}</url><snippet>{d['snippet']}</snippet></result>" for d in documents),
        "title,url,snippet\n" + "\n".join(f"{d['title']},{d['url']},{d['snippet']}" for d in documents),
        "\n".join(json.dumps(d) for d in documents),
    )  # fmt: skip
    for form in forms:
        assert results_of(form) == documents


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(
        st.sampled_from(
            ["url", "id", "title", "text", "results", "error", "content", "document", "metadata", "type", "data", "ids", "documents",
             "fields", "issues", "_links", "root", "result", "uids", "key", "score", "rows", "columns", "RelatedTopics", "role"]
        )
        | st.text(max_size=8),
        inner,
        max_size=6,
    ),
    max_leaves=25,
)  # fmt: skip


@given(JSON_VALUES)
def test_any_json_has_exactly_one_account(value):
    for output in (
        value,
        json.dumps(value),
        repr(value),
        [{"type": "text", "text": json.dumps(value)}],
    ):
        finding = find_results(output)
        assert finding.account in ("result", "empty", "failed", "unread")
        assert bool(finding.results) == (finding.account == "result")
        assert all(isinstance(r, dict) and r for r in finding.results)
        json.dumps(finding.results)


@given(
    st.text(
        st.sampled_from(list("{}[]()<>'\"\\:,=|-#*.\n\t ab1/Title URL: https://x.org doc")),
        max_size=200,
    )
)
def test_any_text_has_an_account(text):
    assert find_results(text).account in ("result", "empty", "failed", "unread")


# --- size ---

HOSTILE = {
    "brackets": lambda n: "[" * n,
    "objects": lambda n: '{"a":' * (n // 5),
    "brackets on lines": lambda n: "[\n" * (n // 2),
    "quotes": lambda n: "['" + "a" * n,
    "backslashes": lambda n: "['" + "\\" * n,
    "tags": lambda n: "<doc " * (n // 5),
    "open tags": lambda n: "<doc>" * (n // 5),
    "nested tags": lambda n: "<doc>" * (n // 11) + "</doc>" * (n // 11),
    "attributes": lambda n: "<doc " + "a=" * (n // 2) + ">",
    "white space": lambda n: "a" + " " * n + "b",
    "lines": lambda n: "\n" * n,
    "words": lambda n: "word " * (n // 5),
    "capital words": lambda n: "Error" * (n // 5),
    "labels": lambda n: "Title: a\n" * (n // 9),
    "label without end": lambda n: "Title" + " a" * (n // 2),
    "colons": lambda n: ":" * n,
    "pipes": lambda n: "|" * n,
    "dashes": lambda n: "-" * n,
    "rules": lambda n: "a|b\n-|-\n" * (n // 8),
    "links": lambda n: "[a](https://" * (n // 12),
    "brackets in links": lambda n: "- [" + "]" * n,
    "URLs": lambda n: "https://a.b/" * (n // 12),
    "bullets": lambda n: "- a https://x.org/" * (n // 18),
    "bullet lines": lambda n: "- a - https://x.org/ b\n" * (n // 23),
    "numbers": lambda n: "1. " * (n // 3),
    "constructors": lambda n: "Document(page_content=" * (n // 22),
    "page contents": lambda n: "page_content='" * (n // 14),
    "inline labels": lambda n: "title: a, " * (n // 10),
    "commas": lambda n: "title,url\n" + "," * n,
    "quotes in a table": lambda n: 'title,url\n"' + "a" * n,
    "fences": lambda n: "```\n" * (n // 4),
    "no": lambda n: "no " * (n // 3),
    "passages": lambda n: "[1] " * (n // 4),
    "documents": lambda n: "Doc 1(Title: " * (n // 13),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear_in_the_text(name):
    def seconds(size):
        text = HOSTILE[name](size)
        start = time.process_time()
        find_results(text)
        return time.process_time() - start

    gc.disable()  # a collection of the whole test process is not ours
    try:
        seconds(1_000)
        small, large = (min(seconds(size) for _ in range(3)) for size in (100_000, 400_000))
    finally:
        gc.enable()
    assert large < 0.1 or large < 12 * max(small, 0.01)


def test_deep_nesting():
    value = [dict(ITEM)]
    for _ in range(10_000):
        value = {"data": [value]} if random.random() < 0.5 else {"results": value}
    assert results_of(value) == ONE
    assert find_results("[" * 10_000 + "]" * 10_000).account in ("empty", "unread")
    assert find_results('{"results":' * 10_000 + "[]" + "}" * 10_000).account in ("empty", "unread")


@pytest.mark.slow
def test_a_large_output():
    documents = [
        {"url": f"https://x.org/{n}", "title": f"Page {n}", "snippet": "some words of text " * 10}
        for n in range(80_000)
    ]
    text = json.dumps({"results": documents})
    assert len(text) > 20_000_000
    assert len(results_of(text)) == len(documents)
    prose = "The Seine rises in Burgundy. It is long (see [map](https://x.org)).\n" * 300_000
    assert find_results(prose).account == "unread"
