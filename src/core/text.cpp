#include "text.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "error.hpp"
#include "run_evaluation.hpp"

namespace gg {

namespace {

/// Some problems leave a reader at the beginning of the line.
void leave_line(const char*& p, const char* start, const char* end) {
  if (p != start) return;
  const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
  p = feed ? feed + 1 : end;
}

/// Calls `row(line, start, end)` for each line and `other(start, p)` for what is none: it is empty, a comment or a
/// problem, and ends at `p`. Both return false to stop.
template <class Reader, class Row, class Other>
void read_lines(Reader& reader, Bytes text, Row&& row, Other&& other) {
  const char *p = text.data(), *end = p + text.size();
  Line line{};
  LineBatch batch;
  while (p < end) {
    if constexpr (requires { reader.next_usual(p, end, batch); }) {
      reader.next_usual(p, end, batch);
      batch.starts[batch.size] = p;
      for (size_t i = 0; i < batch.size; ++i)
        if (!row(batch.lines[i], batch.starts[i], batch.starts[i + 1])) return;
      if (batch.size == LineBatch::most || p == end) continue;
    }
    const char* start = p;
    if (reader.next(p, end, line) ? !row(line, start, p) : !other(start, p)) return;
  }
}

/// Calls `use(make_reader)` with the reader for the format.
template <class Use>
auto with_reader(const LineFormat& format, Table table, Use&& use) {
  switch (format.kind) {
    case LineFormat::Kind::delimited:
      return use([&format, table] { return DelimitedReader(table, format.delimiter, format.quotes, format.columns); });
    case LineFormat::Kind::json: return use([&format, table] { return JsonReader(table, format.keys); });
    default: return use([&format, table] { return TrecReader(table, format.as_trec_eval); });
  }
}

/// The rows of a text, for RunEvaluation. A place is the offset of a line.
template <class MakeReader>
class TextRows {
 public:
  TextRows(const TextSource& text, size_t skip, MakeReader make_reader)
      : text_(text), skip_(skip), make_reader_(make_reader) {}

  size_t size() const { return text_.size(); }
  TextRows fresh() const { return TextRows(text_, skip_, make_reader_); }
  void start(size_t block_bytes) { pass_ = text_.read(skip_, block_bytes); }
  std::string where(uint64_t place) const { return text_.where(place); }
  static uint64_t left_out(IdTable&) { return 0; }

  class Cursor {
   public:
    explicit Cursor(TextRows& rows) : rows_(rows), reader_(rows.make_reader_()) {}

    bool take() {
      pause_point();
      reader_.forget();
      return rows_.pass_->take(block_);
    }
    size_t number() const { return block_.number; }
    uint64_t place() const { return block_.offset; }

    template <class Row, class Bad>
    void for_each(Row&& row, Bad&& bad) {
      const char *begin = block_.text.data(), *end = begin + block_.text.size();
      const auto place_of = [&](const char* start) { return block_.offset + static_cast<uint64_t>(start - begin); };
      read_lines(
          reader_, block_.text,
          [&](const Line& line, const char* start, const char*) { return row(line, place_of(start)); },
          [&](const char* start, const char*& p) {
            if (const auto problem = reader_.take_problem()) {
              const uint64_t place = place_of(start);
              bad(place, [&] { return Error(ErrorKind::input, problem->message, rows_.where(place), problem->hint); });
              leave_line(p, start, end);
            }
            return true;
          });
    }

   private:
    TextRows& rows_;
    std::invoke_result_t<MakeReader> reader_;
    TextBlock block_;
  };

