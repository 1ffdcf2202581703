"""Every public name, of subpackages too, has a docstring with an example, and the example runs."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from load_script import load_script

import goodgain

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [name for name in goodgain.__all__ if name != "__version__"]


packages = load_script("site/package_pages")
examples = load_script("examples")


def run_example(test: doctest.DocTest) -> None:
    """Run an example; what it prints must be what it shows."""
    runner = doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def example(name: str) -> doctest.DocTest:
    """The example in the docstring of a public name."""
    text = inspect.getdoc(getattr(goodgain, name)) or ""
    return doctest.DocTestParser().get_doctest(text, {"__name__": name}, name, None, 0)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs(name: str) -> None:
    run_example(example(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_example_uses_the_name_and_shows_a_value(name: str) -> None:
    steps = example(name).examples
    assert steps, f"{name} has no example"
    assert any(step.want for step in steps), "it prints nothing"
    # A result is made by a function, which the text of the example calls instead.
    makers = {
        "GSB": "gsb_counts", "Calibration": "calibrate", "CheckResult": "check", "Comparison": "compare",
        "Evaluation": "evaluate", "ExperimentResult": "Experiment", "Gate": "gate", "GoodGain": "good_gain",
        "Judge": "label", "Labels": "label", "Measure": "nDCG", "Power": "power", "RunScores": "evaluate",
        "Stopping": "stopping", "Trace": "read_traces",
    }  # fmt: skip
    source = "".join(step.source for step in steps)
    assert f"gg.{makers.get(name, name)}" in source


# --- subpackages ---


def example_of(module: str) -> doctest.DocTest:
    """The example in the docstring of a module."""
    text = inspect.getdoc(import_module(module)) or ""
    return doctest.DocTestParser().get_doctest(text, {"__name__": "example"}, module, None, 0)


@pytest.mark.filterwarnings("default")  # those of other packages
@pytest.mark.parametrize(
    "module",
    [p.module for p in packages.PACKAGES if p.module != "goodgain.spark"],  # in tests/engines
)
def test_the_example_of_a_module_runs(module: str) -> None:
    run_example(example_of(module))


@pytest.mark.parametrize("package", packages.PACKAGES, ids=lambda package: package.module)
def test_the_example_of_a_module_uses_its_names(package: object) -> None:
    steps = example_of(package.module).examples  # type: ignore[attr-defined]
    words = {word for step in steps for word in re.findall(r"\w+", step.source)}
    assert set(package.names) - words == set()  # type: ignore[attr-defined]
    assert any(step.want for step in steps), "it prints nothing"


def test_what_pages_import_is_in_the_reference() -> None:
    """A name that a page tells readers to import has an entry, in whichever module it is public."""
    known = {getattr(goodgain, name) for name in NAMES}
    known |= {
        packages.value_of(package.module, name)
        for package in packages.PACKAGES
        for name in package.all_names
        if callable(packages.value_of(package.module, name))
    }
    lines = re.compile(r"^\s*from (goodgain(?!\.__main__)[\w.]*) import ([\w, ]+)$", re.MULTILINE)
    imported = {
        (module, name.strip())
        for page in examples.PAGES
        for module, names in lines.findall(page.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    values = {(module, name): packages.value_of(module, name) for module, name in imported}
    missing = [
        f"{module}.{name}"
        for (module, name), value in values.items()
        if callable(value) and value not in known and not module.endswith("compat.ir_measures")
    ]
    assert len(imported) > 20
    assert missing == []
