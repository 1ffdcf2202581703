"""Outside labels are found by the identity of a result: any of its ids, its URL in any form."""

import json

import pytest

import goodgain as gg
from goodgain.labels import with_gains


def trace(*results, conversation="c"):
    searches = [{"query": "q", "results": list(results)}]
    return {
        "conversation": conversation,
        "turns": [{"user": "?", "iterations": [{"searches": searches}]}],
    }


def measured(labels, *results):
    return gg.good_gain([trace(*results)], labels={"c": labels})


def values(scores, measure):
    """The values of a measure after the only iteration, as a list."""
    return [scores.figure(measure, 1).value]


def gains(labels, *results):
    """The gain of each result, or None."""
    found = (
        next(with_gains([trace(*results)], {"c": labels}))
        .turns[-1]
        .iterations[0]
        .searches[0]
        .results
    )
    return [r.gain for r in found]


@pytest.mark.parametrize(
    ("label", "result"),
    [
        ("https://example.com/a", {"url": "https://example.com/a#x"}),
        ("https://example.com/a", {"url": "https://example.com/a?utm_source=y"}),
        ("https://example.com/a?utm_source=z", {"url": "http://www.example.com/a/"}),
        ("example.com/a", {"url": "https://example.com/a"}),
        ("https://example.com/Gain_%28x%29", {"url": "https://example.com/Gain_(x)"}),
        (
            "https://youtu.be/dQw4w9WgXcQ",
            {"url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1"},
        ),
        ("https://example.com/a", {"id": "https://example.com/a/"}),
        ("arXiv:1706.03762", {"url": "https://arxiv.org/pdf/1706.03762v5"}),
        ("10.1145/3292500.3330701", {"url": "https://dl.acm.org/doi/10.1145/3292500.3330701"}),
        ("DOC-1", {"id": "doc-1"}),
        ("f1", {"id": "9", "ids": {"site_id": "s", "file_id": "F1"}, "type": "file"}),
        ("001D000000IqhSL", {"ids": {"record_id": "001D000000IqhSLIAZ"}}),
    ],
)
def test_a_label_is_found_in_any_form(label, result):
    scores = measured({label: 3}, result)
    assert values(scores, "G") == [3]
    assert values(scores, "Coverage") == [1]
    assert values(scores, "EvidenceRecall") == [1]
    assert gains({label: 3}, result) == [3]


@pytest.mark.parametrize(
    ("label", "result"),
    [
        ("https://example.com/a?id=1", {"url": "https://example.com/a?id=2"}),
        ("https://example.com/a", {"url": "https://example.com/A"}),
        ("https://mail.example.com/#inbox/AAA", {"url": "https://mail.example.com/#inbox/BBB"}),
        ("001D000000IqhSL", {"ids": {"record_id": "001D000000IqhSl"}}),
        ("https://youtu.be/dQw4w9WgXcQ", {"url": "https://youtu.be/dqw4w9wgxcq"}),
    ],
)
def test_a_label_of_another_page_is_not(label, result):
    scores = measured({label: 3}, result)
    assert values(scores, "Coverage") == [0]
    assert values(scores, "EvidenceRecall") == [0]
    assert gains({label: 3}, result) == [None]


def test_two_urls_of_one_page_are_one_piece_of_evidence():
    labels = {
        "https://example.com/a": 3,
        "http://www.example.com/a/?utm_source=x": 3,
        "https://example.com/b": 2,
    }
    none = measured(labels, {"url": "https://example.com/c"})
    assert values(none, "EvidenceRecall") == [0]
    one = measured(labels, {"url": "https://example.com/a#top"})
    assert values(one, "EvidenceRecall") == [0.5]  # of two pages, not of three
    assert values(one, "nCG") == [3 / 5]


def test_all_labels_of_a_result_are_found_with_it():
    """A label by id and one by URL are one document once a result has both."""
    labels = {"d1": 3, "https://example.com/a": 3}
    scores = measured(labels, {"id": "d1", "url": "https://example.com/a"})
    assert values(scores, "EvidenceRecall") == [1]


def test_the_exact_label_wins_and_otherwise_the_highest():
    labels = {"https://example.com/a": 2, "https://example.com/a#x": 3}
    exact = measured(labels, {"url": "https://example.com/a"})
    assert values(exact, "G") == [2]
    other = measured(labels, {"url": "https://example.com/a#y"})
    assert values(other, "G") == [3]
    for scores in (exact, other):
        assert any("1 results match labels with different gains" in w for w in scores.warnings())
    assert gains(labels, {"url": "https://example.com/a"}) == [2]
    assert gains(labels, {"url": "https://example.com/a#y"}) == [3]
    clear = measured({"https://example.com/a": 1}, {"url": "https://example.com/a"})
    assert not any("different gains" in w for w in clear.warnings())


def test_results_that_differ_only_in_form_get_names_of_their_own():
    """Two messages of one application share a URL; a label must not be taken for both."""
    one = {
        "url": "https://app.example.com/#a",
        "title": "Budget of 2025",
        "content": "Numbers and numbers of the year.",
    }
    two = {
        "url": "https://app.example.com/#b",
        "title": "Lunch on Friday",
        "content": "Pizza or pasta, please answer.",
    }
    assert gg.Identity().cluster([one, two]).first == (0, 1)
    from goodgain.labels.traces import trace_pairs

    names = [pair.doc for pair in trace_pairs([trace(one, two)])]
    assert len(set(names)) == 2
    assert not any(name.startswith("http") for name in names)


def test_files_and_objects_agree(tmp_path):
    path = tmp_path / "traces.jsonl"
    lines = [
        trace(
            {"url": "https://example.com/a#x"},
            {"url": "https://example.com/b"},
            conversation=f"c{n}",
        )
        for n in range(50)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    labels = {
        f"c{n}": {
            "https://example.com/a": 3,
            "https://example.com/a/": 3,
            "https://example.com/z": 2,
        }
        for n in range(50)
    }
    from_file = gg.good_gain(path, labels=labels)
    assert values(from_file, "G") == values(gg.good_gain(lines, labels=labels), "G") == [3]
    assert values(from_file, "EvidenceRecall") == [0.5]
