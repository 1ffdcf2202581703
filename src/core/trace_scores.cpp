#include "trace_scores.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <numeric>
#include <tuple>

#include "evaluate.hpp"
#include "trace_worker.hpp"

namespace gg {

Lines TraceText::lines(size_t begin, size_t end, LineBuffer& buffer) const {
  if (file) return file->lines(begin, end, 0, buffer);
  const auto start_from = [this](size_t offset) {  // of the first line that begins there or later
    if (offset == 0) return offset;
    const size_t feed = text.find('\n', offset - 1);
    return feed == Bytes::npos ? text.size() : feed + 1;
  };
  const size_t from = start_from(begin);
  return {text.substr(from, start_from(std::min(end, text.size())) - from), from};
}

uint64_t TraceText::line_of(size_t offset) const {
  if (file) return file->line_of(offset);
  return 1 + static_cast<uint64_t>(std::count(text.data(), text.data() + offset, '\n'));
}

namespace {

bool is_blank(Bytes line) { return line.find_first_not_of(" \t\r") == Bytes::npos; }

/// A line: the number of its text and its place there.
struct LinePlace {
  uint32_t text = 0;
  uint64_t at = 0;
  auto operator<=>(const LinePlace&) const = default;
};

/// Where all lines of a conversation are, if there are several.
struct Group {
  std::vector<LinePlace> places;
  size_t bytes = 0;
};

class ManyTraces {
 public:
  ManyTraces(const std::vector<TraceText>& texts, const Rules& rules, const Qrels* labels, const TraceOptions& options,
             unsigned threads)
      : texts_(texts), rules_(rules), labels_(labels), options_(options), threads_(threads) {
    for (size_t t = 0; t < texts.size(); ++t)
      for (size_t at = 0; at < texts[t].size(); at += piece_bytes) sections_.push_back({static_cast<uint32_t>(t), at});
  }

  std::vector<TraceScores> score() {
    find_groups();
    std::vector<Piece> pieces(sections_.size());
    in_parallel(sections_.size(), threads_, [&](size_t i) { score_section(sections_[i], pieces[i]); });
    const std::vector<std::pair<size_t, size_t>> batches = group_batches();
    std::vector<Piece> grouped(batches.size());
    in_parallel(batches.size(), threads_, [&](size_t i) {
      TraceWorker worker(rules_, labels_, options_);
      for (size_t g = batches[i].first; g < batches[i].second; ++g) score_group(groups_[g], worker, grouped[i]);
    });
    std::sort(errors_.begin(), errors_.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    if (!errors_.empty() && !options_.skip_bad) throw located(errors_.front().first, errors_.front().second);
    return assemble(pieces, grouped);
  }

 private:
  /// A line from its first byte, without a byte order mark.
  static Bytes without_mark(LinePlace place, Bytes line) {
    return place.at == 0 && line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line;
  }

  bool in_buffer(LinePlace place) const { return texts_[place.text].file; }

  /// Calls `work(place, line, done)` for each line that begins in a section; `done` is its buffer if it is the last.
  template <typename Work>
  void each_line(LinePlace section, Work work) const {
    LineBuffer buffer;
    const Lines lines = texts_[section.text].lines(section.at, section.at + piece_bytes, buffer);
    for (size_t at = 0; at < lines.text.size();) {
      pause_point();
      const size_t stop = std::min(lines.text.find('\n', at), lines.text.size());
      const LinePlace place{section.text, lines.offset + at};
      const Bytes line = without_mark(place, lines.text.substr(at, stop - at));
      if (!is_blank(line)) work(place, line, stop + 1 < lines.text.size() ? nullptr : &buffer);
      at = stop + 1;
    }
  }

  /// Which conversations have several lines: of several systems, or of repeats.
  void find_groups() {
    struct Known {
      uint64_t hash, check;
      LinePlace place;
      size_t bytes;
      bool operator<(const Known& o) const { return std::tie(hash, check, place) < std::tie(o.hash, o.check, o.place); }
    };
    std::vector<std::vector<Known>> by_section(sections_.size());
    in_parallel(sections_.size(), threads_, [&](size_t i) {
      TraceParser parser(options_.gain.max_gain);
      each_line(sections_[i], [&](LinePlace place, Bytes line, LineBuffer*) {
        const Bytes id = parser.id_of(line);
        if (!id.empty()) by_section[i].push_back({hash_bytes(id), std::hash<Bytes>{}(id), place, line.size()});
      });
    });
    std::vector<Known> all;
    for (auto& some : by_section) {
      all.insert(all.end(), some.begin(), some.end());
      some = {};
    }
    std::sort(all.begin(), all.end());
    grouped_.resize(texts_.size());
    for (size_t i = 0, end = 0; i < all.size(); i = end) {
      while (end < all.size() && all[end].hash == all[i].hash && all[end].check == all[i].check) ++end;
      if (end - i < 2) continue;
      Group& group = groups_.emplace_back();
      for (size_t k = i; k < end; ++k) {
        group.places.push_back(all[k].place);
        group.bytes += all[k].bytes;
        grouped_[all[k].place.text].push_back(all[k].place.at);
      }
    }
    for (auto& places : grouped_) std::sort(places.begin(), places.end());
    std::sort(groups_.begin(), groups_.end(),
              [](const Group& x, const Group& y) { return x.places.front() < y.places.front(); });
  }

  /// Ranges of groups, each enough work for a task.
  std::vector<std::pair<size_t, size_t>> group_batches() const {
    std::vector<std::pair<size_t, size_t>> batches;
    size_t begin = 0, bytes = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      bytes += groups_[g].bytes;
      if (bytes < piece_bytes && g + 1 < groups_.size()) continue;
      batches.emplace_back(begin, g + 1);
      begin = g + 1, bytes = 0;
    }
    return batches;
  }

