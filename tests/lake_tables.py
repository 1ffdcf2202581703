"""Delta and Iceberg tables for tests, also with rows that are deleted but still in their files."""

from __future__ import annotations

import json
import random
import struct
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

QRELS = {f"{i:03}": {f"d{i}": 1, f"d{i + 1}": 2} for i in range(30)}
MEASURES = "nDCG@10 AP NumRet"
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def rows(seed):
    chance = random.Random(seed)
    return [
        (query, f"d{document}", chance.random())
        for query in QRELS
        for document in chance.sample(range(32), 10)
    ]


def table(seed, **columns):
    query, doc, score = zip(*rows(seed), strict=True)
    names = {"query": list(query), "doc": list(doc), "score": list(score)}
    return pa.table({**names, **{name: [value] * len(query) for name, value in columns.items()}})


def delta_versions(place, seeds=(1, 2, 3)):
    """Written several times: rows of all versions lie in the folder."""
    import deltalake

    for seed in seeds:
        deltalake.write_deltalake(place, table(seed), mode="overwrite")
    return place


def iceberg_table(folder, schema):
    from pyiceberg.catalog.sql import SqlCatalog

    (folder / "lake").mkdir()
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}/lake")
    catalog.create_namespace("search")
    return catalog.create_table("search.run", schema=schema), folder / "lake" / "search" / "run"


def iceberg_versions(folder):
    owner, place = iceberg_table(folder, table(1).schema)
    owner.append(table(1))
    for seed in (2, 3):
        owner.overwrite(table(seed))
    return place


# --- rows that are deleted without their file being rewritten ---


def with_deletion_vector(place, positions):
    """Delete rows of the only file of a Delta table by a vector in its log; deltalake writes none itself."""
    import deltalake

    owner = deltalake.DeltaTable(place)
    (file,) = owner.file_uris()
    name = file.rpartition("/")[2]
    bitmap = struct.pack("<iqi", 1681511377, 1, 0) + _roaring(sorted(positions))
    bitmap += b"\0" * (-len(bitmap) % 4)
    size = (place / name).stat().st_size
    now = int(time.time() * 1000)
    actions = [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7,
                      "readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}},
        {"remove": {"path": name, "deletionTimestamp": now, "dataChange": True}},
        {"add": {"path": name, "partitionValues": {}, "size": size, "modificationTime": now,
                 "dataChange": True, "stats": json.dumps({"numRecords": len(rows(1))}), "deletionVector": {
                     "storageType": "i", "pathOrInlineDv": _z85(bitmap), "sizeInBytes": len(bitmap),
                     "cardinality": len(positions)}}},
    ]  # fmt: skip
    log = place / "_delta_log" / f"{owner.version() + 1:020}.json"
    log.write_text("".join(json.dumps(action) + "\n" for action in actions))


def _roaring(positions):
    """A bitmap of one container below 65,536, as the Roaring format is specified."""
    header = struct.pack("<IIHHI", 12346, 1, 0, len(positions) - 1, 16)
    return header + struct.pack(f"<{len(positions)}H", *positions)


def _z85(data):
    text = ""
    for (word,) in struct.iter_unpack(">I", data):
        text += "".join(_Z85[word // 85**power % 85] for power in range(4, -1, -1))
    return text


def with_delete_file(owner, positions, *, by_value=False):
    """Delete rows of the only file of an Iceberg table by a delete file; pyiceberg writes none itself."""
    from pyiceberg.manifest import (
        DataFile,
        DataFileContent,
        FileFormat,
        ManifestContent,
        ManifestEntry,
        ManifestEntryStatus,
        ManifestWriterV2,
    )
    from pyiceberg.table.snapshots import Operation
    from pyiceberg.table.update.snapshot import _FastAppendFiles
    from pyiceberg.typedef import Record

    (task,) = owner.scan().plan_files()
    path = f"{owner.location()}/data/deletes.parquet"
    ids = (
        {"metadata": {b"PARQUET:field_id": b"2147483546"}},
        {"metadata": {b"PARQUET:field_id": b"2147483545"}},
    )
    schema = pa.schema(
        [pa.field("file_path", pa.string(), **ids[0]), pa.field("pos", pa.int64(), **ids[1])]
    )
    deletes = pa.table([[task.file.file_path] * len(positions), sorted(positions)], schema=schema)
    local = path.removeprefix("file://")
    pq.write_table(deletes, local)
    content = DataFileContent.EQUALITY_DELETES if by_value else DataFileContent.POSITION_DELETES
    size = Path(local).stat().st_size
    file = DataFile.from_args(
        content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(),
        record_count=len(positions), file_size_in_bytes=size, equality_ids=[1] if by_value else None,
    )  # fmt: skip
    file.spec_id = owner.spec().spec_id

    class Writer(ManifestWriterV2):
        def content(self):
            return ManifestContent.DELETES

        @property
        def _meta(self):
            return {**super()._meta, "content": "deletes"}

    class Producer(_FastAppendFiles):
        def _manifests(self):
            with Writer(
                owner.spec(), owner.schema(), self.new_manifest_output(), self._snapshot_id, self._compression
            ) as writer:  # fmt: skip
                writer.add(
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.ADDED, snapshot_id=self._snapshot_id,
                        sequence_number=None, file_sequence_number=None, data_file=file,
                    )
                )  # fmt: skip
            return [*super()._manifests(), writer.to_manifest_file()]

    with owner.transaction() as transaction:
        producer = Producer(operation=Operation.DELETE, transaction=transaction, io=owner.io)
        producer.commit()
