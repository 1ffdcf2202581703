"""The page of three systems over thousands of queries: how soon it is made, how large, how quick to use."""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import worker
from subject import Bar, Context, Section, Subject

DEPTH = 100
SECONDS, MEGABYTES, PAINT = 5, 15, 1000  # the bars; paint in milliseconds
REPEATS = 3
ACTS = {
    "sort by a number": "document.querySelectorAll('#table-queries thead .sort')[4].click()",
    "sort by the text": "document.querySelectorAll('#table-queries thead .sort')[1].click()",
    "search": "(s => { s.value = 'question 69'; s.dispatchEvent(new Event('input')) })"
    "(document.querySelector('#table-queries input'))",
    "filter": "(s => { s.value = '4'; s.dispatchEvent(new Event('change')) })"
    "(document.querySelector('[aria-label=\"Filter by difference\"]'))",
    "open the first query": "document.querySelector('#table-queries .open').click()",
    "open the next": "document.querySelector('[aria-label=\"Next query\"]').click()",
}


def run(context: Context) -> Section:
    """Make the page, then use it in a browser."""
    found = worker("report", context.queries, context.repeats(REPEATS))
    rows = [
        ["make it, beyond evaluation", f"{found['seconds']:.2f} s"],
        ["size", f"{found['megabytes']:.1f} MB"],
    ]
    bars = [
        _bar("report: made in", SECONDS, found["seconds"], "s"),
        _bar("report: size", MEGABYTES, found["megabytes"], "MB"),
    ]
    if found["browser"]:
        rows += [[name, f"{ms:.0f} ms"] for name, ms in found["browser"].items()]
        bars.append(_bar("report: first paint", PAINT, found["browser"]["first paint"], "ms"))
    return Section(
        columns=["what", "measured"],
        rows=rows,
        text=(
            f"Three systems, {context.queries:,} queries, {DEPTH} documents each, four measures; best of "
            f"{context.repeats(REPEATS)}. In Chromium, from disk; each act with the layout after it."
        ),
        bars=bars,
        notes=[] if found["browser"] else ["There was no Chromium with playwright to measure in."],
    )


def _bar(what: str, wanted: float, got: float, unit: str) -> Bar:
    return Bar(what, f"<= {wanted:g} {unit}", f"{got:.3g} {unit}", got <= wanted)


def _work(queries: int, repeats: int) -> dict[str, Any]:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "reports"))
    from page_results import many_queries

    comparison, texts = many_queries(queries, DEPTH)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            comparison.report(path, queries=texts)
            seconds.append(time.perf_counter() - start)
        return {
            "seconds": min(seconds),
            "megabytes": path.stat().st_size / 1e6,
            "browser": _used(path, repeats),
        }


def _used(path: Path, repeats: int) -> dict[str, float]:
    """Milliseconds of the first paint and of each act; empty without a browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if not chromium:
        return {}
    best: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(repeats):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.as_uri())
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            times = {"first paint": page.evaluate(paint)}
            page.locator("#folds").click()  # the acts are timed with their layout
            for name, act in ACTS.items():
                times[name] = page.evaluate(
                    f"(() => {{ const start = performance.now(); {act}; document.body.offsetHeight; "
                    "return performance.now() - start })()"
                )
            best = {name: min(ms, best.get(name, ms)) for name, ms in times.items()}
            page.close()
        browser.close()
    return best


SUBJECT = Subject("report", "The page", 90, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]), int(sys.argv[2]))))
