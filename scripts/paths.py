"""Follow the tutorials as a new user would: python scripts/paths.py [--wheel FILE] [PAGE ...].

Builds the package (or takes a wheel), and runs every block of each page in a new folder with a new virtual
environment, in which `pip install goodgain` installs that wheel. Nothing of the environment that runs this is
used; only Python, git, curl and what `make` needs on the contributor's page must be there. Pages that clone
the repository get this one, as committed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"


def build(folder: Path) -> Path:
    """The wheel of this tree, in a folder."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "-w", str(folder), str(ROOT)], check=True)
    return next(folder.glob("goodgain-*.whl"))


def follow(page: Path, wheel: Path, folder: Path) -> bool:
    """Whether all blocks of a page run, with the output that it shows, in a new environment."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    constraint = folder / "constraints.txt"  # no other release of an index
    constraint.write_text(f"goodgain=={wheel.name.split('-')[1]}\n", encoding="utf-8")
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings |= {"PIP_CONSTRAINT": str(constraint), "PIP_FIND_LINKS": str(wheel.resolve().parent)}
    settings |= {"PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [environment / "bin/python", ROOT / "scripts/examples.py", "--check", "--fresh", page],
        env=settings,
        check=False,
    )
    return done.returncode == 0


def main() -> int:
    """Follow all tutorials, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--wheel", type=Path)
    options = parser.parse_args()
    pages = [page.resolve() for page in options.pages] or sorted(TUTORIALS.glob("*.md"))
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        wheel = options.wheel or build(Path(temporary))
        for page in pages:
            if page.name == "index.md":
                continue
            folder = Path(temporary) / page.stem
            folder.mkdir()
            start = time.monotonic()
            passed = follow(page, wheel, folder)
            failures += not passed
            words = "as written" if passed else "FAILED"
            print(f"{page.name}: {words}, {time.monotonic() - start:.0f} s", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
