"""Golden sets: what may stand in a file, what a result is matched by, and errors that name the line."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from goodgain.checks import check, read_golden
from goodgain.checks.baseline import read_baseline
from goodgain.checks.matching import Answer, match
from goodgain.errors import InputError, UsageError

CASE = "cases:\n  - id: a\n    query: rotate keys\n    relevant: [k.md]\n"


def write(tmp_path, text, name="golden.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "message", "line", "hint"),
    [
        (CASE + "    relevent: [x]\n", "unknown field 'relevent' in a case", 2, "relevant"),
        ("cases:\n  - query: x\n", "the case 'x' expects nothing", 2, "add relevant"),
        ("cases:\n  - relevant: [x]\n", "the case has no query", 2, "query:"),
        (
            CASE + "  - id: a\n    query: y\n    relevant: [b]\n",
            "duplicate case 'a'",
            5,
            "first at",
        ),
        (CASE + "    must: {hitt: 3}\n", "unknown requirement 'hitt'", 2, "hit"),
        (CASE + "    must: {hit: 0}\n", "'must.hit' must be a positive integer", 2, ""),
        (CASE + "    expect: {nDGC@10: 0.5}\n", "unknown measure 'nDGC@10'", 2, "nDCG"),
        (CASE + "    expect: {nDCG@10: '>= much'}\n", "invalid bound '>= much'", 2, "nDCG@10"),
        (CASE + "    forbidden: [k.md]\n", "'k.md' is relevant and also forbidden", 2, ""),
        (CASE + "    relevant: [other]\n", "duplicate key 'relevant'", 5, ""),
        (CASE + "   bad: [\n", "invalid YAML", None, ""),
        (
            "cases:\n  - query: x\n    relevant: {a: many}\n",
            "the grade of 'a' must be a number",
            2,
            "",
        ),
        ("targets: x\n" + CASE, "unknown setting 'targets'", None, "target"),
        ("cases: 3\n", "no list 'cases'", 1, ""),
        ("version: 9\n" + CASE, "has version 9", None, "upgrade"),
        ("cases: []\n", "has no cases", None, ""),
        ("- just text\n", "a case must be an object", None, ""),
    ],
)
def test_errors_name_the_place(tmp_path, text, message, line, hint):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_golden(path)
    error = caught.value
    assert message in error.message
    assert error.where.startswith(str(path))
    if line is not None:
        assert error.where == f"{path}:{line}"
    assert hint in error.hint


def test_the_same_set_in_every_format(tmp_path):
    yaml = write(
        tmp_path,
        "cases:\n  - {id: a, query: x y, tags: [t, u], relevant: {d1: 3, d2: 1}, forbidden: [old/*],\n"
        "     must: {hit: 3}, expect: {nDCG@10: '>= 0.5'}, quotes: [some words]}\n",
    )
    lines = write(
        tmp_path,
        '{"id": "a", "query": "x y", "tags": ["t", "u"], "relevant": {"d1": 3, "d2": 1},'
        ' "forbidden": ["old/*"], "must": {"hit": 3}, "expect": {"nDCG@10": ">= 0.5"},'
        ' "quotes": ["some words"]}\n',
        "golden.jsonl",
    )
    table = write(
        tmp_path,
        "id,query,tags,relevant,forbidden,must,expect,quotes\n"
        "a,x y,t;u,d1=3;d2=1,old/*,hit=3,nDCG@10>=0.5,some words\n",
        "golden.csv",
    )
    sets = [read_golden(path).cases for path in (yaml, lines, table)]
    for (case,) in sets:
        assert (case.id, case.query, case.tags) == ("a", "x y", ("t", "u"))
        assert dict(case.relevant) == {"d1": 3.0, "d2": 1.0}
        assert dict(case.quotes) == {"some words": 1.0}
        assert case.must == {"hit": 3} and case.forbidden == ("old/*",)
        assert [str(e) for e in case.expect] == ["nDCG@10 >= 0.5"]
    settings = write(tmp_path, "target: {run: x}\ncases: golden.csv\n", "head.yaml")
    assert read_golden(settings).cases[0].relevant == {"d1": 3.0, "d2": 1.0}
    assert read_golden(settings).settings["target"] == {"run": "x"}


def test_primary_and_acceptable(tmp_path):
    path = write(
        tmp_path, "cases:\n  - {query: x, primary: a, acceptable: [b, c], irrelevant: d}\n"
    )
    (case,) = read_golden(path).cases
    assert dict(case.relevant) == {"a": 2.0, "b": 1.0, "c": 1.0}
    assert case.irrelevant == ("d",) and case.id == "x"


def case_of(tmp_path, text):
    return read_golden(write(tmp_path, f"cases:\n  - {{query: x, {text}}}\n")).cases[0]


def answers(*items):
    return [Answer.of(item if isinstance(item, dict) else {"id": item}) for item in items]


def test_ids_then_urls_then_globs(tmp_path):
    case = case_of(tmp_path, "relevant: [d1, 'https://a.org/p', 'docs/*']")
    returned = answers(
        "x", {"url": "http://www.a.org/p?utm_source=mail"}, "docs/a.md", "docs/b.md", "d1"
    )
    found = match(case, returned)
    assert found.ranks == {"https://a.org/p": 2, "docs/*": 3, "d1": 5}
    assert found.unjudged == ("x",)
    assert found.grades["docs/b.md"] == 0  # the glob counts once


def test_globs_have_one_special_character(tmp_path):
    case = case_of(tmp_path, "relevant: ['a[1]*?']")
    assert match(case, answers("a1x?")).ranks == {}
    assert match(case, answers("a[1]xx?")).ranks == {"a[1]*?": 1}


def test_quotes_count_once_at_the_first_result(tmp_path):
    case = case_of(tmp_path, "quotes: ['Rotate  KEYS now', 'it’s done']")
    texts = ["nothing", "please rotate keys\nnow", "Rotate keys now, it's done"]
    found = match(case, answers(*({"content": text} for text in texts)))
    assert found.ranks == {"Rotate  KEYS now": 2, "it’s done": 3}
    both = match(case, answers({"content": texts[2]}))
    assert both.ranks == {"Rotate  KEYS now": 1, "it’s done": 1}
    assert sum(1 for grade in both.grades.values() if grade) == 1  # one result, one document


def test_repeats_earn_nothing(tmp_path):
    case = case_of(tmp_path, "relevant: {a: 3, b: 1}")
    found = match(case, answers("a", "a", "b", "c", "c"))
    assert [found.grades.get(d) for d in found.documents] == [3, 0, 1, None, 0]
    assert len(set(found.documents)) == 5


def test_requirements(tmp_path):
    path = write(
        tmp_path,
        "cases:\n"
        "  - {id: hit, query: a, relevant: [r], must: {hit: 2}}\n"
        "  - {id: all, query: b, relevant: [r, s], must: {all: 2}}\n"
        "  - {id: forbidden, query: c, relevant: [r], forbidden: ['old*'], at: 2}\n"
        "  - {id: expect, query: d, relevant: [r], expect: {RR: '>= 0.5'}}\n",
    )
    good = {"a": ["x", "r"], "b": ["s", "r"], "c": ["r", "x", "old1"], "d": ["x", "r"]}
    assert check(path, good.get).verdict == "pass"
    bad = {"a": ["x", "y", "r"], "b": ["s", "x", "r"], "c": ["old1", "r"], "d": ["x", "y", "r"]}
    result = check(path, bad.get)
    assert {r.case.id: r.failures for r in result.cases} == {
        "hit": ("nothing relevant in the first 2 (first at rank 3)",),
        "all": ("not in the first 2: r",),
        "forbidden": ("forbidden result old1 at rank 1 (old*)",),
        "expect": ("RR >= 0.5 expected, got 0.3333",),
    }
    assert result.status() == 1


def test_values_are_those_of_the_measures(tmp_path):
    """Every order of four results against the definition of nDCG."""
    path = write(tmp_path, "cases:\n  - {query: q, relevant: {a: 3, b: 1}}\n")
    for order in itertools.permutations("abxy"):
        result = check(path, lambda _, order=order: list(order), measures="nDCG@3 RR R@2")
        gains = [{"a": 3, "b": 1}.get(d, 0) for d in order]
        dcg = sum(g / math.log2(i + 2) for i, g in enumerate(gains[:3]))
        first = next(i for i, g in enumerate(gains, 1) if g)
        assert result.means["nDCG@3"] == pytest.approx(dcg / (3 + 1 / math.log2(3)))
        assert result.means["RR"] == pytest.approx(1 / first)
        assert result.means["R@2"] == pytest.approx(sum(g > 0 for g in gains[:2]) / 2)


def test_a_corrected_golden_set_needs_no_new_baseline(tmp_path):
    path = write(tmp_path, "cases:\n  - {id: q, query: q, relevant: [a]}\n")
    check(path, lambda _: ["a", "b"], update="first")
    path.write_text("cases:\n  - {id: q, query: q, relevant: [b]}\n")
    result = check(path, lambda _: ["a", "b"], measures="RR")
    assert result.cases[0].before == {"RR": 0.5} and result.verdict == "pass"
    path.write_text("cases:\n  - {id: q, query: q, relevant: [b], quotes: [new words]}\n")
    result = check(path, lambda _: ["a", "b"], measures="RR")
    assert result.cases[0].before is None
    assert "newer than the baseline" in result.notes[0]
    assert result.verdict == "not enough evidence"  # nothing can be compared


def test_quotes_in_a_baseline(tmp_path):
    path = write(tmp_path, "cases:\n  - {id: q, query: q, quotes: [blue sky, red sea]}\n")
    texts = [{"text": "the red sea is warm"}, {"text": "a blue sky is rare"}]
    check(path, lambda _: texts, update="first")
    assert "blue" not in path.with_suffix(".baseline.jsonl").read_text()
    result = check(path, lambda _: texts[::-1], measures="RR R@1")
    assert result.cases[0].before == {"RR": 1.0, "R@1": 0.5}


def test_a_baseline_with_a_merge_conflict(tmp_path):
    path = write(tmp_path, CASE)
    check(path, lambda _: ["k.md"], update="first")
    baseline = path.with_suffix(".baseline.jsonl")
    baseline.write_text(baseline.read_text() + "<<<<<<< HEAD\n")
    with pytest.raises(InputError, match="not valid JSON") as caught:
        read_baseline(str(baseline))
    assert caught.value.where == f"{baseline}:3" and "merge conflict" in caught.value.hint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "nothing"}, "invalid target 'nothing'"),
        ({"target": {"http": "x", "mcp": "y"}}, "exactly one of"),
        ({"target": {"http": "http://x/?q={query}", "bodyy": 1}}, "unknown setting 'bodyy'"),
        ({"target": "http://127.0.0.1/search"}, "contains {query}"),
        ({"target": "command:ls"}, "contains no {query}"),
        (
            {"target": {"http": "http://x/?q={query}", "headers": {"k": "${NOT_SET_ANYWHERE}"}}},
            "is not set",
        ),
        ({"target": len, "margin": -1}, "must be a non-negative number"),
        ({"target": len, "tags": ["no"]}, "no case has the tag 'no'"),
        ({"target": len, "alpha": 2}, "alpha must be between 0 and 1"),
        ({"target": len, "update": " "}, "needs a reason"),
        ({}, "the check has no target"),
        ({"target": len, "concurrency": 0}, "concurrency must be a positive integer"),
        ({"target": len, "measures": "SDCG"}, "needs a margin"),
    ],
)
def test_wrong_usage(tmp_path, options, message):
    path = write(tmp_path, CASE)
    if options.get("target") is len:
        options = {**options, "target": lambda _: ["k.md"]}
    if "SDCG" in str(options):
        options["measures"] = "DCG@10"
    with pytest.raises((UsageError, InputError)) as caught:
        check(path, **options)
    assert message in str(caught.value)


def test_secrets_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "sesame")
    path = write(tmp_path, CASE)
    target = {"http": "http://user:sesame@127.0.0.1:9/?q={query}&key=${SEARCH_KEY}",
              "headers": {"Authorization": "Bearer ${SEARCH_KEY}"}}  # fmt: skip
    result = check(path, target, retries=0, timeout=1)
    assert "sesame" not in str(result.to_dict()["target"])


def test_a_baseline_that_is_named_must_be_there(tmp_path):
    path = write(tmp_path, CASE)
    with pytest.raises(InputError, match="file not found"):
        check(path, lambda _: ["k.md"], baseline=tmp_path / "mistyped.jsonl")
    check(path, lambda _: ["k.md"], baseline=tmp_path / "new.jsonl", update="first")
    assert check(path, lambda _: ["k.md"], baseline=tmp_path / "new.jsonl").passed


def test_the_same_ids_with_other_text_are_a_change(tmp_path):
    """A result may lose the quote while its id stays."""
    path = write(tmp_path, "cases:\n  - {id: q, query: q, quotes: [blue sky]}\n")
    check(path, lambda _: [{"id": "7", "text": "a blue sky"}], update="first")
    result = check(path, lambda _: [{"id": "7", "text": "a grey sky"}])
    assert result.cases[0].keys == result.cases[0].before_keys
    assert not result.passed


def test_a_failed_call_has_no_value(tmp_path):
    path = write(tmp_path, CASE + "  - {id: b, query: other, relevant: [x]}\n")

    def search(query):
        if query == "other":
            raise ConnectionError("gone")
        return iter(["k.md"])

    result = check(path, search, retries=0)
    assert result.means == {"nDCG@10": 1.0, "R@10": 1.0}
    assert result.cases[1].values == {} and result.verdict == "fail"


def test_a_tag_that_cannot_be_compared_is_not_passed_over(tmp_path):
    cases = "".join(f"  - {{id: c{i}, query: q{i}, relevant: [d{i}]}}\n" for i in range(6))
    path = write(tmp_path, f"cases:\n{cases}")
    check(path, lambda q: [f"d{q[1:]}"], update="first")
    path.write_text(f"cases:\n{cases}  - {{id: new, query: q9, relevant: [d9], tags: [new]}}\n")
    result = check(path, lambda q: [f"d{q[1:]}"], tags=["new"])
    assert result.verdict == "not enough evidence"
    assert "nDCG@10 [new]" in result.sentence
    assert check(path, lambda q: [f"d{q[1:]}"]).passed


def test_directions_of_measures(tmp_path):
    """What is lower is better got worse when it rose."""
    path = write(tmp_path, "cases:\n  - {id: q, query: q, relevant: [a]}\n")
    check(path, lambda _: ["a"], update="first")
    result = check(path, lambda _: ["x", "a"], measures="RR", complete=True)
    assert result.cases[0].improvement("RR") == -0.5
    lower = replace(result.cases[0], values={"RBP_resid": 0.5}, before={"RBP_resid": 0.2})
    assert lower.change("RBP_resid") == pytest.approx(0.3)
    assert lower.improvement("RBP_resid") == pytest.approx(-0.3)


def _bomb(levels: int) -> str:
    text = '"x"'
    for level in range(levels):
        text = f"&a{level} [{text}" + (f", *a{level - 1}" if level else ', "x"') * 8 + "]"
    return text


@pytest.mark.parametrize("content", [_bomb(10), "&a [x, *a]"])
@pytest.mark.parametrize("field", ["relevant", "id", "tags"])
def test_aliases_that_stand_for_too_much_are_refused(tmp_path, content, field):
    """A kilobyte of YAML may stand for billions of values."""
    path = tmp_path / "golden.yaml"
    case = {"id": "c", "query": "x"} | {field: content}
    lines = [f"{name}: {value}" for name, value in case.items()]
    path.write_text("cases:\n  - " + "\n    ".join(lines) + "\n")
    with pytest.raises(InputError, match="stand for more than 1,000,000 values"):
        read_golden(str(path))


def test_aliases_are_read(tmp_path):
    path = tmp_path / "golden.yaml"
    path.write_text(
        "cases:\n  - {id: a, query: x, relevant: &both [d1, d2]}\n  - {id: b, query: y, relevant: *both}\n"
    )
    golden = read_golden(str(path))
    assert [dict(case.relevant) for case in golden.cases] == [{"d1": 1.0, "d2": 1.0}] * 2
