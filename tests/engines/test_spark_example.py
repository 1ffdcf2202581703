"""The example in the docstring of `goodgain.spark` runs, on the session that all tests share."""

from __future__ import annotations

import doctest
import inspect
from typing import TYPE_CHECKING, Any

import pytest

import goodgain.spark

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.filterwarnings("default")  # those of other packages
def test_the_example_runs(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = inspect.getdoc(goodgain.spark) or ""
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "example"}, "spark", None, 0)
    assert test.examples
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)
