"""Embeddings: a function, an object with two sides, a sentence-transformers model, or LSA."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

from goodgain.errors import UsageError
from goodgain.experiment.retrievers.base import import_extra
from goodgain.experiment.retrievers.vectors import (
    BATCH,
    checked_rows,
    compute_in_batches,
    load_rows,
    require_dimensions,
    save_rows,
)
from goodgain.io.sources import sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from goodgain.experiment.retrievers.vectors import Vectors
    from goodgain.experiment.stages import Stages

LSA = "lsa"


# Methods of embedding objects by framework: (documents, queries, whether that takes one query at a time)
_SIDES = (
    ("embed_documents", "embed_queries", False),
    ("embed_documents", "embed_query", True),  # LangChain
    ("get_text_embedding_batch", "get_query_embedding", True),  # LlamaIndex
    ("encode_document", "encode_query", False),  # sentence-transformers
    ("encode", "encode", False),
)
EmbedFunction: TypeAlias = "Callable[[list[str]], Any]"


_models: WeakValueDictionary[tuple[Any, str], Any] = WeakValueDictionary()


class Embedding(Protocol):
    """Turns texts into unit vectors, documents and queries apart."""

    def documents(
        self, documents: Mapping[str, str], stages: Stages, version: str | None = None
    ) -> Vectors:
        """The vectors of the documents, in their order."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings:
    """What happens to texts before they are embedded."""

    prepare: Callable[[str], str] | None = None
    document_prefix: str = ""
    query_prefix: str = ""
    batch: int = BATCH

    def prepared(self, texts: Iterable[str], prefix: str) -> list[str]:
        """The texts as the embedding gets them."""
        prepare = self.prepare or str
        return [prefix + prepare(text) for text in texts]


def embedding(chosen: Any, dimensions: int = 0, texts: TextSettings | None = None) -> Embedding:
    """The embedding of a setting: "lsa", the name or path of a model, a function, or an object.

    An object has a method for documents and one for queries, as those of LangChain, LlamaIndex and
    sentence-transformers do, or `embed_documents` and `embed_queries`.
    """
    texts = texts or TextSettings()
    if isinstance(chosen, str) and chosen == LSA:
        from goodgain.experiment.retrievers.lsa import LatentSemantics

        return LatentSemantics(dimensions, texts)
    if isinstance(chosen, str):
        sides = sides_of(chosen, f"the embedding '{chosen}'", normalize=True)
        version = getattr(sys.modules["sentence_transformers"], "__version__", "")
        known_by = ["SentenceTransformer", chosen, sha256_of(chosen), version]
        return ModelEmbedding(*sides, texts, model=known_by)
    return ModelEmbedding(*_sides(chosen), texts, code=chosen)


def sides_of(chosen: Any, purpose: str, *, normalize: bool) -> tuple[EmbedFunction, EmbedFunction]:
    """The function for documents and the one for queries, of a model by name, a function or an object.

    `normalize` scales the vectors of a model to length 1.
    """
    if isinstance(chosen, str):
        return _encoders(load_model("SentenceTransformer", chosen, purpose), normalize)
    return _sides(chosen)


def _sides(chosen: Any) -> tuple[EmbedFunction, EmbedFunction]:
    for for_documents, for_queries, is_single in _SIDES:
        if hasattr(chosen, for_documents) and hasattr(chosen, for_queries):
            documents, queries = getattr(chosen, for_documents), getattr(chosen, for_queries)
            return documents, partial(_one_by_one, queries) if is_single else queries
    if not callable(chosen):
        raise UsageError(
            f"embed has type {type(chosen).__name__}, which does not embed texts",
            hint="pass a function from texts to rows of numbers, or an object with embed_documents and "
            "embed_queries",
        )
    return chosen, chosen


def _one_by_one(embed: Callable[[str], Any], texts: list[str]) -> list[Any]:
    return [embed(text) for text in texts]


def _encoders(model: Any, normalize: bool) -> tuple[EmbedFunction, EmbedFunction]:
    """The two sides of a sentence-transformers model, with its own prompts where it has them."""
    options = {"normalize_embeddings": normalize, "show_progress_bar": False}
    if hasattr(model, "encode_document"):
        return (
            lambda texts: model.encode_document(texts, **options),
            lambda texts: model.encode_query(texts, **options),
        )
    prompts = getattr(model, "prompts", None) or {}
    sides = []
    for names in (("document", "passage", "corpus"), ("query",)):
        own = next((name for name in names if prompts.get(name)), None)
        arguments = {**options, "prompt_name": own} if own else options
        sides.append(lambda texts, arguments=arguments: model.encode(texts, **arguments))
    return sides[0], sides[1]


def load_model(kind: str, name: str, purpose: str) -> Any:
    """A sentence-transformers model by its name or path."""
    package = import_extra("sentence_transformers", purpose, "sentence-transformers", "embed")
    make = getattr(package, kind)
    if (loaded := _models.get((make, name))) is not None:  # by another system
        return loaded
    try:
        model = _models[make, name] = make(name)
        return model
    except Exception as error:
        raise UsageError(f"cannot load the model '{name}': {error}") from None


def require_vector_settings(name: str, column: str | None, embed: Any) -> None:
    """Refuse a vector search with only one of its two settings, or with an embedding fitted here."""
    if bool(column) != bool(embed) or embed == LSA:
        raise UsageError(
            f"a vector search needs both {name} and embed (a model or a function)",
            hint=f'for example {name} = "embedding", embed = "my_module:embed"',
        )


class ModelEmbedding:
    """A function for documents and one for queries; `code` and `model` are what they are known by."""

    def __init__(
        self,
        documents: EmbedFunction,
        queries: EmbedFunction,
        texts: TextSettings,
        *,
        code: Any = None,
        model: Any = None,
    ) -> None:
        self._documents, self._queries, self._texts = documents, queries, texts
        self._code, self._model = code, model
        self._dimensions: int | None = None

    def documents(
        self, documents: Mapping[str, str], stages: Stages, version: str | None = None
    ) -> Vectors:
        """The vectors of the documents, computed in batches or reused."""
        settings = self._texts

        def embed(texts: list[str]) -> Any:
            return self._documents(settings.prepared(texts, settings.document_prefix))

        def compute(folder: Path | None) -> Vectors:
            names, texts = list(documents), list(documents.values())
            return compute_in_batches(names, texts, embed, settings.batch, folder)

        vectors = stages.run(
            "embed",
            compute=compute,
            save=save_rows,
            load=load_rows,
            code=[self._code, settings.prepare],
            parameters={"prefix": settings.document_prefix, "batch": settings.batch},
            model=self._model,
            inputs=[documents],
            version=version,
        ).value
        self._dimensions = vectors.shape[1]
        return vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of queries, scaled to length 1."""
        prepared = self._texts.prepared(texts, self._texts.query_prefix)
        return require_dimensions(
            checked_rows(self._queries(prepared), len(texts)), self._dimensions
        )


def one_thread() -> Any:
    """A context in which linear algebra uses one thread; on a busy machine more are slower."""
    controller = _controller()
    return controller.limit(limits=1) if controller else nullcontext()


@cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # comes with scikit-learn
        return None
    return ThreadpoolController()
