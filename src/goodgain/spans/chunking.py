"""Chunks of documents from any splitter: a built-in one, a function, or an object of a framework."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.spans.pieces import Piece, chunk_id, find_text
from goodgain.spans.splitters import Splitter

if TYPE_CHECKING:
    from collections.abc import Callable

    Split = Callable[[str], Any]


@dataclass(slots=True)
class Chunks:
    """The chunks of documents by id (`doc#start-end`), and what a reader should know about them.

    A chunk whose text is not in its document, because the splitter changed it, has the id `doc#?number`.
    """

    texts: dict[str, str] = field(default_factory=dict)
    documents: int = 0
    empty: int = 0  # documents without a chunk
    unlocated: int = 0
    ambiguous: int = 0  # chunks that could lie in several places
    example: str = ""  # a document of a chunk that was not located

    def notes(self) -> list[str]:
        """What a reader of the numbers should know."""
        notes = []
        if self.empty:
            notes.append(f"{self.empty:,} of {self.documents:,} documents have no chunk")
        if self.unlocated:
            notes.append(
                f"{self.unlocated:,} of {len(self.texts):,} chunks are not in their documents, for example "
                f"one of '{self.example}': the splitter changed their text, so they cover no judged span"
            )
        if self.ambiguous:
            notes.append(
                f"{self.ambiguous:,} of {len(self.texts):,} chunks occur several times where they could "
                "lie; the place nearest to the end of the chunk before is taken"
            )
        return notes


def split_documents(documents: Mapping[str, str], split: Split) -> Chunks:
    """Split every document."""
    chunks = Chunks(documents=len(documents))
    for doc, text in documents.items():
        pieces = _pieces(doc, text, split, chunks)
        chunks.empty += not pieces
        for number, piece in enumerate(pieces, 1):
            if piece.start is None or piece.end is None:
                chunks.unlocated += 1
                chunks.example = chunks.example or doc
                chunks.texts[f"{doc}#?{number}"] = piece.text
            else:
                name = chunk_id(doc, piece.start, piece.end)
                chunks.texts[name] = text[piece.start : piece.end]
    return chunks


def splitter_of(
    splitter: Any = None,
    *,
    size: int | None = None,
    overlap: int | None = None,
    tokenizer: Any = None,
    level: int | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Split:
    """A function from a text to its chunks, from the name of a splitter, a function, or an object.

    Objects of LangChain (`split_text`) and LlamaIndex (`get_nodes_from_documents`) are used as they are. A
    function gets `size`, `overlap` and so on where it has such parameters; others are an error.
    """
    if splitter is None or isinstance(splitter, str):
        if parameters:
            raise UsageError(f"unknown parameter '{next(iter(parameters))}' of a splitter",
                             hint="available: size, overlap, tokenizer, level")  # fmt: skip
        return Splitter(
            splitter or "recursive", size=size, overlap=overlap, tokenizer=tokenizer, level=level
        )
    values = {"size": size, "overlap": overlap, "tokenizer": tokenizer, "level": level}
    wanted = {k: v for k, v in {**values, **(parameters or {})}.items() if v is not None}
    if hasattr(splitter, "split_text") or hasattr(splitter, "get_nodes_from_documents"):
        if wanted:
            raise UsageError(
                f"the splitter {type(splitter).__name__} has its own {', '.join(wanted)}",
                hint="set them where it is made",
            )
        return _of_object(splitter)
    if not callable(splitter):
        raise UsageError(
            f"{splitter!r:.80} is not a splitter",
            hint="a name, a function from a text to its chunks, or a splitter of LangChain or LlamaIndex",
        )
    _require_parameters(splitter, wanted)
    return lambda text: splitter(text, **wanted)


def _require_parameters(function: Any, wanted: Mapping[str, Any]) -> None:
    try:
        signature = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in signature.values()):
        return
    for name in wanted:
        if name not in signature:
            raise UsageError(
                f"the splitter '{getattr(function, '__name__', function)}' has no parameter '{name}'",
                hint=f"its parameters: {', '.join(list(signature)[1:]) or 'none'}",
            )


def _of_object(splitter: Any) -> Split:
    if hasattr(splitter, "split_text"):
        split: Split = splitter.split_text
        return split

    def nodes(text: str) -> Any:
        from llama_index.core import Document

        return splitter.get_nodes_from_documents([Document(text=text)])

    return nodes


def _pieces(doc: str, text: str, split: Split, chunks: Chunks) -> list[Piece]:
    """The chunks of one document, with those that only have a text located."""
    answer = split(text)
    if isinstance(answer, str | bytes) or not hasattr(answer, "__iter__"):
        raise UsageError(
            f"a splitter must return a list of texts or (start, end) pairs, got {answer!r:.60}"
        )
    pieces: list[Piece] = []
    for item in answer:
        interval, part = _read(item)
        if interval is not None:
            pieces.append(_checked(doc, text, interval))
        elif part.strip():
            pieces.append(_locate(doc, text, part, pieces, chunks))
    return pieces


def _read(item: Any) -> tuple[tuple[int, int] | None, str]:
    """The offsets of a chunk, or only its text."""
    if isinstance(item, str):
        return None, item
    if isinstance(item, Mapping):
        if item.get("start") is not None and item.get("end") is not None:
            return (item["start"], item["end"]), ""
        if isinstance(item.get("text"), str):
            return None, item["text"]
    if isinstance(item, tuple | list) and len(item) == 2 and all(type(x) is int for x in item):
        return (item[0], item[1]), ""
    for name in ("page_content", "text", "content"):  # documents of LangChain, nodes of LlamaIndex
        value = getattr(item, name, None)
        if isinstance(value, str):
            return None, value
    if isinstance(start := getattr(item, "start", None), int):
        return (start, item.end), ""
    raise UsageError(
        f"a splitter must return texts, (start, end) pairs or documents, got {item!r:.60}"
    )


def _checked(doc: str, text: str, interval: tuple[Any, Any]) -> Piece:
    start, end = interval
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
        raise UsageError(
            f"the splitter returned the chunk {start} to {end} of document '{doc}', which has "
            f"{len(text):,} characters"
        )
    return Piece(doc, start, end)


def _locate(doc: str, text: str, part: str, before: list[Piece], chunks: Chunks) -> Piece:
    """Where a chunk lies: after the beginning of the chunk before it, best at its end."""
    last = next((p for p in reversed(before) if p.start is not None), None)
    start, end = (-1, 0) if last is None else (last.start or 0, last.end or 0)
    follows = end
    while follows < len(text) and text[follows].isspace() and not part[0].isspace():
        follows += 1
    if text.startswith(part, follows):
        return Piece(doc, follows, follows + len(part), part)
    places = _places(text, part, start + 1, end)
    if len(places) > 1:
        chunks.ambiguous += 1
    place = places[-1] if places else find_text(text, part, end) or find_text(text, part)
    return Piece(doc, *place, part) if place else Piece(doc, None, None, part)


def _places(text: str, part: str, first: int, last: int) -> list[tuple[int, int]]:
    """All places of a text that begin between two offsets."""
    places = []
    while first <= last:
        place = find_text(text, part, first)
        if place is None or place[0] > last:
            break
        places.append(place)
        first = place[0] + 1
    return places
