"""The ledger of a trace: every item that a reader meets ends in exactly one account.

Items are counted when they are met and again when they are entered into an account; the two counts
are kept apart, so that an item that falls through the cracks shows as a difference.
"""

from __future__ import annotations

import json
import tempfile
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

Kind = Literal["conversation", "message", "span", "event", "call", "output", "result"]
Account = Literal[
    "read", "search", "result", "duplicate", "empty", "failed", "open", "not a search",
    "unread", "wrapped", "unusable",
]  # fmt: skip

KINDS: tuple[Kind, ...] = get_args(Kind)
ACCOUNTS: tuple[Account, ...] = get_args(Account)
SEARCHES = ("search", "empty", "failed", "unread")  # the accounts of calls that are searches

_MANY = 500  # rules and tools beyond this many are counted under one name
_EXAMPLES = 3
_OTHERS = "(others)"


class Ledger:
    """Counts of items by kind and account, with the rules that decided and examples of where.

    A call's account is what became of it: `search` (with results), `empty`, `failed` and `unread` are
    searches. `sink` gets every item as it is entered.
    """

    def __init__(self, sink: Callable[[dict[str, Any]], None] | None = None) -> None:
        self.sink = sink
        self.met: Counter[str] = Counter()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.rules: Counter[tuple[str, str, str]] = Counter()
        self.tools: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str, str], list[str]] = {}
        self.batched = 0  # searches beyond the first of calls that ran several queries

    def meet(self, kind: Kind, number: int = 1) -> None:
        """Count items when the reader meets them."""
        self.met[kind] += number

    def enter(
        self,
        kind: Kind,
        account: Account,
        rule: str = "",
        *,
        where: str = "",
        number: int = 1,
        tool: str | None = None,
        **facts: Any,
    ) -> None:
        """Enter items into an account; `rule` says why, `facts` go to the sink."""
        if not number:
            return
        self.counts[kind, account] += number
        key = (kind, account, rule)
        if key not in self.rules and len(self.rules) >= _MANY:
            key = (kind, account, _OTHERS)
        self.rules[key] += number
        places = self.examples.setdefault(key, [])
        if where and len(places) < _EXAMPLES:
            places.append(where)
        if kind == "call":
            named = (tool or "(no name)", account)
            if named not in self.tools and len(self.tools) >= _MANY:
                named = (_OTHERS, account)
            self.tools[named] += number
        if self.sink is not None:
            item: dict[str, Any] = {
                "kind": kind,
                "account": account,
                "rule": rule,
                "where": where,
                "tool": tool,
            }
            if number > 1:
                item["number"] = number
            self.sink({k: v for k, v in (item | facts).items() if v not in (None, "")})

    def mark_duplicates(self, number: int) -> None:
        """Move results that turned out to be identical to earlier ones: identity is decided later."""
        self.counts["result", "result"] -= number
        self.counts["result", "duplicate"] += number
        rules = (key for key in self.rules if key[:2] == ("result", "result"))
        key = max(rules, key=self.rules.__getitem__, default=None)
        if key is not None:
            self.rules[key] -= number
            self.rules["result", "duplicate", "identical to an earlier result"] += number

    def count(self, kind: Kind, *accounts: str) -> int:
        """The number of items of a kind in these accounts, or in any."""
        return sum(self.counts[kind, account] for account in accounts or ACCOUNTS)

    @property
    def searches(self) -> int:
        """The calls that are searches, whatever became of them."""
        return self.count("call", *SEARCHES)

    @property
    def unread(self) -> int:
        """The searches whose results are not known."""
        return self.count("call", "unread")

    @property
    def is_exact(self) -> bool:
        """Whether everything is accounted for and no search and no output is unread."""
        unread = self.unread or self.count("output", "unread")
        return not unread and not self.differences()

    def differences(self) -> dict[str, int]:
        """Items met minus items entered, by kind, where the two differ: none in a sound reader."""
        kinds = (*KINDS, *self.met)
        differences = {kind: self.met[kind] - self.count(kind) for kind in kinds}  # type: ignore[arg-type]
        return {kind: n for kind, n in differences.items() if n}

    @property
    def is_well(self) -> bool:
        """Whether nothing is unread, unusable or unaccounted for."""
        unusable = sum(n for (_, account), n in self.counts.items() if account == "unusable")
        return self.is_exact and not unusable

    def merge(self, other: Ledger) -> None:
        """Add the counts of another ledger."""
        self.met.update(other.met)
        self.counts.update(other.counts)
        self.rules.update(other.rules)
        self.tools.update(other.tools)
        self.batched += other.batched
        for key, places in other.examples.items():
            mine = self.examples.setdefault(key, [])
            mine.extend(places[: _EXAMPLES - len(mine)])

    def to_dict(self) -> dict[str, Any]:
        """As saved with results: items met, and rows of kind, account, rule, number and examples."""
        return {
            "met": {kind: n for kind, n in self.met.items() if n},
            "accounts": [[*key, n] for key, n in sorted(self.counts.items()) if n],
            "rules": [
                [*key, n, self.examples.get(key, [])] for key, n in sorted(self.rules.items()) if n
            ],
            "tools": [[*key, n] for key, n in sorted(self.tools.items()) if n],
            "batched": self.batched,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ledger:
        """A ledger from its saved form."""
        ledger = cls()
        ledger.met.update(data["met"])
        ledger.counts.update({(kind, account): n for kind, account, n in data["accounts"]})
        for kind, account, rule, n, places in data["rules"]:
            ledger.rules[kind, account, rule] = n
            ledger.examples[kind, account, rule] = list(places)
        ledger.tools.update({(tool, account): n for tool, account, n in data["tools"]})
        ledger.batched = data.get("batched", 0)
        return ledger

    def __repr__(self) -> str:
        read = f"{self.count('conversation', 'read'):,} conversations, {self.searches:,} searches"
        return f"Ledger({read}, {self.count('result'):,} results, {self.unread:,} unread)"


# --- as text ---

_MEANINGS = {
    "search": "with results",
    "empty": "empty",
    "failed": "failed",
    "unread": "unread",
}


def render_ledger(name: str, ledger: Ledger) -> str:
    """The ledger of a file: one line when all is well, a table when not."""
    if ledger.is_well:
        return ledger_line(name, ledger)
    from goodgain.results.text import render

    rows = [
        [kind, account, n, rule, (ledger.examples.get((kind, account, rule)) or [""])[0]]
        for (kind, account, rule), n in sorted(ledger.rules.items(), key=_place)
        if n
    ]
    problems = [
        f"{number:+,} {kind} items are not accounted for, which is a defect of the reader"
        for kind, number in ledger.differences().items()
    ]
    if ledger.unread:
        problems.insert(
            0, f"{ledger.unread:,} of {ledger.searches:,} searches are unread: figures are bounds"
        )
    table = render("table", ["item", "account", "number", "why", "for example"], rows)
    return "\n".join([ledger_line(name, ledger), *problems, table.rstrip("\n")])


def _place(row: tuple[tuple[str, str, str], int]) -> tuple[int, int, int]:
    (kind, account, _), number = row
    return KINDS.index(kind), ACCOUNTS.index(account), -number


def ledger_line(name: str, ledger: Ledger) -> str:
    """The ledger of a file in one line."""
    outcomes = [
        f"{ledger.count('call', account):,} {meaning}"
        for account, meaning in _MEANINGS.items()
        if ledger.count("call", account)
    ]
    searches = counted(ledger.searches + ledger.batched, "search", "searches")
    if ledger.batched:
        searches += f" in {counted(ledger.searches, 'call')}"
    facts = [counted(ledger.count("conversation", "read"), "conversation")]
    facts.append(f"{searches} ({', '.join(outcomes)})" if len(outcomes) > 1 else searches)
    facts.append(counted(ledger.count("result", "result", "duplicate"), "result"))
    if unusable := ledger.count("conversation", "unusable"):
        facts.append(f"{unusable:,} unusable")
    others = _tools(ledger, "open", "opens") + _tools(ledger, "not a search", "not searches")
    return f"{name}: {', '.join(facts)}" + "".join(f"; {text}" for text in others)


def _tools(ledger: Ledger, account: str, meaning: str) -> list[str]:
    tools = sorted(
        ((n, tool) for (tool, seen), n in ledger.tools.items() if seen == account and n),
        key=lambda pair: (-pair[0], pair[1]),
    )
    if not tools:
        return []
    named = [f"{tool} {n:,}" for n, tool in tools[:3]]
    more = [f"{len(tools) - 3:,} more tools"] if len(tools) > 3 else []
    return [f"{meaning}: {', '.join(named + more)}"]


def counted(number: int, one: str, several: str | None = None) -> str:
    """A number with its noun: 1 search, 2 searches."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


class LedgerFile:
    """A file of items, one JSON line each, collected beside it and put in place when complete."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = path
        self._lines = None if path is None else tempfile.TemporaryFile()  # noqa: SIM115
        if self._lines is not None:  # also where the traces are refused
            weakref.finalize(self, self._lines.close)

    def sink(self, name: str) -> Callable[[dict[str, Any]], None] | None:
        """What takes the items of a file of traces; None if no ledger is wanted."""
        if self._lines is None:
            return None
        write = self._lines.write

        def add(item: dict[str, Any]) -> None:
            text = json.dumps({"file": name, **item}, ensure_ascii=False) + "\n"
            write(text.encode("utf-8", "surrogatepass"))

        return add

    def write(self) -> None:
        """Write the file, whole or not at all."""
        from goodgain.io.atomic import write_files

        file = self._lines
        if file is not None and self.path is not None:
            file.seek(0)
            write_files({str(self.path): iter(lambda: file.read(1 << 20), b"")})
            file.close()
