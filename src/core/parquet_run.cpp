#include "parquet_run.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "error.hpp"
#include "parallel.hpp"
#include "parquet_pages.hpp"
#include "run_evaluation.hpp"

namespace gg {

namespace {

constexpr size_t bytes_of_row = 32;  // about, as in other Arrow data
constexpr size_t rows_at_once = 1 << 16;

IdKind id_kind(const ParquetColumn& column) {
  return column.kind == ParquetColumn::Kind::integer ? IdKind::integer : IdKind::text;
}

/// The ids of a column; integers become decimal text in an arena, as in Arrow data.
class IdReader {
 public:
  IdReader(const ParquetFile& file, size_t group, const std::string& name)
      : column_(file.columns()[file.find(name)]), reader_(file, group, file.find(name)) {}

  /// What was read before is forgotten.
  void read(std::vector<Bytes>& to, size_t rows) {
    reader_.forget();
    arena_.clear();
    to.resize(rows);
    if (column_.kind != ParquetColumn::Kind::integer) return reader_.read(to.data(), rows);
    integers_.resize(rows);
    valid_.resize(rows);
    reader_.read(integers_.data(), valid_.data(), rows);
    char digits[24];
    for (size_t i = 0; i < rows; ++i) {
      const char* end = std::to_chars(digits, digits + 24, integers_[i]).ptr;
      to[i] = valid_[i] ? arena_.keep({digits, static_cast<size_t>(end - digits)}) : Bytes{};
    }
  }
  void skip(size_t rows) { reader_.skip(rows); }

 private:
  const ParquetColumn& column_;
  ParquetReader reader_;
  Arena arena_;
  std::vector<int64_t> integers_;
  std::vector<uint8_t> valid_;
};

/// Rows of one group that a thread reads from the first to the last.
struct Stretch {
  const ParquetFile* file;
  size_t group, first, rows;
  uint64_t place;  // of the first, in the whole
  size_t block;    // its number
};

/// The stretches of all groups in order, each made when it is taken: a few bytes may stand for any number of rows.
class Stretches {
 public:
  Stretches(const ParquetTable& table, size_t rows_of_block, size_t blocks) : rows_of_block_(rows_of_block) {
    rows_ = std::max<size_t>(blocks, 1) * rows_of_block;
    uint64_t place = 0;
    size_t block = 0;
    for (const auto& file : table.files)
      for (size_t g = 0; g < file->groups().size(); ++g) {
        const auto rows = static_cast<size_t>(file->groups()[g].rows);
        if (rows == 0) continue;
        groups_.push_back({size_, {file.get(), g, 0, rows, place, block}});
        size_ += (rows - 1) / rows_ + 1;
        place += rows;
        block += (rows - 1) / rows_of_block + 1;
      }
  }

  /// Any thread may call it; nothing is left where there is none.
  std::optional<Stretch> take() {
    const size_t number = next_.fetch_add(1);
    if (number >= size_) return {};
    const auto after = std::upper_bound(groups_.begin(), groups_.end(), number,
                                        [](size_t at, const Group& group) { return at < group.number; });
    const auto& [first_number, whole] = after[-1];
    Stretch stretch = whole;
    stretch.first = (number - first_number) * rows_;
    stretch.rows = std::min(rows_, whole.rows - stretch.first);
    stretch.place += stretch.first;
    stretch.block += stretch.first / rows_of_block_;
    return stretch;
  }

 private:
  struct Group {
    size_t number;  // of its first stretch
    Stretch whole;
  };
  std::vector<Group> groups_;
  size_t rows_of_block_, rows_, size_ = 0;
  std::atomic<size_t> next_{0};
};

/// The rows of a run, for RunEvaluation. A place is the number of a row, from 0.
class ParquetRows {
 public:
  ParquetRows(const ParquetTable& table, const ColumnNames& names, const Qrels& qrels)
      : table_(table), names_(names), qrels_(qrels) {}

  size_t size() const { return static_cast<size_t>(table_.rows()) * bytes_of_row; }
  ParquetRows fresh() const { return ParquetRows(table_, names_, qrels_); }
  std::string where(uint64_t place) const { return table_.name + ", row " + std::to_string(place + 1); }
  static uint64_t left_out(IdTable&) { return 0; }

  void start(size_t block_bytes) {
    rows_of_block_ = std::max<size_t>(block_bytes / bytes_of_row, 1);
    // Long ones, since pages at both ends are decompressed twice; but enough of them for all threads.
    const auto wanted = std::clamp<size_t>(static_cast<size_t>(table_.rows()) / 32, 1 << 16, 1 << 20);
    stretches_.emplace(table_, rows_of_block_, wanted / rows_of_block_);
  }

  class Cursor {
   public:
    explicit Cursor(ParquetRows& rows) : rows_(rows) {}