 private:
  const TextSource& text_;
  size_t skip_;
  MakeReader make_reader_;
  std::unique_ptr<BlockReader> pass_;
};

/// What went wrong may come from a text that changed meanwhile; then that is the error.
template <class Work>
auto on_unchanged(const TextSource& text, Work&& work) {
  try {
    auto result = work();
    text.require_unchanged();
    return result;
  } catch (const Error&) {
    text.require_unchanged();
    throw;
  }
}

FileSource source_of(const InputFile& file, const LineFormat& format) {
  return FileSource(file, format.delimiter, format.is_quoted());
}

}  // namespace

/// Text has no zero bytes and few control characters; a file that starts otherwise is binary.
void require_text(Bytes head, const std::string& name) {
  if (head.empty()) bad_input("the file is empty", name, "was it written completely?");
  head = head.substr(0, 4096);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && (c < '\t' || c > '\r'); };
  if (head.find('\0') != Bytes::npos ||
      static_cast<size_t>(std::count_if(head.begin(), head.end(), is_control)) * 10 > head.size())
    bad_input("the file is binary, not text", name,
              "compressed files must end in .gz, .zst, .bz2 or .xz, Parquet and Arrow files in .parquet or .arrow");
}

Scores evaluate_text(std::shared_ptr<const Qrels> qrels, const TextSource& text, const LineFormat& format,
                     const Plan& plan, Resources resources) {
  require_text(text.head(4096), text.name());
  return on_unchanged(text, [&] {
    return with_reader(format, Table::run, [&](auto make_reader) {
      TextRows rows(text, format.skip, make_reader);
      Scores scores = RunEvaluation(std::move(qrels), rows, plan, resources).run();
      return complete(std::move(scores), plan, text.name());
    });
  });
}

Scores evaluate_file(std::shared_ptr<const Qrels> qrels, const InputFile& file, const LineFormat& format,
                     const Plan& plan, Resources resources) {
  return evaluate_text(std::move(qrels), source_of(file, format), format, plan, resources);
}

// --- judgments and other rows, in order ---

namespace {

constexpr size_t usual_block = 1 << 20;

/// Calls `row(line, number)` for every line; an unusable one is an error, or passed over.
template <class Row>
void each_line(const TextSource& text, const LineFormat& format, Table table, Row&& row, bool skip_bad = false) {
  const std::string head = text.head(std::max<size_t>(4096, format.skip));
  require_text(head, text.name());
  with_reader(format, table, [&](auto make_reader) {
    auto reader = make_reader();
    const auto pass = text.read(format.skip, usual_block);
    uint64_t number = 1 + static_cast<uint64_t>(std::count(head.data(), head.data() + format.skip, '\n'));
    const auto count = [&](const char* start, const char* end) {
      ++number;
      if (format.quotes) number += static_cast<uint64_t>(std::count(start, end - 1, '\n'));  // inside quotes
      return true;
    };
    for (TextBlock block; pass->take(block); reader.forget()) {
      pause_point();
      read_lines(
          reader, block.text,
          [&](const Line& line, const char* start, const char* end) {
            row(line, number);
            return count(start, end);
          },
          [&](const char* start, const char*& p) {
            if (const auto problem = reader.take_problem()) {
              if (!skip_bad) bad_input(problem->message, text.name() + ":" + std::to_string(number), problem->hint);
              leave_line(p, start, block.text.data() + block.text.size());
            }
            return count(start, p);
          });
    }
  });
}

}  // namespace

void for_each_line(const InputFile& file, const LineFormat& format, Table table,
                   const std::function<void(const Line&, uint64_t)>& row, bool skip_bad) {
  const FileSource text = source_of(file, format);
  on_unchanged(text, [&] {
    each_line(text, format, table, row, skip_bad);
    return true;
  });
}

bool for_each_line(Bytes text, const std::string& name, const LineFormat& format, Table table,
                   const std::function<void(const Line&)>& row, BadRows& bad) {
  bool complete = true;
  with_reader(format, table, [&](auto make_reader) {
    auto reader = make_reader();
    Line line{};
    for (const char *p = text.data(), *end = p + text.size(); p < end;) {
      const char* start = p;
      if (reader.next(p, end, line)) {
        row(line);
      } else if (const auto problem = reader.take_problem()) {
        if (format.is_quoted() && p == start) complete = false;
        bad.add(bad.count ? std::string() : problem->message + " (" + name + ")");
        leave_line(p, start, end);
      }
      if (format.is_quoted()) {
        const void* feed = std::memchr(start, '\n', static_cast<size_t>(p - start));
        if (feed != nullptr && feed != p - 1) complete = false;
      }
    }
  });
  return complete;
}

