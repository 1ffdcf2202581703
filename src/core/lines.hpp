// Readers of one line each: TREC, delimited text with named columns, and JSON objects.
//
// A reader is told where a line begins and moves the pointer past it. Ids it returns point into the
// file or into memory of its own that stays until `forget`.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "file.hpp"

namespace gg {

/// What a run or qrels line holds. In qrels `value` is the gain, in runs the score.
struct Line {
  Bytes query, doc, target, aspect;
  double value;
};

/// Why a line could not be read.
struct LineProblem {
  std::string message, hint;
};

enum class Table { run, qrels };

/// Text to a finite number; false when it is none.
bool parse_number(Bytes text, double& value);
/// The problem with a text that should have been a finite number.
LineProblem number_problem(Table table, Bytes text);

/// `qid Q0 doc rank score tag` or `qid iteration doc gain`, separated by blanks or tabs.
class TrecReader {
 public:
  /// `as_trec_eval`: more columns than needed are ignored, gains are whole numbers, and the iteration says nothing.
  explicit TrecReader(Table table, bool as_trec_eval = false) : table_(table), as_trec_eval_(as_trec_eval) {}
  /// True: a line; false: nothing (empty or a comment), or a problem.
  bool next(const char*& p, const char* end, Line& line);
  const LineProblem* problem() const { return problem_.get(); }
  /// The problem of the last line, which is then forgotten: for readers that go on.
  std::unique_ptr<LineProblem> take_problem() { return std::move(problem_); }
  void forget() {}

 private:
  bool usual_line(const char*& p, const char* end, Line& line);
  void tokens_of_line(const char*& p, const char* end, Bytes* tokens, size_t& count);
  bool fail(LineProblem problem);

  Table table_;
  bool as_trec_eval_;
  std::unique_ptr<LineProblem> problem_;
};

/// Where the named columns are; `none` for those that are absent.
struct Columns {
  static constexpr size_t none = static_cast<size_t>(-1);
  size_t query = none, doc = none, value = none, target = none, aspect = none;
  size_t count = 0;  // columns of the header
};

/// Comma- or tab-separated values under a header. Quotes follow RFC 4180 for commas; in tab-separated files
/// they are text like any other.
class DelimitedReader {
 public:
  DelimitedReader(Table table, char delimiter, bool quotes, Columns columns)
      : table_(table), delimiter_(delimiter), quotes_(quotes), columns_(columns) {}
  bool next(const char*& p, const char* end, Line& line);
  const LineProblem* problem() const { return problem_.get(); }
  /// The problem of the last line, which is then forgotten: for readers that go on.
  std::unique_ptr<LineProblem> take_problem() { return std::move(problem_); }
  void forget() { arena_.clear(); }

 private:
  bool fail(LineProblem problem);

  Table table_;
  char delimiter_;
  bool quotes_;
  Columns columns_;
  Arena arena_;
  std::vector<Bytes> fields_;
  std::string unquoted_;
  std::unique_ptr<LineProblem> problem_;
};

/// The names of the columns or JSON fields to use; empty for those that are absent.
struct ColumnNames {
  std::string query, doc, value, target, aspect;
};

/// One JSON object a line.
class JsonReader {
 public:
  JsonReader(Table table, ColumnNames keys);
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  bool next(const char*& p, const char* end, Line& line);
  const LineProblem* problem() const { return problem_.get(); }
  /// The problem of the last line, which is then forgotten: for readers that go on.
  std::unique_ptr<LineProblem> take_problem() { return std::move(problem_); }
  void forget() { arena_.clear(); }

 private:
  bool fail(LineProblem problem);

  struct Parser;
  Table table_;
  ColumnNames keys_;
  Arena arena_;
  std::unique_ptr<Parser> parser_;
  std::unique_ptr<LineProblem> problem_;
};

}  // namespace gg
