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


def slow_ranks(spans, chunks, cover):
    """The rank of the chunk that completes each span; None where nothing does. In arrays of booleans."""
    ranks = [None] * len(spans)
    seen = {doc: [False] * len(text) for doc, text in TEXT.items()}
    for rank, chunk in enumerate(chunks, 1):
        for i in range(chunk["start"], chunk["end"]):
            seen[chunk["doc"]][i] = True
        for number, span in enumerate(spans):
            marks = seen[span["doc"]][span["start"] : span["end"]]
            if ranks[number] is None and sum(marks) / len(marks) >= cover:
                ranks[number] = rank
    return ranks


def slow_entries(spans, chunks, cover, least=0):
    """(gain or None) of each entry of the ranked list of spans."""
    ranks = slow_ranks(spans, chunks, cover)
    entries = []
    for rank in range(1, len(chunks) + 1):
        gains = sorted(
            (s["gain"] for s, r in zip(spans, ranks, strict=True) if r == rank), reverse=True
        )
        relevant = [g for g in gains if g > 0 and g >= least]
        entries += relevant or [gains[0] if gains else None]
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
    measures = "DCG R@3 RR RR(rel=2) Hit@2 P@2 AP nDCG nDCG@2 CG@2"
    scores = gg.evaluate(spans, chunks, measures, cover=cover)["run"].per_query
    for q in ("q0", "q1", "q2"):
        own, top = of_query(spans, q), of_query(chunks, q)
        ranks = slow_ranks(own, top, cover)
        entries = slow_entries(own, top, cover)
        dcg = sum((g or 0) / math.log2(i + 1) for i, g in enumerate(entries, 1))
        assert scores[q]["DCG"] == pytest.approx(dcg)
        for rel, label in ((1, "RR"), (2, "RR(rel=2)")):
            met = [r for s, r in zip(own, ranks, strict=True) if r and s["gain"] >= rel]
            assert scores[q][label] == pytest.approx(1 / min(met) if met else 0)
        relevant = [r for s, r in zip(own, ranks, strict=True) if s["gain"] >= 1]
        met = sum(r is not None and r <= 3 for r in relevant)
        assert scores[q]["R@3"] == pytest.approx(met / len(relevant) if relevant else 0)
        early = [r for r in relevant if r and r <= 2]
        assert scores[q]["Hit@2"] == bool(early)
        depth = max(2, len(slow_entries(own, top[:2], cover, 1)))
        assert scores[q]["P@2"] == pytest.approx(len(early) / depth)
        gain = sum(s["gain"] for s, r in zip(own, ranks, strict=True) if r and r <= 2)
        assert scores[q]["CG@2"] == pytest.approx(gain)
        assert 0 <= scores[q]["nDCG"] <= 1 + 1e-12 and 0 <= scores[q]["nDCG@2"] <= 1 + 1e-12


def test_one_chunk_that_holds_every_span_has_a_recall_of_one_at_rank_one():
    """Spans that one chunk completes do not push each other past a cut-off."""
    judged = [
        {"query": "q", "doc": "d", "start": 10 * i, "end": 10 * i + 5, "gain": i} for i in range(4)
    ]
    chunks = [{"query": "q", "doc": "d", "start": 0, "end": 60}]
    means = gg.evaluate(judged, chunks, "R@1 RR nDCG@1 nDCG AP@1 P@1 SpanRecall@1").runs[0].means
    assert means == {
        "R@1": 1,
        "RR": 1,
        "nDCG@1": 1,
        "nDCG": 1,
        "AP@1": 1,
        "P@1": 1,
        "SpanRecall@1": 1,
    }


def test_spans_of_no_gain_shift_no_ranks():
    judged = [
        {"query": "q", "doc": "d", "start": 10 * i, "end": 10 * i + 5, "gain": 0} for i in range(3)
    ]
    judged.append({"query": "q", "doc": "d", "start": 50, "end": 60, "gain": 2})
    chunks = [
        {"query": "q", "doc": "d", "start": 0, "end": 45},
        {"query": "q", "doc": "d", "start": 45, "end": 70},
    ]
    assert gg.evaluate(judged, chunks, "RR").runs[0].means == {"RR": 0.5}


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
    assert result.runs[0].coverage.bad_rows == 0
    assert result.warnings() == [
        "run: 1 of 1 quotes occur more than once in their documents, for example that of document 'd2' "
        "(the judgments row 1): the first place counts",
        "run: 1 of 2 texts of chunks are not in their documents, for example that of document 'd2' (the run "
        "row 1): they count as retrieved text that covers nothing",
        "run: 1 of 2 texts of chunks occur more than once in their documents, for example that of document "
        "'d2' (the run row 2): the first place counts",
    ]


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
    for ties in ("average", "bounds"):
        with pytest.raises(UsageError, match="is not available for judgments of spans"):
            gg.evaluate(judged, judged, "RR", ties=ties)
    with pytest.raises(UsageError, match="identity does not apply"):
        gg.evaluate(judged, judged, "RR", identity="doc#chunk")
    with pytest.raises(UsageError, match="SpanRecall needs judgments of spans"):
        gg.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "SpanRecall")
    with pytest.raises(UsageError, match="cover must be"):
        gg.evaluate(judged, judged, "RR", cover=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"start": 5, "end": 5}, "empty span 5 to 5"),
        ({"start": 5, "end": 2}, "invalid span 5 to 2"),
        ({"start": -1, "end": 2}, "invalid span -1 to 2"),
        ({"start": 0, "end": 1000}, "ends after document 'd2', which has 130 characters"),
        ({"start": 0.5, "end": 2}, "'0.5' is not a whole offset"),
        ({"start": 3}, "a span needs start and end"),
        ({}, "neither start and end nor a quote"),
        ({"quote": "  "}, "neither start and end nor a quote"),
        ({"start": 0, "end": 4, "gain": "high"}, "the gain 'high' is not a finite number"),
        ({"start": 1, "end": 4}, "the same span of document 'd2' is judged twice"),
    ],
)
def test_judgments_that_mean_nothing_are_refused_with_their_line(tmp_path, line, message):
    path = tmp_path / "spans.jsonl"
    rows = [
        {"query": "q", "doc": "d2", "start": 1, "end": 4, "gain": 1, "quote": ""},
        {"query": "q", "doc": "d2", **line},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=message) as caught:
        gg.evaluate(
            str(path), [{"query": "q", "doc": "d2", "start": 0, "end": 9}], "RR", documents=TEXT
        )
    assert caught.value.where.endswith("spans.jsonl:2")


