"""Entries of the index: words by which the search finds a page before it looks at any text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.measures import Definition

CUTOFF = re.compile(r"([@_.])k\b")


def entries(words: Iterable[str]) -> list[str]:
    """A directive with main entries, which the search ranks by how much of an entry was typed."""
    return [f"```{{index}} {', '.join(f'! {word}' for word in words)}", "```", ""]


def of_measure(d: Definition) -> list[str]:
    """Its names here and in other tools, also with a cut-off: `ndcg_cut_k` is found by ndcg_cut_10, too."""
    elsewhere = re.sub(r"\([^)]*\)", "", ", ".join(d.elsewhere.values()))
    names = [d.name, *d.aliases, *(name.strip() for name in elsewhere.split(", "))]
    names = [name for name in names if " " not in name]
    forms = [
        form for name in names for form in (CUTOFF.sub("", name), CUTOFF.sub(r"\g<1>10", name))
    ]
    forms += [f"{d.name}@10"] if d.cutoff in ("optional", "required") else []
    by_case = {form.lower(): form for form in reversed(forms) if form}
    return sorted(by_case.values(), key=str.lower)
