"""Good Gain: the seed's definitions line by line, the worked example, properties, and a brute force."""

import json
import math
import random

import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError
from goodgain.measures import definitions

GOOD_GAIN = definitions("agentic")
LEVELS = [str(d.kernel) for d in GOOD_GAIN]


def result(name, gain=None):
    return {"id": name} if gain is None else {"id": name, "gain": gain}


def trace(iterations, conversation="c1", system="s", **search):
    """Iterations as lists of results, or of lists of results where an iteration has several searches."""
    steps = []
    for results in iterations:
        searches = results if results and isinstance(results[0], list) else [results]
        steps.append({"searches": [{"query": "q", **search, "results": r} for r in searches]})
    return {
        "conversation": conversation,
        "system": system,
        "turns": [{"user": "?", "iterations": steps}],
    }


# Unique gains [3,2]; [4,1] + 1 duplicate; [2] + 2 duplicates.
EXAMPLE = trace(
    [
        [result("a", 3), result("b", 2)],
        [result("c", 4), result("d", 1), result("a", 3)],
        [result("e", 2), result("a", 3), result("c", 4)],
    ]
)


def values(found, measure, conversation=0, system=None):
    s = found[system or found.names[0]]
    begin, end = s.first_row[conversation], s.first_row[conversation + 1]
    return s.values[begin:end, s.column(measure)].tolist()


@pytest.fixture(scope="module")
def example():
    return gg.good_gain([EXAMPLE])


W = [1, 1 / math.log2(3), 1 / 2]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # sets of an iteration
        ("R", [2, 3, 3]),
        ("UR", [2, 2, 1]),
        ("GR", [2, 1, 1]),
        ("Dup", [0, 1, 2]),
        ("G", [5, 4, 2]),
        # cumulative counts
        ("R@i", [2, 5, 8]),
        ("UR@i", [2, 4, 5]),
        ("GR@i", [2, 3, 4]),
        ("DupR@i", [0, 1, 3]),
        # the ten measures
        ("CG", [5, 9, 11]),
        ("RG", [5, 9 / 2, 11 / 3]),
        ("DCG", [5, 5 + 4 * W[1], 5 + 4 * W[1] + 2 * W[2]]),
        ("DRG", [5, (5 + 4 * W[1]) / 2, (5 + 4 * W[1] + 2 * W[2]) / 3]),
        ("AvgGain", [5 / 2, 4 / 3, 2 / 3]),
        ("RAG", [5 / 2, (5 / 2 + 4 / 3) / 2, (5 / 2 + 4 / 3 + 2 / 3) / 3]),
        ("DRAG", [5 / 2, (5 / 2 + W[1] * 4 / 3) / 2, (5 / 2 + W[1] * 4 / 3 + W[2] * 2 / 3) / 3]),
        ("SRE", [1, 3 / 5, 4 / 8]),
        ("SRR", [0, 1 / 5, 3 / 8]),
        ("IterationsForAllGoodResults", [1, 2, 3]),
        # beyond the seed
        ("nCG", [5 / 11, 9 / 11, 1]),
        ("nDCG", [5 / 11, (5 + 4 * W[1]) / 11, (5 + 4 * W[1] + 1) / 11]),
        ("EvidenceRecall", [2 / 4, 3 / 4, 1]),
        ("MarginalGain", [5, 4, 2]),
        ("WastedSearches", [0, 0, 0]),
        ("RepeatedQueries", [0, 1, 2]),
        ("Searches", [1, 2, 3]),
        ("Coverage", [1, 1, 1]),
    ],
)
def test_the_worked_example(example, measure, expected):
    assert values(example, measure) == pytest.approx(expected)
    assert values(
        example, f"{measure}@i" if measure in ("CG", "SRE") else measure
    ) == pytest.approx(expected)


