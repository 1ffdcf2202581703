"""Provenance: the command, inputs with their hashes, settings, versions, and measure definitions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from goodgain.ranking.policy import CHOICES
from goodgain.reports.charts.labels import corrected_measures
from goodgain.reports.elements import Section, Table, Text, UserText, count_columns, text_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.measures import Measure
    from goodgain.reports.contents import PageContents
    from goodgain.reports.elements import Element


def section(contents: PageContents) -> Section | None:
    """What readers need to trust or reproduce the numbers; on every page."""
    elements: list[Element] = []
    if contents.command:
        elements.append(Text(["Command: ", UserText(contents.command)], whole=True))
    inputs = _inputs(contents)
    if inputs:
        columns = [
            *text_columns("role", "system", "name", "kind"),
            *count_columns("bytes"),
            *text_columns("SHA-256"),
        ]
        elements.append(Table("inputs", "Inputs", columns, inputs))
    columns = text_columns("scope", "setting", "value", "meaning")
    elements.append(Table("settings", "Settings and versions", columns, _settings(contents)))
    definitions = _definitions(contents)
    if definitions:
        columns = text_columns(
            "measure", "summary", "definition", "better", "range", "edge cases", "reference"
        )
        note = "For details, run: goodgain measures NAME"
        elements.append(Table("definitions", "Definitions", columns, definitions, note))
    return Section("provenance", "Provenance", elements)


def _inputs(contents: PageContents) -> list[list[Any]]:
    facts = [f for evaluation in contents.evaluations for f in evaluation.inputs()]
    facts += [f for result in (*contents.gains, *contents.stoppings) for f in result.inputs()]
    if contents.comparison is not None:
        facts += [f for f in contents.comparison.inputs if "name" in f]
    rows = [
        [f.get("role", "scores"), f.get("run", "–"), f.get("name", "–"), _kind(f), f.get("bytes"),
         f.get("sha256", "–")]
        for f in facts
    ]  # fmt: skip
    rows += [
        ["documents and queries", "–", "experiment", "texts", None, e.settings["data"]]
        for e in contents.experiments
    ]
    return [list(row) for row in dict.fromkeys(tuple(row) for row in rows)]


def _kind(facts: Mapping[str, Any]) -> str:
    """The kind of an input; of a table in a lake its format and version."""
    if "version" in facts:
        return f"{facts['format']}, version {facts['version']}"
    return str(facts.get("kind", "–"))


def _settings(contents: PageContents) -> list[list[Any]]:
    from goodgain import __version__

    rows: list[list[Any]] = []
    for evaluation in contents.evaluations:
        if evaluation.preset != "default":
            rows.append(["evaluation", "preset", evaluation.preset, "conventions of another tool"])
        for name, value in evaluation.policy.to_dict().items():
            rows.append(["evaluation", name, value, CHOICES[name][value]])
    if contents.comparison is not None:
        rows += _setting_rows("comparison", asdict(contents.comparison.settings))
    for gain in contents.gains:
        rows += _setting_rows("Good Gain", asdict(gain.settings))
    for stopping in contents.stoppings:
        rows += _setting_rows("stopping", stopping.settings)
    for experiment in contents.experiments:
        settings = experiment.settings
        settings = {"judgments": settings.get("judgements"), **settings}  # the key of version 0.1
        for name in ("documents", "queries", "judgments", "depth", "seeds", "repeats", "warmup",
                     "concurrency", "timeout", "created", "system"):  # fmt: skip
            rows.append(["experiment", name, _text(settings.get(name)), ""])
        for system, own in settings["systems"].items():
            rows.append(["experiment", system, _text(own), "parameters of the system"])
        rows += [["version", name, v, ""] for name, v in settings["versions"].items()]
    rows.append(["version", "goodgain", __version__, "generated this page"])
    return [list(row) for row in dict.fromkeys(tuple(row) for row in rows)]


def _setting_rows(scope: str, settings: Mapping[str, Any]) -> list[list[Any]]:
    return [[scope, k, _text(v), ""] for k, v in settings.items() if v is not None]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={_text(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return f"{value:,}" if type(value) is int else str(value)


def _definitions(contents: PageContents) -> list[list[Any]]:
    """The definitions of all measures on the page."""
    measures = [
        *contents.measures,
        *(m for e in contents.evaluations for m in e.measures),
        *(m for k in contents.calibrations for m in corrected_measures(k)),
        *(m for g in contents.gains for m in g.measures),
    ]
    rows: dict[str, list[Any]] = {}
    for measure in measures:
        title = measure.name if measure.namespace == "agentic" else measure.label
        rows.setdefault(title, _row(title, measure))
    return list(rows.values())


def _row(title: str, measure: Measure) -> list[Any]:
    d = measure.definition
    return [
        title,
        d.summary,
        d.formula,
        measure.direction,
        str(d.range),
        d.edge_cases or "–",
        d.citation or "–",
    ]
