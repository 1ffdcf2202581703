"""Grades from preferences: the fit against independent ones, ties, places, designs, and what is refused."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Pair, Store
from goodgain.labels.pairwise import (
    Choice,
    compare_documents,
    grade_preferences,
    people_choices,
)
from goodgain.labels.pairwise.comparing import design
from goodgain.labels.preferences import Preference, add_preferences
from goodgain.stats.bradley_terry import Group, components, fit, has_finite_estimate, win_shares


def simulated(
    strengths: list[float], n: int, seed: int, position: float = 0.0, ties: float = -math.inf
) -> Group:
    generator = random.Random(seed)
    rows = []
    for _ in range(n):
        a, b = generator.sample(range(len(strengths)), 2)
        place = generator.choice([1, -1])
        weights = [
            math.exp(strengths[a] + place * position / 2),
            math.exp((strengths[a] + strengths[b]) / 2 + ties),
            math.exp(strengths[b] - place * position / 2),
        ]
        rows.append((a, b, place, generator.choices(range(3), weights)[0]))
    return Group(len(strengths), *zip(*rows, strict=True))


def negative_log_likelihood(
    parameters: Any, group: Group, prior: float | None, tied: bool
) -> float:
    """The definition, written out for one group; the strengths of the last item close the sum."""
    *free, d, t = parameters
    s = [*free, -sum(free)] if prior is None else list(free)
    total = 0.0
    for a, b, z, o in zip(group.first, group.second, group.place, group.outcome, strict=True):
        u = [s[a] + z * d / 2, (s[a] + s[b]) / 2 + t if tied else -math.inf, s[b] - z * d / 2]
        total -= u[o] - math.log(sum(math.exp(v) for v in u))
    if prior is not None:
        total += sum(v * v for v in s) / (2 * prior**2) + (d * d + t * t) / 50
    return total


@pytest.mark.parametrize("prior", [None, 1.5])
@pytest.mark.parametrize("tied", [False, True])
def test_the_fit_maximises_the_likelihood(prior: float | None, tied: bool) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    group = simulated([1.0, 0.2, -0.5, -0.7], 300, 5, 0.4, -0.3 if tied else -math.inf)
    fitted = fit([group], prior)
    size = 3 if prior is None else 4
    best = optimize.minimize(
        negative_log_likelihood, [0.1] * size + [0.0, 0.0], (group, prior, tied), tol=1e-10
    )
    s = [*best.x[:3], -sum(best.x[:3])] if prior is None else best.x[:4]
    assert fitted.strengths[0] == pytest.approx(s, abs=2e-4)
    assert fitted.position == pytest.approx(best.x[-2], abs=2e-4)
    if tied:
        assert fitted.ties == pytest.approx(best.x[-1], abs=2e-4)
    assert fitted.converged


def test_two_items_have_the_closed_form() -> None:
    group = Group(2, (0,) * 10, (1,) * 10, (0,) * 10, (0,) * 7 + (2,) * 3)
    fitted = fit([group], None)
    assert np.diff(fitted.strengths[0])[0] == pytest.approx(-math.log(7 / 3))
    variance = fitted.covariances[0]
    difference = variance[0, 0] + variance[1, 1] - 2 * variance[0, 1]
    assert difference == pytest.approx(1 / 7 + 1 / 3)


def test_groups_are_fitted_as_if_alone_where_nothing_is_shared() -> None:
    groups = [simulated([0.5, 0, -0.5], 60, seed) for seed in (1, 2)]
    groups = [Group(g.items, g.first, g.second, (0,) * 60, g.outcome) for g in groups]
    both = fit(groups, 2.0)
    for group, strengths in zip(groups, both.strengths, strict=True):
        assert fit([group], 2.0).strengths[0] == pytest.approx(strengths, abs=1e-7)


def test_intervals_cover() -> None:
    truth = [1.0, 0.3, -0.3, -1.0]
    inside, total, places = 0, 0, 0
    for seed in range(150):
        fitted = fit([simulated(truth, 120, seed, 0.5, -0.5)], None)
        errors = np.sqrt(np.diag(fitted.covariances[0]))
        inside += int((abs(fitted.strengths[0] - truth) < 1.96 * errors).sum())
        places += abs(fitted.position - 0.5) < 1.96 * fitted.position_error
        total += 4
    assert 0.92 < inside / total < 0.98
    assert 136 <= places <= 150  # 95 % is 142.5


def test_win_shares_are_expected_shares() -> None:
    shares = win_shares(np.array([1.0, 0.0, -2.0]), 0.3)
    p = [[0.5] * 3 for _ in range(3)]
    s = [1.0, 0.0, -2.0]
    for i in range(3):
        for j in range(3):
            w = [math.exp(s[i]), math.exp((s[i] + s[j]) / 2 + 0.3), math.exp(s[j])]
            p[i][j] = (w[0] + w[1] / 2) / sum(w)
    assert shares == pytest.approx([(sum(p[i]) - 0.5) / 2 for i in range(3)])
    assert shares.mean() == pytest.approx(0.5)


def preferences(wins: list[tuple[str, str]], query: str = "q") -> list[Choice]:
    return [Choice(query, a, b, "first") for a, b in wins]


def test_a_document_that_wins_all_needs_a_prior() -> None:
    wins = preferences([("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")])
    with pytest.raises(GoodgainError, match="not finite"):
        grade_preferences(wins, prior=None)
    result = grade_preferences(wins)
    grades = result.to_dict()["q"]
    assert grades["a"] > grades["b"] == pytest.approx(grades["c"])
    assert any("prior with standard deviation 2" in w for w in result.warnings())
    assert not has_finite_estimate(Group(2, (0,), (1,), (0,), (0,)))
    assert has_finite_estimate(Group(2, (0,), (1,), (0,), (1,)))


def test_disconnected_comparisons_are_refused_or_said() -> None:
    with pytest.raises(GoodgainError, match="2 sets of documents that nothing connects"):
        grade_preferences(preferences([("a", "b"), ("c", "d")]))
    result = grade_preferences(preferences([("a", "b"), ("b", "c"), ("x", "y")]))
    assert set(result.to_dict()["q"]) == {"a", "b", "c"}
    assert result.left_out == (("q", "x"), ("q", "y"))
    assert any("2 documents have no grade" in w for w in result.warnings())
    assert components(4, [(0, 1), (1, 2)]) == [{0, 1, 2}, {3}]


def test_grades_are_on_the_scale_and_their_intervals_contain_them() -> None:
    generator = random.Random(2)
    wins = [
        (a, b) if generator.random() < 0.8 else (b, a)
        for a, b in [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("a", "d")] * 6
    ]
    result = grade_preferences(preferences(wins), scale="0..4")
    assert result.grades[0].doc == "a"
    for g in result.grades:
        assert 0 <= g.low <= g.grade <= g.high <= 4
        assert g.strength_low < g.strength < g.strength_high
    assert sum(g.grade for g in result.grades) == pytest.approx(8)  # shares average to a half
    assert set(result.to_dict(whole=True)["q"].values()) <= {0, 1, 2, 3, 4}
    assert any("say nothing about how good" in w for w in result.warnings())
    assert result.to_qrels()["q"]["a"] == pytest.approx(result.grades[0].grade)


def test_anchors_fix_the_scale() -> None:
    wins = preferences([("a", "b"), ("b", "c"), ("c", "d"), ("b", "a"), ("c", "b"), ("d", "c")] * 3)
    wins += preferences([("a", "b"), ("b", "c"), ("c", "d")] * 6)
    anchors = {"q": {"a": 3, "d": 1}}
    grades = grade_preferences(wins, anchors=anchors).to_dict()["q"]
    assert (grades["a"], grades["d"]) == (3, 1)
    assert 1 < grades["c"] < grades["b"] < 3
    none = grade_preferences(wins, anchors={"q": {"a": 3}})
    assert none.to_dict() == {} and any("too few anchors" in w for w in none.warnings())


def test_a_preference_for_the_place_is_measured_and_cancels() -> None:
    rows = [
        Choice("q", a, b, "first", 1, "m") for a in "abc" for b in "abc" if a != b
    ] * 4  # always whatever is shown first
    result = grade_preferences(rows)
    assert result.position_low > 0
    assert result.inconsistent == (3, 3)
    assert {round(g.grade, 6) for g in result.grades} == {2.0}
    assert any("a preference for the place" in w for w in result.warnings())


def test_the_design_connects_all_documents_with_few_comparisons() -> None:
    docs = [f"d{i}" for i in range(40)]
    pairs = design(docs, 6, "seed")
    assert len(set(pairs)) == len(pairs) <= 160
    counts = {doc: sum(doc in pair for pair in pairs) for doc in docs}
    assert min(counts.values()) >= 4
    number = {doc: i for i, doc in enumerate(docs)}
    assert len(components(40, [(number[a], number[b]) for a, b in pairs])) == 1
    assert pairs == design(docs, 6, "seed") != design(docs, 6, "other")
    assert len(design(docs[:4], 6, "seed")) == 6


class Preferring:
    """Prefers the larger number, and the first of two that are close."""

    model = "preferring"

    def __call__(self, request: Any) -> int | None:
        assert request.prompt.task == "preference"
        first, second = (
            int(line.split()[1]) for line in request.document.splitlines() if "value" in line
        )
        if first == 7 or second == 7:
            return None
        return 2 if first >= second - 1 else 0


def test_a_judge_compares_documents(tmp_path: Path) -> None:
    pairs = [Pair("q", f"d|{i}", "largest?", f"value {i}") for i in range(12)]
    with Store(tmp_path / "s.db") as store:
        rows = compare_documents(pairs, Preferring(), store, per_document=6)
        docs = {doc for p in rows for doc in (p.first, p.second)}
        assert docs == {f"d|{i}" for i in range(12) if i != 7}  # failures are no ties
        both = {(p.first, p.second) for p in rows}
        assert both == {(b, a) for a, b in both}
        result = grade_preferences(rows)
        order = [int(g.doc[2:]) for g in result.grades]
        assert order == sorted(order, reverse=True)
        assert result.position > 0 and result.inconsistent[0] > 0
        calls = store.db.execute("SELECT count(*) FROM replies").fetchone()[0]
        assert compare_documents(pairs, Preferring(), store, per_document=6) == rows
        assert store.db.execute("SELECT count(*) FROM replies").fetchone()[0] == calls
        assert "task" in Labels.of(store, prompt="preference").setting.parameters
        with pytest.raises(
            GoodgainError, match="no gains of documents, only labels of: preference"
        ):
            Labels.of(store)


def test_preferences_of_people(tmp_path: Path) -> None:
    def row(first: str, second: str, choice: str, sides: str, person: str = "ann") -> Preference:
        return Preference(
            annotator=person, query="q", first=first, second=second, choice=choice, sides=sides
        )

    with Store(tmp_path / "s.db") as store:
        rows = [
            row("a", "b", "second", "first second"), row("a", "b", "first", "second first"),
            row("b", "c", "same", ""), row("a", "c", "skipped", "first second"),
            row("a", "c", "first", "first second", "bob"),
        ]  # fmt: skip
        for one in rows:
            add_preferences(store, [one])
        assert people_choices(store) == [
            ("q", "a", "b", "first", -1, "ann"),
            ("q", "b", "c", "same", 0, "ann"),
            ("q", "a", "c", "first", 1, "bob"),
        ]
        grades = grade_preferences(people_choices(store)).to_dict()["q"]
        assert grades["a"] > grades["b"] > 0
        assert len(people_choices(store, "bob")) == 1


def test_what_is_refused() -> None:
    for rows, problem in (
        ([], "no preferences"),
        ([Choice("q", "a", "a", "first")], "compared with itself"),
        ([Choice("q", "a", "b", "left")], "unknown choice 'left'"),
    ):
        with pytest.raises(GoodgainError, match=problem):
            grade_preferences(rows)
    with pytest.raises(GoodgainError, match="two documents"):
        compare_documents([Pair("q", "d", "what?", "x")], lambda request: 1)
