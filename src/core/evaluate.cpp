#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "error.hpp"
#include "kernels.hpp"

namespace gg {

// --- one query ---

void Worker::duplicate(const QueryJudgments& query, const Row& row, std::string where) {
  duplicate_input("duplicate document " + in_quotes(row.doc) + " for query " + in_quotes(query.id), std::move(where),
                  "set the policy duplicates=first or duplicates=best to keep one of them");
}

void Worker::bad_rank(const QueryJudgments& query, const Row& row, std::string where) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", row.score);
  bad_input(std::string("the rank ") + text + " of document " + in_quotes(row.doc) + " for query " +
                in_quotes(query.id) + " must be a non-negative integer",
            std::move(where), "ranks count from 1; for scores, name their column 'score'");
}

RankFacts Worker::rank_facts(const std::vector<Row>& rows) {
  ranks_.clear();
  for (const Row& row : rows) ranks_.push_back(row.score);
  std::sort(ranks_.begin(), ranks_.end());
  RankFacts facts;
  if (ranks_.empty()) return facts;
  facts.from_zero = ranks_[0] == 0;
  facts.gaps = ranks_[0] > 1;
  for (size_t i = 1; i < ranks_.size(); ++i) {
    if (ranks_[i] == ranks_[i - 1]) facts.shared = 1;
    if (ranks_[i] > ranks_[i - 1] + 1) facts.gaps = 1;
  }
  return facts;
}

QueryCounts Worker::counts(const Ranked& ranked) {
  constexpr uint32_t top = 10;
  QueryCounts n;
  n.retrieved = ranked.retrieved;
  n.unjudged = ranked.unjudged;
  n.top = std::min(ranked.retrieved, top);
  for (const Hit& hit : ranked.hits) {
    if (hit.rank > top) break;
    ++n.top_judged;
  }
  return n;
}

void Plan::group_next(const Policy& of_measure) {
  const auto next = static_cast<uint32_t>(measures.size() - 1);
  for (Group& group : groups)
    if (group.policy == of_measure) return group.measures.push_back(next);
  groups.push_back({of_measure, {next}});
}

void Worker::measure(const Plan::Group& group, const Ranked& ranked, const std::vector<Row>& rows, double* out) {
  const size_t n = plan_.measures.size();
  const Policy& policy = group.policy;
  if (plan_.has_customs) {
    gains_.clear();
    for (const uint32_t i : ranker_.order())
      gains_.push_back(rows[i].judgment == QueryJudgments::unjudged
                           ? undefined
                           : ranked.query->gains[static_cast<size_t>(rows[i].judgment)]);
  }
  for (const uint32_t m : group.measures) {
    const Spec& spec = plan_.measures[m];
    if (!spec.kernel) {
      out[m] = plan_.customs[m](*ranked.query, gains_);
      if (policy.bounds()) out[n + 2 * m] = out[n + 2 * m + 1] = undefined;
      continue;
    }
    out[m] = policy.ties == Ties::average ? spec.kernel->expected(ranked, spec) : spec.kernel->point(ranked, spec);
    if (policy.bounds()) {
      const Interval interval = policy.ties == Ties::bounds ? tie_bounds(ranked, spec) : unjudged_bounds(ranked, spec);
      out[n + 2 * m] = interval.lower;
      out[n + 2 * m + 1] = interval.upper;
    }
  }
}

void Worker::add_to(TopList& list, size_t group, const Ranked& ranked, const std::vector<Row>& rows) {
  if (group == 0) list = plan_.lists->begin(ranked, rows, ranker_.order());
  for (const uint32_t m : plan_.groups[group].measures)
    plan_.lists->explain(list, ranked, plan_.groups[group].policy, plan_.measures[m], m);
}

void Worker::measure_missing(const QueryJudgments& query, double* out) {
  static const std::string invented = "a document that is not in the run";
  std::vector<Row> rows;
  for (const Plan::Group& group : plan_.groups) {
    if (group.policy.missing == Missing::skip) continue;  // stays undefined
    rows.clear();
    if (group.policy.missing == Missing::invented) rows.push_back({0, invented, 1, QueryJudgments::unjudged});
    const Ranked ranked = ranker_.rank(*qrels_, query, rows, group.policy, false, [](const Row&) {});
    measure(group, ranked, rows, out);
  }
}

