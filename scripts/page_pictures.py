"""Take the screenshots of docs/report.md and docs/agentic.md: python scripts/page_pictures.py [NAME ...].

Needs Chromium and playwright.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parent.parent / "docs"


def summary(page: Page) -> None:
    """The page as it opens."""


def query(page: Page) -> None:
    """A query's ranked lists."""
    page.locator("#table-queries .open", has_text="q017").click()
    page.get_by_label("Measure of the contributions").select_option("MRR(rel=2)")
    page.locator("dialog .lists").evaluate("e => e.parentElement.scrollIntoView()")


def replay(page: Page) -> None:
    """A conversation, replayed up to its third search."""
    page.locator("#table-conversations .open", has_text="q004").click()
    page.get_by_role("slider").fill("3")


def timeline(page: Page) -> None:
    """The timeline of a conversation."""
    page.locator("#table-conversations .open", has_text="q004").click()
    page.locator("dialog .timeline").evaluate("e => e.scrollIntoView()")


# Name: width, height, colour scheme, and what to do before the screenshot.
PICTURES = {
    "report-summary": (1280, 800, "light", summary),
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
        browser.close()


if __name__ == "__main__":
    main()
