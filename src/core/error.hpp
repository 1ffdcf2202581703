// The one exception the core throws: what a person sees as one sentence, a place and a hint.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace gg {

enum class ErrorKind { input, usage, measure };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::string where = {}, std::string hint = {})
      : std::runtime_error(message), kind(kind), where(std::move(where)), hint(std::move(hint)) {}

  ErrorKind kind;
  std::string where;
  std::string hint;
};

/// Bad data: `where` is "file:line" or empty.
[[noreturn]] inline void bad_input(std::string message, std::string where = {}, std::string hint = {}) {
  throw Error(ErrorKind::input, std::move(message), std::move(where), std::move(hint));
}

/// A value as it is shown in a message: quoted, and cut when it is long.
inline std::string in_quotes(std::string_view text) {
  constexpr size_t longest = 80;
  std::string shown(text.substr(0, longest));
  while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80 && text.size() > longest)
    shown.pop_back();  // never cut inside a UTF-8 sequence
  return "'" + shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace gg
