"""What the readers of a file share: the user's options, the ledger, and notes for afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.traces.ledger import Ledger
from goodgain.traces.searching import SearchRules
from goodgain.traces.usage import Prices, Usage, built_in_prices

if TYPE_CHECKING:
    from goodgain.errors import GoodgainError


@dataclass(slots=True, kw_only=True)
class Context:
    """What the readers of a file share."""

    name: str
    rules: SearchRules = field(default_factory=SearchRules.load)
    ledger: Ledger = field(default_factory=Ledger)
    prices: Prices = field(default_factory=built_in_prices)
    merge_adjacent: bool = False
    skip_bad: bool = False
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
    examples: list[str] = field(default_factory=list)

    def spent(self, usage: Usage, model: Any = None) -> dict[str, float | None]:
        """Tokens and cost of a generation; the cost by the table of prices where the source has none."""
        cost = usage.cost
        if cost is None and usage.tokens:
            cost = self.prices.cost_of(usage, model)
            if cost is not None:
                dated = f" of {self.prices.date}" if self.prices.date else ""
                self.note(f"{self.name}: costs are computed from {self.prices.name}{dated}")
            elif isinstance(model, str) and model and self.prices.price_of(model) is None:
                self.note(f"{self.name}: no price of model '{model}' is known, so its cost is not")
        return {"tokens": usage.tokens, "cost": cost}

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def place(self, where: str) -> str:
        """The file and, where a document is a line, its number."""
        number = where.rpartition(":")[2]
        return f"{self.name}:{number}" if number.isdigit() else self.name

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
