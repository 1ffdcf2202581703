"""Means by Polars expressions written by hand: python polars_means.py QRELS RUN."""

import sys

import polars as pl


def read(path: str, columns: list[str], kept: dict[str, pl.DataType]) -> pl.LazyFrame:
    types = dict.fromkeys(columns, pl.String()) | kept
    table = pl.scan_csv(path, separator=" ", has_header=False, schema=types)
    return table.select(list(kept))


def dcg(gain: pl.Expr, rank: pl.Expr) -> pl.Expr:
    return (gain / (rank + 1).log(2)).filter(rank <= 10).sum()


qrels = read(
    sys.argv[1],
    ["query", "iteration", "doc", "gain"],
    {"query": pl.String(), "doc": pl.String(), "gain": pl.Int64()},
)
run = read(
    sys.argv[2],
    ["query", "q0", "doc", "rank", "score", "tag"],
    {"query": pl.String(), "doc": pl.String(), "score": pl.Float64()},
)
rank, gain, relevant = pl.col("rank"), pl.col("gain"), pl.col("gain") >= 1
ideal = (
    qrels.sort("query", "gain", descending=[False, True])
    .with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
    .group_by("query")
    .agg(ideal=dcg(gain, rank), total=relevant.sum())
)
found = (
    run.sort("query", "score", "doc", descending=[False, True, True])
    .with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))
    .join(qrels.filter(relevant), on=["query", "doc"])
    .with_columns(hits=rank.rank("ordinal").over("query"))
    .group_by("query")
    .agg(
        dcg=dcg(gain, rank),
        precisions=(pl.col("hits") / rank).sum(),
        first=rank.min(),
        recalled=(rank <= 1000).sum(),
        top=(rank <= 10).sum(),
    )
)
means = (
    ideal.join(found, on="query", how="left")
    .select(
        (pl.col("dcg") / pl.col("ideal")).alias("nDCG@10"),
        (pl.col("precisions") / pl.col("total")).alias("AP"),
        (1 / pl.col("first")).alias("RR"),
        (pl.col("recalled") / pl.col("total")).alias("R@1000"),
        (pl.col("top") / 10).alias("P@10"),
    )
    .select(pl.all().fill_null(0).mean())
    .collect()
)
for name, value in means.row(0, named=True).items():
    print(name, repr(value))
