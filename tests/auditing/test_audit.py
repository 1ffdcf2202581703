"""`goodgain audit`: tables made under known conventions are found again, published ones reproduced."""

import csv
import json
import math
import random

import pytest

import goodgain as gg
from goodgain.auditing import auditor, scoring
from goodgain.auditing.conventions import AVERAGING, RANKING, ROUNDING
from goodgain.cli import run as command
from goodgain.errors import InputError

COLUMNS = ("nDCG@10", "AP", "P@5", "RR", "Bpref", "R@20")
AXES = {**RANKING, **AVERAGING, **ROUNDING}


def collection(seed, queries=25, systems=4):
    """Ties, near-ties, unjudged and negative documents, grades to 3, queries that a run lacks."""
    draw = random.Random(seed)
    docs = [f"d{i:02}" for i in range(60)]
    qrels = {}
    for q in range(queries):
        judged = draw.sample(docs, 25)
        qrels[f"q{q}"] = {d: draw.choice([-1, 0, 0, 0, 1, 1, 2, 3]) for d in judged}
    runs = {}
    for s in range(systems):
        run = {}
        for q in range(queries):
            if draw.random() < 0.1:
                continue
            chosen = draw.sample(docs, 40)
            run[f"q{q}"] = {d: draw.choice([1.0, 2.0, 2.0 + 1e-9, 3.0, 4.0, 5.5]) for d in chosen}
        runs[f"system{s}"] = run
    return qrels, runs


def printed(value, digits, rounding, percent):
    scaled = value * 100 if percent else value
    if rounding == "truncated":
        scaled = math.floor(scaled * 10**digits + 1e-9) / 10**digits
    return f"{scaled:.{digits}f}"


def table_of(qrels, runs, columns, digits=4, rounding="rounded", percent=False, **policies):
    """{column: measure} evaluated and printed: rows of a published table."""
    rows = []
    result = gg.evaluate(qrels, runs, list(columns.values()), **policies)
    for scores in result.runs:
        row = {"run": scores.name}
        for column, measure in columns.items():
            row[column] = printed(scores[measure], digits, rounding, percent)
        rows.append(row)
    return rows


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))]
)
def test_random_conventions_are_recovered(seed):
    draw = random.Random(1000 + seed)
    qrels, runs = collection(seed)
    policies = {
        "ties": draw.choice(RANKING["ties"]),
        "scores": draw.choice(RANKING["scores"]),
        "unjudged": draw.choice(RANKING["unjudged"]),
        "missing": draw.choice(AVERAGING["missing"]),
    }
    rounding, percent = draw.choice(ROUNDING["rounding"]), draw.random() < 0.3
    gain, rel = draw.choice(["linear", "exp"]), draw.choice([1, 1, 2])
    columns = {c: c for c in COLUMNS}
    if gain == "exp":
        columns["nDCG@10"] = "nDCG(gain=exp)@10"
    if rel == 2:
        columns["AP"] = "AP(rel=2)"
    rows = table_of(qrels, runs, columns, 4, rounding, percent, **policies)
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced, str(result)
    for axis, choice in {**policies, "rounding": rounding}.items():
        assert choice in result.possible.get(axis, (AXES[axis][0],)), (axis, str(result))
    meanings = {column.name: (column.measure, *column.alternatives) for column in result.columns}
    for column, measure in columns.items():
        assert measure in meanings[column], str(result)


def test_what_cannot_matter_is_not_decided():
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    runs = {"one": {"q1": {"a": 3.0, "b": 2.0}, "q2": {"b": 2.0, "a": 1.0}}}
    result = gg.audit(qrels, runs, [{"run": "one", "AP": "0.7500"}])
    assert result.reproduced
    assert {"ties", "scores", "missing"} <= set(result.without_effect)
    assert "not decided by this table" in str(result)


def every_convention(seed=20, queries=12, systems=2):
    """Runs for which every way of ranking matters: duplicates, documents with a query's id, 60 deep."""
    draw = random.Random(seed)
    names = [f"q{q}" for q in range(queries)]
    docs = [*names, *(f"d{i:02}" for i in range(60))]
    qrels = {
        q: {q: 1, **{d: draw.choice([-1, 0, 0, 1, 2, 3]) for d in draw.sample(docs, 35)}}
        for q in names
    }
    runs = []
    for s in range(systems):
        rows = []
        for q in names:
            chosen = {q, *draw.sample(docs, 55)}
            listed = [*sorted(chosen), *draw.sample(sorted(chosen), 4)]
            draw.shuffle(listed)
            rows += [(q, d, draw.choice([1.0, 2.0, 2.0 + 1e-9, 3.0, 4.0, 5.5])) for d in listed]
        runs.append(gg.Run(rows, name=f"system{s}"))
    return qrels, runs


