#include "trace_scores.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "evaluate.hpp"
#include "label_index.hpp"
#include "normal_form.hpp"
#include "traces.hpp"

namespace gg {

namespace {

constexpr size_t piece_bytes = 4 << 20;
constexpr double Usage::* amounts[] = {&Usage::tokens, &Usage::cost, &Usage::seconds};

/// Where a result stands.
struct Place {
  size_t iteration, search, rank;
};

/// A conversation after identity. It owns all it needs, so that the parser can go on.
struct Member {
  std::string id, system, repeat;
  CountedSearches counted;
  std::deque<Aspects> aspects;
  std::vector<Place> places;          // of all results
  std::vector<uint32_t> first;        // the first result identical to each
  std::vector<uint32_t> new_results;  // numbers of the results that are new
  std::vector<uint32_t> in_pool;      // their entries in the pool, if there is one
  std::vector<Decision> decisions;
  const QueryJudgments* judged = nullptr;
  TraceTotals totals;

  Returned& at(uint32_t result) {
    const Place& p = places[result];
    return counted.iterations[p.iteration].searches[p.search].results[p.rank];
  }
};

/// Adds up what the scored turns spent.
void add_usage(const std::vector<const Turn*>& turns, Member& member) {
  for (size_t kind = 0; kind < std::size(amounts); ++kind) {
    double Usage::* const amount = amounts[kind];
    const auto known = [&](const Usage& usage) { return !std::isnan(usage.*amount); };
    bool by_step = false, by_search = false, by_turn = false;
    for (const Turn* turn : turns) {
      by_turn |= known(turn->usage);
      for (const Step& step : turn->steps) {
        by_step |= known(step.usage);
        for (const Search& s : step.searches) by_search |= known(s.usage);
      }
    }
    double spent = 0, total = turns.empty() ? Usage::unknown : 0;
    size_t iteration = 0;
    for (const Turn* turn : turns) {
      const double before = spent;
      for (const Step& step : turn->steps) {
        if (by_step) spent += step.usage.*amount;
        for (const Search& s : step.searches) {
          // A generation's tokens and cost cover its searches, unless they report more; its seconds do not.
          const bool covered = by_step && amount != &Usage::seconds && !known(s.usage);
          if (!covered) spent += s.usage.*amount;
        }
        if (!step.searches.empty()) member.counted.iterations[iteration++].spent.*amount = spent;
      }
      total += known(turn->usage) ? turn->usage.*amount : by_step ? spent - before : Usage::unknown;
    }
    member.counted.total.*amount = total;
    if (!iteration) continue;
    UsageCounts& counts = member.totals.usage[kind];
    const bool complete = known(member.counted.iterations.back().spent);
    if (!complete) (by_step || by_search ? counts.in_part : counts.by_turn) += by_step || by_search || by_turn;
    else ++(by_step ? counts.by_step : counts.by_search);
  }
}

/// The results of all systems that returned something for one conversation.
class Pool {
 public:
  explicit Pool(const Rules& rules) : clusters_(rules) {}

  void clear() {
    clusters_.clear();
    entries_.clear();
  }
  uint32_t add(const Result& result) {
    entries_.emplace_back();
    return clusters_.add(result);
  }

  /// Shares labels and good results among the members. A result without a label has that of an identical one; where
  /// labels differ, the highest counts for the pool, and each system keeps its own.
  void share(std::vector<Member>& members, const GainOptions& o) {
    for (Member& m : members)
      for (size_t k = 0; k < m.new_results.size(); ++k)
        if (const Returned& r = m.at(m.new_results[k]); r.labelled) entries_[m.in_pool[k]].label(r.gain);
    const bool any = std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.labelled; });
    std::vector<size_t> good, unlabelled;
    for (size_t e = 0; e < entries_.size(); ++e) {
      if (entries_[e].labelled && entries_[e].most >= o.threshold) good.push_back(e);
      members.front().totals.conflicting += entries_[e].least < entries_[e].most;
    }
    for (Member& m : members)
      for (const uint32_t e : m.in_pool)
        if (!entries_[e].labelled) unlabelled.push_back(e);
    std::sort(unlabelled.begin(), unlabelled.end());
    unlabelled.erase(std::unique(unlabelled.begin(), unlabelled.end()), unlabelled.end());
    for (Member& m : members) {
      m.counted.evidence_known |= any;
      for (size_t k = 0; k < m.new_results.size(); ++k) {
        Returned& r = m.at(m.new_results[k]);
        const Entry& entry = entries_[m.in_pool[k]];
        if (r.labelled || !entry.labelled) continue;
        r.labelled = true;
        r.gain = entry.most;
        ++m.totals.lent;
      }
      std::vector<uint32_t> own = m.in_pool;
      std::sort(own.begin(), own.end());
      const auto misses = [&](size_t e) { return !std::binary_search(own.begin(), own.end(), e); };
      for (const size_t e : good)
        if (misses(e)) m.counted.missed.push_back(entries_[e].most);
      if (!o.complete())
        m.counted.unlabelled_missed =
            static_cast<uint32_t>(std::count_if(unlabelled.begin(), unlabelled.end(), misses));
    }
  }

