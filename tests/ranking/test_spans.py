"""Judged spans and retrieved chunks: against a second implementation, character by character."""

from __future__ import annotations

import json
import math
import random

import pandas as pd
import pytest

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError, UsageError

TEXT = {
    "d1": "The quick brown fox jumps over the lazy dog. " * 4,
    "d2": "Rotate keys with --force. " * 5,
}
K = (1, 2, 3, 10)


def random_case(seed):
    draw = random.Random(seed)
    spans, chunks = [], []
    for q in range(3):
        for _ in range(draw.randint(1, 4)):
            doc = draw.choice(["d1", "d2"])
            start = draw.randrange(len(TEXT[doc]) - 10)
            end = draw.randint(start + 1, min(start + 40, len(TEXT[doc])))
            spans.append(
                {
                    "query": f"q{q}",
                    "doc": doc,
                    "start": start,
                    "end": end,
                    "gain": draw.randint(0, 3),
                }
            )
        for rank in range(draw.randint(1, 6)):
            doc = draw.choice(["d1", "d2"])
            start = draw.randrange(len(TEXT[doc]) - 10)
            end = draw.randint(start + 1, min(start + 60, len(TEXT[doc])))
            chunks.append(
                {"query": f"q{q}", "doc": doc, "start": start, "end": end, "score": 10 - rank}
            )
    return spans, chunks  # fmt: skip


def characters(rows):
    return {(row["doc"], i) for row in rows for i in range(row["start"], row["end"])}


def slow(spans, chunks, k, rel=1):
    """Recall, precision and IoU from sets of characters."""
    judged = characters(row for row in spans if row["gain"] >= rel)
    top = chunks[:k]
    covered = len(judged & characters(top))
    read = sum(row["end"] - row["start"] for row in top)
    if not judged:
        return (math.nan,) * 3
    return (
        covered / len(judged),
        covered / read if read else 0.0,
        covered / (len(judged) + read - covered),
    )


def slow_entries(spans, chunks, cover):
    """(gain or None) of each entry of the ranked list of spans."""
    seen, earned, entries = set(), set(), []
    for chunk in chunks:
        seen |= characters([chunk])
        done = [
            i
            for i, span in enumerate(spans)
            if i not in earned
            and len(characters([span]) & seen) >= cover * (span["end"] - span["start"])
        ]
        earned |= set(done)
        entries += sorted((spans[i]["gain"] for i in done), reverse=True) or [None]
    return entries


def of_query(rows, query):
    return [{k: v for k, v in row.items() if k != "query"} for row in rows if row["query"] == query]


@pytest.mark.parametrize("seed", range(30))
def test_against_sets_of_characters(seed):
    spans, chunks = random_case(seed)
    labels = [f"{name}{at}" for name in ("SpanRecall", "SpanPrecision", "SpanIoU")
              for at in ("", *(f"@{k}" for k in K), "(rel=2)@3")]  # fmt: skip
    scores = gg.evaluate(spans, chunks, labels)["run"].per_query
    for q in ("q0", "q1", "q2"):
        own, top = of_query(spans, q), of_query(chunks, q)
        for at, k, rel in (("", None, 1), *((f"@{k}", k, 1) for k in K), ("(rel=2)@3", 3, 2)):
            expected = slow(own, top, k, rel)
            for name, wanted in zip(
                ("SpanRecall", "SpanPrecision", "SpanIoU"), expected, strict=True
            ):
                assert scores[q][f"{name}{at}"] == pytest.approx(wanted, nan_ok=True), (q, name, at)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("cover", [0.25, 0.5, 1.0])
def test_ranked_measures_over_spans(seed, cover):
    """A span earns its gain once, at the rank that completes it."""
    spans, chunks = random_case(seed)
    scores = gg.evaluate(spans, chunks, "DCG R@3 RR AP nDCG", cover=cover)["run"].per_query
    for q in ("q0", "q1", "q2"):
        own = of_query(spans, q)
        entries = slow_entries(own, of_query(chunks, q), cover)
        dcg = sum((g or 0) / math.log2(i + 1) for i, g in enumerate(entries, 1))
        assert scores[q]["DCG"] == pytest.approx(dcg)
        relevant = sum(span["gain"] >= 1 for span in own)
        met = sum((g or 0) >= 1 for g in entries[:3])
        assert scores[q]["R@3"] == pytest.approx(met / relevant if relevant else 0)
        first = next((1 / i for i, g in enumerate(entries, 1) if (g or 0) >= 1), 0)
        assert scores[q]["RR"] == pytest.approx(first)
        assert scores[q]["nDCG"] <= 1 + 1e-12