namespace {

/// Calls `row(line, number)` for every line, in order; lines are read on several threads.
template <class Row>
void each_line_in_parallel(const TextSource& text, const LineFormat& format, Table table, unsigned threads, Row&& row) {
  const std::string head = text.head(std::max<size_t>(4096, format.skip));
  require_text(head, text.name());
  with_reader(format, table, [&](auto make_reader) {
    /// The lines of a block, with the memory that they point into.
    struct Parsed {
      TextBlock block;
      std::optional<decltype(make_reader())> reader;
      std::vector<std::pair<Line, uint32_t>> lines;  // with their numbers in the block
      uint32_t count = 0;
      std::unique_ptr<LineProblem> problem;  // of the last line
    };
    const auto parse = [&](Parsed& parsed) {
      parsed.reader.emplace(make_reader());
      parsed.lines.reserve(parsed.block.text.size() / 16);
      const auto count = [&](const char* start, const char* end) {
        ++parsed.count;
        if (format.quotes) parsed.count += static_cast<uint32_t>(std::count(start, end - 1, '\n'));  // inside quotes
        return true;
      };
      read_lines(
          *parsed.reader, parsed.block.text,
          [&](const Line& line, const char* start, const char* end) {
            parsed.lines.emplace_back(line, parsed.count);
            return count(start, end);
          },
          [&](const char* start, const char*& p) {
            return (parsed.problem = parsed.reader->take_problem()) ? false : count(start, p);
          });
    };
    const auto pass = text.read(format.skip, usual_block);
    std::mutex mutex;
    std::map<size_t, Parsed> waiting;
    size_t next = 0;
    uint64_t number = 1 + static_cast<uint64_t>(std::count(head.data(), head.data() + format.skip, '\n'));
    std::atomic<bool> failed{false};
    in_parallel(threads, threads, [&](size_t) {
      while (!failed) {
        pause_point();
        Parsed parsed;
        if (!pass->take(parsed.block)) return;
        parse(parsed);
        const std::lock_guard lock(mutex);
        const size_t place = parsed.block.number;
        waiting.emplace(place, std::move(parsed));
        for (auto ready = waiting.find(next); ready != waiting.end() && !failed; ready = waiting.find(++next)) {
          const Parsed& lines = ready->second;
          for (const auto& [line, later] : lines.lines) row(line, number + later);
          number += lines.count;
          if (lines.problem) {
            failed = true;
            bad_input(lines.problem->message, text.name() + ":" + std::to_string(number), lines.problem->hint);
          }
          waiting.erase(ready);
        }
      }
    });
  });
}

}  // namespace

std::unique_ptr<Qrels> read_qrels(const TextSource& text, const LineFormat& format, unsigned threads) {
  return on_unchanged(text, [&] {
    QrelsBuilder builder;
    if (format.kind == LineFormat::Kind::trec && !format.has_aspects) builder.aspects_may_be_iterations();
    const auto add = [&](const Line& line, uint64_t number) {
      builder.add(line.query, line.doc, line.value, number, line.target, line.aspect);
    };
    const std::string head = text.head(1 << 16);
    const size_t rows = static_cast<size_t>(std::count(head.begin(), head.end(), '\n'));
    builder.expect(rows * (text.size() / std::max<size_t>(head.size(), 1)));
    threads = static_cast<unsigned>(std::min<size_t>(threads, text.size() / usual_block));
    if (threads > 1) each_line_in_parallel(text, format, Table::qrels, threads, add);
    else each_line(text, format, Table::qrels, add);
    if (builder.empty()) bad_input("the file contains no judgments", text.name(), "expected lines such as: q1 0 d1 1");
    return builder.finish(text.name(), true, threads);
  });
}

std::unique_ptr<Qrels> read_qrels(const InputFile& file, const LineFormat& format, unsigned threads) {
  return read_qrels(source_of(file, format), format, threads);
}

}  // namespace gg
