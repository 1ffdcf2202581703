"""Wall time and peak memory of commands, each in a fresh process.

A child's peak starts at the peak of the process that started it (Linux carries it over `exec`), so
the process that measures imports nothing large and holds no data: what loads data runs in a process
of its own.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ERROR_CHARACTERS = 400


class CommandError(Exception):
    """A measured command ended with a status other than 0."""


@dataclass(frozen=True)
class Timing:
    """Repeated measurements of one thing; `output` is what it printed the last time."""

    seconds: tuple[float, ...]
    peak_mb: float = 0.0
    output: str = ""

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def spawn(argv: Sequence[str]) -> tuple[float, float, str]:
    """Run a command once: seconds, peak megabytes (2**20), standard output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        redirect = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, err.fileno(), 2),
        ]
        start = time.perf_counter()
        pid = os.posix_spawnp(argv[0], list(argv), os.environ, file_actions=redirect)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0)
        output = out.read().decode(errors="replace")
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            err.seek(0)
            message = err.read().decode(errors="replace").strip()
            raise CommandError(f"exit status {code}: {message[-ERROR_CHARACTERS:]}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return seconds, usage.ru_maxrss / unit, output


def command(argv: Sequence[str], repeats: int = 1) -> Timing:
    """Run a command `repeats` times."""
    return rounds({"": argv}, {"": repeats})[""]


def rounds(commands: Mapping[str, Sequence[str]], repeats: Mapping[str, int]) -> dict[str, Timing]:
    """Run several commands in turn, so that a slow moment of the machine meets all of them."""
    samples: dict[str, list[tuple[float, float, str]]] = {name: [] for name in commands}
    for turn in range(max(repeats.values(), default=0)):
        for name, argv in commands.items():
            if turn < repeats[name]:
                samples[name].append(spawn(argv))
    return {
        name: Timing(
            seconds=tuple(seconds for seconds, _, _ in of_one),
            peak_mb=max(peak for _, peak, _ in of_one),
            output=of_one[-1][2],
        )
        for name, of_one in samples.items()
    }


def calls(function: Callable[[], object], repeats: int, per_call: int = 1) -> Timing:
    """Time a function inside this process; one call of it stands for `per_call` operations."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        kept = function()
        seconds.append((time.perf_counter() - start) / per_call)
        del kept
    return Timing(seconds=tuple(seconds))


def worker(module: str, *arguments: object) -> Any:
    """Run `MODULE.py ARGUMENTS` in a fresh process; the JSON that it prints last."""
    path = str(HERE / f"{module}.py")
    _, _, output = spawn([sys.executable, path, *(str(argument) for argument in arguments)])
    return json.loads(output.splitlines()[-1])
