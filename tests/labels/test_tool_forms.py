"""Import and export: the forms of annotation tools, tables of votes, and what is wrong in them."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Limits, PeopleLabels, Reply, Request, Store, Vote, label
from goodgain.labels.exchange import EXPORTS, described, export, export_parquet
from goodgain.labels.imports import import_labels
from goodgain.labels.merge import merge
from goodgain.labels.people import read_votes
from goodgain.labels.result import labels_of

FORMS = Path(__file__).parent / "forms"
ANN, BOB = "ann@example.org", "bob@example.org"


def votes(store: Store) -> set[tuple[str, str, str, float | None]]:
    return {(v.annotator, v.query, v.doc, v.gain) for v in read_votes(store)}


@pytest.mark.parametrize(
    ("file", "options", "expected", "replies", "left_out"),
    [
        (
            "quepid-book.json", {},
            {(ANN, "red fruit", "d1", 3), (BOB, "red fruit", "d1", 2), (ANN, "red fruit", "d2", 0),
             (BOB, "red fruit", "d2", None)},
            0, {"pairs to judge later": 1},
        ),
        (
            "quepid-book.csv", {},
            {(ANN, "red fruit", "d1", 3), (BOB, "red fruit", "d1", 2), (ANN, "red fruit", "d2", 0),
             (ANN, "=sum fruit", "d4", 1)},
            0, {"pairs that a judge has not rated": 2},
        ),
        (
            "quepid-case.csv", {"annotator": "ann"},
            {("ann", "red fruit", "d1", 3), ("ann", "red fruit", "d2", 0)},
            0, {"queries without ratings": 1},
        ),
        (
            "quepid-case.json", {"annotator": "ann"},
            {("ann", "red fruit", "d1", 3), ("ann", "red fruit", "d2", 0)}, 0, {},
        ),
        ("quepid-case.csv", {"model": "clicks"}, set(), 2, {"queries without ratings": 1}),
        (
            "label-studio.json", {},
            {("10", "q1", "d1", 3), (BOB, "q1", "d1", 2), ("10", "q1", "d2", 0),
             (BOB, "q1", "d2", None)},
            1, {},
        ),
        (
            "argilla.json", {},
            {("5fd9-ann", "q1", "d1", 3), ("7ab1-bob", "q1", "d1", 2), ("5fd9-ann", "q1", "d2", 0)},
            1, {"records without a response": 1},
        ),
        (
            "argilla-flat.json", {"gains": {"yes": 1, "no": 0}},
            {("5fd9-ann", "q1", "d1", 1), ("5fd9-ann", "q1", "d2", 0),
             ("7ab1-bob", "q1", "d2", None)},
            1, {"responses with status 'draft'": 1},
        ),
        (
            "doccano/ann.jsonl", {}, {("ann", "q1", "d1", 3), ("ann", "q1", "d2", 0)}, 0, {},
        ),
        (
            "phoenix.json", {},
            {("ann", "468d2810f529b6e9", "0", 3), ("bob", "q1", "d1", 2)},
            1, {"annotations of whole spans": 1},
        ),
        (
            "phoenix.csv", {"name": "relevance"},
            {("ann", "468d2810f529b6e9", "0", 3), ("ann", "468d2810f529b6e9", "1", 0)},
            0, {"annotations named 'fluency'": 1},
        ),
        (
            "langfuse-v2.json", {"gains": {"relevant": 2}},
            {("ann", "t1", "o1", 3), ("bob", "q1", "d1", 2)},
            1, {"scores of whole traces or sessions": 1},
        ),
        (
            "langfuse-v3.json", {}, {("ann", "t1", "o1", 3), ("bob", "t1", "o1", 1)},
            0, {"scores of whole traces or sessions": 1},
        ),
        (
            "votes.csv", {},
            {("ann", "q1", "d1", 3), ("bob", "q1", "d1", 2), ("ann", "q1", "d2", 0)},
            0, {"rows without a label": 1},
        ),
    ],
)  # fmt: skip
def test_every_form_is_read_once(
    file: str, options: dict[str, Any], expected: set[Any], replies: int, left_out: dict[str, int]
) -> None:
    with Store() as store:
        done = import_labels(store, FORMS / file, **options)
        assert votes(store) == expected
        assert (done.votes, done.replies, dict(done.left_out)) == (len(expected), replies, left_out)
        again = import_labels(store, FORMS / file, **options)
        assert (again.votes, again.replies) == (0, 0)


def test_texts_times_and_notes_come_along() -> None:
    with Store() as store:
        import_labels(store, FORMS / "votes.csv", keep="text")
        ann, bob = read_votes(store)[:2]
        assert (ann.created, bob.created) == ("2026-05-01T10:00:00.000000Z",) * 2
        assert (ann.note, ann.seconds, ann.question) == ("good", 2.5, "red fruit")
        texts = store.db.execute("SELECT text FROM documents ORDER BY text").fetchall()
        assert texts == [("Apples are red.",), ("Bananas are yellow.",)]
        source = store.db.execute("SELECT DISTINCT source FROM votes").fetchall()
        assert source == [(str(FORMS / "votes.csv"),)]
        import_labels(store, FORMS / "label-studio.json")
        assert {v.seconds for v in read_votes(store, "10")} == {4.288}


def test_a_zip_of_doccano_has_a_file_for_each_user(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for path in sorted((FORMS / "doccano").iterdir()):
            archive.write(path, path.name)
        archive.writestr("eve.jsonl", "")
    with Store() as store:
        done = import_labels(store, tmp_path / "export.zip")
        assert dict(done.left_out) == {"examples without a label": 1}
        assert votes(store) == {
            ("ann", "q1", "d1", 3), ("ann", "q1", "d2", 0), ("bob", "q1", "d1", 2),
        }  # fmt: skip


def frames() -> list[Callable[[dict[str, list[Any]]], Any]]:
    def pandas(data: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("pandas").DataFrame(data)

    def polars(data: dict[str, list[Any]]) -> Any:
        return pytest.importorskip("polars").DataFrame(data)

    def rows(data: dict[str, list[Any]]) -> Any:
        return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]

    return [pandas, polars, rows]


@pytest.mark.parametrize("build", frames(), ids=lambda build: build.__name__)
def test_data_frames_and_rows_of_votes(build: Any) -> None:
    data = {
        "query_id": ["q", "q"], "doc_id": ["d", "d"], "annotator": ["ann", "bob"], "gain": [1, 3],
    }  # fmt: skip
    with Store() as store:
        assert import_labels(store, build(data)).votes == 2
        assert votes(store) == {("ann", "q", "d", 1), ("bob", "q", "d", 3)}


def test_parquet_of_votes(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    data = {"query_id": ["q"], "doc_id": ["d"], "annotator": ["ann"], "gain": [2.0]}
    polars.DataFrame(data).write_parquet(tmp_path / "v.parquet")
    with Store() as store:
        import_labels(store, tmp_path / "v.parquet")
        assert votes(store) == {("ann", "q", "d", 2)}


def test_a_corrected_import_replaces_the_label_and_keeps_the_history(tmp_path: Path) -> None:
    with Store() as store:
        for gain in (1, 4):
            gains = {"q": {"d": gain}}
            import_labels(store, gains, annotator="ann")
            import_labels(store, gains, "machine")
            assert labels_of(store, annotator="ann").to_dict() == gains
            assert Labels.of(store).to_dict() == gains
        assert [vote.gain for vote in read_votes(store, history=True)] == [1, 4]
        assert store.db.execute("SELECT count(*) FROM replies").fetchone() == (2,)


# --- what is wrong, and where ---

TASK = json.loads((FORMS / "label-studio.json").read_text())[0]


def changed(task: Any = None, **result: Any) -> Any:
    copy = json.loads(json.dumps(TASK))
    copy["annotations"][0]["result"][0] |= result
    return copy | (task or {})


@pytest.mark.parametrize(
    ("content", "options", "message", "place"),
    [
        ([changed(value={"rating": "relevant"})], {}, "the label 'relevant' is not a number", "v.json"),
        ([changed({"data": {"text": "x"}})], {}, "the record has no query", "v.json"),
        ([changed({"data": {"query": "x"}})], {}, "the record has no document", "v.json"),
        ([TASK, 3], {}, "expected an object, got 3", "item 2"),
        ([{"query_id": "q", "doc_id": "d", "gain": 1, "note": ""}], {}, "does not say who gave it", ""),
        ([{"query_id": "q", "doc_id": "d", "gain": 1, "annotator": "a", "created_at": "soon"}], {},
         "not a time: 'soon'", "v.json"),
        ([{"query_id": "q", "doc_id": "d", "gain": 1, "annotator": "a", "seconds": "x"}], {},
         "not a number: 'x'", "v.json"),
        ([{"query_id": "q", "doc_id": "d", "gain": 5, "annotator": "a"}], {"scale": "0..4"},
         "label 5 of query 'q', document 'd' is outside the scale 0 to 4", "v.json"),
        ([{"query_id": "q", "doc_id": "d", "gain": None, "annotator": "a"}], {}, "no labels to import",
         "v.json"),
        ([TASK], {"form": "labelbox"}, "unknown form of labels: 'labelbox'", ""),
        ([TASK], {"model": "m", "annotator": "a"}, "of a model or of a person", ""),
    ],
)  # fmt: skip
def test_wrong_input_is_one_sentence_with_its_place(
    content: Any, options: dict[str, Any], message: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "v.json"
    path.write_text(json.dumps(content))
    with Store() as store:
        with pytest.raises(GoodgainError) as error:
            import_labels(store, path, **options)
        assert message in str(error.value)
        assert place in error.value.where
        assert store.db.execute("SELECT count(*) FROM votes").fetchone() == (0,)


def test_several_questions_need_a_choice(tmp_path: Path) -> None:
    task = json.loads(json.dumps(TASK))
    second = {
        "from_name": "style",
        "to_name": "txt",
        "type": "choices",
        "value": {"choices": ["1"]},
    }
    for each in (*task["annotations"], *task["predictions"]):
        each["result"].append(second)
    path = tmp_path / "v.json"
    path.write_text(json.dumps([task]))
    with Store() as store:
        with pytest.raises(GoodgainError, match="several labels: relevance, style"):
            import_labels(store, path)
        import_labels(store, path, name="style")
        assert {gain for *_, gain in votes(store)} == {1}


@pytest.mark.parametrize("form", ["phoenix", "langfuse", "label-studio", "argilla"])
def test_two_questions_in_different_records_need_a_choice(form: str, tmp_path: Path) -> None:
    """Read as one, the second would replace the first."""
    records: dict[str, list[dict[str, Any]]] = {
        "phoenix": [
            {"name": name, "annotator_kind": "HUMAN", "span_id": "s", "document_position": 0,
             "user_id": "ann", "result": {"score": score}, "metadata": {}}
            for name, score in (("relevance", 3), ("tone", 1))
        ],
        "langfuse": [
            {"name": name, "source": "ANNOTATION", "dataType": "NUMERIC", "traceId": "t",
             "observationId": "o", "authorUserId": "ann", "value": value}
            for name, value in (("relevance", 3), ("tone", 1))
        ],
        "label-studio": [
            {"data": {"query_id": "q", "doc_id": "d", "question": "what?", "text": "x"}, "annotations": [
                {"completed_by": "ann", "result": [
                    {"from_name": name, "type": "rating", "value": {"rating": rating}}]}]}
            for name, rating in (("relevance", 3), ("tone", 1))
        ],
        "argilla": [
            {"fields": {"question": "what?", "text": "x"}, "metadata": {"query_id": "q", "doc_id": "d"},
             "responses": {name: [{"value": value, "user_id": "ann", "status": "submitted"}]}}
            for name, value in (("relevance", 3), ("tone", 1))
        ],
    }  # fmt: skip
    path = tmp_path / "v.json"
    path.write_text(json.dumps(records[form]))
    with Store() as store:
        with pytest.raises(GoodgainError, match="several labels: relevance, tone") as raised:
            import_labels(store, path, form=form)
        assert "--question relevance" in raised.value.hint
        assert not votes(store)
        import_labels(store, path, form=form, name="relevance")
        assert [gain for *_, gain in votes(store)] == [3]


@pytest.mark.parametrize("form", ["csv", "jsonl", "label-studio", "argilla", "langfuse"])
def test_an_adjudicated_label_settles_a_pair_after_export_and_import(
    form: str, tmp_path: Path
) -> None:
    given = [("ann", 1, ""), ("bob", 1, ""), ("adjudicated by eve", 4, "adjudication")]
    with Store() as store, Store() as other:
        for annotator, gain, source in given:
            store.add_votes([Vote(annotator=annotator, query="q", doc="d", question="what?", gain=gain,
                                  source=source)])  # fmt: skip
        path = tmp_path / f"v.{'csv' if form == 'csv' else 'json' if form != 'jsonl' else 'jsonl'}"
        if form == "csv":
            rows = "".join(f"q,d,{annotator},{gain}\n" for annotator, gain, _ in given)
            path.write_text(f"query_id,doc_id,annotator,gain\n{rows}")
        else:
            path.write_text(export(PeopleLabels(store), form))
        import_labels(other, path)
        assert PeopleLabels(other).to_dict() == {"q": {"d": 4}}


def test_a_category_without_a_number_is_not_0(tmp_path: Path) -> None:
    """Version 2 of Langfuse's API says 0 for a category that has no number."""
    with (
        Store() as store,
        pytest.raises(GoodgainError, match="the label 'relevant' is not a number"),
    ):
        import_labels(store, FORMS / "langfuse-v2.json")


