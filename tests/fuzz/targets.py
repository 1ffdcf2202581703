"""The Python readers as targets of a fuzzer: any bytes are read, or refused with one of goodgain's errors.

The first byte of an input chooses the form of the file, the rest is its content. A target raises what
goodgain does not promise to raise, and AssertionError where two ways to read a file disagree.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goodgain as gg
from goodgain.errors import DuplicateError, GoodgainError, InputError, MeasureError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

JUDGED = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 3, "1": 1}, "1": {"1": 1, "d": 0}}
MEASURES = ["nDCG@5", "AP", "RR"]
PRESETS = ["default", "trec_eval", "ir_measures", "ranx", "beir"]
TABLES = ["txt", "csv", "tsv", "jsonl", "json", "txt.gz", "csv.zst", "arrow", "parquet"]
TARGETS: dict[str, Callable[[bytes], None]] = {}


def target(function: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Register a target under its name."""
    TARGETS[function.__name__] = function
    return function


@cache
def folder() -> Path:
    """A folder of this process, in memory where the system has one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    path = Path(tempfile.mkdtemp(prefix="goodgain-fuzz-", dir=memory))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def put(data: bytes, suffixes: list[str]) -> str:
    """The content as a file with the suffix that its first byte chooses."""
    suffix = suffixes[data[0] % len(suffixes)] if data else suffixes[0]
    path = folder() / f"input.{suffix}"
    path.write_bytes(data[1:])
    return str(path)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the error of goodgain that it raises."""
    try:
        return call()
    except GoodgainError as error:
        assert error.message and "Traceback" not in str(error)
        return error


# --- measures ---


@target
def grammar(data: bytes) -> None:
    """Measures as text: what is parsed prints as a text with the same meaning."""
    preset = PRESETS[data[0] % len(PRESETS)] if data else "default"
    text = data[1:].decode("utf-8", "surrogateescape")
    outcome(lambda: gg.measures.grammar.parse_agentic(text))
    try:
        measures = gg.measures.parse_all(text, preset)
    except MeasureError as error:
        assert error.message
        return
    for measure in measures:
        if preset == "default":
            again = gg.parse(measure.label)
            assert again == measure, f"{measure.label!r} of {text!r}"
            assert again.same_values(measure)


# --- tables ---


def _values(run: Any) -> Any:
    result = gg.evaluate(JUDGED, run, MEASURES, duplicates="first")
    if len(result.runs) > 1:
        raise InputError("several runs")
    scores = result.runs[0]
    queries = scores.queries
    return {
        m: {q: v.hex() for q, v in zip(queries, scores.column(m), strict=True)} for m in MEASURES
    }


@target
def runs(data: bytes) -> None:
    """A run that is measured while it is read, and one whose rows are read first."""
    path = put(data, TABLES)
    fast = outcome(lambda: _values(path))
    rows = outcome(lambda: gg.Run(path).to_dict())
    if isinstance(rows, GoodgainError):
        # Rows of Parquet come from pyarrow, which also refuses damage to what no number depends on.
        known = ("the run is empty", "invalid Parquet file")
        allowed = isinstance(rows, DuplicateError) or rows.message in known
        assert allowed or isinstance(fast, GoodgainError), rows
        return
    slow = outcome(lambda: _values(rows))
    if isinstance(fast, GoodgainError) and path.endswith((".json", ".gz", ".zst")):
        return  # ids of two types are refused, as rows all are text; gunzips differ in what they know
    assert isinstance(fast, GoodgainError) == isinstance(slow, GoodgainError), (fast, slow)
    assert isinstance(fast, GoodgainError) or fast == slow, (fast, slow)


@target
def judgments(data: bytes) -> None:
    """Judgments from a file, and the same ones from a dictionary."""
    path = put(data, TABLES)
    qrels = outcome(lambda: gg.Qrels(path))
    if isinstance(qrels, GoodgainError):
        return
    table = outcome(qrels.to_dict)
    if not isinstance(table, GoodgainError):
        assert gg.Qrels(table).to_dict() == table
    outcome(lambda: gg.evaluate(qrels, {"q": {"a": 1.0}}, [*MEASURES, "alpha_nDCG@5"]))


