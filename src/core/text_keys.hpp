// Texts, times and people in the form in which identity compares them.
#pragma once
#include <string>

#include "bytes.hpp"

namespace gg {

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

}  // namespace gg
