"""Take the screenshots of docs/report.md, gallery.md, agentic.md and judge.md: page_pictures.py [NAME ...].

Needs Chromium, playwright and Pillow.
"""

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from picture_pages import PAGES, saved_results
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import goodgain
from goodgain import demo
from goodgain.judging import JudgingServer
from goodgain.judging.items import Item
from goodgain.judging.labels_desk import LabelsDesk
from goodgain.judging.scales import grades
from goodgain.judging.sides_desk import SideItem, SidesDesk
from goodgain.reports.view import Library, Viewer

DOCS = Path(__file__).parent.parent / "docs"


COLOURS = 256  # of a picture; a page has few, and the files are a third of the size


def summary(page: Page) -> None:
    """The page as it opens."""


def unfold(page: Page) -> None:
    """Open every section."""
    page.locator("#folds").click()


def section(name: str) -> Callable[[Page], None]:
    """One section, unfolded, at the top of the screen."""

    def prepare(page: Page) -> None:
        page.locator(f"#{name} summary").first.click()
        page.locator(f"#{name}").evaluate("e => e.scrollIntoView({behavior: 'instant'})")
        for canvas in page.locator(f"#{name} .canvas").all():
            canvas.evaluate("e => e.scrollIntoView({behavior: 'instant'})")
            canvas.locator("svg").wait_for(state="attached")
        page.locator(f"#{name}").evaluate("e => e.scrollIntoView({behavior: 'instant'})")

    return prepare


def query(page: Page) -> None:
    """A query's ranked lists."""
    unfold(page)
    page.evaluate("location.hash = 'query=q017'")
    page.get_by_label("Measure of the contributions").select_option("MRR(rel=2)")
    page.locator("dialog .lists").evaluate("e => e.parentElement.scrollIntoView()")


def first_query(page: Page) -> None:
    """The query with the worst regression."""
    unfold(page)
    page.locator("#table-queries .open").first.click()
    page.locator("dialog[open] h2").wait_for()


def table_of_queries(page: Page) -> None:
    """The table of queries with the worst regressions first."""
    page.locator("#queries summary").first.click()
    page.locator("#table-queries").evaluate("e => e.scrollIntoView({behavior: 'instant'})")


def replay(page: Page) -> None:
    """A conversation, replayed up to its third search."""
    unfold(page)
    page.locator("#table-conversations input").first.fill("q004")
    page.locator("#table-conversations .open", has_text="q004").first.click()
    page.get_by_role("slider").fill("3")


def timeline(page: Page) -> None:
    """The timeline of a conversation."""
    unfold(page)
    page.locator("#table-conversations input").first.fill("q004")
    page.locator("#table-conversations .open", has_text="q004").first.click()
    page.locator("dialog .timeline").evaluate("e => e.scrollIntoView()")


def two_agents(page: Page) -> None:
    """A conversation of two agents, compared."""
    unfold(page)
    page.locator("#table-conversations .open").first.click()
    page.locator("dialog[open] h2").wait_for()


@dataclass(frozen=True)
class Picture:
    """Which page, how large, and what to do before the screenshot."""

    page: str
    prepare: Callable[[Page], None] = summary
    width: int = 1280
    height: int = 800
    colours: str = "light"
    is_whole: bool = False  # all of the page, not only the first screen
    is_printed: bool = False


PICTURES = {
    "report-summary": Picture("demo"),
    "report-differences": Picture("demo", section("differences"), height=1400),
    "report-query": Picture("demo", query, colours="dark"),
    "report-replay": Picture("demo", replay),
    "report-phone": Picture("demo", width=390, height=780),
    "timeline": Picture("demo", timeline, width=1180, height=760),
    "pictures/one-system": Picture("one-system"),
    "pictures/two-systems": Picture("two-systems"),
    "pictures/two-systems-dark": Picture("two-systems", colours="dark"),
    "pictures/fourteen-systems": Picture("fourteen-systems", is_whole=True),
    "pictures/fourteen-systems-differences": Picture(
        "fourteen-systems", section("differences"), height=1300
    ),
    "pictures/fourteen-systems-phone": Picture("fourteen-systems", width=390, height=1500),
    "pictures/sixty-systems": Picture("sixty-systems", is_whole=True),
    "pictures/sixty-systems-differences": Picture(
        "sixty-systems", section("differences"), height=1300
    ),
    "pictures/one-query": Picture("one-query"),
    "pictures/many-queries": Picture("many-queries", table_of_queries, height=900),
    "pictures/query": Picture("two-systems", first_query, height=1500),
    "pictures/query-phone": Picture("two-systems", first_query, width=390, height=1500),
    "pictures/agents": Picture("agents"),
    "pictures/agents-dark": Picture("agents", section("agentic"), height=1500, colours="dark"),
    "pictures/agents-unlabelled": Picture("agents-unlabelled"),
    "pictures/two-agents": Picture("agents", two_agents, height=1500),
    "pictures/print": Picture("two-systems", width=794, height=1600, is_printed=True),
}


def main() -> None:
    """Write the pages and take the screenshots."""
    names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        pages: dict[str, Path] = {}
        for name, picture in PICTURES.items():
            if names and name not in names:
                continue
            if picture.page not in pages:
                pages[picture.page] = write_page(picture.page, Path(folder))
            take_page(browser, pages[picture.page], name, picture)
        if not names or {"pictures/view", "pictures/view-history"} & {*names}:
            view_pictures(browser, Path(folder) / "results")
        if not names or any(name.startswith("judge") for name in names):
            judging_pictures(browser, Path(folder))
        browser.close()


def write_page(name: str, folder: Path) -> Path:
    """A page of made results, or that of the demo."""
    path = folder / f"{name}.html"
    if name == "demo":
        command = [sys.executable, "-m", "goodgain", "demo", "-q", "--report", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    else:
        PAGES[name](path)
    return path


def take_page(browser: Browser, path: Path, name: str, picture: Picture) -> None:
    """Open the page, prepare it, and take the screenshot."""
    page = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.colours == "dark" else "light",
    )
    page.goto(path.as_uri())
    picture.prepare(page)
    if picture.is_printed:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.locator(".canvas svg").last.wait_for(state="attached")
    page.mouse.move(0, 0)  # nothing is marked below the pointer
    page.wait_for_timeout(500)
    screenshot(page, name, full_page=picture.is_whole)
    page.close()


def screenshot(page: Page, name: str, **options: bool) -> None:
    """Keep a screenshot with few colours."""
    path = DOCS / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    page.screenshot(path=path, **options)  # type: ignore[arg-type]
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(
            COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
        few.save(path, optimize=True)


@contextmanager
def served(server: JudgingServer | Viewer) -> Iterator[None]:
    """A server in a thread."""
    with server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


def view_pictures(browser: Browser, folder: Path) -> None:
    """The viewer: the table of results, and the history of a measure."""
    saved_results(folder)
    viewer = Viewer(Library(folder))
    with served(viewer):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(viewer.url)
        page.locator("#table-results tbody tr").nth(12).wait_for()
        page.wait_for_timeout(500)
        screenshot(page, "pictures/view")
        page.get_by_label("Measure over time").select_option("nDCG@10")
        page.get_by_role("button", name="History").click()
        page.frame_locator("#page").locator(".canvas svg").first.wait_for()
        page.wait_for_timeout(500)
        screenshot(page, "pictures/view-history")
        page.close()


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
    server = JudgingServer(desk)  # type: ignore[arg-type]
    with served(server):
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
        screenshot(page, name)
        page.close()


if __name__ == "__main__":
    main()
