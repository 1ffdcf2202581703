"""A document that stands twice in a long list is found wherever it stands, and never where it does not."""

from __future__ import annotations

import random

import pytest

import goodgain as gg
from goodgain.errors import DuplicateError

QRELS = {"q": {f"d{n}": n % 3 for n in range(0, 3000, 7)}}


def lines(docs, scores):
    return "".join(f"q Q0 {doc} 1 {score} tag\n" for doc, score in zip(docs, scores, strict=True))


@pytest.mark.parametrize("size", [1, 2, 3, 64, 127, 128, 1000, 1024, 5000])
def test_one_document_twice(tmp_path, size):
    chance = random.Random(size)
    for _ in range(8):
        docs = [f"d{n}" for n in chance.sample(range(10000), size)]
        scores = [chance.randrange(1, 9999) / 8 for _ in docs]
        path = tmp_path / "run.txt"
        path.write_text(lines(docs, scores))
        best = gg.evaluate(QRELS, path, "AP NumRet", missing="skip")
        first, second = chance.randrange(size), chance.randrange(size + 1)
        again = [*docs[:second], docs[first], *docs[second:]]
        path.write_text(lines(again, [*scores[:second], 0, *scores[second:]]))
        with pytest.raises(DuplicateError) as error:
            gg.evaluate(QRELS, path, "AP")
        later = [i for i, doc in enumerate(again) if doc == docs[first]][1]
        assert f"'{docs[first]}'" in str(error.value) and f":{later + 1}" in str(error.value)
        kept = gg.evaluate(QRELS, path, "AP NumRet", missing="skip", duplicates="best")
        assert dict(kept) == dict(best)
