"""Ids in CSV and TSV that goodgain reads back are those that went in, also `@angular/core` and `-v`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.labels import Store, Vote
from goodgain.labels.exchange import export
from goodgain.labels.imports import import_labels
from goodgain.labels.result import labels_of
from goodgain.results.text import render, render_data

IDS = ["@angular/core", "-v", "=1+1", "+cmd", "'@x", "a,b", 'say "x"', "\u00e9"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plain = [i for i in IDS if " " not in i]
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} 1\n" for q in plain for d in plain))
    (tmp_path / "a.txt").write_text(
        "".join(f"{q} Q0 {d} 1 {n} a\n" for q in plain for n, d in enumerate(plain))
    )
    return tmp_path


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_values_per_query(folder, form):
    line = f"evaluate qrels.txt a.txt -m AP --per-query -q -o out.{form}"
    assert run(line.split()) == 0
    written = Path(f"out.{form}").read_text()
    rows = list(csv.DictReader(written.splitlines(), delimiter="\t" if form == "tsv" else ","))
    assert {row["query"] for row in rows} == {i for i in IDS if " " not in i}
    assert run([*line.split()[:-1], "again.txt", "--format", form]) == 0
    assert sorted(Path("again.txt").read_text().split()) == sorted(written.split())


def test_a_fused_run(folder):
    for form in ("csv", "tsv"):
        assert run(f"fuse a.txt a.txt -q --format {form} -o fused.{form}".split()) == 0
        assert gg.evaluate("qrels.txt", f"fused.{form}", "AP")["AP"] == 1


def test_labels(tmp_path):
    votes = {(q, d): float(len(d) % 3) for q in IDS for d in IDS}
    with Store(tmp_path / "one.db") as store:
        store.add_votes(
            [Vote(annotator="ann", query=q, doc=d, gain=g) for (q, d), g in votes.items()]
        )
        labels = labels_of(store, annotator="ann")
        assert labels.render("csv") == export(labels, "csv")
        (tmp_path / "labels.csv").write_text(export(labels, "csv"))
    with Store(tmp_path / "two.db") as store:
        import_labels(store, str(tmp_path / "labels.csv"), annotator="ann")
        assert labels_of(store, annotator="ann").to_dict() == {
            q: {d: votes[q, d] for d in IDS} for q in IDS
        }


def test_tables_for_people_are_no_formulas():
    assert render("csv", ["a"], [["=1+1"]]) == "a\n'=1+1\n"
    assert render_data("csv", ["a"], [["=1+1"]]) == "a\n=1+1\n"
