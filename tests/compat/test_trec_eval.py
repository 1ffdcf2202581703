"""goodgain trec-eval agrees with trec_eval: its expected outputs, and its code inside pytrec_eval."""

from __future__ import annotations

import hashlib
import shlex
import subprocess
import sys

import pytest
from collections_ import collections
from hypothesis import assume, given
from hypothesis import strategies as st

from goodgain.cli import run as cli
from goodgain.compat.trec_eval import Settings, output
from goodgain.compat.trec_measures import MEASURES, NICKNAMES, expanded, grades_text, parse_measures
from goodgain.errors import MeasureError


@pytest.fixture
def files(tmp_path):
    """Write (qrels, run) texts; returns their paths."""

    def write(qrels, run):
        (tmp_path / "qrels.txt").write_text(qrels)
        (tmp_path / "run.txt").write_text(run)
        return str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt")

    return write


QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 n -1\nq10 0 a 2\nq2 0 c 3\nq2 0 d 0\n"
RUN = (
    "q2 Q0 c 1 2.5 old\nq2 Q0 x 2 2.5 old\nq1 Q0 b 1 3 old\nq1 Q0 a 2 2 old\nq1 Q0 n 3 1.5 old\n"
    "q1 Q0 y 4 1 final\n"
)


def printed(capfd, *arguments):
    status = cli(["trec-eval", *arguments])
    out = capfd.readouterr()
    return status, out.out, out.err


# --- its own expected outputs ---


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], "out.test"),
        (["-m", "all_trec"], "out.test.a"),
        (["-m", "all_trec", "-q"], "out.test.aq"),
    ],
)
def test_its_own_outputs_byte_for_byte(shared_data, capfd, flags, expected):
    folder = shared_data / "trec_eval"
    status, out, _ = printed(
        capfd, *flags, str(folder / "qrels.test"), str(folder / "results.test")
    )
    assert status == 0
    assert out.encode() == (folder / expected).read_bytes()


def test_parameters_as_in_its_test_of_them(shared_data, capfd):
    """The flags of its out.test.meas_params; the values of recall points are those of version 10."""
    folder = shared_data / "trec_eval"
    flags = shlex.split(
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
        "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 "
        "-msuccess.2,5,20"
    )
    _, out, _ = printed(capfd, *flags, str(folder / "qrels.test"), str(folder / "results.test"))
    lines = "".join(
        line + "\n"
        for line in out.splitlines()
        if not line.startswith(("iprec_at_recall", "11pt_avg"))
    )
    # Of the same lines of trec_eval's test/out.test.meas_params, which is not ours to copy.
    assert hashlib.sha256(lines.encode()).hexdigest() == MEAS_PARAMS
    assert "iprec_at_recall_0.10  \t301\t0.2098\n" in out


MEAS_PARAMS = "573d9b05ba249e81529db5176cae0b53de7c2f2016bca4af93343cbdcef88974"


# --- its code, as pytrec_eval has it ---


@given(collections(docs=("d1", "d10", "é", "文書", "a#b", "zz", "ß", "😀", "x1", "q1")),
       st.sampled_from([1, 2, 3]), st.booleans())  # fmt: skip
def test_values_as_trec_eval_9_code_computes_them(tmp_path_factory, collection, level, judged_only):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {q: {d: int(g) for d, g in docs.items()} for q, docs in collection.qrels().items()}
    run = collection.run()
    both = sorted(set(qrels) & set(run), key=str.encode)
    assume(both)
    assume(all(max(docs.values()) >= max(level - 1, 0) for docs in qrels.values()))
    folder = tmp_path_factory.mktemp("te")
    (folder / "q").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items())
    )
    (folder / "r").write_text(
        "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, docs in run.items() for d, s in docs.items())
    )
    names = tuple((m.name, None) for m in MEASURES if m.name in pytrec_eval.supported_measures)
    settings = Settings(measures=names, per_query=True, judged_only=judged_only, level=level)
    theirs = pytrec_eval.RelevanceEvaluator(
        qrels, {n for n, _ in names}, level, judged_only
    ).evaluate(run)
    values = {}
    for line in output(settings, str(folder / "q"), str(folder / "r")).splitlines():
        name, query, value = line.split("\t")
        values[name.strip(), query] = value
    assert [q for n, q in values if n == "map"] == [*both, "all"]
    for query in both:
        for name, value in theirs[query].items():
            changed_in_10 = name.startswith("iprec") or name == "11pt_avg"
            if (name, query) not in values or changed_in_10 or name == "relstring":
                continue
            text = str(int(value)) if name.startswith("num_") else f"{value:6.4f}"
            # a value halfway between two printed ones may fall either way
            assert (
                values[name, query] == text or abs(float(values[name, query]) - value) < 5.1e-5
            ), name


