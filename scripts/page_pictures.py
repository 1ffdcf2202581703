"""Take the screenshots of docs/report.md, docs/agentic.md and docs/judge.md: page_pictures.py [NAME ...].

Needs Chromium and playwright.
"""

import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import goodgain
from goodgain import demo
from goodgain.judging import JudgingServer
from goodgain.judging.items import Item
from goodgain.judging.labels_desk import LabelsDesk
from goodgain.judging.scales import grades
from goodgain.judging.sides_desk import SideItem, SidesDesk

DOCS = Path(__file__).parent.parent / "docs"


def summary(page: Page) -> None:
    """The page as it opens."""


def unfold(page: Page) -> None:
    """Open every section."""
    page.locator("#folds").click()


def differences(page: Page) -> None:
    """Matrices and charts of the differences."""
    page.locator("#differences summary").first.click()
    page.locator("#differences").evaluate("e => e.scrollIntoView({behavior: 'instant'})")


def query(page: Page) -> None:
    """A query's ranked lists."""
    unfold(page)
    page.locator("#table-queries .open", has_text="q017").click()
    page.get_by_label("Measure of the contributions").select_option("MRR(rel=2)")
    page.locator("dialog .lists").evaluate("e => e.parentElement.scrollIntoView()")


def replay(page: Page) -> None:
    """A conversation, replayed up to its third search."""
    unfold(page)
    page.locator("#table-conversations .open", has_text="q004").click()
    page.get_by_role("slider").fill("3")


def timeline(page: Page) -> None:
    """The timeline of a conversation."""
    unfold(page)
    page.locator("#table-conversations .open", has_text="q004").click()
    page.locator("dialog .timeline").evaluate("e => e.scrollIntoView()")


def phone_query(page: Page) -> None:
    """The table of queries with the worst regressions first."""
    page.locator("#queries summary").first.click()
    page.locator("#table-queries").evaluate("e => e.scrollIntoView()")


# Name: width, height, colour scheme, and what to do before the screenshot.
PICTURES = {
    "report-summary": (1280, 800, "light", summary),
    "report-differences": (1280, 1400, "light", differences),
    "report-query": (1280, 800, "dark", query),
    "report-replay": (1280, 800, "light", replay),
    "report-phone": (390, 780, "light", summary),
    "timeline": (1180, 760, "light", timeline),
}


def main() -> None:
    """Write the demo's page and take the screenshots."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "demo.html"
        command = [sys.executable, "-m", "goodgain", "demo", "-q", "--report", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name in sys.argv[1:] or PICTURES:
            width, height, colours, prepare = PICTURES[name]
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if colours == "dark" else "light",
            )
            page.goto(path.as_uri())
            prepare(page)
            page.wait_for_timeout(500)
            page.screenshot(path=DOCS / f"{name}.png")
        if not sys.argv[1:]:
            judging_pictures(browser, Path(folder))
        browser.close()


GUIDELINES = """# How we judge

1. Read the question first, then all of the document.
2. Ask what the person who typed it **wants to do**.
3. A document that only names the right module is on topic, no more.

When in doubt between two grades, take the lower one and leave a note.
"""


def judging_items() -> list[Item]:
    """Questions of the demo with the documents that were judged for them, as people see them."""
    texts = demo.documents()
    questions = {question.id: question.text for question in demo.questions()}
    return [
        Item(
            query=judgment.query,
            doc=judgment.doc,
            question=questions[judgment.query],
            title=judgment.doc,
            text=texts[judgment.doc].partition("\n")[2][:900],
            url=f"https://docs.python.org/3/library/{judgment.doc.partition('.')[0]}.html",
        )
        for judgment in demo.judgments(texts)[0][:120]
    ]


def judging_pictures(browser: Browser, folder: Path) -> None:
    """The judging page: labels, labels on a phone, and two lists side by side."""
    with goodgain.Store(folder / "labels.db") as store:
        items = judging_items()
        desk = LabelsDesk(
            store, items, grades("gain-0-4", store), title="labels.db", guidelines=GUIDELINES
        )
        take(browser, desk, "judge", 1280, "light", "0123")

        take(browser, desk, "judge-phone", 390, "light", "3")
    with goodgain.Store(folder / "sides.db") as store:
        results = [
            {"title": item.title, "text": item.text[:300], "url": item.url} for item in items[:6]
        ]
        sides = tuple({"answer": None, "results": results[i::2]} for i in (0, 1))
        item = SideItem(
            query=items[0].query, question=items[0].question, narrative="",
            systems=("old", "new"), contents=sides,  # type: ignore[arg-type]
        )  # fmt: skip
        take(browser, SidesDesk(store, [item], title="labels.db"), "judge-sides", 1280, "light", "")


def take(browser: Browser, desk: object, name: str, width: int, colours: str, keys: str) -> None:
    """Start as an annotator, press keys, and take a screenshot."""
    with JudgingServer(desk) as server:  # type: ignore[arg-type]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        page = browser.new_page(
            viewport={"width": width, "height": 800},
            color_scheme=colours,  # type: ignore[arg-type]
        )
        page.goto(server.url)
        page.get_by_label("Your name").fill("Ann")
        page.keyboard.press("Enter")
        page.locator(".choices").wait_for()
        for key in keys:
            before = page.locator("#progress").inner_text()
            page.keyboard.press(key)
            page.wait_for_function(
                "text => document.querySelector('#progress').innerText !== text", arg=before
            )
        if name == "judge":
            page.keyboard.press("g")
        page.wait_for_timeout(300)
        page.screenshot(path=DOCS / f"{name}.png")
        page.close()
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    main()
