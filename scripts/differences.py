"""Write docs/differences.md from examples that run: python scripts/differences.py [--check].

Every number on the page comes from evaluating an example with a preset; tests/compat/test_differences.py
compares them with the tools themselves where those are installed.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from goodgain import evaluate, parse
from goodgain.measures import Definition, definitions
from goodgain.ranking.policy import CHOICES, PRESETS
from goodgain.ranking.presets import RULES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "differences.md"
TOOLS = tuple(PRESETS)
NAMES = {"default": "goodgain", "trec_eval": "trec_eval 10", "trec_eval9": "trec_eval 9, pytrec_eval",
         "beir": "BEIR", "elasticsearch": "Elasticsearch"}  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A small collection on which tools differ, and the measures that show it."""

    title: str
    text: str
    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]
    measures: str


EXAMPLES = (
    Example(
        "Gain form",
        "In most tools the gain of grade g is g. In Elasticsearch it is 2^g - 1, as in ranx's "
        "`ndcg_burges`, ir_measures' `dcg='exp-log2'` and gdeval: write `nDCG(gain=exp)` for those.",
        {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}, "DCG nDCG nDCG@10",
    ),
    Example(
        "Ideal list",
        "The ideal list of nDCG holds all judged documents, cut at k. Elasticsearch cuts it at the number "
        "of documents returned, so a short list is not penalised.",
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 1.0}}, "nDCG@3",
    ),
    Example(
        "Ties",
        "For equal scores, trec_eval and its wrappers rank the larger document id first. ir_measures does "
        "so for `RR`, but ranks the smaller one first for `RR@k`, `Judged`, `Compat` and the diversity "
        "measures. BEIR's own measures, ranx and Elasticsearch keep the input order (ranx only for short "
        "lists; the order in longer ones is arbitrary).",
        {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, "RR RR@10 P@1 Judged@1",
    ),
    Example(
        "Score precision",
        "trec_eval 9 reads scores as 32-bit numbers, so close scores become ties; version 10 uses 64 bits.",
        {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.000000001, "b": 1.0}}, "RR RR@10",
    ),
    Example(
        "Missing queries",
        "A judged query that is missing from the run either counts as 0 or is left out of the mean. BEIR "
        "leaves it out for nDCG, MAP, recall and precision, and counts it for MRR, R_cap and Accuracy.",
        {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}}, "AP nDCG@10 MRR@10 NumQ",
    ),
    Example(
        "Negative grades",
        "A document with a negative grade is never relevant and has no gain. For Bpref, trec_eval treats it "
        "as unjudged and ranx as judged nonrelevant; for Unjudged@k, trec_eval 10 counts it as unjudged; "
        "for Judged@k, ir_measures counts it as judged.",
        {"q": {"a": 1, "b": -1, "c": 0}}, {"q": {"b": 2.0, "a": 1.0}}, "nDCG Bpref Judged@2",
    ),
    Example(
        "Relevance level",
        "The lowest relevant grade (`rel`, trec_eval's -l) does not affect nDCG in trec_eval. ranx's "
        "`ndcg@10-l2` ignores lower grades in both gains and ideal: `nDCG(rel=2)@10`.",
        {"q": {"a": 1, "b": 3}}, {"q": {"a": 2.0, "b": 1.0}}, "AP(rel=2) nDCG@10 nDCG(rel=2)@10",
    ),
    Example(
        "Denominators",
        "P@k divides by k; in Elasticsearch by the number of documents returned if that is smaller. AP and "
        "AP@k divide by all relevant documents. R_cap@k divides by min(R, k), like trec_eval's "
        "`relative_P`. `SetF(beta=2)` means beta^2 = 4 here and beta^2 = 2 in ir_measures and trec_eval.",
        {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0, "x": 1.0}}, "P@5 R@2 R_cap@2 AP AP@1 SetF(beta=2)",
    ),
    Example(
        "Recall points",
        "Interpolated precision at recall r needs r x R relevant documents: rounded up in trec_eval 9 "
        "(unless the fraction is below .1), rounded to the nearest integer in version 10.",
        {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}, {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}},
        "IPrec@0.4 AP11",
    ),
    Example(
        "RBP",
        "The default persistence is .8; in trec_eval 10 it is .9. A graded document counts as its grade "
        "divided by the highest grade of the collection, but at least 1; in trec_eval by the highest of the "
        "query; in ranx the grade itself counts, so values above 1 are possible.",
        {"q": {"a": 1}, "r": {"b": 3}}, {"q": {"a": 1.0}, "r": {"b": 1.0}}, "RBP RBP(p=0.5) RBP(rel=1)",
    ),
    Example(
        "ERR",
        "The highest grade is that of the collection, but at least 1; in ir_measures (gdeval) it is "
        "always 4.",
        {"q": {"a": 1}}, {"q": {"a": 1.0}}, "ERR@10",
    ),
    Example(
        "A document that is the query",
        "BEIR removes a document with the query's own id from the run before it computes nDCG, MAP, recall "
        "and precision.",
        {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}, "nDCG@10 P@1 MRR@10",
    ),
)  # fmt: skip


