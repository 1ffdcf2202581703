// Parquet files: whatever is damaged, no byte is read or written outside its place, and a column means the same read
// at once, in pieces, and with rows passed over.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "error.hpp"
#include "parquet_pages.hpp"
#include "parquet_run.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

constexpr uint64_t most_rows = 20000;  // a run length of a few bytes stands for any number

/// A temporary file, rewritten for each input.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::random_device random;
    path_ = (std::filesystem::path(temporary_folder()) / ("goodgain-fuzz-" + std::to_string(random()) + ".parquet"))
                .string();
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& write(Bytes bytes) {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_;
  }

 private:
  std::string path_;
};

/// The values of some rows as text, or nothing if they are damaged.
std::vector<std::string> read_rows(const ParquetFile& file, size_t group, size_t column, size_t step, size_t skipped) {
  const auto rows = static_cast<size_t>(file.groups()[group].rows);
  const bool is_text = file.columns()[column].kind == ParquetColumn::Kind::text;
  std::vector<std::string> values(rows);
  ParquetReader reader(file, group, column);
  std::vector<Bytes> texts(step);
  std::vector<double> numbers(step);
  for (size_t row = 0, turn = 0; row < rows; ++turn) {
    const size_t n = std::min(step, rows - row);
    if (turn % 3 < skipped) {
      reader.skip(n);
      for (size_t i = 0; i < n; ++i) values[row + i] = "skipped";
    } else if (is_text) {
      reader.forget();
      reader.read(texts.data(), n);
      for (size_t i = 0; i < n; ++i) values[row + i] = texts[i].data() ? "=" + std::string(texts[i]) : "null";
    } else {
      reader.read(numbers.data(), n);
      for (size_t i = 0; i < n; ++i) values[row + i] = std::isnan(numbers[i]) ? "nan" : std::to_string(numbers[i]);
    }
    row += n;
  }
  return values;
}

void compare_columns(const ParquetFile& file, Bytes input) {
  for (size_t g = 0; g < file.groups().size(); ++g)
    for (size_t c = 0; c < file.columns().size(); ++c) {
      if (file.columns()[c].kind == ParquetColumn::Kind::other || !file.groups()[g].chunks[c].is_readable) continue;
      std::vector<std::string> whole;
      try {
        whole = read_rows(file, g, c, static_cast<size_t>(file.groups()[g].rows) + 1, 0);
      } catch (const Error&) {
        continue;
      }
      for (const size_t step : {size_t{1}, size_t{7}, size_t{64}})
        for (const size_t skipped : {size_t{0}, size_t{1}, size_t{2}}) {
          std::vector<std::string> pieces;
          try {
            pieces = read_rows(file, g, c, step, skipped);
          } catch (const Error&) {
            differ("a column that is read at once and in pieces", input);
          }
          for (size_t i = 0; i < whole.size(); ++i)
            if (pieces[i] != "skipped" && pieces[i] != whole[i])
              differ("a value that is read at once and in pieces", input);
        }
    }
}

/// The scores of a run and what is wrong with it.
std::string measured(const ParquetTable& table, const ColumnNames& names, unsigned threads) {
  try {
    Plan plan = some_plan();
    plan.skip_bad = true;
    return bytes_of(evaluate_parquet(some_judgments(), table, names, plan, {threads}));
  } catch (const Error&) {
    return "error";
  }
}

}  // namespace

void parquet(Bytes bytes) {
  static TemporaryFile place;
  std::shared_ptr<const ParquetFile> file;
  try {
    file = std::make_shared<const ParquetFile>(place.write(bytes));
  } catch (const Error&) {
    return;
  }
  if (file->rows() > most_rows) return;
  compare_columns(*file, bytes);
  if (file->columns().size() < 3) return;
  const ParquetTable table{"run", {file}};
  const auto name = [&](size_t column) { return file->columns()[column].name; };
  ColumnNames names;
  names.query = name(0), names.doc = name(1), names.value = name(2);
  if (!table.has(names, Table::run)) return;
  if (measured(table, names, 1) != measured(table, names, 3)) differ("a run on one thread and on three", bytes);
  try {
    read_parquet_qrels(table, names);
  } catch (const Error&) {
  }
}

}  // namespace gg::fuzz
