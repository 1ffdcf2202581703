"""Preferences, judgment groups, levels below 0: against NIST's compiled code and a second implementation."""

from __future__ import annotations

import hashlib

import preferences_by_hand
import pytest
import trec_eval_code
from hypothesis import given
from hypothesis import strategies as st

from goodgain.cli import run as cli
from goodgain.compat import trec_eval
from goodgain.compat.trec_measures import MEASURES

DOCS = [f"d{i}" for i in range(7)]
PREFERENCES = {m.name: None for m in MEASURES if m.format == "prefs"}
GROUPS = {"map_avgjg": None, "P_avgjg": "1,2,3,10", "Rprec_mult_avgjg": None}


def values(folder, form, judged, run, measures, **flags):
    """{query: {printed name: value}} of our own code."""
    (folder / "j").write_text(judged)
    (folder / "r").write_text(run)
    settings = trec_eval.Settings(measures=tuple(measures.items()), format=form, **flags)
    report = trec_eval.report(settings, str(folder / "j"), str(folder / "r"))
    return {
        report.table.queries[row]: {
            v.name: report.table.columns[v.columns[0]][row]
            for v in report.request.values
            if v.columns
        }
        for row in report.rows
    }


def same(ours, theirs):
    assert list(ours) == list(theirs)
    for query, row in theirs.items():
        assert ours[query] == pytest.approx(row, abs=1e-12, nan_ok=True), query


@st.composite
def preference_files(draw):
    """Queries with groups and subgroups; within a group every document has one level, so none contradict."""
    has_subgroups = draw(st.booleans())
    lines, queries = [], {}
    for query in ("q1", "q2"):
        for group in range(draw(st.integers(1, 3))):
            levels = {d: draw(st.sampled_from([0, 0, 1, 1, 2, 3.5])) for d in DOCS}
            for subgroup in range(draw(st.integers(1, 3)) if has_subgroups else 1):
                docs = draw(st.lists(st.sampled_from(DOCS), min_size=1, max_size=5, unique=True))
                middle = f"s{subgroup} " if has_subgroups else ""
                lines += [f"{query} g{group} {middle}{d} {levels[d]}" for d in docs]
                rows = queries.setdefault(query, {}).setdefault(f"g{group}", {})
                rows[f"s{subgroup}"] = [(d, levels[d]) for d in docs]
    lines = draw(st.permutations(lines))
    return "prefs" if has_subgroups else "qrels_prefs", "\n".join(lines) + "\n", queries


@st.composite
def judgment_files(draw, groups=1):
    lines = []
    for query in ("q1", "q2", "q3"):
        for group in range(draw(st.integers(1, groups))):
            docs = draw(st.lists(st.sampled_from(DOCS), min_size=1, max_size=6, unique=True))
            grades = [draw(st.sampled_from([-1, 0, 0, 1, 2, 3])) for _ in docs]
            lines += [f"{query} g{group} {d} {g}" for d, g in zip(docs, grades, strict=True)]
        lines.append(f"{query} g0 other {draw(st.sampled_from([0, 1]))}")
    return "\n".join(draw(st.permutations(lines))) + "\n"


@st.composite
def run_files(draw):
    """Two of the queries, with ties and unjudged documents; {query: [(document, score)]} too."""
    lists = {}
    for query in ("q1", "q2"):
        docs = draw(
            st.lists(st.sampled_from([*DOCS, "x", "y"]), min_size=1, max_size=7, unique=True)
        )
        lists[query] = [(d, draw(st.sampled_from([1, 2, 3]))) for d in docs]
    text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in lists.items() for d, s in docs)
    return text, lists


depths = st.sampled_from([None, None, 0, 1, 3])


def unlimited(depth):
    return 2**62 if depth is None else depth


@given(preference_files(), run_files(), depths)
def test_preferences(tmp_path_factory, judged, run, depth):
    form, text, queries = judged
    folder = tmp_path_factory.mktemp("prefs")
    ours = values(folder, form, text, run[0], PREFERENCES, depth=depth)
    by_hand = {}
    for query in ours:
        ordered = sorted(run[1][query], key=lambda p: (-p[1], p[0]))  # ties: the smaller id first
        by_hand[query] = preferences_by_hand.values(queries[query], [d for d, _ in ordered][:depth])
    same(ours, by_hand)
    theirs = trec_eval_code.per_query(
        folder, form, text, run[0], PREFERENCES, depth=unlimited(depth)
    )
    same(ours, theirs)