def values(example: Example) -> dict[str, dict[str, float | None]]:
    """{measure: {tool: value}}; None if a tool does not have the measure."""
    table: dict[str, dict[str, float | None]] = {}
    for measure in example.measures.split():
        row: dict[str, float | None] = {}
        for tool in TOOLS:
            available = tool == "default" or has(tool, measure)
            row[tool] = (
                evaluate(example.qrels, example.run, measure, preset=tool)[measure]
                if available
                else None
            )
        table[measure] = row
    return table


def has(tool: str, text: str) -> bool:
    """Whether a tool has a measure with this cut-off and these parameters."""
    measure = parse(text)
    key = {"trec_eval9": "trec_eval", "beir": "BEIR", "elasticsearch": "Elasticsearch"}.get(
        tool, tool
    )
    name = measure.definition.elsewhere.get(key, "")
    if not name or (tool == "trec_eval9" and "(10)" in name):
        return False
    if (
        measure.definition.family == "gain"
        and dict(measure.params).get("rel")
        and tool == "trec_eval"
    ):
        return False
    if measure.name == "nDCG" and "rel" in dict(measure.params):
        return tool == "ranx"
    if measure.definition.cutoff == "recall" or tool in ("ir_measures", "ranx"):
        return True
    names = [
        n
        for n in re.split(r",\s", name)
        if (re.search(r"[_@]k\b", n) is not None) == bool(measure.cutoff)
    ]
    return bool(names)


def page() -> str:
    """The whole page."""
    sections = [
        "# What other tools compute\n\n"
        "Generated by `scripts/differences.py` from examples that run; do not edit. Each column is the "
        "output of `goodgain evaluate --preset NAME`, and tests compare it with the tool itself. "
        "`goodgain explain QRELS RUN -m MEASURE --against NAME` splits a difference on your own data into "
        "these causes. Values that differ from goodgain's are in bold; - means that the tool does not have "
        "the measure. Under a preset a name means what it means in that tool: BEIR's `Accuracy@3` is "
        "`Hit@3`, trec_eval's `P` stands for nine cut-offs, and ranx averages `hits` where others add them "
        "up.\n",
        _policies(),
    ]
    for example in EXAMPLES:
        sections.append(f"\n## {example.title}\n\n{example.text}\n\n")
        sections.append(f"qrels `{example.qrels}`, run `{example.run}`:\n\n")
        sections.append(_table(values(example)))
    sections += [_duplicates(), _measures(), _not_reproduced()]
    return "".join(sections)


def _name(tool: str) -> str:
    return NAMES.get(tool, tool)


