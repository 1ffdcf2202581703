#include "packed.hpp"

#include <cstring>
#include <utility>

#include "kernels.hpp"

namespace gg {

namespace {

// A piece: the number of rows and the optional columns; the values; then for each column of texts
// (documents, targets, aspects) the lengths and bytes. Numbers are in the machine's own format.
constexpr uint32_t with_targets = 1, with_aspects = 2;
constexpr uint32_t no_text = 0xffffffffu;

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A text in the buffer of its column: length, then bytes.
void append_text(std::string& to, Bytes text) {
  append(to, text.data() ? static_cast<uint32_t>(text.size()) : no_text);
  to.append(text);
}

[[noreturn]] void damaged(const std::string& what) {
  bad_input(what, {}, "the data between two stages is damaged: run the job again");
}

/// Reads what `append` and `append_text` wrote, never past the end.
class PieceReader {
 public:
  explicit PieceReader(Bytes piece) : left_(piece) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// A text without data stands for none.
  Bytes text() {
    const auto size = number<uint32_t>();
    return size == no_text ? Bytes() : take(size);
  }

  Bytes take(size_t size) {
    if (size > left_.size()) damaged("truncated piece of packed rows");
    const Bytes bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

 private:
  Bytes left_;
};

/// Calls row(doc, value, target, aspect) for each row of a piece, in order.
template <class Use>
void for_each_row(Bytes piece, Use&& row) {
  PieceReader head(piece);
  const auto rows = head.number<uint32_t>(), has = head.number<uint32_t>();
  const auto column = [&] {
    const auto size = head.number<uint64_t>();
    return PieceReader(head.take(size));
  };
  PieceReader values(head.take(size_t{rows} * sizeof(double)));
  PieceReader docs = column(), targets = has & with_targets ? column() : PieceReader({}),
              aspects = has & with_aspects ? column() : PieceReader({});
  for (uint32_t i = 0; i < rows; ++i) {
    const Bytes doc = docs.text();
    const double value = values.number<double>();
    const Bytes target = has & with_targets ? targets.text() : Bytes(),
                aspect = has & with_aspects ? aspects.text() : Bytes();
    row(doc, value, target, aspect);
  }
}

}  // namespace

// --- packing ---

void Packer::add(const ArrowTable& rows) {
  const int64_t before = place_;
  rows.for_each(
      columns_, table_,
      [&](const Line& line, uint64_t number) { add(line, before + static_cast<int64_t>(number) - 1); }, &bad_);
}

void Packer::add_lines(const ArrowTable& lines, const LineFormat& format) {
  std::string text;
  lines.for_each_text("line", [&](Bytes line) {
    text.append(line);
    text.push_back('\n');
  });
  const auto row = [&](const Line& line) { add(line, place_); };
  broken_ |= !for_each_line(text, lines.name(), format, table_, row, bad_);
}

void Packer::add(const Line& line, int64_t place) {
  if (last_ == IdTable::none || !same_bytes(queries_[last_], line.query)) last_ = queries_.add(line.query);
  if (last_ == open_.size()) {
    open_.emplace_back();
    open_.back().place = place;
  }
  Open& open = open_[last_];
  ++open.rows;
  append(open.values, line.value);
  append_text(open.docs, line.doc);
  if (!columns_.target.empty()) append_text(open.targets, line.target);
  if (!columns_.aspect.empty()) append_text(open.aspects, line.aspect);
  held_ += sizeof(double) + line.doc.size() + line.target.size() + line.aspect.size() + 3 * sizeof(uint32_t);
  place_ = place + 1;
}

Pieces Packer::take(PackedEvaluation* here) {
  Pieces pieces;
  const std::string carried = std::exchange(carried_, last_ == IdTable::none ? carried_ : std::string(queries_[last_]));
  const uint32_t has = (columns_.target.empty() ? 0 : with_targets) | (columns_.aspect.empty() ? 0 : with_aspects);
  std::string piece;
  for (size_t q = 0; q < open_.size(); ++q) {
    const Open& open = open_[q];
    piece.clear();
    append(piece, open.rows);
    append(piece, has);
    piece += open.values;
    for (const auto& [column, there] : {std::pair{&open.docs, true},
                                        {&open.targets, (has & with_targets) != 0},
                                        {&open.aspects, (has & with_aspects) != 0}})
      if (there) {
        append(piece, uint64_t{column->size()});
        piece += *column;
      }
    auto kind = table_ == Table::run ? PieceKind::run : PieceKind::judgments;
    if (here) {
      const Bytes query = queries_[q];
      if (!is_first_ && query != carried && q != last_) {
        scattered_ |= !done_.insert(hash_bytes(query)).second;
        piece = here->measured(query, piece);
        kind = PieceKind::measured;
      } else {
        scattered_ |= done_.contains(hash_bytes(query));
      }
      is_first_ = false;
    }
    pieces.queries.add(queries_[q]);
    pieces.kinds.push_back(static_cast<int8_t>(kind));
    pieces.bytes.add(piece);
    pieces.places.push_back(open.place);
  }
  queries_ = IdTable();
  open_.clear();
  last_ = IdTable::none;
  held_ = 0;
  return pieces;
}

// --- measuring ---

namespace {
const Qrels no_qrels;
}

PackedEvaluation::PackedEvaluation(std::shared_ptr<const Qrels> qrels, JudgmentFacts facts,
                                   std::shared_ptr<const Plan> plan, std::string name)
    : qrels_(std::move(qrels)),
      facts_(facts),
      plan_(std::move(plan)),
      name_(std::move(name)),
      worker_(qrels_ ? *qrels_ : no_qrels, *plan_) {}

void PackedEvaluation::add(const ArrowTable& pieces) {
  pieces.for_each_piece([&](Bytes query, int64_t kind, int64_t place, Bytes piece) {
    if (!open_ || query != query_) {
      close();
      open_ = true;
      query_ = query;
    }
    if (kind == static_cast<int64_t>(PieceKind::judgments)) {
      if (!is_judged_) place_ = place;
      is_judged_ = true;
      if (!qrels_) judgments_.emplace_back(piece);
    } else if (kind == static_cast<int64_t>(PieceKind::run)) {
      run_.emplace_back(piece);
    } else if (kind == static_cast<int64_t>(PieceKind::measured)) {
      done_.emplace_back(piece);
    } else {
      damaged("unknown kind " + std::to_string(kind) + " of a piece of packed rows");
    }
  });
}

void PackedEvaluation::close() {
  if (!open_) return;
  open_ = false;
  if (done_.size() + !run_.empty() > 1) scattered = true;
  for (const std::string& piece : run_)
    for_each_row(piece, [&](Bytes doc, double score, Bytes, Bytes) {
      rows_.push_back({0, doc, score, QueryJudgments::unjudged});
    });
  documents += rows_.size();
  if (!done_.empty()) {
    adopt(done_[0]);
  } else if (is_judged_ && qrels_) {
    const uint32_t number = qrels_->find(query_);
    if (number == IdTable::none) damaged("query " + in_quotes(query_) + " is marked as judged and has no judgments");
    measure((*qrels_)[number]);
  } else if (is_judged_) {
    QrelsBuilder builder;
    uint64_t number = 0;
    for (const std::string& piece : judgments_)
      for_each_row(piece, [&](Bytes doc, double gain, Bytes target, Bytes aspect) {
        builder.add(query_, doc, gain, ++number, target, aspect);
      });
    if (builder.empty()) damaged("a piece of judgments of query " + in_quotes(query_) + " without any row");
    const auto own = builder.finish(name_, false, facts_.max_gain, facts_.has_targets, facts_.has_aspects);
    worker_.judge_by(*own);
    measure((*own)[0]);
    worker_.judge_by(no_qrels);
  } else {
    if (unjudged_queries++ == 0) unjudged_example = query_;
  }
  is_judged_ = false;
  judgments_.clear();
  run_.clear();
  done_.clear();
  rows_.clear();
}

/// Appends a row of undefined values for the open query.
double* PackedEvaluation::next_values() {
  const size_t n = measured_.places.size();
  measured_.queries.add(query_);
  measured_.places.push_back(place_);
  measured_.values.resize((n + 1) * width(), undefined);
  ++judged;
  return measured_.values.data() + n * width();
}

void PackedEvaluation::measure(const QueryJudgments& query) {
  double* out = next_values();
  measured_.in_run.push_back(!rows_.empty());
  if (!rows_.empty()) count(measure_rows(query, out));
  else if (plan_->policy.missing != Missing::skip) worker_.measure_missing(query, out);
}

QueryCounts PackedEvaluation::measure_rows(const QueryJudgments& query, double* out) {
  find_judgments(query, rows_);
  return worker_.measure(query, rows_, true, out, [&](const Row&) { return name_; });
}

void PackedEvaluation::count(const QueryCounts& counts) {
  ++in_run;
  retrieved += counts.retrieved;
  unjudged += counts.unjudged;
  top += counts.top;
  top_judged += counts.top_judged;
  shared_ranks += counts.ranks.shared;
  rank_gaps += counts.ranks.gaps;
  ranks_from_zero += counts.ranks.from_zero;
  if (counts.ranks.bad) bad.join({counts.ranks.bad, "invalid rank for query " + in_quotes(query_)});
  if (plan_->repeats_are_bad && counts.repeated)
    bad.join({counts.repeated, "duplicate document for query " + in_quotes(query_)});
}

// --- measuring where the rows are read ---

std::string PackedEvaluation::measured(Bytes query, Bytes piece) {
  rows_.clear();
  for_each_row(piece, [&](Bytes doc, double score, Bytes, Bytes) {
    rows_.push_back({0, doc, score, QueryJudgments::unjudged});
  });
  std::string values_piece;
  append(values_piece, uint64_t{rows_.size()});
  if (const size_t number = qrels_->find(query); number != IdTable::none) {
    std::vector<double> values(width(), undefined);
    append(values_piece, measure_rows((*qrels_)[number], values.data()));
    values_piece.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  rows_.clear();
  return values_piece;
}

void PackedEvaluation::adopt(Bytes values_piece) {
  PieceReader reader(values_piece);
  documents += reader.number<uint64_t>();
  if (!is_judged_) {
    if (unjudged_queries++ == 0) unjudged_example = query_;
    return;
  }
  const auto counts = reader.number<QueryCounts>();
  const Bytes values = reader.take(width() * sizeof(double));
  copy_bytes(next_values(), values.data(), values.size());
  measured_.in_run.push_back(1);
  count(counts);
}

}  // namespace gg
