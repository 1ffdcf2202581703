// Runs in Arrow data: tables in memory, and tables of any size that come in pieces.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arrow.hpp"
#include "evaluate.hpp"

namespace gg {

/// Some rows of a table; without a table it is the end.
struct ArrowPiece {
  std::shared_ptr<const ArrowTable> table;
  uint64_t first = 0;  // the place of its first row in the whole
};

/// Arrow data that can be read more than once.
struct ArrowSource {
  std::string name;
  size_t rows = 0;  // about
  /// Starts a pass: a function that returns the next piece.
  std::function<std::function<ArrowPiece()>()> open;
  /// Rows that the pass does not return, since their queries are not judged; may be null.
  const LeftOut* left_out = nullptr;
};

/// `without_results` are queries of the run that have no row.
Scores evaluate_arrow(std::shared_ptr<const Qrels> qrels, const ArrowSource& source, const ColumnNames& columns,
                      const Plan& plan, Resources resources, const std::vector<std::string>& without_results = {});
/// The same for a table in memory.
Scores evaluate_arrow(std::shared_ptr<const Qrels> qrels, const ArrowTable& table, const ColumnNames& columns,
                      const Plan& plan, Resources resources, const std::vector<std::string>& without_results = {});

}  // namespace gg
