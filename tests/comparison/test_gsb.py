"""GSB from counts, labels and differences."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import goodgain as gg
from goodgain.comparison import GSB, gsb_counts, gsb_differences, gsb_labels
from goodgain.errors import InputError, UsageError
from goodgain.stats.pareto import pareto_front

SEED = "query,doc,label\nq1,d1,Good\nq2,d2,Same\nq3,d3,Bad\nq4,d4,Bad\n"


def labels(text: str, tmp_path: Path) -> GSB:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    return gsb_labels(path)


def test_the_seeds_example_is_minus_a_quarter_and_does_not_ship(tmp_path: Path) -> None:
    found = labels(SEED, tmp_path)
    assert found.value == -1 / 4
    assert (found.good, found.same, found.bad) == (1, 1, 2)
    assert not found.ship
    assert found.sentence.startswith("Do not ship: the new system is not better")
    assert found.p == pytest.approx(stats.binomtest(1, 3).pvalue)
    assert found.low < -0.25 < found.high
    assert gg.gsb(["Good", "Same", "Bad", "Bad"]) == found.value


def test_sentences() -> None:
    assert gsb_counts(80, 10, 20).sentence.startswith("Ship: ")
    assert gsb_counts(6, 10, 5).sentence.startswith("Do not ship yet")
    assert gsb_counts(20, 10, 80).sentence.startswith("Do not ship: the new system is worse")
    assert gsb_counts(5, 10, 5).sentence.startswith("Do not ship: the new system is not better.")
    assert "p < 1e-4" in gsb_counts(80, 10, 10).sentence
    assert gsb_counts(0, 5, 0).p == 1
    assert -1 <= gsb_counts(0, 0, 3).low < gsb_counts(0, 0, 3).high <= 1


def test_several_annotators_are_settled_by_majority(tmp_path: Path) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    votes = {"q1": "GGB", "q2": "SSS", "q3": "GSB", "q4": "BBS"}
    rows = [f"{q},{who},{v}" for q, row in votes.items() for who, v in zip("xyz", row, strict=True)]
    found = labels("query,annotator,label\n" + "\n".join(rows) + "\n", tmp_path)
    assert (found.good, found.same, found.bad) == (1, 2, 1)
    assert found.annotators == 3
    table = np.array([[row.count(v) for v in "GSB"] for row in votes.values()])
    assert found.kappa == pytest.approx(fleiss_kappa(table))
    assert found.agreement == pytest.approx((1 / 3 + 1 + 0 + 1 / 3) / 4)
    assert "kappa" in found.render()


def test_documents_of_one_query_are_not_independent(tmp_path: Path) -> None:
    text = "query,doc,label\n" + "".join(f"q{q},d{d},Good\n" for q in range(3) for d in range(10))
    found = labels(text, tmp_path)
    assert (found.items, found.queries) == (30, 3)
    assert found.p == pytest.approx(0.25)  # three queries, not thirty
    assert not found.ship


def test_from_differences_with_a_tie_threshold() -> None:
    d = [0.3, 0.005, -0.005, 0.0, -0.2]
    assert (gsb_differences(d).good, gsb_differences(d).same, gsb_differences(d).bad) == (2, 1, 2)
    found = gsb_differences(d, tie=0.01)
    assert (found.good, found.same, found.bad) == (1, 3, 1)
    assert gsb_differences([-0.1, -0.2], lower_is_better=True).good == 2
    with pytest.raises(UsageError, match="tie"):
        gsb_differences(d, tie=-1)
    with pytest.raises(InputError, match="difference is NaN"):
        gsb_differences([float("nan")])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,label\nq1,great\n", r"invalid label 'great' \(.*:2\)"),
        ("query,label\nq1,G\nq1,B\n", "duplicate label for query 'q1'"),
        ("query,annotator,label\nq1,x,G\nq1,x,B\n", "duplicate label for query 'q1' by 'x'"),
        ("query,mark\nq1,G\n", "no column for the label"),
        ("label\nG\n", "no column for the query"),
        ("query,label\n", "no rows"),
    ],
)
def test_bad_labels(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        labels(text, tmp_path)
    with pytest.raises(InputError, match="must not be negative, got -1"):
        gsb_counts(-1, 0, 0)
    with pytest.raises(InputError, match="nothing to compare"):
        gsb_counts(0, 0, 0)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_renders(form: str) -> None:
    assert "-0.25" in gsb_counts(1, 1, 2).render(form)


def test_pareto_front() -> None:
    quality = {"a": 0.5, "b": 0.6, "c": 0.4, "d": 0.6, "e": float("nan")}
    price = {"a": 1.0, "b": 2.0, "c": 1.5, "d": 3.0, "e": 1.0}
    found = {t.system: (t.on_front, t.beaten_by) for t in pareto_front(quality, price)}
    assert found == {"a": (True, None), "c": (False, "a"), "b": (True, None), "d": (False, "b")}
    lower = pareto_front({"x": 1.0, "y": 2.0}, {"x": 1.0, "y": 1.0}, lower_is_better=True)
    assert [t.on_front for t in lower] == [True, False]


@pytest.mark.parametrize("queries", [2, 5, 20])
def test_the_interval_over_queries_with_several_items_covers(queries: int) -> None:
    rng = np.random.default_rng(queries)
    chances = np.array([0.5, 0.3, 0.2])
    covered, runs = 0, 400
    for _ in range(runs):
        rows = [
            {"query": f"q{q}", "doc": f"d{d}", "label": label}
            for q in range(queries)
            for d, label in enumerate(rng.choice(["G", "S", "B"], 4, p=rng.dirichlet(3 * chances)))
        ]
        gsb = gg.gsb_labels(rows)
        assert gsb.low < gsb.high
        covered += gsb.low <= 0.3 <= gsb.high
    assert covered / runs > 0.92


def test_items_of_one_query_say_nothing_about_others() -> None:
    gsb = gg.gsb_labels([{"query": "q", "doc": f"d{i}", "label": "Good"} for i in range(9)])
    assert (gsb.low, gsb.high, gsb.ship) == (-1, 1, False)
