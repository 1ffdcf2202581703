"""Take the screenshots of docs/report.md: python scripts/page_pictures.py (needs Chromium and playwright)."""

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


# Name: width, height, colour scheme, and what to do before the screenshot.
PICTURES = {
    "report-summary": (1280, 800, "light", summary),
    "report-query": (1280, 800, "dark", query),
    "report-phone": (390, 780, "light", summary),
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
        for name, (width, height, colours, prepare) in PICTURES.items():
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
