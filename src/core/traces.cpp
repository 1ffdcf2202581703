#include "traces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "error.hpp"
#include "evaluate.hpp"
#include "label_index.hpp"
#include "normal_form.hpp"
#include "simdjson.h"

namespace gg {

namespace {

namespace dom = simdjson::dom;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// The position within the object, turns[0].iterations[2]...; only formatted for a message.
struct Path {
  const Path* parent;
  const char* name;
  size_t index;

  std::string text() const {
    std::string whole = parent ? parent->text() : "";
    if (!whole.empty()) whole += '.';
    return whole + name + "[" + std::to_string(index) + "]";
  }
};

std::string of(const Path* path, Bytes field) {
  std::string whole = path ? path->text() : "";
  if (!whole.empty() && !field.empty()) whole += '.';
  return whole + std::string(field);
}

const char* kind_name(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY: return "a list";
    case dom::element_type::OBJECT: return "an object";
    case dom::element_type::STRING: return "text";
    case dom::element_type::BOOL: return "true or false";
    case dom::element_type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

[[noreturn]] void wrong_kind(const Path* path, Bytes field, const char* expected, dom::element value) {
  bad_input("field '" + of(path, field) + "' must be " + expected + ", got " + kind_name(value));
}

dom::object as_object(dom::element value, const Path* path, Bytes field) {
  dom::object object{};
  if (value.get(object)) wrong_kind(path, field, "an object", value);
  return object;
}

dom::array as_list(dom::element value, const Path* path, Bytes field) {
  dom::array list{};
  if (value.get(list)) wrong_kind(path, field, "a list", value);
  return list;
}

double as_number(dom::element value, const Path* path, Bytes field) {
  if (value.is_null()) return unknown;
  double number;
  if (value.get(number)) wrong_kind(path, field, "a number", value);
  return number;
}

[[noreturn]] void unknown_field(const Path* path, Bytes field, const char* known) {
  bad_input("unknown field " + in_quotes(of(path, field)) + " in a trace", {},
            std::string("known fields: ") + known + "; put anything else under 'metadata'");
}

}  // namespace

struct TraceParser::State {
  dom::parser parser{simdjson::SIMDJSON_MAXSIZE_BYTES};
  double max_gain;
  Arena texts;  // numbers and lists that are compared as text
  Conversation conversation;
  std::vector<Result> results;

  dom::element root(Bytes text, const char* what) {
    dom::element element;
    texts.clear();
    const auto error = parser.parse(reinterpret_cast<const uint8_t*>(text.data()), text.size()).get(element);
    if (error == simdjson::DEPTH_ERROR) bad_input(std::string(what) + " is nested more than 1,000 levels deep");
    if (error == simdjson::UTF8_ERROR) bad_input(std::string(what) + " is not valid UTF-8");
    if (error == simdjson::MEMALLOC) bad_input(std::string(what) + " does not fit into memory");
    if (error)
      bad_input(std::string(what) + " is not valid JSON: " + simdjson::error_message(error), {},
                "expected one JSON object per line; is the file truncated?");
    return element;
  }

  /// Text, or a number or a list of texts as text.
  Bytes text_of(dom::element value, const Path* path, Bytes field) {
    switch (value.type()) {
      case dom::element_type::STRING: return value.get_string().value_unsafe();
      case dom::element_type::NULL_VALUE: return {};
      case dom::element_type::BOOL: return value.get_bool().value_unsafe() ? "true" : "false";
      case dom::element_type::INT64: return texts.keep(std::to_string(value.get_int64().value_unsafe()));
      case dom::element_type::UINT64: return texts.keep(std::to_string(value.get_uint64().value_unsafe()));
      case dom::element_type::DOUBLE: {
        char digits[32];
        const int n = std::snprintf(digits, sizeof digits, "%.17g", value.get_double().value_unsafe());
        return texts.keep({digits, static_cast<size_t>(n)});
      }
      case dom::element_type::ARRAY: {
        std::string joined;
        for (const dom::element item : as_list(value, path, field)) {
          if (item.is_array() || item.is_object()) wrong_kind(path, field, "a list of texts", value);
          if (!joined.empty()) joined += '\x1f';
          joined += text_of(item, path, field);
        }
        return texts.keep(joined);
      }
      default: wrong_kind(path, field, "text, a number or a list of texts", value);
    }
  }

