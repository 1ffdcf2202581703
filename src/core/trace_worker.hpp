// Reads conversations one at a time: which results are new, what is known to be good, and what became of it.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "file.hpp"
#include "label_index.hpp"
#include "trace_scores.hpp"
#include "traces.hpp"
#include "uses.hpp"

namespace gg {

constexpr size_t piece_bytes = 4 << 20;

/// A conversation after identity. The parser can go on: it needs no more than the names that the worker keeps.
struct Member {
  Member() = default;
  Member(Member&&) = default;
  Member& operator=(Member&&) = default;

  /// A search, and the number of its first result.
  struct Start {
    uint32_t result, iteration, search;
  };

  std::string id, system, repeat;
  CountedSearches counted;
  std::vector<Start> searches;  // those with results
  uint32_t results = 0;
  std::vector<uint32_t> first;              // the first result identical to each, for an audit
  std::vector<uint32_t> new_results;        // numbers of the results that are new
  std::vector<const char*> names;           // theirs, where they may be good; the worker has the texts
  std::vector<uint32_t> in_pool;            // their entries in the pool, if there is one
  std::vector<uint32_t> missed;             // good entries of the pool that it did not return
  std::vector<uint32_t> missed_unlabelled;  // likewise, without a label
  std::vector<Decision> decisions;
  const QueryJudgments* judged = nullptr;
  Uses uses;
  std::vector<Evidence> evidence;
  bool has_answer = false;
  std::string user, answer;  // if they are wanted
  TraceTotals totals;

  /// The place of a new result among them.
  size_t position(uint32_t result) const {
    return static_cast<size_t>(std::lower_bound(new_results.begin(), new_results.end(), result) - new_results.begin());
  }

  /// The search that returned a result.
  const Start& start(uint32_t result) const {
    return *std::prev(std::upper_bound(searches.begin(), searches.end(), result,
                                       [](uint32_t number, const Start& s) { return number < s.result; }));
  }

  Returned& at(uint32_t result) {
    const Start& s = start(result);
    return counted.iterations[s.iteration].searches[s.search].results[result - s.result];
  }
};

/// The results of all systems that returned something for one conversation.
class Pool {
 public:
  explicit Pool(const Rules& rules) : clusters_(rules) {}

  void clear();
  Clusters& clusters() { return clusters_; }
  /// Adds a result; `group` is the piece of evidence that its outside label names.
  uint32_t add(const Result& result, uint32_t group, Bytes name);
  /// The entry of an opened or cited document, or none.
  uint32_t find(const OutsideDocument& document);

  /// Shares labels and good results among the members. A result without a label has that of an identical one; where
  /// labels differ, the highest counts for the pool, and each system keeps its own.
  void share(std::vector<Member>& members, const GainOptions& o);

  struct Entry {
    std::string name;
    bool labelled = false;
    double least = 0, most = 0;

    void label(double gain);
  };
  const Entry& operator[](uint32_t entry) const { return entries_[entry]; }

 private:
  Clusters clusters_;
  std::vector<Entry> entries_;  // by the number of a result; the first of equal ones has the labels
  std::unordered_map<uint32_t, uint32_t> by_label_;
};

/// The scores of some lines, in the order of their places.
struct Piece {
  size_t text = 0;
  std::vector<ScoredConversation> conversations;
  std::vector<size_t> texts;                                 // of conversations, where a piece has lines of several
  std::shared_ptr<Arena> names = std::make_shared<Arena>();  // of their evidence
  GainRows rows;
  TraceTotals totals;
  std::vector<TraceTotals> totals_by_text;
};

class TraceWorker {
 public:
  TraceWorker(const Rules& rules, const Qrels* labels, const TraceOptions& options)
      : labels_(labels),
        options_(options),
        parser_(options.gain.max_gain, options.huge),
        clusters_(rules),
        index_(rules.urls),
        pool_(rules),
        finder_(rules, clusters_, index_) {}

  /// What follows are lines of one conversation, until the next call.
  void begin_group();
  struct Reading {
    bool padded = false;         // the line lies in a LineBuffer
    LineBuffer* done = nullptr;  // released when the line is read: a huge one needs its memory for what follows
    bool pooled = false;         // its results join the pool
    bool audited = false;        // the decisions about identity are kept
  };
  Member read(Bytes line, Reading how);
  /// Completes all members of one conversation.
  void finish(std::vector<Member>& members);
  void append(Member& m, uint64_t place, Piece& piece) const;

 private:
  std::vector<const Turn*> counting(const Conversation& c) const;
  void identify(const Conversation& c, bool pooled, Member& member);
  void add_iteration(const Step& step, bool pooled, Member& member);
  void add_result(const Result& r, bool pooled, Member& member);
  LabelIndex::Match label(const Result& r, TraceTotals& totals, double& gain, bool& labelled);
  void trace_evidence(Member& m, const std::vector<LabelIndex::Missed>& missed_labels, bool pooled);

  const Qrels* labels_;
  const TraceOptions& options_;
  TraceParser parser_;
  Clusters clusters_;
  LabelIndex index_;
  Pool pool_;
  UseFinder finder_;
  bool group_begins_ = false;
  Arena names_;  // of the members
  std::unordered_set<std::string> queries_;
  std::unordered_map<uint32_t, uint32_t> by_label_;  // piece of evidence -> first result of the current line
  uint64_t left_out_ = 0;
};

}  // namespace gg
