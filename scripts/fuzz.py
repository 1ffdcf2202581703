"""Fuzz every reader, guided by coverage: python scripts/fuzz.py [--seconds N | --hours N] [TARGET ...].

Targets of the core (tests/native/fuzz) run under libFuzzer: with sanitizers, and with comparisons traced, so
that inputs are found that a condition asks for; and without either, many times as fast, from the same corpus.
Those of the Python readers (tests/fuzz/targets.py) run under Atheris. Inputs that reach new code are kept in
build/corpus, those that fail in build/crashes. With --hours, rounds over all targets are logged in
tests/native/soak.tsv: what was run, not what was hoped.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOG = ROOT / "tests" / "native" / "soak.tsv"
COLUMNS = ("date", "commit", "target", "build", "seconds", "executions", "outcome")
SANITIZERS = {"checked": "address,undefined,fuzzer-no-link", "fast": "fuzzer-no-link"}
TRACED = {"checked": "", "fast": "-fno-sanitize-coverage=trace-cmp,indirect-calls,stack-depth"}
LONGEST = {
    "numbers": 48,
    "urls": 300,
    "patterns": 300,
    "traces": 2000,
    "arrow": 1000,
    "results": 1500,
    "parquet": 1500,
}


class Run(NamedTuple):
    """One run of a target."""

    target: str
    build: str
    seconds: int
    executions: int
    outcome: str


def clang() -> str:
    """The C++ compiler that libFuzzer is part of."""
    for name in ("clang++", "clang++-19", "clang++-18", "clang++-16", "clang++-14"):
        if shutil.which(name):
            return name
    sys.exit("coverage-guided fuzzing of the core needs clang")


def build(kind: str) -> Path:
    """Build the fuzzers of the core, with these sanitizers; the folder of the programs."""
    folder = BUILD / f"fuzz-{kind}"
    subprocess.run(
        ["cmake", "-S", ROOT, "-B", folder, "-DGOODGAIN_PYTHON=OFF", "-DGOODGAIN_TESTS=ON",
         f"-DGOODGAIN_SANITIZE={SANITIZERS[kind]}", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
         "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG",
         f"-DCMAKE_CXX_FLAGS={TRACED[kind]}", f"-DCMAKE_CXX_COMPILER={clang()}",
         f"-DPython_EXECUTABLE={sys.executable}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run(
        ["cmake", "--build", folder, "--parallel", "2", "--target", "core_fuzz"], check=True
    )
    return folder


def native_targets() -> list[str]:
    """The names of the targets of the core, from their table."""
    header = (ROOT / "tests" / "native" / "fuzz" / "targets.hpp").read_text()
    return re.findall(r"^void (\w+)\(Bytes", header, re.MULTILINE)


def python_targets() -> list[str]:
    """The names of the targets of the Python readers."""
    sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
    import targets

    return list(targets.TARGETS)


def flags(target: str, seconds: int) -> list[str]:
    """What libFuzzer and Atheris are told alike."""
    crashes = BUILD / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    return [
        f"-max_total_time={seconds}", f"-max_len={LONGEST.get(target, 600)}", "-timeout=20",
        "-rss_limit_mb=1500", "-print_final_stats=1", "-verbosity=1", "-print_funcs=0",
        f"-artifact_prefix={crashes}/{target}-",
    ]  # fmt: skip


def run_target(command: list[str], target: str, kind: str, seconds: int, seeds: list[Path]) -> Run:
    """Run one target; its corpus grows in build/corpus."""
    corpus = BUILD / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    command = [*command, *flags(target, seconds), str(corpus), *map(str, seeds)]
    started = time.monotonic()
    # Memory that is freed stays with the process: fetching it again would take longer than most inputs.
    environment = {
        **os.environ,
        "MALLOC_TRIM_THRESHOLD_": "100000000",
        "MALLOC_MMAP_THRESHOLD_": "100000000",
    }
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace", check=False
    )  # fmt: skip
    said = ended.stdout + ended.stderr
    counted = re.findall(r"stat::number_of_executed_units:\s*(\d+)|^#(\d+)\s", said, re.MULTILINE)
    executions = max((int(a or b) for a, b in counted), default=0)
    outcome = "nothing"
    if ended.returncode:
        crash = re.search(r"Test unit written to (\S+)", said)
        outcome = Path(crash[1]).name if crash else f"status {ended.returncode}"
        print(said[-6000:], file=sys.stderr)
    return Run(target, kind, round(time.monotonic() - started), executions, outcome)


def run_native(folder: Path, target: str, kind: str, seconds: int) -> Run:
    """Run a target of the core."""
    program = folder / f"fuzz_{target}"
    # The schedule by entropy takes more than half of the time once a corpus has hundreds of inputs.
    command = [str(program), "-entropic=0"]
    return run_target(
        command, target, kind, seconds, [ROOT / "tests" / "native" / "corpus" / target]
    )


def run_python(target: str, seconds: int) -> Run:
    """Run a target of the Python readers."""
    folder = ROOT / "tests" / "fuzz"
    command = [sys.executable, str(folder / "run.py"), target]
    return run_target(command, target, "python", seconds, [folder / "corpus" / target])


def commit() -> str:
    """The commit that is tested; with + if files differ from it."""
    describe = ["git", "describe", "--always", "--abbrev=10", "--dirty=+", "--exclude=*"]
    return subprocess.run(
        describe, cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()


def log(run: Run) -> None:
    """Append a run to the log."""
    if not LOG.exists():
        LOG.write_text("\t".join(COLUMNS) + "\n")
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
    row = (now, commit(), run.target, run.build, run.seconds, run.executions, run.outcome)
    with LOG.open("a") as file:
        file.write("\t".join(map(str, row)) + "\n")


def main() -> int:
    """Fuzz; the status is 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="targets (default: all)")
    parser.add_argument("--seconds", type=int, default=60, help="of each run (default: 60)")
    parser.add_argument("--hours", type=float, default=0, help="go on for so long, and log")
    parser.add_argument("--builds", nargs="+", choices=[*SANITIZERS, "python"], default=[])
    options = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # CMake
    builds = options.builds or (
        ["checked", "fast", "python"] if options.hours else ["checked", "python"]
    )
    wanted = set(options.targets)
    native = [t for t in native_targets() if not wanted or t in wanted]
    python = [t for t in python_targets() if not wanted or t in wanted]
    if unknown := wanted - {*native, *python}:
        parser.error(f"unknown target {', '.join(sorted(unknown))}")
    programs = {kind: build(kind) for kind in builds if kind in SANITIZERS and native}
    end = time.monotonic() + options.hours * 3600
    findings = 0
    while True:
        runs = [(t, kind) for kind in programs for t in native]
        runs += [(t, "python") for t in python if "python" in builds]
        for target, kind in runs:
            if options.hours and time.monotonic() > end:
                return int(findings > 0)
            run = (
                run_python(target, options.seconds)
                if kind == "python"
                else run_native(programs[kind], target, kind, options.seconds)
            )
            findings += run.outcome != "nothing"
            print(
                f"{target:10} {kind:8} {run.executions:>11,} executions in {run.seconds:4} s: {run.outcome}",
                flush=True,
            )
            if options.hours:
                log(run)
        if not options.hours:
            return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
