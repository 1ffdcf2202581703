"""Labels on a cluster: each partition has a store of its own, merged at the end."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain import errors
from goodgain.engines.spark.broadcasts import stream_of
from goodgain.engines.spark.conversations import conversations
from goodgain.engines.spark.failures import cluster_errors, same_version
from goodgain.engines.spark.session import arrow_only, is_frame, require_partitions
from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.io.columns import find_columns
from goodgain.labels import Labels, Limits, Prompt, Store
from goodgain.labels.exchange import export
from goodgain.labels.imports import import_replies
from goodgain.labels.judges.identity import has_name
from goodgain.labels.judges.registry import judge_of
from goodgain.labels.labeller import RETRIED, TEXT_LIMIT, retry_statuses, setting_of
from goodgain.labels.labeller import label as label_here
from goodgain.labels.opening import is_url
from goodgain.labels.pairs import Excerpt, Pair, read_objects, read_pairs
from goodgain.labels.progress import Progress
from goodgain.labels.store import PairRow
from goodgain.labels.template import cut
from goodgain.labels.traces import trace_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.labels.store import Setting

_PAIRS = "query string, doc string, question string, text string, error string"
_LINES = "kind string, line string"  # kinds: reply, pair, spending, summary, error
_SPENDING = ("calls", "tokens_in", "tokens_out", "cost", "estimated", "created")
_PAIR_FIELDS = ("query", "doc", "question", "text")


class _Identified:
    """A judge under the name that the driver has found: its code may look different after pickling."""

    def __init__(self, judge: Any, setting: Setting) -> None:
        self._judge = judge
        self.model = setting.model
        self.parameters = {k: v for k, v in setting.parameters.items() if k != "batch"}
        for name in ("price", "max_tokens", "timeout"):
            if hasattr(judge, name):
                setattr(self, name, getattr(judge, name))

    def __call__(self, request: Any) -> Any:
        return self._judge(request)


class SparkLabels(NamedTuple):
    """The labels in the merged store, and the same labels as a DataFrame."""

    labels: Labels
    frame: Any


class Share(NamedTuple):
    """What a partition may spend in this round, and what it has spent before."""

    money: float
    spent: float

    def limit(self, store: Store) -> float:
        """The budget of the partition's store: a task that is tried again does not get its share twice."""
        cost = store.cost()
        return self.money + (self.spent if cost >= self.spent else cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelJob:
    """The settings of an executor that labels; the key for the judge is in its environment."""

    judge: Any
    pair: type[Pair]  # rows of a frame are checked where a question's pairs are together
    setting: Setting
    folder: str  # of the partitions' stores
    done_keys: bytes  # keys that are labelled already, as an Arrow stream
    shares: Mapping[int, Share] | None  # of the budget, by partition; the others wait
    replicates: int
    text_limit: int
    options: Mapping[str, Any]


def label(
    spark: Any,
    source: Any,
    judge: Any,
    store: Any = None,
    *,
    partitions: int | None = None,
    name: str | None = None,
    prompt: Any = None,
    replicates: int = 1,
    batch: int = 1,
    concurrency: int | None = None,
    budget: float | None = None,
    limits: Limits | None = None,
    text_limit: int = TEXT_LIMIT,
    identity: Any = None,
    retry: Any = RETRIED,
    partition_folder: str | os.PathLike[str] | None = None,
) -> SparkLabels:
    """Label pairs or traces; see `goodgain.spark.label`."""
    require_partitions(partitions)
    judge = judge_of(judge)
    merged = Store.of(store)
    setting = setting_of(judge, Prompt.of(prompt), batch, name)
    retried = retry_statuses(retry)
    count = partitions or int(spark.conf.get("spark.sql.shuffle.partitions"))
    bounds = limits or Limits()
    total = bounds.budget if budget is None else replace(bounds, budget=budget).budget
    bounds = replace(bounds, budget=None)
    if total is not None and getattr(judge, "price", None) is None:
        raise UsageError("a budget needs the price of the model", hint="price=(IN, OUT)")
    with tempfile.TemporaryDirectory(prefix="goodgain-labels-") as temporary:
        folder = os.fspath(partition_folder) if partition_folder else _beside(merged, temporary)
        job = LabelJob(
            judge=_Identified(judge, setting) if name or not has_name(judge) else judge,
            pair=Pair if _is_frame_of_pairs(source) else Excerpt,
            setting=setting,
            folder=folder,
            done_keys=b"",
            shares=None,
            replicates=replicates,
            text_limit=text_limit,
            options={
                "prompt": prompt, "replicates": replicates, "batch": batch, "concurrency": concurrency,
                "limits": bounds, "text_limit": text_limit, "retry": retried,
            },
        )  # fmt: skip
        with arrow_only():
            pairs = _pairs(spark, source, identity).repartition(count, "question")
        rounds = _Rounds(pairs, job, merged, retried, Path(temporary))
        summary = rounds.run(total)
        _delete_stores(folder)
    labels = Labels(merged, setting, summary=summary)
    with arrow_only():
        frame = spark.createDataFrame(labels.to_arrow()) if len(labels) else None
    return SparkLabels(labels, frame)


class _Rounds:
    """Labels in one job or, with a budget, in as many as it takes to share all of it.

    A partition gets a share of what is left in proportion to its pairs. What it did not need goes to those
    that had too little; where no share pays for a single call, fewer partitions get larger ones.
    """

    def __init__(
        self, pairs: Any, job: LabelJob, store: Store, retried: tuple[str, ...], folder: Path
    ) -> None:
        self._pairs, self._job, self._store = pairs, job, store
        self._retried, self._folder = retried, folder
        self._spent: dict[int, float] = {}
        self.summary = Progress(total=0)

    def run(self, total: float | None) -> Progress:
        """Label all pairs, or as many as the budget pays for."""
        with cluster_errors("pairs"):
            if total is None:
                self._round(None)
                return self._ended("")
            self._pairs = self._pairs.persist()
            try:
                return self._ended("budget" if self._spend(total) else "")
            finally:
                self._pairs.unpersist()

    def _spend(self, total: float) -> bool:
        """Rounds until everything is labelled or nothing more can be paid; whether pairs are left."""
        from pyspark.sql import functions as sql

        rows = self._pairs.groupBy(sql.spark_partition_id().alias("number")).count().collect()
        waiting = {row["number"]: row["count"] for row in rows}
        most = len(waiting)
        while waiting:
            left = max(0.0, total - self._store.cost())
            largest = sorted(waiting, key=lambda number: (-waiting[number], number))[:most]
            pairs = sum(waiting[number] for number in largest)
            shares = {
                number: Share(left * waiting[number] / pairs, self._spent.get(number, 0.0))
                for number in largest
            }
            before = self._store.cost()
            stopped = self._round(shares)
            waiting = {
                n: stopped.get(n, c) for n, c in waiting.items() if n in stopped or n not in shares
            }
            if (cost := self._store.cost()) > before:
                most = self._payable(total - cost, len(waiting))
            elif most == 1 or not waiting or not left:
                break
            else:
                most = max(1, min(most, len(waiting)) // 2)
        return bool(waiting)

    def _payable(self, left: float, waiting: int) -> int:
        """How many partitions can each pay for a call; what is set aside for one is more than it costs."""
        each = 2 * sum(self._spent.values()) / max(1, self.summary.calls)
        return max(1, min(waiting, int(left / each) if each > 0 else waiting))

    def _round(self, shares: Mapping[int, Share] | None) -> dict[int, int]:
        """One job; the pairs that are left in the partitions whose share did not suffice."""
        keys = _keys(self._store.done_keys(self._job.setting, self._retried))
        job = replace(self._job, done_keys=keys, shares=shares)
        with arrow_only():
            work = same_version(lambda batches: labelled(batches, job))
            replies = self._pairs.mapInArrow(work, _LINES)
        problem, summaries = _merge(replies, self._store, job.setting, self._folder)
        if problem is not None:
            raise problem
        left = {}
        for each in summaries:
            number = each["partition"]
            self._spent[number] = each["spent"]
            self.summary.calls += each["calls"]
            self.summary.statuses.update(each["statuses"])
            if each["stopped"] == "budget":
                left[number] = max(1, each["left"])
        return left

    def _ended(self, stopped: str) -> Progress:
        summary = self.summary
        summary.total = summary.done
        summary.cost = self._store.cost()
        summary.stopped = stopped
        summary.ended = monotonic()
        return summary


def _beside(store: Store, temporary: str) -> str:
    """The folder next to the store, where a second run finds the labels the first has paid for."""
    return (
        temporary
        if store.path == ":memory:" or is_url(store.path)
        else f"{Path(store.path).absolute()}.parts"
    )


def _delete_stores(folder: str) -> None:
    """Delete the partitions' stores after merging."""
    for path in Path(folder).glob("partition-*.db*") if Path(folder).is_dir() else ():
        path.unlink(missing_ok=True)
    if Path(folder).is_dir() and not any(Path(folder).iterdir()):
        Path(folder).rmdir()


def _keys(keys: list[str]) -> bytes:
    import pyarrow as pa

    return stream_of(pa.table({"key": pa.array(keys, pa.string())}))


def _pairs(spark: Any, source: Any, identity: Any) -> Any:
    """A DataFrame of query, doc, question and text, from pairs or traces."""
    if _is_frame_of_pairs(source):
        return source.mapInArrow(same_version(_pairs_of_rows), _PAIRS)
    if not is_frame(source) and not (isinstance(source, str) and ":" in source):
        import pyarrow as pa

        from goodgain.labels.labeller import pairs_to_label

        pairs = list(pairs_to_label(source, identity))
        columns = {f: pa.array([getattr(p, f) for p in pairs], pa.string()) for f in _PAIR_FIELDS}
        columns["error"] = pa.nulls(len(pairs), pa.string())
        return spark.createDataFrame(pa.table(columns))
    lines, _, _ = conversations(spark, source)
    work = same_version(lambda batches: _pairs_of_traces(batches, identity))
    return lines.mapInArrow(work, _PAIRS)


def _is_frame_of_pairs(source: Any) -> bool:
    if not is_frame(source) or "turns" in source.columns:
        return False
    return "question" in find_columns(source.columns, "pairs")


# --- on the executors ---


def _pairs_of_rows(batches: Iterator[Any]) -> Iterator[Any]:
    yield from _collected(
        lambda: (pair for batch in batches for pair in read_pairs(batch.to_pylist())), batches
    )


def _pairs_of_traces(batches: Iterator[Any], identity: Any) -> Iterator[Any]:
    def pairs() -> Iterator[Pair]:
        for batch in batches:
            lines = [line for line in batch.column(0).to_pylist() if line.strip()]
            if b"null" in lines:
                raise InputError("a conversation is missing: the row is null", where="traces")
            yield from trace_pairs(map(json.loads, lines), identity)

    yield from _collected(pairs, batches)


def _collected(pairs: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Pairs in batches; an error becomes a row."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in (*_PAIR_FIELDS, "error")])
    rows: list[dict[str, Any]] = []
    try:
        for pair in pairs():
            rows.append({**{f: getattr(pair, f) for f in _PAIR_FIELDS}, "error": None})
            if len(rows) >= 1000:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
    except GoodgainError as error:
        rows.append({"error": _error_json(error)})
        for _ in batches:
            pass
    yield pa.RecordBatch.from_pylist(rows, schema)


def labelled(batches: Iterator[Any], job: LabelJob) -> Iterator[Any]:
    """Label the pairs of a partition; replies become lines in the exchange format of stores."""
    import pyarrow as pa
    from pyspark import TaskContext

    context = TaskContext.get()
    number = context.partitionId() if context else 0
    if job.shares is not None and number not in job.shares:
        for _ in batches:
            pass
        return
    done = set(pa.ipc.open_stream(job.done_keys).read_all().column("key").to_pylist())
    pairs, done_pairs, problems = [], [], []
    for batch in batches:
        for row in batch.to_pylist():
            if row["error"]:
                problems.append(row["error"])
                continue
            pair = job.pair(*(row[f] for f in _PAIR_FIELDS))
            keys = _keys_of(pair, job)
            if all(key in done for key in keys):
                done_pairs += [
                    PairRow(pair.query, pair.doc, key, i, pair.question)
                    for i, key in enumerate(keys)
                ]
            else:
                pairs.append(pair)
    lines = [("pair", json.dumps(pair)) for pair in done_pairs]
    if problems:
        lines += [("error", p) for p in problems]
    elif pairs:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        lines += _label_partition(pairs, job, number)
    for at in range(0, len(lines), 1000):
        kinds, texts = zip(*lines[at : at + 1000], strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(kinds, pa.string()), pa.array(texts, pa.string())], ["kind", "line"]
        )


def _label_partition(pairs: list[Pair], job: LabelJob, number: int) -> list[tuple[str, str]]:
    """Label pairs in the partition's own store; its replies, spending and summary."""
    lines = []
    with Store(Path(job.folder) / f"partition-{number:05}.db") as store:
        options = dict(job.options)
        if job.shares is not None:
            share = job.shares[number].limit(store)
            options["limits"] = replace(options["limits"], budget=share)
        try:
            summary = label_here(pairs, job.judge, store, **options).summary
        except GoodgainError as error:
            lines.append(("error", _error_json(error)))
        else:
            assert summary is not None
            facts = {
                "partition": number, "spent": store.cost(), "stopped": summary.stopped,
                "calls": summary.calls, "statuses": dict(summary.statuses),
                "left": len(pairs) * job.replicates - summary.stored - summary.done,
            }  # fmt: skip
            lines.append(("summary", json.dumps(facts)))
        replies = export(Labels(store, job.setting), "jsonl").splitlines()
        lines += [("reply", reply) for reply in replies]
        spent = store.db.execute(f"SELECT {', '.join(_SPENDING)} FROM spending").fetchall()
        lines += [("spending", json.dumps(row)) for row in spent]
    return lines


def _keys_of(pair: Pair, job: LabelJob) -> list[str]:
    text, _ = cut(pair.text, job.text_limit)
    question = pair.question.encode("utf-8", "replace").decode("utf-8")
    return [job.setting.key(question, text, i) for i in range(job.replicates)]


def _error_json(error: GoodgainError) -> str:
    return json.dumps([type(error).__name__, error.message, error.where, error.hint])


# --- on the driver ---


def _merge(
    replies: Any, store: Store, setting: Setting, folder: Path
) -> tuple[GoodgainError | None, list[dict[str, Any]]]:
    """Merge the lines of all partitions, through files; labels are saved even after an error."""
    problem = None
    summaries: list[dict[str, Any]] = []
    paths = {kind: folder / f"{kind}.jsonl" for kind in ("reply", "pair", "spending")}
    files = {kind: path.open("w", encoding="utf-8") for kind, path in paths.items()}
    try:
        for row in replies.toLocalIterator():
            if row.kind in files:
                files[row.kind].write(row.line + "\n")
            elif row.kind == "summary":
                summaries.append(json.loads(row.line))
            elif problem is None:
                kind, message, where, hint = json.loads(row.line)
                problem = getattr(errors, kind, InputError)(message, where=where, hint=hint)
    finally:
        for file in files.values():
            file.close()
    with paths["pair"].open(encoding="utf-8") as lines:
        store.add_pairs(setting, (PairRow(*json.loads(line)) for line in lines))
    if paths["reply"].stat().st_size:
        with store.transaction():
            import_replies(store, read_objects(os.fspath(paths["reply"])), spending=False)
    with paths["spending"].open(encoding="utf-8") as lines:
        _add_spending(store, setting, (tuple(json.loads(line)) for line in lines))
    return problem, summaries


def _add_spending(store: Store, setting: Setting, rows: Iterator[tuple[Any, ...]]) -> None:
    """Add what the partitions have paid, unless a run that failed later has added it already."""
    stored = set(store.db.execute(f"SELECT {', '.join(_SPENDING)} FROM spending").fetchall())
    with store.transaction():
        number = store.setting(setting)
        new = (dict(zip(_SPENDING, row, strict=True)) for row in rows if row not in stored)
        store.insert("spending", ({"setting": number, **row} for row in new))
