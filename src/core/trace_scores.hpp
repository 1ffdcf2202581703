// Good Gain of many conversations: which results are new, which are good, and the pool of each conversation.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "file.hpp"
#include "good_gain.hpp"
#include "huge_line.hpp"
#include "identity.hpp"
#include "qrels.hpp"
#include "uses.hpp"

namespace gg {

/// What counts as opening a document: a call that read it, or also a result that carried its content.
enum class Opens { calls, content };

struct TraceOptions {
  static constexpr int last_turn = 0, all_turns = -1;
  GainOptions gain;
  int turn = last_turn;  // or the number of a turn, from 1
  bool skip_bad = false;
  Opens opens = Opens::calls;
  bool answers = false;  // keep the questions and the answers
  HugeLines huge;
};

/// A known good result of a conversation, and how far it got.
struct Evidence {
  Bytes name;
  double gain = 0;
  uint32_t iteration = 0, search = 0, rank = 0;  // where it was first returned, from 1; 0 if it was not
  uint32_t opened = Use::never;                  // the iteration
  bool cited = false;
};

/// Canonical JSON lines, from a file or from memory.
struct TraceText {
  Bytes text;  // unless there is a file
  std::string name;
  const InputFile* file = nullptr;

  size_t size() const { return file ? file->size() : text.size(); }
  /// The lines that begin in [begin, end); those of a file are read into the buffer.
  Lines lines(size_t begin, size_t end, LineBuffer& buffer) const;
  uint64_t line_of(size_t offset) const;
};

/// In how many conversations an amount is known by step, by search only, for whole turns only, or for a part.
struct UsageCounts {
  uint64_t by_step = 0, by_search = 0, by_turn = 0, in_part = 0;
};

/// What became of the calls of one tool, in all turns: the accounts of a ledger.
struct CallCounts {
  uint64_t search = 0, empty = 0, failed = 0, unread = 0, open = 0;
};

/// Totals over conversations.
struct TraceTotals {
  uint64_t results = 0, searches = 0, tries = 0, failed = 0, unread = 0, empty = 0;
  uint64_t skipped = 0, left_out = 0, unknown_conversations = 0;
  uint64_t steps = 0, opens = 0, citations = 0, turns = 0;
  uint64_t ambiguous_labels = 0;  // results that labels with different gains match
  uint64_t lent = 0;              // unlabelled results with the label of an identical result of another system
  uint64_t conflicting = 0;       // results with different gains in different systems
  uint64_t identical = 0;         // lines that equal another line
  uint64_t labels = 0, zeros = 0, ones = 0;  // labels, and those with a gain of 0 or 1
  uint64_t taken_as_zero = 0;                // unlabelled results under `unlabelled="zero"`
  std::array<UsageCounts, 3> usage;          // of tokens, cost, seconds
  uint64_t conversations = 0, results_of_all_turns = 0, duplicates = 0;
  std::map<std::string, CallCounts> calls;  // by tool

  void add(const TraceTotals& other);
};

/// One conversation of a trace file.
struct ScoredConversation {
  std::string id, system, repeat;
  uint64_t place = 0;  // of its line, in bytes
  uint32_t iterations = 0;
  uint32_t rows = 0;  // at least one
  uint64_t results = 0, unique = 0, labelled = 0, unread = 0;
  FunnelCounts funnel = {};
  std::vector<Evidence> evidence = {};
  bool has_answer = false;
  std::string user = {}, answer = {};  // if they are wanted
};

/// The scores of a trace file: a row of values for each iteration of each conversation.
struct TraceScores {
  std::vector<ScoredConversation> conversations;
  std::vector<std::shared_ptr<const Arena>> names;  // of the evidence
  GainRows rows;
  TraceTotals totals;
  std::vector<Error> skipped_examples;
};

/// Scores files together: lines of one conversation, in any of them, share the pool of known good results.
std::vector<TraceScores> score_traces(const std::vector<TraceText>& texts, const Rules& rules, const Qrels* labels,
                                      const TraceOptions& options, unsigned threads);

/// The counts of one conversation: the first occurrence and gain of each result, and why results were merged.
struct CountedConversation {
  struct Seen {
    uint32_t first;  // the number of the first identical result; its own if it is new
    bool labelled;
    double gain;  // of the first occurrence, which may come from a duplicate
  };
  std::vector<Seen> results;  // of the turns that count, in order
  std::vector<bool> repeats;  // per search: whether its query repeats an earlier one
  std::vector<Decision> decisions;
};

/// The counts of all lines of one conversation.
std::vector<CountedConversation> count_conversation(const std::vector<Bytes>& lines, const Rules& rules,
                                                    const Qrels* labels, const TraceOptions& options);

}  // namespace gg