@given(collections(), st.integers(1, 4))
def test_depth_is_a_shorter_run(collection, depth):
    qrels, run = collection.qrels(), collection.run()
    assume(set(qrels) & set(run))
    short = {
        q: dict(sorted(docs.items(), key=lambda p: (p[1], p[0].encode()), reverse=True)[:depth])
        for q, docs in run.items()
    }
    from goodgain import _core

    policy = {"ties": "docid", "missing": "skip", "unjudged": "nonrelevant", "duplicates": "error"}
    request = parse_measures(
        [("map", None), ("num_ret", None), ("ndcg", None), ("relstring", None)]
    )
    core = _core.Qrels.from_dict(qrels, "qrels", True)
    cut, whole = (
        _core.Plan(list(request.specs), {**policy, **more}) for more in ({"depth": depth}, {})
    )
    one = _core.Prepared(core, cut, 1).dict(run, "r", True)
    other = _core.Prepared(core, whole, 1).dict(short, "r", True)
    for i in range(4):
        assert one.column(i) == pytest.approx(other.column(i), nan_ok=True)


# --- flags ---


def test_queries_in_byte_order_and_the_last_run_name(capfd, files):
    _, out, _ = printed(
        capfd, "-q", "-m", "runid", "-m", "num_q", "-m", "recip_rank", *files(QRELS, RUN)
    )
    assert out == (
        "recip_rank            \tq1\t0.5000\nrecip_rank            \tq2\t0.5000\n"
        "runid                 \tall\tfinal\nnum_q                 \tall\t2\n"
        "recip_rank            \tall\t0.5000\n"
    )


def test_complete(capfd, files):
    measures = ("num_ret", "num_rel", "map", "gm_map", "relstring", "utility", "unj.2", "rbp_resid")
    flags = ("-c", "-q", *(f"-m{name}" for name in measures))
    _, out, _ = printed(capfd, *flags, *files(QRELS, RUN))
    missing = [line.split("\t")[2] for line in out.splitlines() if "\tq10\t" in line]
    assert missing == ["0", "1", "0.0000", "''", "0.0000", "0.0000", "0.0000"]
    assert "num_rel               \tall\t3\n" in out
    assert "map                   \tall\t0.3333\n" in out
    assert "gm_map                \tall\t0.0136\n" in out  # (ln .5 + ln .5 + ln .00001) / 3


def test_judged_only_and_an_empty_list(capfd, files):
    _, out, _ = printed(capfd, "-J", "-q", "-m", "num_ret", "-m", "relstring", *files(QRELS, RUN))
    assert "num_ret               \tq1\t2\n" in out and "\tq1\t'01'\n" in out
    run = "q1 Q0 y 1 1 t\n"
    _, out, _ = printed(capfd, "-J", "-m", "iprec_at_recall.0,.5", *files(QRELS, run))
    assert out == "iprec_at_recall_0.00  \tall\t  -nan\niprec_at_recall_0.50  \tall\t0.0000\n"


def test_grades_as_text(capfd, files):
    qrels = "".join(f"q 0 d{i} {g}\n" for i, g in enumerate([0, 9, 10, -1, 3]))
    run = "".join(f"q Q0 d{i} 1 {99 - i} t\n" for i in range(30))
    _, out, _ = printed(capfd, "-n", "-q", "-mrelstring.28", *files(qrels, run))
    assert out == f"relstring_28          \tq\t'09>.3{'-' * 23}'\n"
    assert grades_text([0.0]) == ""


