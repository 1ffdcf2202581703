"""A comparison as text: terminal, Markdown, LaTeX, HTML."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goodgain.comparison.card_views import card_html, card_markdown, card_text
from goodgain.comparison.standings import rank_text
from goodgain.errors import plain
from goodgain.io.naming import without_shared_prefix
from goodgain.results.notebook import mean_cell
from goodgain.results.nouns import unit_nouns
from goodgain.results.numbers import (
    BETTER,
    STARS,
    WORSE,
    decimals,
    interval,
    p_text,
    percent,
    signed,
    stars,
)
from goodgain.results.screen import Screen, current
from goodgain.results.text import (
    BEST,
    Cell,
    html_table,
    latex_escape,
    latex_row,
    markdown_table,
    number,
    render,
    width,
)
from goodgain.stats.paired import TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.comparison.card import Card
    from goodgain.comparison.comparison import Comparison, Pair
    from goodgain.comparison.standings import Standings
    from goodgain.measures.definition import Measure

_CORRECTIONS = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "none": "no",
}


@dataclass
class Block:
    """A table with a title; cells are text or marked means."""

    title: str
    columns: list[str]
    rows: list[list[str | Cell]] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)  # of each row, where it is about one


def comparison_text(c: Comparison, format: str) -> str:  # noqa: A002
    """The verdict, all tables, and a legend of the tests."""
    tables = [block_text(block, format) for block in blocks(c)]
    foot = legend(c)
    card = c.card()
    if format == "latex":
        opening = "" if card is None else _commented(card_text(card, Screen()))
        return opening + "\n".join(tables) + "".join(f"% {line}\n" for line in foot)
    if card is not None:
        tables.insert(0, card_text(card) if format == "table" else card_markdown(card))
    return "\n".join(tables) + "\n" + "".join(f"{line}\n" for line in _wrapped(foot, format))


def _commented(text: str) -> str:
    return "".join(f"% {line}\n" for line in text.splitlines())


def _wrapped(lines: Sequence[str], format: str) -> list[str]:  # noqa: A002
    """Lines that fit the terminal."""
    limit = current().width if format == "table" else None
    if limit is None:
        return list(lines)
    from textwrap import wrap

    return [piece for line in lines for piece in wrap(line, limit, break_on_hyphens=False)]


def block_text(block: Block, format: str) -> str:  # noqa: A002
    """One table with its title."""
    titled = replace(block, title=plain(block.title))
    return {"table": _terminal, "markdown": _markdown, "latex": _latex}[format](titled)


def blocks_html(listed: Sequence[Block], foot: Sequence[str], card: Card | None = None) -> str:
    """The verdict, the tables and their legend, for notebooks."""
    from html import escape

    tables = "".join(html_table(block.columns, block.rows, block.title) for block in listed)
    opening = "" if card is None else card_html(card)
    return f"{opening}{tables}<p>{'<br>'.join(escape(line) for line in foot)}</p>"


# --- the tables ---


def _mean_interval(c: Comparison, system: str, measure: Measure) -> tuple[float, float] | None:
    """The 95 % interval of a mean over queries; None without scores of queries, and of sums."""
    if c.scores is None or system not in c.scores.runs or len(c.scores.runs[system]) != 1:
        return None
    with suppress(KeyError):
        return c.scores.runs[system][0].interval(measure)
    return None


def blocks(c: Comparison) -> list[Block]:
    """The tables of a comparison, in reading order."""
    listed = means(c)
    if len(c.baselines) == len(c.systems) > 2 and c.standings is not None:
        listed.append(_pairwise(c, c.standings))
    if len(c.pairs) <= MOST_PAIRS:
        listed += _details("differences", c, c.pairs)
    if c.group_pairs:
        listed += [_groups(c, m) for m in c.measures]
    if c.interactions:
        listed.append(_interactions(c))
    if c.seeds:
        listed.append(_seeds(c))
    if c.prices:
        listed.append(_prices(c))
    if c.trade_off:
        listed.append(_trade_off(c))
    return listed


def header(measure: Measure) -> str:
    """A measure's label, with an arrow if lower is better."""
    label = measure.label.rstrip(" ↓↑")
    return f"{label} ↓" if measure.lower_is_better else label