# --- export ---


@pytest.fixture
def people() -> Store:
    store = Store()
    hashes = store.add_documents(["Apples are red.", "Bananas are yellow."])
    for annotator, gains in (("ann", (3, 0)), ("bob", (2, 0)), ("cyd", (3, None))):
        for position, gain in enumerate(gains):
            store.add_votes([Vote(
                annotator=annotator, query="q1", doc=str(position), question="red fruit", gain=gain,
                status="skipped" if gain is None else "label", document=hashes[position], seconds=2.0,
            )])  # fmt: skip
    return store


def test_parquet_keeps_every_vote_with_its_history(people: Store, tmp_path: Path) -> None:
    import pandas as pd

    path = tmp_path / "votes.parquet"
    path.write_bytes(export_parquet(PeopleLabels(people)))
    for source in (path, pd.read_parquet(path)):
        with Store() as store:
            assert import_labels(store, source).votes == len(read_votes(people, history=True))
            assert votes(store) == votes(people)
            assert import_labels(store, source).votes == 0


def test_parquet_keeps_the_replies_of_a_model(tmp_path: Path) -> None:
    import pandas as pd

    rows = [("q1", f"d{i}", "red fruit", f"text {i}") for i in range(3)]

    def judge(request: Request) -> Reply:
        text = request.documents[0]
        return Reply("3" if text != "text 1" else "no idea", tokens_in=7, tokens_out=1)

    with Store(tmp_path / "l.db") as own:
        labels = label(rows, judge, own, name="mine", limits=Limits(readings=1, failure_share=1.0))
        path = tmp_path / "labels.parquet"
        path.write_bytes(export_parquet(labels))
        lines = tmp_path / "labels.jsonl"
        lines.write_text(export(labels, "jsonl"))
        for source in (path, pd.read_parquet(path), lines):
            with Store() as store:
                assert import_labels(store, source).form == "export"
                assert list(Labels.of(store)) == list(labels)
                assert export(Labels.of(store), "jsonl") == lines.read_text()