@target
def trec_eval(data: bytes) -> None:
    """trec_eval's formats of judgments."""
    from goodgain.compat.trec_eval import Settings, output
    from goodgain.compat.trec_tables import TABLES as FORMS

    forms = sorted(FORMS)
    form = forms[data[0] % len(forms)] if data else "qrels"
    path = put(data, ["txt"])
    run = folder() / "run.txt"
    if not run.exists():
        run.write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n")
    settings = Settings(format=form, measures=(("all_trec", None),) if form == "qrels" else ())
    outcome(lambda: output(settings, path, str(run)))
    outcome(lambda: output(Settings(zscores=path), str(run), str(run)))


# --- traces ---


@target
def traces(data: bytes) -> None:
    """Exports of every source; the second byte says whether bad conversations are skipped."""
    from goodgain.traces import FORMATS, open_traces

    forms = [None, *sorted(FORMATS)]
    form = forms[data[0] % len(forms)] if data else None
    skip_bad = bool(data[1:2] and data[1] & 1)
    path = put(data[1:], ["json", "jsonl", "jsonl"] if len(data) > 1 else ["json"])

    def read() -> None:
        opened = open_traces(path, form, skip_bad=skip_bad)
        if opened.descriptor is not None and form in (None, "canonical"):
            os.close(opened.descriptor)
            gg.good_gain(path, skip_bad=skip_bad)
            return
        list(opened.read())
        assert opened.ledger.differences() == {}

    outcome(read)


# --- settings, rules and saved results ---


@target
def experiments(data: bytes) -> None:
    """Experiment files."""
    from goodgain.experiment.config import read_experiment

    home = folder()
    if not (home / "corpus.jsonl").exists():
        (home / "corpus.jsonl").write_text('{"id": "a", "text": "x"}\n')
        (home / "queries.jsonl").write_text('{"id": "q", "text": "x"}\n')
        (home / "qrels.txt").write_text("q 0 a 1\n")
    path = put(data, ["toml"])
    outcome(lambda: read_experiment(path))


@target
def rules(data: bytes) -> None:
    """Rules of identity in TOML."""
    path = put(data, ["toml"])
    identity = outcome(lambda: gg.Identity(path))
    if not isinstance(identity, GoodgainError):
        outcome(lambda: identity.compare({"url": "https://x.org/a?b=1"}, {"url": "http://x.org/a"}))


@target
def urls(data: bytes) -> None:
    """Two results with URLs under the built-in rules: the verdict does not depend on their order."""
    first, _, second = data.decode("utf-8", "replace").partition("\n")
    a, b = {"url": first, "title": "x"}, {"url": second, "id": second}
    forward = outcome(lambda: identity().compare(a, b))
    backward = outcome(lambda: identity().compare(b, a))
    if not isinstance(forward, GoodgainError):
        assert (forward.verdict, forward.step) == (backward.verdict, backward.step)
        assert identity().compare(a, a).verdict == "duplicate" or not first.strip()


@cache
def identity() -> gg.Identity:
    """The built-in rules."""
    return gg.Identity()


@target
def golden(data: bytes) -> None:
    """Golden sets and baselines of `goodgain check`."""
    from goodgain.checks.baseline import read_baseline
    from goodgain.checks.golden import read_golden

    path = put(data, ["yaml", "csv", "jsonl", "tsv", "json"])
    outcome(lambda: read_golden(path))
    outcome(lambda: read_baseline(path))


@target
def saved(data: bytes) -> None:
    """Saved results and passports."""
    from goodgain.labels.passport import load_passport

    path = put(data, ["json", "json.gz"])
    outcome(lambda: gg.load(path))
    outcome(lambda: load_passport(path))


@target
def imports(data: bytes) -> None:
    """Labels from the exports of annotation tools."""
    from goodgain.labels.imports import import_labels

    path = put(data, ["json", "jsonl", "csv", "tsv", "txt", "zip"])
    with gg.Store(":memory:") as store:
        outcome(lambda: import_labels(store, path, annotator="ann"))


