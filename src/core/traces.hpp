// Agent conversations: reads and validates the canonical JSON lines.
#pragma once
#include <memory>
#include <vector>

#include "good_gain.hpp"
#include "huge_line.hpp"
#include "identity.hpp"

namespace gg {

class TraceParser;

/// The results of a search: parsed, or if the conversation is huge, parsed again in pieces each time they are read.
class Results {
 public:
  size_t size() const { return items_.size() + in_pieces_; }
  bool empty() const { return size() == 0; }
  /// Calls `work(result)` in order; results of pieces are valid only meanwhile.
  template <typename Work>
  void each(Work work) const;

 private:
  friend class TraceParser;
  std::vector<Result> items_;
  TraceParser* source_ = nullptr;
  size_t in_pieces_ = 0;
  uint32_t begin_ = 0, end_ = 0;  // of the pieces
};

struct Search {
  Bytes query, tool;
  Usage usage;  // `seconds` is its latency
  Results results;
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
  explicit TraceParser(double max_gain, HugeLines huge = {});
  ~TraceParser();
  /// Throws an Error that names the field; the caller adds `where`. A `padded` line lies in a LineBuffer and is not
  /// copied. The line must outlive the conversation: results of a huge one are read from it.
  const Conversation& parse(Bytes line, bool padded = false);
  /// The id alone, unchecked; empty if the line has none. Valid until the next call.
  Bytes id_of(Bytes line);
  /// A list of results, as in `results` of a search.
  const std::vector<Result>& parse_results(Bytes list);

 private:
  friend class Results;
  struct State;
  void read(Bytes line, bool padded);
  bool read_cut(Bytes line);
  const std::vector<Result>& piece(uint32_t number);

  std::unique_ptr<State> state_;
};

template <typename Work>
void Results::each(Work work) const {
  for (const Result& r : items_) work(r);
  for (uint32_t p = begin_; p < end_; ++p)
    for (const Result& r : source_->piece(p)) work(r);
}

}  // namespace gg