def test_every_combination_of_rankings_is_tried():
    """The last ones as well: more than 400 combinations of six conventions."""
    qrels, runs = every_convention()
    policies = {
        "ties": "average", "scores": "single", "unjudged": "remove-negative", "same_id": "drop",
        "duplicates": "best",
    }  # fmt: skip
    rows = table_of(qrels, runs, {"AP": "AP", "nDCG": "nDCG"}, 6, **policies)
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced, str(result)
    assert policies.items() <= result.decided.items()
    assert result.combinations == 4 * 2 * 3 * 2 * 2 * 5 * 2
    assert "tried all 960 combinations of conventions" in str(result)


def test_meanings_that_were_not_tried_are_counted(monkeypatch):
    monkeypatch.setattr(auditor, "_MOST_MEANS", 1_000)
    qrels, runs = collection(21, queries=10, systems=2)
    columns = {name: name for name in ("nDCG", "AP", "P@5")}
    result = gg.audit(qrels, runs, table_of(qrels, runs, columns))
    assert result.reproduced
    assert not result.exhaustive
    partly = [c for c in result.columns if c.meanings_tried < c.meanings]
    assert partly
    for column in partly:
        assert f"  {column.name}: {column.meanings_tried} of {column.meanings}\n" in str(result)
    assert "relative to that" in str(result)
    assert result.to_dict()["exhaustive"] is False
    assert result.to_dict()["columns"][0]["meanings"] == result.columns[0].meanings


def test_a_search_in_small_passes_is_the_same(monkeypatch):
    """Values of queries are held for a pass only, however many conventions there are."""
    qrels, runs = collection(10, queries=6, systems=2)
    rows = table_of(qrels, runs, {"AP": "AP", "RR": "RR"}, ties="input", unjudged="remove")
    whole = gg.audit(qrels, runs, rows)
    monkeypatch.setattr(scoring, "_MOST_VALUES", 30)
    assert gg.audit(qrels, runs, rows).to_dict() == whole.to_dict()
    assert whole.conventions["unjudged"] == "remove"


def test_a_small_search_is_complete():
    qrels, runs = collection(9)
    result = gg.audit(qrels, runs, table_of(qrels, runs, {"P@5": "P@5"}))
    assert result.exhaustive
    assert all(c.meanings_tried == c.meanings for c in result.columns)
    assert "relative to" not in str(result)


def test_a_convention_that_only_another_meaning_shows():
    """Ties of grades 1 and 2 change nothing for P@1, but P(rel=2)@1."""
    qrels = {f"q{i}": {"a": 1 + i % 3 // 2, "b": 2 - i % 3 // 2} for i in range(9)}
    runs = {"one": {q: {"a": 1.0, "b": 1.0} for q in qrels}}
    for ties, value in (("docid", "0.6667"), ("docid-ascending", "0.3333"), ("average", "0.5000")):
        result = gg.audit(qrels, runs, [{"run": "one", "P@1": value}])
        assert result.reproduced
        assert result.columns[0].measure == "P(rel=2)@1"
        assert result.conventions["ties"] == ties


def test_trec_eval_versions_are_told_apart():
    """Near-ties rank differently in 32 bits, so one of the two versions fits."""
    qrels = {f"q{i}": {"a": 1} for i in range(3)}
    runs = {"one": {q: {"a": 1.0 + 1e-10, "b": 1.0} for q in qrels}}
    for scores, tool in (("single", "trec_eval 9.0.8"), ("double", "trec_eval 10")):
        rows = table_of(qrels, runs, {"RR": "RR"}, scores=scores)
        result = gg.audit(qrels, runs, rows)
        assert result.reproduced
        assert any(name.startswith(tool) for name in result.tools)
        assert len({name.split(" -c")[0] for name in result.tools if "trec_eval" in name}) == 1


def test_a_cutoff_that_the_header_leaves_out():
    qrels, runs = collection(3)
    rows = table_of(qrels, runs, {"MRR": "RR@10", "NDCG": "nDCG@10"})
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced
    assert {c.name: c.changes for c in result.columns}["NDCG"] == ("cut-off 10",)


def test_a_depth_is_recovered():
    qrels, runs = collection(4)
    cut = {
        name: {q: dict(sorted(d.items(), key=lambda p: (p[1], p[0]), reverse=True)[:20])
               for q, d in run.items()}
        for name, run in runs.items()
    }  # fmt: skip
    rows = table_of(qrels, cut, {"AP": "AP", "Bpref": "Bpref", "Rprec": "Rprec"})
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced
    assert "20" in result.possible["depth"]


def test_what_is_left_over_is_listed():
    qrels, runs = collection(5)
    rows = table_of(qrels, runs, {"AP": "AP", "nDCG@10": "nDCG@10"})
    rows[1]["AP"] = "0.9876"
    result = gg.audit(qrels, runs, rows)
    assert not result.reproduced
    (cell,) = result.left_over
    assert (cell.run, cell.column, cell.printed) == ("system1", "AP", "0.9876")
    assert cell.left_over == pytest.approx(cell.computed - 0.9876)
    assert result.conventions["ties"] == "docid"


def test_one_column_with_conventions_of_its_own():
    """As ir_measures, whose RR@k ranks ties by ascending ids."""
    qrels, runs = collection(6)
    rows = table_of(qrels, runs, {"AP": "AP", "nDCG@10": "nDCG@10", "RR@10": "RR@10", "P@5": "P@5"})
    other = table_of(qrels, runs, {"RR@10": "RR@10"}, ties="docid-ascending")
    for row, changed in zip(rows, other, strict=True):
        row["RR@10"] = changed["RR@10"]
    result = gg.audit(qrels, runs, rows)
    column = next(c for c in result.columns if c.name == "RR@10")
    assert not result.reproduced
    assert column.own_conventions["ties"] == "docid-ascending"


def test_duplicates():
    qrels = {"q": {"a": 1, "b": 0}}
    rows = [("q", "b", 2.0), ("q", "a", 1.0), ("q", "a", 3.0)]
    for policy, value in (("first", "0.5000"), ("best", "1.0000")):
        result = gg.audit(qrels, gg.Run(rows, name="one"), [{"run": "one", "RR": value}])
        assert result.reproduced
        assert result.decided["duplicates"] == policy


def test_long_tables_percentages_and_marks():
    qrels, runs = collection(7)
    scores = gg.evaluate(qrels, runs, "AP P@5")
    rows = [
        {"system": s.name, "metric": m, "value": f"{100 * s[m]:.1f}*"}
        for s in scores.runs
        for m in ("AP", "P@5")
    ]
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced
    assert len(result.cells) == 8


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"run": "system0", "colour": "0.1"}], "no column of the table names a measure"),
        ([{"run": "elsewhere", "AP": "0.1"}], "no run of the table was passed"),
        ([{"run": "system0", "AP": "high"}], "not a number: 'high'"),
        ([{"run": "system0", "AP": "0.1"}, {"run": "system0", "AP": "0.2"}], "two values of 'AP'"),
    ],
)
def test_bad_tables(rows, message):
    with pytest.raises(InputError, match=message):
        gg.audit(*collection(0), rows)


