"""The second column of TREC qrels on a cluster: an iteration, or a subtopic to measures that count them."""

from __future__ import annotations

import pytest

import goodgain as gg
import goodgain.spark
from goodgain.errors import DuplicateError, InputError

TEXTS = {
    "twice.txt": "q 1 a 1\nq 1 b 1\nq 2 a 3\n",
    "rounds.txt": "q 0.5 a 1\nq 0.5 b 1\nq 1 a 3\n",
}
RUN = {"q": {"a": 2.0, "b": 1.0}}
DUPLICATE = "duplicate judgment of document 'a' for query 'q'"


@pytest.mark.parametrize("small_qrels", [10**6, 0], ids=["broadcast", "shuffled"])
@pytest.mark.parametrize("prefix", ["", "trec:"], ids=["driver", "cluster"])
def test_iterations_and_subtopics(spark, tmp_path, prefix, small_qrels):
    frame = spark.createDataFrame([("q", "a", 2.0), ("q", "b", 1.0)], ["query", "doc", "score"])
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    twice, rounds = (str(tmp_path / name) for name in TEXTS)

    def means(path, measures, **options):
        result = goodgain.spark.evaluate(
            prefix + path, frame, measures, session=spark, small_qrels=small_qrels, **options
        )
        return result.evaluation.runs[0].means

    for path in (twice, rounds):
        with pytest.raises((DuplicateError, InputError), match=DUPLICATE):
            means(path, "nDCG")
    with pytest.raises((DuplicateError, InputError), match=DUPLICATE):
        means(rounds, "alpha_nDCG@2")
    measures = "alpha_nDCG@2 StRecall@1 CG"
    assert means(twice, measures) == gg.evaluate(twice, RUN, measures)["run"].means
    if not prefix:
        for policy, gain in (("first", 1.0), ("best", 3.0)):
            assert means(twice, "CG@1", duplicates=policy) == {"CG@1": gain}
