"""Texts to vectors: a function, a model of sentence-transformers, or what is fitted on the corpus."""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from goodgain.errors import InputError, UsageError
from goodgain.experiment.retrievers.base import needed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

LSA = "lsa"


class Embedding(Protocol):
    """Makes a unit vector of every text."""

    def fit(self, texts: Sequence[str]) -> Vectors:
        """Learn what there is to learn from the documents, and return their vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of other texts."""


def embedding(
    chosen: str | Callable[[list[str]], Any], dimensions: int, prepare: Callable[[str], str] | None
) -> Embedding:
    """The embedding behind a setting: "lsa", the name or path of a model, or a function."""
    if chosen == LSA:
        for module in ("sklearn.decomposition", "sklearn.feature_extraction.text"):
            needed(module, "the embedding 'lsa'", "scikit-learn")
        return LatentSemantics(dimensions, prepare)
    if isinstance(chosen, str):
        models = needed("sentence_transformers", f"the embedding '{chosen}'", "sentence-transformers",
                        "embed")  # fmt: skip
        try:
            model = models.SentenceTransformer(chosen)
        except Exception as error:
            raise UsageError(f"the model '{chosen}' cannot be loaded: {error}") from None
        return ByFunction(
            lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False),
            prepare,
        )
    return ByFunction(chosen, prepare)


class ByFunction:
    """A user's function from texts to vectors."""

    def __init__(
        self, function: Callable[[list[str]], Any], prepare: Callable[[str], str] | None = None
    ) -> None:
        self._function = function
        self._prepare = prepare

    def fit(self, texts: Sequence[str]) -> Vectors:
        """There is nothing to learn."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """What the function gives, at length 1."""
        import numpy as np

        given = [self._prepare(t) for t in texts] if self._prepare else list(texts)
        vectors = np.asarray(self._function(given), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InputError(
                f"the embedding gave an array of shape {vectors.shape} for {len(texts)} texts",
                hint="it takes a list of texts and returns a row of numbers for each",
            )
        return unit(vectors)


class LatentSemantics:
    """Latent semantic analysis: the SVD of the TF-IDF of word pieces. Needs no download."""

    def __init__(self, dimensions: int, prepare: Callable[[str], str] | None = None) -> None:
        self._dimensions = dimensions
        self._prepare = prepare

    def fit(self, texts: Sequence[str]) -> Vectors:
        """Find the space of these texts."""
        import numpy as np
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        few = len(texts) < 10  # a piece that is in one document only tells nothing, but of a few
        self._pieces = TfidfVectorizer(
            preprocessor=self._content, analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True,
            min_df=1 if few else 2, dtype=np.float32,
        )  # fmt: skip
        try:
            weights = self._pieces.fit_transform(texts)
        except ValueError:  # nothing but stop words
            raise InputError("the documents have no words to make an embedding of") from None
        size = min(self._dimensions, *weights.shape)
        space = TruncatedSVD(n_components=size, n_iter=3, random_state=0)
        # one thread: the same sums in the same order, and no waiting for a busy core
        with one_thread():
            vectors = unit(space.fit_transform(weights))
        # a row for each piece: `space.transform` would turn this whole table for every query
        self._basis = np.ascontiguousarray(space.components_.T)
        return vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Place other texts in the space."""
        return unit(self._pieces.transform(texts) @ self._basis)

    def _content(self, text: str) -> str:
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        prepared = self._prepare(text) if self._prepare else text
        words = re.findall(r"\w\w+", prepared.lower())
        return " ".join(word for word in words if word not in ENGLISH_STOP_WORDS)


def one_thread() -> Any:
    """Linear algebra on one thread in a `with`: on a busy machine its threads wait for each other."""
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
    """The vectors at length 1; a vector of nothing stays that."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled
