"""Measures and policies as one SQL query, for data that should not leave its database.

>>> from goodgain.sql import DIALECTS, Tables, compile_sql
>>> sorted(DIALECTS)
['bigquery', 'duckdb', 'snowflake', 'spark']
>>> query = compile_sql("nDCG@10 AP", "duckdb", tables=Tables(qrels="judged", run="ranked"))
>>> import duckdb
>>> db = duckdb.connect()
>>> _ = db.execute("CREATE TABLE judged AS SELECT 'q1' AS query, 'a' AS doc, 1 AS gain")
>>> _ = db.execute("CREATE TABLE ranked AS SELECT 'q1' AS query, 'a' AS doc, 2.0 AS score")
>>> db.execute(query).fetchall()
[('run', 1, 1.0, 1.0)]
"""

from goodgain.sql.compiler import Tables, compile_sql
from goodgain.sql.dialects import DIALECTS

__all__ = ["DIALECTS", "Tables", "compile_sql"]