    bool take() {
      pause_point();
      place_ += queries_.size();
      ++number_;
      while (left_ == 0) {
        const std::optional<Stretch> next = rows_.stretches_->take();
        if (!next) return false;
        open(*next);
      }
      const size_t rows = std::min(left_, rows_.rows_of_block_);
      left_ -= rows;
      values_.resize(rows);
      query_->read(queries_, rows);
      value_->read(values_.data(), rows);
      if (run_) run_->read(runs_, rows);
      has_skipped_ = may_skip_ && !any_judged();
      if (has_skipped_) {
        doc_->skip(rows);
        docs_.assign(rows, Bytes{"", 0});
      } else {
        doc_->read(docs_, rows);
      }
      return true;
    }
    size_t number() const { return number_; }
    uint64_t place() const { return place_; }

    template <class Row, class Bad>
    void for_each(Row&& row, Bad&& bad) {
      bool first = true;
      Line line{};
      for (size_t i = 0; i < queries_.size(); ++i) {
        const uint64_t place = place_ + i;
        const auto missing = [&](const std::string& column) {
          bad(place, [&] {
            return Error(ErrorKind::input, "missing id", where(column, place),
                         "every row needs a query and a document");
          });
        };
        const ColumnNames& names = rows_.names_;
        if (run_) {
          if (!runs_[i].data()) {
            missing(names.run);
            continue;
          }
          if (runs_[i] != names.only) continue;
        }
        if (!queries_[i].data() || !docs_[i].data()) {
          missing(queries_[i].data() ? names.doc : names.query);
          continue;
        }
        if (!std::isfinite(values_[i])) {
          bad(place, [&] {
            return Error(ErrorKind::input, "the score is missing or not a finite number", where(names.value, place),
                         "remove the row, or correct it");
          });
          continue;
        }
        line.query = queries_[i];
        line.doc = docs_[i];
        line.value = values_[i];
        if (std::exchange(first, false) && !has_skipped_) rows_.require_same_kinds(*file_, line);
        if (!row(line, place)) return;
      }
    }

   private:
    void open(const Stretch& stretch) {
      left_ = stretch.rows;
      place_ = stretch.place;
      number_ = stretch.block;
      const size_t before = std::exchange(next_row_, stretch.first + stretch.rows);
      if (stretch.file == file_ && stretch.group == group_ && stretch.first >= before)
        return skip(stretch.first - before);
      file_ = stretch.file;
      group_ = stretch.group;
      const ColumnNames& names = rows_.names_;
      const auto ids = [&](std::optional<IdReader>& reader, const std::string& name) {
        reader.emplace(*file_, stretch.group, name);
      };
      ids(query_, names.query);
      ids(doc_, names.doc);
      if (!names.run.empty()) ids(run_, names.run);
      value_.emplace(*file_, stretch.group, file_->find(names.value));
      skip(stretch.first);
      const size_t doc = file_->find(names.doc);
      may_skip_ = !file_->columns()[doc].optional || !file_->groups()[stretch.group].chunks[doc].has_nulls;
    }

    void skip(size_t rows) {
      query_->skip(rows);
      doc_->skip(rows);
      if (run_) run_->skip(rows);
      value_->skip(rows);
    }

    /// Whether a document of these rows will be looked at.
    bool any_judged() const {
      Bytes last;
      bool is_judged = false;
      for (size_t i = 0; i < queries_.size() && !is_judged; ++i) {
        if (!queries_[i].data() || (queries_[i].data() == last.data() && queries_[i].size() == last.size())) continue;
        if (last.data() && same_bytes(queries_[i], last)) continue;
        last = queries_[i];
        is_judged = rows_.qrels_.find(last) != IdTable::none;
      }
      return is_judged;
    }

    std::string where(const std::string& column, uint64_t place) const {
      return "column " + in_quotes(column) + " of " + rows_.table_.name + ", row " + std::to_string(place + 1);
    }

    ParquetRows& rows_;
    const ParquetFile* file_ = nullptr;
    std::optional<IdReader> query_, doc_, run_;
    std::optional<ParquetReader> value_;
    std::vector<Bytes> queries_, docs_, runs_;
    std::vector<double> values_;
    size_t left_ = 0, number_ = 0, group_ = 0;
    size_t next_row_ = 0;  // of the group, after the stretch
    uint64_t place_ = 0;
    bool may_skip_ = false, has_skipped_ = false;
  };

 private:
  void require_same_kinds(const ParquetFile& file, const Line& example) const {
    const IdKind queries = id_kind(file.columns()[file.find(names_.query)]);
    const IdKind docs = id_kind(file.columns()[file.find(names_.doc)]);
    if (queries == qrels_.query_kind && docs == qrels_.doc_kind) return;
    gg::require_same_kinds(qrels_, {queries, std::string(example.query)}, {docs, std::string(example.doc)},
                           table_.name);
  }