 private:
  struct Entry {
    bool labelled = false;
    double least = 0, most = 0;

    void label(double gain) {
      least = labelled ? std::min(least, gain) : gain;
      most = labelled ? std::max(most, gain) : gain;
      labelled = true;
    }
  };

  Clusters clusters_;
  std::vector<Entry> entries_;  // by the number of a result; the first of equal ones has the labels
};

/// The scores of some lines, in the order of their places.
struct Piece {
  size_t text = 0;
  std::vector<ScoredConversation> conversations;
  std::vector<size_t> texts;  // of conversations, where a piece has lines of several
  GainRows rows;
  TraceTotals totals;
  std::vector<TraceTotals> totals_by_text;
};

class TraceWorker {
 public:
  TraceWorker(const Rules& rules, const Qrels* labels, const TraceOptions& options)
      : labels_(labels),
        options_(options),
        parser_(options.gain.max_gain),
        clusters_(rules),
        index_(rules.urls),
        pool_(rules) {}

  /// What follows are lines of one conversation, until the next call.
  void begin_group() {
    pool_.clear();
    group_begins_ = true;
  }

  /// Reads a line; with `pooled` its results join the pool. The pages of a huge line are released once parsed.
  Member read(Bytes line, bool pooled, bool audited = false, const MappedFile* file = nullptr) {
    const Conversation& c = parser_.parse(line);
    if (file && line.size() > piece_bytes) {
      const auto at = static_cast<size_t>(line.data() - file->data());
      file->release(at, at + line.size());
    }
    Member member;
    member.id = c.id, member.system = c.system, member.repeat = c.repeat;
    clusters_.keep_audit(audited);
    count_calls(c, member.totals);
    identify(c, pooled, member);
    member.totals.duplicates = member.first.size() - member.new_results.size();
    if (audited) member.decisions = clusters_.decisions();
    return member;
  }

  /// Completes all members of one conversation.
  void finish(std::vector<Member>& members) {
    if (members.size() > 1) pool_.share(members, options_.gain);
    const std::vector<double> missed_labels = index_.missed();  // by none of them
    for (Member& m : members) {
      m.counted.evidence_known |= m.judged || options_.gain.complete();
      for (const double gain : missed_labels)
        if (gain >= options_.gain.threshold) m.counted.missed.push_back(gain);
      for (const uint32_t number : m.new_results)
        if (Returned& r = m.at(number); r.labelled) m.counted.evidence_known = true;
        else if (options_.gain.complete()) r.labelled = true, r.gain = 0, ++m.totals.taken_as_zero;
      // The same sums for any order of the systems.
      std::sort(m.counted.missed.begin(), m.counted.missed.end(), std::greater<>());
    }
  }

  void append(const Member& m, uint64_t place, Piece& piece) const {
    ScoredConversation scored{.id = m.id, .system = m.system, .repeat = m.repeat, .place = place};
    const size_t before = piece.rows.values.size();
    append_good_gain(m.counted, options_.gain, piece.rows);
    scored.rows = static_cast<uint32_t>((piece.rows.values.size() - before) / gain_columns().size());
    scored.iterations = static_cast<uint32_t>(m.counted.iterations.size());
    scored.results = m.places.size();
    scored.unique = m.new_results.size();
    for (const Iteration& iteration : m.counted.iterations)
      for (const Searched& s : iteration.searches) {
        scored.unread += s.unread;
        for (const Returned& r : s.results) scored.labelled += r.is_new && r.labelled;
      }
    piece.conversations.push_back(std::move(scored));
  }

