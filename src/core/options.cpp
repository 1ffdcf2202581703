#include "options.hpp"

#include <algorithm>

#include "python_values.hpp"

namespace gg {

namespace {

/// The number of letters inserted, deleted, replaced or swapped with a neighbour.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string joined(const OptionNames& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string suggestion(std::string_view name, const OptionNames& known) {
  std::string_view nearest;
  size_t least = name.size() / 3 + 1;  // more edits than this suggest another word
  for (const std::string_view candidate : known)
    if (const size_t edits = edit_distance(name, candidate); edits <= least && (nearest.empty() || edits < least)) {
      nearest = candidate;
      least = edits;
    }
  return nearest.empty() ? "one of: " + joined(known) : "did you mean " + in_quotes(nearest) + "?";
}

void unknown_option(std::string_view name, const OptionNames& known, const OptionOwner& owner) {
  throw Error(owner.kind, "unknown option " + in_quotes(name) + " for " + owner.name, {}, suggestion(name, known));
}

void missing_option(std::string_view name, const OptionOwner& owner) {
  throw Error(owner.kind, "missing option " + in_quotes(name) + " for " + owner.name);
}

void invalid_option(std::string_view name, nb::handle value, const std::string& expected, const OptionOwner& owner) {
  throw Error(owner.kind, "invalid " + std::string(name) + "=" + python_repr(value) + " for " + owner.name, {},
              expected);
}

std::string_view option_name(nb::handle key) {
  Py_ssize_t size;
  const char* text = PyUnicode_Check(key.ptr()) ? PyUnicode_AsUTF8AndSize(key.ptr(), &size) : nullptr;
  if (text) return {text, static_cast<size_t>(size)};
  PyErr_Clear();
  throw Error(ErrorKind::usage, "option names must be text, got " + python_repr(key));
}

}  // namespace gg
