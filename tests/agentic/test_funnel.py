"""The funnel: answers, hops, evidence against answers, calibration, and how a result carries them."""
# ruff: noqa: E501

import csv
import io
import json
import math
import random
import subprocess
import sys

import pytest

import goodgain as gg
from goodgain.agentic.answers import answer_name, confidence_in, gold_answers, normal_answer
from goodgain.agentic.funnel import RIGHT
from goodgain.errors import InputError, UsageError
from goodgain.labels import Store, answer_pairs, label
from goodgain.stats.calibration_error import calibration_bins, calibration_error
from goodgain.stats.intervals import share_interval


def result(name, gain=None, **more):
    return {"id": name, **({} if gain is None else {"gain": gain}), **more}


def conversation(name, *iterations, answer=None, system="agent", opens=(), **turn):
    steps = [{"searches": [{"query": "q", "results": list(r)}]} for r in iterations]
    if steps and opens:
        steps[-1]["opens"] = list(opens)
    answers = {} if answer is None else {"answer": answer}
    turns = [{"user": "Where?", "iterations": steps, **answers, **turn}]
    return {"conversation": name, "system": system, "turns": turns}


# --- answers ---


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Seine", "seine"), ("U.S.", "us"), ("1,000", "1000.0"), ("-5", "−5"), ("an apple!", "Apple"),
        ("Straße", "STRASSE"), ("1914–1918", "1914, 1918"), ("O'Neil", "ONeil"), ("5 %", "5%"), ("+3.50", "3.5"),
    ],
)  # fmt: skip
def test_equal_answers(one, other):
    assert normal_answer(one) == normal_answer(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("5", "-5"), ("1.5", "15"), ("the", "a"), ("1,5", "15"), ("A", "B"), ("Paris France", "Paris"), ("3.14", "3")],
)  # fmt: skip
def test_different_answers(one, other):
    assert normal_answer(one) != normal_answer(other)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Paris", 1), ("paris.", 1), ("Paris [1]", 1), ("Lyon", 0), ("", 0),
        ("Because of x.\nExact Answer: Paris\nConfidence: 90%", 1),
        ("**Final answer:** **Paris** 【4†source】", 1),
        ("I think <answer>Paris</answer> or Lyon", 1), (r"so \boxed{Paris}", 1),
        ("Exact Answer: Paris\nNo.\nExact Answer: Lyon", 0), ("Not Paris", 0), ("city of light", 1),
    ],
)  # fmt: skip
def test_exact_match(text, right):
    gains = gg.good_gain(
        [conversation("c", answer=text)], answers={"c": ["Paris", "City of Light"]}
    )
    assert gains["Answer"] == right


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Confidence: 85%", 0.85), ("confidence: 0.9", 0.9), ("**Confidence:** 70", 0.7), ("Confidence: 100", 1),
        ("Confidence: 1", math.nan), ("Confidence: 1%", 0.01), ("Confidence: 250", math.nan), ("sure", math.nan),
        ("Confidence: 10%\nConfidence: 20%", 0.2), ("Confidence: 0", 0), ("Confidence: 1.0", 1),
    ],
)  # fmt: skip
def test_stated_confidence(text, confidence):
    stated = confidence_in(text)
    assert stated == confidence or (stated != stated and confidence != confidence)


def test_gold_answers_in_every_form(tmp_path):
    expected = {"7": ("Paris", "Lutetia"), "8": ("42",)}
    rows = [
        {"query_id": "7", "query": "Where?", "answer": "Paris", "aliases": ["Lutetia"]},
        {"query_id": 8, "query": "?", "answer": 42},
    ]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    (tmp_path / "gold.csv").write_text(
        'conversation,answer,aliases\n7,Paris,"[""Lutetia""]"\n8,42,\n'
    )
    (tmp_path / "gold.tsv").write_text("id\tanswer\n7\tParis\n7\tLutetia\n8\t42\n")
    for name in ("gold.jsonl", "gold.json", "gold.csv", "gold.tsv"):
        assert gold_answers(tmp_path / name).accepted == expected, name
    assert gold_answers({"7": ["Paris", "Lutetia"], "8": 42}).accepted == expected
    (tmp_path / "golden.yaml").write_text(
        "version: 1\ncases:\n  - id: '7'\n    query: where\n    relevant: [a]\n    answer: Paris\n"
    )
    assert gold_answers(tmp_path / "golden.yaml").accepted == {"7": ("Paris",)}