def test_every_column_of_the_core_is_in_the_table_of_measures():
    from goodgain._core import gain_columns

    assert set(LEVELS) == set(gain_columns())
    assert len({d.name for d in GOOD_GAIN}) == len(GOOD_GAIN)
    assert all(d.formula and d.summary and d.range for d in GOOD_GAIN)


def test_seed_gain_below_two_is_not_good():
    assert values(gg.good_gain([trace([[result("a", 1), result("b", 0)]])]), "CG") == [0]


def test_seed_duplicate_within_an_iteration():
    found = gg.good_gain([trace([[[result("a", 3)], [result("a", 3), result("b", 2)]]])])
    assert [values(found, m)[0] for m in ("R", "UR", "GR", "Dup", "G", "Searches")] == [
        3,
        2,
        2,
        1,
        5,
        2,
    ]


def test_seed_duplicate_across_iterations():
    found = gg.good_gain([trace([[result("a", 3)], [result("a", 3)]])])
    assert values(found, "Dup") == [0, 1]
    assert values(found, "CG") == [3, 3]


def test_seed_search_without_a_result_still_counts():
    found = gg.good_gain([trace([[result("a", 2)], [], [result("b", 4)]])])
    assert values(found, "R") == [1, 0, 1]
    assert values(found, "AvgGain") == [2, 0, 4]
    assert values(found, "RG") == [2, 1, 2]
    assert values(gg.good_gain([trace([[]])]), "SRE") == [0]
    assert values(gg.good_gain([trace([[]])]), "SRR") == [0]


def test_seed_iterations_without_a_search_do_not_count():
    t = trace([[result("a", 2)], [result("b", 2)]])
    t["turns"][0]["iterations"].insert(1, {"searches": []})
    t["turns"][0]["iterations"].insert(0, {})
    found = gg.good_gain([t])
    assert values(found, "CG") == [2, 4]
    assert values(found, "RG") == [2, 2]


def test_seed_only_the_last_turn_counts():
    t = trace([[result("a", 4)]])
    t["turns"].append(
        {
            "user": "and?",
            "iterations": [{"searches": [{"results": [result("a", 4), result("b", 2)]}]}],
        }
    )
    assert values(gg.good_gain([t]), "CG") == [6]
    assert values(gg.good_gain([t], turn=1), "CG") == [4]
    assert values(gg.good_gain([t], turn="all"), "CG") == [4, 6]
    assert values(gg.good_gain([t], turn="all"), "Dup") == [0, 1]
    assert gg.good_gain([t], turn=3)["s"].counts()["without_search"] == 1


def test_a_conversation_without_any_search():
    t = {"conversation": "none", "turns": [{"user": "hi", "iterations": []}]}
    found = gg.good_gain([t, {**EXAMPLE, "system": "agent"}])
    assert found.figure("CG").n == 1
    assert any("1 of 2 conversations have no search" in w for w in found.warnings())
    assert gg.good_gain([t]).figure("CG").n == 0
    assert "conversations" in str(gg.good_gain([t]))


def test_iterations_for_all_good_results_is_capped_and_may_be_undefined():
    late = trace([*[[]] * 119, [result("a", 2)]])
    assert values(gg.good_gain([late]), "IterationsForAllGoodResults")[-1] == 100
    nothing = gg.good_gain([trace([[result("a", 1)]])])
    assert math.isnan(values(nothing, "IterationsForAllGoodResults")[-1])
    assert nothing.figure("IterationsForAllGoodResults").n == 0


def test_threshold_scale_and_discount():
    assert values(gg.good_gain([EXAMPLE], threshold=3), "G") == [3, 4, 0]
    assert values(gg.good_gain([EXAMPLE], gain="exp"), "G") == [7 + 3, 15, 3]
    assert values(gg.good_gain([EXAMPLE], discount="none"), "DCG") == [5, 9, 11]
    assert values(gg.good_gain([EXAMPLE], discount="reciprocal"), "DCG") == pytest.approx(
        [5, 7, 7 + 2 / 3]
    )
    geometric = gg.good_gain([EXAMPLE], discount="geometric", patience=0.5)
    assert values(geometric, "DCG") == [5, 7, 7.5]
    assert values(gg.good_gain([trace([[result("a", 9)]])], max_gain=10), "CG") == [9]


