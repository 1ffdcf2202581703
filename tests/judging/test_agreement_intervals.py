"""Agreement of several people against independent definitions, and its intervals by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from goodgain.judging.agreement import figures


def labels(queries, documents, people, noise, rng, missing=0.0):
    """Noisy labels of a hidden grade, correlated within queries."""
    gains = {}
    for q in range(queries):
        level = 2 + rng.normal(0, 0.7)
        for d in range(documents):
            grade = level + rng.normal(0, 1.0)
            own = {
                f"a{i}": float(np.clip(round(grade + rng.normal(0, noise)), 0, 4))
                for i in range(people)
                if rng.random() >= missing
            }
            gains[f"q{q}", f"{q}-{d}"] = own
    return gains


def test_alpha_with_missing_labels_is_that_of_krippendorff():
    from krippendorff import alpha

    rng = np.random.default_rng(3)
    for noise in (0.3, 1.0, 2.0):
        gains = labels(12, 4, 4, noise, rng, missing=0.4)
        table = [[own.get(f"a{i}", np.nan) for own in gains.values()] for i in range(4)]
        value = figures(gains)[0]["value"]
        assert value == pytest.approx(alpha(table, level_of_measurement="ordinal"))


def test_kappa_of_two_is_that_of_the_confusion_matrix():
    rng = np.random.default_rng(4)
    gains = labels(12, 4, 2, 0.8, rng)
    a, b = (np.array([own[name] for own in gains.values()]) for name in ("a0", "a1"))
    observed = np.mean(a == b)
    chance = sum(np.mean(a == g) * np.mean(b == g) for g in range(5))
    squared = np.mean((a - b) ** 2) / np.mean((a[:, None] - b[None, :]) ** 2)
    by_name = {f["name"]: f["value"] for f in figures(gains)}
    assert by_name["kappa, a0 and a1"] == pytest.approx((observed - chance) / (1 - chance))
    assert by_name["quadratic kappa, a0 and a1"] == pytest.approx(1 - squared)


def test_what_is_undefined_is_not_a_number():
    equal = {(f"q{i}", f"{i}"): {"a": 2.0, "b": 2.0} for i in range(40)}
    assert all(f["value"] is None and f["why"] == "all labels are equal" for f in figures(equal))
    agreeing = {(f"q{i}", f"{i}"): {"a": float(i % 3), "b": float(i % 3)} for i in range(40)}
    for figure in figures(agreeing):
        assert (figure["value"], figure["low"]) == (1, None)
        assert "too little disagreement" in figure["why"]
    assert figures({("q", "d"): {"a": 1.0}}) == []


def test_uneven_labels_need_more_and_quadratic_kappa_has_no_interval():
    rng = np.random.default_rng(6)

    def uneven(queries):
        return {
            (f"q{i % queries}", f"{i}"): {
                "a": float(rng.choice([0, 1, 3], p=[0.9, 0.05, 0.05])),
                "b": float(rng.choice([0, 1, 3], p=[0.9, 0.05, 0.05])),
            }
            for i in range(200)
        }

    for figure in figures(uneven(12)):
        assert figure["value"] is not None and figure["low"] is None and figure["why"]
    alpha, kappa, quadratic = figures(uneven(25))
    assert alpha["low"] < alpha["high"] and kappa["low"] < kappa["high"]
    assert quadratic["low"] is None and "one grade" in quadratic["why"]


@pytest.mark.parametrize(("queries", "documents", "people"), [(10, 5, 2), (20, 3, 3)])
def test_intervals_cover(queries, documents, people):
    truth = figures(labels(3000, documents, people, 0.8, np.random.default_rng(9)))
    rng = np.random.default_rng(10)
    covered = np.zeros(len(truth))
    for _ in range(300):
        for i, figure in enumerate(figures(labels(queries, documents, people, 0.8, rng))):
            assert figure["low"] < figure["value"] < figure["high"]
            covered[i] += figure["low"] <= truth[i]["value"] <= figure["high"]
    assert (covered / 300 > 0.91).all() and (covered / 300 < 0.99).all()
