// Line readers: TREC, delimited text with named columns, and JSON objects.
//
// A reader starts at the beginning of a line and moves the pointer past it. The ids it returns point into the
// file or into memory of its own that is valid until `forget`, which must be called before the text changes.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "file.hpp"
#include "marks.hpp"

namespace gg {

/// The content of a run or qrels line. `value` is the gain in qrels and the score in runs.
struct Line {
  Bytes query, doc, target, aspect;
  double value;
};

/// Why a line could not be read.
struct LineProblem {
  std::string message, hint;
};

enum class Table { run, qrels };

/// Parses a finite number; false if the text is not one.
bool parse_number(Bytes text, double& value);
/// The same for a text in a buffer that goes on until `end`, eight digits at a time.
bool parse_number_in(Bytes text, const char* end, double& value);
/// The same for `true` and `false` as exports write them: 1 and 0.
bool parse_boolean(Bytes text, double& value);
/// The problem with a text that is not a finite number.
LineProblem number_problem(Table table, Bytes text);

/// What all readers share: the problem with the last line.
class LineReader {
 public:
  const LineProblem* problem() const { return problem_.get(); }
  /// Returns and clears the problem of the last line, for reading on after it.
  std::unique_ptr<LineProblem> take_problem() { return std::move(problem_); }

 protected:
  bool fail(LineProblem problem) {
    problem_ = std::make_unique<LineProblem>(std::move(problem));
    return false;
  }

 private:
  std::unique_ptr<LineProblem> problem_;
};

/// Some lines that were read together, and where each begins.
struct LineBatch {
  static constexpr size_t most = 32;
  size_t size = 0;
  Line lines[most];
  const char* starts[most + 1];
};

/// `qid Q0 doc rank score tag` or `qid iteration doc gain`, separated by spaces or tabs.
class TrecReader : public LineReader {
 public:
  /// `as_trec_eval`: extra columns are ignored, gains are integers, and the iteration is ignored.
  explicit TrecReader(Table table, bool as_trec_eval = false) : table_(table), as_trec_eval_(as_trec_eval) {}
  /// True for a line; false for an empty line, a comment or a problem.
  bool next(const char*& p, const char* end, Line& line);
  /// The next lines as long as they are usual ones, which are read several times as fast; there may be none.
  void next_usual(const char*& p, const char* end, LineBatch& batch) { read_usual_(*this, p, end, batch); }
  void forget() { marks_.forget(); }

  /// Ways to read usual lines, by the instructions that this machine has; all give the same bits. The last is the
  /// fastest.
  using ReadUsual = void (*)(TrecReader& reader, const char*& p, const char* end, LineBatch& batch);
  static const std::vector<ReadUsual>& usual_ways();
  void read_usual_by(ReadUsual way) { read_usual_ = way; }

 private:
  friend struct UsualLines;
  void tokens_of_line(const char*& p, const char* end, Bytes* tokens, size_t& count);

  Table table_;
  bool as_trec_eval_;
  MarkedText marks_;
  ReadUsual read_usual_ = usual_ways().back();
};

/// The indices of the named columns; `none` for absent ones.
struct Columns {
  static constexpr size_t none = static_cast<size_t>(-1);
  size_t query = none, doc = none, value = none, target = none, aspect = none;
  size_t count = 0;   // number of columns in the header
  size_t run = none;  // the column that names the run of a line
  std::string only;   // lines of other runs are skipped
};

/// Comma- or tab-separated values with a header. With commas, quotes follow RFC 4180; with tabs, they are ordinary
/// characters.
class DelimitedReader : public LineReader {
 public:
  DelimitedReader(Table table, char delimiter, bool quotes, Columns columns)
      : table_(table), delimiter_(delimiter), quotes_(quotes), columns_(columns) {}
  bool next(const char*& p, const char* end, Line& line);
  void forget() { arena_.clear(); }

 private:
  Table table_;
  char delimiter_;
  bool quotes_;
  Columns columns_;
  Arena arena_;
  std::vector<Bytes> fields_;
  std::string unquoted_;
};

/// The names of the columns or JSON fields to use; empty for absent ones.
struct ColumnNames {
  std::string query, doc, value, target, aspect;
  std::string run, only;             // the column that names the run of a row, and the run to read
  std::vector<std::string> refused;  // of scores, where the first line has a rank only
};

/// One JSON object per line.
class JsonReader : public LineReader {
 public:
  JsonReader(Table table, ColumnNames keys);
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  bool next(const char*& p, const char* end, Line& line);
  void forget() { arena_.clear(); }

 private:
  struct Parser;
  Table table_;
  ColumnNames keys_;
  Arena arena_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace gg