def test_time_tokens_and_cost():
    found = gg.good_gain(
        [trace([[result("a", 4)], [result("b", 2)]], latency=0.5, tokens=400, cost=0.25)]
    )
    assert values(found, "Seconds") == [0.5, 1]
    assert values(found, "GainPerSecond") == [8, 6]
    assert values(found, "GainPer1kTokens") == [10, 7.5]
    assert values(found, "GainPerCost") == [16, 12]
    assert found.budget_curve("seconds") == [(0.5, 4), (1, 6)]
    assert values(found, "AreaSeconds")[-1] == pytest.approx((2 * 0.5 + 5 * 0.5) / 6)
    unknown = gg.good_gain([EXAMPLE])
    assert all(math.isnan(v) for v in values(unknown, "GainPerSecond"))


def test_session_measures_and_the_cube():
    found = gg.good_gain([trace([[result("a", 2), result("b", 4)], [result("c", 3)]])])
    second = 1 / (math.log(5) / math.log(4))
    assert values(found, "sDCG")[-1] == pytest.approx(2 + 4 / math.log2(3) + 3 * second)
    assert values(found, "nsDCG")[-1] == pytest.approx(
        values(found, "sDCG")[-1] / (4 + 3 * second + 2 / math.log2(3))
    )
    assert values(found, "CubeTest") == pytest.approx([1 / 1, 1 / 2])
    assert values(gg.good_gain([trace([[result("a", 2), result("b", 2)]])]), "CubeTest") == [
        0.5 + 0.25
    ]
    parts = [
        {"id": "a", "gain": 4, "aspects": {"x": 4}},
        {"id": "b", "gain": 4, "aspects": {"y": 2}},
    ]
    assert values(gg.good_gain([trace([parts])]), "CubeTest") == [(1 + 0.5) / 2]


# --- labels ---


def test_unlabelled_is_not_zero_and_leaves_bounds():
    found = gg.good_gain([trace([[result("a", 3), result("b")], [result("c")]])])
    assert values(found, "UR@i") == [2, 3]
    assert values(found, "CG") == [3, 3]
    assert values(found, "Coverage") == pytest.approx([1 / 2, 1 / 3])
    figure = found.figure("CG")
    assert (figure.lower, figure.upper) == (3, 11)
    assert (found.figure("SRE").lower, found.figure("SRE").upper) == (1 / 3, 1)
    assert (
        found.figure("IterationsForAllGoodResults").lower,
        found.figure("IterationsForAllGoodResults").upper,
    ) == (1, 2)
    assert found.figure("SRR").exact
    assert "3.0000 [3.0000, 11.0000]" in str(found)


def test_without_any_label_only_what_is_known_is_shown():
    found = gg.good_gain([trace([[result("a")], [result("a"), result("b")]])])
    assert found.table()[0] == ["i", "n", "R", "UR", "Dup", "R@i", "UR@i", "SRR", "RepeatedQueries"]
    assert found.sketch().startswith("UR@i by iteration")
    assert gg.good_gain([EXAMPLE]).sketch().startswith("CG by iteration")
    assert gg.good_gain([trace([[result("a", 2)]])]).sketch() == ""


def test_a_duplicate_lends_its_label():
    found = gg.good_gain([trace([[result("a")], [result("a", 3)], [result("a", 4)]])])
    assert values(found, "G") == [3, 0, 0]  # at its first occurrence, with the first label
    assert values(found, "Coverage") == [1, 1, 1]