// --- scores of a run ---

std::string as_example(const Error& error) {
  return error.where.empty() ? error.what() : std::string(error.what()) + " (" + error.where + ")";
}

namespace {

void count_bad_ranks(Scores& scores) {
  for (size_t q = 0; q < scores.counts.size(); ++q)
    if (const uint32_t n = scores.counts[q].ranks.bad)
      scores.bad.join({n, "invalid rank for query " + in_quotes((*scores.qrels)[q].id)});
}

void count_repeats(Scores& scores, const Plan& plan) {
  if (!plan.repeats_are_bad) return;
  for (size_t q = 0; q < scores.counts.size(); ++q)
    if (const uint32_t n = scores.counts[q].repeated)
      scores.bad.join({n, "duplicate document for query " + in_quotes((*scores.qrels)[q].id)});
}

void fill_missing(Scores& scores, const Plan& plan) {
  if (plan.policy.missing == Missing::skip) return;
  Worker worker(*scores.qrels, plan);
  for (size_t q = 0; q < scores.in_run.size(); ++q)
    if (pause_point(q); !scores.in_run[q])
      worker.measure_missing((*scores.qrels)[q], scores.values.data() + q * scores.width);
}

void require_common_queries(const Scores& scores, const Plan& plan, const std::string& run_name) {
  if (plan.may_be_disjoint) return;
  if (std::find(scores.in_run.begin(), scores.in_run.end(), 1) != scores.in_run.end()) return;
  if (scores.documents == 0) bad_input("the run is empty", run_name);
  bad_input("no query of the run is judged: the run has query " + in_quotes(scores.unjudged_example) +
                ", the judgments have " +
                (scores.qrels->size() ? in_quotes((*scores.qrels)[0].id) : std::string("none")),
            run_name, "both must use the same query ids; were they swapped, or are they from different collections?");
}

}  // namespace

Scores empty_scores(std::shared_ptr<const Qrels> qrels, const Plan& plan) {
  Scores scores;
  const size_t n = qrels->size();
  scores.qrels = std::move(qrels);
  scores.width = plan.width();
  scores.values.assign(n * scores.width, undefined);
  scores.counts.resize(n);
  scores.in_run.assign(n, 0);
  return scores;
}

Scores complete(Scores scores, const Plan& plan, const std::string& run_name) {
  count_bad_ranks(scores);
  count_repeats(scores, plan);
  require_common_queries(scores, plan, run_name);
  fill_missing(scores, plan);
  return scores;
}

void require_same_kinds(const Qrels& qrels, IdSample queries, IdSample docs, const std::string& run_name) {
  const auto name = [](IdKind kind) { return kind == IdKind::text ? "text" : "integers"; };
  for (const bool is_query : {true, false}) {
    const IdKind ours = is_query ? qrels.query_kind : qrels.doc_kind;
    const IdSample& theirs = is_query ? queries : docs;
    if (ours == theirs.kind || ours == IdKind::untyped || theirs.kind == IdKind::untyped) continue;
    const std::string example(is_query ? qrels[0].id : qrels[0].docs[0]);
    bad_input(std::string(is_query ? "query" : "document") + " ids are " + name(ours) + " in the judgments (" +
                  (ours == IdKind::text ? in_quotes(example) : example) + ") but " + name(theirs.kind) +
                  " in the run (" + theirs.example + ")",
              run_name, "1 and '1' are different ids: convert one side, for example with str()");
  }
}

// --- a run file ---
//
// The file is divided into chunks that threads take in turn. Within a chunk, consecutive lines of one query form a
// segment. A query that lies entirely within a chunk is measured at once; one that touches a chunk boundary or
// continues elsewhere is measured afterwards from all of its segments. So memory is bounded by a few queries, and
// queries need not be contiguous.

