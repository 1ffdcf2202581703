"""The executor processes of a Spark application on this machine, by /proc, and a thread that kills one."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

_BACKEND = b"CoarseGrainedExecutorBackend"


def executors_of(application: str) -> list[int]:
    """The processes of an application's executors."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            if _BACKEND in command and application.encode() in command:
                pids.append(int(folder.name))
    return pids


def executor_of(worker: int) -> int:
    """The executor process that is the parent of a Python worker."""
    pid = worker
    while pid > 1:
        if _BACKEND in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    raise AssertionError(f"process {worker} belongs to no executor")


class Killer:
    """Kills executors of a session while they run tasks."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._calls = 0
        self.killed: list[int] = []

    def strike(self) -> None:
        """Every fourth time, kill one as soon as a task runs, if one does within two seconds."""
        self._calls += 1
        if self._calls % 4 == 1:
            threading.Thread(target=self._strike, daemon=True).start()

    def _strike(self) -> None:
        tracker = self._context.statusTracker()
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None and info.numActiveTasks:
                    for pid in executors_of(self._context.applicationId)[:1]:
                        os.kill(pid, signal.SIGKILL)
                        self.killed.append(pid)
                        return
            time.sleep(0.005)
