"""Build the source distribution and wheels, install them apart from the tree, and test what was installed.

    python scripts/release_check.py [--out FOLDER] [--wheels FOLDER] [PYTHON ...]

Every PYTHON gets a new environment with the wheel and pytest, and no extra: what the wheel lacks, or needs
without saying so, fails here. By default all of python3.11 to python3.14 and the free-threaded python3.14t
that can be found. With --wheels, nothing is built: the wheels of that folder are tested.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
# Tests that need neither an extra nor the tree: numbers, files, command line.
TESTS = (
    "tests/cli/test_bad_files.py",
    "tests/cli/test_bad_input.py",
    "tests/native/test_shared_by_threads.py",
    "tests/test_records.py",
)
VENDORED = ("simdjson", "ada", "fast_float")
LINKED = ("nanobind", "robin_map", "instruction_set")
NEEDED = (
    "LICENSE",
    *(f"third_party/{name}/LICENSE" for name in VENDORED),
    *(f"licenses/LICENSE.{name}" for name in LINKED),
)


def run(*command: str | Path, **options: object) -> None:
    """Run a command, shown first; a failure ends the check."""
    print("$", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def pythons() -> list[str]:
    """The interpreters that can be found: on the path, or of pyenv."""
    chosen = []
    for version in VERSIONS:
        path = shutil.which(f"python{version}")
        works = (
            path
            and subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode == 0
        )
        number, threads = version.rstrip("t"), "t" if version.endswith("t") else "[0-9]"
        folders = sorted(
            (Path.home() / ".pyenv" / "versions").glob(f"{number}.*{threads}/bin/python")
        )
        if path and works:
            chosen.append(path)
        elif folders:
            chosen.append(str(folders[-1]))
    return chosen


def check_sdist(path: Path) -> None:
    """The source distribution has what a build needs, and no data of benchmarks."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (*NEEDED, "CMakeLists.txt", "third_party/vendored.toml", "src/core/module.cpp"):
        assert needed in names, f"{needed} is missing from {path.name}"


def check_wheel(path: Path) -> None:
    """The wheel has one compiled module, its types and every licence, and nothing beside the package."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    stray = [name for name in names if not re.match(r"goodgain(-[\w.]+\.dist-info)?/", name)]
    stray += [name for name in names if name.endswith((".cpp", ".hpp", ".o", ".a", ".pyc"))]
    assert not stray, f"{path.name} also has {', '.join(stray[:5])}"
    assert sum(name.endswith((".so", ".pyd")) for name in names) == 1, names
    assert "goodgain/py.typed" in names
    for needed in NEEDED:
        assert any(name.endswith(f"dist-info/licenses/{needed}") for name in names), needed


def tag_of(python: str) -> str:
    """The tag of the wheel for an interpreter: the stable ABI serves all from 3.12 on that have a GIL."""
    code = (
        "import sys, sysconfig as s; print(*sys.version_info[:2], sep='', end='')\n"
        "print('t' if s.get_config_var('Py_GIL_DISABLED') else '')"
    )
    version = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    return f"cp{version}" if version == "311" or version.endswith("t") else "cp312"


def test_wheel(python: str, wheels: Path, folder: Path) -> None:
    """Install the wheel that fits into a new environment, and test it there."""
    run(python, "-m", "venv", folder / "venv")
    own = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = (own, "-m", "pip", "install", "--quiet", "--find-links", wheels)
    run(*install, "--no-index", "--no-deps", "goodgain")
    run(*install, "goodgain", "pytest", "hypothesis")
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    where = "import goodgain, sys; sys.exit('site-packages' not in goodgain.__file__)"
    run(own, "-I", "-c", where, cwd=folder, env=environment)
    run(own, "-m", "goodgain", "--version", cwd=folder, env=environment)
    run(own, "-m", "goodgain", "selftest", "-m", "AP nDCG@10 RR", cwd=folder, env=environment)
    run(own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, cwd=folder, env=environment)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", nargs="*")
    parser.add_argument("--out", default=str(ROOT / "dist"))
    parser.add_argument("--wheels", metavar="FOLDER", help="test these wheels, and build none")
    args = parser.parse_args()
    out = Path(args.wheels or args.out)
    chosen = args.python or pythons()
    if not chosen:
        sys.exit("release_check: no Python found; pass the path of one")
    run(sys.executable, ROOT / "scripts" / "vendor.py", "check")
    wheels: set[Path] = set()
    if args.wheels:
        wheels = set(out.glob("goodgain-*.whl"))
        for wheel in wheels:
            check_wheel(wheel)
    else:
        run(sys.executable, "-m", "build", "--sdist", "--outdir", out, ROOT)
        sdist = max(out.glob("goodgain-*.tar.gz"), key=lambda path: path.stat().st_mtime)
        check_sdist(sdist)
    built: set[str] = set()
    for python in chosen:
        tag = tag_of(python)
        with tempfile.TemporaryDirectory(prefix="goodgain-release-") as folder:
            if tag not in built and not args.wheels:
                run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, sdist)
                built.add(tag)
                wheel = max(out.glob(f"goodgain-*-{tag}-*.whl"), key=lambda p: p.stat().st_mtime)
                check_wheel(wheel)
                wheels.add(wheel)
            test_wheel(python, out, Path(folder))
    print(f"release check passed: {len(wheels)} wheels on {len(chosen)} Pythons")
    return 0


if __name__ == "__main__":
    sys.exit(main())
