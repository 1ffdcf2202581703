#include "traces.hpp"

#include <cmath>

#include "error.hpp"
#include "file.hpp"
#include "parallel.hpp"
#include "simdjson.h"

namespace gg {

namespace {

namespace dom = simdjson::dom;

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

constexpr const char* bad_field_hint = "correct it, or leave such conversations out: --skip-bad, skip_bad=True";
constexpr const char* form_hint =
    R"(expected {"conversation": "c1", "turns": [{"user": "...", "iterations": [{"searches": [...]}]}]})";

[[noreturn]] void wrong_kind(const Path* path, Bytes field, const char* expected, dom::element value) {
  bad_input("field '" + of(path, field) + "' must be " + expected + ", got " + kind_name(value), {}, bad_field_hint);
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
  if (value.is_null()) return Usage::unknown;
  double number;
  if (value.get(number)) wrong_kind(path, field, "a number", value);
  return number;
}

[[noreturn]] void unknown_field(const Path* path, Bytes field, const std::string& known) {
  bad_input("unknown field " + in_quotes(of(path, field)) + " in a trace", {},
            "known fields: " + known + "; put anything else under 'metadata'");
}

constexpr const char* nesting = "turns contain 'iterations', iterations contain 'searches', searches contain 'results'";

}  // namespace

struct TraceParser::State {
  TraceParser* owner;
  double max_gain;
  HugeLines huge;
  dom::parser parser{simdjson::SIMDJSON_MAXSIZE_BYTES};
  Arena texts;  // numbers and lists that are compared as text
  Conversation conversation;
  std::vector<Result> results;
  // Of a huge line:
  std::optional<CutLine> cut;
  size_t lists = 0;  // that have been read
  std::string list;  // the piece that is being read, in brackets
  std::unique_ptr<State> of_pieces;

  State(TraceParser* parser, double max, HugeLines limits) : owner(parser), max_gain(max), huge(limits) {}

  dom::element root(Bytes text, const char* what, bool padded = false) {
    dom::element element;
    texts.clear();
    const auto error = parser.parse(reinterpret_cast<const uint8_t*>(text.data()), text.size(), !padded).get(element);
    if (error == simdjson::DEPTH_ERROR)
      bad_input(std::string(what) + " is nested more than 1,000 levels deep", {}, bad_field_hint);
    if (error == simdjson::UTF8_ERROR)
      bad_input(std::string(what) + " is not valid UTF-8", {}, "save the file as UTF-8");
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();  // no fault of the text, so never skipped
    if (error) {
      const std::string_view reason = simdjson::error_message(error);  // several sentences
      bad_input(std::string(what) + " is not valid JSON: " + std::string(reason.substr(0, reason.find(". "))), {},
                "expected one JSON object per line; is the file truncated?");
    }
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

  /// A result; `more` takes the fields that its place adds, such as the tool of an open.
  template <typename More>
  Result result(dom::element value, const Path* path, const char* known, More more) {
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
      } else if (key != "metadata" && !more(key, held)) {
        unknown_field(path, key,
                      "id, ids, type, url, title, snippet, content, fields, aspects, score, gain" + std::string(known));
      }
    }
    return r;
  }

  Result result(dom::element value, const Path* path) {
    return result(value, path, "", [](Bytes, dom::element) { return false; });
  }

  Opened open(dom::element value, const Path* path) {
    Bytes tool;
    Result opened = result(value, path, ", tool", [&](Bytes key, dom::element held) {
      if (key == "tool") tool = only_text(held, path, key);
      return key == "tool";
    });
    return {std::move(opened), tool};
  }

  Cited citation(dom::element value, const Path* path) {
    Bytes marker;
    Result cited = result(value, path, ", marker, quote", [&](Bytes key, dom::element held) {
      if (key == "marker") marker = id_text(held, path, key);
      else if (key == "quote") only_text(held, path, key);
      return key == "marker" || key == "quote";
    });
    return {std::move(cited), marker};
  }

  /// The items of a list, each read with its place.
  template <typename Read>
  void each(dom::element held, const Path* path, Bytes key, const char* name, Read read) {
    size_t i = 0;
    for (const dom::element item : as_list(held, path, key)) {
      const Path place{path, name, i++};
      read(item, &place);
    }
  }

  /// The same for a list that may be null.
  template <typename Read>
  void each_of(dom::element held, const Path* path, Bytes key, const char* name, Read read) {
    if (!held.is_null()) each(held, path, key, name, read);
  }

