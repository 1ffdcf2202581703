"""Delta and Iceberg tables as plain Parquet files, where their metadata says that they are nothing else.

Tasks can then read them themselves, and Spark needs no packages for these formats.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goodgain.engines.spark.failures import reading_errors
from goodgain.engines.spark.places import local_path, place_of
from goodgain.engines.spark.session import fresh_reader
from goodgain.errors import InputError, MissingExtraError
from goodgain.io.lakes import open_lake

if TYPE_CHECKING:
    from goodgain.io.lakes import LakeTable

_HADOOP = {"s3": "s3a", "gs": "gs", "az": "abfss"}  # schemes as Spark's file systems name them


def lake_frame(spark: Any, form: str, place: str) -> tuple[Any, dict[str, Any]]:
    """A DataFrame of a table as it is now, and the version that was read."""
    try:
        table = open_lake(form, str(local_path(place) or place))
    except MissingExtraError as missing:
        return _by_spark(spark, form, place, str(missing), missing.hint), {"format": form}
    if table.reason:
        data = _by_spark(
            spark, form, place, f"the {form} table is not read as files: {table.reason}"
        )
        return data, {"format": form}
    if not table.files:
        raise InputError("the table is empty", where=place)
    return _of_files(spark, table), table.facts


def _of_files(spark: Any, table: LakeTable) -> Any:
    reader = fresh_reader(spark).option("mergeSchema", "true")
    if table.schema:
        from pyspark.sql.types import StructType

        reader = fresh_reader(spark).schema(StructType.fromJson(json.loads(table.schema)))
    if table.partitions:
        reader = reader.option("basePath", _url(table.place))
    data = reader.parquet(*map(_url, table.files))
    names = [name for name in table.names if name in data.columns]  # not those dropped
    return data.select(*(f"`{name}`" for name in names))


def _url(file: str) -> str:
    scheme, colon, rest = file.partition("://")
    if not colon or scheme == "file":
        return place_of(rest or file)
    return f"{_HADOOP.get(scheme, scheme)}://{rest}"


def _by_spark(spark: Any, form: str, place: str, reason: str, hint: str = "") -> Any:
    """The table as Spark's own package for its format reads it."""
    hint = hint or f"Spark reads it with the package of {form} (--conf spark.jars.packages=...)"
    with reading_errors(f"{reason}, and Spark cannot read it", where=place, hint=hint):
        return spark.read.format(form).load(place)
