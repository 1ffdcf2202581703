"""RaDiCuGLoss: its properties from the perfect list on, and the published form once more in plain Python."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goodgain import nrdcgl, pnrdcgl, rdcgl
from goodgain.errors import InputError, UsageError
from goodgain.verification.definitions.loss import documented

FORMS = pytest.mark.parametrize("form", ["documented", "reference"])
EPS = 1e-9

truths = st.lists(st.integers(1, 4), min_size=2, max_size=8).map(
    lambda ranks: {f"item{i}": _dense(ranks)[r] for i, r in enumerate(ranks)}
)


def _dense(ranks):
    """Ranks without gaps from 1 on."""
    return {r: i for i, r in enumerate(sorted(set(ranks)), 1)}


def perfect_list(truth):
    return sorted(truth, key=truth.get)


# --- properties from the perfect list on ---


@FORMS
@given(truth=truths)
def test_perfect_list_scores_one(form, truth):
    assert nrdcgl(perfect_list(truth), truth, gain=form) == pytest.approx(1, abs=1e-12)


@FORMS
@given(truth=truths, data=st.data())
def test_exchange_inside_a_rank_changes_nothing(form, truth, data):
    order = data.draw(st.permutations(list(truth)))
    other = sorted(order, key=truth.get)
    assert nrdcgl(other, truth, gain=form) == pytest.approx(1, abs=1e-12)


@FORMS
@given(truth=truths, data=st.data())
def test_exchange_across_ranks_lowers(form, truth, data):
    items = perfect_list(truth)
    i, j = data.draw(st.tuples(*[st.integers(0, len(items) - 1)] * 2))
    assume(truth[items[i]] != truth[items[j]])
    items[i], items[j] = items[j], items[i]
    assert nrdcgl(items, truth, gain=form) < 1 - EPS


@FORMS
@given(truth=truths, data=st.data())
def test_infiltrators_lower_further_each_time(form, truth, data):
    items = perfect_list(truth)
    items.insert(data.draw(st.integers(0, len(items))), "infiltrator 1")
    one = nrdcgl(items, truth, gain=form)
    # The published form pays more for a true item past the perfect list's end than near it, so a second
    # infiltrator that pushes items there can raise its score: there the second one comes last.
    last = len(items) if form == "reference" else 0
    items.insert(data.draw(st.integers(last, len(items))), "infiltrator 2")
    two = nrdcgl(items, truth, gain=form)
    assert two < one - EPS < 1 - 2 * EPS


@FORMS
@given(truth=truths, data=st.data())
def test_omission_lowers(form, truth, data):
    items = perfect_list(truth)
    items.remove(data.draw(st.sampled_from(items)))
    assert nrdcgl(items, truth, gain=form) < 1 - EPS


@FORMS
@given(truth=truths, data=st.data())
def test_omitting_a_better_item_costs_more(form, truth, data):
    items = perfect_list(truth)
    better, worse = sorted(data.draw(st.tuples(*[st.sampled_from(items)] * 2)), key=truth.get)
    assume(truth[better] < truth[worse])
    without = {x: nrdcgl([i for i in items if i != x], truth, gain=form) for x in (better, worse)}
    assert without[better] < without[worse] - EPS


# --- both forms once more ---

SEARCHES = st.tuples(
    truths,
    st.integers(0, 3),  # infiltrators
    st.integers(0, 3),  # omissions
    st.randoms(use_true_random=False),
)


def searched(truth, infiltrators, omissions, random):
    items = list(truth)
    random.shuffle(items)
    items = items[min(omissions, len(items) - 1) :] + [
        f"infiltrator{i}" for i in range(infiltrators)
    ]
    random.shuffle(items)
    return items


OPTIONS = st.fixed_dictionaries({
    "k": st.sampled_from([None, 1, 2, 5, 50]),
    "fp_penalty": st.sampled_from([0, 0.5, 1, 3]),
    "fn_penalty": st.sampled_from([0, 0.5, 1, 3]),
    "invert": st.booleans(),
    "punish_max": st.booleans(),
})  # fmt: skip


def published(items, truth, k, fp_penalty, fn_penalty, invert, punish_max):
    """From the design's sentences: t and a' turned alike, L the t of the last true item seen."""
    max_rank = max(truth.values())

    def turned(rank):
        return max_rank + 1 - rank if invert else rank

    order = sorted(truth.values())  # the perfect order's ranks, best (smallest) first
    score, last = 0.0, 1
    for i, item in enumerate(items[:k]):
        if item in truth:
            t, a = turned(truth[item]), turned(order[i] if i < len(order) else 0)
            score += (2 ** min(t, a) - 1) / math.log2(max(t, a) + 2)
            last = t
        else:
            score -= fp_penalty / math.log2(max_rank + 1 if punish_max else last + 2)
    for item in truth.keys() - set(items):
        score -= (
            fn_penalty if punish_max else fn_penalty / math.log2(max_rank + 2 - turned(truth[item]))
        )
    return score


def documented_form(items, truth, k, fp_penalty, fn_penalty, invert, punish_max):
    top = max(truth.values())
    worth = {i: top + 1 - r if invert else r for i, r in truth.items()}
    return documented(items, worth, k, fp_penalty, fn_penalty, punish_max)


PLAIN = {"k": None, "fp_penalty": 1, "fn_penalty": 1, "invert": True, "punish_max": False}


@given(SEARCHES, OPTIONS)
def test_published_form(search, options):
    truth = search[0]
    items = searched(*search)
    score = published(items, truth, **options)
    assert rdcgl(items, truth, **options, gain="reference") == pytest.approx(score, abs=1e-12)
    # Larger ranks first when they are better, but scored as if they were to be turned.
    best_first = sorted(truth, key=truth.get, reverse=not options["invert"])
    best = published(best_first, truth, **PLAIN)
    ratio = nrdcgl(items, truth, **options, gain="reference")
    assert ratio == pytest.approx(score / best, abs=1e-12)
    assert pnrdcgl(items, truth, **options, gain="reference") == max(0.0, ratio)


@given(SEARCHES, OPTIONS)
def test_documented_form(search, options):
    truth = search[0]
    items = searched(*search)
    score = documented_form(items, truth, **options)
    assert rdcgl(items, truth, **options) == pytest.approx(score, abs=1e-12)
    best = sorted(truth, key=truth.get, reverse=not options["invert"])
    perfect = documented_form(best, truth, **{**PLAIN, "invert": options["invert"]})
    ratio = nrdcgl(items, truth, **options)
    assert ratio == pytest.approx(score / perfect, abs=1e-12)
    assert ratio <= 1 + 1e-12
    assert pnrdcgl(items, truth, **options) == max(0.0, ratio)


# --- bad use ---


@pytest.mark.parametrize(
    "items, truth, options, kind, text",
    [
        (["a"], {}, {}, InputError, "is empty"),
        (["a", "a"], {"a": 1}, {}, InputError, "duplicate item 'a'"),
        (["a"], {"a": 0}, {}, InputError, "rank of 'a' .* got 0"),
        (["a"], {"a": math.nan}, {}, InputError, "rank of 'a' .* got nan"),
        (["a"], {"a": 1}, {"fp_penalty": -1}, UsageError, "penalties must not be negative"),
        (["a"], {"a": 1}, {"k": 0}, UsageError, "k must be a positive integer, got 0"),
        (["a"], {"a": 1}, {"gain": "exp"}, UsageError, "invalid gain='exp'"),
    ],
)
def test_bad_use(items, truth, options, kind, text):
    with pytest.raises(kind, match=text):
        rdcgl(items, truth, **options)