def test_duplicates_of_judged_spans():
    judged = [{"query": "q", "doc": "d", "start": 0, "end": 4, "gain": gain} for gain in (1, 3, 2)]
    chunk = [{"query": "q", "doc": "d", "start": 0, "end": 9}]
    assert gg.evaluate(judged, chunk, "CG", duplicates="first")["CG"] == 1
    assert gg.evaluate(judged, chunk, "CG", duplicates="best")["CG"] == 3


def test_ordinary_runs_by_ids_of_chunks_and_of_documents(tmp_path):
    judged = [{"query": "q", "doc": "a#b", "start": 10, "end": 20}]
    documents = {"a#b": "x" * 40, "c": "y" * 40}
    run = tmp_path / "chunks.run"
    run.write_text("q Q0 c 1 9 t\nq Q0 a#b#0-14 2 5 t\nq Q0 a#b#14-40 3 5 t\n")
    scores = gg.evaluate(
        judged, str(run), "SpanRecall@2 SpanRecall SpanPrecision@1 RR", documents=documents
    )
    # equal scores: the larger id first, which is a#b#14-40
    assert scores.runs[0].means == {
        "SpanRecall@2": 0.6,
        "SpanRecall": 1,
        "SpanPrecision@1": 0,
        "RR": 0.5,
    }
    whole = gg.evaluate(
        judged, {"q": {"a#b": 1.0}}, "SpanRecall SpanPrecision", documents=documents
    )
    assert whole.runs[0].means == {"SpanRecall": 1, "SpanPrecision": 0.25}
    with pytest.raises(InputError, match="the result 'c' has neither offsets nor a text"):
        gg.evaluate(judged, str(run), "RR")


def test_bad_rows_of_chunks_are_skipped_and_counted_on_request():
    judged = [{"query": "q", "doc": "d", "start": 0, "end": 4}]
    chunks = [
        {"query": "q", "doc": "d", "start": 9, "end": 9, "score": 2},
        {"query": "q", "doc": "d", "start": 0, "end": 4, "score": 1},
    ]
    with pytest.raises(InputError, match="empty span 9 to 9"):
        gg.evaluate(judged, chunks, "RR")
    result = gg.evaluate(judged, chunks, "RR", skip_bad=True)
    assert (result["RR"], result.runs[0].coverage.bad_rows) == (1, 1)
    assert "1 bad row skipped, for example: empty span 9 to 9" in result.warnings()[0]


def test_tokens_count_for_texts_without_offsets_too():
    documents = {"d": "alpha beta gamma delta"}
    judged = [{"query": "q", "doc": "d", "quote": "alpha beta"}]
    chunks = [
        {"query": "q", "doc": "d", "text": "alpha beta gamma"},
        {"query": "q", "doc": "d", "text": "made up words"},
    ]
    means = (
        gg.evaluate(judged, chunks, "SpanPrecision", documents=documents, tokenizer="words")
        .runs[0]
        .means
    )
    assert means["SpanPrecision"] == pytest.approx(2 / 6)


def test_the_command_takes_cover_and_tokenizer(tmp_path, capsys):
    files = {"spans.jsonl": [{"query": "q", "doc": "d", "quote": "beta gamma delta"}],
             "chunks.jsonl": [{"query": "q", "doc": "d", "text": "alpha beta"}],
             "docs.jsonl": [{"id": "d", "text": "alpha beta gamma delta"}]}  # fmt: skip
    for name, rows in files.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = [str(tmp_path / name) for name in files]
    line = [
        "evaluate",
        *paths[:2],
        "--documents",
        paths[2],
        "-m",
        "R SpanRecall",
        "--format",
        "json",
    ]
    values = {}
    for cover in ("0.2", "0.5"):
        assert command([*line, "--cover", cover, "--tokenizer", "words"]) == 0
        values[cover] = {
            row["measure"]: row["value"] for row in json.loads(capsys.readouterr().out)
        }
    assert values["0.2"] == {"R": 1, "SpanRecall": pytest.approx(1 / 3)}
    assert values["0.5"] == {"R": 0, "SpanRecall": pytest.approx(1 / 3)}
    assert command([*line, "--cover", "0"]) == 2
    assert "cover must be above 0" in capsys.readouterr().err
