"""The label store: append-only, in a SQLite file or in PostgreSQL; it survives being killed at any moment."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.labels.checksums import MODULUS, clean, stored_row, summand
from goodgain.labels.database import columns, store_error
from goodgain.labels.opening import is_url, open_database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goodgain.labels.database import Database
    from goodgain.labels.judges.protocol import Status
    from goodgain.labels.people import Vote

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring_ascii  # as `_encode` writes a text
_MAX_VALUES = 500  # per statement; some builds of SQLite allow no more than 999


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What determines a label besides the question and the document text."""

    prompt: str
    model: str
    parameters: dict[str, Any]
    low: int
    high: int

    @cached_property
    def digest(self) -> str:
        """A hash of the setting."""
        return digest(self.prompt, self.model, self.parameters)

    def key(self, question: str, text: str, replicate: int) -> str:
        """The key of one label: equal for all pairs that would be judged in the same words.

        It is the `digest` of the setting's values and these, whose beginning is hashed once.
        """
        state = self._beginning.copy()
        state.update(f",{_quoted(question)},{_quoted(text)},{replicate}]".encode("ascii"))
        return str(state.hexdigest()[:40])

    @cached_property
    def _beginning(self) -> Any:
        return sha256(_encode((self.prompt, self.model, self.parameters))[:-1].encode())

    def __str__(self) -> str:
        return f"{self.model}, {self.prompt}"


class ReplyRow(NamedTuple):
    """A reply as it is stored, for one document."""

    key: str
    replicate: int
    status: Status
    gain: float | None
    detail: str = ""
    raw: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    seconds: float = 0.0
    cut: int | None = None


class PairRow(NamedTuple):
    """A pair as it is stored, with its key; documents with the same text share a key."""

    query: str
    doc: str
    key: str
    replicate: int
    question: str
    document: str | None = None  # the hash of its text


def digest(*values: Any) -> str:
    """A hash of plain data."""
    return sha256(_encode(values).encode()).hexdigest()[:40]


def now() -> str:
    """The time in UTC, with a fixed width, so that times sort as text."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def document_hash(text: str) -> str:
    """The SHA-256 of a document's text in UTF-8, by which the store knows it."""
    data = text.encode("utf-8", "backslashreplace")  # as `storable` writes it
    return sha256(data.replace(b"\0", b"\\x00")).hexdigest()


