// Agent conversations: reads and validates the canonical JSON lines.
#pragma once
#include <memory>
#include <vector>

#include "good_gain.hpp"
#include "identity.hpp"

namespace gg {

struct Search {
  Bytes query, tool;
  Usage usage;  // `seconds` is its latency
  std::vector<Result> results;
  double tries = 1;
  bool failed = false;  // ended in an error, without a result
  bool unread = false;  // returned more than `results`, and how many is unknown
};

/// A document that the agent opened, and the tool that read it.
struct Opened {
  Result result;
  Bytes tool;
};

/// One step of the agent; it is an iteration if it searched.
struct Step {
  Usage usage;  // of the generation, without its searches
  std::vector<Search> searches;
  std::vector<Opened> opens;
};

/// Something that the answer cites; it may have no more than a marker.
struct Cited {
  Result result;
  Bytes marker;
};

struct Turn {
  std::vector<Step> steps;
  Usage usage;  // of the whole turn, where the source does not have it by step
  Bytes user, answer;
  double confidence = Usage::unknown;  // that the answer states
  bool has_answer = false;             // it may be empty
  bool has_citations = false;          // otherwise they are in the text of the answer
  std::vector<Cited> citations;
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
  /// The id alone, unchecked; empty if the line has none. Valid until the next call.
  Bytes id_of(Bytes line);
  /// A list of results, as in `results` of a search.
  const std::vector<Result>& parse_results(Bytes list);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gg
