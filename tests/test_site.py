"""The documentation site: its pages, navigation, links and language, and that it needs no other host."""

from __future__ import annotations

import argparse
import sys
import tomllib
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from load_script import SCRIPTS, load_script
from prose import grade, prose, sentences

import goodgain
from goodgain.cli import COMMANDS
from goodgain.measures import definitions

if TYPE_CHECKING:
    from pathlib import Path

ROOT = SCRIPTS.parent
SITE = SCRIPTS / "site"
links = load_script("links")
PAGES = [page for page in links.pages() if page.name != "CHANGELOG.md"]


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# --- links and language of the sources ---


@pytest.mark.parametrize("page", links.pages(), ids=page_id)
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    assert links.broken(page) == []


def test_the_check_of_links_sees_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        "# A `b`, c!\n\n## Twice\n\n## Twice\n\n(named)=\n\n```text\n# code\n```\n"
    )
    page = tmp_path / "page.md"
    good = "[a](other.md#a-b-c) [b](other.md#twice-1) [c](other.md#named) [d](https://x.example/#y)"
    page.write_text(
        f"# Page\n\n{good} `[e](no.md)`\n\n[f](missing.md) [g](other.md#code) [h](#pages)\n"
        '\n[i]: gone.md "Title"\n[j]: other.md#a-b-c\n\n<a href="other.md#nowhere">k</a>'
        '<img alt="l" src="none.png">\n'
    )
    assert links.broken(page) == [
        "missing.md: no such file", "other.md#code: no such heading", "#pages: no such heading",
        "gone.md: no such file", "other.md#nowhere: no such heading", "none.png: no such file",
    ]  # fmt: skip


# What the glossary says not to call a query, a conversation, a judgment, a measure.
FORBIDDEN = {
    *("topic", "topics", "episode", "episodes", "trajectory", "trajectories", "metric", "metrics"),
    *("assessment", "assessments", "judgement", "judgements"),
}
OTHERS = {  # of what other programs call so
    "docs/glossary.md": FORBIDDEN,
    "docs/retrievers.md": {"metric"},
    "docs/measures.md": {"metric", "metrics"},  # titles of papers
}


def forbidden_words(text: str) -> set[str]:
    """The words of a page that the glossary has another word for."""
    return FORBIDDEN & {word.lower() for words in sentences(text) for word in words}


