"""How tables were made: crossed with seeds, nested in them, repeats, annotators; and what is then tested."""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import goodgain as gg
from goodgain.cli import run
from goodgain.comparison import Comparison
from goodgain.errors import InputError, UsageError

Rows = list[dict[str, Any]]


def rows(
    queries: int = 20,
    seeds: int = 3,
    sd: float = 0.05,
    lift: float = 0.0,
    systems: Iterable[str] = ("old", "new"),
    start: int = 1,
) -> Rows:
    rng = np.random.default_rng(start)
    base = rng.normal(0.5, 0.2, queries)
    return [
        {"system": s, "query_id": f"q{q}", "seed": k, "AP": float(x)}
        for s in systems
        for k, effect in enumerate(rng.normal(0, sd, seeds))
        for q, x in enumerate(base + effect + (s == "new") * lift + rng.normal(0, 0.1, queries))
    ]


def table(data: Rows, system: str) -> np.ndarray:
    cells = {(r["query_id"], r["seed"]): r["AP"] for r in data if r["system"] == system}
    ids = list(dict.fromkeys(q for q, _ in cells))
    return np.array([[cells[q, s] for s in dict.fromkeys(s for _, s in cells)] for q in ids])


def without(data: Rows, column: str) -> Rows:
    return [{k: v for k, v in row.items() if k != column} for row in data]


# --- what stands behind the stars ---


def test_equal_systems_seldom_get_stars() -> None:
    """49.7 % of these comparisons had stars when seeds were only averaged."""
    starred = sum(
        gg.compare(rows(30, 3, 0.05, start=i))["new", "AP"].stars != "ns" for i in range(300)
    )
    assert starred < 0.09 * 300


def test_seeds_that_change_nothing_leave_the_paired_t_test() -> None:
    data = [dict(r, seed=k) for r in rows(seeds=1, lift=0.05) for k in range(4)]
    pair = gg.compare(data)["new", "AP"]
    a, b = table(data, "old")[:, 0], table(data, "new")[:, 0]
    expected = stats.ttest_rel(b, a)
    assert pair.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (pair.low, pair.high) == pytest.approx(expected.confidence_interval(), rel=1e-9)
    assert pair.p_these_seeds == pytest.approx(expected.pvalue, rel=1e-9)


def test_one_sentence_says_how_the_table_was_made() -> None:
    shared = rows()
    assert gg.compare(shared).design == (
        "Design: 20 queries, crossed with 3 seeds that both systems share: paired by query and seed, "
        "tested for new ones of both."
    )
    alone = [r for r in shared if r["system"] == "new" or r["seed"] == 0]
    for blank in (None, ""):
        one = [dict(r, seed=blank) if r["system"] == "old" else r for r in alone]
        assert "3 seeds of new, with old as one fixed run" in gg.compare(one).design
    assert "with old as one fixed run" in gg.compare(alone).design
    own = [dict(r, seed=f"{r['system']}{r['seed']}") for r in shared]
    assert "3 seeds of old and 3 seeds of new, each system with its own" in gg.compare(own).design
    plain = without([r for r in shared if r["seed"] == 0], "seed")
    assert gg.compare(plain).design == (
        "Design: 20 queries, one score for each system; paired over queries."
    )
    assert "averaged over" in gg.compare(shared, seeds="fixed").design
    text = str(gg.compare(shared))
    assert gg.compare(shared).design in text
    assert "t-test over queries and seeds" in text


def test_shared_seeds_are_paired_and_others_are_not() -> None:
    data = rows(seeds=4, sd=0.0)
    for row in data:  # one large effect of each seed on both systems
        row["AP"] += (0.0, 0.5, -0.4, 0.2)[row["seed"]]
    shared = gg.compare(data)["new", "AP"]
    own = gg.compare([dict(r, seed=f"{r['system']}{r['seed']}") for r in data])["new", "AP"]
    assert shared.high - shared.low < 0.3 < own.high - own.low  # type: ignore[operator]
    mixed = list(reversed(data))  # the order of seeds does not matter
    assert gg.compare(mixed, baseline="old")["new", "AP"].p == pytest.approx(shared.p)


