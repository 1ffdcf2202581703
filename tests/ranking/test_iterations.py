"""TREC's second column: an iteration of judging, or a subtopic where a measure counts them."""

from __future__ import annotations

import gzip

import pytest

from goodgain import Qrels, evaluate, explain
from goodgain.errors import DuplicateError, InputError

RUN = {"q": {"a": 2.0, "b": 1.0}}
TWICE = "q 1 a 1\nq 1 b 1\nq 2 a 3\n"
ROUNDS = "q 0.5 a 1\nq 0.5 b 1\nq 1 a 3\n"
PADDING = "".join(f"other 1 document-{i} 0\n" for i in range(50))  # past the last 64 bytes


@pytest.fixture(params=["qrels.txt", "qrels.txt.gz", "long.txt"])
def written(request, tmp_path):
    """Writes TREC qrels: short, compressed, and so long that lines are read sixteen bytes at a time."""

    def write(text):
        path = tmp_path / request.param
        if request.param == "long.txt":
            text += PADDING
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
        return str(path)

    return write


@pytest.mark.parametrize("text", [TWICE, ROUNDS])
def test_a_document_judged_in_two_iterations_is_a_duplicate(written, text):
    path = written(text)
    message = r"duplicate judgment of document 'a' for query 'q', in another iteration"
    for qrels in (path, Qrels(path)):
        with pytest.raises(DuplicateError, match=message) as error:
            evaluate(qrels, RUN, "nDCG AP")
        assert error.value.where == f"{path}:3"
        assert "the first one is in line 1" in error.value.hint
        with pytest.raises(DuplicateError):
            explain(qrels, RUN, "nDCG", "q")
    table = Qrels(path)
    assert (table.queries[0], "q" in table) == ("q", True)
    with pytest.raises(DuplicateError):
        table["q"]
    with pytest.raises(DuplicateError):
        table.to_dict()


@pytest.mark.parametrize("text", [TWICE, ROUNDS])
def test_the_policy_of_duplicates_chooses_one(written, text):
    path = written(text)
    for policy, gain in (("first", 1.0), ("best", 3.0)):
        for qrels in (path, Qrels(path)):
            result = evaluate(qrels, RUN, "CG@1 NumRel", duplicates=policy)["run"].per_query["q"]
            assert result == {"CG@1": gain, "NumRel": 2.0}
        assert explain(path, RUN, "CG@1", "q", duplicates=policy).value == gain


def test_measures_over_aspects_read_subtopics(written):
    path = written(TWICE)
    rows = [("q", "a", 1, None, "1"), ("q", "b", 1, None, "1"), ("q", "a", 3, None, "2")]
    names = "alpha_nDCG@2 StRecall@1 ERR_IA@2 nDCG"
    expected = evaluate(rows, RUN, names)["run"].per_query["q"]
    for qrels in (path, Qrels(path)):
        assert evaluate(qrels, RUN, names)["run"].per_query["q"] == pytest.approx(expected)
    assert explain(path, RUN, "StRecall@1", "q").value == 1.0


def test_rounds_are_no_subtopics(written):
    text = "q 0.5 a 1\nq 0.5 b 0\nq 1 c 1\n"
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    plain = evaluate({"q": {"a": 1, "b": 0, "c": 1}}, run, "alpha_nDCG@3 StRecall@1")["run"].means
    assert evaluate(written(text), run, "alpha_nDCG@3 StRecall@1", missing="skip")["run"].means == (
        pytest.approx(plain)
    )
    with pytest.raises(DuplicateError):
        evaluate(written(ROUNDS), RUN, "alpha_nDCG@2")


def test_a_second_column_that_is_asked_for(written):
    path = written(ROUNDS)
    columns = {"aspect": "iteration"}
    means = evaluate(path, RUN, "StRecall@1 CG@1", columns=columns, missing="skip")["run"].means
    assert means == {"StRecall@1": 1.0, "CG@1": 3.0}
    assert Qrels(path, columns=columns)["q"] == {"a": 3.0, "b": 1.0}
    with pytest.raises(InputError, match="column 'round' not found"):
        Qrels(path, columns={"aspect": "round"})


def test_the_same_iteration_twice_is_always_an_error(written):
    path = written("q 1 a 1\nq 2 a 1\nq 1 a 2\n")
    with pytest.raises(DuplicateError, match="duplicate judgment of document 'a' for query 'q'"):
        Qrels(path)


def test_pairs_of_target_and_aspect_are_told_apart():
    rows = [("q", "a", 1, "s", "1"), ("q", "a", 1, "t", "2"), ("q", "a", 1, "s", "2")]
    assert evaluate(rows, RUN, "DR StRecall")["run"].means == {"DR": 1.0, "StRecall": 1.0}
    with pytest.raises(DuplicateError):
        evaluate([*rows, ("q", "a", 0, "t", "2")], RUN, "DR")


def test_converted_rounds_do_not_become_aspects(tmp_path):
    from goodgain.io.convert import convert

    (tmp_path / "q.txt").write_text("q 0.5 a 1\nq 1 b 1\n")
    convert(str(tmp_path / "q.txt"), str(tmp_path / "q.csv"))
    assert (tmp_path / "q.csv").read_text().splitlines()[0] == "query,doc,gain"
    convert(str(tmp_path / "q.txt"), str(tmp_path / "again.txt"))
    assert (tmp_path / "again.txt").read_text() == (tmp_path / "q.txt").read_text()