def _table(rows: dict[str, dict[str, float | None]]) -> str:
    head = "| measure | " + " | ".join(_name(t) for t in TOOLS) + " |\n"
    lines = [head, "| --- |" + " ---: |" * len(TOOLS) + "\n"]
    for measure, row in rows.items():
        own = _number(row["default"])
        cells = [_number(row[t]) for t in TOOLS]
        lines.append(
            f"| `{measure}` | "
            + " | ".join(c if c in (own, "-") else f"**{c}**" for c in cells)
            + " |\n"
        )
    return "".join(lines)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if value == value else "undefined"


def _policies() -> str:
    lines = [
        "\n## Policies\n\n| tool | " + " | ".join(CHOICES) + " |\n",
        "| --- |" + " --- |" * len(CHOICES) + "\n",
    ]
    for tool in TOOLS:
        chosen = PRESETS[tool].to_dict()
        lines.append(f"| {_name(tool)} | " + " | ".join(chosen[c] for c in CHOICES) + " |\n")
    return "".join(lines)


def _duplicates() -> str:
    return (
        "\n## Duplicates\n\n"
        "A duplicate document for a query is an error here and in trec_eval. With files, ranx and "
        "ir_measures use the last line, which may be neither the first nor the best. `duplicates=first` and "
        "`duplicates=best` choose one. A duplicate judgment is an error here and in trec_eval; so is a "
        "document that TREC qrels judge in two iterations, unless the second column holds subtopics and a "
        "measure counts them.\n"
    )


def _measures() -> str:
    """Every measure: its name in other tools, and how those differ."""
    lines = [
        "\n## Measure by measure\n\n"
        "The name of each measure in other tools, and what they do differently apart from the policies "
        "above.\n\n",
        "| measure | name elsewhere | difference |\n| --- | --- | --- |\n",
    ]
    for d in definitions("ranked", "cost"):
        names = "; ".join(f"{tool}: `{name}`" for tool, name in d.elsewhere.items())
        lines.append(
            f"| `{d.name}` | {names or 'only in goodgain'} | {'; '.join(differing(d)) or '-'} |\n"
        )
    return "".join(lines)


def differing(d: Definition) -> list[str]:
    """What other tools do differently in a measure, apart from the policies: a sentence for each."""
    sentences = []
    for tool in TOOLS:
        for rule in RULES[tool]:
            if d.name in rule.measures:
                form = {True: "@k", False: " without a cut-off", None: ""}[rule.cutoff]
                policy = ", ".join(f"{k}={v}" for k, v in rule.policy.items())
                sentences.append(
                    f"{_name(tool)}{form}: {rule.why}" + (f" ({policy})" if policy else "")
                )
    return sentences


def _not_reproduced() -> str:
    return """
## What a preset does not reproduce

- Rounding: BEIR rounds means to 5 decimals; gdeval (ir_measures' `ERR` and exponential nDCG) rounds
  every value.
- ranx's order of tied documents in lists of more than about 15, which comes from an unstable sort.
- BEIR's `Hole@k`, which looks documents up in the judgments of all queries. It is not supported here.
- ir_measures' `Compat` if scores are tied or not positive: it then orders the ideal list by the qrels,
  not by the run.
- ir_measures' `ERR_IA@1` and `alpha_DCG@1`, which it does not divide by the number of aspects.
- Values that crash or are NaN elsewhere: BEIR's R_cap without relevant documents, ranx's mean with an
  undefined Bpref.
- trec_eval's parsing of invalid numbers: an invalid grade or score is an error here.
- trec_eval 10's exit with status 4 at a judged query missing from the run: `goodgain trec-eval` continues
  like version 9, with a warning.
- trec_eval's ideal list for custom gains (`ndcg.1=.3,2=.5`): it sorts them by their integer parts, so
  gains less than 1 apart may be out of order.
"""


def main() -> int:
    """Write the page, or with --check report by exit status whether it is up to date."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
