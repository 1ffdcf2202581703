// Agent conversations: validates the canonical JSON lines and computes the counts behind Good Gain.
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
  Usage usage;  // `seconds` is its latency
  std::vector<Result> results;
  double tries = 1;
  bool failed = false;  // ended in an error, without a result
  bool unread = false;  // returned more than `results`, and how many is unknown
};

/// One step of the agent; it is an iteration if it searched.
struct Step {
  Usage usage;  // of the generation, without its searches
  std::vector<Search> searches;
  std::vector<Result> opens;
};

struct Turn {
  std::vector<Step> steps;
  Usage usage;  // of the whole turn, where the source does not have it by step
  std::vector<Result> citations;
};

struct Conversation {
  Bytes id, system, repeat;
  std::vector<Turn> turns;
};

/// Reads one JSON object at a time; the result is valid until the next call.
class TraceParser {
 public:
  explicit TraceParser(double max_gain);
  ~TraceParser();
  /// Throws an Error that names the field; the caller adds `where`.
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
  int turn = last_turn;  // or the number of a turn, from 1
  bool skip_bad = false;
};

/// The scores of a trace file: a row of values for each iteration of each conversation.
struct TraceScores {
  std::vector<std::string> conversations, systems;
  std::vector<uint32_t> first_row;  // per conversation, and the end of the last one
  std::vector<uint64_t> lines;      // line number per conversation
  GainRows rows;
  uint64_t results = 0, searches = 0, skipped = 0, left_out = 0, unknown_conversations = 0;
  uint64_t ambiguous_labels = 0;  // results that labels with different gains match
  std::vector<Error> skipped_examples;
};

TraceScores score_traces(Bytes text, const std::string& name, const MappedFile* file, const Rules& rules,
                         const Qrels* labels, const TraceOptions& options, unsigned threads);

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

CountedConversation count_conversation(Bytes line, const Rules& rules, const Qrels* labels,
                                       const TraceOptions& options);

}  // namespace gg
