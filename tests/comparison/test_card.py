"""The verdict card: one word that is true for every measure, in every place that shows it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from test_direction import MEASURES, UNITS, better_by

import goodgain as gg
from goodgain.comparison.card import flipped
from goodgain.comparison.card_views import card_html, card_markdown, card_text
from goodgain.comparison.next_step import queries_needed
from goodgain.results.screen import Screen
from goodgain.results.spans import spans_text


def scored(measure="nDCG@10", **systems):
    return {
        name: {measure: {f"q{i}": float(v) for i, v in enumerate(values)}}
        for name, values in systems.items()
    }


def normal(seed, mean, sd, n):
    return np.random.default_rng(seed).normal(mean, sd, n)


# --- every measure, both directions ---


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.namespace}:{m}")
def test_the_card_is_true_for_every_measure(measure):
    """Better and worse, the numbers and the price, by the direction of the measure."""
    base, new = better_by(measure)
    for first, second, word in (("base", "new", "better"), ("new", "base", "worse")):
        values = {"base": base, "new": new}
        compared = gg.compare({s: {measure: values[s]} for s in (first, second)}, measures=measure)
        card = compared.card()
        if measure.is_cost:
            assert card is None
            continue
        (pair,) = compared.pairs
        assert card.word == word == compared.verdict(pair)
        text = card_text(card)
        assert text.startswith(f"verdict      {word}: {second} is {word} than {first} by ")
        assert (", lower is better: " in spans_text(card.numbers)) == measure.lower_is_better
        shown = float(re.search(r": ([+-][\d.]+)", spans_text(card.numbers))[1])
        assert shown == pytest.approx(pair.difference, abs=6e-4)
        assert (shown * measure.sign > 0) == (word == "better")
        assert f'<strong class="verdict-word">{word.capitalize()}</strong>' in card_html(card)
        assert card_markdown(card).startswith(f"**{word}**: ")
        assert json.loads(compared.to_json())["verdict"]["word"] == word
        loaded = gg.Comparison.from_dict(json.loads(compared.to_json()))
        assert card_text(loaded.card()) == text
        expected = "use new" if word == "better" else "keep new"
        assert spans_text(card.next).startswith(expected)


COSTS = [m for m in MEASURES if m.is_cost and m.get("stat") in (None, "mean")]


@pytest.mark.parametrize("measure", COSTS, ids=lambda m: f"{m.namespace}:{m}")
def test_time_and_cost_stand_on_the_card_as_they_are(measure):
    base, new = better_by(measure)
    quality = {"base": dict.fromkeys(UNITS, 0.5), "new": dict.fromkeys(UNITS, 0.9)}
    source = {s: {"nDCG@10": quality[s], measure: v} for s, v in (("base", base), ("new", new))}
    card = gg.compare(source, measures=["nDCG@10", measure]).card()
    text = spans_text(card.cost)
    word = {True: ("faster", "less"), False: ("slower", "more")}[measure.lower_is_better]
    assert any(f" {w})" in text for w in word), text
    assert not any(f" {w})" in text for w in ("slower", "more", "faster", "less") if w not in word)


# --- tied is shown, never assumed ---


@pytest.mark.parametrize("sign", [1, -1])
def test_tied_needs_evidence(sign):
    lower = ["nDCG@10"] if sign < 0 else []
    base = normal(1, 0.5, 0.1, 400)
    near = base + normal(2, 0.0, 0.02, 400)
    card = gg.compare(scored(old=base, new=near), lower_is_better=lower).card()
    assert card.word == "tied"
    assert "less than 0.010 apart" in spans_text(card.headline)
    few = gg.compare(scored(old=base[:8], new=near[:8]), lower_is_better=lower).card()
    assert few.word == "not enough evidence"
    rough = base + normal(3, 0.0, 0.5, 400)
    assert gg.compare(scored(old=base, new=rough)).card().word == "not enough evidence"


def test_the_stated_margin_decides_what_tied_means():
    base = normal(1, 0.5, 0.1, 200)
    near = base + normal(2, 0.0, 0.1, 200)
    assert gg.compare(scored(old=base, new=near)).card().word == "not enough evidence"
    card = gg.compare(scored(old=base, new=near), margin=0.05).card()
    assert card.word == "tied" and "less than 0.050 apart" in spans_text(card.headline)


def test_identical_systems_are_tied_only_if_enough_queries_say_so():
    base = normal(1, 0.5, 0.1, 30)
    card = gg.compare(scored(old=base, new=base)).card()
    assert card.word == "tied" and "the same on all 30 queries" in spans_text(card.headline)
    assert "p =" not in spans_text(card.numbers)
    few = gg.compare(scored(old=base[:3], new=base[:3])).card()
    assert few.word == "not enough evidence"
    one = gg.compare(scored(old=base[:1], new=base[:1])).card()
    assert one.word == "not enough evidence"


def test_false_ties_are_rare():
    """Systems that differ by just the margin are called tied in at most 5 % of the comparisons."""
    rng, tied = np.random.default_rng(5), 0
    for _ in range(400):
        base = rng.normal(0.5, 0.1, 40)
        new = base + 0.01 + rng.normal(0, 0.02, 40)
        tied += gg.compare(scored(old=base, new=new)).pairs[0].tied
    assert tied <= 32  # 20 expected at most; 32 is beyond 99 % of the counts at 5 %


def test_a_tie_is_not_shown_where_missing_labels_leave_it_open():
    qrels = {f"q{i}": {"a": 1} for i in range(40)}
    run = {q: {"x": 2.0, "a": 1.0} for q in qrels}
    judged = gg.evaluate(qrels, [gg.Run(run, name="old"), gg.Run(run, name="new")], "P@2")
    assert gg.compare(judged).card().word == "tied"
    other = {q: {"y": 2.0, "a": 1.0} for q in qrels}
    bounded = gg.evaluate(
        qrels, [gg.Run(run, name="old"), gg.Run(other, name="new")], "P@2", unjudged="bounds"
    )
    card = gg.compare(bounded).card()
    assert card.word == "not enough evidence"
    assert "could be -0.500 to +0.500" in spans_text(card.caveat)


# --- one query, and what to do next ---


def test_one_query_is_no_test():
    compared = gg.compare(scored(old=[0.2], new=[0.9]))
    card = compared.card()
    assert card.word == "not enough evidence"
    text = card_text(card, Screen(200, False))
    assert "one query cannot show whether new is better than old" in text
    assert " p =" not in text and "corrected" not in text and "1.0000" not in text
    (pair,) = compared.pairs
    assert not pair.is_tested and "1.0000" not in str(compared)


def test_the_number_of_queries_to_add_is_enough():
    """With the queries that the card asks for, four of five repetitions show the difference."""
    rng = np.random.default_rng(4)
    base = rng.normal(0.5, 0.1, 30)
    noise = rng.normal(0, 0.2, 30)
    new = base + 0.06 + noise - noise.mean()  # the observed difference is 0.06
    compared = gg.compare(scored(old=base, new=new))
    (pair,) = compared.pairs
    assert compared.card().word == "not enough evidence"
    more, is_tie = queries_needed(pair, compared)
    assert not is_tie and f"add about {more} queries" in spans_text(compared.card().next)
    deviation, total, shown = noise.std(ddof=1), pair.queries + more, 0
    for _ in range(200):
        d = rng.normal(0.06, deviation, total)
        shown += gg.compare(scored(old=np.zeros(total), new=d)).card().word == "better"
    assert 140 <= shown <= 180  # 160 expected


def test_open_verdicts_name_the_documents_to_judge():
    """Of 12 unjudged documents, 9 must come out as not relevant for the old system to stay ahead."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(20)}
    old = {q: {"a": 1.0} if i < 12 else {"b": 1.0} for i, q in enumerate(qrels)}
    new = {q: {f"u{i}": 1.0} if i < 12 else {"a": 1.0} for i, q in enumerate(qrels)}
    result = gg.evaluate(
        qrels, [gg.Run(old, name="old"), gg.Run(new, name="new")], "P@1", unjudged="bounds"
    )
    compared = gg.compare(result)
    card = compared.card()
    assert card.word == "not enough evidence"
    assert "judge these 9 documents (of 12 unjudged): u" in spans_text(card.next)
    assert len(card.to_judge) == 9
    judged = {q: dict(docs) for q, docs in qrels.items()}
    for query, doc in card.to_judge:
        judged[query][doc] = 0
    again = gg.evaluate(judged, [gg.Run(old, name="old"), gg.Run(new, name="new")], "P@1",
                        unjudged="bounds")  # fmt: skip
    (pair,) = gg.compare(again).pairs
    assert pair.bound_high < 0  # whatever the other three are
    saved = json.loads(compared.to_json())["verdict"]
    assert saved["to_judge"] == [list(pair) for pair in card.to_judge]


