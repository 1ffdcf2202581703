// Conversations of agents: the canonical JSON lines, checked, and the counts behind Good Gain.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "file.hpp"
#include "good_gain.hpp"
#include "identity.hpp"
#include "qrels.hpp"

namespace gg {

struct Search {
  Bytes query;
  double latency, cost, tokens;  // NaN where unknown
  std::vector<Result> results;
};

struct Conversation {
  Bytes id, system;
  std::vector<std::vector<std::vector<Search>>> turns;  // turns, iterations that search, searches
};

/// Reads one JSON object at a time; what it returns is valid until the next.
class TraceParser {
 public:
  explicit TraceParser(double max_gain);
  ~TraceParser();
  /// Throws an Error that names the field; `where` is the caller's to add.
  const Conversation& parse(Bytes line);
  /// A list of results, as in `results` of a search.
  const std::vector<Result>& parse_results(Bytes list);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct TraceOptions {
  static constexpr int last_turn = 0, all_turns = -1;
  GainOptions gain;
  int turn = last_turn;  // or a turn's number from 1
  bool skip_bad = false;
};

/// What a file of traces comes to: a row of values for each iteration of each conversation.
struct TraceScores {
  std::vector<std::string> conversations, systems;
  std::vector<uint32_t> first_row;  // of each conversation, and the end of the last
  std::vector<uint64_t> lines;      // where each conversation stands
  GainRows rows;
  uint64_t results = 0, searches = 0, skipped = 0, left_out = 0, unknown_conversations = 0;
  std::vector<Error> skipped_examples;
};

TraceScores score_traces(Bytes text, const std::string& name, const MappedFile* file, const Rules& rules,
                         const Qrels* labels, const TraceOptions& options, unsigned threads);

/// One conversation as it was counted: each result's first occurrence and gain, and why results were merged.
struct CountedConversation {
  struct Seen {
    uint32_t first;  // the number of the first result that is the same; its own where it is new
    bool labelled;
    double gain;  // of the first, which may have it from a duplicate
  };
  std::vector<Seen> results;   // of the turns that count, in order
  std::vector<bool> repeats;   // of each search: whether its query was asked before
  std::vector<Decision> decisions;
};

CountedConversation count_conversation(Bytes line, const Rules& rules, const Qrels* labels, const TraceOptions& options);

}  // namespace gg