MOST_SYSTEMS = 14  # of a table of all pairs; beyond, those of the best ones are read, not of sixty
MOST_PAIRS = 60  # beyond, the table of differences is left to the formats for machines
EXPLORATORY = "exploratory, not corrected: confirms nothing"


def means(c: Comparison) -> list[Block]:
    """The table of means, with another one for exploratory measures."""
    title = f"mean over {_units(c)}"
    tables = [_means(title, c, c.primary)]
    if c.exploratory:
        tables.append(_means(f"{title} ({EXPLORATORY})", c, c.exploratory))
    return tables


def _units(c: Comparison) -> str:
    """What the means are over: queries or conversations."""
    return unit_nouns(c.measures[0] if c.measures else None)[1]


def _means(title: str, c: Comparison, measures: Sequence[Measure]) -> Block:
    block = Block(title, ["system", *(header(m) for m in measures)])
    best = {m.label: _best(m, c.means) for m in measures}
    several = len(c.baselines) > 1
    is_all = len(c.baselines) == len(c.systems)
    names = without_shared_prefix(c.systems)
    ranks = c.standings.ranks() if c.standings and len(c.systems) > 2 else {}
    ranks = ranks if measures == c.primary else {}
    systems = list(c.standings.systems) if c.standings and ranks else []
    systems += [s for s in c.systems if s not in systems]
    if ranks:
        block.columns.insert(1, "rank")
    marks: dict[tuple[str, str], str] = {}
    for pair in c.pairs if not is_all else ():
        key = pair.system, pair.measure.label
        marks[key] = marks.get(key, "") + (_letter(c, pair) if several else pair.mark)
    for system in systems:
        row: list[str | Cell] = [
            f"{names[system]} (baseline)" if [system] == list(c.baselines) else names[system]
        ]
        if ranks:
            row.append(Cell(rank_text(ranks[system]) if system in ranks else "-"))
        for m in measures:
            value = c.means[system][m.label]
            cell = Cell(number(value), marks.get((system, m.label), ""), value == best[m.label])
            interval = _mean_interval(c, system, m)
            row.append(mean_cell(cell, *interval) if interval else cell)
        block.rows.append(row)
        block.systems.append(system)
    if ranks:
        block.title += "; rank: the positions that significant differences leave open"
    if several and not is_all and measures == c.primary:
        letters = ", ".join(f"{chr(ord('a') + i)} = {b}" for i, b in enumerate(c.baselines))
        block.title += f"; a letter: better than that baseline, with {WORSE} worse ({letters})"
    return block


def _pairwise(c: Comparison, standings: Standings) -> Block:
    """Systems by systems: row minus column, with the stars of the corrected p."""
    names = without_shared_prefix(standings.systems)
    digits = decimals(*standings.means)
    listed, count = standings.systems[:MOST_SYSTEMS], len(standings.systems)
    which = "best first" if len(listed) == count else f"the best {len(listed)} of {count}"
    block = Block(
        f"{standings.measure}: row minus column, {which}",
        ["system", *(names[s] for s in listed)],
    )
    for i, system in enumerate(listed):
        row: list[str | Cell] = [names[system]]
        for j in range(len(listed)):
            if i == j:
                row.append(Cell(""))
                continue
            mark = stars(standings.p[i][j], standings.improvement(i, j))
            mark = mark if standings.differ(i, j) else ""
            row.append(Cell(signed(standings.differences[i][j], digits), mark))
        block.rows.append(row)
    return block


