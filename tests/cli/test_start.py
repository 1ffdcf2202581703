"""A command imports only what it needs: most of the time of a short one is spent on imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

# Modules that cost time to import and that a plain evaluation has no use for.
NOT_NEEDED = {
    "asyncio",
    "bz2",
    "copy",
    "csv",
    "dataclasses",
    "decimal",
    "difflib",
    "email",
    "html",
    "importlib.metadata",
    "inspect",
    "json",
    "lzma",
    "numpy",
    "pathlib",
    "pyarrow",
    "random",
    "shutil",
    "sqlite3",
    "subprocess",
    "tempfile",
    "typing",
    "unicodedata",
    "urllib",
    "goodgain.agentic",
    "goodgain.comparison",
    "goodgain.engines.spark",
    "goodgain.io.atomic",
    "goodgain.labels",
    "goodgain.reports",
    "goodgain.traces",
}


def modules_after(code, *arguments, folder):
    """The modules that are loaded after the code has run."""
    code = f"import sys\n{code}\nprint('\\n' + repr(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    return set(json.loads(done.stderr.splitlines()[-1].replace("'", '"')))


@pytest.mark.parametrize("command", ["evaluate", "trec-eval"])
def test_a_plain_evaluation_imports_little(command, folder):
    code = "from goodgain.__main__ import main; main()"
    loaded = modules_after(code, command, "qrels.txt", "run.txt", folder=folder)
    loaded -= modules_after("pass", folder=folder)
    allowed = {"copy", "dataclasses", "inspect"} if sys.version_info >= (3, 14) else set()
    assert (loaded & NOT_NEEDED) - allowed == set()  # argparse itself imports these from 3.14 on