def test_gold_for_other_conversations_is_an_error():
    with pytest.raises(InputError, match="no answer is for any of the conversations: 'x'"):
        gg.good_gain([conversation("c", answer="Paris")], answers={"x": "Paris"})


def test_what_is_not_known_of_an_answer_is_not_wrong():
    traces = [
        conversation("right", answer="Paris"),
        conversation("wrong", answer="Lyon"),
        conversation("unanswered"),
        conversation("empty", answer=""),
        conversation("without gold", answer="Paris"),
    ]
    gold = dict.fromkeys(("right", "wrong", "unanswered", "empty", "elsewhere"), "Paris")
    gains = gg.good_gain(traces, answers=gold)
    figure = gains.figure("Answer")
    assert (figure.value, figure.n) == (1 / 3, 3)
    assert (figure.lower, figure.upper) == (1 / 4, 2 / 4)
    assert gains.funnel.systems[0].answers == {
        "gold": 4, "right": 1, "wrong": 2, "unanswered": 1, "unknown": 0,
    }  # fmt: skip
    notes = "\n".join(gains.warnings())
    assert "1 of 5 conversations have no gold answer" in notes
    assert "the traces of 1 conversations have no answer" in notes
    assert "1 gold answers are for conversations that are not in the traces" in notes


def test_a_judge_labels_answers_and_failures_are_not_wrong(tmp_path):
    traces = [
        conversation("c1", answer="It is Paris."),
        conversation("c2", answer="It is Lyon."),
        conversation("c3", answer="broken"),
        conversation("c1", answer="It is Paris.", system="other"),
    ]
    asked = []

    def judge(request):
        asked.append(request)
        if "broken" in request.document:
            return "no number here"
        return int("Paris" in request.document)

    gold = {"c1": ["Paris", "Lutetia"], "c2": "Paris", "c3": "Paris"}
    store = tmp_path / "labels.db"
    label(answer_pairs(traces, gold), judge, store, name="answers", prompt="answer-0-1")
    assert (
        len({(r.question, r.document) for r in asked}) == 3
    )  # one text of a conversation, one label
    assert any("Correct answer: Paris\nAlso accepted: Lutetia" in r.question for r in asked)
    label(
        [("q", "d", "question", "text")], lambda r: 3, store
    )  # labels of documents in the same store
    for answers in (store, Store(store)):
        gains = gg.good_gain(traces, answers=answers)
        assert gains["other"]["Answer"] == 1
        figure = gains.figure("Answer", system="agent")
        assert (figure.value, figure.n, figure.lower, figure.upper) == (1 / 2, 2, 1 / 3, 2 / 3)
        assert gains.funnel["agent"].answers["unknown"] == 1


def test_a_graded_judge_gives_shares_of_its_scale(tmp_path):
    traces = [conversation("c1", answer="one"), conversation("c2", answer="two")]
    labels = label(
        answer_pairs(traces, {"c1": "x", "c2": "x"}),
        lambda r: 3 if "one" in r.document else 1,
        tmp_path / "labels.db",
        prompt="answer-0-4",
    )
    gains = gg.good_gain(traces, answers=labels)
    assert gains.systems[0].final("Answer") == {"c1": 0.75, "c2": 0.25}
    assert gains.funnel.systems[0].answers["right"] == 1
    assert answer_name("one") != answer_name("two")
    assert RIGHT == 0.5


def test_a_store_without_answers_says_so(tmp_path):
    label([("q", "d", "question", "text")], lambda r: 3, tmp_path / "labels.db")
    with pytest.raises(InputError, match="no labels of answers"):
        gg.good_gain([conversation("c", answer="x")], answers=tmp_path / "labels.db")


# --- calibration ---


