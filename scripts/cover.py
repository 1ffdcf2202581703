"""Measure the tests' coverage of Python and C++ code: python scripts/cover.py [PYTEST ARGUMENTS].

Builds the core with gcov counters, runs its native tests and the Python tests against that build, and prints
line and branch coverage of both languages. Reports by file are left in build/coverage.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
PACKAGES = BUILD / "python"  # a copy of the package beside the instrumented core
COVERAGE = [sys.executable, "-m", "coverage"]
DATA = str(BUILD / "data")
FLAGS = "--coverage -O0 -fprofile-update=atomic"  # the core runs on several threads


def run(*command: object, check: bool = True, **environment: str) -> int:
    """Run a command in the project's folder; stop if it fails, unless `check` is off."""
    words = [str(word) for word in command]
    environment = {**os.environ, **environment}
    return subprocess.run(words, cwd=ROOT, env=environment, check=check).returncode


def build() -> None:
    """Build the core, its tests and the Python module with counters, and reset old counters."""
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"],
        capture_output=True,
        text=True,
        check=True,
    )
    run(
        sys.executable, "-m", "cmake", "-S", ROOT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Debug",
        f"-DCMAKE_CXX_FLAGS={FLAGS}", f"-Dnanobind_DIR={nanobind.stdout.strip()}",
        f"-DPython_EXECUTABLE={sys.executable}", "-DGOODGAIN_TESTS=ON",
    )  # fmt: skip
    run(sys.executable, "-m", "cmake", "--build", BUILD, "--parallel", "2",
        "--target", "core_tests", "_core")  # fmt: skip
    for counters in BUILD.rglob("*.gcda"):
        counters.unlink()
    shutil.rmtree(PACKAGES, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "goodgain", PACKAGES / "goodgain", ignore=ignored)
    for module in BUILD.glob("_core*.so"):
        shutil.copy(module, PACKAGES / "goodgain")


def run_tests(arguments: list[str]) -> int:
    """Run the core's tests, then the Python tests under coverage.py; the exit status of the latter."""
    run(BUILD / "core_tests")
    for old in BUILD.glob("data*"):
        old.unlink()
    path = os.pathsep.join([str(PACKAGES), str(ROOT / "tests" / "native")])
    command = [*COVERAGE, "run", "-m", "pytest", "-p", "gcov_plugin", *arguments]
    return run(*command, check=False, COVERAGE_FILE=DATA, PYTHONPATH=path, PYTHONHASHSEED="0")


def python_coverage() -> tuple[float, float]:
    """Line and branch coverage of the package, in percent."""
    run(*COVERAGE, "combine", "--quiet", COVERAGE_FILE=DATA)
    run(*COVERAGE, "html", "--quiet", "-d", BUILD / "python-html", COVERAGE_FILE=DATA)
    run(*COVERAGE, "json", "--quiet", "-o", BUILD / "python.json", COVERAGE_FILE=DATA)
    totals = json.loads((BUILD / "python.json").read_text())["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    return lines, 100 * totals["covered_branches"] / totals["num_branches"]


def core_coverage() -> tuple[float, float]:
    """Line and branch coverage of the core, in percent."""
    html = BUILD / "core-html"
    html.mkdir(exist_ok=True)
    run(
        sys.executable, "-m", "gcovr", "--root", ROOT, "--object-directory", BUILD,
        "--filter", "src/core/", "--exclude-throw-branches", "--exclude-unreachable-branches",
        "--json-summary", BUILD / "core.json", "--html-details", html / "index.html",
        BUILD / "CMakeFiles" / "goodgain_core.dir", BUILD / "CMakeFiles" / "_core.dir",
    )  # fmt: skip
    totals = json.loads((BUILD / "core.json").read_text())
    return totals["line_percent"], totals["branch_percent"]


def percent(value: float) -> str:
    """One decimal, rounded down: nothing short of everything is printed as 100 %."""
    return f"{math.floor(value * 10) / 10:5.1f} %"


def main() -> int:
    """Build, run, print; failed tests are counted like others and show in the exit status."""
    build()
    status = run_tests(sys.argv[1:])
    figures = {"Python": python_coverage(), "C++": core_coverage()}
    print("\n          lines  branches")
    for language, (lines, branches) in figures.items():
        print(f"{language:7} {percent(lines)}   {percent(branches)}")
    print(f"\nby file: {BUILD / 'python-html'}/index.html, {BUILD / 'core-html'}/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