def test_bounds_hold_for_every_labelling():
    rng = random.Random(4)
    for _ in range(60):
        steps = [
            [
                result(rng.choice("abcdef"), rng.choice([None, None, 0, 2, 3, 4]))
                for _ in range(rng.randrange(4))
            ]
            for _ in range(rng.randrange(1, 5))
        ]
        open_ = gg.good_gain([trace(steps)])["s"]
        names = {r["id"] for s in steps for r in s}
        for _ in range(6):
            chosen = {n: rng.choice([0, 1, 2, 3, 4]) for n in names}
            labels = {}  # the known label of a name is its first one
            for s in steps:
                for r in s:
                    if "gain" in r:
                        labels.setdefault(r["id"], r["gain"])
            closed = [
                [result(r["id"], labels.get(r["id"], chosen[r["id"]])) for r in s] for s in steps
            ]
            full = gg.good_gain([trace(closed)])["s"]
            for m in LEVELS:
                if m in ("Coverage",):
                    continue
                c = open_.column(m)
                for low, value, high in zip(
                    open_.lower[:, c].tolist(),
                    full.values[:, c].tolist(),
                    open_.upper[:, c].tolist(),
                    strict=True,
                ):
                    if value == value and low == low and high == high:
                        assert low - 1e-9 <= value <= high + 1e-9, (m, steps, closed)


def test_labels_from_a_table(tmp_path):
    path = tmp_path / "labels.tsv"
    path.write_text(
        "query\tdoc\tgain\nc1\ta\t4\nc1\thttps://x.org/1\t3\nc1\tmissed\t2\nc1\tbad\t0\n"
    )
    t = trace([[result("a", 0), {"url": "https://x.org/1"}], [result("b")]])
    found = gg.good_gain([t], labels=path)
    assert values(found, "G") == [7, 0]
    assert values(found, "nCG") == pytest.approx([7 / 9, 7 / 9])
    assert values(found, "EvidenceRecall") == pytest.approx([2 / 3, 2 / 3])
    assert values(gg.good_gain([t], labels={"c1": {"a": 4}}), "G") == [4, 0]
    other = gg.good_gain([t], labels={"c9": {"a": 4}})
    assert "1 conversations are not in the labels" in other.warnings()
    with pytest.raises(InputError, match="the label of 'a' must be between 0 and 4, got 7"):
        gg.good_gain([t], labels={"c1": {"a": 7}})


# --- many conversations ---


def test_align_active_and_carry():
    short, long = trace([[result("a", 4)]], "c1"), trace([[result("a", 2)], [result("b", 2)]], "c2")
    active = gg.good_gain([short, long])
    assert [active.figure("CG", i).value for i in (1, 2)] == [3, 4]
    assert [active.figure("CG", i).n for i in (1, 2)] == [2, 1]
    carry = gg.good_gain([short, long], align="carry")
    assert [carry.figure("CG", i).value for i in (1, 2)] == [3, 4]
    assert [carry.figure("CG", i).n for i in (1, 2)] == [2, 2]
    assert carry.figure("G", 2).value == 1  # a conversation that ended adds nothing
    low, high = active.figure("CG", 1).low, active.figure("CG", 1).high
    assert (low, high) == pytest.approx(
        (3 - 12.7062047, 3 + 12.7062047)
    )  # t with one degree of freedom


def test_two_systems_are_paired():
    a = [trace([[result("a", g)]], f"c{i}", "a") for i, g in enumerate([2, 3, 4])]
    b = [trace([[result("a", g)]], f"c{i}", "b") for i, g in enumerate([4, 4, 3])]
    found = gg.good_gain([*a, *b])
    header, rows = found.paired()
    row = dict(zip(header, next(r for r in rows if r[2] == "CG"), strict=True))
    assert row["difference"] == pytest.approx(2 / 3)
    assert (row["mean"], row["baseline_mean"], row["n"]) == (pytest.approx(11 / 3), 3, 3)
    half = 4.30265273 * 1.52752523 / math.sqrt(3)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((2 / 3 - half, 2 / 3 + half))
    assert found.per_unit_scores()["b"]["CG"] == {"c0": 4, "c1": 4, "c2": 3}
    named = gg.good_gain({"before": a, "after": b})
    assert named.names == ("before", "after")


