// Citations in the text of an answer: links, markers such as [2] or 【d7】, and URLs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace gg {

struct TextCitation {
  std::string url, marker;  // at least one of them
};

/// The citations of an answer, each once. In brackets are markers: short numbers, what looks like an id, and whatever
/// `names` says is one. A marker has the URL that a list of references in the same text gives for it.
std::vector<TextCitation> text_citations(Bytes text, const std::function<bool(Bytes)>& names);

/// What a marker names: 7 for [7], [^7] and 【7†source】.
std::string marker_name(Bytes marker);

/// The text after a word such as "doc" or "source:"; empty if it does not begin with one.
Bytes without_prefix(Bytes text);

/// Whether a name is a short number, which may be a place in a list rather than an id.
bool is_ordinal(Bytes name);

}  // namespace gg
