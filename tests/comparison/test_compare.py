"""Comparisons from every kind of input, their results and their exports."""

import csv
import io
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import goodgain as gg
from goodgain.comparison import Comparison, compare
from goodgain.comparison.comparison import LONG_COLUMNS
from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.results.numbers import p_text, percent, signed, stars

RNG = np.random.default_rng(5)
QUERIES = [f"q{i}" for i in range(30)]
BASE = dict(zip(QUERIES, RNG.uniform(0.2, 0.6, 30).tolist(), strict=True))
NEW = {q: v + d for (q, v), d in zip(BASE.items(), RNG.normal(0.05, 0.1, 30), strict=True)}
BAD = {q: v - 0.2 + d for (q, v), d in zip(BASE.items(), RNG.normal(0, 0.1, 30), strict=True)}


def scores(**systems: dict[str, float]) -> dict[str, dict[str, dict[str, float]]]:
    return {name: {"AP": values} for name, values in systems.items()}


def three() -> Comparison:
    return compare(scores(base=BASE, new=NEW, bad=BAD))


def test_numbers_of_a_pair() -> None:
    pair = three()["new", "AP"]
    a, b = np.array(list(BASE.values())), np.array(list(NEW.values()))
    expected = stats.ttest_rel(b, a)
    assert pair.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert pair.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(), rel=1e-9)
    assert pair.difference == pytest.approx(b.mean() - a.mean())
    assert pair.relative == pytest.approx(b.mean() / a.mean() - 1)
    assert (pair.wins, pair.ties, pair.losses) == ((b > a).sum(), 0, (b < a).sum())
    assert pair.gsb == (pair.wins - pair.losses) / 30
    assert pair.p_corrected >= pair.p


@pytest.mark.slow
def test_wins_ties_losses_and_p_are_those_of_ranx() -> None:
    pytest.importorskip("ranx")
    rng = np.random.default_rng(2)
    qrels = {q: {"d0": 1} for q in QUERIES}
    runs = {
        name: {q: {f"d{i}": float(s) for i, s in enumerate(rng.random(4))} for q in QUERIES}
        for name in ("old", "new")
    }
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("ranx_compare.py")],
        input=json.dumps({"qrels": qrels, "runs": runs}),
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    pair = compare(gg.evaluate(qrels, runs, "RR"))["new", "RR"]
    assert {"W": pair.wins, "T": pair.ties, "L": pair.losses} == expected["counts"]
    assert pair.p == pytest.approx(expected["p"], rel=1e-9)


def test_several_baselines_and_all_pairs() -> None:
    two = compare(scores(base=BASE, new=NEW, bad=BAD), baseline=["base", "bad"])
    assert {(p.system, p.baseline) for p in two} == {
        ("new", "base"),
        ("bad", "base"),
        ("new", "bad"),
    }
    assert two["new", "AP", "bad"].difference > 0
    with pytest.raises(KeyError, match="2 pairs"):
        two["new", "AP"]
    assert len(compare(scores(base=BASE, new=NEW, bad=BAD), baseline="all")) == 3
    apart = compare(scores(base=BASE, bad=BAD), scores(new=NEW))
    assert apart.baselines == ("base", "bad")
    assert "a = base" in str(two)


