"""Latent semantic analysis fitted on the documents: an embedding that needs no download."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.experiment.retrievers.base import import_extra
from goodgain.experiment.retrievers.embed import TextSettings, one_thread
from goodgain.experiment.retrievers.vectors import load_rows, save_rows, unit
from goodgain.io.atomic import write_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goodgain.experiment.retrievers.vectors import Vectors
    from goodgain.experiment.stages import Stages


class LatentSemantics:
    """Latent semantic analysis: an SVD of TF-IDF weights of character n-grams. Needs no download."""

    def __init__(self, dimensions: int, texts: TextSettings | None = None) -> None:
        for module in ("sklearn.decomposition", "sklearn.feature_extraction.text"):
            import_extra(module, "the embedding 'lsa'", "scikit-learn")
        self._dimensions = dimensions
        self._texts = texts or TextSettings()

    def documents(
        self, documents: Mapping[str, str], stages: Stages, version: str | None = None
    ) -> Vectors:
        """The vectors of the documents in the space fitted on them."""
        import numpy
        import sklearn

        from goodgain import __version__

        space = stages.run(
            "embed",
            compute=lambda _: self._fit(list(documents.values())),
            save=SemanticSpace.save,
            load=SemanticSpace.load,
            code=self._texts.prepare,
            parameters={"dimensions": self._dimensions, "prefix": self._texts.document_prefix},
            model=["lsa", __version__, sklearn.__version__, numpy.__version__],
            inputs=[documents],
            version=version,
        ).value
        self._basis = space.basis
        self._pieces = _vectorizer(vocabulary={piece: i for i, piece in enumerate(space.pieces)})
        self._pieces.idf_ = space.weights
        return space.vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Project queries into the space."""
        prepared = self._texts.prepared(texts, self._texts.query_prefix)
        return unit(self._pieces.transform(prepared) @ self._basis)

    def _fit(self, texts: Sequence[str]) -> SemanticSpace:
        import numpy as np
        from sklearn.decomposition import TruncatedSVD

        few = len(texts) < 10  # n-grams of one document carry no signal, unless the corpus is tiny
        pieces = _vectorizer(min_df=1 if few else 2)
        try:
            weights = pieces.fit_transform(self._texts.prepared(texts, self._texts.document_prefix))
        except ValueError:  # nothing but stop words
            raise InputError("the documents contain no words to embed") from None
        size = min(self._dimensions, *weights.shape)
        space = TruncatedSVD(n_components=size, n_iter=3, random_state=0)
        # one thread: the same sums in the same order, and no contention on a busy machine
        with one_thread():
            vectors = unit(space.fit_transform(weights))
        return SemanticSpace(
            vectors=vectors,
            pieces=pieces.get_feature_names_out().tolist(),
            weights=pieces.idf_,
            # one row per n-gram: `space.transform` would transpose this table for every query
            basis=np.ascontiguousarray(space.components_.T),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticSpace:
    """What LSA was fitted to: its n-grams with their weights, and the directions of the space."""

    vectors: Vectors
    pieces: list[str]
    weights: Any
    basis: Any

    def save(self, folder: Path) -> None:
        """Write the space to files."""
        import numpy as np

        save_rows(self.vectors, folder)
        np.save(folder / "weights.npy", self.weights)
        np.save(folder / "basis.npy", self.basis)
        write_texts({str(folder / "pieces.json"): json.dumps(self.pieces)})

    @classmethod
    def load(cls, folder: Path) -> SemanticSpace:
        """Read the space."""
        import numpy as np

        return cls(
            vectors=load_rows(folder),
            pieces=json.loads((folder / "pieces.json").read_text(encoding="utf-8")),
            weights=np.load(folder / "weights.npy"),
            basis=np.load(folder / "basis.npy"),
        )


def _vectorizer(**options: Any) -> Any:
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        preprocessor=_content, analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True,
        dtype=np.float32, **options,
    )  # fmt: skip


def _content(text: str) -> str:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = re.findall(r"\w\w+", text.lower())
    return " ".join(word for word in words if word not in ENGLISH_STOP_WORDS)
