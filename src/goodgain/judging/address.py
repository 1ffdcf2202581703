"""Where a page is: the same port and secret after a restart, so that open pages go on by themselves."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodgain.labels.store import digest

if TYPE_CHECKING:
    from goodgain.serving import LocalServer


@dataclass(frozen=True, slots=True)
class Address:
    """Port and secret of the last page over a store; 0 and None for the first one."""

    path: Path
    port: int = 0
    secret: str | None = None

    @classmethod
    def of(cls, store: str, host: str) -> Address:
        """The address that was remembered for a store, in a file that only its owner can read."""
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        name = store if "://" in store else str(Path(store).resolve())
        path = Path(state) / "goodgain" / f"judge-{digest(name, host)[:16]}.json"
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
            port, secret = int(saved["port"]), str(saved["secret"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return cls(path)
        return cls(path, port, secret) if len(secret) >= 32 else cls(path)

    def remember(self, server: LocalServer) -> None:
        """Write the address of a server; where that is impossible, the next one is new."""
        text = json.dumps({"port": server.server_port, "secret": server.secret})
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return