def test_evaluations_and_results_with_unit_scores() -> None:
    qrels = {q: {"d1": 1} for q in QUERIES}
    runs = {
        "old": {q: {"d1": 1.0, "d2": 2.0} for q in QUERIES},
        "new": {q: {"d1": 2.0 if i % 3 else 0.5, "d2": 1.0} for i, q in enumerate(QUERIES)},
    }
    found = gg.compare(gg.evaluate(qrels, runs, "RR nDCG@10"), measures="RR")
    assert found["new", "RR"].difference == pytest.approx(1 / 3)
    apart = gg.compare(*(gg.evaluate(qrels, {n: r}, "RR") for n, r in runs.items()))
    assert apart["new", "RR"].p == found["new", "RR"].p

    class Traces:
        lower_is_better = ("Dup",)

        def per_unit_scores(self) -> dict[str, dict[str, dict[str, float]]]:
            return {"a": {"Dup": {"c1": 3.0, "c2": 1.0}}, "b": {"Dup": {"c1": 1.0, "c2": 0.0}}}

    pair = gg.compare(Traces())["b", "Dup"]
    assert pair.lower_is_better
    assert pair.wins == 2
    assert pair.improvement == 1.5


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey"])
def test_order_of_queries_does_not_matter(test: str) -> None:
    turned = dict(reversed(NEW.items()))
    first = compare(scores(base=BASE, new=NEW), test=test, permutations=2_000, bootstraps=500)
    second = compare(scores(base=BASE, new=turned), test=test, permutations=2_000, bootstraps=500)
    assert first["new", "AP"] == second["new", "AP"]


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey"])
@pytest.mark.parametrize(
    ("base", "new"),
    [
        ({"a": 0.5}, {"a": 0.7}),
        ({"a": 0.5, "b": 0.2}, {"a": 0.7, "b": 0.1}),
        ({"a": 0.5, "b": 0.2, "c": 0.3}, {"a": 0.6, "b": 0.3, "c": 0.4}),
        ({"a": 0.5, "b": 0.2}, {"a": 0.5, "b": 0.2}),
        ({"a": 0.0, "b": 0.0, "c": 0.0}, {"a": 0.1, "b": 0.4, "c": 0.0}),
        ({"a": 0.5, "b": math.nan, "c": 0.1}, {"a": 0.4, "b": 0.3, "c": 0.3}),
    ],
    ids=["one query", "two queries", "constant", "identical", "zero baseline", "NaN"],
)
def test_no_nan_and_no_warning_where_formulas_have_no_value(
    test: str, base: dict[str, float], new: dict[str, float]
) -> None:
    found = compare(
        scores(base=base, new=new), test=test, permutations=200, bootstraps=200, margin=0.1
    )
    for value in found["new", "AP"].to_dict().values():
        assert value == value
    for form in ("table", "markdown", "latex", "csv", "json"):
        text = found.render(form)
        assert "nan" not in text.casefold()
    if 0.0 in base.values():
        assert found["new", "AP"].relative is None
    assert bool(found.warnings()) == any(v != v for v in base.values())


def test_what_does_not_pair_is_named_and_handled_by_policy() -> None:
    base = {**BASE, "q0": math.nan}
    new = {q: v for q, v in NEW.items() if q != "q1"}
    dropped = compare(scores(base=base, new=new))
    assert dropped["new", "AP"].queries == 28
    assert dropped.warnings() == [
        "new against base, AP: 2 of 30 queries are left out: q0 (undefined in base), q1 (not in new)"
    ]
    zero = compare(scores(base=base, new=new), unpaired="zero")
    assert zero["new", "AP"].queries == 30
    assert "count as 0" in zero.warnings()[0]
    with pytest.raises(InputError, match="2 of 30 queries cannot be paired"):
        compare(scores(base=base, new=new), unpaired="error")
    with pytest.raises(InputError, match="share no query"):
        compare(scores(base={"a": 1.0}, new={"b": 1.0}))
    late = {"a": {"latency": {"q1": 1.0}}, "b": {"latency": {"q1": 2.0, "q2": 3.0}}}
    assert compare(late, unpaired="zero")["b", "latency"].queries == 1  # no time is not no wait


def test_less_is_more_for_time_and_cost() -> None:
    slow = {q: 1.0 + v for q, v in BASE.items()}
    systems = {
        "base": {"nDCG@10": BASE, "Latency": slow},
        "quick": {"nDCG@10": NEW, "Latency": {q: v / 2 for q, v in slow.items()}},
        "waste": {"nDCG@10": BAD, "Latency": {q: v * 2 for q, v in slow.items()}},
    }
    found = compare(systems, measures=["nDCG@10", "Latency", "Latency(stat=p95)"])
    assert found["quick", "Latency"].wins == 30
    assert found["quick", "Latency"].improvement > 0 > found["quick", "Latency"].difference
    p95 = found["quick", "Latency(stat=p95)"]
    assert p95.mean == pytest.approx(np.percentile(list(slow.values()), 95) / 2)
    assert p95.test == "randomisation"
    assert p95.p < 0.05
    price = next(p for p in found.prices if p.system == "base")
    values = list(slow.values())
    assert (price.p50, price.p99) == pytest.approx(tuple(np.percentile(values, [50, 99])))
    assert [(t.system, t.on_front, t.beaten_by) for t in found.trade_off] == [
        ("quick", True, None), ("base", False, "quick"), ("waste", False, "quick"),
    ]  # fmt: skip
    text = str(found)
    assert "Latency ↓" in text
    assert "Pareto front" in text
    told = compare({"a": {"err": {"q": 1.0}}, "b": {"err": {"q": 0.5}}}, lower_is_better=["err"])
    assert told["b", "err"].wins == 1
    with pytest.raises(UsageError, match="no measure 'nope'"):
        compare(scores(base=BASE, new=NEW), lower_is_better=["nope"])


