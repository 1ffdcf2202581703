// Evaluates a run from blocks of rows, whatever they are read from.
//
// Threads take blocks in turn. Consecutive rows of one query form a segment. A segment inside a block is measured at
// once; one that touches the edge of a block is held until its neighbour is there. So a run whose queries are
// contiguous needs memory for a few queries only. A query that comes back later is measured in a second pass, which
// sorts rows into partitions by query, in memory or on disk; if the first block shows that queries are scattered, there
// is only that pass. Numbers depend on neither the order of queries, nor the number of threads, nor the memory.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "row_store.hpp"

namespace gg {

/// The error that belongs to the earliest place, whatever the timing of threads.
class EarliestError {
 public:
  static constexpr uint64_t none = ~uint64_t{0};

  /// To be called while an exception is handled.
  void note(uint64_t place) {
    const std::lock_guard lock(mutex_);
    if (error_ && place >= place_.load()) return;
    error_ = std::current_exception();
    place_.store(std::min(place, none - 1));
  }
  bool any() const { return place_.load(std::memory_order_relaxed) != none; }
  /// Whether an error at this place would still count.
  bool before(uint64_t place) const { return place_.load(std::memory_order_relaxed) < place; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }
  void clear() {
    error_ = nullptr;
    place_.store(none);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  std::atomic<uint64_t> place_{none};
};

/// `Rows` reads the run:
///   size_t size(), of the run in bytes, about; Rows fresh(), for one more pass at the same time;
///   void start(size_t block_bytes) begins a pass;
///   Cursor(Rows&), one for each thread: bool take() the next block; its number() and the place() of its first row;
///     for_each(use, bad) with bool use(const Line&, place), false to stop, and bad(place, make_error);
///   std::string where(place), for messages;
///   uint64_t left_out(IdTable&), how many rows the pass did not return since their queries, which it adds, are not
///     judged.
template <class Rows>
class RunEvaluation {
 public:
  RunEvaluation(std::shared_ptr<const Qrels> qrels, Rows& rows, const Plan& plan, Resources resources)
      : qrels_(std::move(qrels)),
        rows_(rows),
        plan_(plan),
        memory_(resources.memory),
        scores_(empty_scores(qrels_, plan)),
        claims_(qrels_->size()) {
    const size_t blocks = rows.size() / ordered_bytes() + 1;
    threads_ = static_cast<unsigned>(std::min<size_t>(std::max(resources.threads, 1u), blocks));
  }

  Scores run() {
    if (!read_ordered()) {
      scores_ = empty_scores(qrels_, plan_);
      scattered_ = false;
      errors_.clear();
      wanted_.assign(qrels_->size(), 1);
      sort_and_measure(true);
    } else {
      wanted_.assign(qrels_->size(), 0);
      bool scattered = false;
      for (size_t q = 0; q < claims_.size(); ++q)
        if (claims_[q].load(std::memory_order_relaxed) == again) {
          wanted_[q] = 1;
          scattered = true;
        }
      if (scattered) sort_and_measure(false);
    }
    return std::move(scores_);
  }

 private:
  using Cursor = typename Rows::Cursor;
  static constexpr uint8_t measured = 1, again = 2;

  /// What a thread counts and reuses.
  struct Thread {
    explicit Thread(const Qrels& qrels, const Plan& plan) : worker(qrels, plan) {}
    Worker worker;
    std::vector<Row> rows;
    IdTable unjudged;
    uint64_t unjudged_place = EarliestError::none;
    std::string unjudged_example;
    uint64_t documents = 0;
    BadRows bad;
    uint64_t bad_place = EarliestError::none;
  };

  /// Stored rows of one query that may go on in the next block.
  struct Open {
    uint32_t query = IdTable::none;
    std::string id;
    uint64_t begin = 0;  // the place of the first row
    ByteBuffer rows;
  };

  /// The first and the last segment of a block, which may be the same.
  struct Edges {
    std::optional<Open> first, last;
  };

  size_t ordered_bytes() const { return std::clamp<size_t>(rows_.size() / 64, 1 << 18, 2 << 20); }

  // --- queries in one piece ---

