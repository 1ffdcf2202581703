"""Provenance: inputs with their hashes, settings, versions, the command, and what each measure is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.measures.table.agentic import GOOD_GAIN
from goodgain.ranking.policy import CHOICES
from goodgain.reports.elements import Column, Section, Table, Text, User

if TYPE_CHECKING:
    from goodgain.measures import Definition
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part


def section(material: Material) -> Section | None:
    """What is needed to trust the numbers, or to make them again; every page has it."""
    parts: list[Part] = []
    if material.command:
        parts.append(Text(["Made by ", User(material.command)]))
    inputs = _inputs(material)
    if inputs:
        columns = [*(Column(name, "text") for name in ("role", "system", "name", "kind")),
                   Column("bytes", digits=0), Column("SHA-256", "text")]  # fmt: skip
        parts.append(Table("inputs", "Inputs", columns, inputs))
    columns = [Column("of", "text"), Column("setting", "text"), Column("value", "text"),
               Column("meaning", "text")]  # fmt: skip
    parts.append(Table("settings", "Settings and versions", columns, _settings(material)))
    definitions = _definitions(material)
    if definitions:
        columns = [Column(name, "text") for name in
                   ("measure", "what it tells", "definition", "range", "edge cases", "source")]  # fmt: skip
        note = "As the table of measures has it: goodgain measures NAME tells more."
        parts.append(Table("definitions", "Definitions", columns, definitions, note))
    return Section("provenance", "Provenance", parts)


def _inputs(material: Material) -> list[list[Any]]:
    facts = [f for evaluation in material.evaluations for f in evaluation.inputs()]
    facts += [f for gain in material.gains for f in gain.inputs()]
    if material.comparison is not None:
        facts += [f for f in material.comparison.inputs if "name" in f]
    rows = [
        [f.get("role", "scores"), f.get("run", "–"), f.get("name", "–"), f.get("kind", "–"),
         f.get("bytes"), f.get("sha256", "–")]
        for f in facts
    ]  # fmt: skip
    rows += [
        ["documents and queries", "–", "of the experiment", "texts", None, e.settings["data"]]
        for e in material.experiments
    ]
    return [list(row) for row in dict.fromkeys(tuple(row) for row in rows)]


def _settings(material: Material) -> list[list[Any]]:
    from goodgain import __version__

    rows: list[list[Any]] = []
    for evaluation in material.evaluations:
        if evaluation.preset != "default":
            rows.append(["evaluation", "preset", evaluation.preset, "conventions of another tool"])
        for name, value in evaluation.policy.to_dict().items():
            rows.append(["evaluation", name, value, CHOICES[name][value]])
    if material.comparison is not None:
        rows += _named("comparison", material.comparison.settings)
    for gain in material.gains:
        rows += _named("Good Gain", gain.settings)
    for experiment in material.experiments:
        settings = experiment.settings
        for name in ("documents", "queries", "judgements", "depth", "seeds", "repeats", "warmup",
                     "concurrency", "timeout", "created", "system"):  # fmt: skip
            rows.append(["experiment", name, _text(settings.get(name)), ""])
        for system, own in settings["systems"].items():
            rows.append(["experiment", system, _text(own), "a system and its parameters"])
        rows += [["version", name, v, ""] for name, v in settings["versions"].items()]
    rows.append(["version", "goodgain", __version__, "that made this page"])
    return [list(row) for row in dict.fromkeys(tuple(row) for row in rows)]


def _named(of: str, settings: Any) -> list[list[Any]]:
    from dataclasses import asdict

    return [[of, k, _text(v), ""] for k, v in asdict(settings).items() if v is not None]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return f"{value:,}" if type(value) is int else str(value)


def _definitions(material: Material) -> list[list[Any]]:
    """Every measure that the page shows, from the table of measures."""
    rows = []
    for label in dict.fromkeys([
        *material.measures,
        *(m.label for e in material.evaluations for m in e.measures),
        *(c.measure for k in material.calibrations for c in k.corrected),
    ]):  # fmt: skip
        measure = material.measure(label)
        if measure is not None:
            rows.append(_row(label, measure.definition))
    if material.gains:
        rows += [_row(d.name, d) for d in GOOD_GAIN]
    return rows


def _row(label: str, d: Definition) -> list[Any]:
    return [label, d.summary, d.formula, d.range, d.edge_cases or "–", d.citation or "–"]
