"""The plan of a labelling run: every pair with its key, and the calls that are still needed.

The plan lives in temporary tables of the store's connection, so that memory use does not grow with it.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count, groupby, islice
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from goodgain.errors import InputError
from goodgain.io.columns import BACKGROUND
from goodgain.labels.checksums import clean
from goodgain.labels.examples import same_question
from goodgain.labels.hashes import HashTable
from goodgain.labels.store import PairRow, ReplyRow, document_hash
from goodgain.labels.template import cut

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from goodgain.labels.pairs import Pair
    from goodgain.labels.store import Setting, Store
    from goodgain.labels.template import Prompt

T = TypeVar("T")
_WINDOW = 2048  # calls in memory
_BATCH = 1000  # pairs in one transaction
_NO_REPLY = ("", 0)
_numbers = count()


@dataclass(frozen=True, slots=True)
class Call:
    """Documents of one question that are judged in one call."""

    question: str
    replicate: int
    keys: tuple[str, ...]
    texts: tuple[str, ...]
    cuts: tuple[int | None, ...]
    narrative: str = ""
    answer: str = ""


class _Todo(NamedTuple):
    """A label that may still need a call."""

    key: str
    question: str
    text: str
    replicate: int
    cut: int | None
    narrative: str
    answer: str


class Plan:
    """Filled from the pairs batch by batch, and read as calls while it is being filled."""

    def __init__(
        self,
        store: Store,
        setting: Setting,
        prompt: Prompt,
        *,
        text_limit: int,
        replicates: int = 1,
        retry: tuple[str, ...] = (),
        record: bool = True,
        keep: str = "hash",
    ) -> None:
        """With `record` the pairs are also written to the store, and their texts with `keep="text"`."""
        self.store = store
        self.setting = setting
        self.prompt = prompt
        self.text_limit = text_limit
        self.replicates = replicates
        self.retry = retry
        self.record = record
        self.keep = keep
        self.pairs = self.labels = self.stored = self.todo = self.no_text = 0
        self.unused: Counter[str] = Counter()  # pairs with a narrative or answer that is not shown
        self.failures: Counter[str] = Counter()  # of the stored ones, those that are not retried
        self.tokens = 0  # of the prompts, if each document has a call of its own
        self.complete = False
        self._batches: Iterator[list[Pair]] = iter(())
        self._needs_background = bool(prompt.examples) or bool(
            BACKGROUND.keys() & set(prompt.fields)
        )
        self._keys = HashTable()  # of the calls: pairs with the same words share one
        self._wanted = 0  # calls, including those that others share
        number = next(_numbers)
        self.pairs_table, self._todo_table = f"plan_pairs_{number}", f"plan_todo_{number}"
        store.db.create(
            f"CREATE TEMPORARY TABLE {self.pairs_table} (id INTEGER PRIMARY KEY, query TEXT, "
            "doc TEXT, key TEXT, replicate INTEGER, question TEXT)"
        )
        store.db.create(
            f"CREATE TEMPORARY TABLE {self._todo_table} (id INTEGER PRIMARY KEY, key TEXT, "
            "question TEXT, text TEXT, replicate INTEGER, cut INTEGER, narrative TEXT, answer TEXT)"
        )

    def take(self, pairs: Iterable[Pair]) -> None:
        """Where `advance` takes the pairs from."""
        self._batches = _batched(pairs, _BATCH)

    def advance(self, seconds: float = 0.0) -> bool:
        """Add the next batch of pairs, or as many as fit into the time; False if there are no more."""
        deadline = monotonic() + seconds
        while not self.complete:
            batch = next(self._batches, None)
            if batch is None:
                self.complete = True
            else:
                self._add_batch(batch)
                if monotonic() >= deadline:
                    break
        return not self.complete

    def _add_batch(self, batch: list[Pair]) -> None:
        pair_rows: list[PairRow] = []
        details: list[tuple[str, int | None, str, str]] = []  # text, cut, narrative and answer
        empty: list[ReplyRow] = []
        self.pairs += len(batch)
        key_of, replicates = self.setting.key, range(self.replicates)
        for pair in batch:
            text, length = cut(pair.text, self.text_limit)
            question = pair.question
            if not question.isascii():
                question = question.encode("utf-8", "replace").decode("utf-8")
            if not question.strip():
                raise InputError(
                    f"query '{pair.query}' has no text",
                    hint="a judge needs the question; pool takes it from queries= (--queries)",
                )
            query, doc, document = clean(pair.query), clean(pair.doc), document_hash(text)
            background, narrative, answer = question, "", ""
            if pair.narrative or pair.answer or self._needs_background:
                narrative, answer = self._background(pair)
                if narrative or answer:
                    background = "\0".join((question, narrative, answer))
            for replicate in replicates:
                key = key_of(background, text, replicate)
                pair_rows.append(PairRow(query, doc, key, replicate, question, document))
                details.append((text, length, narrative, answer))
        todo: list[_Todo] = []
        replies = self.store.last_replies([row.key for row in pair_rows])
        with self.store.transaction() if self.record else nullcontext():
            for row, detail in zip(pair_rows, details, strict=True):
                status, _ = replies.get(row.key, _NO_REPLY)
                if status and status not in self.retry:
                    self.stored += 1
                    if status != "ok":
                        self.failures[status] += 1
                elif not detail[0].strip():
                    self.no_text += 1
                    empty.append(
                        ReplyRow(
                            key=row.key,
                            replicate=row.replicate,
                            status="no_text",
                            gain=None,
                            detail="the document has no text",
                        )
                    )
                else:
                    text, length, narrative, answer = detail
                    todo.append(
                        _Todo(
                            key=row.key,
                            question=row.question,
                            text=text,
                            replicate=row.replicate,
                            cut=length,
                            narrative=narrative,
                            answer=answer,
                        )
                    )
            self._add(todo)
            self.store.db.executemany(
                f"INSERT INTO {self.pairs_table} (query, doc, key, replicate, question) "
                "VALUES (?, ?, ?, ?, ?)",
                [row[:5] for row in pair_rows],
            )
            self.labels += len(pair_rows)
            if self.record:
                self.store.add_pairs(self.setting, pair_rows)
                if empty:
                    self.store.add_replies(self.setting, empty)
                if self.keep == "text":
                    texts = dict.fromkeys(text for text, *_ in details)
                    self.store.add_documents(texts)

    def _background(self, pair: Pair) -> tuple[str, str]:
        """Narrative and answer as far as the prompt shows them; without one that it shows, no call."""
        for example in self.prompt.examples:
            if example.query == pair.query and not same_question(example, pair.question):
                raise InputError(
                    f"query '{pair.query}' has another question as an example: '{example.question:.60}'",
                    hint="examples of the query that is judged are left out by its question",
                )
        texts = []
        for field in BACKGROUND:
            text = str(getattr(pair, field))
            if field not in self.prompt.fields:
                if text:
                    self.unused[field] += 1
                text = ""
            elif not text.strip():
                raise InputError(
                    f"query '{pair.query}' has no {field}, which prompt '{self.prompt.name}' shows",
                    hint=f"pairs have a field '{field}', and --pool takes it from --queries",
                )
            texts.append(text.encode("utf-8", "replace").decode("utf-8"))
        return texts[0], texts[1]

    def _add(self, calls: list[_Todo]) -> None:
        """Add calls to the plan, each of which is made once."""
        numbers = [int(call.key[:16], 16) - 2**63 for call in calls]
        places = range(self._wanted, self._wanted + len(calls))
        self._wanted += len(calls)
        stored = self._keys.add([(*row, 0) for row in zip(numbers, places, strict=True)])
        if stored:
            rows = zip(calls, numbers, places, strict=True)
            calls = [call for call, number, place in rows if stored[number][0] == place]
        self.store.db.executemany(
            f"INSERT INTO {self._todo_table} (key, question, text, replicate, cut, narrative, answer) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            calls,
        )
        self.todo += len(calls)
        for call in calls:
            background = call.question + call.narrative + call.answer
            self.tokens += self.prompt.tokens(background, [call.text])

    def drop(self) -> None:
        """Free the table of calls; the table of pairs stays, so that the labels can be read."""
        self.store.db.execute(f"DROP TABLE {self._todo_table}")
        self._keys.close()

    def calls(self, batch: int) -> Generator[Call | None]:
        """The calls, shuffled so that two processes on one store rarely make the same call at once.

        None says that there is none yet: `advance` has to add more pairs first.
        """
        last = taken = 0
        while True:
            enough = _WINDOW if batch > 1 else 1  # a batch takes documents of the same question
            if not self.complete and self.todo - taken < enough:
                yield None
                continue
            rows = self.store.db.execute(
                "SELECT id, key, question, text, replicate, cut, narrative, answer "
                f"FROM {self._todo_table} WHERE id > ? ORDER BY id LIMIT ?",
                (last, _WINDOW),
            ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            taken += len(rows)
            if batch > 1:
                yield from _batch_calls(rows, batch)
                continue
            random.shuffle(rows)
            for _, key, question, text, replicate, length, narrative, answer in rows:
                yield Call(
                    question=question,
                    replicate=replicate,
                    keys=(key,),
                    texts=(text,),
                    cuts=(length,),
                    narrative=narrative,
                    answer=answer,
                )


def _batch_calls(rows: list[Any], size: int) -> Iterator[Call]:
    """Batches per question; keys are hashes, so ordering by key is a repeatable shuffle."""
    rows.sort(key=lambda row: (row[2], row[4], row[6], row[7], row[1]))
    groups = groupby(rows, key=lambda row: (row[2], row[4], row[6], row[7]))
    for (question, replicate, narrative, answer), group in groups:
        for batch in _batched(group, size):
            _, keys, _, texts, _, cuts, _, _ = zip(*batch, strict=True)
            yield Call(
                question=question,
                replicate=replicate,
                keys=keys,
                texts=texts,
                cuts=cuts,
                narrative=narrative,
                answer=answer,
            )


def _batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
