"""Primary measures are tested and corrected for; the rest is exploratory. Stars say which way."""

from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.comparison import Comparison, compare
from goodgain.errors import UsageError
from goodgain.reports.contents import gather_contents
from goodgain.reports.elements import Table
from goodgain.reports.sections import differences, summary
from goodgain.results.numbers import STARS, stars
from goodgain.stats.corrections import correct

RNG = np.random.default_rng(11)
QUERIES = [f"q{i:02}" for i in range(40)]
MEASURES = ("first", "second", "third", "tokens")


def column(mean: float) -> dict[str, float]:
    return dict(zip(QUERIES, (mean + RNG.normal(0, 0.1, len(QUERIES))).tolist(), strict=True))


SYSTEMS = {
    "base": {name: column(0.5) for name in MEASURES},
    "good": {name: column(0.58) for name in MEASURES},
    "poor": {name: column(0.40) for name in MEASURES},
}


def comparison(**options: object) -> Comparison:
    return compare(SYSTEMS, baseline="base", lower_is_better=["tokens"], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_only_the_primary_family_is_corrected(correction: str) -> None:
    result = comparison(correction=correction, primary=["third", "first"])
    tested = [p for p in result if p.measure.label in ("third", "first")]
    assert [p.p_corrected for p in tested] == correct([p.p for p in tested], correction)
    everything = comparison(correction=correction)
    for pair in result:
        other = everything[pair.system, pair.measure.label]
        assert (pair.p, pair.difference, pair.low) == (other.p, other.difference, other.low)
        if pair not in tested:
            assert pair.exploratory
            assert (pair.p_corrected, pair.stars, pair.mark) == (None, "", "")
            assert result.verdict(pair) == "exploratory"


def test_time_and_cost_stay_a_family_of_their_own() -> None:
    result = comparison(primary="first tokens", correction="bonferroni")
    for pair in result:
        if not pair.exploratory:
            assert pair.p_corrected == pytest.approx(min(1, 2 * pair.p))


def test_primary_measures_come_first_whatever_the_order_of_the_columns() -> None:
    result = comparison(primary=["third", "first"])
    assert [m.label for m in result.measures] == ["third", "first", "second", "tokens"]
    assert [m.label for m in result.primary] == ["third", "first"]
    assert [m.label for m in result.exploratory] == ["second", "tokens"]
    only = comparison(measures="second", primary="first")
    assert [m.label for m in only.measures] == ["first", "second"]
    assert comparison().primary == comparison().measures


def test_mistakes_are_refused() -> None:
    with pytest.raises(UsageError, match="no scores for the measure 'fist'"):
        comparison(primary=["fist"])
    with pytest.raises(UsageError, match="primary names no measure"):
        comparison(primary=[])


def test_tukey_groups_and_interactions_correct_for_primary_measures_only() -> None:
    by = {q: str(int(q[1:]) % 2) for q in QUERIES}
    result = comparison(primary=["first"], by=by)
    groups = [p for p in result.group_pairs if not p.exploratory]
    assert len(groups) == 4
    assert [p.p_corrected for p in groups] == correct([p.p for p in groups], "holm")
    tested = [i for i in result.interactions if i.measure.label == "first"]
    assert [i.p_corrected for i in tested] == correct([i.p for i in tested if i.p], "holm")
    assert all(i.p_corrected is None for i in result.interactions if i not in tested)
    tukey = comparison(primary=["first"], test="tukey")["good", "first"]
    assert tukey.p_corrected == tukey.p


def test_what_can_be_detected_follows_from_the_tests_that_are_made() -> None:
    few, many = comparison(primary=["first"]), comparison()
    assert few["good", "first"].minimum_detectable < many["good", "first"].minimum_detectable  # type: ignore[operator]


def test_saved_and_machine_formats_say_what_is_exploratory(tmp_path) -> None:
    result = comparison(primary=["first", "second"])
    result.save(tmp_path / "c.json")
    assert Comparison.load(tmp_path / "c.json") == result
    rows = json.loads(result.render("json"))
    assert {row["measure"]: row["exploratory"] for row in rows} == {
        "first": False, "second": False, "third": True, "tokens": True,
    }  # fmt: skip
    assert all((row["p_corrected"] is None) == row["exploratory"] for row in rows)
    lines = list(csv.DictReader(io.StringIO(result.render("csv"))))
    assert {line["exploratory"] for line in lines} == {"True", "False"}


def test_comparisons_saved_before_have_no_exploratory_measures(tmp_path) -> None:
    whole = comparison()
    data = whole.to_dict()
    del data["settings"]["primary"]
    for pair in data["pairs"]:
        del pair["exploratory"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    assert Comparison.load(tmp_path / "old.json") == whole


# --- stars ---


def test_stars_say_which_way() -> None:
    assert [stars(p, -0.1) for p in (0.0009, 0.001, 0.01, 0.05)] == ["†††", "††", "†", "ns"]
    assert stars(0.0001, 0) == "ns"
    assert stars(None, -0.1) == ""
    result = comparison()
    assert set(result["good", "first"].stars) == {"*"}
    assert set(result["poor", "first"].stars) == {"†"}
    assert set(result["good", "tokens"].stars) == {"†"}  # more tokens are worse
    assert set(result["poor", "tokens"].stars) == {"*"}


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_a_legend_explains_the_marks(form: str) -> None:
    text = comparison(primary=["first"]).render(form)
    assert STARS in text
    assert "exploratory, not corrected: confirms nothing" in text
    assert "Exploratory, so without stars: second, third, tokens." in text


def test_decimal_points_stay_aligned_in_the_terminal() -> None:
    wide = {name: {"AP": values["first"], "tokens": {q: 100 * v for q, v in values["tokens"].items()}}
            for name, values in SYSTEMS.items()}  # fmt: skip
    wide["base"]["tokens"] = {q: v / 20 for q, v in wide["base"]["tokens"].items()}
    text = str(compare(wide, baseline="base", lower_is_better=["tokens"]))
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("system"))
    head, *rows = lines[first : first + 4]
    assert any("***" in row for row in rows) and any("†" in row for row in rows)
    points = [[match.start() for match in re.finditer(r"\.", row)] for row in rows]
    assert points[0] == points[1] == points[2] and len(points[0]) == 2
    assert head.rstrip().endswith("tokens ↓")


def test_decimal_points_stay_aligned_in_exports() -> None:
    result = comparison()
    latex = result.render("latex")
    cells = re.findall(r"^  (?:base|good|poor).*?\\\\$", latex, re.M)[:3]
    rooms = [re.findall(r"\\phantom\{\$\^\{(\**)\}\$\}", row) for row in cells]
    assert rooms[0] == rooms[1] == rooms[2] and len(rooms[0]) == 4
    assert r"\rlap{$^{***}$}" in latex and r"\rlap{$^{\dagger" in latex
    markdown = result.render("markdown").splitlines()
    rule = next(line for line in markdown if line.startswith("| ---"))
    assert rule.endswith(4 * " ---: |")
    assert re.search(r"\| good \|.*? \\\*(\\\*)* \*\*0\.", "\n".join(markdown))
    html = result._repr_html_()
    assert re.search(r"<sup style=[^>]*width: 3ch[^>]*>†††</sup>", html)
    assert re.search(r"<sup style=[^>]*width: 3ch[^>]*></sup>", html)


def test_letters_of_several_baselines_say_which_way() -> None:
    text = str(compare(SYSTEMS, baseline=["base", "good"], measures="first"))
    poor = next(line for line in text.splitlines() if line.startswith("poor"))
    assert "†a†b" in poor
    assert "with † worse (a = base, b = good)" in text


# --- where measures are chosen ---


QRELS = {q: {f"d{i}": 1 + i % 2 for i in range(3)} for q in QUERIES}
CORPUS = {f"d{i}": f"text {i}" for i in range(20)}


def finds_all(query: str) -> list[str]:
    return ["d0", "d1", "d2", "d9"]


def finds_one(query: str) -> list[str]:
    return ["d8", f"d{len(query) % 3}", "d9"]


def write_runs(folder) -> list[str]:
    lines = [f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()]
    (folder / "qrels.txt").write_text("".join(lines))
    paths = [str(folder / "qrels.txt")]
    for name, search in (("one", finds_one), ("all", finds_all)):
        docs = [(q, d, 9 - i) for q in QUERIES for i, d in enumerate(search(q))]
        path = folder / f"{name}.run"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} {name}\n" for q, d, s in docs))
        paths.append(str(path))
    return paths


