// Texts: normal forms, markup, citations, times, people.
#include "likeness.hpp"
#include "normal_form.hpp"
#include "simdjson.h"
#include "targets.hpp"
#include "text_citations.hpp"

namespace gg::fuzz {

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

}  // namespace gg::fuzz