def test_chunk_sizes_are_compared_with_one_set_of_judgments():
    """The whole of a text in one chunk, or in many: the same recall, another precision."""
    judged = [{"query": "q", "doc": "d1", "quote": "brown fox jumps", "gain": 1}]
    size = len(TEXT["d1"])
    whole = [{"query": "q", "doc": "d1", "start": 0, "end": size}]
    halves = [
        {"query": "q", "doc": "d1", "start": s, "end": min(s + 50, size)}
        for s in range(0, size, 40)
    ]
    result = gg.evaluate(
        judged, {"whole": whole, "halves": halves}, "SpanRecall SpanPrecision@1 RR", documents=TEXT
    )
    values = {run.name: run.means for run in result.runs}
    assert values["whole"]["SpanRecall"] == values["halves"]["SpanRecall"] == 1
    assert values["whole"]["SpanPrecision@1"] == pytest.approx(15 / size)
    assert values["halves"]["SpanPrecision@1"] == pytest.approx(15 / 50)
    assert values["whole"]["RR"] == values["halves"]["RR"] == 1


def test_repeats_count_as_retrieved():
    judged = [{"query": "q", "doc": "d", "start": 0, "end": 10, "gain": 1}]
    chunks = [{"query": "q", "doc": "d", "start": 0, "end": 10}] * 2
    means = gg.evaluate(judged, chunks, "SpanRecall SpanPrecision SpanIoU").runs[0].means
    assert means == {"SpanRecall": 1, "SpanPrecision": 0.5, "SpanIoU": 0.5}


def test_quotes_without_documents_are_found_in_chunks():
    judged = [
        {"query": "q", "doc": "d2", "quote": "rotate  KEYS"},
        {"query": "q", "doc": "d2", "quote": "other"},
    ]
    chunks = [{"query": "q", "doc": "d2", "text": "Please Rotate\nkeys now", "rank": 1}]  # fmt: skip
    means = gg.evaluate(judged, chunks, "SpanRecall R").runs[0].means
    assert means["SpanRecall"] == pytest.approx(12 / 17)
    assert means["R"] == 0.5


def test_text_is_located_with_white_space_normalised_and_losses_are_counted():
    judged = [{"query": "q", "doc": "d2", "quote": "Rotate\n keys", "gain": 2}]
    chunks = [
        {"query": "q", "doc": "d2", "text": "nowhere to be seen", "score": 2},
        {"query": "q", "doc": "d2", "text": "Rotate   keys with", "score": 1},
    ]
    result = gg.evaluate(judged, chunks, "SpanRecall RR", documents=TEXT)
    assert result.runs[0].means == {"SpanRecall": 1, "RR": 0.5}
    assert result.runs[0].coverage.bad_rows == 1
    assert "the text of a chunk is not in document 'd2'" in result.warnings()[0]


def test_tokens():
    def tokens(text):
        import re

        return [match.span() for match in re.finditer(r"\S+", text)]

    judged = [{"query": "q", "doc": "d1", "quote": "quick brown fox jumps"}]
    chunks = [{"query": "q", "doc": "d1", "text": "The quick brown"}]
    result = gg.evaluate(
        judged, chunks, "SpanRecall SpanPrecision", documents=TEXT, tokenizer=tokens
    )
    assert result.runs[0].means == {"SpanRecall": 0.5, "SpanPrecision": pytest.approx(2 / 3)}


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet", "frame"])
def test_files_and_the_command(tmp_path, capsys, form):
    spans, chunks = random_case(1)
    expected = gg.evaluate(spans, chunks, "SpanRecall@2 nDCG").runs[0].means
    paths = []
    for name, rows in (("spans", spans), ("chunks", chunks)):
        path = tmp_path / f"{name}.{form}"
        frame = pd.DataFrame(rows)
        if form == "csv":
            frame.to_csv(path, index=False)
        elif form == "parquet":
            frame.to_parquet(path)
        elif form == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif form == "json":
            path.write_text(json.dumps(rows))
        paths.append(frame if form == "frame" else str(path))
    assert gg.evaluate(*paths, "SpanRecall@2 nDCG").runs[0].means == pytest.approx(expected)
    if form != "frame":
        assert command(["evaluate", *paths, "-m", "SpanRecall@2 nDCG", "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert {row["measure"]: row["value"] for row in rows} == pytest.approx(expected)


def test_bad_use():
    judged = [{"query": "q", "doc": "d", "start": 3, "end": 9}]
    with pytest.raises(UsageError, match="the chunks have only text"):
        gg.evaluate(judged, [{"query": "q", "doc": "d", "text": "x"}], "RR")
    with pytest.raises(InputError, match="invalid span 9 to 3"):
        gg.evaluate([{"query": "q", "doc": "d", "start": 9, "end": 3}], judged, "RR")
    with pytest.raises(UsageError, match="SpanRecall needs judgments of spans"):
        gg.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "SpanRecall")
    with pytest.raises(UsageError, match="cover must be"):
        gg.evaluate(judged, judged, "RR", cover=0)