def test_lazy_frames_are_collected(people: Store) -> None:
    import polars as pl

    rows = [
        {"query_id": "q", "doc_id": f"d{i}", "question": "what?", "text": f"t{i}"} for i in (1, 2)
    ]
    assert len(label(pl.LazyFrame(rows), lambda request: 1, name="x")) == 2
    own = [{"query_id": "q", "doc_id": "d", "annotator": name, "gain": 1} for name in (ANN, BOB)]
    with Store() as store:
        assert import_labels(store, pl.LazyFrame(own)).votes == 2


def test_parquet_is_written_to_a_file(people: Store, tmp_path: Path, capsys: Any) -> None:
    from goodgain.cli import run

    source, target = str(tmp_path / "s.db"), str(tmp_path / "out.parquet")
    with Store(source) as store:
        merge(store, people)
    assert run(["labels", "export", source, "--people", "majority", "--to", "parquet"]) == 2
    assert "-o labels.parquet" in capsys.readouterr().err
    assert run(["labels", "export", source, "--to", "parquet", "-o", target]) == 0
    assert run(["labels", "import", str(tmp_path / "t.db"), target]) == 0
    assert "new votes" in capsys.readouterr().out


@pytest.mark.parametrize(
    "form", [form for form in EXPORTS if form not in ("qrels", "csv", "doccano")]
)
def test_what_is_exported_can_be_imported(form: str, people: Store, tmp_path: Path) -> None:
    suffix = {"quepid": "csv", "jsonl": "jsonl"}.get(form, "json")
    path = tmp_path / f"votes.{suffix}"
    path.write_text(export(PeopleLabels(people), form))
    with Store() as store:
        import_labels(store, path)
        query = "red fruit" if form == "quepid" else "q1"
        expected = {(a, query, d, g) for a, _, d, g in votes(people)}
        if form in ("quepid", "phoenix", "langfuse"):  # have no way to say that somebody skipped
            expected = {vote for vote in expected if vote[3] is not None}
        assert votes(store) == expected