def test_the_command_line_adds_primary_measures(tmp_path, capsys) -> None:
    files = write_runs(tmp_path)
    options = ["-m", "AP", "--primary", "P@3 RR", "--format", "json"]
    assert run(["compare", *files, *options]) == 0
    rows = json.loads(capsys.readouterr().out)
    exploratory = {row["measure"]: row["exploratory"] for row in rows}
    assert exploratory == {"P@3": False, "RR": False, "AP": True}


def test_compare_evaluates_primary_measures(tmp_path) -> None:
    result = gg.compare(*write_runs(tmp_path)[:1], {"one": str(tmp_path / "one.run"),
                        "all": str(tmp_path / "all.run")}, "AP", primary="P@3")  # fmt: skip
    assert [m.label for m in result.measures] == ["P@3", "AP"]


def experiment(tmp_path=None, **options):
    options = {"measures": "P@3 MRR", "warmup": 0, **options}
    systems = {"one": finds_one, "all": finds_all}
    queries = {q: f"query {q} {'x' * int(q[1:])}" for q in QUERIES}
    return gg.Experiment(CORPUS, queries, QRELS, systems, **options).run(tmp_path)


def test_experiments_have_primary_measures(tmp_path) -> None:
    result = experiment(tmp_path, primary=["MRR"])
    pairs = {p.measure.label: p for p in result.comparison}
    assert list(pairs) == ["MRR", "P@3", "Latency"]
    assert [p.exploratory for p in pairs.values()] == [False, True, True]
    again = gg.ExperimentResult.open(tmp_path)
    assert [p.exploratory for p in again.comparison] == [False, True, True]
    other = gg.ExperimentResult.open(tmp_path, primary="P@3 Latency")
    assert [m.label for m in other.comparison.primary] == ["P@3", "Latency"]
    more = gg.ExperimentResult.open(tmp_path, measures="AP")
    assert [m.label for m in more.comparison.measures] == ["MRR", "AP"]
    text = str(result)
    assert "correction over 1 test of the primary measures" in text
    assert text.index("MRR") < text.index("exploratory") < text.index("P@3")