def test_one_seed_shows_nothing_about_others() -> None:
    data = rows(seeds=1, lift=0.3)
    found = gg.compare(data)
    pair = found["new", "AP"]
    assert (pair.p, pair.stars, pair.low, pair.note) == (1.0, "ns", None, "one seed")
    assert found.verdict(pair) == "not shown"
    assert pair.p_these_seeds is not None
    assert pair.p_these_seeds < 1e-6
    assert "shows nothing about other seeds, so there are no stars" in found.design
    these = gg.compare(data, seeds="fixed")["new", "AP"]
    assert these.p == pytest.approx(pair.p_these_seeds)
    assert these.stars == "***"
    listed = gg.compare({"a": {"AP": {"x": 0.1, "y": 0.3}}}, [{"b": {"AP": {"x": 0.4, "y": 0.5}}}])
    assert listed["b", "AP"].note == "one seed"


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "randomisation", "bootstrap"])
def test_tests_over_queries_are_refused_for_seeds(test: str) -> None:
    with pytest.raises(UsageError, match="covers queries only, and 'new' has 3 seeds"):
        gg.compare(rows(), test=test)
    with pytest.raises(UsageError, match="covers queries only"):
        gg.gate(rows(), test=test)
    fixed = gg.compare(rows(), test=test, seeds="fixed", permutations=500, bootstraps=500)
    assert "for these seeds only" in fixed.design


def test_tukey_over_seeds_is_wider_for_more_systems() -> None:
    data = rows(lift=0.1, systems=("old", "new", "other"))
    t, tukey = (gg.compare(data, test=test, correction="none") for test in ("t", "tukey"))
    assert tukey["new", "AP"].p > t["new", "AP"].p
    assert tukey["new", "AP"].high > t["new", "AP"].high  # type: ignore[operator]
    two = [r for r in data if r["system"] != "other"]
    both = [gg.compare(two, test=test)["new", "AP"] for test in ("t", "tukey")]
    assert both[1].low == pytest.approx(both[0].low, rel=1e-6)


def test_margins_corrections_and_the_gate_cover_seeds() -> None:
    data = rows(40, 3, 0.0, lift=0.0)
    for row in data:
        row["AP"] += (row["system"] == "new") * (0.08, -0.02, 0.0)[row["seed"]]
    pair = gg.compare(data, margin=0.03)["new", "AP"]
    fixed = gg.compare(data, margin=0.03, seeds="fixed")["new", "AP"]
    assert pair.p_noninferior > 0.05 > fixed.p_noninferior  # type: ignore[operator]
    assert not gg.gate(data, margin=0.03).passed
    assert gg.gate(data, margin=0.03, seeds="fixed").passed
    check = gg.gate(data, margin=0.03).checks[0]
    assert check.seeds == 3
    assert check.seeds_needed is not None
    assert check.seeds_needed > 3
    assert f"{check.seeds_needed} seeds would" in gg.gate(data, margin=0.03).sentence
    one = gg.gate(rows(seeds=1, lift=0.3))
    assert not one.passed
    assert "nothing is shown about other seeds with one seed" in one.sentence


def test_counts_by_query_do_not_decide_over_seeds() -> None:
    found = gg.compare(rows(lift=0.3))
    assert "Ship" not in str(found)
    with pytest.raises(UsageError, match="do not cover seeds"):
        found["new", "AP"].side_by_side()


def test_groups_and_percentiles_with_seeds() -> None:
    data = [dict(r, kind="x" if int(r["query_id"][1:]) % 2 else "y") for r in rows(lift=0.1)]
    for row in data:
        row["latency"] = 1 + row["AP"]
    found = gg.compare(data, by="kind", measures=["AP", "Latency(stat=p95)"])
    assert {p.seeds for p in found.group_pairs} == {3}
    assert found.interactions[0].p is not None
    p95 = found["new", "Latency(stat=p95)"]
    assert (p95.p, p95.low) == (1.0, None)
    assert p95.note == "no test of a percentile covers seeds"
    assert "in groups by kind" in found.design


# --- designs ---


def nested(seeds: int = 4) -> Rows:
    """Each seed draws questions of its own and numbers them from q0."""
    data = rows(15, seeds, 0.02, 0.1)
    return [dict(r, question=f"what is {r['query_id']} of {r['seed']}?") for r in data]


def test_seeds_that_drew_their_own_queries_are_noticed() -> None:
    (note,) = [n for n in gg.compare(nested()).warnings() if "drew" in n]
    assert note == (
        "query 'q0' and 14 more differ in 'question' between seeds 0 and 1: if each seed drew its own "
        "queries, name both columns (--query seed,query_id)"
    )
    same = [dict(r, question=f"what is {r['query_id']}?") for r in rows()]
    assert not any("drew" in n for n in gg.compare(same).warnings())
    answers = [dict(r, answer=f"{r['AP']}", hits=r["AP"] + 1) for r in rows()]
    assert not any("drew" in n for n in gg.compare(answers).warnings())
    equal = [dict(r, AP=round(r["AP"], 1), system=s) for r in rows(systems=["a"]) for s in "ab"]
    texts = [{k: str(v) for k, v in r.items()} for r in equal]
    assert not any("drew" in n for data in (equal, texts) for n in gg.compare(data).warnings())
    hops = [dict(r, hops=(int(r["query_id"][1:]) + r["seed"]) % 3) for r in rows()]
    assert any("differ in 'hops'" in n for n in gg.compare(hops).warnings())
    with pytest.raises(InputError, match="is in the groups") as error:
        gg.compare([dict(r, kind=r["seed"]) for r in rows()], by="kind")
    assert "--query seed,..." in str(error.value)


