"""`goodgain measures`: list the measures, or describe one in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_output
from goodgain.cli.output import write
from goodgain.cli.parser import command_parser

if TYPE_CHECKING:
    import argparse

    from goodgain.measures import Definition


def parser() -> argparse.ArgumentParser:
    """The arguments of the command."""
    p = command_parser(
        "measures",
        "List the measures, or describe one in full: definition, range, edge cases, citation.",
        "examples:\n  goodgain measures\n  goodgain measures nDCG\n  goodgain measures recip_rank\n",
    )
    p.add_argument(
        "name", metavar="NAME", nargs="?", help="a measure, an alias, or the name another tool uses"
    )
    add_output(p, per_query=False)
    return p


def run(args: argparse.Namespace) -> int:
    """Print the table or one entry."""
    from goodgain.measures import definitions
    from goodgain.results.text import render

    if args.name:
        definition = _definition(args.name)
        if args.format == "table":
            write(args, describe(definition))
        else:
            facts = _facts(definition)
            write(args, render(args.format, list(facts), [list(facts.values())]))
        return 0
    columns = ["measure", "family", "what it tells"]
    rows = [[usage(d), d.family, d.summary] for d in definitions()]
    write(args, render(args.format, columns, rows))
    return 0


def _definition(name: str) -> Definition:
    """The definition of a measure; an exact name wins, so that DCG@i is the agentic DCG."""
    from goodgain.measures import definition_of
    from goodgain.measures.registry import find

    exact = find(name, fold=False) or find(name, ("agentic", "answers"), fold=False)
    return exact or definition_of(name)


def usage(d: Definition) -> str:
    """How to write the measure: name, parameters with their defaults, cut-off."""
    params = ", ".join(f"{p.name}={_default(p.default)}" for p in d.params if p.name != "rel")
    cutoff = {"required": "@k", "optional": "[@k]", "none": "", "recall": "@r"}[d.cutoff]
    return d.name + (f"({params})" if params else "") + cutoff


def describe(d: Definition) -> str:
    """An entry of the table as a page of text."""
    lines = [usage(d), f"  {d.summary}", ""]
    for label, text in _facts(d).items():
        if label not in ("measure", "summary", "parameters") and text:
            lines.append(f"  {label + ':':<12} {text}")
    if d.params:
        lines.append("  parameters:")
        for p in d.params:
            values = "|".join(p.choices) or (
                "true|false" if isinstance(p.default, bool) else "number"
            )
            lines.append(f"    {p.name}={values}  {p.meaning} (default: {_default(p.default)})")
    if d.cutoff == "optional" and d.namespace in ("ranked", "spans"):
        lines.append(
            "  cut-off:     a rank (@10), or a budget of tokens (@2000tokens): results that fit into it"
        )
    if namesake := _namesake(d):
        lines.append(
            f"  see also:    {namesake.name}, the {namesake.namespace} measure of this name"
        )
    return "\n".join(lines) + "\n"


def _namesake(d: Definition) -> Definition | None:
    """The measure of runs for an agent's, and the other way round: both have a CG."""
    from goodgain.measures.registry import RUN_NAMESPACES, find

    if d.namespace == "agentic":
        return find(d.name.removesuffix("@i"), RUN_NAMESPACES, fold=False)
    return find(f"{d.name}@i", ("agentic",), fold=False)


_LEVELS = {
    ("query", False): "query",
    ("conversation", False): "conversation",
    ("system", False): "system",
    ("iteration", False): "single iteration",
    ("iteration", True): "conversation up to an iteration",
}


def _facts(d: Definition) -> dict[str, Any]:
    over = {"mean": "mean", "sum": "sum", "geometric": "geometric mean", "stat": "set by stat"}
    return {
        "measure": d.name,
        "summary": d.summary,
        "definition": d.formula,
        "kind": f"{d.namespace}, of a {_LEVELS[d.level, d.cumulative]}",
        "unit": d.unit,
        "range": f"{d.range}; {d.direction} is better",
        "edge cases": d.edge_cases,
        "aggregate": f"{over[d.aggregate]} over {'queries' if d.level == 'query' else 'conversations'}",
        "aliases": ", ".join(d.aliases),
        "elsewhere": "; ".join(f"{tool}: {names}" for tool, names in d.elsewhere.items()),
        "citation": d.citation,
        "parameters": ", ".join(f"{p.name}={_default(p.default)}" for p in d.params),
    }


def _default(value: Any) -> str:
    if value is None:
        return "none"
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else value
    )
