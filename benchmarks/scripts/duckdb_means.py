"""Means by SQL written by hand for DuckDB: python duckdb_means.py QRELS RUN."""

import sys

import duckdb

MEANS = """
with qrels as (
    select column0 as query, column2 as doc, column3::bigint as gain from read_csv($qrels, {options})
), run as (
    select column0 as query, column2 as doc, column4::double as score from read_csv($run, {options})
), ideal as (
    select query,
        sum(gain / log2(place + 1)) filter (place <= 10) as ideal,
        count(*) filter (gain >= 1) as total
    from (select *, row_number() over (partition by query order by gain desc) as place from qrels)
    group by query
), ranked as (
    select *, row_number() over (partition by query order by score desc, doc desc) as rank from run
), relevant as (
    select ranked.query, rank, gain,
        row_number() over (partition by ranked.query order by rank) as hits
    from ranked join qrels on ranked.query = qrels.query and ranked.doc = qrels.doc and gain >= 1
), found as (
    select query,
        sum(gain / log2(rank + 1)) filter (rank <= 10) as dcg,
        sum(hits / rank) as precisions,
        min(rank) as first,
        count(*) filter (rank <= 1000) as recalled,
        count(*) filter (rank <= 10) as top
    from relevant group by query
)
select
    avg(coalesce(dcg / ideal, 0)) as "nDCG@10",
    avg(coalesce(precisions / total, 0)) as "AP",
    avg(coalesce(1 / first, 0)) as "RR",
    avg(coalesce(recalled / total, 0)) as "R@1000",
    avg(coalesce(top / 10, 0)) as "P@10"
from ideal left join found using (query)
"""
OPTIONS = "delim=' ', header=false, all_varchar=true, quote='', escape=''"

result = duckdb.execute(MEANS.format(options=OPTIONS), {"qrels": sys.argv[1], "run": sys.argv[2]})
for (name, *_), value in zip(result.description, result.fetchone(), strict=True):
    print(name, repr(value))