namespace {

constexpr size_t chunk_bytes = 4 << 20;

struct Segment {
  uint32_t query;
  uint64_t begin, end;
  size_t result;  // index into the chunk's results, or `not_measured`
};

constexpr size_t not_measured = static_cast<size_t>(-1);

struct Chunk {
  std::vector<Segment> segments;
  std::vector<double> values;
  std::vector<QueryCounts> counts;
  IdTable unjudged;
  uint64_t documents = 0;
  BadRows bad;
  const char* first_bad = nullptr;
};

/// Some problems leave a reader at the beginning of the line.
void leave_line(const char*& p, const char* start, const char* end) {
  if (p != start) return;
  const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
  p = feed ? feed + 1 : end;
}

template <class MakeReader>
class FileEvaluation {
 public:
  FileEvaluation(std::shared_ptr<const Qrels> qrels, const MappedFile& file, size_t skip, bool divisible,
                 const Plan& plan, unsigned threads, MakeReader make_reader)
      : qrels_(std::move(qrels)),
        file_(file),
        first_(skip),
        plan_(plan),
        threads_(threads),
        make_reader_(make_reader),
        chunk_size_(divisible ? chunk_bytes : std::max<size_t>(file.size(), 1)) {}

  Scores run() {
    const size_t size = file_.size() > first_ ? file_.size() - first_ : 0;
    std::vector<Chunk> chunks((size + chunk_size_ - 1) / chunk_size_);
    in_parallel(chunks.size(), threads_, [&](size_t i) { read_chunk(i, chunks.size(), chunks[i]); });

    Scores scores = empty_scores(qrels_, plan_);
    struct Piece {
      uint32_t query;
      uint64_t begin, end;
      const Chunk* chunk;
      size_t result;
    };
    std::vector<Piece> pieces;
    IdTable unjudged;
    for (Chunk& chunk : chunks) {
      scores.documents += chunk.documents;
      // Finding a place means counting lines, so only do it for the example.
      if (chunk.bad.count && !scores.bad.count) chunk.bad.example += " (" + file_.where(chunk.first_bad) + ")";
      scores.bad.join(chunk.bad);
      for (size_t u = 0; u < chunk.unjudged.size(); ++u) unjudged.add(chunk.unjudged[u]);
      for (const Segment& s : chunk.segments) pieces.push_back({s.query, s.begin, s.end, &chunk, s.result});
    }
    scores.unjudged_queries = unjudged.size();
    if (unjudged.size()) scores.unjudged_example = unjudged[0];
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return a.query != b.query ? a.query < b.query : a.begin < b.begin;
    });

