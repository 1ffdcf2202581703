r"""Read files of strangers in a process of their own.

>>> from pathlib import Path
>>> import goodgain as gg
>>> from goodgain.ranking import sandbox
>>> _ = Path("qrels.csv").write_text("query,doc,gain\nq1,a,1\n")
>>> _ = Path("submitted.csv").write_text("query,doc,score\nq1,a,0.5\n")
>>> sandbox.evaluate("qrels.csv", "submitted.csv", "AP", limits=gg.Limits(seconds=60))["AP"]
1.0

The child has resource limits that it cannot raise: memory, processor time, open files, and the size of
files that it writes (the temporary copies of decompressed inputs, too). It is killed when its time is over.
It gets the names of the files only, and its answer is JSON, which is read as a saved result is: nothing that
the child says is executed. What is not limited: it runs as the same user, so it can read what you can read,
and use the network. Against that, start it in a container, or as a user without rights.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.io.limits import LimitError, Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.ranking.result import Evaluation

_USUAL = Limits(bytes="10GB", seconds=60, memory="4GB")
_MOST_ANSWER = 1 << 28  # bytes of a result


def evaluate(
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    measures: str | Iterable[str] = "nDCG@10",
    *,
    limits: Limits = _USUAL,
) -> Evaluation:
    """Measure a run file in a child process with limits; raises what reading it would raise."""
    if os.name != "posix":
        raise UsageError("a sandbox needs a POSIX system", hint="use Limits, or a container")
    from goodgain.ranking.result import Evaluation

    names = [measures] if isinstance(measures, str) else list(measures)
    for path in (qrels, run):
        if os.fspath(path) == "-":
            raise UsageError("a sandbox reads files, not standard input", hint="name a file")
    command = [
        "evaluate",
        os.fspath(qrels),
        os.fspath(run),
        "--save",
        "/dev/stdout",
        "-o",
        os.devnull,
    ]
    command += [word for name in names for word in ("-m", name)]
    return Evaluation.from_dict(_answer(command, limits))


def _answer(command: list[str], limits: Limits) -> dict[str, Any]:
    """What the command saves, as JSON."""
    import tempfile

    from goodgain.io.files import parse_json

    seconds = float(limits.seconds) if limits.seconds is not None else None
    text = ",".join(
        f"{name}={value}"
        for name in ("bytes", "rows", "nesting")
        if (value := getattr(limits, name)) is not None
    )
    options = ["--limits", text] if text else []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        saved = Path(folder, "saved.json")
        try:
            child = subprocess.run(
                [sys.executable, "-I", "-c", _START, *command, *options, "--save", str(saved)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=_environment(limits),
                timeout=seconds,
                close_fds=True,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LimitError(
                f"stopped after {seconds:g} seconds", hint="the limit is on time"
            ) from None
        errors.seek(0)
        said = errors.read(10_000).decode("utf-8", "replace")
        if child.returncode == 2:
            message, _, hint = said.removeprefix("goodgain: ").partition("\nhint: ")
            raise InputError(message.strip()[:500], hint=hint.strip().split("\n")[0][:300])
        if child.returncode != 0:
            raise LimitError(
                f"the reader process ended with status {child.returncode}",
                hint=(
                    said.strip().split("\n")[-1][:300] or "a limit on memory or time was reached"
                ),
            )
        if saved.stat().st_size > _MOST_ANSWER:
            raise LimitError("the result is larger than 256 MB", hint="measure fewer queries")
        data: dict[str, Any] = parse_json(saved.read_bytes(), "the reader process")
        return data


def _environment(limits: Limits) -> dict[str, str]:
    """As little as Python needs, and the limits of the system."""
    passed = {k: os.environ[k] for k in ("PATH", "TMPDIR", "LANG", "LC_ALL") if k in os.environ}
    facts = {
        "GOODGAIN_SANDBOX_PATH": os.pathsep.join(path for path in sys.path if path),
        "GOODGAIN_SANDBOX_MEMORY": str(limits.memory or 0),
        "GOODGAIN_SANDBOX_BYTES": str(limits.bytes or 0),
        "GOODGAIN_SANDBOX_SECONDS": str(
            int(float(limits.seconds or 0)) + 1 if limits.seconds else 0
        ),
    }
    return {**passed, **facts, "PYTHONDONTWRITEBYTECODE": "1"}


_START = """
import os, resource, sys
def limit(name, value):
    if value:
        hard = resource.getrlimit(name)[1]
        value = value if hard < 0 else min(value, hard)
        resource.setrlimit(name, (value, value))
get = os.environ.__getitem__
sys.path[:] = get("GOODGAIN_SANDBOX_PATH").split(os.pathsep)
from goodgain.cli import run
import goodgain._core
limit(resource.RLIMIT_AS, int(get("GOODGAIN_SANDBOX_MEMORY")))
limit(resource.RLIMIT_CPU, int(get("GOODGAIN_SANDBOX_SECONDS")))
limit(resource.RLIMIT_FSIZE, int(get("GOODGAIN_SANDBOX_BYTES")))
limit(resource.RLIMIT_CORE, 1)
limit(resource.RLIMIT_NOFILE, 64)
sys.exit(run(sys.argv[1:]))
"""
