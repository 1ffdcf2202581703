// Identity: URLs, the patterns of rules, texts, results, and the keyword index.
#include <sstream>
#include <vector>

#include "error.hpp"
#include "keywords.hpp"
#include "label_index.hpp"
#include "likeness.hpp"
#include "normal_form.hpp"
#include "simdjson.h"
#include "targets.hpp"
#include "text_citations.hpp"
#include "traces.hpp"

namespace gg::fuzz {

namespace {

std::vector<std::string> lines_of(Bytes text, size_t most) {
  std::vector<std::string> lines;
  while (lines.size() + 1 < most) {
    const size_t feed = text.find('\n');
    if (feed == Bytes::npos) break;
    lines.emplace_back(text.substr(0, feed));
    text.remove_prefix(feed + 1);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace

void urls(Bytes text) {
  const UrlRules& rules = some_rules(false).urls;
  const ReducedUrl reduced = rules.reduce(text), again = rules.reduce(std::string(text));
  if (reduced.key() != again.key() || reduced.form != again.form || reduced.aliases != again.aliases)
    differ("URLs", text);
  if (rules.id_form("id", text) != rules.id_form("id", std::string(text))) differ("ids", text);
  label_keys(text, rules);
  is_url(text);
}

void patterns(Bytes text) {
  std::vector<std::string> lines = lines_of(text, 4);
  lines.resize(4);
  try {
    Slots slots;
    const Pattern pattern(lines[0], '/', slots);
    const Template form(lines[1], slots);
    Captures captures(slots.size());
    int steps = 20'000;
    const bool matches = pattern.match(lines[3], captures, steps);
    if (matches) form.fill(captures);
    if (matches && !lines[3].starts_with(pattern.head())) differ("pattern and its head", text);
    if (matches && !lines[3].ends_with(pattern.tail())) differ("pattern and its tail", text);
    for (const std::string& segment : pattern.literal_segments('/'))
      if (matches && lines[3].find(segment) == std::string::npos) differ("pattern and its segments", text);
  } catch (const Error&) {
  }
  try {
    const AliasOptions alias{.name = "a", .hosts = {lines[2]}, .paths = {lines[0]}, .key = lines[1]};
    const IdOptions id{.name = "i", .fields = {}, .patterns = {lines[0]}, .key = lines[1]};
    const UrlRules rules({lines[2]}, {lines[2]}, {}, {alias}, {id});
    rules.reduce(lines[3]).key();
    rules.id_form("id", lines[3]);
  } catch (const Error&) {
  }
}

void texts(Bytes text) {
  std::string scratch, composed(text);
  const std::string normal = normal_form(text), people = normal_people(text);
  compose(composed);
  // Bytes that are no UTF-8 stay as they are, and may become text when something between them goes.
  if (simdjson::validate_utf8(text.data(), text.size())) {
    if (normal_form(normal) != normal) differ("normal forms", text);
    if (normal_people(people) != people) differ("people", text);
    std::string twice = composed;
    compose(twice);
    if (twice != composed) differ("composed forms", text);
  }
  without_markup(text, scratch);
  text_citations(text, [](Bytes name) { return name == "name"; });
  marker_name(text);
  without_prefix(text);
  is_citation_marker(text);
  parse_moment(text);
  const Bytes half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  if (!alike_titles(normal, normal, "example.com") || !alike_texts(normal, normal)) differ("a text and itself", text);
  alike_titles(half, rest, "example.com");
  if (alike_texts(half, rest) != alike_texts(rest, half)) differ("likeness in both directions", text);
}

void results(Bytes text) {
  static TraceParser parser(4);
  for (const bool passages : {false, true}) {
    const Rules& rules = some_rules(passages);
    try {
      const std::vector<Result>& list = parser.parse_results(text);
      Clusters clusters(rules), audited(rules);
      audited.keep_audit(true);
      LabelIndex labels(rules.urls);
      labels.use(&(*some_judgments())[0]);
      for (size_t i = 0; i < list.size() && i < 40; ++i) {
        const uint32_t cluster = clusters.add(list[i]);
        if (cluster > i) differ("a cluster and its first result", text);
        if (audited.add(list[i]) != cluster) differ("clusters with and without an audit", text);
        labels.find(list[i]);
        content_name(list[i]);
      }
      for (size_t i = 0; i < list.size() && i < 6; ++i)
        for (size_t k = 0; k < i; ++k) {
          const Item a = clusters.prepare(list[i]), b = clusters.prepare(list[k]);
          if (clusters.verify(a, b, false).outcome != clusters.verify(b, a, true).outcome)
            differ("verdicts in both directions", text);
        }
    } catch (const Error&) {
    }
  }
}

void keywords(Bytes text) {
  const std::vector<std::string> documents = lines_of(text, 8);
  const std::vector<Bytes> views(documents.begin(), documents.end());
  const auto found_by = [&](unsigned threads) {
    KeywordIndex index({"the"}, {{'0', '9' + 1}, {'a', 'z' + 1}, {0xe0, 0x100}, {0x4e00, 0xa000}});
    index.add(views, threads);
    index.finish({});
    std::ostringstream out;
    for (const KeywordHit& hit : index.search(index.words(), 5)) out << hit.doc << ' ' << hit.score << '\n';
    return out.str();
  };
  const std::string expected = found_by(1);
  if (is_one_of(text, 16) && found_by(2) != expected) differ("threads", text);
}

}  // namespace gg::fuzz