  Bytes only_text(dom::element value, const Path* path, Bytes field) {
    if (!value.is_string() && !value.is_null()) wrong_kind(path, field, "text", value);
    return text_of(value, path, field);
  }

  /// An id: text or a number.
  Bytes id_text(dom::element value, const Path* path, Bytes field) {
    if (value.is_array() || value.is_object() || value.is_bool()) wrong_kind(path, field, "text or a number", value);
    return text_of(value, path, field);
  }

  double gain_of(dom::element value, const Path* path, Bytes field) {
    const double gain = as_number(value, path, field);
    if (!std::isnan(gain) && !(gain >= 0 && gain <= max_gain)) {
      char range[64];
      std::snprintf(range, sizeof range, "must be between 0 and %g, got %g", max_gain, gain);
      bad_input("field '" + of(path, field) + "' " + range, {}, "set max_gain (--max-gain) for another scale");
    }
    return gain;
  }

  Result result(dom::element value, const Path* path) {
    Result r;
    for (const auto [key, held] : as_object(value, path, "")) {
      if (key == "id") r.id = id_text(held, path, key);
      else if (key == "type") r.type = only_text(held, path, key);
      else if (key == "url") r.url = only_text(held, path, key);
      else if (key == "title") r.title = only_text(held, path, key);
      else if (key == "snippet") r.snippet = only_text(held, path, key);
      else if (key == "content") r.content = only_text(held, path, key);
      else if (key == "score") as_number(held, path, key);
      else if (key == "gain") {
        const double gain = gain_of(held, path, key);
        r.labelled = !std::isnan(gain);
        r.gain = r.labelled ? gain : 0;
      } else if (key == "ids") {
        if (!held.is_null())
          for (const auto [name, id] : as_object(held, path, key)) r.ids.emplace_back(name, id_text(id, path, "ids"));
      } else if (key == "fields") {
        if (!held.is_null())
          for (const auto [name, field] : as_object(held, path, key))
            r.fields.emplace_back(name, field.is_object() ? Bytes() : text_of(field, path, "fields"));
      } else if (key == "aspects") {
        if (!held.is_null())
          for (const auto [name, gain] : as_object(held, path, key))
            r.aspects.emplace_back(name, gain_of(gain, path, "aspects"));
      } else if (key != "metadata") {
        unknown_field(path, key, "id, ids, type, url, title, snippet, content, fields, aspects, score, gain");
      }
    }
    return r;
  }

  Search search(dom::element value, const Path* path) {
    Search s{{}, unknown, unknown, unknown, {}};
    for (const auto [key, held] : as_object(value, path, "")) {
      double* number = key == "latency" ? &s.latency : key == "cost" ? &s.cost : key == "tokens" ? &s.tokens : nullptr;
      if (number) {
        *number = as_number(held, path, key);
        if (*number < 0) bad_input("field '" + of(path, key) + "' must not be negative");
      } else if (key == "query") {
        s.query = only_text(held, path, key);
      } else if (key == "results") {
        size_t i = 0;
        if (!held.is_null())
          for (const dom::element item : as_list(held, path, key)) {
            const Path place{path, "results", i++};
            s.results.push_back(result(item, &place));
          }
      } else if (key == "tool" || key == "error") {
        only_text(held, path, key);
      } else if (key != "metadata") {
        unknown_field(path, key, "query, tool, latency, cost, tokens, error, results");
      }
    }
    return s;
  }

