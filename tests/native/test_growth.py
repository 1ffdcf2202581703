"""Adversarial inputs take time in proportion to their size: four times the input, about four times the work.

Work is counted in processor time of the least of a few runs; quadratic growth would show as a factor of 16.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import goodgain as gg
from goodgain import _core
from goodgain.identity import aliases, profiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = _core.IdentityRules.of(
    [profile.for_core("document") for profile in profiles.PROFILES],
    "document",
    aliases.built_in().for_core(),
)
URLS: dict[str, Callable[[int], str]] = {
    "plus": lambda n: "https://example.com/?q=" + "a+" * n,
    "escapes": lambda n: "https://example.com/?q=" + "%2B" * n,
    "segments": lambda n: "https://example.com/" + "a/" * n,
    "dots": lambda n: "https://example.com/" + "../" * n,
    "parameters": lambda n: "https://example.com/?" + "&".join(f"a{i}=1" for i in range(n)),
    "one parameter": lambda n: "https://example.com/?" + "a=1&" * n,
    "wrapped": lambda n: "https://www.google.com/url?q=" * n + "http://x.org",
    "labels": lambda n: f"https://{'a.' * n}com/",
    "fragment": lambda n: "https://example.com/#" + "+" * n,
}
TEXTS: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "double brackets": lambda n: "[[" * n + "]]" * n,
    "markers": lambda n: "[1]" * n,
    "links": lambda n: "[a](http://x" * n,
    "wide": lambda n: "\u3010" * n,
    "cites": lambda n: "\ue200cite\ue202a" * n,
    "closed cites": lambda n: "\ue200cite\ue201" * n,
    "references": lambda n: "[1]: http://x\n" * n,
    "urls": lambda n: "https://a.b/(" * n,
    "entities": lambda n: "&amp" * n,
    "tags": lambda n: "<em" * n,
}


def growth(work: Callable[[Any], object], make: Callable[[int], Any], size: int) -> float:
    """How much more four times the input costs."""
    costs = []
    for n in (size, 4 * size):
        value = make(n)
        times = []
        for _ in range(3):
            start = time.process_time()
            work(value)
            times.append(time.process_time() - start)
        costs.append(min(times))
    return costs[1] / max(costs[0], 1e-4)


@pytest.mark.parametrize("name", URLS)
def test_urls(name: str) -> None:
    assert growth(RULES.reduce_url, URLS[name], 20_000) < 10


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str) -> None:
    def work(text: str) -> None:
        _core.text_citations(text.encode(), set())
        _core.normal_form(_core.without_markup(text))

    assert growth(work, TEXTS[name], 20_000) < 10


def test_bad_lines_of_traces(tmp_path: Path) -> None:
    """The number of a line is counted only for the lines that are shown."""

    def make(count: int) -> str:
        path = tmp_path / f"{count}.jsonl"
        good = '{"conversation": "c", "turns": [{"user": "u", "iterations": []}]}\n'
        path.write_text(good + '{"conversation": 1, "x": 2}\n' * count)
        return str(path)

    assert growth(lambda path: gg.good_gain(path, skip_bad=True), make, 5_000) < 10


def test_hashes_differ_between_processes() -> None:
    """Tables are seeded: ids that collide in one process do not in the next."""
    code = "from goodgain import _core; print(_core.hash_of('an id'))"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
        ).stdout
        for _ in range(3)
    }
    assert len(hashes) == 3