def test_an_interval_without_0_is_explained_where_the_correction_decides():
    rng = np.random.default_rng(8)
    base = rng.normal(0.5, 0.1, 40)
    noise = rng.normal(0, 0.2, 40)
    near = base + 0.075 + noise - noise.mean()
    others = {f"s{i}": base + rng.normal(0, 0.2, 40) for i in range(4)}
    compared = gg.compare(scored(old=base, near=near, **others))
    pair = compared["near", "nDCG@10"]
    assert pair.p < 0.05 <= pair.p_corrected and pair.low > 0
    card = compared.card()
    assert card.word == "not enough evidence" and card.pair.system == "near"
    assert "alone this test would be significant" in spans_text(card.caveat)
    assert "it is one of 5" in spans_text(card.caveat)
    assert spans_text(card.others) == "the other 4 systems show no significant difference"


# --- all pairs ---


def test_every_pair_ranks_and_tie_groups():
    base = normal(1, 0.5, 0.1, 60)
    systems = {
        "c": base,
        "b": base + 0.1 + normal(2, 0, 0.05, 60),
        "a": base + 0.1 + normal(3, 0.001, 0.05, 60),
        "d": base - 0.2 + normal(4, 0, 0.05, 60),
    }
    compared = gg.compare(scored(**systems), baseline="all")
    standings = compared.standings
    assert [*standings.systems[2:]] == ["c", "d"] and {*standings.systems[:2]} == {"a", "b"}
    assert standings.ranks() == {"a": (1, 2), "b": (1, 2), "c": (3, 3), "d": (4, 4)}
    assert standings.groups() == [(0, 1)]
    assert standings.tests == 0  # all p are those of the comparison
    first, second = standings.systems[:2]
    card = compared.card()
    assert (card.pair.system, card.pair.baseline) == (first, second)
    assert card.word in ("not enough evidence", "tied")
    text = str(compared)
    assert "row minus column, best first" in text and re.search(r"^c +3 ", text, re.M)
    loaded = gg.Comparison.from_dict(json.loads(compared.to_json()))
    assert loaded.standings == standings


