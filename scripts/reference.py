"""Generate docs/measures.md and docs/commands.md from the table of measures and from --help.

`python scripts/reference.py --check` fails if a page is out of date.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from goodgain.cli import COMMANDS, help_text
from goodgain.cli.measures import usage
from goodgain.measures import Definition, definitions

DOCS = Path(__file__).parent.parent / "docs"


def measures_page() -> str:
    """The reference of all measures, by family."""
    lines = [
        "# Measures",
        "",
        "Generated from the tables in `src/goodgain/measures/`; `goodgain measures NAME` prints the same.",
        "Written as `NAME(param=value, ...)@cutoff`. `rel` is the lowest gain that counts as relevant. A",
        "cut-off in brackets can be a token budget: `nDCG@2000tokens` ([chunks.md](chunks.md)).",
        "",
    ]
    families: dict[str, list[Definition]] = {}
    for d in definitions("ranked", "cost", "spans", "agentic", "answers"):
        title = f"{d.family} of agents" if d.is_cost and d.namespace == "agentic" else d.family
        families.setdefault(title, []).append(d)
    for family, members in families.items():
        lines += [f"## {family.capitalize()}", ""]
        for d in members:
            lines += _measure(d)
    return "\n".join(lines)


def _measure(d: Definition) -> list[str]:
    lines = [f"### {d.name}", "", f"`{usage(d)}`. {d.summary}", ""]
    lines += [f"- Definition: {d.formula}", f"- Range: {d.range}"]
    lines[-1] += "; lower is better" if d.direction == "lower" else ""
    if d.edge_cases:
        lines.append(f"- Edge cases: {d.edge_cases}")
    for p in d.params:
        kind = "true or false" if isinstance(p.default, bool) else "a number"
        values = " or ".join(p.choices) or kind
        default = "none" if p.default is None else str(p.default).lower()
        lines.append(f"- `{p.name}`: {p.meaning}; {values} (default {default})")
    if d.aliases:
        lines.append(f"- Aliases: {', '.join(d.aliases)}")
    if d.elsewhere:
        lines.append("- Elsewhere: " + "; ".join(f"{t}: `{n}`" for t, n in d.elsewhere.items()))
    return [*lines, f"- Citation: {d.citation}", ""]


def commands_page() -> str:
    """The reference of all commands: the --help of each."""
    lines = ["# Commands", "", "```text", help_text().rstrip(), "```", ""]
    for command in COMMANDS:
        parser = import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()
        lines += [f"## goodgain {command}", "", "```text", parser.format_help().rstrip(), "```", ""]
    return "\n".join(lines)


def main() -> int:
    """Write the pages, or check that they are up to date."""
    os.environ["COLUMNS"] = "100"
    stale = []
    for name, text in (("measures.md", measures_page()), ("commands.md", commands_page())):
        page = DOCS / name
        if "--check" in sys.argv:
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            page.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date: {', '.join(stale)}; run: make docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
