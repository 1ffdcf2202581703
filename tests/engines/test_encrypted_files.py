"""Encrypted Parquet behind a DataFrame is an error that Spark can handle, and does not end its worker."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pyarrow.parquet.encryption")

# In a process of its own, which pyarrow would end.
CODE = """
import base64, sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as keys
from goodgain.engines.spark.files import Column, Files, Split

class Keys(keys.KmsClient):
    def wrap_key(self, key, name):
        return base64.b64encode(key)

path, column = sys.argv[1:]
table = pa.table({"query": ["q1", "q2"], "doc": ["d1", "d2"]})
config = keys.EncryptionConfiguration(
    footer_key="f", column_keys={"k": [column]}, plaintext_footer=True
)
factory = keys.CryptoFactory(lambda _: Keys())
properties = factory.file_encryption_properties(keys.KmsConnectionConfig(), config)
with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
    writer.write_table(table)
size = Path(path).stat().st_size
doc = Column(name="doc", stored="doc", type="string", repeats=False)
files = Files(((Split(path, 0, size, size),),), (doc,), "1")
try:
    print(sum(len(batch) for batch in files.all_rows()))
except (OSError, pa.ArrowException) as error:
    print(error)
"""


@pytest.mark.parametrize("column", ["query", "doc"])
def test_encrypted_columns(tmp_path, column):
    command = [sys.executable, "-c", CODE, str(tmp_path / "run.parquet"), column]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "decrypt" in done.stdout