  /// False if the first block shows that the rows of queries are scattered.
  bool read_ordered() {
    rows_.start(ordered_bytes());
    each_block([&](Cursor& cursor, Thread& thread) {
      read_block(cursor, thread);
      return !scattered_.load(std::memory_order_relaxed);
    });
    if (scattered_) return false;
    if (open_ && !errors_.any()) {
      Thread last(*qrels_, plan_);
      attempt(open_->begin, [&] { finish(*open_, last); });
      add(last);
    }
    errors_.rethrow();
    set_unjudged();
    return true;
  }

  void read_block(Cursor& cursor, Thread& thread) {
    Edges edges;
    std::vector<uint32_t> closed;  // of the first block
    size_t closed_rows = 0;
    Bytes id;
    uint32_t query = IdTable::none;
    uint64_t begin = 0;
    bool open = false, first = true;
    const auto close = [&](bool last) {
      if (!open) return;
      if (first || last) {
        Open edge{query, std::string(id), begin, {}};
        for (const Row& row : thread.rows) StoredRow::put(edge.rows, row.doc, row.score);
        (first ? edges.first : edges.last) = std::move(edge);
      } else if (query == IdTable::none) {
        note_unjudged(thread, id, begin);
      } else {
        if (cursor.number() == 0) {
          closed.push_back(query);
          closed_rows += thread.rows.size();
        }
        measure(query, thread.rows, begin, thread);
      }
      first = false;
      thread.rows.clear();
    };
    cursor.for_each(
        [&](const Line& line, uint64_t place) {
          ++thread.documents;
          if (!open || !same_bytes(line.query, id)) {
            close(false);
            open = true;
            id = line.query;
            query = qrels_->find(id);
            begin = place;
          }
          if (query != IdTable::none) thread.rows.push_back(row_of((*qrels_)[query], line, thread.rows.size()));
          return true;
        },
        [&](uint64_t place, auto&& error) { note_bad(thread, place, error); });
    close(true);
    if (cursor.number() == 0 && is_scattered(closed, closed_rows)) {
      scattered_ = true;
      return;
    }
    join(cursor.number(), std::move(edges), thread);
  }

  /// Whether many queries come back within a block, or would in a larger one: then their segments are very short, as
  /// in a run that is ordered by rank.
  static bool is_scattered(std::vector<uint32_t>& closed, size_t rows) {
    if (closed.size() > 1000 && rows < 2 * closed.size()) return true;
    std::sort(closed.begin(), closed.end());
    const auto distinct = static_cast<size_t>(std::unique(closed.begin(), closed.end()) - closed.begin());
    return (closed.size() - distinct) * 8 > closed.size();
  }

  /// Joins the edges of blocks in their order, and measures what is then complete.
  void join(size_t number, Edges edges, Thread& thread) {
    std::vector<Open> complete;
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace(number, std::move(edges));
      for (auto next = waiting_.find(joined_); next != waiting_.end(); next = waiting_.find(++joined_)) {
        for (std::optional<Open>* edge : {&next->second.first, &next->second.last}) {
          if (!*edge) continue;
          if (open_ && edge == &next->second.first && open_->id == (*edge)->id) {
            open_->rows.append((*edge)->rows.bytes());
          } else {
            if (open_) complete.push_back(std::move(*open_));
            open_ = std::move(*edge);
          }
        }
        waiting_.erase(next);
      }
    }
    for (Open& segment : complete) attempt(segment.begin, [&] { finish(segment, thread); });
  }

  void finish(Open& segment, Thread& thread) {
    if (segment.query == IdTable::none) return note_unjudged(thread, segment.id, segment.begin);
    load(segment.query, segment.rows.bytes(), thread);
    measure(segment.query, thread.rows, segment.begin, thread);
    thread.rows.clear();
  }

  /// Measures the rows of a query that has not been measured before.
  void measure(uint32_t query, std::vector<Row>& rows, uint64_t begin, Thread& thread) {
    if (claims_[query].exchange(measured) != 0) {
      claims_[query].store(again);
      return;
    }
    measure_now(query, rows, begin, thread);
  }

  void measure_now(uint32_t query, std::vector<Row>& rows, uint64_t begin, Thread& thread) {
    scores_.in_run[query] = 1;
    const QueryJudgments& judged = (*qrels_)[query];
    scores_.counts[query] = thread.worker.measure(judged, rows, true, scores_.values.data() + query * scores_.width,
                                                  [&](const Row& row) { return where(judged.id, begin, row.number); });
  }

  // --- queries in several pieces ---