  /// Iterations with a search; others do not count.
  std::vector<std::vector<Search>> turn(dom::element value, const Path* path) {
    std::vector<std::vector<Search>> iterations;
    for (const auto [key, held] : as_object(value, path, "")) {
      if (key == "user" || key == "answer") {
        only_text(held, path, key);
      } else if (key == "iterations") {
        size_t i = 0;
        for (const dom::element item : as_list(held, path, key)) {
          const Path place{path, "iterations", i++};
          std::vector<Search> searches;
          for (const auto [name, content] : as_object(item, &place, "")) {
            if (name == "searches") {
              size_t s = 0;
              for (const dom::element one : as_list(content, &place, name)) {
                const Path at{&place, "searches", s++};
                searches.push_back(search(one, &at));
              }
            } else if (name != "metadata") {
              unknown_field(&place, name, "searches");
            }
          }
          if (!searches.empty()) iterations.push_back(std::move(searches));
        }
      } else if (key == "searches" || key == "results") {
        bad_input("field '" + of(path, key) + "' is outside an iteration", {},
                  "turns contain 'iterations', iterations contain 'searches', searches contain 'results'");
      } else if (key != "metadata") {
        unknown_field(path, key, "user, iterations, answer");
      }
    }
    return iterations;
  }
};

TraceParser::TraceParser(double max_gain) : state_(std::make_unique<State>()) { state_->max_gain = max_gain; }
TraceParser::~TraceParser() = default;

const Conversation& TraceParser::parse(Bytes line) {
  State& s = *state_;
  const dom::element root = s.root(line, "the line");
  Conversation& c = s.conversation;
  c = {};
  bool has_turns = false;
  if (!root.is_object())
    bad_input(std::string("expected an object with 'conversation' and 'turns', got ") + kind_name(root));
  for (const auto [key, held] : as_object(root, nullptr, "")) {
    if (key == "conversation") {
      c.id = s.id_text(held, nullptr, key);
    } else if (key == "system") {
      c.system = s.only_text(held, nullptr, key);
    } else if (key == "turns") {
      has_turns = true;
      size_t i = 0;
      for (const dom::element item : as_list(held, nullptr, key)) {
        const Path place{nullptr, "turns", i++};
        c.turns.push_back(s.turn(item, &place));
      }
    } else if (key == "searches" || key == "results" || key == "iterations") {
      bad_input("field '" + std::string(key) + "' is outside " + (key == "iterations" ? "a turn" : "an iteration"), {},
                "turns contain 'iterations', iterations contain 'searches', searches contain 'results'");
    } else if (key != "metadata") {
      unknown_field(nullptr, key, "conversation, system, turns");
    }
  }
  if (c.id.empty()) bad_input("missing field 'conversation'", {}, "every conversation needs an id");
  if (!has_turns) bad_input("missing field 'turns'");
  return c;
}

const std::vector<Result>& TraceParser::parse_results(Bytes list) {
  State& s = *state_;
  const dom::element root = s.root(list, "the list of results");
  s.results.clear();
  size_t i = 0;
  for (const dom::element item : as_list(root, nullptr, "results")) {
    const Path place{nullptr, "results", i++};
    s.results.push_back(s.result(item, &place));
  }
  return s.results;
}

// --- many conversations ---

namespace {

constexpr size_t piece_bytes = 4 << 20;

/// The scores of one section of the file; sections are joined in order.
struct Piece {
  std::vector<std::string> conversations, systems;
  std::vector<uint32_t> row_counts;
  std::vector<uint64_t> places;
  GainRows rows;
  uint64_t results = 0, searches = 0, skipped = 0, left_out = 0, unknown_conversations = 0, ambiguous_labels = 0;
  std::vector<Error> examples;
};

class TraceWorker {
 public:
  TraceWorker(const Rules& rules, const Qrels* labels, const TraceOptions& options)
      : labels_(labels), options_(options), parser_(options.gain.max_gain), clusters_(rules), index_(rules.urls) {}

