"""Outputs of tools: lists, JSON in strings, text in blocks."""

import json

import pytest

from goodgain.traces.results import results_of

ONE = [{"url": "https://x.org/a", "title": "A", "snippet": "text"}]
GIVEN = {"link": "https://x.org/a", "name": "A", "description": "text"}


@pytest.mark.parametrize(
    "output",
    [
        [GIVEN],
        json.dumps([GIVEN]),
        json.dumps(json.dumps([GIVEN])),
        {"results": [GIVEN]},
        {"organic": [GIVEN]},
        {"hits": {"hits": [{"_source": GIVEN}]}},
        [{"type": "text", "text": json.dumps([GIVEN])}],
        str([GIVEN]),
        {"data": {"items": [GIVEN]}},
        [[GIVEN, 0.7]],
    ],
)
def test_lists_by_the_usual_names(output):
    assert results_of(output) == ONE


@pytest.mark.parametrize(
    "output", [None, "", "  ", [], {}, "No results found", "Error: timeout", 3, {"results": []}]
)
def test_nothing(output):
    assert results_of(output) == []


def test_text_without_structure_is_one_result():
    assert results_of("Paris is the capital of France.") == [
        {"content": "Paris is the capital of France."}
    ]


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
    assert results_of(text)[0] == {"id": "1", "title": "A", "content": "text"}
    assert results_of(text)[1]["url"] == "https://x.org"


def test_labelled_blocks():
    text = "Title: A\nURL: https://x.org/a\nSnippet: one\n\nTitle: B\nURL: https://x.org/b\nSnippet: two"
    assert [r["url"] for r in results_of(text)] == ["https://x.org/a", "https://x.org/b"]


def test_strings_in_a_list():
    assert results_of(["https://x.org/a", "doc-7", "Paris is in France, they say."]) == [
        {"url": "https://x.org/a"},
        {"id": "doc-7"},
        {"content": "Paris is in France, they say."},
    ]
