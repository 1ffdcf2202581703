// Whether two titles or texts can be those of one page: engines cut them, add the site's name, or choose a passage.
#pragma once
#include "bytes.hpp"

namespace gg {

/// Titles in normal form: equal, cut short, or equal but for the name of the site (host).
bool alike_titles(Bytes a, Bytes b, Bytes host);

/// Texts in normal form: equal, cut short, or with a passage in common.
bool alike_texts(Bytes a, Bytes b);

}  // namespace gg
