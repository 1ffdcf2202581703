"""Delta and Iceberg tables read on one machine: the rows of their newest version, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lake_tables
import pyarrow as pa
import pyarrow.parquet as pq
from lake_tables import MEASURES, QRELS, rows, table

import goodgain as gg
from goodgain.cli import run as command
from goodgain.errors import InputError, MissingExtraError

deltalake = pytest.importorskip("deltalake")
pytest.importorskip("pyiceberg")


def expected(*seeds):
    return gg.evaluate(QRELS, [row for seed in seeds for row in rows(seed)], MEASURES).means["run"]


def without(seed, positions):
    left = [row for number, row in enumerate(rows(seed)) if number not in positions]
    return gg.evaluate(QRELS, left, MEASURES).means["run"]


def measured(path):
    return gg.evaluate(QRELS, {"run": str(path)}, MEASURES).means["run"]


@pytest.fixture
def delta(tmp_path):
    return lake_tables.delta_versions(tmp_path / "run")


@pytest.fixture
def iceberg(tmp_path):
    return lake_tables.iceberg_versions(tmp_path)


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_only_rows_of_the_newest_version_count(request, form):
    place = request.getfixturevalue(form)
    assert len(list(place.rglob("*.parquet"))) > 1
    result = gg.evaluate(QRELS, place, MEASURES)
    assert result.names == ("run",)
    assert result.means["run"] == expected(3)
    facts = result.inputs()[1]
    assert facts["format"] == form and facts["files"] == 1 and len(facts["sha256"]) == 64
    assert int(facts["version"]) >= 2
    changed = gg.Run(place)
    if form == "delta":
        deltalake.write_deltalake(place, table(4), mode="overwrite")
        assert measured(place) == expected(4)
        with pytest.raises(InputError, match="has changed since"):
            changed.source.require_unchanged()
        with pytest.raises(InputError, match="has changed since"):
            result.runs[0].tables()


def test_the_command_and_a_saved_result(delta, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    judged = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    query, doc, gain = map(list, zip(*judged, strict=True))
    for _ in range(2):
        deltalake.write_deltalake(
            "qrels", pa.table({"query": query, "doc": doc, "gain": gain}), mode="overwrite"
        )
    arguments = [
        "evaluate",
        "qrels/",
        "run/",
        "-m",
        "AP",
        "-q",
        "--format",
        "tsv",
        "--save",
        "r.json",
    ]
    assert command(arguments) == 0
    value = expected(3)["AP"]
    assert capsys.readouterr().out.splitlines()[1].split("\t")[:3] == ["run", "AP", repr(value)]
    saved = gg.load(tmp_path / "r.json")
    assert [(f["format"], f["version"]) for f in saved.inputs()] == [("delta", "1"), ("delta", "2")]


def test_the_metadata_file_that_a_catalog_names(iceberg):
    newest = max((iceberg / "metadata").glob("*.metadata.json"))
    result = gg.evaluate(QRELS, str(newest), MEASURES)
    assert result.means == {"run": expected(3)}
    older = sorted((iceberg / "metadata").glob("*.metadata.json"))[1]
    assert measured(older) == expected(1)


def test_deletion_vectors(tmp_path):
    place = lake_tables.delta_versions(tmp_path / "run", seeds=(1,))
    gone = {0, 1, 7, 33, 299}
    before = gg.Run(place)
    lake_tables.with_deletion_vector(place, gone)
    assert measured(place) == without(1, gone) != expected(1)
    with pytest.raises(InputError, match="has changed since"):  # its files have not
        before.source.require_unchanged()


def test_delete_files(tmp_path):
    owner, place = lake_tables.iceberg_table(tmp_path, table(1).schema)
    owner.append(table(1))
    gone = {0, 1, 7, 33, 299}
    lake_tables.with_delete_file(owner, gone)
    assert measured(place) == without(1, gone) != expected(1)


def test_equality_deletes_are_refused(tmp_path):
    owner, place = lake_tables.iceberg_table(tmp_path, table(1).schema)
    owner.append(table(1))
    lake_tables.with_delete_file(owner, {1}, by_value=True)
    with pytest.raises(InputError, match="not read here: it has equality deletes") as caught:
        measured(place)
    assert "\n" not in caught.value.message and "--engine spark" in caught.value.hint


def test_renamed_columns(tmp_path):
    owner, place = lake_tables.iceberg_table(tmp_path, table(1, rank=3).schema)
    owner.append(table(1, rank=3))
    for before, after in (("doc", "old"), ("query", "doc"), ("old", "query")):
        with owner.update_schema() as change:
            change.rename_column(before, after)
    swapped = [(doc, query, score) for query, doc, score in rows(1)]
    judged = {"d1": {"001": 1, "005": 2}}
    assert gg.evaluate(judged, str(place), "AP")["AP"] == gg.evaluate(judged, swapped, "AP")["AP"]


def test_a_dropped_column_is_not_read(tmp_path):
    owner, place = lake_tables.iceberg_table(tmp_path, table(1, rank=3).schema)
    owner.append(table(1, rank=3))
    with owner.update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("score")
    with pytest.raises(InputError, match="score"):
        gg.evaluate(QRELS, {"run": str(place)}, MEASURES, columns={"score": "score"})


@pytest.mark.parametrize("column", ["query", "system", "day"])
def test_partitions_have_the_type_of_the_table(tmp_path, column):
    """Queries `001` in the names of folders are text, whatever they look like; odd ones are decoded."""
    place = tmp_path / "run"
    data = table(1, system="a b/ü%=c", day=7)
    deltalake.write_deltalake(place, data, partition_by=[column])
    result = gg.evaluate(QRELS, {"run": str(place)}, MEASURES)
    assert list(result.means.values()) == [expected(1)]
    if column == "system":
        assert gg.evaluate(QRELS, str(place), MEASURES, columns={"run": "system"}).means == {
            "a b/ü%=c": expected(1)
        }


def test_an_empty_table(tmp_path):
    deltalake.write_deltalake(tmp_path / "run", table(1))
    deltalake.DeltaTable(tmp_path / "run").delete()
    with pytest.raises(InputError, match="the table is empty"):
        measured(tmp_path / "run")


def test_a_missing_file_is_named(delta):
    (file,) = deltalake.DeltaTable(delta).file_uris()
    Path(file).unlink()
    with pytest.raises(InputError, match=f"file not found: '{file}'"):
        measured(delta)


@pytest.mark.parametrize(("form", "package"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_without_the_package(request, monkeypatch, form, package):
    place = request.getfixturevalue(form)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.table", None)
    with pytest.raises(MissingExtraError, match=package) as caught:
        measured(place)
    assert "goodgain[lakes]" in caught.value.hint and "\n" not in caught.value.message


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_damaged_metadata_is_one_sentence(request, form):
    place = request.getfixturevalue(form)
    for file in [*place.glob("_delta_log/*.json"), *place.glob("metadata/*.metadata.json")]:
        file.write_text("{")
    with pytest.raises(InputError, match=f"the {form} table cannot be opened") as caught:
        measured(place)
    assert "\n" not in caught.value.message


def test_tables_inside_folders(delta, tmp_path):
    """Each is a run of its own; as part of another table its deleted rows would count."""
    lakes = tmp_path / "lakes"
    lakes.mkdir()
    delta.rename(lakes / "bm25")
    lake_tables.delta_versions(lakes / "knn", seeds=(4, 5))
    for path in (lakes, f"{lakes}/*"):
        assert gg.evaluate(QRELS, path, MEASURES).means == {"bm25": expected(3), "knn": expected(5)}
    for one in (f"{lakes}/*", f"{lakes}/b*", str(lakes)):
        with pytest.raises(InputError, match="contains a table with its own log"):
            gg.Run(one)
    (lakes / "_SUCCESS").touch()
    with pytest.raises(InputError, match="contains a table with its own log"):
        gg.evaluate(QRELS, lakes, MEASURES)


def test_other_commands_read_it_too(delta, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table(3), "same.parquet")
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    arguments = [
        "compare",
        "qrels.txt",
        "run",
        "same.parquet",
        "-m",
        "AP",
        "--format",
        "json",
        "-q",
    ]
    assert command(arguments) == 0
    assert command(["convert", "run", "out.txt"]) == 0
    assert gg.evaluate(QRELS, "out.txt", MEASURES).means["out"] == expected(3)
    capsys.readouterr()


def test_plain_files_of_a_table_need_no_pyarrow(tmp_path):
    """The package for the log and the core suffice, and dropped or replaced files stay out."""
    place = lake_tables.delta_versions(tmp_path / "run")
    expected = dict(gg.evaluate(QRELS, place, MEASURES))
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items())
    )
    code = (
        "import sys, goodgain as gg\n"
        f"found = gg.evaluate({str(tmp_path / 'qrels.txt')!r}, {str(place)!r}, {list(expected)!r})\n"
        "print(repr(dict(found)), 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{expected!r} False"