def _groups(c: Comparison, measure: Measure) -> Block:
    """Systems by groups: the difference from the baseline within each group, with its stars."""
    own = [p for p in c.group_pairs if p.measure == measure]
    sizes = {
        group: max((p.queries for p in own if (p.group or "") == group), default=0)
        for group in c.groups
    }
    digits = decimals(*(p.mean for p in own), *(p.baseline_mean for p in own))
    block = Block(
        f"{header(measure)}: difference within each {c.settings.by} (number of {unit_nouns(measure)[1]})",
        ["system", *(f"{group or '(no group)'} ({n:,})" for group, n in sizes.items())],
    )
    several, names = len(c.baselines) > 1, without_shared_prefix(c.systems)
    cells = {(p.system, p.baseline, p.group or ""): p for p in own}
    for system, baseline in dict.fromkeys((p.system, p.baseline) for p in own):
        row: list[str | Cell] = [
            f"{names[system]} - {names[baseline]}" if several else names[system]
        ]
        for group in sizes:
            pair = cells.get((system, baseline, group))
            row.append(
                Cell("-") if pair is None else Cell(signed(pair.difference, digits), pair.mark)
            )
        block.rows.append(row)
    return block


def _letter(c: Comparison, pair: Pair) -> str:
    """The letter of a baseline that a system differs from."""
    if pair.p_corrected is None or not pair.p_corrected < c.settings.alpha or not pair.improvement:
        return ""
    letter = chr(ord("a") + c.baselines.index(pair.baseline))
    return letter if pair.improvement > 0 else WORSE + letter


def _best(measure: Measure, means: Mapping[str, Mapping[str, float]]) -> float | None:
    values = [v for own in means.values() if (v := own[measure.label]) == v]
    return max(values, key=lambda v: measure.sign * v, default=None)


def _details(title: str, c: Comparison, pairs: Sequence[Pair]) -> list[Block]:
    """The differences, exploratory ones in a table of their own."""
    tables = [_differences(title, c, [p for p in pairs if not p.exploratory], tested=True)]
    if any(p.exploratory for p in pairs):
        rest = [p for p in pairs if p.exploratory]
        tables.append(_differences(f"{title} ({EXPLORATORY})", c, rest, tested=False))
    return tables


def _differences(title: str, c: Comparison, pairs: Sequence[Pair], *, tested: bool) -> Block:
    several = len(c.baselines) > 1
    level = f"{100 * c.settings.confidence:g}% interval"
    corrected = ["corrected"] if tested and c.settings.correction != "none" else []
    marks = [""] if tested else []
    margin = (
        ["non-inferior", "equivalent"] if any(p.p_noninferior is not None for p in pairs) else []
    )
    seeds = [f"p, these {c.factor}s"] if any(p.p_these_seeds is not None for p in pairs) else []
    notes = ["note"] if any(_notable(p) for p in pairs) else []
    block = Block(
        title,
        ["system", *(["against"] if several else []), "measure", "difference", "change", level, "p",
         *corrected, *marks, "d_z", "win/tie/loss", "GSB", "detectable", *margin, *seeds, "n", *notes],
    )  # fmt: skip
    alpha, names = c.settings.alpha, without_shared_prefix(c.systems)
    for p in pairs:
        span = None if p.low is None or p.high is None else (p.low, p.high)
        row: list[str | Cell] = [names[p.system], *([names[p.baseline]] if several else [])]
        row += [header(p.measure), signed(p.difference), percent(p.relative)]
        row += [interval(span), p_text(p.p if p.is_tested else None, alpha)]
        row += [p_text(p.p_corrected if p.is_tested else None, alpha) for _ in corrected]
        row += [(p.stars if p.is_tested else "") for _ in marks]
        row += [signed(p.d_z, 2), f"{p.wins}/{p.ties}/{p.losses}", signed(p.gsb, 3)]
        row += ["-" if p.minimum_detectable is None else number(p.minimum_detectable)]
        if margin:
            row += [p_text(p.p_noninferior, alpha), p_text(p.p_equivalent, alpha)]
        row += [p_text(p.p_these_seeds, alpha) for _ in seeds]
        row += [f"{p.queries:,}", *(_notable(p) for _ in notes)]
        block.rows.append(row)
    return block


def _notable(p: Pair) -> str:
    """Notes worth a column, unlike the number of permutations."""
    return p.note if p.note and not p.note[0].isdigit() and p.note != "exact" else ""