def test_no_summary_level_and_debug_query(capfd, files):
    paths = files(QRELS, RUN)
    assert printed(capfd, "-n", "-m", "map", *paths)[1] == ""
    _, out, _ = printed(capfd, "-q", "-n", "-l3", "-m", "num_rel", *paths)
    assert out == "num_rel               \tq1\t0\nnum_rel               \tq2\t1\n"
    status, out, err = printed(capfd, "-D", "1.q2", "-m", "num_q", *paths)
    assert (status, out) == (0, "num_q                 \tall\t1\n")
    assert err == "warning: -D does not print debugging lines here\n"


def test_utility_with_a_collection_size(capfd, files):
    _, out, _ = printed(capfd, "-N", "100", "-mutility.1,-1,0,0.5", "-n", "-q", *files(QRELS, RUN))
    # q1: 1 - 3 + .5 x (100 + 1 - 4 - 1)
    assert out.splitlines()[0] == "utility_1,-1,0,0.5    \tq1\t46.0000"


def test_rbp_scales_within_a_query_and_takes_p(capfd, files):
    _, out, _ = printed(
        capfd, "-q", "-n", "-m", "rbp.p=0.5", "-m", "rbp_resid.p=0.5", *files(QRELS, RUN)
    )
    assert "rbp_p=0.5             \tq1\t0.2500\n" in out
    assert "rbp_p=0.5             \tq2\t0.2500\n" in out  # grade 3 is the query's highest
    assert "rbp_resid_p=0.5       \tq2\t0.7500\n" in out


def test_zscores(capfd, files, tmp_path):
    (tmp_path / "z").write_text("q1 map 0.25 0.125\nq2 map 0.5 0\nq1 num_ret 2 1\n")
    flags = (
        "-Z",
        str(tmp_path / "z"),
        "-q",
        "-m",
        "map",
        "-m",
        "num_ret",
        "-m",
        "num_q",
        "-m",
        "runid",
    )
    _, out, _ = printed(capfd, *flags, *files(QRELS, RUN))
    assert out == (
        "Znum_ret               \tq1\t2.0000\nZmap                   \tq1\t2.0000\n"
        "Znum_ret               \tq2\t-1000000.0000\nZmap                   \tq2\t0.0000\n"
        "runid                 \tall\tfinal\nZnum_q                 \tall\t2.0000\n"
        "Znum_ret               \tall\t-999998.0000\nZmap                   \tall\t1.0000\n"
    )


def test_comments_extra_columns_and_cut_grades(capfd, files):
    qrels = "# judged by hand\nq1 0 a#1 1.9\nq1 7 b 0\n"
    run = "  # a comment\n# another\n\nq1 Q0 a#1 1 2 t more words\nq1 Q0 b 2 1 t\n"
    _, out, _ = printed(capfd, "-n", "-q", "-m", "ndcg", "-m", "relstring", *files(qrels, run))
    assert out == "relstring             \tq1\t'10'\nndcg                  \tq1\t1.0000\n"


def test_standard_input(files):
    qrels, run = files(QRELS, RUN)
    with open(run) as stdin:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "goodgain", "trec-eval", "-m", "runid", "-m", "map", qrels, "-"],
            stdin=stdin, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert (
        done.stdout == "runid                 \tall\tfinal\nmap                   \tall\t0.5000\n"
    )


def test_compressed_and_other_formats(capfd, files, tmp_path):
    from goodgain.io.convert import convert

    qrels, run = files(QRELS, RUN)
    expected = printed(capfd, "-m", "all_trec", qrels, run)[1].splitlines()[1:]
    for name in ("r.txt.gz", "r.csv", "r.json"):
        convert(run, str(tmp_path / name))
        assert (
            printed(capfd, "-m", "all_trec", qrels, str(tmp_path / name))[1].splitlines()[1:]
            == expected
        )


# --- its corners ---


