"""Summary: what was compared, the sentence that matters, and the leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.ranking.policy import CHOICES
from goodgain.reports.charts import systems as charts
from goodgain.reports.elements import Cell, Column, Piece, Section, Table, Text, User
from goodgain.reports.headline import headlines
from goodgain.results.numbers import STARS, p_text
from goodgain.results.text import number
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from goodgain.comparison.comparison import Pair
    from goodgain.ranking import Evaluation
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Part

CONFIDENCE = 0.95


def section(material: Material) -> Section | None:
    """The first thing that is read; every page has it."""
    parts: list[Part] = [Text(pieces, "lead") for pieces in headlines(material)]
    if material.scores or material.comparison:
        parts += [Text(_what(material)), leaderboard(material), *_charts(material)]
        if material.comparison:
            parts += [differences(material), Text(_tested(material), "note")]
    parts += [bounds(e, i) for i, e in enumerate(material.evaluations) if e.policy.has_bounds]
    parts += [Text([User(warning)], "warning") for warning in material.warnings()]
    return Section("summary", "Summary", parts)


def _what(material: Material) -> list[Piece]:
    """How many queries, under which policies."""
    queries = len(material.units) or max((p.queries for p in material.comparison or ()), default=0)
    pieces: list[Piece] = [
        f"{len(material.systems):,} system{'s' * (len(material.systems) != 1)} on ",
        f"{queries:,} quer{'ies' if queries != 1 else 'y'}",
    ]
    if material.baseline:
        pieces += [", against the baseline ", User(material.baseline)]
    policies = list(dict.fromkeys(str(e.policy) for e in material.evaluations))
    presets = list(dict.fromkeys(e.preset for e in material.evaluations if e.preset != "default"))
    if policies:
        pieces.append(f". Policies: {'; '.join(policies)}")
    if presets:
        pieces.append(f" (as {', '.join(presets)})")
    return [*pieces, "."]


def _charts(material: Material) -> list[Part]:
    """The first measure of quality as a picture: means, and differences from the baseline."""
    if len(material.systems) < 2 or material.quality is None:
        return []
    found: list[Part] = []
    if material.subject is not None:
        found.append(charts.leaderboard(material.subject, material.quality))
    if material.comparison is not None:
        found.append(charts.effects(material.comparison, material.quality))
    return found


def _tested(material: Material) -> list[Piece]:
    from goodgain.comparison.render import legend

    assert material.comparison is not None
    return [User(" ".join([*legend(material.comparison)[:1], f"{STARS} (corrected)."]))]


# --- tables ---


def leaderboard(material: Material) -> Table:
    """Means with intervals, best first by the first measure of quality."""
    columns = [Column("system", "text")]
    for label in material.measures:
        arrow = " ↓" if material.lower_is_better(label) else ""
        known = material.measure(label)
        help_ = known.definition.summary if known else None
        columns.append(Column(label + arrow, help=help_, interval=True))
    best = _best(material)
    rows = []
    for system in material.systems:
        mark = " (baseline)" if system == material.baseline else ""
        row: list[object] = [Cell(system, f"{system}{mark}")]
        for label in material.measures:
            value = material.mean(system, label)
            stars = _stars(material, system, label)
            is_best = value is not None and value == best[label]
            low, high = _interval(material, system, label)
            row.append(Cell(value, number(value), stars, is_best, low=low, high=high))
        rows.append(row)
    if (quality := material.quality) is not None:
        sign = 1 if material.lower_is_better(quality) else -1
        known_means = {s: material.mean(s, quality) for s in material.systems}
        order = sorted(
            range(len(rows)),
            key=lambda i: _last(sign, known_means[material.systems[i]]),
        )
        rows = [rows[i] for i in order]
    note = f"Below each mean its {100 * CONFIDENCE:g}% interval over queries (Student's t)."
    return Table("leaderboard", "Leaderboard", columns, rows, note)


def _last(sign: int, value: float | None) -> tuple[bool, float]:
    """Best first; undefined means come last."""
    return value is None, sign * (value or 0.0)


def _best(material: Material) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for label in material.measures:
        values = [material.mean(s, label) for s in material.systems]
        known = [v for v in values if v is not None]
        choose = min if material.lower_is_better(label) else max
        found[label] = choose(known) if len(known) > 1 else None
    return found


def _interval(material: Material, system: str, label: str) -> tuple[float | None, float | None]:
    """Student's interval of a mean; sums, geometric means and percentiles have none."""
    import numpy as np

    measure = material.measure(label)
    kind = measure.definition.aggregate if measure else "mean"
    stat = measure.get("stat") if measure and kind == "stat" else "mean"
    if material.scores is None or kind in ("sum", "geometric") or stat != "mean":
        return None, None
    values = np.array(list(material.scores.values(system, label).values()), float)
    _, low, high, n = mean_interval(values, CONFIDENCE)
    return (low, high) if n > 1 else (None, None)


