"""Every code block in README and docs/ runs; generated pages are up to date."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from elastic_double import elasticsearch
from load_script import SCRIPTS, load_script

from goodgain.errors import GoodgainError

examples = load_script("examples")


def is_installed(module: str) -> bool:
    """Whether a module could be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def pages() -> list[object]:
    """The pages that have blocks; the one about Spark is marked, and skipped without Java."""
    no_java = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
    frameworks = ("langchain_core", "opentelemetry.sdk")
    no_frameworks = pytest.mark.skipif(
        not all(map(is_installed, frameworks)), reason=f"needs {' and '.join(frameworks)}"
    )
    with_frameworks = (no_frameworks, pytest.mark.filterwarnings("default"))  # theirs
    marks = {
        "spark.md": (pytest.mark.spark, no_java),
        "cookbook/spark.md": (pytest.mark.spark, no_java, pytest.mark.filterwarnings("default")),
        **dict.fromkeys(
            (
                "live.md",
                "cookbook/agents.md",
                "cookbook/data.md",
                "cookbook/search.md",
                "cookbook/services.md",
                "tutorials/agents.md",
                "tutorials/rag.md",
            ),
            with_frameworks,
        ),
    }
    slow = ("cookbook/", "tutorials/", "examples/")
    names = {examples.page_id(page): page for page in examples.PAGES if examples.has_blocks(page)}
    return [
        pytest.param(
            page,
            marks=(*marks.get(name, ()), *([pytest.mark.slow] if name.startswith(slow) else [])),
            id=name,
        )
        for name, page in names.items()
    ]


@pytest.mark.parametrize("page", pages())
def test_code_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    def check(command: str, actual: str, expected: str) -> str:
        note = f"{command}\nto update the page: make docs"
        assert examples.matches(expected, actual) or actual == expected, note
        return expected

    monkeypatch.chdir(tmp_path)
    examples.enter(page, tmp_path)
    monkeypatch.setenv("QUERIES", "20")  # of the recipe for Spark
    if 'environ["DATABASE"]' in page.read_text(encoding="utf-8"):
        monkeypatch.setenv("DATABASE", request.getfixturevalue("postgres_server"))
    with elasticsearch() as url:
        monkeypatch.setenv("ES_URL", url)
        assert examples.run_page(page, check) == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("script", ["reference", "differences", "tables", "peers"])
def test_generated_text_is_up_to_date(script: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nto update the pages: make docs"


# --- how pages are run ---


def run_text(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page of this text with the output that its blocks really have."""
    monkeypatch.chdir(folder)
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return examples.run_page(
        page, lambda _, actual, expected: expected if examples.matches(expected, actual) else actual
    )


def test_blocks_write_files_and_show_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (
        '```text title="notes/a.txt"\nhello\n```\n\n```console\n$ cd notes\n$ cat a.txt\n```\n\n'
        "```python\nfrom pathlib import Path\nprint(Path('a.txt').read_text() * 2)\n```\n\n"
        "```output\nwrong\n```\n"
    )
    text = run_text(page, tmp_path, monkeypatch)
    assert "$ cat a.txt\nhello\n```" in text
    assert "```output\nhello\nhello\n```" in text


def test_a_command_ends_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = "```console\n$ echo no >&2; exit 3\n```\n"
    with pytest.raises(RuntimeError, match="exit status 3"):
        run_text(failing, tmp_path, monkeypatch)
    assert "$ echo no >&2; exit 3\nno\n" in run_text(
        f"<!-- exit 3 -->\n{failing}", tmp_path, monkeypatch
    )
    with pytest.raises(RuntimeError, match="exit status 0"):
        run_text("<!-- exit 3 -->\n```console\n$ true\n```\n", tmp_path, monkeypatch)


def test_dots_stand_for_anything_and_nothing_else_does() -> None:
    assert examples.matches("p50 ... ms\n...", "p50 1.2 ms\nmore\nlines")
    assert not examples.matches("p50 ... ms", "p95 1.2 ms")
    assert not examples.matches("a.c", "abc")


def test_what_a_page_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "```console\n$ sleep 600 > log 2>&1 & echo $! > pid\n```\n"
    run_text(page, tmp_path, monkeypatch)
    number = int((tmp_path / "pid").read_text())
    for _ in range(200):
        state = Path(f"/proc/{number}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the process is still running")


# --- what pages must have ---


@pytest.mark.parametrize("page", examples.PAGES, ids=examples.page_id)
def test_readers_are_told_the_name_of_every_file(page: Path) -> None:
    """The title of a block is seen neither on the site nor in the repository."""
    text = page.read_text(encoding="utf-8")
    for block in examples.BLOCK.finditer(text):
        paragraph = text[: block.start()].rstrip().rpartition("\n\n")[2]
        assert not block["title"] or f"`{block['title']}`" in paragraph, block["title"]


def prose_of(text: str) -> str:
    """The text of a page without its blocks."""
    without: str = examples.BLOCK.sub("", text)
    return without


def prose(page: Path) -> str:
    """A page without its blocks."""
    return prose_of(page.read_text(encoding="utf-8"))


def test_every_recipe_is_listed() -> None:
    folder = examples.ROOT / "docs" / "cookbook"
    index = (folder / "index.md").read_text(encoding="utf-8")
    recipes = [
        f"[{heading}]({page.name}#"
        for page in sorted(folder.glob("*.md"))
        if page.name not in ("index.md", "spark.md")
        for heading in re.findall(r"^## (.+)$", prose(page), re.MULTILINE)
    ]
    assert len(recipes) >= 30
    assert [recipe for recipe in recipes if recipe not in index] == []


def test_every_claim_of_the_guidance_has_a_source() -> None:
    """A year of a paper, or a link to a page or a simulation, in every item and every row."""
    source = re.compile(r"\b(18|19|20)\d\d\b|\]\(|scripts/|the same tables|`goodgain |`unjudged=")
    for page in sorted((examples.ROOT / "docs" / "guidance").glob("*.md")):
        items = re.findall(r"^- .+(?:\n  .+)*", prose(page), re.MULTILINE)
        assert [item for item in items if not source.search(item)] == [], page.name


def shown_commands() -> list[tuple[str, str]]:
    """Commands that pages show without running them: indented, or in a block of the shell."""
    commands = []
    for page in examples.PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        shell = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        lines = re.findall(r"^    (?:\w+=\S+ )?(goodgain .*)$", prose_of(text), re.MULTILINE)
        lines += re.findall(r"^(?:\w+=\S+ )?(goodgain .*)$", shell, re.MULTILINE)
        commands += [(examples.page_id(page), line.strip()) for line in lines]
    return commands


def test_commands_that_are_shown_but_not_run_can_be_parsed() -> None:
    """Their files are placeholders, but their options must exist."""
    commands = shown_commands()
    assert len(commands) > 50
    wrong = []
    for page, line in commands:
        words = shlex.split(line.partition("  #")[0].replace("...", "x").replace("[options]", ""))
        command, *rest = words[1:]
        rest = rest[: next((i for i, w in enumerate(rest) if w in ("|", ">", "&&", "&")), None)]
        try:
            parser = import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()
            parser.parse_args(rest)
        except (GoodgainError, ImportError, SystemExit) as error:
            wrong.append(f"{page}: {line}: {error}")
    assert not wrong, "\n".join(wrong)
