"""Where an experiment is kept: what was run, every call, and what was made of them.

experiment.json  settings, versions, seeds, hash of the data
calls.jsonl      a line for each call (and each indexing), written when it is done
runs/            a TREC run for each system and seed
scores.json      measures per query; comparison.json  the tests; latency.csv  every latency
qrels.jsonl      the judgements; queries.jsonl  the texts; documents.jsonl  beginnings of what was found
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

from goodgain.errors import InputError, UsageError
from goodgain.io.atomic import write_texts

FORMAT = 1
# Settings that must not change when an experiment goes on; measures, baseline and groups may.
FIXED = ("data", "depth", "concurrency", "timeout")


class Folder:
    """A folder on disk, or with no path the same in memory."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.calls: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self._log: IO[bytes] | None = None

    @classmethod
    def existing(cls, path: str | os.PathLike[str]) -> Folder:
        """A folder that an experiment has written."""
        folder = cls(path)
        folder.read()
        if not folder.settings:
            raise InputError(
                f"'{path}' holds no experiment",
                hint="a folder that goodgain experiment has written",
            )
        return folder

    def read(self) -> None:
        """Read settings and calls; a line cut short by a stop is dropped."""
        if self.path is None:
            return
        known = self.path / "experiment.json"
        if known.exists():
            try:
                self.settings = json.loads(known.read_text(encoding="utf-8"))
            except ValueError:
                raise InputError("the file is not JSON", where=str(known)) from None
            if self.settings.get("format", 0) > FORMAT:
                raise InputError(
                    "the experiment was written by a later version of goodgain", where=str(known)
                )
        log = self.path / "calls.jsonl"
        if log.exists():
            content = log.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            for number, line in enumerate(whole.splitlines(), 1):
                try:
                    self.calls.append(json.loads(line))
                except ValueError:
                    raise InputError("the line is not JSON", where=f"{log}:{number}") from None

    def begin(self, settings: dict[str, Any]) -> None:
        """Begin, or go on with the same experiment; another one is refused."""
        self.read()
        if self.settings:
            self._same(settings)
            systems = {**self.settings["systems"], **settings["systems"]}
            settings = {**settings, "systems": systems, "created": self.settings["created"]}
        self.settings = settings
        if self.path is None:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_texts({str(self.path / "experiment.json"): json.dumps(settings, indent=1)})
            log = self.path / "calls.jsonl"
            if log.exists():
                content = log.read_bytes()
                if len(content) > (whole := content.rfind(b"\n") + 1):
                    os.truncate(log, whole)
            self._log = log.open("ab")
        except OSError as error:
            raise InputError(f"cannot write '{self.path}': {error.strerror}") from None

    def _same(self, settings: dict[str, Any]) -> None:
        hint = "give another folder, or delete this one to start again"
        for name in FIXED:
            if self.settings.get(name) != settings[name]:
                what = "other documents or queries" if name == "data" else f"another {name}"
                raise UsageError(
                    f"the folder '{self.path}' holds an experiment with {what}", hint=hint
                )
        for system, own in settings["systems"].items():
            before = self.settings["systems"].get(system, own)
            if before != own:
                changed = [k for k in {**before, **own} if before.get(k) != own.get(k)]
                raise UsageError(
                    f"the system '{system}' of the folder '{self.path}' was run with another "
                    f"'{changed[0]}'",
                    hint=f"{hint}; or give the system another name",
                )

    def add(self, record: dict[str, Any]) -> None:
        """Keep what is done; a kill at any moment loses no line that was added."""
        self.calls.append(record)
        if self._log is not None:
            line = json.dumps(record, separators=(",", ":"))  # ASCII: any id survives
            self._log.write(line.encode() + b"\n")
            self._log.flush()

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
            self._log = None