def _interactions(c: Comparison) -> Block:
    block = Block(
        f"does the difference depend on {c.settings.by}? (F test of the interaction)",
        ["system", "against", "measure", "groups", "F", "p", "corrected", "note"],
    )
    for i in c.interactions:
        block.rows.append([
            i.system, i.baseline, i.measure.label, str(i.groups), "-" if i.f is None else number(i.f, 3),
            p_text(i.p, c.settings.alpha), p_text(i.p_corrected, c.settings.alpha), i.note,
        ])  # fmt: skip
    return block


def _seeds(c: Comparison) -> Block:
    block = Block(
        f"{c.factor}s: standard deviation between queries, between {c.factor}s, and residual",
        [
            "system",
            "measure",
            f"{c.factor}s",
            "mean",
            "worst",
            "best",
            "queries sd",
            f"{c.factor}s sd",
            "residual sd",
        ],
    )
    for s in c.seeds:
        numbers = (s.mean, s.lowest, s.highest, s.between_queries, s.between_seeds, s.rest)
        block.rows.append([s.system, s.measure, str(s.seeds), *(number(v) for v in numbers)])
    return block


def _prices(c: Comparison) -> Block:
    block = Block("time and cost", ["system", "measure", "mean", "p50", "p95", "p99", "n"])
    for p in c.prices:
        numbers = (p.mean, p.p50, p.p95, p.p99)
        block.rows.append(
            [p.system, header(p.measure), *(number(v) for v in numbers), f"{p.queries:,}"]
        )
    return block


def _trade_off(c: Comparison) -> Block:
    quality = next(m for m in c.measures if not m.is_cost)
    price = c.prices[0].measure
    block = Block(
        f"{quality} against {price}: the Pareto front",
        ["system", header(quality), header(price), "standing", "beaten by"],
    )
    for t in c.trade_off:
        block.rows.append(
            [t.system, number(t.quality), number(t.price), t.standing, t.beaten_by or "-"]
        )
    return block


def legend(c: Comparison) -> list[str]:
    """The tests behind the tables."""
    s = c.settings
    extra = {
        "randomisation": f" ({s.permutations:,} permutations or exact, seed {s.seed})",
        "bootstrap": f" ({s.bootstraps:,} samples, seed {s.seed})",
    }.get(s.test, "")
    if s.test == "tukey":
        family = f"p is adjusted for all pairs of {len(c.systems)} systems"
        if s.correction != "none" and len(c.primary) > 1:
            family += f", corrected for {len(c.primary)} measures"
    elif s.correction == "none":
        family = "no correction for multiple tests"
    else:
        family = f"{_CORRECTIONS[s.correction]} correction over {_tests(c)}"
    against = f"against {', '.join(c.baselines)}"
    if len(c.baselines) == len(c.systems) > 2:
        against = f"every pair of {len(c.systems)} systems"
    test = TESTS[s.test]
    if any(p.seeds for p in c.pairs):
        test = {
            "t": f"t-test over {_units(c)} and {c.factor}s",
            "tukey": f"Tukey HSD over {_units(c)} and {c.factor}s (Games-Howell)",
        }.get(s.test, f"{test} over {c.factor}s")
    lines = [f"{test}{extra}, two-sided, {against}; {family}; alpha {s.alpha:g}."]
    lines += [c.design] if c.design else []
    lines.append(f"{stars_legend(c)} detectable: the smallest difference found with 80% power.")
    if len(c.pairs) > MOST_PAIRS:
        lines.append(f"The {len(c.pairs):,} tests, one by one: --format csv, --report or --save.")
    if any(p.p_these_seeds is not None for p in c.pairs):
        own = f"{c.factor}s"
        lines.append(f"p, these {own}: over {_units(c)} only; it says nothing about other {own}.")
    if len(c.pairs) == 1 and not c.pairs[0].seeds and c.pairs[0].is_tested:
        lines.append(f"By {_units(c)}: {c.pairs[0].side_by_side(s.alpha).sentence}")
    if s.margin is not None:
        lines.append(f"non-inferior, equivalent: p against a margin of {s.margin}.")
    return [plain(line) for line in lines]