def test_the_same_repeat_twice_is_an_error():
    with pytest.raises(InputError, match="duplicate conversation 'c1', repeat '2' of system 's'"):
        gg.good_gain([{**EXAMPLE, "repeat": 2}, {**EXAMPLE, "repeat": "2"}])


def test_saved_and_loaded(tmp_path):
    found = gg.good_gain(
        [EXAMPLE, trace([[result("x")]], "c2"), trace([[result("x", 2)]], "c1", "t")]
    )
    path = tmp_path / "gain.json"
    found.save(path)
    again = gg.GoodGain.load(path)
    assert again.render("csv", True) == found.render("csv", True)
    assert again.render("json") == found.render("json")
    assert str(again) == str(found)
    assert again.settings == found.settings
    data = json.loads(path.read_text())
    assert data["goodgain"] == "good gain"
    path.write_text(json.dumps({**data, "format": 99}))
    with pytest.raises(InputError, match="has format 99"):
        gg.GoodGain.load(path)
    path.write_text("{}")
    with pytest.raises(InputError, match="not a saved good gain"):
        gg.GoodGain.load(path)


def test_as_data_of_other_libraries(example):
    pytest.importorskip("pandas")
    frame = example.to_pandas()
    assert frame[(frame.measure == "CG") & (frame.iteration == 3)].value.tolist() == [11]
    assert example.to_polars(False).height == len(example.rows()[1])
    assert example.to_arrow().num_rows == 3 * len(LEVELS)
    assert "<table>" in example._repr_html_()
    assert repr(example) == "GoodGain(1 system: s; 1 conversations)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0}, "threshold must be above 0 and at most 4, got 0"),
        ({"threshold": 5}, "threshold must be above 0 and at most 4, got 5"),
        ({"max_gain": -1}, "max_gain must be a positive number, got -1"),
        ({"gain": "cubic"}, "invalid gain='cubic'"),
        ({"discount": "x"}, "invalid discount='x'"),
        ({"align": "x"}, "invalid align='x'"),
        ({"turn": 0}, "invalid turn=0"),
        ({"by": "x"}, "invalid by='x'"),
        ({"discount": "geometric", "patience": 1}, "patience must be between 0 and 1, got 1"),
    ],
)
def test_bad_settings(options, message):
    with pytest.raises(UsageError) as error:
        gg.good_gain([EXAMPLE], **options)
    assert error.value.message.startswith(message)


# --- an independent brute force, from the seed's formulas alone ---


def brute_force(iterations, threshold):
    """{measure: values by iteration} for iterations of (name, gain) pairs; equal names are one result."""
    n = len(iterations)
    seen_before = [{name for k in range(i) for name, _ in iterations[k]} for i in range(n)]
    sets = []
    for i, results in enumerate(iterations):
        unique, duplicates = [], []
        here = set()
        for name, gain in results:
            (duplicates if name in seen_before[i] or name in here else unique).append((name, gain))
            here.add(name)
        good = [(name, gain) for name, gain in unique if gain >= threshold]
        sets.append((results, unique, good, duplicates))

    def w(i):
        return 1 / math.log2(i + 1)

    g = [sum(gain for _, gain in good) for _, _, good, _ in sets]
    avg = [g[i] / len(sets[i][0]) if sets[i][0] else 0 for i in range(n)]
    table = {
        m: []
        for m in (
            "CG",
            "RG",
            "DCG",
            "DRG",
            "RAG",
            "DRAG",
            "SRE",
            "SRR",
            "R@i",
            "UR@i",
            "GR@i",
            "DupR@i",
        )
    }
    for i in range(1, n + 1):
        r, ur, gr, dup = (sum(len(sets[k][part]) for k in range(i)) for part in range(4))
        assert r == ur + dup
        cg = sum(g[:i])
        dcg = sum(w(k + 1) * g[k] for k in range(i))
        found = {
            "CG": cg,
            "RG": cg / i,
            "DCG": dcg,
            "DRG": dcg / i,
            "RAG": sum(avg[:i]) / i,
            "DRAG": sum(w(k + 1) * avg[k] for k in range(i)) / i,
            "SRE": gr / r if r else 0,
            "SRR": dup / r if r else 0,
            "R@i": r,
            "UR@i": ur,
            "GR@i": gr,
            "DupR@i": dup,
        }
        for m, value in found.items():
            table[m].append(value)
    table |= {"G": g, "AvgGain": avg}
    table |= {m: [len(s[p]) for s in sets] for p, m in enumerate(("R", "UR", "GR", "Dup"))}
    total = table["GR@i"][-1] if n else 0
    enough = [i for i in range(1, n + 1) if table["GR@i"][i - 1] == total]
    table["all"] = min(enough[0], 100) if total else None
    return table


