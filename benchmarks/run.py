"""Measure, and write RESULTS.md: python benchmarks/run.py [--only NAME ...] [--quick] [--list].

A subject is any module of this folder that has a `SUBJECT`. Sections that were not measured again
are kept from results.json. Exit status 1 where tools disagree on a number or a subject could not be
measured, and 0 otherwise, whatever the bars say.
"""

import argparse
import dataclasses
import importlib
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import peers
import table
from measure import HERE, CommandError
from subject import Context, Section, Subject

SAVED = "results.json"
PAGE = "RESULTS.md"
FORMAT = 1


def main() -> int:
    subjects = {subject.name: subject for subject in discover()}
    options = _arguments(list(subjects))
    if options.list:
        print("\n".join(f"{name}: {subject.title}" for name, subject in subjects.items()))
        return 0
    folder = HERE / ".data" / "quick" if options.quick else HERE
    folder.mkdir(parents=True, exist_ok=True)
    context, started = Context(quick=options.quick), int(time.time())
    facts = {"machine": machine(), "versions": peers.versions(), "run": started}
    saved = load(folder / SAVED)
    saved["sections"] = {n: s for n, s in saved["sections"].items() if n in subjects}
    problems = 0
    for name in options.only or subjects:
        print(f"== {name}", file=sys.stderr, flush=True)
        section = measured(subjects[name], context)
        saved["sections"][name] = entry(subjects[name], section) | facts
        problems += len(section.problems)
        write(folder / SAVED, json.dumps(saved, indent=1) + "\n")
        write(folder / PAGE, table.page(saved))
    print(table.page(saved))
    return 1 if problems else 0


def discover() -> list[Subject]:
    """The subjects of this folder, in the order of the page."""
    names = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")
    modules = [importlib.import_module(name) for name in names]
    found = [module.SUBJECT for module in modules if hasattr(module, "SUBJECT")]
    return sorted(found, key=lambda subject: subject.order)


def measured(subject: Subject, context: Context) -> Section:
    """What the subject found, or why it could not be measured."""
    try:
        return subject.run(context)
    except CommandError as error:
        return Section(
            columns=["result"], rows=[["not measured"]], problems=[f"{subject.name}: {error}"]
        )


def machine() -> str:
    """Cores, memory, processor family, how busy; nothing that names the machine."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = " ".join(line.partition(":")[2].split())
                break
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory:.0f} GB, {model}; load {load:.1f} when it began"


def entry(subject: Subject, section: Section) -> dict[str, Any]:
    return {
        "name": subject.name,
        "title": subject.title,
        "order": subject.order,
        **dataclasses.asdict(section),
    }


def load(path: Path) -> dict[str, Any]:
    """What an earlier run saved, or nothing where there is none of this format."""
    try:
        saved: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        saved = {}
    return saved if saved.get("format") == FORMAT else {"format": FORMAT, "sections": {}}


def write(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text)
    partial.replace(path)


def _arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure goodgain and its peers.")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="an eighth of the data, fewer repeats")
    parser.add_argument("--list", action="store_true", help="the subjects")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
