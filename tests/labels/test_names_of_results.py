"""Results that no id names: labels of several systems never overwrite each other, and are looked up again."""

import json

import goodgain as gg
from goodgain.labels import with_gains
from goodgain.labels.traces import trace_pairs


def conversation(system, *results):
    searches = [{"query": "q", "results": list(results)}]
    turns = [{"user": "what?", "iterations": [{"searches": searches}]}]
    return {"conversation": "c", "system": system, "turns": turns}


GOOD, BAD = "the answer is in this text, at length", "nothing of interest is written down here"
CONTENT_ONLY = [conversation("a", {"content": GOOD}), conversation("b", {"content": BAD})]
SAME_ID = [
    conversation("a", {"id": "1", "content": GOOD}, {"id": "2", "content": BAD}),
    conversation("b", {"id": "1", "content": BAD}, {"id": "2", "content": GOOD}),
]


def labelled(traces):
    """A judge that reads: {conversation: {name: gain}}."""
    labels: dict[str, dict[str, float]] = {}
    for pair in trace_pairs(traces):
        gain = 4.0 if "answer" in pair.text else 0.0
        assert labels.setdefault(pair.query, {}).setdefault(pair.doc, gain) == gain
    return labels


def test_content_only_results_of_two_systems_have_names_of_their_own():
    labels = labelled(CONTENT_ONLY)
    assert sorted(labels["c"].values()) == [0.0, 4.0]
    gains = gg.good_gain(CONTENT_ONLY, labels=labels)
    assert (gains["a"]["CG"], gains["b"]["CG"]) == (4, 0)
    assert (gains["a"]["EvidenceRecall"], gains["b"]["EvidenceRecall"]) == (1, 0)


def test_one_id_for_different_results_is_no_name():
    labels = labelled(SAME_ID)
    assert len(labels["c"]) == 2 and not {"1", "2"} & labels["c"].keys()
    gains = gg.good_gain(SAME_ID, labels=labels)
    assert (gains["a"]["CG"], gains["b"]["CG"]) == (4, 4)
    assert gains["a"].counts()["coverage"] == gains["b"].counts()["coverage"] == 1


def test_gains_are_written_to_the_right_results():
    for traces in (CONTENT_ONLY, SAME_ID):
        for trace in with_gains(traces, labelled(traces)):
            for search in trace.searches():
                for result in search.results:
                    assert result.gain == (4.0 if "answer" in result.content else 0.0)


def test_an_id_that_always_means_one_text_stays_its_name():
    traces = [conversation(s, {"id": "doc-1", "content": GOOD}) for s in "ab"]
    assert labelled(traces) == {"c": {"doc-1": 4.0}}


def test_files_are_named_together(tmp_path):
    paths = []
    for number, trace in enumerate(SAME_ID):
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_text(json.dumps(trace) + "\n")
    assert labelled(paths) == labelled(SAME_ID)
