// Feeds damaged traces to the parser, identity and Good Gain, which must return rows or throw an Error, the same for
// any number of threads. Mutates its own seeds for the number of seconds in its first argument.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "error.hpp"
#include "trace_scores.hpp"

using namespace gg;

namespace {

Rules rules(Unit unit) {
  Rules r;
  r.title = r.field("title", FieldKind::text, false);
  r.snippet = r.field("snippet", FieldKind::text, true);
  r.content = r.field("content", FieldKind::text, true);
  r.generic_id = r.field("id", FieldKind::id, false);
  r.url = r.field("url", FieldKind::id, false);
  const uint32_t people = r.field("to", FieldKind::people, false), time = r.field("start", FieldKind::time, false);
  r.text = (FieldMask{1} << r.snippet) | (FieldMask{1} << r.content);
  r.unit = unit;
  AliasOptions video{.name = "video", .hosts = {"example.com"}, .paths = {"/%7Ea", "/{a}~[{b:digits 2+}]"}};
  video.key = "video:{a|lower}{b}";
  AliasOptions wrapper{.name = "wrapper", .hosts = {"*"}, .paths = {"?u={target:url}"}, .url = "{target|url|decode}"};
  IdOptions opaque{.name = "opaque", .patterns = {"{id:opaque 16+}", "{id:guid}"}, .key = "{id}"};
  r.urls = UrlRules({"utm_*", "gclid", "a=1"}, {"id", "q"}, {"id"}, {video, wrapper}, {opaque});
  Profile p;
  p.name = "generic";
  p.sources = {{"title", r.title}, {"to", people}, {"start", time}};
  p.compared = p.rejecting = ~FieldMask{0};
  p.ids = {{"file_id", IdRole::definitive}, {"site_id", IdRole::container}};
  p.rules = {{{r.text, 1}}, {{FieldMask{1} << r.title, 1}, {(FieldMask{1} << people) | (FieldMask{1} << time), 1}}};
  r.profiles = {p, p};
  r.of_type["event"] = 1;
  r.finish();
  return r;
}

const char* const pieces[] = {
    R"({"conversation":"c","system":"s","turns":[{"user":"u","iterations":[{"searches":[{"query":"q","latency":0.5,"results":[)",
    R"({"id":"turn0search1","url":"https://www.Example.com:443/%7Ea/?id=1&utm_x=2#!r","title":"T","snippet":"The quick brown fox jumps over the lazy dog and more ...","gain":3})",
    R"({"ids":{"file_id":7,"site_id":"s"},"type":"event","fields":{"to":["B <b@x>","a@x;c"],"start":"2026-03-02T10:00:00.5+02:00"},"aspects":{"x":2}})",
    R"({"content":"Stra\u00dfe \ud83d\ude42 \u3000 wide  spaces and enough characters to be a key of its own, surely"})",
    R"({"url":"http://m.example.com/x~12?u=https%3A%2F%2Fwww.example.com%2Fb%3Fu%3Dhttp%253A%252F%252Fx.org#in/box","title":"<em>A&amp;B</em> **c**","ids":{"x":"aB3dE6gH9jK2mN5p"}})",
    ",",
    "]}]}]}]}\n",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\u",
    "null",
    "1e999",
    "-0",
    "\xff\xfe",
    "\xe2\x80",
    "\n",
    "\"gain\":9",
    "turns"};

std::string seed(std::mt19937& random) {
  std::string text;
  for (size_t line = 1 + random() % 3; line--;) {
    text += pieces[0];
    for (size_t n = random() % 6; n--;) text.append(pieces[1 + random() % 4]).append(n ? "," : "");
    text += pieces[6];
  }
  return text;
}

void damage(std::string& text, std::mt19937& random) {
  for (size_t n = random() % 4; n-- && !text.empty();) {
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text.insert(at, pieces[random() % std::size(pieces)]); break;
      case 2: text.erase(at, random() % 8); break;
      default: text.resize(at);
    }
  }
}

/// Rows as bytes, or the message of the error.
std::string outcome(const std::string& text, const Rules& r, TraceOptions options, unsigned threads) {
  try {
    const TraceScores s = score_traces({{text, "fuzz"}}, r, nullptr, options, threads).front();
    return {reinterpret_cast<const char*>(s.rows.values.data()), s.rows.values.size() * sizeof(double)};
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 10;
  std::mt19937 random(17);
  const Rules both[] = {rules(Unit::document), rules(Unit::passage)};
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = seed(random);
    damage(text, random);
    TraceOptions options;
    options.skip_bad = random() % 2;
    options.turn = static_cast<int>(random() % 3) - 1;
    const Rules& r = both[random() % 2];
    if (outcome(text, r, options, 1) != outcome(text, r, options, 2)) {
      std::fprintf(stderr, "threads differ on: %s\n", text.c_str());
      return 1;
    }
  }
  std::printf("%zu damaged traces\n", runs);
}
