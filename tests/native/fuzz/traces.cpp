// Conversations: the parser, identity and Good Gain, the same for any number of threads.
#include "traces.hpp"

#include "error.hpp"
#include "targets.hpp"
#include "trace_scores.hpp"

namespace gg::fuzz {

namespace {

/// Rows as bytes and the evidence, or the message of the error.
std::string outcome(Bytes text, const Rules& rules, const Qrels* labels, const TraceOptions& options,
                    unsigned threads) {
  try {
    const TraceScores s = score_traces({{text, "fuzz"}}, rules, labels, options, threads).front();
    std::string all(reinterpret_cast<const char*>(s.rows.values.data()), s.rows.values.size() * sizeof(double));
    for (const ScoredConversation& c : s.conversations)
      for (const Evidence& e : c.evidence)
        for (const double number :
             {e.gain, 1.0 * e.iteration, 1.0 * e.search, 1.0 * e.rank, 1.0 * e.opened, 1.0 * e.cited})
          all.append(e.name).append(reinterpret_cast<const char*>(&number), sizeof number);
    return all;
  } catch (const Error& e) {
    return e.what() + e.where;
  }
}

/// The id that is read alone is that of the whole conversation.
void compare_ids(Bytes text) {
  static TraceParser parser(4), quick(4);
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    const Bytes line = text.substr(at, stop - at);
    at = stop + 1;
    try {
      const std::string id(parser.parse(line).id);
      if (quick.id_of(line) != id) differ("an id alone and with its conversation", text);
      count_conversation({line}, some_rules(false), nullptr, {});
    } catch (const Error&) {
    }
  }
}

}  // namespace

void traces(Bytes text) {
  for (const bool is_other : {false, true}) {
    TraceOptions options;
    options.skip_bad = is_other;
    options.turn = is_other ? TraceOptions::all_turns : TraceOptions::last_turn;
    const Rules& rules = some_rules(is_other);
    const Qrels* labels = is_other ? some_judgments().get() : nullptr;
    const std::string expected = outcome(text, rules, labels, options, 1);
    if (is_one_of(text, 16) && outcome(text, rules, labels, options, 2) != expected) differ("threads", text);
    options.huge = {.line = 0, .piece = 8};
    if (outcome(text, rules, labels, options, 1) != expected) differ("a line whole and in pieces", text);
  }
  compare_ids(text);
}

}  // namespace gg::fuzz
