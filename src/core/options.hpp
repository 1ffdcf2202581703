// Options that come from Python as a dictionary. A table lists the names a reader knows; any other name is an error.
#pragma once
#include <nanobind/nanobind.h>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "error.hpp"

namespace gg {

namespace nb = nanobind;

/// What the options belong to, as errors name it: "kernel 'ndcg'".
struct OptionOwner {
  std::string name;
  ErrorKind kind = ErrorKind::usage;
};

using OptionNames = std::vector<std::string_view>;

/// "did you mean 'exp_gain'?", or all names where none is close.
std::string suggestion(std::string_view name, const OptionNames& known);

[[noreturn]] void unknown_option(std::string_view name, const OptionNames& known, const OptionOwner& owner);
[[noreturn]] void missing_option(std::string_view name, const OptionOwner& owner);
[[noreturn]] void invalid_option(std::string_view name, nb::handle value, const std::string& expected,
                                 const OptionOwner& owner);

/// The UTF-8 bytes of a key, which must be text.
std::string_view option_name(nb::handle key);

/// "a, b, c"
std::string joined(const OptionNames& names);

template <class Target>
struct Option {
  std::string_view name;
  std::function<void(Target&, nb::handle)> set;  // throws nb::cast_error for an invalid value
  std::string expected;                          // the hint for an invalid value
  bool is_required = false;

  Option required() && {
    is_required = true;
    return std::move(*this);
  }
};

/// All options of one reader: names and the fields that they set.
template <class Target>
class OptionTable {
 public:
  OptionTable(std::initializer_list<Option<Target>> options) : options_(options) {}

  /// Adds the options of a table for one member of the target.
  template <class Part>
  OptionTable with(Part Target::* member, const OptionTable<Part>& table) && {
    for (const Option<Part>& option : table.options())
      options_.push_back({option.name,
                          [set = option.set, member](Target& target, nb::handle value) { set(target.*member, value); },
                          option.expected, option.is_required});
    return std::move(*this);
  }

  /// Adds the options of a table for the same target.
  OptionTable with(const OptionTable& table) && {
    options_.insert(options_.end(), table.options_.begin(), table.options_.end());
    return std::move(*this);
  }

  /// `owner()` is called only for an error.
  template <std::invocable Owner>
  Target read(const nb::dict& values, Owner&& owner) const {
    Target target{};
    std::vector<bool> present(options_.size());
    for (const auto& [key, value] : values) {
      const size_t i = find(key, owner);
      present[i] = true;
      try {
        options_[i].set(target, value);
      } catch (const nb::cast_error&) {
        invalid_option(options_[i].name, value, options_[i].expected, owner());
      }
    }
    for (size_t i = 0; i < options_.size(); ++i)
      if (options_[i].is_required && !present[i]) missing_option(options_[i].name, owner());
    return target;
  }

  Target read(const nb::dict& values, const char* owner) const {
    return read(values, [owner] { return OptionOwner{owner}; });
  }

  OptionNames names() const {
    OptionNames all;
    for (const Option<Target>& option : options_) all.push_back(option.name);
    return all;
  }

  const std::vector<Option<Target>>& options() const { return options_; }

 private:
  template <class Owner>
  size_t find(nb::handle key, Owner&& owner) const {
    const std::string_view name = option_name(key);
    for (size_t i = 0; i < options_.size(); ++i)
      if (options_[i].name == name) return i;
    unknown_option(name, names(), owner());
  }

  std::vector<Option<Target>> options_;
};

// --- kinds of options ---

template <class T>
std::string expected_value() {
  if constexpr (std::is_same_v<T, bool>) return "expected True or False";
  else if constexpr (std::is_same_v<T, char>) return "expected one character";
  else if constexpr (std::is_unsigned_v<T>) return "expected a non-negative integer";
  else if constexpr (std::is_integral_v<T>) return "expected an integer";
  else if constexpr (std::is_floating_point_v<T>) return "expected a number";
  else if constexpr (std::is_same_v<T, std::string>) return "expected text";
  else return "expected a list";
}

/// Sets a member to the value itself.
template <class Target, class T>
Option<Target> field(std::string_view name, T Target::* member) {
  return {name, [member](Target& target, nb::handle value) { target.*member = nb::cast<T>(value); },
          expected_value<T>()};
}

template <class T>
using Choices = std::vector<std::pair<std::string_view, T>>;

/// The value that a name stands for; nb::cast_error where there is none.
template <class T>
const T& chosen(nb::handle value, const Choices<T>& choices) {
  const auto text = nb::cast<std::string>(value);
  for (const auto& [name, meaning] : choices)
    if (text == name) return meaning;
  throw nb::cast_error();
}

template <class T>
std::string expected_choice(const Choices<T>& choices) {
  OptionNames names;
  for (const auto& [name, meaning] : choices) names.push_back(name);
  return "one of: " + joined(names);
}

/// Sets a member to one of several named values.
template <class Target, class T>
Option<Target> choice(std::string_view name, T Target::* member, Choices<T> choices) {
  std::string expected = expected_choice(choices);
  return {name,
          [member, choices = std::move(choices)](Target& target, nb::handle value) {
            target.*member = chosen(value, choices);
          },
          std::move(expected)};
}

}  // namespace gg