@given(
    judgment_files(groups=3), run_files(), depths, st.sampled_from([-2, -1, 0, 1, 2]), st.booleans()
)
def test_judgment_groups(tmp_path_factory, judged, run, depth, level, judged_only):
    folder = tmp_path_factory.mktemp("groups")
    flags = {"level": level, "judged_only": judged_only}
    ours = values(folder, "qrels_jg", judged, run[0], GROUPS, depth=depth, **flags)
    theirs = trec_eval_code.per_query(
        folder, "qrels_jg", judged, run[0], GROUPS, depth=unlimited(depth), **flags
    )
    same(ours, theirs)


@given(judgment_files(groups=3), run_files())
def test_judgment_groups_are_means_over_groups(tmp_path_factory, judged, run):
    """By hand: each group alone as plain qrels."""
    folder = tmp_path_factory.mktemp("means")
    ours = values(folder, "qrels_jg", judged, run[0], GROUPS)
    plain = {"map": None, "P": "1,2,3,10", "Rprec_mult": None}
    sums: dict[str, list[dict[str, float]]] = {query: [] for query in ours}
    for group in ("g0", "g1", "g2"):
        lines = [line for line in judged.splitlines() if line.split()[1] == group]
        if any(line.split()[0] in ours for line in lines):
            alone = values(folder, "qrels", "\n".join(lines) + "\n", run[0], plain)
            for query, row in alone.items():
                sums[query].append(row)
    for query, rows in sums.items():
        for name, value in ours[query].items():
            own = name.replace("_avgjg", "")
            assert value == pytest.approx(sum(row[own] for row in rows) / len(rows)), name


def code_of_version_9(monkeypatch):
    """Both sides round recall points up, as version 9 does."""
    parse = trec_eval.parse_measures
    monkeypatch.setattr(
        trec_eval, "parse_measures", lambda *a, **k: parse(*a, **{**k, "version": 9})
    )


@pytest.fixture(scope="module")
def plain_measures():
    known = trec_eval_code.measures_of(trec_eval_code.library())
    names = {m.name: None for m in MEASURES if m.format == "qrels" and m.name in known}
    del names["relstring"]  # a text
    cutoffs = dict.fromkeys(
        ("P", "recall", "map_cut", "ndcg_cut", "relative_P", "success"), "1,2,3,10"
    )
    return {**names, **cutoffs, "utility": "2,-1,.5,-.25"}


@given(judgment_files(), run_files(), depths, st.sampled_from([-3, -2, -1, 0, 1, 2]), st.booleans())
def test_every_level_and_depth(
    tmp_path_factory, plain_measures, judged, run, depth, level, judged_only
):
    """All measures over qrels with -l from -3 on, -M from 0 on, and -J."""
    folder = tmp_path_factory.mktemp("levels")
    flags = {"level": level, "judged_only": judged_only, "documents": 100}
    with pytest.MonkeyPatch.context() as monkeypatch:
        code_of_version_9(monkeypatch)
        ours = values(folder, "qrels", judged, run[0], plain_measures, depth=depth, **flags)
    theirs = trec_eval_code.per_query(
        folder, "qrels", judged, run[0], plain_measures, depth=unlimited(depth), **flags
    )
    same(ours, theirs)


# --- its documented examples, and its own test commands ---

EXAMPLES = {
    "complete": ("d1 3,d2 2,d3 0,d4 6,d5 0,d6 2", 13),
    # Documented as 5, without d4 over d3, which follows; its code counts 6.
    "two subgroups": ("d1 3,d2 2,d3 1|d1 2,d2 1,d4 3", 6),
    "transitive": ("d1 3,d2 2,d3 1|d2 5,d4 4", 5),
    "two users": ("d1 3,d2 2/d1 0,d3 6,d4 2|d1 0,d2 8", 5),
}