 private:
  /// What became of every call, in all turns.
  static void count_calls(const Conversation& c, TraceTotals& totals) {
    ++totals.conversations;
    for (const Turn& turn : c.turns)
      for (const Step& step : turn.steps) {
        for (const Search& s : step.searches) {
          CallCounts& calls = totals.calls[std::string(s.tool)];
          ++(s.failed ? calls.failed : s.unread ? calls.unread : s.results.empty() ? calls.empty : calls.search);
          totals.results_of_all_turns += s.results.size();
        }
        for (const Opened& opened : step.opens) ++totals.calls[std::string(opened.tool)].open;
      }
  }

  /// The turns that count.
  std::vector<const Turn*> counting(const Conversation& c) const {
    std::vector<const Turn*> turns;
    const auto count = static_cast<int>(c.turns.size());
    for (int t = 1; t <= count; ++t)
      if (options_.turn == TraceOptions::all_turns || t == options_.turn ||
          (options_.turn == TraceOptions::last_turn && t == count))
        turns.push_back(&c.turns[static_cast<size_t>(t - 1)]);
    return turns;
  }

  /// Finds which results are new and the gain of each new one: its own, or that of its first labelled duplicate.
  void identify(const Conversation& c, bool pooled, Member& member) {
    if (labels_) {
      const uint32_t query = labels_->find(c.id);
      if (query == IdTable::none) ++member.totals.unknown_conversations;
      else member.judged = &(*labels_)[query];
    }
    if (!pooled || group_begins_) index_.use(member.judged);
    group_begins_ = false;
    if (member.judged)
      for (const double gain : member.judged->gains) count_label(gain, member.totals);
    clusters_.clear();
    queries_.clear();
    const std::vector<const Turn*> turns = counting(c);
    for (const Turn* turn : turns)
      for (const Step& step : turn->steps) {
        if (!step.searches.empty()) add_iteration(step, pooled, member);
        ++member.totals.steps;
        member.totals.opens += step.opens.size();
      }
    for (const Turn* turn : turns) member.totals.citations += turn->citations.size();
    member.totals.turns += turns.size();
    add_usage(turns, member);
    member.totals.left_out += clusters_.left_out() - left_out_;
    left_out_ = clusters_.left_out();
  }

  void add_iteration(const Step& step, bool pooled, Member& member) {
    Iteration& iteration = member.counted.iterations.emplace_back();
    for (const Search& s : step.searches) {
      const bool repeats = !s.query.empty() && !queries_.insert(normal_form(s.query)).second;
      Searched& searched = iteration.searches.emplace_back();
      searched.repeats_query = repeats;
      searched.failed = s.failed;
      searched.unread = s.unread;
      TraceTotals& totals = member.totals;
      ++totals.searches;
      totals.tries += static_cast<uint64_t>(s.tries);
      totals.failed += s.failed;
      totals.unread += s.unread;
      totals.empty += s.results.empty() && !s.failed && !s.unread;
      totals.results += s.results.size();
      for (const Result& r : s.results) add_result(r, pooled, member);
    }
  }

  void add_result(const Result& r, bool pooled, Member& member) {
    const auto number = static_cast<uint32_t>(member.first.size());
    const uint32_t cluster = clusters_.add(r);
    double gain = r.gain;
    bool labelled = r.labelled;
    if (member.judged) label(r, member.totals, gain, labelled);
    if (labelled) count_label(gain, member.totals);
    const bool is_new = cluster == number;
    member.first.push_back(cluster);
    Iteration& iteration = member.counted.iterations.back();
    std::vector<Returned>& results = iteration.searches.back().results;
    member.places.push_back({member.counted.iterations.size() - 1, iteration.searches.size() - 1, results.size()});
    const Aspects* aspects =
        r.aspects.empty() ? nullptr : &member.aspects.emplace_back(r.aspects.begin(), r.aspects.end());
    results.push_back({is_new, labelled, gain, aspects});
    if (is_new) {
      member.new_results.push_back(number);
      if (pooled) member.in_pool.push_back(pool_.add(r));
    } else if (labelled) {
      Returned& original = member.at(cluster);
      if (!original.labelled) original.labelled = true, original.gain = gain;
    }
  }

  static void count_label(double gain, TraceTotals& totals) {
    ++totals.labels;
    totals.zeros += gain == 0;
    totals.ones += gain == 1;
  }

  /// The outside label of a result replaces its own gain.
  void label(const Result& r, TraceTotals& totals, double& gain, bool& labelled) {
    const LabelIndex::Match match = index_.find(r);
    totals.ambiguous_labels += match.ambiguous;
    if (!match.labelled) return;
    labelled = true;
    gain = match.gain;
    if (gain >= 0 && gain <= options_.gain.max_gain) return;
    char range[64];
    std::snprintf(range, sizeof range, " must be between 0 and %g, got %g", options_.gain.max_gain, gain);
    bad_input("the label of " + in_quotes(match.name) + range, labels_->name,
              "set max_gain (--max-gain) for another scale");
  }