def test_groups_and_interaction() -> None:
    group = {q: "hard" if i % 2 else "easy" for i, q in enumerate(QUERIES) if i < 28}
    helped = {
        q: v + (0.3 if group.get(q) == "hard" else 0) + 0.001 * i
        for i, (q, v) in enumerate(BASE.items())
    }
    found = compare(scores(base=BASE, new=helped), by=group)
    assert found.groups == ("easy", "hard", "")
    by = {p.group: p for p in found.group_pairs}
    assert by["hard"].queries == by["easy"].queries == 14
    assert by["hard"].difference > 0.2 > by["easy"].difference
    assert found.interactions[0].p < 0.001
    assert "2 queries have no group: q28, q29" in found.warnings()
    assert "F test of the interaction" in str(found)
    assert [row[found.rows()[0].index("group")] for row in found.rows()[1]] == [
        None,
        "easy",
        "hard",
        "",
    ]
    with pytest.raises(UsageError, match="no column 'kind' to group by"):
        compare(scores(base=BASE, new=NEW), by="kind")


def test_seeds_of_one_system() -> None:
    seeds = [scores(dense={q: v + shift for q, v in NEW.items()}) for shift in (-0.02, 0.0, 0.03)]
    found = compare(scores(base=BASE), seeds)
    assert found.systems == ("base", "dense")
    pair = found["dense", "AP"]
    assert pair.mean == pytest.approx(np.mean(list(NEW.values())) + 0.01 / 3)
    assert pair.seeds == 3
    assert pair.p_these_seeds is not None
    assert pair.p > pair.p_these_seeds
    spread = found.seeds[0]
    assert spread.seeds == 3
    assert spread.between_seeds == pytest.approx(np.std([-0.02, 0, 0.03], ddof=1))
    assert "p, these seeds" in str(found)
    with pytest.raises(UsageError, match="seeds of one system"):
        compare(scores(base=BASE), [scores(a=NEW, b=BAD)])


def test_margin_gives_noninferiority_and_equivalence() -> None:
    pair = compare(scores(base=BASE, new=NEW), margin=0.2)["new", "AP"]
    assert pair.p_noninferior < 0.001
    assert pair.p_equivalent < 0.05
    assert pair.margin == 0.2
    other = compare(scores(base=BASE, bad=BAD), margin="10%")["bad", "AP"]
    assert other.p_noninferior > 0.9


def test_tukey_corrects_over_measures_only() -> None:
    systems = {n: {"AP": v, "RR": v} for n, v in (("base", BASE), ("new", NEW), ("bad", BAD))}
    found = compare(systems, test="tukey")
    pair = found["new", "AP"]
    assert pair.p_corrected == pytest.approx(min(1, 2 * pair.p))
    assert "all pairs of 3 systems" in str(found)
    with pytest.raises(InputError, match="every system"):
        compare(scores(a={"x": 1.0}, b={"x": 1.0}, c={"y": 1.0}), test="tukey")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test": "z"}, "unknown test 'z'"),
        ({"correction": "z"}, "unknown correction 'z'"),
        ({"alpha": 1.5}, "alpha must be between 0 and 1, got 1.5"),
        ({"tie": -1}, "tie must not be negative, got -1"),
        ({"unpaired": "z"}, "unpaired='z'"),
        ({"baseline": "z"}, "unknown baseline 'z'"),
        ({"measures": "nDCG@5"}, "no scores for the measure 'nDCG@5'"),
        ({"margin": "z"}, "margin must be a non-negative number, got 'z'"),
    ],
)
def test_bad_use_is_a_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compare(scores(base=BASE, new=NEW), **options)


def test_one_system_is_nothing_to_compare() -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        compare(scores(base=BASE))
    with pytest.raises(InputError, match="no scores to compare"):
        compare(7)


# --- tables made elsewhere ---

TABLE = """method,query_id,mrr,latency,complexity,seed
A,q1,0.5,0.1,easy,1
A,q2,,0.2,hard,1
A,q3,0.25,0.3,hard,1
B,q1,1.0,0.2,easy,1
B,q2,0.5,0.2,hard,1
B,q3,0.5,0.4,hard,1
"""


