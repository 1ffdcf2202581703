"""Measures and policies as one SQL query, for data that should not leave its database."""

from goodgain.sql.compiler import Tables, compile_sql
from goodgain.sql.dialects import DIALECTS

__all__ = ["DIALECTS", "Tables", "compile_sql"]
