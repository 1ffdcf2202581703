"""An experiment as text: means with significance stars, latencies, and groups."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from goodgain.comparison.card_views import card_markdown, card_text
from goodgain.comparison.render import (
    Block,
    block_text,
    blocks_html,
    header,
    legend,
    means,
    stars_legend,
)
from goodgain.errors import GoodgainError
from goodgain.experiment.judgments import SPAN
from goodgain.experiment.latency_tables import latency_blocks, latency_legend
from goodgain.experiment.unjudged import FILE, TOP, data_facts
from goodgain.results.notebook import warnings_html
from goodgain.results.text import Cell, number, render

if TYPE_CHECKING:
    from goodgain.comparison import Comparison
    from goodgain.experiment.result import ExperimentResult


BRIEF_WIDTH = 100  # columns of the legend


def experiment_text(result: ExperimentResult, format: str, *, brief: bool = False) -> str:  # noqa: A002
    """The tables of an experiment with their legend; `brief` leaves all but the primary measures out."""
    blocks = _blocks(result)[: 1 if brief else None]
    tables = [block_text(block, format) for block in blocks]
    if result.systems and result.comparison is None:
        tables.insert(0, result.scores.render(format))
    card = None if result.comparison is None else result.comparison.card()
    if card is not None and format != "latex":
        text = card_text(card) if format == "table" else card_markdown(card)
        tables.insert(0, _plain(text, result.plan.rel))
    mark = "% " if format == "latex" else ""
    lines = _legend(result)
    if brief:
        from textwrap import wrap

        lines = [part for line in lines[:2] for part in wrap(line, BRIEF_WIDTH)]
    return "\n".join(tables) + "\n" + "".join(f"{mark}{line}\n" for line in lines)


def long_text(result: ExperimentResult, format: str) -> str:  # noqa: A002
    """The rows of the comparison, or of a single system, with the share of results that is judged."""
    columns, rows = (result.comparison or result.scores).rows()
    shares = dict(result.judged_shares)
    for name, runs in result.runs.items():
        shares |= {run.name: shares[name] for run in runs if name in shares}
    names = [name for name in ("system", "baseline", "run") if name in columns and shares]
    places = [columns.index(name) for name in names]
    added = [f"{'baseline_' if name == 'baseline' else ''}judged_at_{TOP}" for name in names]
    listed = [[*row, *(shares.get(row[place]) for place in places)] for row in rows]
    return render(format, [*columns, *added], listed)


def experiment_html(result: ExperimentResult) -> str:
    """The same for notebooks."""
    alone = result.systems and result.comparison is None
    scores = result.scores._repr_html_() if alone else ""
    card = None if result.comparison is None else result.comparison.card()
    tables = scores + blocks_html(_blocks(result), _legend(result), card)
    return tables + ("" if alone else warnings_html(result.warnings()))


def _blocks(result: ExperimentResult) -> list[Block]:
    c = result.comparison
    if c is None:
        return [*latency_blocks(result), *_failures(result)]
    main, *others = means(c)
    _add_judged(main, result)
    groups = [_group(c, group) for group in c.groups]
    tables = [main, *latency_blocks(result), *_failures(result), *groups, *others]
    return [_without_rel(block, result.plan.rel) for block in tables]


def _add_judged(block: Block, result: ExperimentResult) -> None:
    """The share of the first ten results that is judged, as the last column of the main table."""
    assert result.comparison is not None
    if not result.judged_shares:
        return
    block.columns.append(f"judged@{TOP}")
    for row, system in zip(block.rows, block.systems, strict=True):
        row.append(Cell(_percent(result.judged_shares[system])))


def _percent(share: float) -> str:
    """A share in percent; nothing is rounded to a false 0 or 100."""
    if share != share:
        return "-"
    text = f"{100 * share:.0f}"
    if (text == "100" and share < 1) or (text == "0" and share > 0):
        text = f"{100 * share:.2f}"
    return f"{text} %"


def _judging(result: ExperimentResult) -> list[str]:
    """What should be judged next, and the command for it."""
    if not result.unjudged:
        return []
    count = len(result.unjudged)
    documents = "1 document" if count == 1 else f"{count:,} documents"
    if result.plan.judged == SPAN:
        state = "has no judged span" if count == 1 else "have no judged span"
    else:
        state = "is not judged" if count == 1 else "are not judged"
    lines = [
        f"{documents} in the first {TOP} of one system only {state}: unjudged counts as irrelevant."
    ]
    path = result.folder.path
    if path is not None and (path / FILE).exists():
        lines.append(
            f"To judge them: goodgain judge labels.db --pairs {shlex.quote(str(path / FILE))}"
        )
    return lines


def _failures(result: ExperimentResult) -> list[Block]:
    """The systems without an answer."""
    if not result.failures:
        return []
    block = Block("no answer", ["system", "failed calls", "first error"])
    for failure in result.failures.values():
        block.rows.append([failure.system, f"{failure.calls:,}", failure.error])
    return [block]


def _legend(result: ExperimentResult) -> list[str]:
    """The lines below the tables."""
    c = result.comparison
    lines = []
    if c is not None:
        lines = [legend(c)[0], stars_legend(c)]
        if c.seeds:
            names = ", ".join(dict.fromkeys(spread.system for spread in c.seeds))
            lines.append(
                f"Means over {c.seeds[0].seeds} seeds of {names}; experiment --details shows their spread."
            )
            lines.append(c.design)
    lines += [*data_facts(result), *_judging(result)]
    if result.plan.rel != 1:
        lines.append(f"Documents with a gain of at least {result.plan.rel:g} are relevant.")
    if result.composed:
        lines.append(
            f"Latencies of {len(result.composed)} systems are composed: components shared within "
            "the grid are searched and timed once per query."
        )
    lines += latency_legend(result)
    lines += _best_of_grid(result)
    return lines if result.plan.rel == 1 else [_plain(line, result.plan.rel) for line in lines]


def _best_of_grid(result: ExperimentResult) -> list[str]:
    """The best point of a grid, whose mean in the table is too high for having been chosen."""
    if not result.settings.get("grids"):
        return []
    with suppress(GoodgainError):  # too few queries to hold some out, or calls are missing
        choices = result.choose()
        return [choices.headline(), f"Held out: {choices.best.method}; seed {choices.seed}."]
    return []


def _without_rel(block: Block, rel: float) -> Block:
    """Without the parameter that all measures share, which the legend explains."""
    if rel == 1:
        return block
    rows = [[_plain(v, rel) if isinstance(v, str) else v for v in row] for row in block.rows]
    return Block(block.title, [_plain(column, rel) for column in block.columns], rows)


def _plain(text: str, rel: float) -> str:
    return text.replace(f"(rel={rel:g})", "")


def _group(c: Comparison, group: str) -> Block:
    """The means of one group of queries by the primary measures."""
    pairs = [pair for pair in c.group_pairs if pair.group == group]
    count = max(pair.queries for pair in pairs)
    block = Block(
        f"{group or '(no group)'}: {count:,} queries",
        ["system", *(header(m) for m in c.primary)],
    )
    base = c.baselines[0]
    for system in c.systems:
        row: list[str | Cell] = [f"{system} (baseline)" if system == base else system]
        for m in c.primary:
            own = [p for p in pairs if p.measure == m and system in (p.system, base)]
            if not own:
                row.append(Cell("-"))
            elif system == base:
                row.append(Cell(number(own[0].baseline_mean)))
            else:
                row.append(Cell(number(own[0].mean), own[0].mark))
        block.rows.append(row)
    return block