def test_calibration_error_by_hand():
    assert calibration_error(calibration_bins([(0.9, 1), (0.5, 0)])) == pytest.approx(0.2)
    assert math.isnan(calibration_error([]))
    chance = random.Random(3)
    pairs = [(chance.random(), chance.choice([0, 1])) for _ in range(349)]
    ordered = sorted(pairs)
    bins = [ordered[:100], ordered[100:200], ordered[200:]]
    expected = math.sqrt(
        sum(
            len(b) / 349 * (sum(c for c, _ in b) / len(b) - sum(a for _, a in b) / len(b)) ** 2
            for b in bins
        )
    )
    assert calibration_error(calibration_bins(pairs)) == pytest.approx(expected, abs=1e-12)
    assert [b.n for b in calibration_bins(pairs)] == [100, 100, 149]


def test_calibration_does_not_depend_on_the_order_of_the_input():
    chance = random.Random(4)
    traces = [
        conversation(
            f"c{i}", answer=chance.choice(["Paris", "Lyon"]), confidence=chance.choice([0.5, 0.9])
        )
        for i in range(250)
    ]
    gold = {f"c{i}": "Paris" for i in range(250)}
    first = gg.good_gain(traces, answers=gold).figure("CalibrationError")
    chance.shuffle(traces)
    again = gg.good_gain(traces, answers=gold).figure("CalibrationError")
    assert first.value == again.value
    assert first.n == 250


def test_share_interval_is_wilsons():
    share, low, high = share_interval(2, 10)
    assert (share, round(low, 4), round(high, 4)) == (0.2, 0.0567, 0.5098)
    assert share_interval(0, 5)[1] == 0
    assert math.isnan(share_interval(0, 0)[0])


# --- evidence against answers ---


def test_the_square_by_hand():
    good, bad = result("a", 4), result("b", 0)
    traces = [
        *(conversation(f"r{i}", [good], answer="Paris") for i in range(3)),
        *(conversation(f"w{i}", [good], answer="Lyon") for i in range(2)),
        conversation("x", [bad], answer="Paris"),
        conversation("y", [bad], answer="Lyon"),
        conversation("half", [good], answer="Paris"),
        conversation("none known", [bad], answer="Paris"),
        conversation("open", [result("u")], answer="Paris"),
    ]
    labels = {"x": {"m": 4}, "y": {"m": 4}, "half": {"m": 4}, "open": {"m": 4}}
    gold = {t["conversation"]: "Paris" for t in traces}
    funnel = gg.good_gain(traces, labels=labels, answers=gold).funnel.systems[0]
    square = funnel.square("any")
    assert [c.count for c in square.cells] == [4, 2, 1, 1]
    assert (square.n, square.unknown) == (8, 2)
    cell = square.cells[0]
    assert (cell.share, cell.low, cell.high) == share_interval(4, 8)
    assert [c.count for c in funnel.square("all").cells] == [
        3,
        2,
        3,
        1,
    ]  # "open" lacks m for certain
    assert sum(c.share for c in square.cells) == pytest.approx(1)


# --- hops and iterations ---


def test_gold_by_hop(tmp_path):
    traces = [
        conversation("c1", [result("a")], [result("x")], [result("b")], answer="[a]"),
        conversation("c2", [result("a")], [], answer="so"),
    ]
    rows = [
        ("c1", "a", 4, 1),
        ("c1", "b", 4, 2),
        ("c1", "c", 4, 2),
        ("c2", "a", 4, 1),
        ("c2", "d", 4, 2),
    ]
    path = tmp_path / "labels.csv"
    path.write_text(
        "conversation,doc,gain,hop\n" + "".join(f"{','.join(map(str, r))}\n" for r in rows)
    )
    lists = {"c1": [["a"], ["b", "c"]], "c2": [["a"], ["d"]]}
    (tmp_path / "hops.jsonl").write_text(
        "".join(json.dumps({"conversation": c, "hops": h}) + "\n" for c, h in lists.items())
    )
    for labels in (path, lists, tmp_path / "hops.jsonl"):
        gains = gg.good_gain(traces, labels=labels)
        funnel = gains.funnel.systems[0]
        assert funnel.hops == [
            {"hop": "1", "evidence": 2, "returned": 2, "opened": 0, "cited": 1, "iteration": 1.0},
            {"hop": "2", "evidence": 3, "returned": 1, "opened": 0, "cited": 0, "iteration": 3.0},
        ]
        one, two = gains.funnel.conversations()
        assert [(e.name, e.hop, e.iteration) for e in one.evidence] == [
            ("a", "1", 1),
            ("b", "2", 3),
            ("c", "2", None),
        ]
        assert one.turned is None  # its last iteration brought evidence
        assert two.turned == 1
        assert gains["DryIterations"] == 0.5
        assert funnel.turned == {"conversations": 1, "iterations": 1}


