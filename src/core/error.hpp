// The only exception of the core: a one-sentence message, a place and a hint.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace gg {

enum class ErrorKind { input, duplicate, disjoint, usage, measure };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::string where = {}, std::string hint = {})
      : std::runtime_error(message), kind(kind), where(std::move(where)), hint(std::move(hint)) {}

  ErrorKind kind;
  std::string where;
  std::string hint;
};

/// Invalid data: `where` is "file:line" or empty.
[[noreturn]] inline void bad_input(std::string message, std::string where = {}, std::string hint = {}) {
  throw Error(ErrorKind::input, std::move(message), std::move(where), std::move(hint));
}

/// The same document twice for one query.
[[noreturn]] inline void duplicate_input(std::string message, std::string where, std::string hint) {
  throw Error(ErrorKind::duplicate, std::move(message), std::move(where), std::move(hint));
}

/// A value as messages show it: quoted, and shortened when it is long.
inline std::string in_quotes(std::string_view text) {
  constexpr size_t longest = 80;
  std::string head(text.substr(0, longest));
  while (!head.empty() && (static_cast<unsigned char>(head.back()) & 0xC0) == 0x80 && text.size() > longest)
    head.pop_back();  // never cut inside a UTF-8 sequence
  // A message ends at its first zero byte.
  for (size_t zero; (zero = head.find('\0')) != std::string::npos;) head.replace(zero, 1, "\\x00");
  return "'" + head + (text.size() > longest ? "...'" : "'");
}

}  // namespace gg