  /// Runs `work` unless an earlier line is known to be bad; false if this one is.
  template <typename Work>
  bool attempt(LinePlace place, Work work) {
    const uint64_t packed = uint64_t{place.text} << 44 | place.at;
    if (!options_.skip_bad && first_bad_ < packed) return false;
    try {
      work();
      return true;
    } catch (const Error& e) {
      const std::lock_guard lock(mutex_);
      errors_.emplace_back(place, e);
      first_bad_ = std::min<uint64_t>(first_bad_, packed);
      return false;
    }
  }

  /// The error with its line, which is counted only for errors that somebody will read.
  Error located(LinePlace place, const Error& e) const {
    if (!e.where.empty()) return e;
    const TraceText& text = texts_[place.text];
    return Error(e.kind, e.what(), text.name + ":" + std::to_string(text.line_of(place.at)), e.hint);
  }

  void score_section(LinePlace section, Piece& piece) {
    TraceWorker worker(rules_, labels_, options_);
    piece.text = section.text;
    const std::vector<uint64_t>& elsewhere = grouped_[section.text];
    each_line(section, [&](LinePlace place, Bytes line, LineBuffer* done) {
      if (std::binary_search(elsewhere.begin(), elsewhere.end(), place.at)) return;
      attempt(place, [&] {
        std::vector<Member> alone;
        alone.push_back(worker.read(line, {.padded = in_buffer(place), .done = done}));
        worker.finish(alone);
        worker.append(alone.front(), place.at, piece);
        piece.totals.add(alone.front().totals);
      });
    });
  }

  void score_group(const Group& group, TraceWorker& worker, Piece& piece) {
    // In the order of their text, so that no sum depends on the order of the input.
    std::vector<std::pair<Bytes, LinePlace>> lines;
    std::deque<LineBuffer> buffers;
    for (const LinePlace& place : group.places) {
      Bytes line = texts_[place.text].lines(place.at, place.at + 1, buffers.emplace_back()).text;
      if (line.ends_with('\n')) line.remove_suffix(1);
      lines.emplace_back(without_mark(place, line), place);
    }
    std::sort(lines.begin(), lines.end());
    worker.begin_group();
    std::vector<Member> members;
    std::vector<LinePlace> places;
    for (size_t i = 0; i < lines.size(); ++i)
      if (attempt(lines[i].second, [&] {
            members.push_back(worker.read(lines[i].first, {.padded = in_buffer(lines[i].second), .pooled = true}));
          })) {
        places.push_back(lines[i].second);
        members.back().totals.identical += i && lines[i].first == lines[i - 1].first;
      }
    worker.finish(members);
    for (size_t i = 0; i < members.size(); ++i) {
      worker.append(members[i], places[i].at, piece);
      piece.texts.push_back(places[i].text);
      piece.totals_by_text.resize(texts_.size());
      piece.totals_by_text[places[i].text].add(members[i].totals);
    }
  }

