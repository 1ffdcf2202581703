"""An experiment as text: means with significance stars, latencies, and groups."""

from __future__ import annotations

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
from goodgain.experiment.latency_tables import latency_blocks, latency_legend
from goodgain.results.text import Cell, number

if TYPE_CHECKING:
    from goodgain.comparison import Comparison
    from goodgain.experiment.result import ExperimentResult


def experiment_text(result: ExperimentResult, format: str) -> str:  # noqa: A002
    """The tables of an experiment with their legend."""
    tables = [block_text(block, format) for block in _blocks(result)]
    if result.systems and result.comparison is None:
        tables.insert(0, result.scores.render(format))
    card = None if result.comparison is None else result.comparison.card()
    if card is not None and format != "latex":
        tables.insert(0, card_text(card) if format == "table" else card_markdown(card))
    mark = "% " if format == "latex" else ""
    return "\n".join(tables) + "\n" + "".join(f"{mark}{line}\n" for line in _legend(result))


def experiment_html(result: ExperimentResult) -> str:
    """The same for notebooks."""
    alone = result.systems and result.comparison is None
    scores = result.scores._repr_html_() if alone else ""
    card = None if result.comparison is None else result.comparison.card()
    return scores + blocks_html(_blocks(result), _legend(result), card)


def _blocks(result: ExperimentResult) -> list[Block]:
    c = result.comparison
    if c is None:
        return [*latency_blocks(result), *_failures(result)]
    main, *others = means(c)
    groups = [_group(c, group) for group in c.groups]
    tables = [main, *latency_blocks(result), *_failures(result), *groups, *others]
    return [_without_rel(block, result.plan.rel) for block in tables]


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
    if result.plan.rel != 1:
        lines.append(f"Documents with a gain of at least {result.plan.rel:g} are relevant.")
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
