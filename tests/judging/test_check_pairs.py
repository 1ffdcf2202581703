"""What `goodgain check` finds unjudged goes to the judging page, and its grades come back."""

from __future__ import annotations

import json

import goodgain
from goodgain.cli import run
from goodgain.judging.items import file_items
from goodgain.judging.opening import labels_desk
from goodgain.labels import Store

GOLDEN = """
cases:
  - {id: keys, query: rotate keys, relevant: {keys.md: 3}}
  - {id: logs, query: read the logs, relevant: {logs.md: 2}}
"""
ANSWERS = {
    "rotate keys": [
        "keys.md",
        {"id": "new.md", "title": "New", "text": "How to rotate: <b>so</b>."},
    ],
    "read the logs": [{"id": "logs.md"}, {"url": "https://example.org/log", "text": "Tail it."}],
}


def test_unjudged_results_become_pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.yaml").write_text(GOLDEN)
    result = goodgain.check("golden.yaml", ANSWERS.get)
    (tmp_path / "pairs.jsonl").write_text(result.unjudged_pairs())
    first, second = file_items("pairs.jsonl")
    assert (first.query, first.doc, first.question) == ("keys", "new.md", "rotate keys")
    assert (first.title, first.text) == ("New", "How to rotate: <b>so</b>.")
    assert (second.doc, second.url) == ("https://example.org/log", "https://example.org/log")
    with Store("labels.db") as store:
        desk, _ = labels_desk(store, pairs="pairs.jsonl", prompt="relevance-0-3")
        assert [g for g, _ in desk.grades] == [0, 1, 2, 3]


def test_the_command_writes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "golden.yaml").write_text(GOLDEN)
    (tmp_path / "target.py").write_text(
        f"ANSWERS = {ANSWERS!r}\n\n\ndef search(query):\n    return ANSWERS[query]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run(["check", "golden.yaml", "--target", "target:search", "--unjudged", "pairs.jsonl"])
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert [row["doc_id"] for row in rows] == ["new.md", "https://example.org/log"]
    capsys.readouterr()
