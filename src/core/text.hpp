// Tables in text files: runs are measured while they are read, judgments are built in memory.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "blocks.hpp"
#include "evaluate.hpp"
#include "lines.hpp"

namespace gg {

/// How to read the lines of a file.
struct LineFormat {
  enum class Kind { trec, delimited, json } kind = Kind::trec;
  char delimiter = ',';
  bool quotes = false;
  Columns columns;
  ColumnNames keys;
  size_t skip = 0;  // bytes before the first line: the header
  bool as_trec_eval = false;
  bool has_aspects = false;  // TREC qrels: the second column is certainly an aspect

  /// Whether a line feed may be inside a field.
  bool is_quoted() const { return kind == Kind::delimited && quotes; }
};

Scores evaluate_text(std::shared_ptr<const Qrels> qrels, const TextSource& text, const LineFormat& format,
                     const Plan& plan, Resources resources);
Scores evaluate_file(std::shared_ptr<const Qrels> qrels, const InputFile& file, const LineFormat& format,
                     const Plan& plan, Resources resources);

std::unique_ptr<Qrels> read_qrels(const TextSource& text, const LineFormat& format, unsigned threads);
std::unique_ptr<Qrels> read_qrels(const InputFile& file, const LineFormat& format, unsigned threads = 1);

/// Calls `row(line, number)` for every line of a table, in order; an unusable one is an error, or passed over.
void for_each_line(const InputFile& file, const LineFormat& format, Table table,
                   const std::function<void(const Line&, uint64_t number)>& row, bool skip_bad = false);

/// Whether the first bytes of a file are text; an error otherwise.
void require_text(Bytes head, const std::string& name);

/// The lines of a text in memory that came from a file called `name`; unusable lines are counted. Returns false if a
/// quoted field spans lines, or is not closed: then the rest of its file must be read along with it.
bool for_each_line(Bytes text, const std::string& name, const LineFormat& format, Table table,
                   const std::function<void(const Line&)>& row, BadRows& bad);

}  // namespace gg
