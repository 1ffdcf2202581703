"""Write docs/peers.md: python scripts/peers.py [--probe] [--check].

Speed comes from benchmarks/results.json, which `make bench` writes. Features come from benchmarks/peers.json,
which `--probe` writes by running the peers. `--check` fails if the page does not follow from the two files.
`make bench` measures, probes, and writes the page.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "peers.md"
PROBED = ROOT / "benchmarks" / "peers.json"
MEASURED = ROOT / "benchmarks" / "results.json"
SPEED = ("files", "dicts", "small", "startup")  # the sections of the benchmarks in which peers run

TEMPLATE = Path(__file__).with_name("peers_template.md")


def probe() -> dict[str, Any]:
    """Run the peers; the date and their versions belong to the answers."""
    import peer_probes

    peers = {tool: name for tool, name in peer_probes.TOOLS.items() if tool != "goodgain"}
    versions = {tool: importlib.metadata.version(name) for tool, name in peers.items()}
    return {
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
        "pandas": importlib.metadata.version("pandas"),
        "versions": {"goodgain": peer_probes.gg.__version__, **versions},
        "answers": peer_probes.answers(),
    }


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    """A table of Markdown."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [
        f"| {' | '.join(columns)} |",
        "| --- |" + " ---: |" * (len(columns) - 1),
        *(f"| {' | '.join(row)} |" for row in escaped),
    ]


def features(probed: dict[str, Any]) -> list[str]:
    """The answers of the peers."""
    versions = probed["versions"]
    names = [f"{tool} {number}" for tool, number in versions.items()]
    rows = [
        [question, *(row[tool] for tool in versions)] for question, row in probed["answers"].items()
    ]
    note = (
        f"Probed on {probed['date']}, with pandas {probed['pandas']}. A number is what the tool "
        "returned; *error* is the exception that it raised; *no* means that it has no such function."
    )
    return ["## Features", "", note, "", *table(["", *names], rows), ""]


def speed(measured: dict[str, Any]) -> list[str]:
    """The sections of the benchmarks in which peers run."""
    lines = ["## Speed", ""]
    for name in SPEED:
        section = measured["sections"].get(name, {})
        if section.get("columns", ["result"]) == ["result"]:  # what benchmarks/run.py says then
            raise SystemExit(f"{name} was not measured: python benchmarks/run.py --only {name}")
        date = datetime.fromtimestamp(section["run"], tz=UTC)
        lines += [f"### {section['title']}", "", section["text"], ""]
        lines += [*table(section["columns"], section["rows"]), ""]
        lines += [f"- {note}" for note in section["notes"]]
        lines += [
            f"- Measured on {date:%Y-%m-%d}: {section['versions']}; {section['machine']}.",
            "",
        ]
    return lines


def page() -> str:
    """The whole page."""
    probed = json.loads(PROBED.read_text(encoding="utf-8"))
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.format(
        features="\n".join(features(probed)),
        speed="\n".join(speed(measured)),
        version=probed["versions"]["goodgain"],
    )


def main() -> int:
    """Probe, write the page, or check it."""
    if "--probe" in sys.argv[1:]:
        text = json.dumps(probe(), indent=1, ensure_ascii=False)
        PROBED.write_text(f"{text}\n", encoding="utf-8")
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page() else 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