def test_a_model_s_labels_survive_export_and_import(tmp_path: Path) -> None:
    pairs = [("q1", str(i), "red fruit", f"text {i}") for i in range(3)]
    labels = label(pairs, lambda request: 2, keep="text")
    for form in ("label-studio", "argilla", "phoenix", "langfuse"):
        path = tmp_path / f"{form}.json"
        path.write_text(export(labels, form))
        assert "text 1" in path.read_text() or form in ("phoenix", "langfuse")
        with Store() as store:
            import_labels(store, path)
            assert Labels.of(store).to_dict() == labels.to_dict()
    (tmp_path / "q.csv").write_text(export(labels, "quepid"))
    with Store() as store:
        import_labels(store, tmp_path / "q.csv", "m")
        assert Labels.of(store).to_dict() == {"red fruit": {str(i): 2 for i in range(3)}}


def test_an_export_says_by_which_rule(people: Store) -> None:
    labels = PeopleLabels(people, "mean")
    assert export(labels, "qrels") == "q1 0 0 2.6666666666666665\nq1 0 1 0\n"
    assert described(labels) == "2 gains by mean of the votes of 3 annotators"
    header, first = export(labels, "csv").splitlines()[:2]
    assert header == "query,doc,gain,status,votes,spread,detail,rule"
    assert first.endswith("ok,3,1,,mean")
    assert export(PeopleLabels(people, "majority"), "qrels") == "q1 0 0 3\nq1 0 1 0\n"
    assert described(PeopleLabels(people, annotator="bob")) == "2 gains of annotator bob"
    doccano = [json.loads(row) for row in export(PeopleLabels(people), "doccano").splitlines()]
    assert [(row["text"], row["label"]) for row in doccano] == [
        ("Apples are red.", ["3"]),
        ("Bananas are yellow.", ["0"]),
    ]


def test_documents_without_a_position_cannot_go_to_phoenix() -> None:
    store = Store()
    store.add_votes([Vote(annotator="ann", query="q", doc="d", gain=1)])
    with pytest.raises(GoodgainError, match="document 'd' of query 'q' is not a position"):
        export(PeopleLabels(store), "phoenix")
