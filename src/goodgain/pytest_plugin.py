"""A pytest fixture that runs the gate as a test, and golden sets as tests, one for each case.

def test_search_is_no_worse(goodgain_gate):
    goodgain_gate("qrels.txt", "baseline.run", "candidate.run", measures="nDCG@10", margin=0.01)

With `goodgain_golden = "golden.yaml"` in the configuration of pytest (several files are separated by
blanks), `pytest` also asks the target of each file and runs its cases as tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goodgain.checks import CheckResult
    from goodgain.comparison.gates import Gate


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting that names golden sets."""
    parser.addini(
        "goodgain_golden", "golden sets whose cases run as tests", type="args", default=[]
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a golden set that the configuration names, or that is named on the command line."""
    names = parent.config.getini("goodgain_golden")
    if not names:
        return None
    root = parent.config.rootpath
    if file_path.resolve() in {(root / name).resolve() for name in names}:
        collector: pytest.Collector = GoldenFile.from_parent(parent, path=file_path)
        return collector
    return None


class GoldenFile(pytest.File):
    """A golden set: the target is asked once, when its first case runs."""

    _result: CheckResult | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each case, and one for the verdict over all of them."""
        from goodgain.checks import read_golden

        for case in read_golden(self.path).cases:
            yield GoldenCase.from_parent(self, name=case.id)
        yield GoldenVerdict.from_parent(self, name="verdict")

    def result(self) -> CheckResult:
        """The check, made once."""
        if self._result is None:
            from goodgain.checks import check

            self._result = check(self.path)
        return self._result


class _GoldenItem(pytest.Item):
    parent: GoldenFile

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The sentence, without a traceback of this plug-in."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test is."""
        return self.path, None, f"{self.path.name}: {self.name}"


class GoldenCase(_GoldenItem):
    """One case of a golden set."""

    def runtest(self) -> None:
        """Fail with what the case requires and did not get."""
        result = next(r for r in self.parent.result().cases if r.case.id == self.name)
        if result.failures:
            returned = "\n".join(f"  {rank}. {key}" for rank, key in enumerate(result.keys, 1))
            raise AssertionError(
                f"{result.case.query!r} ({result.case.where}): {'; '.join(result.failures)}\n"
                + (f"returned:\n{returned}" if returned else "returned nothing")
            )


class GoldenVerdict(_GoldenItem):
    """Floors, the gate against the baseline, and latency."""

    def runtest(self) -> None:
        """Fail if the check fails; too little evidence is a skip."""
        result = self.parent.result()
        if result.verdict == "not enough evidence":
            pytest.skip(result.sentence)
        if result.verdict == "fail":
            raise AssertionError(str(result))


@pytest.fixture
def goodgain_gate() -> Callable[..., Gate]:
    """A function of (qrels, baseline, candidate) that fails the test if the gate fails.

    With three arguments the runs are evaluated first; one or two are passed to `goodgain.gate` as they are.
    """

    def check(*sources: Any, measures: Any = None, **options: Any) -> Gate:
        __tracebackhide__ = True
        from goodgain.comparison.gates import gate
        from goodgain.ranking import evaluate

        if len(sources) == 3:
            qrels, baseline, candidate = sources
            measures = measures or "nDCG@10"
            sources = tuple(
                evaluate(qrels, {name: run}, measures)
                for name, run in (("baseline", baseline), ("candidate", candidate))
            )
        result = gate(*sources, measures=measures, **options)
        if not result.passed:
            pytest.fail(f"{result}", pytrace=False)
        return result

    return check