@pytest.mark.parametrize(
    "form",
    ["csv", "tsv", "jsonl", "json", "parquet", "pandas", "polars", "arrow", "rows", "columns"],
)
def test_tables_of_scores(form: str, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(TABLE)))
    for row in rows:
        row["mrr"] = float(row["mrr"]) if row["mrr"] else None
        row["latency"] = float(row["latency"])
    source: Any = tmp_path / f"scores.{form}"
    if form == "csv":
        source.write_text(TABLE)
    elif form == "tsv":
        source.write_text(TABLE.replace(",", "\t"))
    elif form == "jsonl":
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "json":
        source.write_text(json.dumps(rows))
    elif form == "rows":
        source = rows
    elif form == "columns":
        source = {name: [row[name] for row in rows] for name in rows[0]}
    elif form == "polars":
        source = pytest.importorskip("polars").DataFrame(rows)
    elif form == "pandas":
        source = pytest.importorskip("pandas").DataFrame(rows)
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pylist(rows)
        if form == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, source)
        else:
            source = table
    found = compare(source, by="complexity", baseline="A")
    assert found.measures == ("mrr", "latency")
    pair = found["B", "mrr"]
    assert (pair.queries, pair.wins) == (2, 2)
    assert found["B", "latency"].losses == 2
    assert found.groups == ("easy", "hard")
    assert "q2 (undefined in A)" in found.warnings()[0]


def test_long_tables_and_the_output_of_evaluate(tmp_path: Path) -> None:
    qrels = {q: {"d": 1} for q in ("q1", "q2")}
    result = gg.evaluate(
        qrels,
        {"a": {q: {"d": 1.0} for q in qrels}, "b": {"q1": {"d": 1.0, "x": 2.0}, "q2": {"d": 1.0}}},
        "RR AP",
    )
    path = tmp_path / "scores.csv"
    path.write_text(result.render("csv", per_query=True))
    assert compare(path)["b", "RR"].difference == compare(result)["b", "RR"].difference == -0.25


