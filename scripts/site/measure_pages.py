"""A page for every measure of rankings, and one for every family of measures of agents, from the registry."""

from __future__ import annotations

import math
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keywords
from agent_reactions import AGENTS
from chart import chart
from ranking_reactions import best_at, distinct, plain_label, scene
from reactions import reaction

import goodgain as gg
from goodgain.cli.measures import usage
from goodgain.measures import definitions, parse
from goodgain.verification.definitions import judged_from, names, value

SITE = Path(__file__).resolve().parent
sys.path.insert(0, str(SITE.parent))
import differences  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reaction import Reaction

    from goodgain.measures import Definition

NAMESPACES = ("ranked", "cost", "spans", "agentic", "answers")
OWN_PAGES = ("ranked", "cost", "spans")  # the others have a page a family
TEXTS = {
    "gain": "Measures that add up graded gains.",
    "binary": "Measures for which a document is relevant or not: its gain is at least `rel`.",
    "distinct": "Measures that count what a list covers, each target or aspect once.",
    "C/W/L": "User models in which a reader continues, weighs and leaves (C/W/L).",
    "gain and loss": "Measures that reward what is right and charge what is wrong or missing.",
    "coverage": "Counts, and how much of a list is judged.",
    "time and cost": "What a search takes. Lower is better.",
    "spans": "Judgments of spans of text, met by chunks. See [chunks](../../chunks.md).",
    "good gain": (
        "What each search of an agent adds. See [agentic search](../../agentic.md) and [Good "
        "Gain](../../good-gain.md)."
    ),
    "time and cost of agents": "What a conversation takes. See [agentic search](../../agentic.md).",
    "funnel": "From evidence to answer. See [the funnel](../../funnel.md).",
    "nuggets": "Facts that an answer should contain. See [judges](../../judges.md#nuggets).",
}


def families() -> dict[str, list[Definition]]:
    """The measures by family, in the order of the registry."""
    groups: dict[str, list[Definition]] = {}
    for d in definitions(*NAMESPACES):
        title = f"{d.family} of agents" if d.is_cost and d.namespace == "agentic" else d.family
        groups.setdefault(title, []).append(d)
    return groups