@target
def stores(data: bytes) -> None:
    """Label stores with damaged bytes: pairs of a place and a byte change a good store."""
    from goodgain.labels.verify import verify

    path = folder() / "store.labels"
    content = bytearray(_good_store())
    for i in range(0, len(data) - 2, 3):
        place = int.from_bytes(data[i : i + 2], "little") % len(content)
        content[place] = data[i + 2]
    path.write_bytes(content[: len(content) - (data[-1] * 16 if len(data) % 3 == 1 else 0)])
    outcome(lambda: verify(path))

    def read() -> None:
        with gg.Store(str(path), read_only=True) as store:
            for _, setting in store.settings():
                store.done_keys(setting)
        gg.load(path)

    outcome(read)


@cache
def _good_store() -> bytes:
    from goodgain.labels.imports import import_labels

    path = folder() / "good.labels"
    rows = [{"query": f"q{i}", "doc": f"d{i}", "gain": i % 3} for i in range(8)]
    with gg.Store(str(path)) as store:
        import_labels(store, rows, annotator="ann")
        import_labels(store, rows, model="m")
    return path.read_bytes()


# --- mutation ---

VALUES: list[Any] = [
    None, True, 0, -1, 3.5, 10**400, "", " ", "x", "0", "{", "[]", '{"a": 1}', "\ud800",
    "2026-01-01T00:00:00Z", [], {}, [None], [[]], [{}], [1, "a", {}], {"": None}, {"id": {}},
    {"type": []}, {"text": ["x"]},
]  # fmt: skip
PIECES = [
    b"\n", b"\r\n", b"\t", b" ", b",", b'"', b"'", b"{", b"}", b"[", b"]", b"(", b")", b"=", b":", b"@", b".",
    b"%", b"#", b"\\", b"\x00", b"\xff", b"\xc3\xa9", b"0", b"1", b"-1", b"1e999", b"nan", b"null", b"true",
    b"q", b"a", b"<", b">", b"&", b"\xef\xbb\xbf", b"[[", b"]]", b"---\n", b"- ",
]  # fmt: skip


def mutated(data: bytes, rng: random.Random, most: int = 4000) -> bytes:
    """Changed bytes; JSON is changed in its structure four times of five."""
    for skip in (1, 2):
        if data[skip : skip + 1] in (b"{", b"[") and rng.random() < 0.8:
            changed = _mutated_json(data[skip:], rng)
            if changed is not None and len(changed) <= most:
                return data[:skip] + changed
    result = bytearray(data or b"\0")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(result)) if result else 0
        choice = rng.random()
        if choice < 0.3:
            result[at:at] = rng.choice(PIECES)
        elif choice < 0.5:
            result[at : at + 1] = rng.choice(PIECES)
        elif choice < 0.65:
            del result[at : at + rng.randint(1, 8)]
        elif choice < 0.8:
            result[at : at + 1] = bytes([rng.randrange(256)])
        else:
            start = rng.randrange(len(result)) if result else 0
            result[at:at] = result[start : start + rng.randint(1, 60)]
    return bytes(result[:most])


def _mutated_json(text: bytes, rng: random.Random) -> bytes | None:
    lines = text.splitlines() if b"\n{" in text else [text]
    try:
        documents = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    for _ in range(rng.randint(1, 3)):
        places: list[tuple[Any, Any]] = []
        waiting: list[Any] = [documents]
        while waiting:
            value = waiting.pop()
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, inner in items:
                places.append((value, key))
                if isinstance(inner, dict | list):
                    waiting.append(inner)
        if not places:
            break
        container, key = rng.choice(places)
        choice = rng.random()
        if choice < 0.15:
            del container[key]
        elif choice < 0.3:
            container[key] = rng.choice([{"x": container[key]}, [container[key]]])
        elif choice < 0.4:
            other, name = rng.choice(places)
            held = other.get(name) if isinstance(other, dict) else None
            container[key] = json.loads(json.dumps(held))
        elif choice < 0.5 and isinstance(container[key], dict | list):
            container[key] = json.dumps(container[key])
        else:
            container[key] = json.loads(json.dumps(rng.choice(VALUES)))
    return "\n".join(map(json.dumps, documents)).encode("utf-8", "surrogatepass")
