// Arrow data from any library, through the C stream interface, read without a copy.
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "text.hpp"

// The structures of the Arrow C data and C stream interfaces, as specified.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

namespace gg {

/// The rows of a run that were left out when it was read, since their queries are not judged.
struct LeftOut {
  IdTable queries;
  uint64_t rows = 0;
};

/// All batches of a stream; they live as long as the table.
class ArrowTable {
 public:
  /// Consumes the stream. `name` is used in messages.
  ArrowTable(ArrowArrayStream& stream, std::string name);
  ~ArrowTable();
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  std::vector<std::string> column_names() const;
  const std::string& name() const { return name_; }

  /// The distinct ids of a column, in order of appearance.
  std::vector<std::string> distinct(const std::string& column) const;
  /// One bit for each row: whether its query is judged and, with a column `run`, whether it belongs to the run `only`.
  /// Rows of that run whose queries are not judged are counted.
  std::vector<uint8_t> judged(const Qrels& qrels, const std::string& query, const std::string& run,
                              const std::string& only, LeftOut& left_out) const;
  std::unique_ptr<Qrels> qrels(const ColumnNames& columns) const;
  /// Bad rows are counted in `bad`; without it they are an error.
  void for_each(const ColumnNames& columns, Table table, const std::function<void(const Line&, uint64_t)>& row,
                BadRows* bad = nullptr) const;
  /// The texts of a column, which must hold bytes; a missing one is skipped.
  void for_each_text(const std::string& column, const std::function<void(Bytes)>& use) const;
  /// Packed rows: columns `query` and `piece` (bytes), `kind` and `place` (integers).
  void for_each_piece(const std::function<void(Bytes query, int64_t kind, int64_t place, Bytes piece)>& use) const;

  // For readers of rows, which call these before they read cells.
  size_t column(const std::string& name) const;
  IdKind kind(size_t column) const;
  void require_numbers(size_t column) const;
  /// Refuses data that would be read outside its buffers.
  void check_columns(std::initializer_list<size_t> columns) const;
  /// The same for all columns of ids and numbers.
  void check() const;
  std::string place_of(size_t column) const;  // for messages
  const std::vector<ArrowArray>& batches() const { return batches_; }
  const ArrowSchema& schema(size_t column) const { return *schema_.children[column]; }

 private:
  void release();

  std::string name_;
  ArrowSchema schema_{};
  std::vector<ArrowArray> batches_;
};

}  // namespace gg
