// Runs and judgments in Parquet files, read without any library.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "parquet_format.hpp"

namespace gg {

/// The files of one table, in order.
struct ParquetTable {
  std::string name;
  std::vector<std::shared_ptr<const ParquetFile>> files;
  PageDecompressors decompressors = {};  // of files that are added

  uint64_t rows() const;
  /// Whether the core reads these columns of every file, all in the same way.
  bool has(const ColumnNames& columns, Table table) const;
};

Scores evaluate_parquet(std::shared_ptr<const Qrels> qrels, const ParquetTable& table, const ColumnNames& columns,
                        const Plan& plan, Resources resources);
std::unique_ptr<Qrels> read_parquet_qrels(const ParquetTable& table, const ColumnNames& columns);
/// The distinct ids of a column, in order of appearance.
std::vector<std::string> distinct_ids(const ParquetTable& table, const std::string& column);

}  // namespace gg