def _pairs(material: Material, system: str, label: str) -> list[Pair]:
    pairs = material.comparison.pairs if material.comparison else ()
    return [p for p in pairs if (p.system, p.measure) == (system, label)]


def _stars(material: Material, system: str, label: str) -> str:
    own = [p for p in _pairs(material, system, label) if p.baseline == material.baseline]
    return own[0].stars if own and own[0].stars != "ns" else ""


def bounds(evaluation: Evaluation, number_: int) -> Table:
    """What the means could be, under a policy that asks for bounds."""
    columns = [Column("run", "text"), Column("measure", "text"), Column("value"), Column("lower"),
               Column("upper")]  # fmt: skip
    rows = [
        [run.name, m.label, run[m], *run.bounds(m)]
        for run in evaluation
        for m in evaluation.measures
    ]
    unknown = "ties" if evaluation.policy.ties == "bounds" else "unjudged"
    note = f"Over what is not known: {CHOICES[unknown]['bounds']}."
    return Table(f"bounds{number_ or ''}", "Bounds of the means", columns, rows, note)


def differences(material: Material) -> Table:
    """Every system against its baselines: difference, interval, p, wins and losses."""
    assert material.comparison is not None
    settings = material.comparison.settings
    several = len(material.comparison.baselines) > 1
    columns = [
        Column("system", "text"),
        *([Column("against", "text")] if several else []),
        Column("measure", "text"),
        Column("difference", signed=True, help="system minus baseline", interval=True),
        Column("change", "number", help="relative to the baseline"),
        Column("p", help="of this test alone"),
        Column("corrected p", help="for all tests of this table together"),
        Column("stars", "text"),
        Column("effect d_z", digits=2, signed=True, help="mean difference over its deviation"),
        Column("wins", digits=0),
        Column("ties", digits=0),
        Column("losses", digits=0),
        Column("queries", digits=0),
    ]
    rows = []
    for pair in material.comparison.pairs:
        tone = "" if pair.stars == "ns" else "better" if pair.improvement > 0 else "worse"
        change = None if pair.relative is None else f"{100 * pair.relative:+.1f}%".replace("-", "−")
        rows.append([
            pair.system,
            *([pair.baseline] if several else []),
            pair.measure + (" ↓" if pair.lower_is_better else ""),
            Cell(pair.difference, tone=tone, low=pair.low, high=pair.high),
            Cell(pair.relative, change),
            Cell(pair.p, p_text(pair.p, settings.alpha)),
            Cell(pair.p_corrected, p_text(pair.p_corrected, settings.alpha)),
            pair.stars,
            pair.d_z,
            pair.wins,
            pair.ties,
            pair.losses,
            pair.queries,
        ])  # fmt: skip
    note = f"Below each difference its {100 * settings.confidence:g}% interval."
    return Table("differences", "Differences from the baseline", columns, rows, note)