def test_lists_with_gains_are_no_hops(tmp_path):
    trace = conversation("c1", [result("a")], answer="so")
    with pytest.raises(InputError, match="expected the judgments of query 'c1'"):
        gg.good_gain([trace], labels={"c1": [("a", 3), ("b", 1)]})
    path = tmp_path / "hops.jsonl"
    path.write_text('{"conversation": "c1", "hops": [["a", 1], {"b": 2}]}\n')
    with pytest.raises(InputError, match="the hops of conversation 'c1' must be lists of ids"):
        gg.good_gain([trace], labels=path)


def test_what_iterations_brought():
    good, bad = result("a", 4), result("b", 0)
    trace = conversation("c", [good], [bad], [good], [], [result("u")], [])
    steps = trace["turns"][0]["iterations"]
    steps[3]["searches"][0]["error"] = "timed out"
    steps.append({"searches": [{"query": "q", "results": [], "unread": "kept"}]})
    funnel = gg.good_gain([trace, conversation("d")]).funnel.systems[0]
    assert funnel.iterations == {"evidence": 1, "nothing": 2, "unknown": 2, "empty": 1, "failed": 1}


# --- opens and citations ---


def test_opens_by_content():
    traces = [
        conversation(
            "c", [result("a", 4, content="all of it"), result("b", 4, snippet="s")], answer="x"
        )
    ]
    assert gg.good_gain(traces)["OpenedRecall"] == 0
    assert gg.good_gain(traces, opens="content")["OpenedRecall"] == 0.5
    with pytest.raises(UsageError, match="invalid opens='all'"):
        gg.good_gain(traces, opens="all")


def test_an_ordinal_marker_is_never_guessed():
    first, second = ({"id": "1", "url": f"https://x.org/{n}", "gain": 4} for n in ("a", "b"))
    twice = [[first], [second]]
    ambiguous = gg.good_gain([conversation("c", *twice, answer="So [1].")])
    assert ambiguous["CitedRecall"] == 0
    assert ambiguous.figure("CitedRecall").upper == 0.5
    assert ambiguous.funnel.systems[0].citations["unresolved"] == 1
    single = gg.good_gain([conversation("c", [result("1", 4)], answer="So [1].")])
    assert single["CitedRecall"] == 1


def test_a_citation_names_all_passages_of_its_document():
    passages = [
        {"url": "https://x.org/a", "snippet": text, "gain": 4}
        for text in ("one text", "another one")
    ]
    trace = conversation("c", passages, answer="https://x.org/a")
    gains = gg.good_gain([trace], identity="passage")
    assert (gains["CG"], gains["CitedRecall"], gains["UnsupportedCitations"]) == (8, 1, 0)


def test_earlier_turns_support_citations():
    trace = conversation("c", [result("b", 4)], answer="[a1] and https://x.org/never")
    first = conversation("c", [result("a1")])["turns"][0]
    trace["turns"].insert(0, first)
    gains = gg.good_gain([trace])
    assert gains["UnsupportedCitations"] == 1
    assert gg.good_gain([trace], turn="all")["UnsupportedCitations"] == 1