def test_a_seed_column_makes_seeds(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("system,seed,query,m\n" + "".join(
        f"{s},{k},q{q},{q / 10 + k / 100 + (s == 'b') / 5}\n" for s in "ab" for k in (1, 2) for q in range(4)
    ))  # fmt: skip
    found = compare(path)
    assert [s.seeds for s in found.seeds] == [2, 2]
    assert found["b", "m"].difference == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("system,query,m\n", "no rows"),
        ("system,m\na,1\n", "no column for the query id"),
        ("system,query,m\na,q1,1\na,q1,2\n", r"duplicate query 'q1' of system 'a' \(.*:3\)"),
        ("system,query,m\na,q1,1\na,q2,x\n", r"'x' in column 'm' is not a number \(.*:3\)"),
        ("system,query,m\na,q1,inf\nb,q1,2\n", "'inf' in column 'm' is not a number"),
        ("system,query,m\na,q1\n", r"expected 3 fields as in the header, got 2 \(.*:2\)"),
        ("system,query,m,m\na,q1,1,1\n", "duplicate column 'm'"),
        ("system,query,m\na,q1,text\n", "no column of the table holds scores"),
        ("system,query,m\n,q1,1\n", "a row has no system"),
        ("system,query,m\na,q1," + "9" * 200_000, "invalid table"),
        ('{"query": 1\n', "not a JSON object"),
    ],
)
def test_bad_tables_are_a_sentence_with_a_place(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        compare(path)


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("who,what,m\na,q1,1\nb,q1,2\n")
    assert compare(path, columns={"system": "who", "query": "what"})["b", "m"].difference == 1
    with pytest.raises(InputError, match="column 'whom' not found"):
        compare(path, columns={"system": "whom", "query": "what"})


DOCS_RAG = Path(__file__).parents[2].parent / "shared" / "data" / "docs_rag"


@pytest.mark.skipif(not DOCS_RAG.exists(), reason="the shared data are not here")
def test_published_scores_of_three_retrievers() -> None:
    """Files without a system column are systems by their name; a sentence is the query's id."""
    names = [f"evaluation_results_detailed_{n}" for n in ("one", "level_two", "level_three")]
    found = compare(*(DOCS_RAG / f"{name}.csv" for name in names))
    means = [[round(v, 4) for v in list(found.means[name].values())[:3]] for name in names]
    assert means == [[0.4283, 0.6592, 0.7367], [0.4533, 0.7142, 0.7733], [0.4367, 0.6933, 0.8650]]
    assert found[names[2], "retrieval_mrr"].stars == "*"
    assert found[names[2], "retrieval_mrr"].queries == 100


# --- text ---


def test_p_is_never_zero_and_never_crosses_a_threshold() -> None:
    assert p_text(0.0) == p_text(1e-300) == p_text(9.99e-5) == "<1e-4"
    assert p_text(0.04999999) == "0.04999999"
    assert p_text(0.05) == "0.0500"
    assert p_text(0.0009999) == "0.0009999"
    assert p_text(0.10000001, 0.1) == "0.1000"
    assert p_text(0.09999999, 0.1) == "0.09999999"
    assert p_text(0.99999) == ">0.9999"
    assert p_text(1.0) == "1.0000"
    assert p_text(None) == "-"
    rng = np.random.default_rng(0)
    for p in rng.uniform(0, 0.06, 3000):
        text = p_text(float(p))
        if not text.startswith("<"):
            assert stars(float(text)) == stars(float(p))


def test_stars_are_those_of_the_seed() -> None:
    assert [stars(p) for p in (0.0009, 0.001, 0.009, 0.01, 0.049, 0.05, 1)] == [
        "***", "**", "**", "*", "*", "ns", "ns",
    ]  # fmt: skip


def test_signed_and_percent() -> None:
    assert [signed(v) for v in (0.0, 0.12345, -0.00001, None)] == ["0", "+0.1235", "-1.0e-05", "-"]
    assert [percent(v) for v in (0.0, 0.1234, None)] == ["0%", "+12.3%", "-"]


def test_exports(tmp_path: Path) -> None:
    found = compare({"base": {"A_P": BASE}, "b&d": {"A_P": BAD}})
    latex = found.render("latex")
    assert r"\toprule" in latex
    assert r"b\&d" in latex
    assert r"\textbf{0." in latex
    assert r"$^{\dagger \dagger \dagger }$" in latex
    assert r"A\_P" in latex
    markdown = found.render("markdown")
    assert "| base (baseline) | **0." in markdown
    assert "| ††† 0." in markdown
    rows = list(csv.DictReader(io.StringIO(found.render("csv"))))
    assert list(rows[0]) == list(LONG_COLUMNS)
    assert rows[0]["stars"] == "†††"
    assert float(rows[0]["p"]) > 0
    assert json.loads(found.render("json"))[0]["system"] == "b&d"
    assert "<table>" in found._repr_html_()
    assert repr(found) == "Comparison(b&d against base; A_P)"
    found.save(tmp_path / "c.json")
    assert Comparison.load(tmp_path / "c.json") == found
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(InputError, match="not a saved comparison"):
        Comparison.load(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"goodgain": "comparison", "format": 1}')
    with pytest.raises(InputError, match="is damaged: settings is missing or invalid"):
        Comparison.load(tmp_path / "x.json")
    assert len(found.to_pandas()) == len(found.to_polars()) == found.to_arrow().num_rows == 1


def test_saved_comparisons_with_everything_load_again(tmp_path: Path) -> None:
    systems = {"a": {"AP": BASE, "cost": BASE}, "b": {"AP": NEW, "cost": BAD}}
    found = compare(systems, by={q: q[-1] for q in QUERIES}, margin="2%")
    found.save(tmp_path / "c.json")
    assert Comparison.load(tmp_path / "c.json") == found


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "s.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match="pyarrow"):
        compare(path)


def test_every_pair_of_sixty_systems() -> None:
    chance = np.random.default_rng(1)
    systems = {
        f"s{i:02d}": dict(zip(QUERIES, chance.normal(0.01 * i, 0.1, 30).tolist(), strict=True))
        for i in range(60)
    }
    start = time.process_time()
    compared = compare(scores(**systems), baseline="all")
    seconds = time.process_time() - start
    assert len(compared.pairs) == 60 * 59 / 2
    assert seconds < 8  # 1.5 s on a quiet machine; it was 30 s
    text = str(compared)
    assert "every pair of 60 systems" in text and "s00, s01" not in text
    assert "row minus column, the best 14 of 60" in text
    assert max(map(len, text.split("row minus column")[1].split("\n\n")[0].splitlines())) < 200