    struct Again {
      size_t begin, end;  // pieces of a query that must be read again
    };
    std::vector<Again> again;
    for (size_t i = 0; i < pieces.size();) {
      size_t end = i + 1;
      while (end < pieces.size() && pieces[end].query == pieces[i].query) ++end;
      const Piece& piece = pieces[i];
      scores.in_run[piece.query] = 1;
      if (end - i == 1 && piece.result != not_measured) {
        const double* from = piece.chunk->values.data() + piece.result * scores.width;
        std::copy(from, from + scores.width, scores.values.data() + piece.query * scores.width);
        scores.counts[piece.query] = piece.chunk->counts[piece.result];
      } else {
        again.push_back({i, end});
      }
      i = end;
    }
    in_parallel(again.size(), threads_, [&](size_t a) {
      Worker worker(*qrels_, plan_);
      auto reader = make_reader_();
      std::vector<Row> rows;
      std::string text;  // a copy of all lines of the query, which may be scattered over the file
      const size_t q = pieces[again[a].begin].query;
      const QueryJudgments& query = (*qrels_)[q];
      for (size_t i = again[a].begin; i < again[a].end; ++i) file_.append(pieces[i].begin, pieces[i].end, text);
      Line line{};
      for (const char *p = text.data(), *end = p + text.size(); p < end;)
        if (const char* start = p; reader.next(p, end, line)) rows.push_back(row_of(query, line));
        else leave_line(p, start, end);
      const auto place = [&](const Row& row) {
        auto offset = static_cast<uint64_t>(row.doc.data() - text.data());
        if (offset >= text.size()) return file_.name();  // the reader's copy of an id has no place
        size_t i = again[a].begin;
        for (; offset >= pieces[i].end - pieces[i].begin; ++i) offset -= pieces[i].end - pieces[i].begin;
        return file_.where(file_.data() + pieces[i].begin + offset);
      };
      scores.counts[q] = worker.measure(query, rows, true, scores.values.data() + q * scores.width, place);
    });
    return scores;
  }

 private:
  static Row row_of(const QueryJudgments& query, const Line& line) {
    const uint64_t hash = hash_bytes(line.doc);
    return {hash, line.doc, line.value, query.find(line.doc, hash)};
  }

  /// The place of a document that points into the file; a copied id has none.
  std::string place_of(const Row& row) const {
    const char* p = row.doc.data();
    return p >= file_.data() && p < file_.data() + file_.size() ? file_.where(p) : file_.name();
  }

  /// The first line that begins at or after `offset`.
  const char* line_start(size_t offset) const {
    if (offset <= first_) return file_.data() + first_;
    const char* from = file_.data() + offset - 1;
    const auto* feed = static_cast<const char*>(std::memchr(from, '\n', file_.size() - offset + 1));
    return feed ? feed + 1 : file_.data() + file_.size();
  }

  void read_chunk(size_t number, size_t chunks, Chunk& chunk) {
    const char* base = file_.data();
    const char* const begin = line_start(first_ + number * chunk_size_);
    const char* const stop =
        number + 1 == chunks ? base + file_.size() : line_start(first_ + (number + 1) * chunk_size_);
    const char* const file_end = base + file_.size();

    file_.expect(static_cast<size_t>(begin - base),
                 std::min(static_cast<size_t>(begin - base) + chunk_bytes, file_.size()));
    Worker worker(*qrels_, plan_);
    auto reader = make_reader_();
    std::vector<Row> rows;
    std::vector<uint8_t> seen(qrels_->size(), 0);
    std::string query_id;
    bool open = false;
    uint32_t query = IdTable::none;
    const char* segment_begin = begin;
    const char* released = begin;

    const auto close = [&](const char* end) {
      if (!open) return;
      if (query != IdTable::none) {
        const bool at_edge = (segment_begin == begin && number > 0) || (end == stop && number + 1 < chunks);
        size_t result = not_measured;
        if (!at_edge && !seen[query]) {
          result = chunk.counts.size();
          chunk.values.resize(chunk.values.size() + plan_.width());
          chunk.counts.push_back(worker.measure((*qrels_)[query], rows, true,
                                                chunk.values.data() + result * plan_.width(),
                                                [&](const Row& row) { return place_of(row); }));
        }
        seen[query] = 1;
        chunk.segments.push_back(
            {query, static_cast<uint64_t>(segment_begin - base), static_cast<uint64_t>(end - base), result});
      } else {
        chunk.unjudged.add(query_id);
      }
      rows.clear();
      reader.forget();
      if (static_cast<size_t>(end - released) >= chunk_bytes) {
        file_.release(static_cast<size_t>(released - base), static_cast<size_t>(end - base));
        released = end;
      }
    };

    Line line{};
    uint64_t lines = 0;
    for (const char* p = begin; p < stop;) {
      pause_point(++lines);
      const char* start = p;
      if (!reader.next(p, file_end, line)) {
        if (const auto problem = reader.take_problem()) {
          if (!plan_.skip_bad) throw_line(*problem, start);
          if (!chunk.bad.count) chunk.first_bad = start;
          chunk.bad.add(problem->message);
          leave_line(p, start, file_end);
        }
        continue;
      }
      ++chunk.documents;
      if (!open || !same_bytes(line.query, query_id)) {
        const std::string next_id(line.query);
        const Line current = line;
        // Closing discards the reader's copies, so a line that has any is read again.
        const bool copied = open && !(line.doc.data() >= base && line.doc.data() < file_end);
        close(start);
        open = true;
        query_id = next_id;
        query = qrels_->find(query_id);
        segment_begin = start;
        line = current;
        if (copied) {
          const char* again = start;
          reader.next(again, file_end, line);
        }
      }
      if (query != IdTable::none) rows.push_back(row_of((*qrels_)[query], line));
    }
    close(stop);
    file_.release(static_cast<size_t>(released - base), static_cast<size_t>(stop - base));
  }

  [[noreturn]] void throw_line(const LineProblem& problem, const char* start) const {
    bad_input(problem.message, file_.where(start), problem.hint);
  }

  std::shared_ptr<const Qrels> qrels_;
  const MappedFile& file_;
  size_t first_;
  const Plan& plan_;
  unsigned threads_;
  MakeReader make_reader_;
  size_t chunk_size_;
};

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

}  // namespace

