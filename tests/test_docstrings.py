"""Every public name has a docstring with an example, and the example runs."""

from __future__ import annotations

import doctest
import inspect
from typing import TYPE_CHECKING

import pytest

import goodgain

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [name for name in goodgain.__all__ if name != "__version__"]


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
    test = example(name)
    runner = doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


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