def test_complete_resets_only_names_without_parameters(capfd, files):
    """A query that the run lacks is a list of one unjudged document, and `relstring` alone is cleared."""
    flags = ("-c", "-q", "-n", "-mrelstring.20", "-mutility.1,-1,0,0")
    _, out, _ = printed(capfd, *flags, *files(QRELS, RUN))
    assert "relstring_20          \tq10\t'-'\n" in out
    assert "utility_1,-1,0,0      \tq10\t-1.0000\n" in out
    _, out, _ = printed(capfd, "-J", *flags, *files(QRELS, RUN))
    assert "relstring_20          \tq10\t''\n" in out


def test_complete_with_zscores(capfd, files, tmp_path):
    """The total of num_rel is counted in the judgments: no sum of z-scores."""
    (tmp_path / "z").write_text("".join(f"{q} {m} 0 2\n" for q in ("q1", "q2", "q10") for m in
                                        ("num_rel", "num_ret", "map")))  # fmt: skip
    flags = ("-c", "-Z", str(tmp_path / "z"), "-q", "-mnum_rel", "-mnum_ret", "-mmap", "-mnum_q")
    _, out, _ = printed(capfd, *flags, *files(QRELS, RUN))
    assert "Znum_rel               \tq10\t0.5000\n" in out
    assert out.endswith(
        "Znum_q                 \tall\t3.0000\nZnum_ret               \tall\t3.0000\n"
        "Znum_rel               \tall\t3.0000\nZmap                   \tall\t0.1667\n"
    )


def test_complete_divides_by_all_judged_queries(capfd, files):
    _, out, _ = printed(
        capfd, "-c", "-D", "0.q1", "-mnum_q", "-mmap", "-mgm_map", *files(QRELS, RUN)
    )
    assert out == (
        "num_q                 \tall\t3\nmap                   \tall\t0.1667\n"
        "gm_map                \tall\t0.0004\n"  # (ln .5 + 2 ln .00001) / 3
    )


def test_no_documents_at_all(capfd, files):
    _, out, _ = printed(capfd, "-M", "0", "-mnum_ret", "-mmap", "-mP.5", *files(QRELS, RUN))
    assert out == (
        "num_ret               \tall\t0\nmap                   \tall\t0.0000\n"
        "P_5                   \tall\t0.0000\n"
    )


def test_unjudged_documents_are_relevant_to_a_negative_level(capfd, files):
    """-1 stands for a document that is not judged; see test_trec_eval_formats for NIST's own code."""
    for flags in (["-l", "-1"], ["-l-1"], ["--level_for_rel=-1"], ["--level", "-1"]):
        _, out, _ = printed(capfd, *flags, "-q", "-n", "-mnum_rel", "-mP.4", *files(QRELS, RUN))
        assert out.splitlines()[:2] == [
            "num_rel               \tq1\t2", "P_4                   \tq1\t0.7500",
        ]  # fmt: skip


def test_a_duplicate_beyond_the_depth(capfd, files):
    run = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 a 3 1 t\n"
    paths = files("q1 0 a 1\nq1 0 b 0\n", run)
    assert printed(capfd, "-M", "2", "-m", "recip_rank", *paths)[:2] == (
        0, "recip_rank            \tall\t0.5000\n"
    )  # fmt: skip
    for depth in (["-M", "3"], []):
        status, out, err = printed(capfd, *depth, "-m", "recip_rank", *paths)
        assert (status, out) == (4, "")
        assert "duplicate document 'a' for query 'q1'" in err


def test_long_options_may_be_abbreviated(capfd, files):
    paths = files(QRELS, RUN)
    expected = printed(capfd, "-q", "-n", "-c", "-l", "2", "-M", "3", "-m", "map", *paths)[1]
    short = ("--query", "--nos", "--comp", "--level=2", "--Max", "3", "--meas", "map")
    assert printed(capfd, *short, *paths, "--Output", "x")[1] == expected != ""
    assert printed(capfd, "-qncmmap", "-l2", "-M3", *paths)[1] == expected


