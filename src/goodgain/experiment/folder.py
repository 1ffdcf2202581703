"""The folder of an experiment.

experiment.json  settings, versions, seeds, hash of the data
calls.jsonl      one line per call (and per index), written when it finishes
runs/            a TREC run for each system and seed
stages/          chunks, embeddings and indexes by content; stages.json  how many were reused
scores.json      measures per query; comparison.json  the tests; latency.csv  every latency
qrels.jsonl      the judgments; queries.jsonl  texts of queries; documents.jsonl  beginnings of documents
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from goodgain.errors import InputError, UsageError
from goodgain.experiment.locking import FolderLock
from goodgain.experiment.stages import StageCounts
from goodgain.io.atomic import write_texts

FORMAT = 2
# Settings that must stay the same when an experiment continues. Systems may change: calls are kept under the
# address of their system. Measures, baseline and groups may change, too.
FIXED = ("data", "concurrency", "timeout")


class Folder:
    """A folder on disk or, without a path, in memory."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.calls: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self.stages = StageCounts()  # of the last run
        self._log: IO[bytes] | None = None
        self._lock: FolderLock | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Folder:
        """The folder of an experiment that was run."""
        folder = cls(path)
        folder.read()
        if not folder.settings:
            raise InputError(
                f"'{path}' is not the folder of an experiment",
                hint="goodgain experiment FILE.toml writes one",
            )
        return folder

    def read(self) -> None:
        """Read settings and calls; an incomplete last line is dropped."""
        if self.path is None:
            return
        file = self.path / "experiment.json"
        if file.exists():
            try:
                self.settings = json.loads(file.read_text(encoding="utf-8"))
            except (ValueError, RecursionError):
                raise InputError("invalid JSON", where=str(file)) from None
            if self.settings.get("format", 0) > FORMAT:
                raise InputError(
                    "the experiment was written by a later version of goodgain", where=str(file)
                )
            if "judgements" in self.settings:  # version 0.1
                self.settings["judgments"] = self.settings.pop("judgements")
        stages = self.path / "stages.json"
        if stages.exists():
            self.stages = StageCounts(**json.loads(stages.read_text(encoding="utf-8")))
        log = self.path / "calls.jsonl"
        if log.exists():
            content = log.read_bytes()
            complete = content[: content.rfind(b"\n") + 1]
            for number, line in enumerate(complete.splitlines(), 1):
                try:
                    self.calls.append(json.loads(line))
                except (ValueError, RecursionError):
                    raise InputError("invalid JSON", where=f"{log}:{number}") from None

    def begin(self, settings: dict[str, Any]) -> None:
        """Begin the experiment or continue it; a different one is refused, and so is a second process."""
        if self.path is not None:
            self._lock_folder(self.path)
        self.read()
        if self.settings:
            self._require_same(settings)
            systems = {**self.settings["systems"], **settings["systems"]}
            settings = {**settings, "systems": systems, "created": self.settings["created"]}
        self.settings = settings
        if self.path is None:
            return
        try:
            write_texts({str(self.path / "experiment.json"): json.dumps(settings, indent=1)})
            log = self.path / "calls.jsonl"
            if log.exists():
                content = log.read_bytes()
                if len(content) > (complete := content.rfind(b"\n") + 1):
                    os.truncate(log, complete)
            self._log = log.open("ab")
        except OSError as error:
            raise InputError(f"cannot write '{self.path}': {error.strerror}") from None

    def _lock_folder(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(path)
            self._lock.acquire()
        except OSError as error:
            raise InputError(f"cannot write '{path}': {error.strerror}") from None

    def _require_same(self, settings: dict[str, Any]) -> None:
        hint = "use another folder, or delete this one to start over"
        if self.settings.get("format", 0) < FORMAT:
            raise UsageError(
                f"the folder '{self.path}' was written by an earlier version of goodgain", hint=hint
            )
        for name in FIXED:
            if self.settings.get(name) != settings[name]:
                what = "different documents or queries" if name == "data" else f"a different {name}"
                raise UsageError(
                    f"the folder '{self.path}' contains an experiment with {what}", hint=hint
                )

    def current_calls(self) -> list[dict[str, Any]]:
        """The calls that count: of the systems as they are now, each the last time it was made.

        Calls of a system that was edited since, of a seed that is no longer used, or that failed and were
        made again stay in the log.
        """
        systems = self.settings["systems"]
        last: dict[tuple[Any, ...], dict[str, Any]] = {}
        for call in self.calls:
            system = systems.get(call.get("system"))
            if "query" not in call or system is None:
                continue
            seeds = system.get("seeds")
            if call.get("address") == system.get("address") and (
                seeds is None or call["seed"] in seeds
            ):
                last[call["system"], call["seed"], call["query"], call["repeat"]] = call
        return list(last.values())

    def index_of(self, system: str) -> dict[str, Any]:
        """What is known of a system's index: seconds and bytes, or its error; empty if there is none."""
        address = self.settings["systems"][system].get("address")
        records = (
            c for c in self.calls if c.get("index") == system and c.get("address") == address
        )
        return next(reversed(list(records)), {})

    def first_call_of(self, system: str) -> float | None:
        """The seconds of the first call of a system in its last session, before anything was warm."""
        address = self.settings["systems"][system].get("address")
        records = (
            c for c in self.calls if c.get("warmup") == system and c.get("address") == address
        )
        last = next(reversed(list(records)), None)
        return None if last is None else last["seconds"]

    def add(self, record: dict[str, Any]) -> None:
        """Append a record; once this returns, killing the process does not lose it."""
        self.calls.append(record)
        if self._log is not None:
            line = json.dumps(record, separators=(",", ":"))  # ASCII, so that any id survives
            self._log.write(line.encode() + b"\n")
            self._log.flush()

    def set_stages(self, counts: StageCounts) -> None:
        """Record how many stages this run used and reused."""
        self.stages = counts
        if self.path is not None:
            write_texts({str(self.path / "stages.json"): json.dumps(asdict(counts))})

    def close(self) -> None:
        """Close the log, and let other processes use the folder."""
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