class Store:
    """An open store of labels; several processes may use the same one.

    `path` is a SQLite file or a PostgreSQL URL. With `read_only` nothing is written, neither to the
    store nor beside it, and stores of format 1 are read as if they had been upgraded.

    >>> import goodgain as gg
    >>> with gg.Store("labels.db") as store:
    ...     labels = gg.label([("q1", "d1", "Where?", "Here.")], lambda request: 3, store)
    ...
    >>> with gg.Store("labels.db", read_only=True) as store:
    ...     gg.Labels.of(store).to_dict()
    ...
    {'q1': {'d1': 3.0}}
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        create: bool = True,
        read_only: bool = False,
    ) -> None:
        self.db: Database
        self.path, self.db = open_database(os.fspath(path), create=create, read_only=read_only)
        self.read_only = read_only
        self._settings: dict[str, int] = {}
        self._lock = threading.RLock()  # of a transaction, if threads share the store
        self._depth = 0
        self._added: dict[str, list[int]] = {}  # table: rows and sum of checksums

    @classmethod
    def of(cls, value: Store | str | os.PathLike[str] | None) -> Store:
        """The store itself, the one at a path, or a new one in memory."""
        return value if isinstance(value, Store) else cls(":memory:" if value is None else value)

    @staticmethod
    def exists(value: Store | str | os.PathLike[str] | None) -> bool:
        """Whether this is a store already; one on a server may be."""
        if value is None or isinstance(value, Store):
            return value is not None
        return is_url(os.fspath(value)) or Path(value).exists()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A context whose changes are committed together, or not at all; inner ones join it."""
        with self._lock:
            if self._depth:
                yield
                return
            self.db.begin()
            self._depth, self._added = 1, {}
            try:
                yield
                self._count()
                self.db.commit()
            except BaseException:
                self._settings.clear()  # their rows are gone
                self.db.rollback()
                raise
            finally:
                self._depth = 0

    def _count(self) -> None:
        """Add what the transaction has inserted to the totals; in order, or two could wait for each other."""
        for table, (rows, sums) in sorted(self._added.items()):
            self.db.execute(
                "INSERT INTO totals (name, total, sum) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
                "SET total = totals.total + excluded.total, "
                f"sum = (totals.sum + excluded.sum) % {MODULUS}",
                (table, rows, sums % MODULUS),
            )

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> int:
        """Add rows with their checksums; one that a unique index refuses is left out.

        A row has every column of the table but `id` and `checksum`. Returns the number of new rows.
        """
        names = [*columns(table), "checksum"]
        sql = (
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
            "ON CONFLICT DO NOTHING"
        )
        with self.transaction():
            added = self._added.setdefault(table, [0, 0])
            before = added[0]
            iterator = iter(rows)
            while batch := [stored_row(table, row) for row in islice(iterator, _MAX_VALUES)]:
                for values, new in zip(batch, self.db.insert_new(sql, batch), strict=True):
                    if new:
                        added[0] += 1
                        added[1] += summand(values[-1])
            return added[0] - before

    def setting(self, setting: Setting) -> int:
        """The row id of a setting, which is added if it is new."""
        number = self._settings.get(setting.digest) or self.find_setting(setting)
        if not number:
            self.insert("settings", [{
                "digest": setting.digest, "prompt": setting.prompt, "model": setting.model,
                "parameters": json.dumps(setting.parameters, sort_keys=True),
                "low": setting.low, "high": setting.high,
            }])  # fmt: skip
            number = self.find_setting(setting)
        self._settings[setting.digest] = number
        return number

    def find_setting(self, setting: Setting) -> int:
        """The row id of a setting, or 0 if the store does not have it."""
        sql = "SELECT coalesce(max(id), 0) FROM settings WHERE digest = ?"
        return int(self.db.execute(sql, (setting.digest,)).fetchone()[0])

    def gain_settings(self) -> list[tuple[int, Setting]]:
        """The settings whose labels are gains of documents, not nuggets or preferences."""
        return [(n, own) for n, own in self.settings() if "task" not in own.parameters]

    def settings(self) -> list[tuple[int, Setting]]:
        """All settings with their row ids, oldest first."""
        rows = self.db.execute(
            "SELECT id, prompt, model, parameters, low, high FROM settings ORDER BY id"
        )
        try:
            return [
                (
                    number,
                    Setting(
                        prompt=prompt,
                        model=model,
                        parameters=json.loads(parameters),
                        low=low,
                        high=high,
                    ),
                )
                for number, prompt, model, parameters, low, high in rows
            ]
        except (TypeError, ValueError):
            raise store_error("malformed setting", self.path) from None

    def question(self, text: str) -> int:
        """The row id of a question, which is added if it is new."""
        return self.questions([text])[clean(text)]

    def questions(self, texts: Iterable[str]) -> dict[str, int]:
        """The row ids of questions, which are added if they are new."""
        wanted = list(dict.fromkeys(map(clean, texts)))
        ids = self._question_numbers(wanted)
        if missing := [text for text in wanted if text not in ids]:
            self.insert("questions", ({"text": text} for text in missing))
            ids |= self._question_numbers(missing)
        return ids

    def _question_numbers(self, texts: Sequence[str]) -> dict[str, int]:
        ids: dict[str, int] = {}
        for chunk in chunks(texts):
            marks = ",".join("?" * len(chunk))
            ids |= self.db.execute(f"SELECT text, id FROM questions WHERE text IN ({marks})", chunk)
        return ids

    def add_replies(
        self, setting: Setting, rows: Iterable[ReplyRow], created: str | None = None
    ) -> int:
        """Add replies in one transaction; a second gain for a key is ignored. Returns the number added."""
        with self.transaction():
            number, time_of = self.setting(setting), created or now()
            return self.insert(
                "replies",
                ({"setting": number, "created": time_of, **row._asdict()} for row in rows),
            )

    def add_pairs(self, setting: Setting, pairs: Iterable[PairRow]) -> None:
        """Add pairs with their keys in one transaction, unless they are the last of their document."""
        rows = list(pairs)
        with self.transaction():
            self.db.lock("asked")  # two processes that plan the same pairs add them once
            number, time_of = self.setting(setting), now()
            texts = dict.fromkeys(row.question for row in rows)
            numbers = self.questions(texts)
            questions = {text: numbers[clean(text)] for text in texts}
            ids = [(clean(row.query), clean(row.doc)) for row in rows]
            last = self._last_keys(number, list(dict.fromkeys(ids)))
            new = []
            for row, (query, doc) in zip(rows, ids, strict=True):
                place = query, doc, row.replicate
                key, document, created = last.get(place, ("", None, ""))
                if key == row.key and row.document in (None, document):
                    continue
                created = max(time_of, created)  # whatever the clock says
                last[place] = row.key, row.document, created
                new.append({
                    "setting": number, "query": query, "doc": doc, "key": row.key,
                    "replicate": row.replicate, "question": questions[row.question],
                    "document": row.document, "created": created,
                })  # fmt: skip
            self.insert("asked", new)

    def _last_keys(
        self, setting: int, places: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str, int], tuple[str, str | None, str]]:
        """The key, document and time that count now for each of these pairs and replicates."""
        last: dict[tuple[str, str, int], tuple[str, str | None, str]] = {}
        for chunk in chunks(places, _MAX_VALUES // 2):
            marks = ",".join(["(?,?)"] * len(chunk))
            cursor = self.db.execute(
                f"WITH places (query, doc) AS (VALUES {marks}) "  # CROSS: or SQLite reads all rows
                "SELECT a.query, a.doc, a.replicate, a.key, a.document, a.created "
                "FROM places p CROSS JOIN asked a WHERE a.setting = ? AND a.query = p.query "
                "AND a.doc = p.doc ORDER BY a.created, a.id",
                (*(value for place in chunk for value in place), setting),
            )
            for query, doc, replicate, key, document, created in cursor:
                last[query, doc, replicate] = key, document, created
        return last

    def add_documents(self, texts: Iterable[str], *, text: bool = True) -> list[str]:
        """Keep documents for audit, with their text or only its hash; returns the hashes.

        A text is added to a hash that the store has without one, and never removed.
        """
        hashes: list[str] = []
        with self.transaction():
            for value in texts:
                row = {"hash": document_hash(value), "text": value if text else None}
                hashes.append(row["hash"] or "")
                if not self.insert("documents", [row]) and text:
                    self._add_text(row)
        return hashes

    def _add_text(self, row: Mapping[str, Any]) -> None:
        old, new = stored_row("documents", {**row, "text": None}), stored_row("documents", {**row})
        changed = self.db.execute(
            "UPDATE documents SET text = ?, checksum = ? WHERE hash = ? AND text IS NULL",
            (new[1], new[2], new[0]),
        ).rowcount
        if changed:
            self._added["documents"][1] += summand(new[2]) - summand(old[2])

    def add_votes(self, votes: Iterable[Vote]) -> int:
        """Add labels of people in one transaction; returns the number of new ones."""
        from goodgain.labels.people import add_votes

        return add_votes(self, votes)

    def last_replies(self, keys: Sequence[str]) -> dict[str, tuple[str, int]]:
        """The status and the id of the reply that counts for each key: ok, or else the last failure."""
        last: dict[str, tuple[str, int]] = {}
        for chunk in chunks(keys):
            marks = ",".join("?" * len(chunk))  # the index has all three columns: no row is read
            sql = f"SELECT key, status, id FROM replies WHERE key IN ({marks})"
            for key, status, number in self.db.execute(sql, chunk):
                before = last.get(key)
                if before is None or status == "ok" or (before[0] != "ok" and before[1] < number):
                    last[key] = status, number
        return last

    def done(
        self, keys: Sequence[str], retry: Iterable[str] = (), after: int | None = None
    ) -> set[str]:
        """The keys that need no further call: with a gain, or with a failure that is not in `retry`.

        Failures that were stored after the reply of id `after` are not retried either.
        """
        retried = tuple(retry)
        return {
            key
            for key, (status, number) in self.last_replies(keys).items()
            if status not in retried or (after is not None and number > after)
        }

    def last_reply(self) -> int:
        """The id of the last reply, or 0."""
        return int(self.db.execute("SELECT coalesce(max(id), 0) FROM replies").fetchone()[0])

    def done_keys(self, setting: Setting, retry: Iterable[str] = ()) -> list[str]:
        """All keys of a setting that need no further call."""
        keys = self.db.execute(
            "SELECT DISTINCT key FROM replies WHERE setting = ?", (self.setting(setting),)
        )
        return list(self.done([key for (key,) in keys], tuple(retry)))

    def cost(self) -> float:
        """The cost of all calls that had a price, also of those whose labels are not used."""
        return float(self.db.execute("SELECT coalesce(sum(cost), 0) FROM spending").fetchone()[0])

    def cost_after(self, number: int) -> tuple[float, int]:
        """The cost of the calls after a row of `spending`, and the id of the last one."""
        sql = "SELECT coalesce(sum(cost), 0), coalesce(max(id), 0) FROM spending WHERE id > ?"
        cost, last = self.db.execute(sql, (number,)).fetchone()
        return float(cost), int(last)

    def add_spending(self, setting: Setting, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add calls to what the store has cost: calls, tokens_in, tokens_out, cost, estimated."""
        with self.transaction():
            number, time_of = self.setting(setting), now()
            self.insert(
                "spending", ({"setting": number, "created": time_of, **row} for row in rows)
            )

    def close(self) -> None:
        """Close the file or the connection."""
        self.db.close()

    def __del__(self) -> None:
        if db := getattr(self, "db", None):
            db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        replies, votes = (
            self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("replies", "votes")
        )
        return f"Store('{self.path}', {replies:,} replies, {votes:,} votes)"


def chunks(values: Sequence[Any], size: int = _MAX_VALUES) -> Iterator[Sequence[Any]]:
    """Slices that a statement can take as its values."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