def slug(text: str) -> str:
    """A name for files and addresses."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def path_of(d: Definition, family: str) -> str:
    """The page of a measure, within reference/measures."""
    own = d.namespace in OWN_PAGES
    return f"{slug(family)}/{slug(d.name)}.md" if own else f"{slug(family)}.md#{anchor(d.name)}"


def anchor(name: str) -> str:
    """The anchor of a measure on the page of its family; R_i and R@i are two."""
    return "measure-" + slug(name.replace("_i", "-of-i").replace("@i", "-through-i"))


def pages() -> dict[str, str]:
    """Path to text of every page."""
    formulas = tomllib.loads((SITE / "formulas.toml").read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    for family, members in families().items():
        own = members[0].namespace in OWN_PAGES
        name = f"reference/measures/{slug(family)}"
        if own:
            texts[f"{name}/index.md"] = family_page(family, members)
            for d in members:
                body = measure(d, latex_of(d, formulas), "../../../")
                texts[f"reference/measures/{path_of(d, family)}"] = body
        else:
            sections = [section(d, latex_of(d, formulas)) for d in members]
            head = f"# {family.capitalize()}\n\n{TEXTS[family]}\n\n"
            head += f"{AGENTS}\n\n" if any(d.level == "iteration" for d in members) else ""
            texts[f"{name}.md"] = head + "\n".join(sections)
    return texts


def latex_of(d: Definition, formulas: dict[str, str]) -> str:
    """The typeset formula of a measure."""
    if d.formula not in formulas:
        raise SystemExit(
            f"{d.name}: its formula {d.formula!r} has no LaTeX in {SITE.name}/formulas.toml"
        )
    return formulas[d.formula]


def family_page(family: str, members: list[Definition]) -> str:
    """The page of a family whose measures have pages of their own."""
    links = [f"- [{d.name}]({slug(d.name)}.md): {d.summary}" for d in members]
    entries = [slug(d.name) for d in members]
    text = TEXTS[family].replace("](../../", "](../../../")
    title = family if family == "C/W/L" else family.capitalize()
    tree = ["```{toctree}", ":hidden:", "", *entries, "```", ""]
    return "\n".join([f"# {title}", "", text, "", *links, "", *tree])


def measure(d: Definition, latex: str, root: str) -> str:
    """The page of a measure."""
    varied = reaction(d)
    lines = [f"# {d.name}", "", *keywords.entries(keywords.of_measure(d)), *definition(d, latex)]
    if d.namespace == "ranked":
        lines += ["## Worked example", "", *worked_ranking(d), ""]
    lines += ["## How it reacts", "", varied.text, "", *drawn(varied, d)]
    if d.namespace != "ranked":
        lines += [*table_of(varied.axis, varied.lines), ""]
    lines += elsewhere(d, root) if d.namespace in ("ranked", "cost") else []
    return "\n".join([*lines, "## Source", "", f"{d.citation}.", ""])


def section(d: Definition, latex: str) -> str:
    """A measure on the page of its family."""
    varied = reaction(d)
    lines = [f"({anchor(d.name)})=", "", f"## {d.name}", "", *definition(d, latex)]
    lines += [varied.text, ""] if varied.text != AGENTS else []
    lines += [*drawn(varied, d), *table_of(varied.axis, varied.lines), ""]
    return "\n".join([*lines, f"Source: {d.citation}.", ""])


def definition(d: Definition, latex: str) -> list[str]:
    """What it is, typeset and in words."""
    formula = ["```{math}", latex, "```", ""]
    return [d.summary, "", *formula, f"In plain text: {d.formula}.", "", *facts(d), ""]


def drawn(varied: Reaction, d: Definition) -> list[str]:
    """The chart of a reaction."""
    return ["```{raw} html", chart(varied, d.name), "```", ""]


def facts(d: Definition) -> list[str]:
    """How to write it, its range, edge cases and parameters."""
    better = "; lower is better" if d.direction == "lower" else ""
    lines = [f"- Written: `{usage(d)}`", f"- Range: {d.range}{better}"]
    if d.namespace == "ranked":
        lines.append(f"- Try it: `goodgain evaluate qrels.txt bm25.run -m '{plain_label(d)}'`")
    lines += [f"- Edge cases: {d.edge_cases}"] if d.edge_cases else []
    for p in d.params:
        kind = "true or false" if isinstance(p.default, bool) else "a number"
        default = "none" if p.default is None else str(p.default).lower()
        lines.append(
            f"- `{p.name}`: {p.meaning}; {' or '.join(p.choices) or kind} (default {default})"
        )
    lines += [f"- Also known as: {', '.join(f'`{a}`' for a in d.aliases)}"] if d.aliases else []
    return lines


def worked_ranking(d: Definition) -> list[str]:
    """`explain` on a small list, recomputed from the definition in plain Python."""
    if d.family == "distinct":
        qrels, run, _ = distinct(3, "target" if d.name in ("DR", "Diversity") else "aspect")
        text = (
            "Five relevant documents, of which the last three share a target or an aspect; there are "
            "five of these."
        )
    elif scene(d).collection is best_at:
        qrels, run, _ = best_at(3)
        text = "Ten judged documents; one more of grade 1 is not retrieved."
    else:
        qrels, run, _ = scene(d).collection(5)
        text = scene(d).text
    label = plain_label(d)
    explained = gg.explain(qrels, run, label, query="q1" if "q1" in run else next(iter(run)))
    check_against_definition(d, label, qrels, run, explained.value)
    printed = [line for line in str(explained).split("\n") if not line.startswith("policies")]
    command = f"goodgain explain qrels.txt run.txt -m '{label}' --query q1"
    return [
        text,
        "",
        "```text",
        *printed,
        "```",
        "",
        f"From `{command}`; the definition in plain Python gives the same value.",
    ]


def check_against_definition(
    d: Definition, label: str, qrels: Any, run: dict[str, list[str]], computed: float
) -> None:
    """Recompute the example from the definition; the build fails if it differs."""
    if d.name not in names():
        return
    query = next(iter(run))
    if isinstance(qrels, dict):
        rows = [(doc, gain, None, None) for doc, gain in qrels[query].items()]
    else:
        rows = [(r["doc"], r["gain"], r.get("target"), r.get("aspect")) for r in qrels]
    m = parse(label)
    params = {p.name: m.get(p.name) for p in d.params if m.get(p.name) is not None}
    again = value(d.name, run[query], judged_from(rows), m.cutoff, **params)
    if not math.isclose(again, computed, abs_tol=1e-10):
        raise SystemExit(f"{label}: the core gives {computed}, the definition {again}")


def table_of(axis: str, lines: dict[str, list[tuple[float, float]]]) -> list[str]:
    """The values behind a chart."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    head = f"| {axis} | " + " | ".join(f"{x:g}" for x in xs) + " |"
    rows = [head, "| --- |" + " ---: |" * len(xs)]
    for label, points in lines.items():
        by_x = dict(points)
        cells = [f"{by_x[x]:.4g}" if x in by_x else "-" for x in xs]
        rows.append(f"| {label} | " + " | ".join(cells) + " |")
    return rows


def elsewhere(d: Definition, root: str) -> list[str]:
    """What other tools call it, how they differ, and the examples in which they do."""
    lines = ["## In other tools", ""]
    if not d.elsewhere:
        return [*lines, "Only goodgain has it, as far as we know.", ""]
    lines += ["| tool | name there |", "| --- | --- |"]
    lines += [f"| {tool} | `{name}` |" for tool, name in d.elsewhere.items()]
    differing = differences.differing(d)
    lines += ["", *(f"- {sentence}" for sentence in differing), ""]
    examples = [e for e in differences.EXAMPLES if uses(e.measures.split(), d)]
    if examples:
        links = [f"[{e.title}]({root}differences.md#{slug(e.title)})" for e in examples]
        lines += [f"Values side by side: {', '.join(links)}.", ""]
    return lines


def uses(labels: Iterable[str], d: Definition) -> bool:
    """Whether one of some measures is of this definition."""
    return any(parse(label).definition.name == d.name for label in labels)


def index(text: str) -> str:
    """docs/measures.md for the site: every heading stays, with a summary and a link to its page."""
    links = {d.name: path_of(d, family) for family, members in families().items() for d in members}
    lines, copying = [], True
    for line in text.split("\n"):
        if line.startswith("## "):
            copying = True
        if line.startswith("- ") and lines and not copying:
            continue
        if line.startswith("### "):
            copying = False
            name = line.removeprefix("### ")
        lines.append(line)
        if line.startswith("`") and not copying:
            lines += ["", f"[Formula, example and plot](reference/measures/{links[name]})"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