def test_queries_nested_in_seeds_have_seeds_as_units() -> None:
    data = nested()
    found = gg.compare(data, columns={"query": "seed,query_id"})
    pair = found["new", "AP"]
    d = table(data, "new") - table(data, "old")
    assert (pair.queries, pair.seeds) == (60, 4)
    assert pair.p == pytest.approx(stats.ttest_1samp(d.mean(0), 0).pvalue, rel=1e-9)
    assert "60 queries, nested in 4 seeds, each with its own queries" in found.design
    assert not any("drew" in note or "undefined" in note for note in found.warnings())
    listed = gg.compare(data, columns={"query": ["seed", "query_id"]})
    assert listed["new", "AP"] == pair
    by_query = gg.compare(data, columns={"query": "seed,query_id"}, seeds="fixed")["new", "AP"]
    assert by_query.p == pytest.approx(stats.ttest_1samp(d.ravel(), 0).pvalue, rel=1e-9)
    signs = gg.compare(data, columns={"query": "seed,query_id"}, test="randomisation")
    assert signs["new", "AP"].p >= 2 / 2**4  # of four units


def test_several_columns_identify_a_query_without_mixing_them_up() -> None:
    data = [
        {"system": s, "corpus": c, "id": i, "AP": v}
        for s, shift in (("a", 0.0), ("b", 0.1))
        for c, i, v in (("x/1", "2", 0.1 + shift), ("x", "1/2", 0.5), ("y", "2", 0.3 + 2 * shift))
    ]
    found = gg.compare(data, columns={"query": "corpus,id"})
    assert found["b", "AP"].queries == 3
    assert found["b", "AP"].difference == pytest.approx(0.1)
    with pytest.raises(InputError, match="column 'nope' not found"):
        gg.compare(data, columns={"query": "corpus,nope"})


def test_the_smallest_tables() -> None:
    assert "crossed with 2 seeds" in gg.compare(rows(2, 2)).design
    one = gg.compare(rows(1, 3))
    assert "no test over seeds (one query)" in one.design
    assert (one["new", "AP"].p, one["new", "AP"].note) == (1.0, "one query")
    constant = [dict(r, AP=0.1 * r["seed"] + (r["system"] == "new")) for r in rows(6, 3)]
    pair = gg.compare(constant)["new", "AP"]
    assert (pair.p, pair.note) == (2 / 2**3, "constant difference")  # of three seeds
    same = gg.compare([dict(r, AP=0.1 * r["seed"]) for r in rows(6, 3)])["new", "AP"]
    assert (same.p, same.note) == (1.0, "no difference")


def test_repeats_and_annotators() -> None:
    for factor in ("repeat", "annotator"):
        data = [{factor if k == "seed" else k: v for k, v in r.items()} for r in rows(lift=0.1)]
        found = gg.compare(data)
        assert found.measures == ("AP",)
        assert f"crossed with 3 {factor}s that both systems share" in found.design
        assert found["new", "AP"].p == gg.compare(rows(lift=0.1))["new", "AP"].p
        one = [r for r in data if r[factor] == 0]
        assert gg.compare(one)["new", "AP"].seeds == 0  # one round is not a sample of rounds
    for seed in (None, 42):
        constant = [dict(r, repeat=r["seed"], seed=seed) for r in rows(lift=0.1)]
        assert "crossed with 3 repeats" in gg.compare(constant).design
    both = [dict(r, repeat=i, AP=r["AP"] + i / 10) for r in rows() for i in (0, 1)]
    pair = gg.compare(both)["new", "AP"]
    assert pair.mean == pytest.approx(table(rows(), "new").mean() + 0.05)
    assert pair.p == pytest.approx(gg.compare(rows())["new", "AP"].p)
    judged = [dict(r, annotator=i, AP=r["AP"] + i / 10) for r in rows() for i in (0, 1)]
    assert any("averaged over annotators" in n for n in gg.compare(judged).warnings())


