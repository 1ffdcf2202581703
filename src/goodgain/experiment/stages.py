"""Stages by content: what is expensive is computed once, and known by what it was computed from.

The address of a stage is a hash of its code, parameters, model and the addresses of its input. A stage with
the same address is reused: within a grid from memory, on resume from the folder of the experiment, between
experiments from a shared folder. What cannot be read, such as the state of a client, has an address that
no other run has, unless its user names its version.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from goodgain.experiment.stage_files import FORMAT, DamagedStageError, StageFiles
from goodgain.fingerprint import Fingerprint, fingerprint

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

KINDS = ("chunk", "embed", "index", "search", "fuse", "rerank")
LIMIT = 20e9  # bytes of a folder of stages

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stage(Generic[T]):
    """What a stage computed, and its address: the input of the next stage."""

    value: T
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a stage: how long computing it took, and whether that was in an earlier run."""

    kind: str
    address: str
    seconds: float
    earlier: bool = False
    computed: bool = False  # by this use


@dataclass(frozen=True, slots=True)
class StageCounts:
    """How many stages of each kind a run used, and how many of these it did not have to compute."""

    used: dict[str, int] = field(default_factory=dict)
    reused: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        kinds = ", ".join(f"{self.reused[kind]:,} of {n:,} {kind}" for kind, n in self.used.items())
        total = f"{sum(self.reused.values()):,} of {sum(self.used.values()):,} stages reused"
        return f"{total} ({kinds})" if kinds else total


