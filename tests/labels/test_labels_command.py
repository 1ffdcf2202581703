"""`goodgain labels` on the command line: verify, merge, import, export, and whose labels."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from goodgain.cli import run
from goodgain.labels import Store, Vote, label

FORMS = Path(__file__).parent / "forms"


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "l.db"
    label([("q", f"d{i}", "why?", f"text {i}") for i in range(3)], lambda request: 2, path)
    with Store(path) as opened:
        for name, gain in (("ann", 0), ("bob", 3), ("cyd", 3)):
            opened.add_votes([Vote(annotator=name, query="q", doc="d0", gain=gain)])
    return str(path)


def test_verify_says_where_and_exits_with_1(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["labels", "verify", store]) == 0
    assert "no damage" in capsys.readouterr().out
    with closing(sqlite3.connect(store)) as db:
        db.execute("DROP TRIGGER votes_keep")
        db.execute("UPDATE votes SET gain = 4 WHERE id = 2")
        db.commit()
    assert run(["labels", "verify", store, "--format", "csv"]) == 1
    out = capsys.readouterr().out
    assert 'votes, row 2",the row does not match its checksum' in out
    assert "schema,missing or changed: CREATE TRIGGER votes_keep" in out


def test_verify_says_that_an_old_store_has_no_checksums(
    old_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["labels", "verify", str(old_store)]) == 0
    assert "format 1, without checksums" in capsys.readouterr().err


def test_merge_adds_and_says_what(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = str(tmp_path / "new.db")
    assert run(["labels", "merge", new, store]) == 0
    out = capsys.readouterr().out
    assert "3 asked, 3 replies" in out
    assert "3 votes" in out
    assert run(["labels", "merge", new, store]) == 0
    assert "added nothing" in capsys.readouterr().out
    assert run(["labels", "merge", new]) == 2
    assert "merge needs a FILE" in capsys.readouterr().err


def test_whose_labels_are_read_must_be_chosen(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["labels", "export", store]) == 2
    error = capsys.readouterr().err
    assert "people (ann, bob, cyd)" in error
    assert "--annotator" in error
    for words, line, rule in (
        (["--people", "majority"], "q 0 d0 3", "1 gains by majority of the votes of 3 annotators"),
        (["--people", "median"], "q 0 d0 3", "by median"),
        (["--people", "mean"], "q 0 d0 2", "by mean"),
        (["--people", "dawid-skene"], "q 0 d0 3", "by dawid-skene"),
        (["--annotator", "ann"], "q 0 d0 0", "1 gains of annotator ann"),
        (["--prompt", "gain-0-4"], "q 0 d0 2", "3 gains of"),
    ):
        assert run(["labels", "export", store, *words]) == 0
        captured = capsys.readouterr()
        assert captured.out.splitlines()[0] == line
        assert rule in captured.err
        assert run(["labels", "export", store, *words, "-q"]) == 0
        assert capsys.readouterr().err == ""
    assert run(["labels", "show", store, "--people", "mean"]) == 0
    assert "votes" in capsys.readouterr().out
    assert run(["labels", "stats", store, "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["prompt"] for row in rows][1:] == ["person"] * 3


def test_a_setting_can_be_chosen_by_its_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "l.db")
    for name in ("one", "two"):
        label([("q", name, "why?", name)], lambda request: 2, path, prompt=None, batch=len(name))
    for batch in (1, 2):
        label([("q", "d", "why?", "text")], lambda request: 1, path, batch=batch)
    with Store(path, read_only=True) as opened:
        digests = [setting.digest for _, setting in opened.settings()]
    for digest in digests:
        assert run(["labels", "show", path, "--setting", digest[:10]]) == 0
    assert run(["labels", "show", path]) == 2
    assert digests[0][:8] in capsys.readouterr().err


def test_import_says_what_it_has_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "l.db")
    words = ["--gains", "yes=1,no=0"]
    assert run(["labels", "import", path, str(FORMS / "argilla-flat.json"), *words]) == 0
    captured = capsys.readouterr()
    assert "imported 1 new replies and 3 new votes" in captured.out
    assert "left out 1 responses with status 'draft'" in captured.err
    assert run(["labels", "import", path, str(FORMS / "argilla-flat.json"), "--gains", "yes"]) == 2
    assert "invalid gain 'yes'" in capsys.readouterr().err
    assert run(["labels", "import", path, str(FORMS / "argilla-flat.json")]) == 2
    assert "--gains relevant=1,irrelevant=0" in capsys.readouterr().err


def test_the_view_can_be_read_by_other_tools(store: str) -> None:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(labels)")]
        rows = db.execute("SELECT doc, gain, coalesce(model, annotator) FROM labels").fetchall()
    assert columns == [
        "query", "doc", "question", "gain", "status", "model", "prompt", "annotator", "replicate",
        "reason", "document", "created",
    ]  # fmt: skip
    assert len(rows) == 6
    assert {row[2] for row in rows} >= {"ann", "bob", "cyd"}