def stars_legend(c: Comparison) -> str:
    """What the marks mean, and which measures have none."""
    p = "p" if c.settings.correction == "none" else "corrected p"
    line = f"{STARS} ({p}); ns: not significant."
    if c.exploratory:
        line += f" Exploratory, so without stars: {', '.join(m.label for m in c.exploratory)}."
    return line


def _tests(c: Comparison) -> str:
    """How many tests were corrected together: quality, and apart from it time and cost."""
    tested = [p for p in c.pairs if not p.exploratory]
    costs = sum(p.measure.is_cost for p in tested)
    quality = len(tested) - costs
    text = f"{quality or costs} test{'s' * ((quality or costs) != 1)}"
    if c.exploratory:
        text += " of the primary measures"
    return f"{text}, apart from {costs} of time and cost" if quality and costs else text


# --- formats ---


def _text(value: str | Cell) -> str:
    return value if isinstance(value, str) else value.text


def _mark(value: str | Cell) -> str:
    return "" if isinstance(value, str) else value.mark


def _is_best(value: str | Cell) -> bool:
    return not isinstance(value, str) and value.best


def _terminal(block: Block) -> str:
    columns = list(block.columns)
    is_terminal = current().width is not None
    rows = [[_text(value) for value in row] for row in block.rows]
    for i in range(len(columns)):
        cells = [row[i] for row in block.rows]
        if not cells or not all(isinstance(cell, Cell) for cell in cells):
            continue
        # Digits below digits: numbers end in the same column, and their marks begin in the next.
        texts = [f"{BEST if is_terminal and _is_best(cell) else ''}{_text(cell)}" for cell in cells]
        size = max(width(columns[i]), *map(width, texts))
        columns[i] = f"{columns[i]:>{size}}"
        for row, text, cell in zip(rows, texts, cells, strict=True):
            row[i] = f"{text:>{size}}{_mark(cell)}"
    title = "\n".join(_wrapped([block.title], "table"))
    return f"{title}\n" + render("table", columns, rows)


def _markdown(block: Block) -> str:
    rows = []
    for row in block.rows:
        cells = []
        for value in row:
            if isinstance(value, str):
                cells.append(value.replace("*", "\\*") if set(value) == {BETTER} else value)
                continue
            # In front: the column is right-aligned, so that marks do not move the digits.
            mark = value.mark.replace("*", "\\*")
            text = f"**{value.text}**" if value.best else value.text
            cells.append(f"{mark} {text}".strip())
        rows.append(cells)
    right = [isinstance(value, Cell) for value in (block.rows[0] if block.rows else [])]
    table = markdown_table(block.columns, rows, right).replace("\\\\*", "\\*")
    return f"**{block.title}**\n\n{table}"


_LATEX_SIGNS = {"↓": r"$\downarrow$", "<": "$<$", ">": "$>$", WORSE: r"$\dagger$"}


def _latex(block: Block) -> str:
    longest = [
        max((len(_mark(row[i])) for row in block.rows), default=0)
        for i in range(len(block.columns))
    ]

    def cell(value: str | Cell, i: int) -> str:
        if isinstance(value, str):
            text = latex_escape(value)
            for sign, command in _LATEX_SIGNS.items():
                text = text.replace(sign, command)
            return text
        text = rf"\textbf{{{value.text}}}" if value.best else value.text
        if not longest[i]:
            return text
        # Every mark takes the room of the longest one, so that the digits stay aligned.
        mark = value.mark.replace(WORSE, r"\dagger ")
        own = rf"\rlap{{$^{{{mark}}}$}}" if mark else ""
        return rf"{text}{own}\phantom{{$^{{{longest[i] * BETTER}}}$}}"

    def line(cells: Sequence[str | Cell]) -> str:
        return latex_row([cell(v, i) for i, v in enumerate(cells)])

    spec = "l" + "r" * (len(block.columns) - 1)
    return (
        f"% {block.title}\n\\begin{{tabular}}{{{spec}}}\n  \\toprule\n{line(block.columns)}"
        f"  \\midrule\n{''.join(line(row) for row in block.rows)}  \\bottomrule\n\\end{{tabular}}\n"
    )