def test_queries_that_some_seeds_lack_are_not_undefined() -> None:
    full = rows(lift=0.1)
    data = [r for r in full if (r["system"], r["query_id"], r["seed"]) != ("new", "q3", 1)]
    found = gg.compare(data)
    assert found.warnings() == [
        "new against old, AP: 1 of 20 queries count with the seeds that have them: "
        "q3 (seed 1 of new lacks it)"
    ]
    pair = found["new", "AP"]
    assert pair.queries == 20
    d = table(full, "new") - table(full, "old")
    d[3, 1] = np.nan
    assert pair.difference == pytest.approx(np.nanmean(d, 1).mean())
    assert pair.p == pytest.approx(gg.compare(full)["new", "AP"].p, rel=0.5)
    zero = gg.compare(data, unpaired="zero")["new", "AP"]
    assert zero.difference < pair.difference
    nan = [dict(r, AP=None) if (r["query_id"], r["seed"]) == ("q3", 1) else r for r in full]
    assert "undefined in seed 1 of old" in gg.compare(nan).warnings()[0]
    gone = [r for r in full if (r["system"], r["query_id"]) != ("new", "q3")]
    assert gg.compare(gone).warnings() == [
        "new against old, AP: 1 of 20 queries are left out: q3 (not in new)"
    ]
    with pytest.raises(InputError, match="1 of 20 queries cannot be paired"):
        gg.compare(gone, unpaired="error")


def test_missing_labels_are_bounded_over_seeds() -> None:
    """The verdict is open if the extremes of what is not labelled give another one."""
    data = [
        {"system": r["system"], "query": r["query_id"], "seed": r["seed"], "measure": "AP",
         "value": r["AP"], "lower": r["AP"] - gap, "upper": r["AP"] + gap}
        for r in rows(lift=0.3)
        for gap in [0.3 * (r["system"] == "new")]
    ]  # fmt: skip
    pair = gg.compare(data)["new", "AP"]
    assert pair.p < 0.05
    assert not pair.settled
    assert pair.bound_low == pytest.approx(pair.difference - 0.3)
    assert pair.bound_high == pytest.approx(pair.difference + 0.3)


def test_designs_are_saved(tmp_path: Path) -> None:
    found = gg.compare(rows())
    found.save(tmp_path / "c.json")
    loaded = Comparison.load(tmp_path / "c.json")
    assert loaded == found
    assert loaded.design == found.design
    record = next(iter(json.loads(found.render("json"))))
    assert record["seeds"] == 3
    assert record["p_these_seeds"] < record["p"]


# --- the command line ---


@pytest.fixture
def scores(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "scores.csv"
    buffer = io.StringIO()
    buffer.write("system,seed,query_id,question,AP\n")
    for r in nested():
        buffer.write(f"{r['system']},{r['seed']},{r['query_id']},{r['question']},{r['AP']}\n")
    path.write_text(buffer.getvalue())
    yield str(path)


def test_commands_take_several_columns_and_fixed_seeds(
    scores: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "--scores", scores]) == 0
    assert "--query seed,query_id" in capsys.readouterr().err
    assert run(["compare", "--scores", scores, "--query", "seed,query_id"]) == 0
    assert "nested in 4 seeds" in capsys.readouterr().out
    args = ["--scores", scores, "--query", "seed,query_id", "--seeds", "fixed"]
    assert run(["compare", *args]) == 0
    assert "paired t-test" in capsys.readouterr().out
    assert run(["gate", *args, "--margin", "0.05"]) == 0
    assert run(["compare", "--scores", scores, "--test", "sign"]) == 2
    assert "covers queries only" in capsys.readouterr().err


# --- numbers that are none ---


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey"])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([(float("inf"), 1.0), (0.1, 0.2)], "AP of query 'x' of 'a' is infinite"),
        ([(0.1, 0.2), (0.3, float("-inf"))], "AP of query 'y' of 'b' is infinite"),
        ([(1e300, 2e300), (1e300, 3e300)], "too large to compare: 1e[+]300"),
        ([(1e200, -1e200), (1e200, 1.0)], "too large to compare"),
        ([(1e-300, 2e-300), (1e-300, 5e-300)], "too small to compare: at most 4e-300"),
        ([(0.5, 0.5), (1e-200, 0.0)], "too small to compare: at most 1e-200"),
    ],
)
def test_scores_out_of_range_are_one_sentence(
    test: str, values: list[tuple[float, float]], words: str
) -> None:
    a, b = ({u: v[i] for u, v in zip("xy", values, strict=True)} for i in (0, 1))
    with pytest.raises(InputError, match=words):
        gg.compare({"a": {"AP": a}, "b": {"AP": b}}, test=test, permutations=99, bootstraps=99)
    if test != "tukey":
        assert not gg.gate({"a": {"AP": a}, "b": {"AP": b}}, test=test).passed