  /// `parsed` is called once the bytes of the line are no longer needed.
  template <class Parsed>
  void score(Bytes line, uint64_t place, Piece& piece, Parsed&& parsed) {
    const Conversation& c = parser_.parse(line);
    parsed();
    const size_t before = piece.rows.values.size();
    identify(c, counting(c), piece);
    if (!iterations_.empty()) append_good_gain(iterations_, missed_, options_.gain, piece.rows);
    const size_t width = gain_columns().size();
    piece.conversations.emplace_back(c.id);
    piece.systems.emplace_back(c.system);
    piece.places.push_back(place);
    piece.row_counts.push_back(static_cast<uint32_t>((piece.rows.values.size() - before) / width));
  }

  CountedConversation count(Bytes line) {
    const Conversation& c = parser_.parse(line);
    Piece piece;
    clusters_.keep_audit(true);
    identify(c, counting(c), piece);
    CountedConversation counted;
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration) counted.repeats.push_back(s.repeats_query);
    for (const uint32_t first : of_first_) {
      const Place& at = first_[first];
      const Returned& original = iterations_[at.iteration][at.search].results[at.rank];
      counted.results.push_back({first, original.labelled, original.gain});
    }
    counted.decisions = clusters_.decisions();
    return counted;
  }

 private:
  /// The iterations of the turns that count.
  std::vector<const std::vector<Search>*> counting(const Conversation& c) const {
    std::vector<const std::vector<Search>*> iterations;
    const auto turns = static_cast<int>(c.turns.size());
    for (int t = 1; t <= turns; ++t)
      if (options_.turn == TraceOptions::all_turns || t == options_.turn ||
          (options_.turn == TraceOptions::last_turn && t == turns))
        for (const auto& iteration : c.turns[static_cast<size_t>(t - 1)]) iterations.push_back(&iteration);
    return iterations;
  }

  /// Finds which results are new and the gain of each new one: its own, or that of its first labelled duplicate.
  void identify(const Conversation& c, const std::vector<const std::vector<Search>*>& iterations, Piece& piece) {
    const QueryJudgments* judged = nullptr;
    if (labels_) {
      const uint32_t query = labels_->find(c.id);
      if (query == IdTable::none) ++piece.unknown_conversations;
      else judged = &(*labels_)[query];
    }
    index_.use(judged);
    clusters_.clear();
    iterations_.clear();
    first_.clear();
    of_first_.clear();
    std::unordered_set<std::string> queries;
    for (const auto* iteration : iterations) {
      iterations_.emplace_back();
      for (const Search& s : *iteration) {
        const bool repeats = !s.query.empty() && !queries.insert(normal_form(s.query)).second;
        iterations_.back().push_back({{}, repeats, s.latency, s.cost, s.tokens});
        ++piece.searches;
        for (const Result& r : s.results) {
          const uint32_t cluster = clusters_.add(r);
          ++piece.results;
          double gain = r.gain;
          bool labelled = r.labelled;
          if (judged) label(r, piece, gain, labelled);
          const bool is_new = cluster == first_.size();
          of_first_.push_back(cluster);
          first_.push_back(
              {iterations_.size() - 1, iterations_.back().size() - 1, iterations_.back().back().results.size()});
          iterations_.back().back().results.push_back(
              {is_new, labelled, gain, r.aspects.empty() ? nullptr : &r.aspects});
          if (is_new || !labelled) continue;
          const Place& at = first_[cluster];
          Returned& original = iterations_[at.iteration][at.search].results[at.rank];
          if (!original.labelled) original.labelled = true, original.gain = gain;
        }
      }
    }
    missed_.clear();
    for (const double gain : index_.missed())
      if (gain >= options_.gain.threshold) missed_.push_back(gain);
    piece.left_out += clusters_.left_out() - left_out_;
    left_out_ = clusters_.left_out();
  }