  const ParquetTable& table_;
  const ColumnNames& names_;
  const Qrels& qrels_;
  std::optional<Stretches> stretches_;
  size_t rows_of_block_ = 1;
};

/// What went wrong may come from a file that changed meanwhile; then that is the error.
template <class Work>
auto on_unchanged(const ParquetTable& table, Work&& work) {
  const auto check = [&] {
    for (const auto& file : table.files) file->file().require_unchanged();
  };
  try {
    auto result = work();
    check();
    return result;
  } catch (const Error&) {
    check();
    throw;
  }
}

}  // namespace

uint64_t ParquetTable::rows() const {
  uint64_t rows = 0;
  for (const auto& file : files) rows += file->rows();
  return rows;
}

bool ParquetTable::has(const ColumnNames& names, Table table) const {
  using Kind = ParquetColumn::Kind;
  const auto all_have = [&](const std::string& name, bool is_id) {
    std::optional<Kind> first;
    for (const auto& file : files) {
      const size_t c = file->find(name);
      if (c == ParquetFile::none) return false;
      const Kind kind = file->columns()[c].kind;
      if (kind == Kind::other || kind == (is_id ? Kind::number : Kind::text)) return false;
      if (is_id && kind != first.value_or(kind)) return false;
      first = kind;
      for (const ParquetGroup& group : file->groups())
        if (!group.chunks[c].is_readable) return false;
    }
    return true;
  };
  const auto may_have = [&](const std::string& name) { return name.empty() || all_have(name, true); };
  if (!all_have(names.query, true) || !all_have(names.doc, true) || !all_have(names.value, false)) return false;
  return may_have(names.run) && (table == Table::run || (may_have(names.target) && may_have(names.aspect)));
}

Scores evaluate_parquet(std::shared_ptr<const Qrels> qrels, const ParquetTable& table, const ColumnNames& names,
                        const Plan& plan, Resources resources) {
  return on_unchanged(table, [&] {
    ParquetRows rows(table, names, *qrels);
    Scores scores = RunEvaluation(std::move(qrels), rows, plan, resources).run();
    return complete(std::move(scores), plan, table.name);
  });
}

std::unique_ptr<Qrels> read_parquet_qrels(const ParquetTable& table, const ColumnNames& names) {
  return on_unchanged(table, [&] {
    QrelsBuilder builder;
    std::vector<Bytes> queries, docs, targets, aspects, runs;
    std::vector<double> gains;
    uint64_t number = 0;
    const auto require = [](bool holds) {  // pyarrow's way of reading says where
      if (!holds) bad_input("a value is missing", {}, "fill it, or remove the row");
    };
    for (const auto& file : table.files)
      for (size_t g = 0; g < file->groups().size(); ++g) {
        IdReader query(*file, g, names.query), doc(*file, g, names.doc);
        std::optional<IdReader> target, aspect, run;
        if (!names.target.empty()) target.emplace(*file, g, names.target);
        if (!names.aspect.empty()) aspect.emplace(*file, g, names.aspect);
        if (!names.run.empty()) run.emplace(*file, g, names.run);
        ParquetReader gain(*file, g, file->find(names.value));
        for (size_t left = static_cast<size_t>(file->groups()[g].rows), rows; left; left -= rows) {
          rows = std::min(left, rows_at_once);
          pause_point();
          query.read(queries, rows);
          doc.read(docs, rows);
          if (target) target->read(targets, rows);
          if (aspect) aspect->read(aspects, rows);
          if (run) run->read(runs, rows);
          gains.resize(rows);
          gain.read(gains.data(), rows);
          for (size_t i = 0; i < rows; ++i) {
            ++number;
            require(!run || runs[i].data());
            if (run && runs[i] != names.only) continue;
            require(queries[i].data() && docs[i].data() && std::isfinite(gains[i]));
            Bytes of = target ? targets[i] : Bytes{};
            if (of.empty()) of = {};
            builder.add(queries[i], docs[i], gains[i], number, of, aspect ? aspects[i] : Bytes{});
          }
        }
      }
    if (builder.empty())
      bad_input("the table contains no judgments", table.name, "was it written completely, or filtered?");
    auto qrels = builder.finish(table.name, false);
    const ParquetFile& first = *table.files.front();
    qrels->query_kind = id_kind(first.columns()[first.find(names.query)]);
    qrels->doc_kind = id_kind(first.columns()[first.find(names.doc)]);
    return qrels;
  });
}

std::vector<std::string> distinct_ids(const ParquetTable& table, const std::string& column) {
  IdTable values;
  std::vector<Bytes> ids;
  for (const auto& file : table.files)
    for (size_t g = 0; g < file->groups().size(); ++g) {
      IdReader reader(*file, g, column);
      for (size_t left = static_cast<size_t>(file->groups()[g].rows), rows; left; left -= rows) {
        rows = std::min(left, rows_at_once);
        pause_point();
        reader.read(ids, rows);
        const char* last = nullptr;  // values of a dictionary are the same bytes
        for (const Bytes id : ids) {
          if (!id.data()) bad_input("missing id", {}, "every row needs a query and a document");
          if (id.data() != last || id.empty()) values.add(id);
          last = id.data();
        }
      }
    }
  std::vector<std::string> listed;
  for (size_t i = 0; i < values.size(); ++i) listed.emplace_back(values[i]);
  return listed;
}

}  // namespace gg