def test_command(tmp_path, capsys):
    qrels, runs = collection(8)
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    paths = []
    for name, run in runs.items():
        paths.append(str(tmp_path / f"{name}.json"))
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    rows = table_of(qrels, runs, {"MAP": "AP", "P@5": "P@5"}, missing="skip")
    for change, status in (("", 0), ("0.9999", 1)):
        rows[0]["MAP"] = change or rows[0]["MAP"]
        with (tmp_path / "table.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        arguments = ["audit", str(tmp_path / "qrels.json"), *paths]
        assert command([*arguments, "--table", str(tmp_path / "table.csv")]) == status
        out = capsys.readouterr().out
        assert out.startswith(f"{8 - status} of 8 values reproduced to the last digit")
        assert "missing=skip" in out


# --- tables that others published ---


def test_trec_covid(shared_data):
    folder = shared_data / "trec_covid/round1"
    result = gg.audit(
        folder / "qrels-rnd1.txt",
        sorted((folder / "runs").glob("*.gz")),
        folder / "leaderboard.csv",
    )
    assert (len(result.cells), result.reproduced) == (75, True)
    assert "trec_eval 9.0.8 -c" in result.tools
    assert len(result.ignored_rows) == 128


def test_cacm(shared_data):
    """P_30 as published; MAP belongs to a deeper run, and is left over."""
    folder = shared_data / "cacm"
    rows = [{"run": "cacm-bm25", "P_30": "0.1942", "MAP": "0.3123"}]
    result = gg.audit(folder / "qrels.cacm.txt", [folder / "cacm-bm25.run"], rows)
    assert [(c.column, c.reproduced) for c in result.cells] == [("P_30", True), ("MAP", False)]


# Of the exported results, by retriever: precision, recall and MRR of three passages (see SOURCE.txt).
DOCS_RAG = {
    "retrieve_base": ("0.4259", "0.6557", "0.7340"),
    "retrieve_level_two": ("0.4500", "0.7092", "0.7733"),
    "retrieve_level_three": ("0.4533", "0.7092", "0.8383"),
}


def test_docs_rag(shared_data):
    """One question of one retriever failed, and its mean is over the other 99."""
    folder = shared_data / "docs_rag"
    exported = json.loads((folder / "retrieval_results.json").read_text())["results"]["results"]
    golds = json.loads((folder / "docs_evaluation_dataset.json").read_text())
    qrels = {item["question"]: dict.fromkeys(item["correct_chunks"], 1) for item in golds}
    runs = {}
    for row in exported:
        links = row.get("response", {}).get("output")
        name = row["provider"]["id"].rpartition(":")[2]
        if isinstance(links, list):
            runs.setdefault(name, {})[row["vars"]["query"]] = list(dict.fromkeys(links))
    assert sorted(map(len, runs.values())) == [99, 100, 100]
    rows = [{"run": name, "P@3": p, "Recall": r, "MRR": m} for name, (p, r, m) in DOCS_RAG.items()]
    result = gg.audit(qrels, runs, rows)
    assert result.reproduced, str(result)
    assert result.decided["missing"] == "skip"
