"""What a run has to do: every pair, its key, and which keys still need a call.

The plan lives in temporary tables of the store's connection, so that memory does not grow with it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import count, groupby, islice
from typing import TYPE_CHECKING, TypeVar

from goodgain.labels.store import Asked, Row
from goodgain.labels.template import cut

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from goodgain.labels.pairs import Pair
    from goodgain.labels.store import Setting, Store
    from goodgain.labels.template import Prompt

T = TypeVar("T")
_WINDOW = 2048
_numbers = count()


@dataclass(frozen=True, slots=True)
class Call:
    """Documents of one question that are judged in one call."""

    question: str
    replicate: int
    keys: tuple[str, ...]
    texts: tuple[str, ...]
    cuts: tuple[int | None, ...]


class Plan:
    """Filled once from the pairs, then read as calls."""

    def __init__(self, store: Store, setting: Setting, prompt: Prompt, limit: int) -> None:
        self.store = store
        self.setting = setting
        self.prompt = prompt
        self.limit = limit
        self.pairs = self.labels = self.known = self.todo = self.no_text = 0
        self.tokens = 0  # of the prompts, if each document is a call of its own
        number = next(_numbers)
        self.wanted, self._todo = f"temp.wanted_{number}", f"temp.todo_{number}"
        store.db.execute(
            f"CREATE TABLE {self.wanted} (id INTEGER PRIMARY KEY, query TEXT, doc TEXT, key TEXT, "
            "replicate INTEGER, question TEXT, UNIQUE (query, doc, key))"
        )
        store.db.execute(
            f"CREATE TABLE {self._todo} (id INTEGER PRIMARY KEY, key TEXT UNIQUE, question TEXT, "
            "text TEXT, replicate INTEGER, cut INTEGER)"
        )

    def fill(
        self, pairs: Iterable[Pair], replicates: int, again: tuple[str, ...], record: bool
    ) -> None:
        """Take the pairs in; `record` keeps in the store what was asked."""
        for some in _batched(pairs, 500):
            asked: list[Asked] = []
            rows: list[tuple[str, str, str, int, int | None]] = []
            empty: list[Row] = []
            self.pairs += len(some)
            for pair in some:
                text, length = cut(pair.text, self.limit)
                question = pair.question.encode("utf-8", "replace").decode("utf-8")
                for replicate in range(replicates):
                    key = self.setting.key(question, text, replicate)
                    asked.append(
                        Asked(_plain(pair.query), _plain(pair.doc), key, replicate, question)
                    )
                    rows.append((key, question, text, replicate, length))
            done = self.store.done([row[0] for row in rows], again)
            for key, question, text, replicate, length in rows:
                if key in done:
                    self.known += 1
                elif not text.strip():
                    self.no_text += 1
                    empty.append(Row(key, replicate, "no_text", None, "the document has no text"))
                else:
                    self._add(key, question, text, replicate, length)
            self.store.db.executemany(
                f"INSERT OR REPLACE INTO {self.wanted} (query, doc, key, replicate, question) "
                "VALUES (?, ?, ?, ?, ?)",
                ((a.query, a.doc, a.key, a.replicate, a.question) for a in asked),
            )
            self.labels += len(asked)
            if record:
                self.store.ask(self.setting, asked)
                if empty:
                    self.store.add(self.setting, empty)

    def _add(self, key: str, question: str, text: str, replicate: int, length: int | None) -> None:
        added = self.store.db.execute(
            f"INSERT OR IGNORE INTO {self._todo} (key, question, text, replicate, cut) "
            "VALUES (?, ?, ?, ?, ?)",
            (key, question, text, replicate, length),
        ).rowcount
        if added:
            self.todo += 1
            self.tokens += self.prompt.tokens(question, [text])

    def drop(self) -> None:
        """Free what was to do; what was wanted stays, for the labels to be read by."""
        self.store.db.execute(f"DROP TABLE {self._todo}")

    def calls(self, batch: int) -> Generator[Call]:
        """The calls, shuffled: two processes on one store then rarely ask the same at once."""
        if batch > 1:
            yield from self._of_questions(batch)
            return
        last = 0
        while True:
            rows = self.store.db.execute(
                f"SELECT id, key, question, text, replicate, cut FROM {self._todo} WHERE id > ? "
                "ORDER BY id LIMIT ?",
                (last, _WINDOW),
            ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            random.shuffle(rows)
            for _, key, question, text, replicate, length in rows:
                yield Call(question, replicate, (key,), (text,), (length,))

    def _of_questions(self, batch: int) -> Generator[Call]:
        """Batches of one question; keys are hashes, so their order is a shuffle that stays the same."""
        rows = self.store.db.execute(
            f"SELECT question, replicate, key, text, cut FROM {self._todo} "
            "ORDER BY question, replicate, key"
        )
        for (question, replicate), group in groupby(rows, key=lambda row: (row[0], row[1])):
            for some in _batched((row[2:] for row in group), batch):
                keys, texts, cuts = zip(*some, strict=True)
                yield Call(question, replicate, keys, texts, cuts)


def _batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some


def _plain(text: str) -> str:
    """An id that SQLite takes: ids that are no UTF-8 keep their bytes in escaped form."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