  double amount(dom::element held, const Path* path, Bytes key) {
    const double number = as_number(held, path, key);
    if (number < 0) bad_input("field '" + of(path, key) + "' must not be negative", {}, bad_field_hint);
    return number;
  }

  /// Reads tokens, cost and seconds; false for any other field.
  bool spent(Usage& usage, dom::element held, const Path* path, Bytes key, Bytes seconds = "seconds") {
    double* number = key == seconds    ? &usage.seconds
                     : key == "cost"   ? &usage.cost
                     : key == "tokens" ? &usage.tokens
                                       : nullptr;
    if (number) *number = amount(held, path, key);
    return number != nullptr;
  }

  const std::vector<Result>& read_list(Bytes text, bool padded = false) {
    const dom::element root = this->root(text, "the list of results", padded);
    results.clear();
    each(root, nullptr, "results", "results",
         [&](dom::element item, const Path* place) { results.push_back(result(item, place)); });
    return results;
  }

  /// Something that only the whole line can say.
  [[noreturn]] static void not_cut() { bad_input("not a list that was cut out", {}, "read the line as a whole"); }

  /// The results of a list that was cut out, checked but not held.
  void read_pieces(uint64_t number, Results& read) {
    // Lists come in their order; anything else is a number of the trace itself.
    if (number != lists || number >= cut->ends.size() || !read.empty()) not_cut();
    read.source_ = owner;
    read.begin_ = lists ? cut->ends[lists - 1] : 0;
    read.end_ = cut->ends[lists];
    for (uint32_t p = read.begin_; p < read.end_; ++p) read.in_pieces_ += owner->piece(p).size();
    ++lists;
  }

  Search search(dom::element value, const Path* path) {
    Search s;
    bool has_error = false;
    for (const auto [key, held] : as_object(value, path, "")) {
      if (spent(s.usage, held, path, key, "latency")) continue;
      if (key == "query") {
        s.query = only_text(held, path, key);
      } else if (key == "results") {
        if (cut && held.is_uint64()) read_pieces(held.get_uint64().value_unsafe(), s.results);
        else if (s.results.in_pieces_) not_cut();
        else
          each_of(held, path, key, "results",
                  [&](dom::element item, const Path* place) { s.results.items_.push_back(result(item, place)); });
      } else if (key == "tries") {
        const double tries = as_number(held, path, key);
        if (!std::isnan(tries)) s.tries = tries;
        if (!(s.tries >= 1) || s.tries != std::floor(s.tries))
          bad_input("field '" + of(path, key) + "' must be a positive integer", {}, bad_field_hint);
      } else if (key == "unread") {
        s.unread = !only_text(held, path, key).empty();
      } else if (key == "error") {
        has_error = !only_text(held, path, key).empty();
      } else if (key == "tool") {
        s.tool = only_text(held, path, key);
      } else if (key != "metadata") {
        unknown_field(path, key, "query, tool, latency, cost, tokens, tries, error, unread, results");
      }
    }
    s.failed = has_error && s.results.empty();
    s.unread = s.unread && !s.failed;
    return s;
  }

  Step step(dom::element value, const Path* path) {
    Step step;
    for (const auto [key, held] : as_object(value, path, "")) {
      if (spent(step.usage, held, path, key)) continue;
      if (key == "searches")
        each(held, path, key, "searches",
             [&](dom::element item, const Path* place) { step.searches.push_back(search(item, place)); });
      else if (key == "opens")
        each_of(held, path, key, "opens",
                [&](dom::element item, const Path* place) { step.opens.push_back(open(item, place)); });
      else if (key != "metadata") unknown_field(path, key, "searches, opens, tokens, cost, seconds");
    }
    return step;
  }

  Turn turn(dom::element value, const Path* path) {
    Turn turn;
    for (const auto [key, held] : as_object(value, path, "")) {
      if (spent(turn.usage, held, path, key)) continue;
      if (key == "user") {
        turn.user = only_text(held, path, key);
      } else if (key == "answer") {
        turn.answer = only_text(held, path, key);
        turn.has_answer = !held.is_null();
      } else if (key == "iterations") {
        each(held, path, key, "iterations",
             [&](dom::element item, const Path* place) { turn.steps.push_back(step(item, place)); });
      } else if (key == "citations") {
        turn.has_citations = !held.is_null();
        each_of(held, path, key, "citations",
                [&](dom::element item, const Path* place) { turn.citations.push_back(citation(item, place)); });
      } else if (key == "confidence") {
        turn.confidence = as_number(held, path, key);
        if (turn.confidence < 0 || turn.confidence > 1)
          bad_input("field '" + of(path, key) + "' must be between 0 and 1", {}, bad_field_hint);
      } else if (key == "searches" || key == "results" || key == "opens") {
        bad_input("field '" + of(path, key) + "' is outside an iteration", {}, nesting);
      } else if (key != "metadata") {
        unknown_field(path, key, "user, iterations, answer, citations, confidence, tokens, cost, seconds");
      }
    }
    return turn;
  }
};