def test_evidence_of_another_system_may_be_cited():
    traces = [
        conversation("c", [{"url": "https://x.org/a", "gain": 4}], system="one"),
        conversation("c", [result("b", 0)], system="two", answer="see http://www.x.org/a"),
    ]
    two = gg.good_gain(traces)["two"]
    assert (two["EvidenceRecall"], two["CitedRecall"], two["UnsupportedCitations"]) == (0, 1, 1)
    assert two["CitationPrecision"] == 1


# --- how it travels ---


@pytest.fixture
def traces_file(tmp_path):
    traces = [
        conversation("c1", [result("a", 4), result("b", 1)], answer="Exact Answer: Paris [a]\nConfidence: 90%",
                     opens=[result("a")]),
        conversation("c2", [result("a", 4)], [], answer="Exact Answer: Lyon\nConfidence: 60%"),
    ]  # fmt: skip
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(t) + "\n" for t in traces))
    (tmp_path / "gold.jsonl").write_text(
        "".join(json.dumps({"conversation": c, "answer": "Paris"}) + "\n" for c in ("c1", "c2"))
    )
    (tmp_path / "labels.tsv").write_text("conversation\tdoc\tgain\nc1\ta\t4\nc2\tmissing\t4\n")
    return path


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "goodgain", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_four_figures_from_one_command(traces_file, tmp_path):
    options = ("trace", "traces.jsonl", "--labels", "labels.tsv", "--answers", "gold.jsonl")
    text = run(tmp_path, *options, "--no-plot")
    first = text.splitlines()[:12]
    assert first[0].split() == ["funnel", "agent"]
    assert [line.split("  ")[0] for line in first[2:6]] == [
        "accuracy", "recall of evidence", "searches", "calibration error",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(run(tmp_path, *options, "--format", "csv"))))
    last = {r["measure"]: float(r["value"]) for r in rows if not r["iteration"] and r["value"]}
    assert (last["Answer"], last["EvidenceRecall"], last["Searches"]) == (0.5, 0.75, 1.5)
    assert last["CalibrationError"] == pytest.approx(0.25)
    assert (last["evidence known"], last["evidence returned"], last["evidence cited"]) == (3, 2, 1)
    assert last["right with any evidence"] == 0.5
    data = json.loads(run(tmp_path, *options, "--format", "json"))
    assert data


def test_a_saved_result_has_the_same_funnel(traces_file, tmp_path):
    gains = gg.good_gain(
        traces_file, labels=tmp_path / "labels.tsv", answers=tmp_path / "gold.jsonl"
    )
    gains.save(tmp_path / "gains.json")
    loaded = gg.GoodGain.load(tmp_path / "gains.json")
    assert loaded.funnel.to_dict() == gains.funnel.to_dict()
    assert [c.to_dict() for c in loaded.funnel.conversations()] == [
        c.to_dict() for c in gains.funnel.conversations()
    ]
    assert str(loaded.funnel) == str(gains.funnel)
    json.dumps(gains.funnel.to_dict(), allow_nan=False)


def test_the_funnel_adds_up(traces_file, tmp_path):
    gains = gg.good_gain(
        traces_file, labels=tmp_path / "labels.tsv", answers=tmp_path / "gold.jsonl"
    )
    funnel = gains.funnel.systems[0]
    steps = {s.name: s for s in funnel.steps}
    assert list(steps) == ["known", "returned", "opened", "cited"]
    lost = sum(s.lost + s.unknown for s in funnel.steps)
    assert steps["known"].evidence == steps["cited"].evidence + lost == 3
    assert gains.funnel.recorded
    assert not gg.good_gain([conversation("c", [result("a", 4)])]).funnel.recorded


def test_answers_are_compared_like_any_measure(tmp_path):
    traces = [
        conversation(
            f"c{i}", [result("a", 4)], answer="Paris" if i % 3 or s == "b" else "Lyon", system=s
        )
        for i in range(12)
        for s in ("a", "b")
    ]
    gains = gg.good_gain(traces, answers={f"c{i}": "Paris" for i in range(12)})
    compared = gg.compare(gains, measures=["Answer"])
    assert compared.to_dict()
    assert gains["b"]["Answer"] - gains["a"]["Answer"] == pytest.approx(1 / 3)