@pytest.mark.slow
def test_agrees_with_the_brute_force_on_thousands_of_traces():
    rng = random.Random(5)
    cases = []
    for _ in range(4_000):
        gains = {name: rng.randrange(5) for name in "abcdefghijkl"}
        names = list(gains)[: rng.randrange(1, 13)]
        cases.append(
            [
                [(name, gains[name]) for name in rng.choices(names, k=rng.randrange(6))]
                for _ in range(rng.randrange(1, 8))
            ]
        )
    for threshold in (1, 2, 3):
        traces = [
            trace([[result(n, g) for n, g in step] for step in case], f"c{i}")
            for i, case in enumerate(cases)
        ]
        found = gg.good_gain(traces, threshold=threshold)
        s = found["s"]
        for number, case in enumerate(cases):
            expected = brute_force(case, threshold)
            begin, end = s.first_row[number], s.first_row[number + 1]
            for m, column in expected.items():
                if m == "all":
                    last = s.values[end - 1, s.column("IterationsForAllGoodResults")]
                    assert (column is None and math.isnan(last)) or last == column
                    continue
                got = s.values[begin:end, s.column(m)].tolist()
                assert all(
                    abs(x - y) <= 1e-12 * max(1, abs(y)) for x, y in zip(got, column, strict=True)
                ), (m, case)


def test_sums_hold_everywhere():
    rng = random.Random(6)
    steps = [
        [result(rng.choice("abcdefgh"), rng.randrange(5)) for _ in range(rng.randrange(6))]
        for _ in range(40)
    ]
    s = gg.good_gain([trace(steps)])["s"]
    column = {m: s.values[:, s.column(m)] for m in LEVELS}
    assert (column["R"] == column["UR"] + column["Dup"]).all()
    assert (column["R@i"] == column["UR@i"] + column["DupR@i"]).all()
    assert (column["CG"] == column["G"].cumsum()).all()


def test_threads_change_nothing(tmp_path):
    path = tmp_path / "t.jsonl"
    rng = random.Random(7)
    with path.open("w") as file:
        for i in range(3_000):
            steps = [
                [
                    {**result(rng.choice("abcdef"), rng.randrange(5)), "title": "x" * 900}
                    for _ in range(3)
                ]
                for _ in range(2)
            ]
            file.write(json.dumps(trace(steps, f"c{i}")) + "\n")
    one, four = (gg.good_gain(path, threads=n) for n in (1, 4))
    assert one["s"].conversations == four["s"].conversations
    assert one["s"].values.tobytes() == four["s"].values.tobytes()


def test_a_damaged_file_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"goodgain": "good gain", "format": 1}')
    with pytest.raises(InputError, match="the saved good gain is damaged"):
        gg.GoodGain.load(path)
