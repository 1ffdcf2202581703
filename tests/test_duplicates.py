"""scripts/duplicates.py: what counts as the same ten lines, and what does not."""

from __future__ import annotations

import pytest
from load_script import load_script

duplicates = load_script("duplicates")

LOGIC = """
def total({a}, {b}):
    {c} = 0
    for {d} in {a}:
        if {d} in {b}:
            continue
        {c} += {b}.get({d}, {n})
        while {c} > {n}:
            {c} -= {b}.step
        yield {c}
    if not {c}:
        raise ValueError({s})
    return {c}
"""
NAMES = {"a": "rows", "b": "seen", "c": "count", "d": "row", "n": "1", "s": '"no rows"'}
OTHER = {"a": "hits", "b": "known", "c": "best", "d": "hit", "n": "2", "s": "'empty'"}


def runs(*texts: str, suffix: str = ".py"):
    return duplicates.find([duplicates.code(text, suffix) for text in texts])


def test_same_words():
    (run,) = runs(LOGIC.format(**NAMES), "x = 1\n" + LOGIC.format(**NAMES))
    assert run.same_words
    assert run.length == 12
    assert (run.first.file, run.second.file) == (0, 1)


def test_other_names_and_values():
    (run,) = runs(LOGIC.format(**NAMES), LOGIC.format(**OTHER))
    assert not run.same_words
    assert run.length == 12


def test_twice_in_one_file():
    (run,) = runs(LOGIC.format(**NAMES) + LOGIC.format(**NAMES))
    assert (run.first.file, run.second.file) == (0, 0)


def test_names_are_replaced_one_for_one():
    """Where one name stands for two, the lines do something else."""
    assert runs(LOGIC.format(**NAMES), LOGIC.format(**{**OTHER, "b": "best"})) == []


def test_nine_lines_are_allowed():
    nine = "\n".join(LOGIC.format(**NAMES).splitlines()[:10])
    assert runs(nine, nine) == []


def test_spacing_comments_and_docstrings_do_not_count():
    spaced = LOGIC.format(**NAMES).replace(" = 0", "   =   0  # nothing yet\n\n    # go on")
    spaced = spaced.replace("):\n", '):\n    """What it is."""\n', 1)
    (run,) = runs(LOGIC.format(**NAMES), spaced)
    assert run.same_words


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"from goodgain import name{i}" for i in range(12)),
        "TABLE = (\n" + "".join(f"    Entry('{i}', value={i}),\n" for i in range(12)) + ")",
        "class Record:\n" + "".join(f"    field{i}: int = {i}\n" for i in range(12)),
        '"""A text\n' + "of many lines\n" * 12 + '"""',
    ],
    ids=["imports", "table", "fields", "text"],
)
def test_what_is_not_code(text):
    assert runs(text, text) == []


def test_lists_of_like_entries_may_look_alike_but_not_be_the_same():
    def options(prefix: str) -> str:
        calls = (f"    p.add_argument('--{prefix}{i}', type=int, help='{i}')\n" for i in range(12))
        return "def parser(p):\n" + "".join(calls)

    assert runs(options("a"), options("b")) == []
    assert [run.same_words for run in runs(options("a"), options("a"))] == [True]


CURLY = """
double total(const Rows& {a}) {{
  double {c} = 0;  // the sum
  for (const auto& {d} : {a}) {{
    if ({d}.empty()) continue;
    {c} += {d}.size() * {n};
    while ({c} > {n}) {{
      {c} -= step({d});
    }}
  }}
  if ({c} == 0) throw Error({s});
  log({s}, {c});
  return {c};
}}
"""


@pytest.mark.parametrize("suffix", [".cpp", ".hpp", ".js"])
def test_curly_languages(suffix):
    (run,) = runs(CURLY.format(**NAMES), CURLY.format(**NAMES), suffix=suffix)
    assert run.same_words
    (run,) = runs(CURLY.format(**NAMES), CURLY.format(**{**OTHER, "s": '"empty"'}), suffix=suffix)
    assert not run.same_words


def test_the_command(tmp_path, capsys):
    (tmp_path / "a.py").write_text(LOGIC.format(**NAMES))
    assert duplicates.main([str(tmp_path)]) == 0
    (tmp_path / "b.py").write_text("\n\n" + LOGIC.format(**OTHER))
    assert duplicates.main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{tmp_path / 'a.py'}:2-13 = {tmp_path / 'b.py'}:4-15 (12 lines, other names)" in out
