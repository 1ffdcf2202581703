// The keyword index.
#include "keywords.hpp"

#include <sstream>
#include <vector>

#include "targets.hpp"

namespace gg::fuzz {

void keywords(Bytes text) {
  const std::vector<std::string> documents = lines_of(text, 8);
  const std::vector<Bytes> views(documents.begin(), documents.end());
  const auto found_by = [&](unsigned threads) {
    KeywordIndex index({"the"}, {{'0', '9' + 1}, {'a', 'z' + 1}, {0xe0, 0x100}, {0x4e00, 0x4e80}});
    index.add(views, threads);
    index.finish({});
    std::ostringstream out;
    out.exceptions(std::ios::badbit);  // it would swallow failing allocations
    for (const KeywordHit& hit : index.search(index.words(), 5)) out << hit.doc << ' ' << hit.score << '\n';
    return out.str();
  };
  const std::string expected = found_by(1);
  if (is_one_of(text, 16) && found_by(2) != expected) differ("threads", text);
}

}  // namespace gg::fuzz
