// Texts and URLs in the form in which identity compares them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"

namespace gg {

/// Appends the normal form of a text: full Unicode case folding, white space collapsed and trimmed.
void append_normal_form(Bytes text, std::string& out);
std::string normal_form(Bytes text);

/// The first characters (not bytes) of UTF-8 text.
Bytes first_characters(Bytes text, size_t count);
bool has_characters(Bytes text, size_t count);  // at least that many

/// A text without trailing "...", "…" and spaces, which mark truncation.
Bytes without_ellipsis(Bytes text);

/// An ISO 8601 date or time; a time without a zone is UTC.
struct Moment {
  bool known = false;
  bool has_time = false;
  int64_t day = 0;
  double second = 0;  // of the day
};
Moment parse_moment(Bytes text);

/// "Ann <ann@x.org>; bob@x.org" as a sorted list of addresses in normal form.
std::string normal_people(Bytes text);

/// Whether an id is only a citation marker, such as turn1search3.
bool is_citation_marker(Bytes id);

/// Which URL parameters are irrelevant to the content, and which select it.
struct UrlRules {
  std::vector<std::string> ignored_prefixes, ignored, selectors;

  bool ignores(Bytes name) const;
  bool selects(Bytes name) const;
};

/// A URL reduced for comparison: no scheme (http equals https), www., default port, fragment or trailing slash.
struct ReducedUrl {
  std::string page;                                             // host|path
  std::vector<std::pair<std::string, std::string>> parameters;  // the relevant ones, sorted
};
ReducedUrl reduce_url(Bytes url, const UrlRules& rules);

}  // namespace gg
