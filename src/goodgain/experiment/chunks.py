"""Systems over chunks: documents are split, and a retriever searches the pieces."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.experiment.retrievers import make
from goodgain.experiment.retrievers.base import DEPTH, Retriever, ScoredDocument
from goodgain.experiment.retrievers.combine import search_with
from goodgain.spans.chunking import Chunks, split_documents, splitter_of
from goodgain.spans.pieces import chunk_id, parse_chunk_id

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from goodgain.experiment.retrievers import SearchFunction
    from goodgain.experiment.stages import Stages

SETTINGS = ("splitter", "size", "overlap", "tokenizer", "level")
_FILE = "chunks.jsonl"


class Chunked(Retriever):
    """A retriever over chunks of the documents instead of whole documents.

    `splitter` is "tokens", "sentences", "headings", "recursive", a function from a text to its chunks, or a
    splitter of LangChain or LlamaIndex. Results are chunks with ids `doc#start-end`. The judgments say how
    they count: as their document, which the first of its chunks stands for, by their own ids, or by the
    judged spans that they cover.
    """

    name = "chunked"

    def __init__(
        self,
        of: str | SearchFunction,
        splitter: Any = "recursive",
        *,
        size: int | None = None,
        overlap: int | None = None,
        tokenizer: Any = None,
        level: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        depth: int = DEPTH,
    ) -> None:
        self.of: Any = make(of, {}, depth) if isinstance(of, str) else of
        self.splitter, self.size, self.overlap = splitter, size, overlap
        self.tokenizer, self.level, self.parameters = tokenizer, level, parameters
        self.depth = depth
        if not hasattr(self.of, "index"):
            raise UsageError(
                "chunks need a retriever with an index",
                hint="the service does its own chunking; let it return ids doc#start-end, or results with "
                "start and end",
            )
        self._retriever: Any = _own_index(self.of)
        self._split = splitter_of(
            splitter, size=size, overlap=overlap, tokenizer=tokenizer, level=level,
            parameters=parameters,
        )  # fmt: skip
        self.chunks = Chunks()

    def components(self) -> list[Any]:
        """The retriever that searches the chunks."""
        return [self._retriever]

    def replace_components(self, components: list[Any]) -> None:
        """Search with this retriever instead."""
        (self._retriever,) = components

    def bind(self, systems: Mapping[str, SearchFunction]) -> None:
        """Other systems search their own documents, so none can be named inside."""
        inner = self.of.all_retrievers() if isinstance(self.of, Retriever) else ()
        for each in inner:
            named = getattr(each, "of", ())
            for name in [named] if isinstance(named, str) else named:
                if isinstance(name, str):
                    raise UsageError(
                        f"the system '{name}' searches its own documents, not these chunks",
                        hint="give each of the systems that are combined its own chunk = {...}",
                    )

    def result_texts(self, documents: Mapping[str, str]) -> Mapping[str, str]:
        """The texts of the chunks, by id."""
        return self.chunks.texts

    def index(self, documents: Mapping[str, str]) -> None:
        """Split the documents, and index the chunks."""
        self.index_own(documents)
        self._retriever.index(self.chunks.texts)

    def build(self, documents: Mapping[str, str]) -> None:
        """Split the documents, or find how they were split before."""
        assert self.stages is not None
        self.chunks = self.stages.run(
            "chunk",
            compute=lambda _: split_documents(documents, self._split),
            save=_save,
            load=lambda folder: _load(folder, documents),
            code=[self._split],
            inputs=[documents],
            version=self.version,
        ).value

    def search(self, query: str, depth: int) -> list[ScoredDocument]:
        """The best chunks."""
        return search_with(self._retriever, query, depth)


def _own_index(search: Any) -> Any:
    """A copy of a retriever whose index is that of the chunks, whatever else the retriever is used for."""
    if not isinstance(search, Retriever):
        try:
            return copy.deepcopy(search)
        except Exception:  # a client, say: then it must not be used elsewhere
            return search
    twin = copy.copy(search)
    inner = [each if isinstance(each, str) else _own_index(each) for each in search.components()]
    if inner:
        several = isinstance(search.of, list | tuple)  # type: ignore[attr-defined]
        twin.of = inner if several else inner[0]  # type: ignore[attr-defined]
        twin.replace_components(inner)
    return twin


def _save(chunks: Chunks, folder: Path) -> None:
    """The places of the chunks, and the texts of those that have none."""
    from goodgain.io.atomic import write_texts

    lines = []
    for name, text in chunks.texts.items():
        piece = parse_chunk_id(name)
        place = [name, text] if piece is None else [piece.doc, piece.start, piece.end]
        lines.append(json.dumps(place))
    facts = [chunks.documents, chunks.empty, chunks.unlocated, chunks.ambiguous, chunks.example]
    write_texts({str(folder / _FILE): "\n".join([json.dumps(facts), *lines]) + "\n"})


def _load(folder: Path, documents: Mapping[str, str]) -> Chunks:
    with (folder / _FILE).open(encoding="utf-8") as file:
        chunks = Chunks({}, *json.loads(next(file)))
        for line in file:
            place = json.loads(line)
            if len(place) == 2:
                chunks.texts[place[0]] = place[1]
            else:
                doc, start, end = place
                chunks.texts[chunk_id(doc, start, end)] = documents[doc][start:end]
    return chunks


def returns_chunks(search: Any) -> bool:
    """Whether the results of a system are chunks; chunks and documents cannot be combined."""
    if isinstance(search, Chunked):
        return True
    components = search.components() if isinstance(search, Retriever) else []
    kinds = {returns_chunks(component) for component in components}
    if len(kinds) > 1:
        raise UsageError(
            f"{type(search).__name__} combines a system over chunks with one over documents",
            hint="give all of them the same chunk = {...}, or none",
        )
    return kinds == {True}


def require_own_indexes(systems: Mapping[str, Any]) -> None:
    """An object that cannot be copied has one index: of the documents, or of the chunks of one system."""
    contexts: dict[int, tuple[Any, set[int]]] = {}
    for search in systems.values():
        _add_contexts(search, 0, contexts)
    for search, users in contexts.values():
        if len(users) > 1:
            raise UsageError(
                f"one {type(search).__name__} object is used over different documents or chunks",
                hint="make a new one for each system over chunks",
            )


def _add_contexts(search: Any, context: int, contexts: dict[int, tuple[Any, set[int]]]) -> None:
    users = contexts.setdefault(id(search), (search, set()))[1]
    if context in users or not hasattr(search, "index"):
        return
    users.add(context)
    inner = id(search) if isinstance(search, Chunked) else context
    for component in search.components() if isinstance(search, Retriever) else ():
        _add_contexts(component, inner, contexts)


def unlocated_texts(
    systems: Mapping[str, Any], documents: Mapping[str, str], stages: Stages
) -> dict[str, str]:
    """The texts of chunks that lie nowhere in their documents, by id: retrieved, they cover nothing."""
    texts: dict[str, str] = {}
    for search in systems.values():
        for retriever in search.all_retrievers() if isinstance(search, Retriever) else ():
            if isinstance(retriever, Chunked):
                retriever.stages = stages
                retriever.index_own(documents)  # nothing to do after a run that searched
                texts |= {
                    n: t for n, t in retriever.chunks.texts.items() if parse_chunk_id(n) is None
                }
    return texts


def chunk_facts(search: Any, judged: Collection[str]) -> dict[str, Any]:
    """What the record of an index says about its chunks; `judged` are ids of judged chunks, if any."""
    own = [r for r in search.all_retrievers() if isinstance(r, Chunked)]
    if not own:
        return {}
    facts: dict[str, Any] = {"chunks": len(own[0].chunks.texts)}
    if any(r.chunks.unlocated for r in own):
        facts["unlocated"] = sum(r.chunks.unlocated for r in own)
    notes = list(dict.fromkeys(note for r in own for note in r.chunks.notes()))
    missing = [name for name in judged if not any(name in r.chunks.texts for r in own)]
    if missing:
        notes.append(
            f"{len(missing):,} of {len(judged):,} judged chunks are not among its chunks, such as "
            f"'{missing[0]}': they were judged under another splitter; judge spans to compare splitters"
        )
    return {**facts, "chunk_notes": notes} if notes else facts