def test_primary_measures_have_the_relevance_of_the_experiment() -> None:
    result = experiment(measures=None, primary=["MRR", "DR@20"], rel=2)
    assert [m.label for m in result.comparison.primary] == ["MRR(rel=2)", "DR(rel=2)@20"]
    assert len(result.plan.measures) == 9  # none twice
    own = experiment(measures="MRR P@3", primary="MRR(rel=2)", rel=2)
    assert [m.label for m in own.comparison.measures] == ["MRR(rel=2)", "MRR", "P@3", "Latency"]


def test_pages_show_exploratory_measures_apart() -> None:
    contents = gather_contents([comparison(primary=["second"])])
    assert contents.quality is not None and contents.quality.label == "second"
    sections = [summary.section(contents), differences.section(contents)]
    tables = {e.key: e for s in sections if s for e in s.elements if isinstance(e, Table)}
    assert {c.name for c in tables["leaderboard"].columns} - {"rank"} == {"system", "second"}
    assert [c.name for c in tables["exploratory-means"].columns[1:]] == [
        "first",
        "third",
        "tokens ↓",
    ]
    names = [c.name for c in tables["exploratory-differences"].columns]
    assert "p" in names and not {"corrected p", "stars", "verdict"} & set(names)
    assert "confirms nothing" in tables["exploratory-differences"].note
    assert tables["leaderboard"].columns[-1].marks


def test_the_judged_share_stands_in_the_row_of_its_system() -> None:
    """Rows are ordered by rank, which the systems are not: shares stood beside the wrong names."""

    def unjudged(query: str) -> list[str]:
        return ["d9", "d8", "d7", "d0"]

    systems = {"none": unjudged, "one": finds_one, "all": finds_all}
    queries = {q: f"query {q} {'x' * int(q[1:])}" for q in QUERIES}
    result = gg.Experiment(CORPUS, queries, QRELS, systems, measures="P@3 MRR", warmup=0).run()
    rows = [line.split() for line in str(result).splitlines()]
    first = next(i for i, row in enumerate(rows) if row[:1] == ["system"])
    shown = {row[0]: row[-2] for row in rows[first + 1 : first + 4]}
    assert rows[first][-1] == "judged@10"
    assert shown == {name: f"{100 * share:.0f}" for name, share in result.judged_shares.items()}
    assert list(shown) != list(result.systems) and len(set(shown.values())) == 3