def lines_of(example):
    return "".join(
        f"q g{g} s{s} {row}\n"
        for g, group in enumerate(example.split("/"))
        for s, subgroup in enumerate(group.split("|"))
        for row in subgroup.split(",")
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_documented_numbers_of_preferences(tmp_path, name):
    example, expected = EXAMPLES[name]
    arguments = (tmp_path, "prefs", lines_of(example), "q Q0 x 1 1 t\n", PREFERENCES)
    for result in (values(*arguments), trec_eval_code.per_query(*arguments)):
        assert result["q"]["prefs_num_prefs_poss"] == expected


def printed(capfd, *arguments):
    status = cli(["trec-eval", *arguments])
    out = capfd.readouterr()
    return status, out.out, out.err


def test_its_command_for_qrels_as_preferences(shared_data, capfd):
    folder = shared_data / "trec_eval"
    files = str(folder / "qrels.test"), str(folder / "results.test")
    status, out, err = printed(capfd, "-m", "all_prefs", "-q", "-R", "qrels_prefs", *files)
    assert (status, err) == (0, "")
    lines = [line for line in out.splitlines() if not line.startswith("runid")]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    # Of the same lines of trec_eval's test/out.test.qrels_prefs, which is not ours to copy.
    assert digest == QRELS_PREFS
    assert "prefs_avgjg_Rnonrel_ret\t303\t0.0209" in lines


QRELS_PREFS = "b9d2c64890cb7dfdfe26a0edc74bee2f7de39dbeb53b8a83b29da3299febc09e"


def test_its_command_for_judgment_groups(shared_data, capfd):
    """One group for each query: the means are those of the plain measures."""
    folder = shared_data / "trec_eval"
    files = str(folder / "qrels.test"), str(folder / "results.test")
    _, groups, _ = printed(capfd, "-m", "qrels_jg", "-q", "-R", "qrels_jg", *files)
    flags = [f"-m{name}" for name in ("runid", "num_q", "map", "P", "Rprec_mult")]
    _, plain, _ = printed(capfd, "-q", *flags, *files)

    def rows(text):
        return [(n.strip().replace("_avgjg", ""), *rest) for n, *rest in
                (line.split("\t") for line in text.splitlines())]  # fmt: skip

    assert sorted(rows(groups)) == sorted(rows(plain))
    assert {n for n, *_ in rows(groups)} >= {"map", "P_5", "Rprec_mult_2.00"}


@pytest.fixture
def files(tmp_path):
    def write(judged, run):
        (tmp_path / "j.txt").write_text(judged)
        (tmp_path / "r.txt").write_text(run)
        return str(tmp_path / "j.txt"), str(tmp_path / "r.txt")

    return write


def test_preferences_printed(capfd, files):
    judged = "# users\nq1 u1 0 a 2\nq1 u1 0 b 1\nq2 u1 0 c 1\nq2 u1 0 d 0\n"
    paths = files(judged, "q1 Q0 b 1 2 t\nq1 Q0 a 1 1 last\n")
    status, out, err = printed(capfd, "-R", "prefs", "-q", "-m", "prefs", *paths)
    assert status == 0
    assert "prefs_num_prefs_poss  \tq1\t1\nprefs_num_prefs_ful   \tq1\t0\n" in out
    assert "runid                 \tall\tlast\nnum_q                 \tall\t1\n" in out
    assert err.startswith("warning: 1 of 2 judged queries are not in the run")
    _, out, err = printed(capfd, "-R", "prefs", "-c", "-m", "prefs_simp", "-m", "num_q", *paths)
    assert (out, err) == (
        "num_q                 \tall\t2\nprefs_simp            \tall\t0.0000\n",
        "",
    )


@pytest.mark.parametrize(
    ("flags", "judged", "status", "message"),
    [
        (["-R", "prefs"], "q u s a 1\n", 4, "measure 'num_ret' needs -R qrels, not -R prefs"),
        (["-R", "qrels_jg", "-m", "map"], "q u a 1\n", 4, "measure 'map' needs -R qrels"),
        (["-m", "prefs_simp"], "q 0 a 1\n", 4, "measure 'prefs_simp' needs -R prefs, not -R qrels"),
        (["-R", "prefs", "-m", "prefs"], "q u a 1\n", 2, "invalid preference line 'q u a 1'"),
        (["-R", "prefs", "-m", "prefs"], "q u s a x\n", 2, "invalid preference line 'q u s a x'"),
        (["-R", "prefs", "-m", "prefs"], "# none\n", 2, "the file contains no preferences"),
        (["-R", "qrels_jg", "-m", "qrels_jg"], "q u a 1\nq u a 2\n", 2, "duplicate judgment of document 'a'"),
        (["-R", "prefs", "-m", "prefs"], "q u s a 1\nq u s a 2\n", 2, "document 'a' has two levels"),
        (["-R", "prefs", "-m", "prefs"], "q u s a 1\nq u s b 2\nq u t a 2\nq u t b 1\n", 2,
         "documents 'a' and 'b' are each preferred to the other"),
        (["-R", "prefs", "-m", "prefs"], "q u s a 0\nq u s b 2\nq u t a 2\nq u t b 1\n", 2,
         "document 'a' is both relevant and nonrelevant"),
    ],
)  # fmt: skip
def test_bad_judgments(capfd, files, flags, judged, status, message):
    code, out, err = printed(capfd, *flags, *files(judged, "q Q0 a 1 1 t\n"))
    assert (code, out) == (status, "")
    assert err.startswith(f"goodgain: {message}")


def test_help_describes_the_format(capfd):
    _, out, _ = printed(capfd, "-h", "-R", "prefs", "-m", "all_prefs")
    assert "lines of -R prefs:\n  query group subgroup document level" in out
    assert "prefs_pair_imp\n" in out