  const Qrels* labels_;
  const TraceOptions& options_;
  TraceParser parser_;
  Clusters clusters_;
  LabelIndex index_;
  Pool pool_;
  bool group_begins_ = false;
  std::unordered_set<std::string> queries_;
  uint64_t left_out_ = 0;
};

// --- many lines ---

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
      for (size_t at = 0; at < texts[t].text.size(); at += piece_bytes)
        sections_.push_back({static_cast<uint32_t>(t), at});
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
    if (!errors_.empty() && !options_.skip_bad) throw errors_.front().second;
    return assemble(pieces, grouped);
  }

 private:
  Bytes line_at(LinePlace place) const {
    const Bytes text = texts_[place.text].text;
    const size_t at = place.at, stop = std::min(text.find('\n', at), text.size());
    const Bytes line = text.substr(at, stop - at);
    return at == 0 && line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line;
  }

  /// Calls `work(place, line)` for each line that begins in a section.
  template <typename Work>
  void each_line(LinePlace section, Work work) const {
    const TraceText& source = texts_[section.text];
    const Bytes text = source.text;
    const size_t limit = std::min(text.size(), section.at + piece_bytes);
    size_t at = section.at;
    if (at && text[at - 1] != '\n') {  // the rest of a line of the previous section
      const size_t rest = text.substr(at, limit - at).find('\n');
      if (rest == Bytes::npos) return;
      at += rest + 1;
    }
    const size_t begin = at;
    while (at < limit) {
      const LinePlace place{section.text, at};
      const Bytes line = line_at(place);
      at = static_cast<size_t>(line.data() + line.size() - text.data()) + 1;
      if (!is_blank(line)) work(place, line);
    }
    if (source.file) source.file->release(begin, std::min(at, text.size()));
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
      each_line(sections_[i], [&](LinePlace place, Bytes line) {
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
      const Bytes before = texts_[place.text].text.substr(0, place.at);
      const auto line = 1 + std::count(before.begin(), before.end(), '\n');
      const std::string where = texts_[place.text].name + ":" + std::to_string(line);
      const std::lock_guard lock(mutex_);
      errors_.emplace_back(place, Error(e.kind, e.what(), e.where.empty() ? where : e.where, e.hint));
      first_bad_ = std::min<uint64_t>(first_bad_, packed);
      return false;
    }
  }

  void score_section(LinePlace section, Piece& piece) {
    TraceWorker worker(rules_, labels_, options_);
    piece.text = section.text;
    const std::vector<uint64_t>& elsewhere = grouped_[section.text];
    each_line(section, [&](LinePlace place, Bytes line) {
      if (std::binary_search(elsewhere.begin(), elsewhere.end(), place.at)) return;
      attempt(place, [&] {
        std::vector<Member> alone;
        alone.push_back(worker.read(line, false, false, texts_[place.text].file));
        worker.finish(alone);
        worker.append(alone.front(), place.at, piece);
        piece.totals.add(alone.front().totals);
      });
    });
  }

  void score_group(const Group& group, TraceWorker& worker, Piece& piece) {
    // In the order of their text, so that no sum depends on the order of the input.
    std::vector<std::pair<Bytes, LinePlace>> lines;
    for (const LinePlace& place : group.places) lines.emplace_back(line_at(place), place);
    std::sort(lines.begin(), lines.end());
    worker.begin_group();
    std::vector<Member> members;
    std::vector<LinePlace> places;
    for (size_t i = 0; i < lines.size(); ++i)
      if (attempt(lines[i].second, [&] {
            members.push_back(worker.read(lines[i].first, true, false, texts_[lines[i].second.text].file));
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
    for (const auto& [line, place] : lines)
      if (const MappedFile* file = texts_[place.text].file) file->release(place.at, place.at + line.size());
  }

  /// All conversations in the order of their lines.
  std::vector<TraceScores> assemble(std::vector<Piece>& pieces, std::vector<Piece>& grouped) {
    std::vector<TraceScores> all(texts_.size());
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
      if (scores.skipped_examples.size() < 3) scores.skipped_examples.push_back(error);
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
  for (const size_t i : order) members.push_back(worker.read(lines[i], lines.size() > 1, true));
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