def test_queries_that_the_run_lacks_are_skipped_with_a_warning(capfd, files):
    status, out, err = printed(capfd, "-m", "num_q", *files(QRELS, RUN))
    assert (status, out) == (0, "num_q                 \tall\t2\n")
    assert err == (
        "warning: 1 of 3 judged queries are not in the run and are left out of the means, for example "
        "'q10'; -c counts them as 0 (trec_eval 10 stops with status 4)\n"
    )
    assert printed(capfd, "-c", "-m", "num_q", *files(QRELS, RUN))[2] == ""


@pytest.mark.parametrize("padding", [0, 40])
def test_odd_lines_mean_the_same_in_short_and_long_files(capfd, files, padding):
    """Lines near the end of a file are read byte by byte, others sixteen bytes at a time."""
    qrels = "q1 7 a 1.9\nq1 8 b 0.9\n  #2 0 c -0.5\n"
    run = "q1 Q0 a 1 2 t\n  # no line of 6\nq1 Q0 b 2 1 t\n   #2 Q0 c 1 1 t\n"
    qrels += "".join(f"q2 0 document-{i} 0\n" for i in range(padding))
    run += "".join(f"q3 Q0 document-{i} 1 {i} t\n" for i in range(padding))
    flags = ("-n", "-q", "-m", "ndcg", "-m", "relstring", "-m", "num_rel")
    _, out, _ = printed(capfd, *flags, *files(qrels, run))
    assert out == (
        "num_rel               \tq1\t1\nrelstring             \tq1\t'10'\n"
        "ndcg                  \tq1\t1.0000\n"
    )
    twice = "q1 0 a 1\nq1 1 a 1\n" + qrels.partition("#2")[2].partition("\n")[2]
    status, _, err = printed(capfd, *flags, *files(twice, run))
    assert (status, err.startswith("goodgain: duplicate judgment of document 'a'")) == (4, True)


@pytest.mark.parametrize("padding", [0, 40])
@pytest.mark.parametrize(
    ("text", "grade"),
    [("1e3", "1"), ("2E0", "2"), ("3e-2", "3"), ("-1e1", "."), ("2.9e5", "2"), ("+1.", "1"),
     (".9e1", "0"), ("00002", "2")],
)  # fmt: skip
def test_grades_end_where_trec_eval_stops_reading(capfd, files, padding, text, grade):
    """It reads them with atol(), which knows no exponents."""
    qrels = f"q1 0 a {text}\n" + "".join(f"q2 0 document-{i} 0\n" for i in range(padding))
    _, out, _ = printed(capfd, "-n", "-q", "-m", "relstring", *files(qrels, "q1 Q0 a 1 2 t\n"))
    assert out == f"relstring             \tq1\t'{grade}'\n"


@pytest.mark.parametrize("padding", [0, 40, 5000])
@pytest.mark.parametrize("character", ["\0", "\x01", "\x08", "\x0e", "\x1f"])
def test_control_characters_are_no_blanks(capfd, files, padding, character):
    """As blanks they would shift the columns of a run, of which trec_eval takes more than six."""
    run = "".join(f"q3 Q0 document-{i} 1 {i} t\n" for i in range(padding))
    for line in (f"q1 Q0 a{character}b 1 2 t\n", f"q1 Q0 a 1 2 t{character}\n"):
        status, out, err = printed(capfd, *files(QRELS, f"{run}{line}{run.replace('q3', 'q4')}"))
        reason = "binary" if character == "\0" and padding < 100 else "contains a control character"
        assert (status, out, reason in err) == (2, "", True), err
    spaced = f"q1\tQ0\x0ba\x0c1 2\rt\r\n{run}"
    assert printed(capfd, *files("q1 0 a 1\n", spaced))[0] == 0