  /// Measures the wanted queries; with `count`, also counts what the first pass counts otherwise.
  void sort_and_measure(bool count) {
    RowPartitions partitions(qrels_->size(), memory_ / 2);
    rows_.start(std::clamp<size_t>(memory_ / 16 / threads_, 1 << 16, 8 << 20));
    std::vector<RowPartitions::Sorter> sorters;
    for (unsigned t = 0; t < threads_; ++t) sorters.emplace_back(partitions);
    each_block([&](Cursor& cursor, Thread& thread) {
      sort_block(cursor, thread, sorters[static_cast<size_t>(&thread - active_)], count);
      return true;
    });
    sorters.clear();
    errors_.rethrow();
    if (count) set_unjudged();
    partitions.sort_blocks();

    std::atomic<size_t> next{0};
    on_threads([&](Thread& thread) {
      Partition partition;
      for (size_t p; (p = next.fetch_add(1)) < partitions.size();) measure_partition(partitions, p, partition, thread);
    });
    errors_.rethrow();
  }

  /// Lines whose queries are looked up together.
  struct Lookups {
    static constexpr size_t most = 64;
    size_t size = 0;
    Bytes queries[most], docs[most];
    double scores[most];
    uint64_t places[most];
    uint32_t numbers[most];
  };

  void sort_block(Cursor& cursor, Thread& thread, RowPartitions::Sorter& sorter, bool count) {
    Lookups waiting;
    const auto look_up = [&] {
      qrels_->queries().find({waiting.queries, waiting.size}, waiting.numbers);
      for (size_t i = 0; i < waiting.size; ++i) {
        const uint32_t query = waiting.numbers[i];
        if (query == IdTable::none) {
          if (count) note_unjudged(thread, waiting.queries[i], waiting.places[i]);
        } else if (wanted_[query]) {
          sorter.add(query, waiting.docs[i], waiting.scores[i]);
        }
      }
      waiting.size = 0;
    };
    cursor.for_each(
        [&](const Line& line, uint64_t place) {
          if (count) ++thread.documents;
          const size_t i = waiting.size++;
          waiting.queries[i] = line.query;
          waiting.docs[i] = line.doc;
          waiting.scores[i] = line.value;
          waiting.places[i] = place;
          if (waiting.size == Lookups::most) look_up();
          return true;
        },
        [&](uint64_t place, auto&& error) {
          if (count) note_bad(thread, place, error);
        });
    look_up();
    sorter.finish_block(cursor.number());
  }

  /// The memory to measure a partition.
  struct Partition {
    ByteBuffer piece, rows;
    std::vector<size_t> ends;  // bytes of each query, then their ends in `rows`
  };

  void measure_partition(const RowPartitions& partitions, size_t p, Partition& own, Thread& thread) {
    const size_t queries = partitions.queries_in(p), most = std::max<size_t>(memory_ / 2 / threads_, 1 << 16);
    std::vector<size_t> sizes(queries, 0);
    partitions.for_each(p, own.piece, [&](size_t place, Bytes row) { sizes[place] += row.size(); });
    for (size_t from = 0, to; from < queries; from = to) {
      // As many queries as fit into memory; rows of others are passed over.
      size_t size = 0;
      for (to = from; to < queries && (to == from || size + sizes[to] <= most); ++to) size += sizes[to];
      if (size == 0) continue;
      own.rows.clear();
      char* const rows = own.rows.room(size);
      own.ends.assign(to - from + 1, 0);
      for (size_t place = from; place < to; ++place) own.ends[place - from + 1] = own.ends[place - from] + sizes[place];
      partitions.for_each(p, own.piece, [&](size_t place, Bytes row) {
        if (place < from || place >= to) return;
        std::memcpy(rows + own.ends[place - from], row.data(), row.size());
        own.ends[place - from] += row.size();
      });
      for (size_t place = from, begin = 0; place < to; begin = own.ends[place - from], ++place) {
        const auto query = static_cast<uint32_t>(partitions.query(p, place));
        pause_point(place);
        if (sizes[place] == 0 || errors_.before(query)) continue;
        attempt(query, [&] {
          load(query, {rows + begin, sizes[place]}, thread);
          measure_now(query, thread.rows, 0, thread);
        });
        thread.rows.clear();
      }
    }
  }

  // --- rows ---

