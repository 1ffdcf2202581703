// The normal form in which texts are compared, and texts without the markup of search engines.
#pragma once
#include <string>

#include "bytes.hpp"

namespace gg {

/// Appends the normal form of a text: composed (NFC), full Unicode case folding, plain quotes and dashes, without
/// invisible characters, white space collapsed and trimmed.
void append_normal_form(Bytes text, std::string& out);
std::string normal_form(Bytes text);

/// A text without HTML entities, highlights (<em>, <b>, <mark>, **) and line breaks (<br>, <p>). Returns the text
/// itself if it has none; otherwise `scratch` holds the result.
Bytes without_markup(Bytes text, std::string& scratch);

/// UTF-8 text in composed form (NFC); what is not UTF-8 stays as it is.
void compose(std::string& text);

/// Decodes entities such as &amp; and &#39; and appends the result.
void append_decoded_entities(Bytes text, std::string& out);

}  // namespace gg