@pytest.mark.parametrize("values", [(float("inf"), float("-inf")), (1e308, 1e308), (-1e200, 1.0)])
def test_seeds_out_of_range_are_one_sentence(values: tuple[float, float]) -> None:
    data = [dict(r, AP=values[r["seed"]]) if r["query_id"] == "q2" else r for r in rows(seeds=2)]
    words = r"'inf' in column 'AP' is not a number|AP of query 'q2' of 'old' is too large"
    with pytest.raises(InputError, match=words):
        gg.compare(data)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap", "tukey"])
def test_tiny_scores_that_do_not_differ_and_tiny_baselines(test: str) -> None:
    same = gg.compare({s: {"AP": {"x": 1e-300, "y": 3e-300}} for s in "ab"}, test=test)["b", "AP"]
    assert (same.p, same.difference) == (1.0, 0.0)
    zero = {"a": {"AP": {"x": 1e-300, "y": 1e-300}}, "b": {"AP": {"x": 0.2, "y": 0.4}}}
    pair = gg.compare(zero, test=test)["b", "AP"]
    assert pair.relative is None
    assert "e+" not in str(gg.compare(zero, test=test))


def test_the_bootstrap_of_few_queries_shows_no_more_than_exact_tests() -> None:
    for n in range(2, 8):
        new = {f"q{i}": 0.5 + i / 100 for i in range(n)}
        data = {"a": {"AP": dict.fromkeys(new, 0.1)}, "b": {"AP": new}}
        bootstrap, exact = (
            gg.compare(data, test=test)["b", "AP"] for test in ("bootstrap", "randomisation")
        )
        assert bootstrap.p >= exact.p == 2 / 2**n
        assert (bootstrap.low is None) == (n < 6)


# --- how many queries, how many seeds ---


def test_power_covers_seeds() -> None:
    data = rows(30, 5, 0.05)
    many = gg.power(data)
    assert (many.queries, many.seeds) == (30, 5)
    assert many.seed_sd == pytest.approx(0.05 * 2**0.5, rel=0.8)
    assert "With 30 queries and 5 seeds" in many.sentence
    # The plan for as many queries and seeds as there are is the error of the comparison itself.
    assert many.difference == pytest.approx(
        gg.compare(data)["new", "AP"].minimum_detectable, rel=0.05
    )
    assert gg.power(data, seeds=20).difference < many.difference
    assert gg.power(data, queries=300).difference < many.difference
    shown = gg.power(data, difference=1.2 * many.difference)
    assert shown.queries <= 30
    assert shown.power >= 0.8
    wide = rows(30, 3, 0.0)
    for row in wide:
        row["AP"] += (row["system"] == "new") * (0.2, -0.2, 0.0)[row["seed"]]
    words = "no number of queries shows a difference of 0[.]02 with 3 seeds"
    with pytest.raises(UsageError, match=words) as error:
        gg.power(wide, difference=0.02, power=0.8)
    assert "seeds, enough queries would" in str(error.value)
    with pytest.raises(InputError, match="not known with one seed"):
        gg.power(rows(30, 1))
    with pytest.raises(UsageError, match="seeds must be at least 2"):
        gg.power(data, seeds=1)
    with pytest.raises(UsageError, match="seeds= needs"):
        gg.power([0.1, 0.2, 0.4], seeds=3)
    own = [dict(r, seed=f"{r['system']}{r['seed']}") for r in data]
    assert gg.power(own).seeds == 5
    nested_power = gg.compare(nested(), columns={"query": "seed,query_id"})["new", "AP"]
    assert nested_power.minimum_detectable is not None


@pytest.mark.slow
def test_planned_power_is_what_a_simulation_finds() -> None:
    plan = gg.power(rows(20, 5, 0.05, start=7))
    shown, runs = 0, 300
    for i in range(runs):
        rng = np.random.default_rng(i)
        d = rng.normal(0, plan.seed_sd, (1, 5)) + rng.normal(0, 0.1 * 2**0.5, (20, 5))
        data = [
            {
                "system": s,
                "query": q,
                "seed": k,
                "AP": float(plan.difference + d[q, k]) * (s == "b"),
            }
            for s in "ab"
            for q in range(20)
            for k in range(5)
        ]
        shown += gg.compare(data)["b", "AP"].p < 0.05
    assert 0.65 < shown / runs < 0.95
