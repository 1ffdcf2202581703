"""Every code block in README and docs/ runs; generated pages are up to date."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from elastic_double import elasticsearch
from load_script import SCRIPTS, load_script

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
    return [
        pytest.param(page, marks=marks.get(examples.page_id(page), ()), id=examples.page_id(page))
        for page in examples.PAGES
        if examples.has_blocks(page)
    ]


@pytest.mark.parametrize("page", pages())
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(command: str, actual: str, expected: str) -> str:
        note = f"{command}\nto update the page: make docs"
        assert examples.matches(expected, actual) or actual == expected, note
        return expected

    monkeypatch.chdir(tmp_path)
    examples.enter(page, tmp_path)
    monkeypatch.setenv("QUERIES", "20")  # of the recipe for Spark
    with elasticsearch() as url:
        monkeypatch.setenv("ES_URL", url)
        assert examples.run_page(page, check) == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("script", ["reference", "differences", "tables", "peers"])
def test_generated_text_is_up_to_date(script: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / f"{script}.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nto update the pages: make docs"
