"""A comparison as text: terminal, Markdown, LaTeX, HTML."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goodgain.errors import plain
from goodgain.results.numbers import STARS, interval, p_text, percent, signed
from goodgain.results.text import Cell, html_table, latex_escape, number, render
from goodgain.stats.paired import TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.comparison.comparison import Comparison, Pair
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


def comparison_text(c: Comparison, format: str) -> str:  # noqa: A002
    """All tables, and a legend of the tests."""
    tables = [block_text(block, format) for block in blocks(c)]
    foot = legend(c)
    if format == "latex":
        return "\n".join(tables) + "".join(f"% {line}\n" for line in foot)
    return "\n".join(tables) + "\n" + "".join(f"{line}\n" for line in foot)


def block_text(block: Block, format: str) -> str:  # noqa: A002
    """One table with its title."""
    titled = replace(block, title=plain(block.title))
    return {"table": _terminal, "markdown": _markdown, "latex": _latex}[format](titled)


def blocks_html(listed: Sequence[Block], foot: Sequence[str]) -> str:
    """The tables and their legend, for notebooks."""
    from html import escape

    tables = "".join(html_table(block.columns, block.rows, block.title) for block in listed)
    return f"{tables}<p>{'<br>'.join(escape(line) for line in foot)}</p>"


# --- the tables ---


def blocks(c: Comparison) -> list[Block]:
    """The tables of a comparison, in reading order."""
    listed = [_means("mean over queries", c, c.pairs), _details("differences", c, c.pairs)]
    for group in c.groups:
        pairs = [pair for pair in c.group_pairs if pair.group == group]
        listed.append(_details(f"{c.settings.by} = {group or '(no group)'}", c, pairs))
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


def _means(title: str, c: Comparison, pairs: Sequence[Pair]) -> Block:
    block = Block(title, ["system", *(header(m) for m in c.measures)])
    best = {m.label: _best(m, c.means) for m in c.measures}
    several = len(c.baselines) > 1
    for system in c.systems:
        row: list[str | Cell] = [
            f"{system} (baseline)" if [system] == list(c.baselines) else system
        ]
        for m in c.measures:
            own = [p for p in pairs if p.measure == m and p.system == system]
            if several:
                mark = "".join(
                    chr(ord("a") + c.baselines.index(p.baseline))
                    for p in own
                    if p.p_corrected < c.settings.alpha
                )
            else:
                mark = own[0].stars if own and own[0].stars != "ns" else ""
            value = c.means[system][m.label]
            row.append(Cell(number(value), mark, value == best[m.label]))
        block.rows.append(row)
    if several:
        letters = ", ".join(f"{chr(ord('a') + i)} = {b}" for i, b in enumerate(c.baselines))
        block.title += f"; a letter marks a significant difference from that baseline ({letters})"
    return block


def _best(measure: Measure, means: Mapping[str, Mapping[str, float]]) -> float | None:
    values = [v for own in means.values() if (v := own[measure.label]) == v]
    return max(values, key=lambda v: measure.sign * v, default=None)


def _details(title: str, c: Comparison, pairs: Sequence[Pair]) -> Block:
    several = len(c.baselines) > 1
    level = f"{100 * c.settings.confidence:g}% interval"
    corrected = [] if c.settings.correction == "none" else ["corrected"]
    margin = (
        ["non-inferior", "equivalent"] if any(p.p_noninferior is not None for p in pairs) else []
    )
    seeds = [f"p, these {c.factor}s"] if any(p.p_these_seeds is not None for p in pairs) else []
    notes = ["note"] if any(_notable(p) for p in pairs) else []
    block = Block(
        title,
        ["system", *(["against"] if several else []), "measure", "difference", "change", level, "p",
         *corrected, "", "d_z", "win/tie/loss", "GSB", "detectable", *margin, *seeds, "n", *notes],
    )  # fmt: skip
    alpha = c.settings.alpha
    for p in pairs:
        span = None if p.low is None or p.high is None else (p.low, p.high)
        row: list[str | Cell] = [p.system, *([p.baseline] if several else [])]
        row += [header(p.measure), signed(p.difference), percent(p.relative)]
        row += [interval(span), p_text(p.p, alpha)]
        row += [p_text(p.p_corrected, alpha) for _ in corrected]
        row += [p.stars, signed(p.d_z, 2), f"{p.wins}/{p.ties}/{p.losses}", signed(p.gsb, 3)]
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
        ["system", header(quality), header(price), "on the front", "beaten by"],
    )
    for t in c.trade_off:
        yes = "yes" if t.on_front else "no"
        block.rows.append([t.system, number(t.quality), number(t.price), yes, t.beaten_by or "-"])
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
        if s.correction != "none" and len(c.measures) > 1:
            family += f", corrected for {len(c.measures)} measures"
    elif s.correction == "none":
        family = "no correction for multiple tests"
    else:
        family = f"{_CORRECTIONS[s.correction]} correction over {_tests(c)}"
    against = ", ".join(c.baselines)
    test = TESTS[s.test]
    if any(p.seeds for p in c.pairs):
        test = {
            "t": f"t-test over queries and {c.factor}s",
            "tukey": f"Tukey HSD over queries and {c.factor}s (Games-Howell)",
        }.get(s.test, f"{test} over {c.factor}s")
    lines = [f"{test}{extra}, two-sided, against {against}; {family}; alpha {s.alpha:g}."]
    lines += [c.design] if c.design else []
    lines.append(
        f"{STARS} (corrected p, either direction). detectable: the smallest difference found with 80% power."
    )
    if any(p.p_these_seeds is not None for p in c.pairs):
        own = f"{c.factor}s"
        lines.append(f"p, these {own}: over queries only; it says nothing about other {own}.")
    if len(c.pairs) == 1 and not c.pairs[0].seeds:
        lines.append(f"By queries: {c.pairs[0].side_by_side(s.alpha).sentence}")
    if s.margin is not None:
        lines.append(f"non-inferior, equivalent: p against a margin of {s.margin}.")
    return [plain(line) for line in lines]


def _tests(c: Comparison) -> str:
    """How many tests were corrected together: quality, and apart from it time and cost."""
    costs = sum(p.measure.is_cost for p in c.pairs)
    quality = len(c.pairs) - costs
    text = f"{quality or costs} test{'s' * ((quality or costs) != 1)}"
    return f"{text}, apart from {costs} of time and cost" if quality and costs else text


# --- formats ---


def _text(value: str | Cell) -> str:
    return value if isinstance(value, str) else value.text


def _terminal(block: Block) -> str:
    rows = []
    for row in block.rows:
        width = {i: max((len(r[i].mark) for r in block.rows if isinstance(r[i], Cell)), default=0)  # type: ignore[union-attr]
                 for i in range(len(row))}  # fmt: skip
        rows.append([
            value if isinstance(value, str) else f"{value.text}{value.mark:<{width[i]}}"
            for i, value in enumerate(row)
        ])  # fmt: skip
    return f"{block.title}\n" + render("table", block.columns, rows)


def _markdown(block: Block) -> str:
    rows = []
    for row in block.rows:
        cells = []
        for value in row:
            if isinstance(value, str):
                cells.append(value.replace("*", "\\*") if set(value) == {"*"} else value)
                continue
            mark = value.mark.replace("*", "\\*")
            cells.append((f"**{value.text}**" if value.best else value.text) + mark)
        rows.append(cells)
    table = render("markdown", block.columns, rows).replace("\\\\*", "\\*")
    return f"**{block.title}**\n\n{table}"


def _latex(block: Block) -> str:
    def cell(value: str | Cell) -> str:
        if isinstance(value, str):
            return (
                latex_escape(value)
                .replace("↓", r"$\downarrow$")
                .replace("<", "$<$")
                .replace(">", "$>$")
            )
        text = rf"\textbf{{{value.text}}}" if value.best else value.text
        return text + (f"$^{{{value.mark}}}$" if value.mark else "")

    def line(cells: Sequence[str | Cell]) -> str:
        return "  " + " & ".join(cell(v) for v in cells) + r" \\" + "\n"

    spec = "l" + "r" * (len(block.columns) - 1)
    return (
        f"% {block.title}\n\\begin{{tabular}}{{{spec}}}\n  \\toprule\n{line(block.columns)}"
        f"  \\midrule\n{''.join(line(row) for row in block.rows)}  \\bottomrule\n\\end{{tabular}}\n"
    )
