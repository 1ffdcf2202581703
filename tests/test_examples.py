"""The projects in examples/: test_docs.py runs the commands of their READMEs, and this is the rest."""

from __future__ import annotations

import json
import re

from load_script import load_script

import goodgain as gg

examples = load_script("examples")
EXAMPLES = examples.ROOT / "examples"
PROJECTS = sorted(page.parent.name for page in EXAMPLES.glob("*/README.md"))


def test_every_project_is_listed() -> None:
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert sorted(listed) == PROJECTS


def test_judgments_of_the_handbook_name_its_pages_and_questions() -> None:
    folder = EXAMPLES / "handbook"
    pages = {json.loads(line)["id"] for line in (folder / "corpus.jsonl").read_text().splitlines()}
    rows = [line.split("\t") for line in (folder / "queries.tsv").read_text().splitlines()[1:]]
    qrels = gg.Qrels(folder / "qrels.txt")
    assert [row[0] for row in rows] == list(qrels)
    assert {doc for query in qrels for doc in qrels[query]} <= pages
    assert (len(pages), len(rows), qrels.judgments) == (36, 40, 76)  # as README.md says