class Stages:
    """The stages of an experiment: in memory and, with a folder, on disk.

    `folder` may be shared by experiments and by processes; beyond `limit` bytes the stages that were used
    longest ago are removed.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, limit: float = LIMIT
    ) -> None:
        self._files = None if folder is None else StageFiles(Path(folder), limit)
        self._values: dict[str, tuple[Any, Use]] = {}
        self._texts: dict[int, tuple[Mapping[str, str], str]] = {}  # the object keeps its id taken
        self._fingerprints: dict[int, tuple[Any, Fingerprint]] = {}
        self._nonce = uuid4().hex
        self._recorders: list[list[Use]] = []
        self._uses: dict[str, dict[str, Use]] = {}  # by user and address
        self.notes: list[str] = []

    def run(
        self,
        kind: str,
        *,
        compute: Callable[[Path | None], T],
        save: Callable[[T, Path], None] | None = None,
        load: Callable[[Path], T] | None = None,
        code: Any = None,
        parameters: Mapping[str, Any] | None = None,
        model: Any = None,
        inputs: Sequence[str | Mapping[str, str]] = (),
        version: str | None = None,
    ) -> Stage[T]:
        """What this stage computes, reused if it has been computed before.

        `compute` gets a folder that it may write to and where it finds what a killed run wrote (None if
        there is no disk); `save` writes its result there and `load` reads it. The result is always what
        `load` returns, so that a run that reuses a stage has the numbers of one that computed it.
        `inputs` are addresses of other stages, or texts by id, known by their content. `version` stands
        for state of `code` and `model` that cannot be read.
        """
        address, is_known = self.address(
            kind, code=code, parameters=parameters, model=model, inputs=inputs, version=version
        )
        if address in self._values:
            value, use = self._values[address]
            self._record(Use(kind=kind, address=address, seconds=use.seconds, earlier=use.earlier))
            return Stage(value, address)
        if self._files is None or not is_known or save is None or load is None:
            start = time.perf_counter()
            value = compute(None)
            use = Use(
                kind=kind,
                address=address,
                seconds=time.perf_counter() - start,
                computed=True,
            )
        else:
            value, use = self._from_disk(self._files, kind, address, (compute, save, load))
        self._values[address] = value, use
        self._record(use)
        return Stage(value, address)

    def address(
        self,
        kind: str,
        *,
        code: Any = None,
        parameters: Mapping[str, Any] | None = None,
        model: Any = None,
        inputs: Sequence[str | Mapping[str, str]] = (),
        version: str | None = None,
    ) -> tuple[str, bool]:
        """The address of a stage, and whether all that it depends on is known."""
        if kind not in KINDS:
            raise ValueError(f"unknown kind of stage '{kind}'")
        sources = [each if isinstance(each, str) else self.texts_address(each) for each in inputs]
        pieces = code if isinstance(code, list | tuple) else [code]
        named: dict[str, Any] = {f"code {i}": piece for i, piece in enumerate(pieces)}
        named |= {"model": model} | {
            f"parameter {n}": v for n, v in sorted((parameters or {}).items())
        }
        known = {name: self._fingerprint(value) for name, value in named.items()}
        digests = {name: each.digest for name, each in known.items()}
        address = fingerprint([FORMAT, kind, digests, sources, version]).digest
        unknown = [what for each in known.values() for what in each.unknown]
        if not unknown or version is not None:
            return address, True
        # Known by identity only: the same objects in this session, and nothing else.
        note = f"a stage '{kind}' is not reused in later runs: {unknown[0]}"
        if note not in self.notes:
            self.notes.append(note)
        unread = [id(value) for name, value in named.items() if known[name].unknown]
        return sha256(f"{address} {self._nonce} {unread}".encode()).hexdigest()[:20], False

    def _fingerprint(self, value: Any) -> Fingerprint:
        """As it was first seen: a function that remembers its answers stays the same function."""
        if id(value) not in self._fingerprints:
            self._fingerprints[id(value)] = value, fingerprint(value)
        return self._fingerprints[id(value)][1]

    def texts_address(self, texts: Mapping[str, str]) -> str:
        """The address of texts by id: a hash of their content and order."""
        if id(texts) not in self._texts:
            self._texts[id(texts)] = texts, hash_texts(texts)
        return self._texts[id(texts)][1]

    def _from_disk(
        self,
        files: StageFiles,
        kind: str,
        address: str,
        methods: tuple[Callable[[Path | None], T], Callable[[T, Path], None], Callable[[Path], T]],
    ) -> tuple[T, Use]:
        compute, save, load = methods
        place = files.place(kind, address)
        with files.locked(place):
            try:
                record = files.read(place)
                if record is not None:
                    value = load(place)
                    return value, Use(
                        kind=kind, address=address, seconds=record["seconds"], earlier=True
                    )
            except Exception as error:  # whatever a loader raises on a damaged file
                reason = error if isinstance(error, DamagedStageError) else type(error).__name__
                self.notes.append(
                    f"the stage '{place}' was damaged ({reason}) and is computed again"
                )
                files.remove(place)
            part, has_begun = files.workspace(place)
            start = time.perf_counter()
            save(compute(part), part)
            seconds = time.perf_counter() - start
            files.complete(part, place, {"kind": kind, "address": address, "seconds": seconds})
            use = Use(kind=kind, address=address, seconds=seconds, earlier=has_begun, computed=True)
            return load(place), use

    # --- what was used ---

    @contextmanager
    def recording(self) -> Iterator[list[Use]]:
        """Collect the stages that are used in this block."""
        uses: list[Use] = []
        self._recorders.append(uses)
        try:
            yield uses
        finally:
            self._recorders.remove(uses)

    def _record(self, use: Use) -> None:
        for uses in self._recorders:
            uses.append(use)

    def count(self, user: str, uses: Sequence[Use]) -> None:
        """Count these stages for a system; each counts once per system."""
        own = self._uses.setdefault(user, {})
        for use in uses:
            if use.address not in own or use.computed:
                own[use.address] = use

    def counts(self) -> StageCounts:
        """How many stages the systems used, and how many of these were reused.

        A stage that several systems use counts for each of them; it is computed for the first.
        """
        used, reused = Counter[str](), Counter[str]()
        seen: set[str] = set()
        for own in self._uses.values():
            for address, use in own.items():
                is_new = self._was_computed(address) and address not in seen
                seen.add(address)
                used[use.kind] += 1
                reused[use.kind] += not is_new
        kinds = [kind for kind in KINDS if used[kind]]
        return StageCounts(
            {kind: used[kind] for kind in kinds}, {kind: reused[kind] for kind in kinds}
        )

    def _was_computed(self, address: str) -> bool:
        return any(own[address].computed for own in self._uses.values() if address in own)


def hash_texts(*groups: Mapping[str, str]) -> str:
    """A hash of texts by id, in their order."""
    digest = sha256()
    for texts in groups:
        for key, text in texts.items():
            digest.update(f"{len(key)} {len(text)} {key}{text}".encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()
