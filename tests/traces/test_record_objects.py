"""Whatever a caller passes to the recorder is understood, or is an error that names its type."""
# ruff: noqa: E501

import dataclasses
import json
from collections import namedtuple

import pytest

import goodgain as gg
from goodgain.errors import UsageError
from goodgain.traces import open_traces


def recorded(tmp_path, results):
    """The canonical results that come back."""
    path = tmp_path / "one.jsonl"
    with gg.record(path, append=True) as rec:
        rec.conversation()
        rec.search("q", results)
    *_, trace = gg.read_traces(path)
    return [r.to_dict() for r in next(trace.searches()).results]


class Document:
    """As in LangChain."""

    def __init__(self, page_content, metadata, id=None):  # noqa: A002
        self.page_content, self.metadata, self.id = page_content, metadata, id


class TextNode:
    """As in LlamaIndex."""

    node_id = "n1"
    ref_doc_id = "doc1"

    def __init__(self):
        self.metadata = {"file_name": "a.pdf", "page": 3}

    def get_content(self):
        return "some text"


class NodeWithScore:
    """As in LlamaIndex."""

    node = TextNode()
    score = 0.75


class HaystackDocument:
    """As in Haystack."""

    id, content, meta, score = "h1", "some text", {"url": "https://x.org"}, 0.5


@dataclasses.dataclass
class Record:
    """A user's own."""

    url: str
    title: str
    rank: int


class Model:
    """As in pydantic."""

    def model_dump(self):
        return {"id": "m1", "text": "some text", "extra": None}


Row = namedtuple("Row", "docid score")


class Number:
    """As in numpy."""

    dtype, shape = "float64", ()

    def item(self):
        return 0.25

    def tolist(self):
        return 0.25


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Document("Rome", {"source": "https://r.org", "title": "R"}), {"content": "Rome", "url": "https://r.org", "title": "R"}),
        (Document("Rome", {"source": "a.pdf"}, "d1"), {"id": "d1", "content": "Rome"}),
        (NodeWithScore(), {"id": "n1", "score": 0.75, "content": "some text"}),
        (TextNode(), {"id": "n1", "content": "some text"}),
        (HaystackDocument(), {"id": "h1", "score": 0.5, "url": "https://x.org", "content": "some text"}),
        (Record("https://x.org", "X", 3), {"url": "https://x.org", "title": "X"}),
        (Model(), {"id": "m1", "content": "some text"}),
        (Row("d1", 0.5), {"id": "d1", "score": 0.5}),
        ((Document("Rome", {}), 0.5), {"content": "Rome", "score": 0.5}),
        ((0.5, Document("Rome", {})), {"content": "Rome", "score": 0.5}),
        ((Document("Rome", {}), Number()), {"content": "Rome", "score": 0.25}),
        (("d1", 2), {"id": "d1", "score": 2}),
        (["https://x.org", 2.5], {"url": "https://x.org", "score": 2.5}),
        ({"id": "d1", "score": Number()}, {"id": "d1", "score": 0.25}),
        (gg.traces.recorder.plain_result, None),
        (12, {"id": "12"}),
        ("https://x.org/a", {"url": "https://x.org/a"}),
        ({"id": "d1", "metadata": {"text": "body", "url": "https://x.org"}}, {"id": "d1", "content": "body", "url": "https://x.org"}),
    ],
)  # fmt: skip
def test_results_of_libraries(result, expected, tmp_path):
    if expected is None:
        with pytest.raises(UsageError, match="cannot record a result of type 'function'"):
            recorded(tmp_path, [result])
        return
    (actual,) = recorded(tmp_path, [result])
    assert expected.items() <= actual.items()


def test_nothing_is_dropped(tmp_path):
    import datetime
    import pathlib
    import uuid

    path = tmp_path / "t.jsonl"
    item = {
        "link": "https://x.org", "page": 3, "when": datetime.date(2026, 1, 2), "where": pathlib.PurePosixPath("/a"),
        "batch": uuid.UUID(int=1), "tags": ("a", {"b"}), "inner": {"n": Number()},
    }  # fmt: skip
    with gg.record(path) as rec:
        rec.search("q", iter([item]))
    (trace,) = map(json.loads, open_traces(str(path)).lines())
    result = trace["turns"][0]["iterations"][0]["searches"][0]["results"][0]
    assert result["url"] == "https://x.org"
    assert result["metadata"] == {
        "page": 3, "when": "2026-01-02", "where": "/a", "batch": str(uuid.UUID(int=1)), "tags": ["a", ["b"]],
        "inner": {"n": 0.25},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([object()], "cannot record a result of type 'object'"),
        ([None], "cannot record a result of type 'NoneType'"),
        ([{"rank": 1}], "has neither an id nor a URL, a title or a text"),
        ([{}], "has neither an id nor a URL, a title or a text"),
        ([""], "an empty string"),
        ([("d1", "title", 0.5)], r"type 'tuple' of \(str, str, float\)"),
        ([{"id": "d1", "score": float("nan")}], "score must be a finite number"),
        ([{"id": "d1", "blob": object()}], "cannot record a value of type 'object'"),
        (None, "cannot record results of type 'NoneType'"),
        (7, "cannot record results of type 'int'"),
        (b"bytes", "cannot record results of type 'bytes'"),
        ({"status": "ok"}, "no results in the response"),
    ],
)
def test_what_is_not_understood_is_an_error(results, message, tmp_path):
    with gg.record(tmp_path / "t.jsonl") as rec, pytest.raises(UsageError, match=message):
        rec.search("q", results)


def test_whole_responses(tmp_path):
    response = {"query": "q", "results": [{"url": "https://x.org/1"}, {"url": "https://x.org/2"}]}
    assert [r["url"] for r in recorded(tmp_path, response)] == [
        "https://x.org/1",
        "https://x.org/2",
    ]
    assert [r["url"] for r in recorded(tmp_path, json.dumps(response))] == [
        "https://x.org/1",
        "https://x.org/2",
    ]
    assert recorded(tmp_path, {"results": []}) == []


def test_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    rows = {"docid": ["d1", "d2"], "score": [2.5, 1.0]}
    for table in (pandas.DataFrame(rows), polars.DataFrame(rows)):
        assert [(r["id"], r["score"]) for r in recorded(tmp_path, table)] == [
            ("d1", 2.5),
            ("d2", 1.0),
        ]