TraceParser::TraceParser(double max_gain, HugeLines huge) : state_(std::make_unique<State>(this, max_gain, huge)) {}
TraceParser::~TraceParser() = default;

static_assert(LineBuffer::padding >= simdjson::SIMDJSON_PADDING);

const Conversation& TraceParser::parse(Bytes line, bool padded) {
  State& s = *state_;
  s.cut.reset();
  if (line.size() < s.huge.line || !read_cut(line)) {
    s.cut.reset();
    read(line, padded);
  }
  return s.conversation;
}

/// Reads a huge line without its results. False if it cannot be cut, or if anything is wrong: the whole line says what.
bool TraceParser::read_cut(Bytes line) {
  State& s = *state_;
  s.cut = cut_results(line, s.huge.piece);
  if (!s.cut) return false;
  s.lists = 0;
  try {
    read(s.cut->rest, false);
  } catch (const Error&) {
    return false;
  }
  return s.lists == s.cut->ends.size();
}

const std::vector<Result>& TraceParser::piece(uint32_t number) {
  State& s = *state_;
  pause_point();
  if (!s.of_pieces) s.of_pieces = std::make_unique<State>(this, s.max_gain, s.huge);
  s.list.assign("[").append(s.cut->pieces[number]).append("]");
  const size_t size = s.list.size();
  s.list.append(simdjson::SIMDJSON_PADDING, ' ');
  return s.of_pieces->read_list(Bytes(s.list).substr(0, size), true);
}

void TraceParser::read(Bytes line, bool padded) {
  State& s = *state_;
  const dom::element root = s.root(line, "the line", padded);
  Conversation& c = s.conversation;
  c = {};
  bool has_turns = false;
  if (!root.is_object())
    bad_input(std::string("expected an object with 'conversation' and 'turns', got ") + kind_name(root), {}, form_hint);
  for (const auto [key, held] : as_object(root, nullptr, "")) {
    if (key == "conversation") {
      if (!c.id.empty()) bad_input("duplicate field 'conversation'", {}, "keep one of them");
      c.id = s.id_text(held, nullptr, key);
    } else if (key == "system") {
      c.system = s.only_text(held, nullptr, key);
    } else if (key == "repeat") {
      c.repeat = s.id_text(held, nullptr, key);
    } else if (key == "turns") {
      has_turns = true;
      s.each(held, nullptr, key, "turns",
             [&](dom::element item, const Path* place) { c.turns.push_back(s.turn(item, place)); });
    } else if (key == "searches" || key == "results" || key == "iterations") {
      bad_input("field '" + std::string(key) + "' is outside " + (key == "iterations" ? "a turn" : "an iteration"), {},
                nesting);
    } else if (key != "metadata") {
      unknown_field(nullptr, key, "conversation, system, repeat, turns");
    }
  }
  if (c.id.empty()) bad_input("missing field 'conversation'", {}, "every conversation needs an id");
  if (!has_turns) bad_input("missing field 'turns'", {}, form_hint);
}

Bytes TraceParser::id_of(Bytes line) {
  // Nearly every file has the id first, as plain text; anything else takes a parse.
  size_t at = 0;
  const auto skip = [&](Bytes expected) {
    at = std::min(line.find_first_not_of(" \t", at), line.size());
    const bool starts = line.substr(at).starts_with(expected);
    at += starts ? expected.size() : 0;
    return starts;
  };
  if (skip("{") && skip("\"conversation\"") && skip(":") && skip("\"")) {
    const size_t end = line.find_first_of("\"\\", at);
    if (end != Bytes::npos && line[end] == '"') return line.substr(at, end - at);
  }
  State& s = *state_;
  dom::object object{};
  dom::element element, id;
  s.texts.clear();
  const auto error = s.parser.parse(reinterpret_cast<const uint8_t*>(line.data()), line.size()).get(element);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error || element.get(object) || object["conversation"].get(id) || id.is_array() || id.is_object() || id.is_bool())
    return {};
  return s.text_of(id, nullptr, "conversation");
}

const std::vector<Result>& TraceParser::parse_results(Bytes list) { return state_->read_list(list); }

}  // namespace gg