  /// All conversations in the order of their lines.
  std::vector<TraceScores> assemble(std::vector<Piece>& pieces, std::vector<Piece>& grouped) {
    std::vector<TraceScores> all(texts_.size());
    for (const Piece& piece : pieces) all[piece.text].names.push_back(piece.names);
    for (const Piece& piece : grouped)
      for (TraceScores& scores : all) scores.names.push_back(piece.names);
    struct Source {
      LinePlace place;
      Piece* piece;
      size_t index, row;
      bool operator<(const Source& o) const { return place < o.place; }
    };
    std::vector<Source> sources;
    for (Piece& piece : grouped) {
      size_t row = 0;
      for (size_t c = 0; c < piece.conversations.size(); ++c) {
        const LinePlace place{static_cast<uint32_t>(piece.texts[c]), piece.conversations[c].place};
        sources.push_back({place, &piece, c, row});
        row += piece.conversations[c].rows;
      }
    }
    std::sort(sources.begin(), sources.end());
    auto next = sources.begin();
    const auto take = [&](const Source& source) {
      TraceScores& scores = all[source.place.text];
      ScoredConversation& c = source.piece->conversations[source.index];
      scores.rows.append(source.piece->rows, source.row, c.rows);
      scores.conversations.push_back(std::move(c));
    };
    for (size_t i = 0; i < pieces.size(); ++i) {
      Piece& piece = pieces[i];
      TraceScores& scores = all[piece.text];
      const LinePlace end = i + 1 < pieces.size() ? sections_[i + 1] : LinePlace{~0u, 0};
      size_t row = 0;
      if (next == sources.end() || !(next->place < end)) {  // the usual case: nothing to interleave
        scores.rows.join(piece.rows);
        for (ScoredConversation& c : piece.conversations) scores.conversations.push_back(std::move(c));
      } else {
        for (size_t c = 0; c < piece.conversations.size(); ++c) {
          const LinePlace place{static_cast<uint32_t>(piece.text), piece.conversations[c].place};
          while (next != sources.end() && next->place < place) take(*next++);
          const uint32_t rows = piece.conversations[c].rows;
          take({place, &piece, c, row});
          row += rows;
        }
        piece.rows = {};
        // A line that begins before the next section belongs to this one.
        while (next != sources.end() && next->place < end) take(*next++);
      }
      scores.totals.add(piece.totals);
    }
    while (next != sources.end()) take(*next++);
    for (const Piece& piece : grouped)
      for (size_t t = 0; t < piece.totals_by_text.size(); ++t) all[t].totals.add(piece.totals_by_text[t]);
    for (const auto& [place, error] : errors_) {
      TraceScores& scores = all[place.text];
      ++scores.totals.skipped;
      if (scores.skipped_examples.size() < 3) scores.skipped_examples.push_back(located(place, error));
    }
    return all;
  }

  const std::vector<TraceText>& texts_;
  const Rules& rules_;
  const Qrels* labels_;
  const TraceOptions& options_;
  unsigned threads_;
  std::vector<LinePlace> sections_;             // where sections of texts begin
  std::vector<Group> groups_;                   // in the order of their first lines
  std::vector<std::vector<uint64_t>> grouped_;  // per text: the lines of groups
  std::mutex mutex_;
  std::vector<std::pair<LinePlace, Error>> errors_;
  std::atomic<uint64_t> first_bad_ = ~uint64_t{0};  // the number of a text and a place there
};

}  // namespace

void TraceTotals::add(const TraceTotals& other) {
  for (uint64_t TraceTotals::* field : {&TraceTotals::results,
                                        &TraceTotals::searches,
                                        &TraceTotals::tries,
                                        &TraceTotals::failed,
                                        &TraceTotals::unread,
                                        &TraceTotals::empty,
                                        &TraceTotals::skipped,
                                        &TraceTotals::left_out,
                                        &TraceTotals::unknown_conversations,
                                        &TraceTotals::steps,
                                        &TraceTotals::opens,
                                        &TraceTotals::citations,
                                        &TraceTotals::turns,
                                        &TraceTotals::ambiguous_labels,
                                        &TraceTotals::conversations,
                                        &TraceTotals::results_of_all_turns,
                                        &TraceTotals::duplicates,
                                        &TraceTotals::lent,
                                        &TraceTotals::conflicting,
                                        &TraceTotals::identical,
                                        &TraceTotals::labels,
                                        &TraceTotals::zeros,
                                        &TraceTotals::ones,
                                        &TraceTotals::taken_as_zero})
    this->*field += other.*field;
  for (const auto& [tool, more] : other.calls)
    for (uint64_t CallCounts::* account :
         {&CallCounts::search, &CallCounts::empty, &CallCounts::failed, &CallCounts::unread, &CallCounts::open})
      calls[tool].*account += more.*account;
  for (size_t kind = 0; kind < usage.size(); ++kind)
    for (uint64_t UsageCounts::* field :
         {&UsageCounts::by_step, &UsageCounts::by_search, &UsageCounts::by_turn, &UsageCounts::in_part})
      usage[kind].*field += other.usage[kind].*field;
}

std::vector<TraceScores> score_traces(const std::vector<TraceText>& texts, const Rules& rules, const Qrels* labels,
                                      const TraceOptions& options, unsigned threads) {
  return ManyTraces(texts, rules, labels, options, threads).score();
}

std::vector<CountedConversation> count_conversation(const std::vector<Bytes>& lines, const Rules& rules,
                                                    const Qrels* labels, const TraceOptions& options) {
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return lines[x] < lines[y]; });
  TraceWorker worker(rules, labels, options);
  worker.begin_group();
  std::vector<Member> members;
  for (const size_t i : order) members.push_back(worker.read(lines[i], {.pooled = lines.size() > 1, .audited = true}));
  worker.finish(members);
  std::vector<CountedConversation> all(lines.size());
  for (size_t m = 0; m < members.size(); ++m) {
    CountedConversation& counted = all[order[m]];
    for (const Iteration& iteration : members[m].counted.iterations)
      for (const Searched& s : iteration.searches) counted.repeats.push_back(s.repeats_query);
    for (const uint32_t first : members[m].first) {
      const Returned& original = members[m].at(first);
      counted.results.push_back({first, original.labelled, original.gain});
    }
    counted.decisions = std::move(members[m].decisions);
  }
  return all;
}

}  // namespace gg