  /// The outside label of a result replaces its own gain.
  void label(const Result& r, Piece& piece, double& gain, bool& labelled) {
    const LabelIndex::Match match = index_.find(r);
    piece.ambiguous_labels += match.ambiguous;
    if (!match.labelled) return;
    labelled = true;
    gain = match.gain;
    if (gain >= 0 && gain <= options_.gain.max_gain) return;
    char range[64];
    std::snprintf(range, sizeof range, " must be between 0 and %g, got %g", options_.gain.max_gain, gain);
    bad_input("the label of " + in_quotes(match.name) + range, labels_->name,
              "set max_gain (--max-gain) for another scale");
  }

  struct Place {
    size_t iteration, search, rank;
  };

  const Qrels* labels_;
  const TraceOptions& options_;
  TraceParser parser_;
  Clusters clusters_;
  LabelIndex index_;
  std::vector<Iteration> iterations_;
  std::vector<Place> first_;        // the position of each result
  std::vector<uint32_t> of_first_;  // the first result identical to each
  std::vector<double> missed_;
  uint64_t left_out_ = 0;
};

bool is_blank(Bytes line) { return line.find_first_not_of(" \t\r") == Bytes::npos; }

}  // namespace

CountedConversation count_conversation(Bytes line, const Rules& rules, const Qrels* labels,
                                       const TraceOptions& options) {
  return TraceWorker(rules, labels, options).count(line);
}

TraceScores score_traces(Bytes text, const std::string& name, const MappedFile* file, const Rules& rules,
                         const Qrels* labels, const TraceOptions& options, unsigned threads) {
  std::vector<Piece> pieces((text.size() + piece_bytes - 1) / piece_bytes);
  in_parallel(pieces.size(), threads, [&](size_t i) {
    TraceWorker worker(rules, labels, options);
    const size_t limit = std::min(text.size(), (i + 1) * piece_bytes);
    size_t at = i * piece_bytes;
    if (at && text[at - 1] != '\n')
      at = std::min(text.find('\n', at), text.size() - 1) + 1;  // the previous line belongs to the previous section
    const size_t begin = at;
    while (at < limit) {
      const size_t stop = std::min(text.find('\n', at), text.size());
      const Bytes line = text.substr(at, stop - at);
      if (!is_blank(line)) {
        const auto place = [&] {
          return name + ":" +
                 std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        };
        try {
          worker.score(at == 0 && line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line, at, pieces[i], [&] {
            if (file && line.size() > piece_bytes) file->release(at, stop);  // one huge conversation
          });
        } catch (const Error& e) {
          const Error placed(e.kind, e.what(), e.where.empty() ? place() : e.where, e.hint);
          if (!options.skip_bad) throw placed;
          ++pieces[i].skipped;
          if (pieces[i].examples.size() < 3) pieces[i].examples.push_back(placed);
        }
      }
      at = stop + 1;
    }
    if (file) file->release(begin, at);
  });

  TraceScores scores;
  scores.first_row.push_back(0);
  for (Piece& p : pieces) {
    for (size_t c = 0; c < p.conversations.size(); ++c) {
      scores.conversations.push_back(std::move(p.conversations[c]));
      scores.systems.push_back(std::move(p.systems[c]));
      scores.first_row.push_back(scores.first_row.back() + p.row_counts[c]);
      scores.lines.push_back(p.places[c]);
    }
    scores.rows.join(p.rows);
    scores.results += p.results;
    scores.searches += p.searches;
    scores.skipped += p.skipped;
    scores.left_out += p.left_out;
    scores.unknown_conversations += p.unknown_conversations;
    scores.ambiguous_labels += p.ambiguous_labels;
    for (const Error& e : p.examples)
      if (scores.skipped_examples.size() < 3) scores.skipped_examples.push_back(e);
  }
  return scores;
}

}  // namespace gg