# --- what is wrong is said, with trec_eval's exit status ---


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["-x"], 1, "goodgain: unrecognized arguments: -x\nhint: see: goodgain trec-eval --help\n"),
        (
            ["-m", "nap"],
            1,
            "goodgain: unknown trec_eval measure 'nap'\nhint: did you mean map or yaap?\n",
        ),
        (
            ["-m", "P.0"],
            2,
            "goodgain: invalid parameters '0' for P: cutoff below 1\nhint: for example P.5,10\n",
        ),
        (
            ["-m", "P.5,5"],
            2,
            "goodgain: invalid parameters '5,5' for P: duplicate cutoff\nhint: list each cutoff once\n",
        ),
        (["-m", "P.x"], 2, "goodgain: invalid parameters 'x' for P: not a list of numbers\n"),
        (["-m", "P."], 1, "goodgain: missing parameters after the period in 'P.'\n"),
        (
            ["-m", "ndcg.1"],
            2,
            "goodgain: invalid parameters '1' for ndcg: not a list of level=gain\n",
        ),
        (["-m", "utility.1,2"], 2, "goodgain: utility takes 4 numbers, got 2\n"),
        (["-R", "foo"], 2, "goodgain: unknown format -R foo\n"),
        (["-T", "foo"], 2, "goodgain: unknown format -T foo\n"),
        (["-M", "-1"], 1, "goodgain: -M must not be negative, got -1\n"),
        (
            ["--R", "qrels"],
            1,
            "goodgain: ambiguous option: --R could match --Rel_info_format, --Results_format\n",
        ),
        (["--Q"], 1, "goodgain: unrecognized arguments: --Q\n"),
    ],
)
def test_bad_use(capfd, files, flags, status, message):
    try:
        code, out, err = printed(capfd, *flags, *files(QRELS, RUN))
    except SystemExit as left:
        code, (out, err) = left.code, capfd.readouterr()
    assert (code, out) == (status, "")
    assert err.startswith(message)


def test_one_file_only(capfd):
    with pytest.raises(SystemExit) as left:
        cli(["trec-eval", "qrels"])
    assert left.value.code == 1
    assert "expected QRELS and RUN, got 1 files" in capfd.readouterr().err


def test_swapped_files(capfd, files):
    qrels, run = files(QRELS, RUN)
    status, out, err = printed(capfd, run, qrels)
    assert (status, out) == (2, "")
    assert err == (
        f"goodgain: the line 'q2 Q0 c 1 2.5 old' has 6 columns, not 4 ({run}:1)\n"
        "hint: a qrels line is: query 0 document gain; this looks like a run\n"
    )


def test_duplicates_and_nothing_in_common(capfd, files):
    status, out, err = printed(capfd, *files(QRELS, "q1 Q0 a 1 1 t\nq1 Q0 a 2 2 t\n"))
    assert (status, out) == (4, "")
    assert "duplicate document 'a' for query 'q1'" in err
    status, out, err = printed(capfd, *files("q1 0 a 1\nq1 1 a 1\n", RUN))
    assert (status, out) == (4, "")
    paths = files(QRELS, "other Q0 a 1 1 t\n")
    status, out, err = printed(capfd, *paths)
    assert (status, out) == (7, "")
    assert err == (
        f"goodgain: no query has both results and judgments ({paths[1]})\n"
        "hint: were the files swapped, or are they from different collections?\n"
    )
    status, _, err = printed(capfd, "nowhere", "run")
    assert (status, err.splitlines()[0]) == (2, "goodgain: file not found: 'nowhere'")


def test_help_and_version(capfd):
    status, out, _ = printed(capfd, "-h", "-m", "set", "-m", "ndcg.1=3")
    assert status == 0
    assert "set_F\n    (x + 1) P R / (x P + R) of the whole list.\n" in out
    assert "\nndcg\n" in out and "\nmap\n" not in out
    status, out, err = printed(capfd, "-v")
    assert (status, out) == (0, "")
    assert err.startswith("trec_eval version 10.0 (goodgain ")


def test_every_name_is_known():
    for nickname, members in NICKNAMES.items():
        assert expanded(nickname) == members
    with pytest.raises(MeasureError):
        expanded("all")
    names = ("all_trec", "yaap", "dcg", "ideal_dcg", "all_prefs", "qrels_jg")
    everything = parse_measures([(name, None) for name in names])
    assert {v.measure.name for v in everything.values} == {m.name for m in MEASURES}
