// How a target says that two ways disagree, and which inputs are compared in slow ways, too.
#include <cstdio>
#include <cstdlib>

#include "targets.hpp"

namespace gg::fuzz {

void differ(const char* what, Bytes input) {
  std::fprintf(stderr, "%s differ on: %.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

bool is_one_of(Bytes input, size_t every) {
  uint64_t sum = 1469598103934665603ULL;  // FNV-1a: the same in every process, unlike the core's hash
  for (const char c : input) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (sum >> 32) % every == 0;
}

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

}  // namespace gg::fuzz