def test_standings_of_one_baseline_test_the_other_pairs_too():
    base = normal(1, 0.5, 0.1, 60)
    systems = {name: base + step + normal(i, 0, 0.05, 60)
               for i, (name, step) in enumerate({"x": 0, "y": 0.1, "z": 0.2}.items(), 5)}  # fmt: skip
    compared = gg.compare(scored(**systems))
    standings = compared.standings
    assert standings.systems == ("z", "y", "x") and standings.tests == 1
    own = compared["z", "nDCG@10"]
    assert standings.p[0][2] == own.p_corrected == standings.p[2][0]
    assert standings.differences[0][2] == pytest.approx(own.difference)
    alone = gg.compare(scored(y=systems["y"], z=systems["z"]))
    assert standings.p[0][1] == pytest.approx(alone.pairs[0].p)
    assert standings.ranks() == {"z": (1, 1), "y": (2, 2), "x": (3, 3)}


def test_lower_is_better_turns_the_standings_round():
    base = normal(1, 0.5, 0.1, 60)
    scores = scored("wer", low=base, middle=base + 0.1, high=base + 0.2)
    compared = gg.compare(scores, lower_is_better=["wer"], baseline="all")
    assert compared.standings.systems == ("low", "middle", "high")
    assert compared.standings.ranks()["low"] == (1, 1)
    assert compared.card().pair.system == "low" and compared.card().word == "better"


def test_a_pair_seen_from_the_other_side():
    compared = gg.compare(scored(old=normal(1, 0.5, 0.1, 30), new=normal(2, 0.6, 0.1, 30)))
    (pair,) = compared.pairs
    other = gg.compare(scored(new=normal(2, 0.6, 0.1, 30), old=normal(1, 0.5, 0.1, 30))).pairs[0]
    mine = flipped(pair)
    for name in ("system", "baseline", "wins", "losses", "ties"):
        assert getattr(mine, name) == getattr(other, name)
    for name in ("difference", "low", "high", "p", "d_z", "relative", "d_z_low", "mean"):
        assert getattr(mine, name) == pytest.approx(getattr(other, name))


# --- views ---

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\x1b[31mred\u202e",
    "[a](b)*c*",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_stay_text(name):
    values = normal(1, 0.5, 0.1, 20)
    card = gg.compare(scored(old=values, **{name: values + 0.2 + normal(2, 0, 0.01, 20)})).card()
    html = card_html(card)
    assert "<script" not in html and "<img" not in html and "\u202e" not in html
    text = card_text(card, Screen(80, False))
    assert "\x1b" not in text and "\u202e" not in text
    assert "](b)" not in card_markdown(card).replace("\\]", "")


def test_the_card_fits_and_has_colours_only_where_allowed():
    values = normal(1, 0.5, 0.1, 20)
    card = gg.compare(scored(old=values, new=values + 0.2 + normal(2, 0, 0.01, 20))).card()
    for width in (60, 80, 200):
        assert max(map(len, card_text(card, Screen(width, False)).splitlines())) <= width
    assert "\x1b[" in card_text(card, Screen(80, True))
    assert "\x1b[" not in card_text(card, Screen(80, False))
