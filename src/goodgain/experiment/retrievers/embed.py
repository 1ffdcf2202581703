"""Embeddings: a function, a sentence-transformers model, or LSA fitted on the corpus."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

LSA = "lsa"


class Embedding(Protocol):
    """Turns texts into unit vectors."""

    def fit(self, texts: Sequence[str]) -> Vectors:
        """Fit the embedding to the documents, and return their vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of other texts."""


def embedding(
    chosen: str | Callable[[list[str]], Any], dimensions: int, prepare: Callable[[str], str] | None
) -> Embedding:
    """The embedding of a setting: "lsa", the name or path of a model, or a function."""
    if chosen == LSA:
        for module in ("sklearn.decomposition", "sklearn.feature_extraction.text"):
            import_extra(module, "the embedding 'lsa'", "scikit-learn")
        return LatentSemantics(dimensions, prepare)
    if isinstance(chosen, str):
        model = load_model("SentenceTransformer", chosen, f"the embedding '{chosen}'")
        return FunctionEmbedding(
            lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False),
            prepare,
        )
    return FunctionEmbedding(chosen, prepare)


def load_model(kind: str, name: str, purpose: str) -> Any:
    """A sentence-transformers model by its name or path."""
    package = import_extra("sentence_transformers", purpose, "sentence-transformers", "embed")
    try:
        return getattr(package, kind)(name)
    except Exception as error:
        raise UsageError(f"cannot load the model '{name}': {error}") from None


def require_vector_settings(name: str, column: str | None, embed: Any) -> None:
    """Refuse a vector search with only one of its two settings, or with an embedding fitted here."""
    if bool(column) != bool(embed) or embed == LSA:
        raise UsageError(
            f"a vector search needs both {name} and embed (a model or a function)",
            hint=f'for example {name} = "embedding", embed = "my_module:embed"',
        )


class FunctionEmbedding:
    """A function from texts to vectors."""

    def __init__(
        self, function: Callable[[list[str]], Any], prepare: Callable[[str], str] | None = None
    ) -> None:
        self._function = function
        self._prepare = prepare

    def fit(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts; there is nothing to fit."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the function, scaled to length 1."""
        import numpy as np

        prepared = [self._prepare(t) for t in texts] if self._prepare else list(texts)
        vectors = np.asarray(self._function(prepared), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InputError(
                f"the embedding returned an array of shape {vectors.shape} for {len(texts)} texts",
                hint="it must return one row of numbers per text",
            )
        return unit(vectors)


class LatentSemantics:
    """Latent semantic analysis: an SVD of TF-IDF weights of character n-grams. Needs no download."""

    def __init__(self, dimensions: int, prepare: Callable[[str], str] | None = None) -> None:
        self._dimensions = dimensions
        self._prepare = prepare

    def fit(self, texts: Sequence[str]) -> Vectors:
        """Fit the space of these texts."""
        import numpy as np
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        few = (
            len(texts) < 10
        )  # n-grams of a single document carry no signal, unless the corpus is tiny
        self._pieces = TfidfVectorizer(
            preprocessor=self._content, analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True,
            min_df=1 if few else 2, dtype=np.float32,
        )  # fmt: skip
        try:
            weights = self._pieces.fit_transform(texts)
        except ValueError:  # nothing but stop words
            raise InputError("the documents contain no words to embed") from None
        size = min(self._dimensions, *weights.shape)
        space = TruncatedSVD(n_components=size, n_iter=3, random_state=0)
        # one thread: the same sums in the same order, and no contention on a busy machine
        with one_thread():
            vectors = unit(space.fit_transform(weights))
        # one row per n-gram: `space.transform` would transpose this table for every query
        self._basis = np.ascontiguousarray(space.components_.T)
        return vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Project other texts into the space."""
        return unit(self._pieces.transform(texts) @ self._basis)

    def _content(self, text: str) -> str:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        prepared = self._prepare(text) if self._prepare else text
        words = re.findall(r"\w\w+", prepared.lower())
        return " ".join(word for word in words if word not in ENGLISH_STOP_WORDS)


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


def unit(vectors: Vectors) -> Vectors:
    """The vectors scaled to length 1; zero vectors stay zero."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled
