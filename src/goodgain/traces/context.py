"""What the readers of a file share: the user's options, the ledger, and notes for afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goodgain.traces.ledger import Ledger
from goodgain.traces.searching import SearchRules

if TYPE_CHECKING:
    from goodgain.errors import GoodgainError


@dataclass(slots=True, kw_only=True)
class Context:
    """What the readers of a file share."""

    name: str
    rules: SearchRules = field(default_factory=SearchRules.load)
    ledger: Ledger = field(default_factory=Ledger)
    merge_adjacent: bool = False
    skip_bad: bool = False
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def skip(self, problem: GoodgainError) -> None:
        """Leave out what has this problem if the user wants that; otherwise raise it."""
        if not self.skip_bad:
            raise problem from None
        self.skipped += 1
        self.ledger.meet("conversation")
        self.ledger.enter(
            "conversation",
            "unusable",
            problem.message.split("'")[0].strip(),
            where=problem.where or "",
        )
        if len(self.examples) < 3:
            self.examples.append(str(problem).split("\n")[0])
