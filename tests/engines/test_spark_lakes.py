"""Delta and Iceberg tables: the files that they consist of now, from their own metadata."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lake_tables
from lake_tables import MEASURES, QRELS, iceberg_table, rows, table

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark.frames import frame_of
from goodgain.errors import InputError
from goodgain.io.lakes import lake_form, open_lake

pa = pytest.importorskip("pyarrow")
deltalake = pytest.importorskip("deltalake")
pytest.importorskip("pyiceberg")

pytestmark = pytest.mark.spark


def expected(*seeds):
    return gg.evaluate(QRELS, [row for seed in seeds for row in rows(seed)], MEASURES).means["run"]


def measured(spark, path):
    return goodgain.spark.evaluate(QRELS, {"run": path}, MEASURES, session=spark).evaluation


@pytest.fixture
def delta(tmp_path):
    return lake_tables.delta_versions(tmp_path / "run")


@pytest.fixture
def iceberg(tmp_path):
    return lake_tables.iceberg_versions(tmp_path)


@pytest.mark.parametrize("form", ["delta", "iceberg"])
@pytest.mark.parametrize("prefix", ["named", "by content"])
def test_only_the_files_of_the_newest_version_count(spark, request, form, prefix):
    place = request.getfixturevalue(form)
    assert lake_form(place) == form
    path = f"{form}:{place}" if prefix == "named" else str(place)
    result = measured(spark, path)
    assert result.means["run"] == expected(3)
    (facts,) = [f for f in result.to_dict()["inputs"] if f["role"] == "run"]
    assert facts["format"] == form and facts["files"] == 1 and facts["bytes"] > 1000
    assert facts["version"] == open_lake(form, str(place)).version


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_tasks_read_the_files_themselves(spark, request, form):
    place = request.getfixturevalue(form)
    assert frame_of(spark, f"{form}:{place}", "run").files is not None


def test_a_table_under_the_name_of_a_parquet_file(spark, delta):
    other = delta.rename(delta.with_name("run.parquet"))
    assert measured(spark, str(other)).means["run"] == expected(3)
    assert measured(spark, f"parquet:{other}").means["run"] == expected(3)


def test_a_glob_is_no_way_around_the_log(spark, delta):
    with pytest.raises(InputError, match="is a Delta table, whose files may hold deleted rows"):
        measured(spark, f"{delta}/*.parquet")


def test_a_new_version_gives_new_numbers(spark, delta):
    before = measured(spark, f"delta:{delta}")
    deltalake.write_deltalake(delta, table(4), mode="overwrite")
    after = measured(spark, f"delta:{delta}")
    assert (before.means["run"], after.means["run"]) == (expected(3), expected(4))


def test_a_checkpoint_and_deleted_rows(spark, delta):
    owner = deltalake.DeltaTable(delta)
    owner.create_checkpoint()
    owner.delete("query < '010'")
    left = [row for row in rows(3) if row[0] >= "010"]
    assert (
        measured(spark, f"delta:{delta}").means["run"]
        == (gg.evaluate(QRELS, left, MEASURES).means["run"])
    )


def test_partitions_keep_their_type(spark, tmp_path):
    """Queries `001` in the names of folders are text, as the table says."""
    place = tmp_path / "run"
    deltalake.write_deltalake(place, table(1), partition_by=["query"])
    assert frame_of(spark, f"delta:{place}", "run").files is None
    assert measured(spark, f"delta:{place}").means["run"] == expected(1)
    deltalake.write_deltalake(tmp_path / "other", table(1, day="2026-11-16"), partition_by=["day"])
    frame = frame_of(spark, f"delta:{tmp_path / 'other'}", "run")
    assert frame.files is not None
    assert measured(spark, f"delta:{tmp_path / 'other'}").means["run"] == expected(1)


def test_judgments_in_a_lake(spark, delta, tmp_path):
    judged = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    query, doc, gain = map(list, zip(*judged, strict=True))
    place = tmp_path / "qrels"
    for _ in range(2):
        deltalake.write_deltalake(
            place, pa.table({"query": query, "doc": doc, "gain": gain}), mode="overwrite"
        )
    result = goodgain.spark.evaluate(f"delta:{place}", f"delta:{delta}", MEASURES, session=spark)
    assert result.evaluation.means["run"] == expected(3)


def test_renamed_columns_are_not_read_by_name(spark, tmp_path):
    owner, place = iceberg_table(tmp_path, table(1).schema)
    owner.append(table(1))
    with owner.update_schema() as change:
        change.rename_column("doc", "old")
        change.rename_column("score", "doc")
    with pytest.raises(InputError, match="its columns were renamed, and Spark cannot read it") as e:
        measured(spark, f"iceberg:{place}")
    assert "\n" not in e.value.message and "package of iceberg" in e.value.hint


def test_deleted_rows_need_the_packages_of_the_formats(spark, tmp_path):
    (tmp_path / "delta").mkdir()
    place = lake_tables.delta_versions(tmp_path / "delta" / "run", seeds=(1,))
    lake_tables.with_deletion_vector(place, {3})
    with pytest.raises(InputError, match="it has deletion vectors, and Spark cannot read it"):
        measured(spark, f"delta:{place}")
    owner, other = iceberg_table(tmp_path, table(1).schema)
    owner.append(table(1))
    lake_tables.with_delete_file(owner, {3})
    with pytest.raises(InputError, match="it has delete files, and Spark cannot read it"):
        measured(spark, f"iceberg:{other}")
    lake_tables.with_delete_file(owner, {4}, by_value=True)
    with pytest.raises(InputError, match="it has equality deletes, and Spark cannot read it"):
        measured(spark, f"iceberg:{other}")


def test_a_dropped_column_is_not_read(spark, tmp_path):
    owner, place = iceberg_table(tmp_path, table(1, rank=3).schema)
    owner.append(table(1, rank=3))
    with owner.update_schema(allow_incompatible_changes=True) as change:
        change.delete_column("score")
    assert "score" not in frame_of(spark, f"iceberg:{place}", "run").data.columns


def test_mapped_columns_are_not_read_by_name(spark, delta):
    log = delta / "_delta_log" / f"{0:020}.json"
    text = log.read_text()
    assert '"configuration":{}' in text
    mapped = '"configuration":{"delta.columnMapping.mode":"name"}'
    log.write_text(text.replace('"configuration":{}', mapped))
    with pytest.raises(InputError, match="mapped to other names"):
        measured(spark, f"delta:{delta}")


def test_a_damaged_log_is_one_sentence(spark, delta):
    (delta / "_delta_log" / f"{1:020}.json").write_text("{")
    with pytest.raises(InputError, match="the delta table cannot be opened") as caught:
        measured(spark, f"delta:{delta}")
    assert "\n" not in caught.value.message


def test_two_newest_metadata_files_are_refused(spark, iceberg):
    newest = max((iceberg / "metadata").glob("*.metadata.json"))
    newest.with_name(newest.name.split("-")[0] + "-ff.metadata.json").write_bytes(
        newest.read_bytes()
    )
    with pytest.raises(InputError, match="two files claim to be the newest metadata"):
        measured(spark, f"iceberg:{iceberg}")
    assert measured(spark, f"iceberg:{newest}").means["run"] == expected(3)