  static Row row_of(const QueryJudgments& query, Bytes doc, double score, size_t number) {
    const uint64_t hash = hash_bytes(doc);
    return {hash, doc, score, query.find(doc, hash), static_cast<uint32_t>(number)};
  }
  static Row row_of(const QueryJudgments& query, const Line& line, size_t number) {
    return row_of(query, line.doc, line.value, number);
  }

  void load(uint32_t query, Bytes stored, Thread& thread) {
    thread.rows.clear();
    for (const char *p = stored.data(), *end = p + stored.size(); p < end;) {
      const StoredRow row = StoredRow::get(p);
      thread.rows.push_back(row_of((*qrels_)[query], row.doc, row.score, thread.rows.size()));
    }
  }

  /// The place of the row with this number among those of a query from `begin` on; reads the run again.
  std::string where(Bytes query, uint64_t begin, uint32_t number) {
    const std::lock_guard lock(mutex_);
    Rows rows = rows_.fresh();
    rows.start(ordered_bytes());
    Cursor cursor(rows);
    std::string place_of_row;
    while (place_of_row.empty() && cursor.take())
      cursor.for_each(
          [&](const Line& line, uint64_t place) {
            if (place < begin || line.query != query || number-- > 0) return true;
            place_of_row = rows_.where(place);
            return false;
          },
          [](uint64_t, auto&&) {});
    return place_of_row;
  }

  // --- counting ---

  void note_unjudged(Thread& thread, Bytes id, uint64_t place) {
    thread.unjudged.add(id);
    if (place >= thread.unjudged_place) return;
    thread.unjudged_place = place;
    thread.unjudged_example = id;
  }

  template <class MakeError>
  void note_bad(Thread& thread, uint64_t place, MakeError&& error) {
    if (!plan_.skip_bad) throw Error(error());
    // Finding a place means counting lines, so only do it for the example.
    if (thread.bad.count++ == 0) {
      thread.bad.example = as_example(error());
      thread.bad_place = place;
    }
  }

  void add(Thread& thread) {
    scores_.documents += thread.documents;
    if (thread.bad.count && thread.bad_place < bad_place_) {
      bad_place_ = thread.bad_place;
      scores_.bad.example = thread.bad.example;
    }
    scores_.bad.count += thread.bad.count;
    for (size_t u = 0; u < thread.unjudged.size(); ++u) unjudged_.add(thread.unjudged[u]);
    if (thread.unjudged_place < unjudged_place_) {
      unjudged_place_ = thread.unjudged_place;
      scores_.unjudged_example = thread.unjudged_example;
    }
  }

  void set_unjudged() {
    scores_.documents += rows_.left_out(unjudged_);
    scores_.unjudged_queries = unjudged_.size();
    unjudged_ = IdTable();
  }

  // --- threads ---

  template <class Work>
  void attempt(uint64_t place, Work&& work) {
    try {
      work();
    } catch (const Stopped&) {
      throw;
    } catch (...) {
      errors_.note(place);
    }
  }

  template <class Work>
  void on_threads(Work&& work) {
    std::vector<Thread> threads;
    threads.reserve(threads_);
    for (unsigned t = 0; t < threads_; ++t) threads.emplace_back(*qrels_, plan_);
    active_ = threads.data();
    in_parallel(threads_, threads_, [&](size_t t) { attempt(EarliestError::none, [&] { work(threads[t]); }); });
    if (scattered_) return;
    for (Thread& thread : threads) add(thread);
  }

  /// Calls `work(cursor, thread)` for each block, until it returns false or fails.
  template <class Work>
  void each_block(Work&& work) {
    on_threads([&](Thread& thread) {
      Cursor cursor(rows_);
      bool go_on = true;
      while (go_on && !errors_.any() && cursor.take()) attempt(cursor.place(), [&] { go_on = work(cursor, thread); });
    });
  }

  std::shared_ptr<const Qrels> qrels_;
  Rows& rows_;
  const Plan& plan_;
  unsigned threads_ = 1;
  size_t memory_;
  Scores scores_;
  std::vector<std::atomic<uint8_t>> claims_;
  std::vector<uint8_t> wanted_;
  std::atomic<bool> scattered_{false};
  EarliestError errors_;
  Thread* active_ = nullptr;

  std::mutex mutex_;
  std::map<size_t, Edges> waiting_;
  size_t joined_ = 0;
  std::optional<Open> open_;

  IdTable unjudged_;
  uint64_t unjudged_place_ = EarliestError::none, bad_place_ = EarliestError::none;
};

}  // namespace gg
