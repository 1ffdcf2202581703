// URLs and ids, and the patterns of the rules that reduce them.
#include <vector>

#include "error.hpp"
#include "label_index.hpp"
#include "targets.hpp"

namespace gg::fuzz {

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

}  // namespace gg::fuzz