/// Text has no zero bytes and few control characters; a file that starts otherwise is binary.
void require_text(Bytes head, const std::string& name) {
  if (head.empty()) bad_input("the file is empty", name);
  head = head.substr(0, 4096);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && (c < '\t' || c > '\r'); };
  if (head.find('\0') != Bytes::npos ||
      static_cast<size_t>(std::count_if(head.begin(), head.end(), is_control)) * 10 > head.size())
    bad_input("the file is binary, not text", name,
              "compressed files must end in .gz, .zst, .bz2 or .xz, Parquet and Arrow files in .parquet or .arrow");
}

Scores evaluate_file(std::shared_ptr<const Qrels> qrels, const MappedFile& file, const LineFormat& format,
                     const Plan& plan, unsigned threads) {
  require_text(Bytes(file.data(), file.size()), file.name());
  // A quoted field may contain line breaks, so such a file cannot be divided at them.
  const bool divisible = !(format.kind == LineFormat::Kind::delimited && format.quotes &&
                           has_byte(file.data(), file.data() + file.size(), '"'));
  return with_reader(format, Table::run, [&](auto make_reader) {
    Scores scores = FileEvaluation(std::move(qrels), file, format.skip, divisible, plan, threads, make_reader).run();
    return complete(std::move(scores), plan, file.name());
  });
}

void for_each_line(const MappedFile& file, const LineFormat& format, Table table,
                   const std::function<void(const Line&, uint64_t)>& row) {
  require_text(Bytes(file.data(), file.size()), file.name());
  with_reader(format, table, [&](auto make_reader) {
    auto reader = make_reader();
    const char* end = file.data() + file.size();
    Line line{};
    uint64_t number = 1 + static_cast<uint64_t>(std::count(file.data(), file.data() + format.skip, '\n'));
    for (const char* p = file.data() + format.skip; p < end;) {
      pause_point(number);
      const char* start = p;
      const bool has_line = reader.next(p, end, line);
      if (!has_line && reader.problem())
        bad_input(reader.problem()->message, file.where(start), reader.problem()->hint);
      if (has_line) row(line, number);
      ++number;
      if (format.quotes) number += static_cast<uint64_t>(std::count(start, p - 1, '\n'));  // inside quotes
      reader.forget();
    }
  });
}

bool for_each_line(Bytes text, const std::string& name, const LineFormat& format, Table table,
                   const std::function<void(const Line&)>& row, BadRows& bad) {
  const bool quotes = format.kind == LineFormat::Kind::delimited && format.quotes;
  bool complete = true;
  with_reader(format, table, [&](auto make_reader) {
    auto reader = make_reader();
    Line line{};
    for (const char *p = text.data(), *end = p + text.size(); p < end;) {
      const char* start = p;
      if (reader.next(p, end, line)) {
        row(line);
      } else if (const auto problem = reader.take_problem()) {
        if (quotes && p == start) complete = false;
        bad.add(bad.count ? std::string() : problem->message + " (" + name + ")");
        leave_line(p, start, end);
      }
      if (quotes && std::memchr(start, '\n', static_cast<size_t>(p - start)) != nullptr &&
          std::memchr(start, '\n', static_cast<size_t>(p - start)) != p - 1)
        complete = false;
      reader.forget();
    }
  });
  return complete;
}

std::unique_ptr<Qrels> read_qrels(const MappedFile& file, const LineFormat& format) {
  QrelsBuilder builder;
  if (format.kind == LineFormat::Kind::trec && !format.has_aspects) builder.aspects_may_be_iterations();
  builder.expect(count_byte(file.data(), file.data() + file.size(), '\n') + 1);
  for_each_line(file, format, Table::qrels, [&](const Line& line, uint64_t number) {
    builder.add(line.query, line.doc, line.value, number, line.target, line.aspect);
  });
  if (builder.empty()) bad_input("the file contains no judgments", file.name());
  return builder.finish(file.name(), true);
}

}  // namespace gg