def long_sentences(text: str) -> list[str]:
    """Sentences that nobody reads twice on purpose."""
    return [" ".join(words) for words in sentences(text) if len(words) > 50]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_the_words_are_those_of_the_glossary(page: Path) -> None:
    words = forbidden_words(page.read_text(encoding="utf-8"))
    assert words - OTHERS.get(page_id(page), set()) == set()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_the_text_reads_easily(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert long_sentences(text) == []
    assert grade(text) <= 10, "Flesch-Kincaid grade"


def test_the_checks_of_language_see_what_is_wrong() -> None:
    text = (
        "# Metrics\n\nEvery topic has a metric. `metric` is code.\n\n- Judgements are\n  wrong.\n"
    )
    assert forbidden_words(text) == {"topic", "metric", "judgements"}
    assert long_sentences(f"One {'word ' * 50}ends. A short one.") == [
        "One" + " word" * 50 + " ends"
    ]
    assert (
        grade("Considerable methodological heterogeneity characterises contemporary evaluation.")
        > 10
    )


def test_prose_is_without_code_and_tables() -> None:
    code = "    metric\n\n| metric |\n\n```\nmetric\n```\n"
    text = f"# Topic\n\nOne `metric` [two](metric.md).\nThree.\n\n{code}- four\n- five\n"
    assert prose(text) == "One Code [two]. Three.\nfour\nfive"
    assert (
        grade("The cat sat. The dog ran.")
        < 2
        < 12
        < grade("Institutional considerations necessitate reevaluation")
    )


# --- pages from the code ---


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The staged sources of the whole site."""
    folder = tmp_path_factory.mktemp("site") / "source"
    sys.path.insert(0, str(SITE))
    try:
        load_script("site/build").stage(folder)
    finally:
        sys.path.remove(str(SITE))
    return folder


def records_of_results() -> tuple[type, ...]:
    """The classes on the page of records."""
    sys.path.insert(0, str(SITE))
    try:
        records: tuple[type, ...] = load_script("site/record_pages").records()
    finally:
        sys.path.remove(str(SITE))
    return records


def record_path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__name__}"


def test_every_public_name_is_on_a_page(site: Path) -> None:
    texts = [
        page.read_text(encoding="utf-8") for page in (site / "reference" / "python").glob("*.md")
    ]
    entries = [line for text in texts for line in text.split("\n") if line.startswith(".. ")]
    names = [entry.partition(":: goodgain.")[2].removesuffix("()") for entry in entries]
    inner = [
        f"{package.module}.{name}".removeprefix("goodgain.")
        for package in load_script("site/package_pages").PACKAGES
        for name in package.all_names
    ]
    records = [path.removeprefix("goodgain.") for path in map(record_path, records_of_results())]
    assert "comparison.comparison.Pair" in records
    assert sorted(names) == sorted([*goodgain.__all__, *inner, *records])


def test_annotations_say_what_their_names_stand_for(site: Path) -> None:
    annotations = load_script("site/annotations")
    tests = annotations.expanded("TestName | None", "goodgain.comparison.gates")
    assert tests.startswith("Literal['t', 'wilcoxon'")
    for name in (
        "PolicyChoices",
        "~goodgain.names.PolicyChoices",
    ):  # as written, and as qualified below
        policies = f"(**policies: Unpack[{name}])"
        written = annotations.unpacked(policies, "goodgain.ranking.evaluator")
        assert written.startswith("(ties: Literal['docid', ")
        assert "missing: Literal['zero', 'skip'] = ..." in written
    names = {goodgain.Measure: "goodgain.Measure"}
    module = "goodgain.comparison.comparison"
    assert annotations.qualified("tuple[Measure | Pair, ...]", module, names) == (
        "tuple[~goodgain.Measure | ~goodgain.comparison.comparison.Pair, ...]"
    )
    assert annotations.qualified("dict[str, Any]", module, names) == "dict[str, Any]"


def test_every_measure_has_a_formula_and_a_chart(site: Path) -> None:
    text = "\n".join(
        p.read_text(encoding="utf-8") for p in (site / "reference" / "measures").rglob("*.md")
    )
    headings = {line.lstrip("# ") for line in text.split("\n") if line.startswith("#")}
    measures = list(definitions("ranked", "cost", "spans", "agentic", "answers"))
    assert [d.name for d in measures if d.name not in headings] == []
    assert text.count("```{math}") == text.count('<svg role="img"') == len(measures)
    # The value of each worked example is the definition's: the build fails otherwise.
    ranked = [d for d in measures if d.namespace == "ranked"]
    assert text.count("the definition in plain Python gives the same value") == len(ranked)


def test_every_formula_is_of_the_registry() -> None:
    formulas = tomllib.loads((SITE / "formulas.toml").read_text(encoding="utf-8"))
    texts = {d.formula for d in definitions("ranked", "cost", "spans", "agentic", "answers")}
    assert set(formulas) == texts, "scripts/site/formulas.toml"


def test_every_command_and_option_has_its_page(site: Path) -> None:
    for command in COMMANDS:
        text = (site / "reference" / "commands" / f"{command}.md").read_text(encoding="utf-8")
        parser = load_script("site/command_pages").parser_of(command)
        actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
        options = {name for action in actions for name in action.option_strings}
        assert [name for name in sorted(options) if f"`{name}" not in text] == [], command


def test_a_command_page_starts_with_examples_and_ends_with_notes(site: Path) -> None:
    text = (site / "reference" / "commands" / "gate.md").read_text(encoding="utf-8")
    headings = [line for line in text.split("\n") if line.startswith("## ")]
    assert headings[:2] == ["## Examples", "## Usage"] and headings[-1] == "## Notes"
    assert "Guide: [Comparison](../../comparison.md)" in text
    assert "\ngoodgain gate qrels.txt base.run" in text and "`--traces`" in text


def test_the_search_knows_other_names_of_measures(site: Path) -> None:
    """Names that readers bring from other tools are entries of the index."""
    ndcg = (site / "reference" / "measures" / "gain" / "ndcg.md").read_text(encoding="utf-8")
    rr = (site / "reference" / "measures" / "binary" / "rr.md").read_text(encoding="utf-8")
    assert {"! nDCG", "! nDCG@10", "! ndcg_cut_10"} <= index_entries(ndcg)
    assert {"! MRR", "! recip_rank"} <= index_entries(rr)
    tests = (site / "guidance" / "tests.md").read_text(encoding="utf-8")
    assert tests.startswith("# Which test\n") and "! significance" in index_entries(tests)


def index_entries(text: str) -> set[str]:
    """What the index directives of a page name."""
    lines = [line for line in text.split("\n") if line.startswith("```{index} ")]
    return {entry for line in lines for entry in line.removeprefix("```{index} ").split(", ")}


def test_usage_fits_on_a_page() -> None:
    usage = load_script("site/command_pages").wrapped(
        "goodgain x [-m A B]\n   [--other {c,d}] [RUN ...]", 24
    )
    assert usage == "goodgain x [-m A B]\n    [--other {c,d}]\n    [RUN ...]"


def test_every_page_is_in_the_navigation_once(site: Path) -> None:
    entries: list[str] = ["index"]
    for page in site.rglob("*.md"):
        inside = False
        for line in page.read_text(encoding="utf-8").split("\n"):
            if line.startswith("```"):
                inside = line == "```{toctree}"
            elif inside and line and not line.startswith(":"):
                entry = line.rpartition("<")[2].removesuffix(">")
                folder = site if entry.startswith("/") else page.parent
                entries.append((folder / entry.lstrip("/")).relative_to(site).as_posix())
    pages = [page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.md")]
    assert sorted(entries) == sorted(pages)


def test_links_of_generated_pages_lead_somewhere(site: Path) -> None:
    """Names of Python objects are resolved by Sphinx, all other links here."""
    problems = [
        f"{page.relative_to(site)}: {problem}"
        for page in sorted(site.rglob("*.md"))
        for problem in links.broken(page)
        if not problem.startswith("#goodgain.")
    ]
    assert problems == []


# --- the built site ---

HAS_SPHINX = all(
    map(
        find_spec, ("sphinx", "myst_parser", "pydata_sphinx_theme", "latex2mathml", "sphinx_design")
    )
)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_SPHINX, reason="needs the dependency group `site`")
@pytest.mark.filterwarnings("default")  # theirs
def test_the_whole_site_is_built_without_a_warning(site: Path, tmp_path: Path) -> None:
    from sphinx.cmd.build import main as sphinx

    options = ["-q", "-b", "dummy", "-W", "--keep-going", "-c", str(SITE)]
    assert sphinx([*options, "-d", str(tmp_path / "trees"), str(site), str(tmp_path / "html")]) == 0


def test_pages_of_source_lead_back_to_their_entries() -> None:
    sys.path.insert(0, str(SITE))
    try:
        entry_of = load_script("site/build").entry_of
    finally:
        sys.path.remove(str(SITE))
    ids = {"goodgain.Trace", "goodgain.data.Turn", "goodgain.data.Turn.to_dict"}
    assert entry_of("goodgain.Trace", ids) == "goodgain.Trace"
    assert entry_of("goodgain.Turn.to_dict", ids) == "goodgain.data.Turn.to_dict"
    assert entry_of("goodgain.Nothing", ids) == ""


def test_the_check_of_the_built_site_sees_what_is_wrong(tmp_path: Path) -> None:
    check = load_script("site/check")
    (tmp_path / "good.html").write_text(
        '<a href="https://x.example/">x</a><p id="here"></p><link rel="canonical" href="https://y.example/">'
    )
    assert check.problems(tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<script src="https://cdn.example/x.js"></script><img src="gone.png"><a href="good.html#there">x</a>'
        '<a href="good.html#here">x</a><style>@import "//fonts.example/a.css";</style>'
    )
    (tmp_path / "dash.html").write_text(
        "<p>use –baseline; pages 3–5, a – b, and <code>--gsb</code></p>"
    )
    (tmp_path / "keywords.html").write_text(
        "<em>**policies: <span>Unpack</span>[<b>Choices</b>]</em>"
    )
    (tmp_path / "style.css").write_text("a { background: url(https://cdn.example/a.png) }")
    assert sorted(check.problems(tmp_path)) == [
        "bad.html: gone.png: no such file",
        "bad.html: good.html#there: no such anchor",
        "bad.html: loads //fonts.example/a.css",
        "bad.html: loads https://cdn.example/x.js",
        "dash.html: –baseline: a dash for two hyphens",
        "keywords.html: Unpack[...]: keywords that are not named",
        "style.css: loads https://cdn.example/a.png",
    ]
