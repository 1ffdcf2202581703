// The patterns of the alias rules: literal text, captures and optional groups. See docs/identity.md.
#pragma once
#include <bitset>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace gg {

/// The names of captures of one rule, numbered.
class Slots {
 public:
  int add(Bytes name);
  int find(Bytes name) const;  // -1 if there is none
  size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

/// What captures hold, by number; the bytes belong to the matched text.
using Captures = std::vector<Bytes>;

/// A compiled pattern: `/abs/{id:number}[v{:digits}]`.
///
/// {name} is one segment, {name:class} a run of a class, {name:class 11}, {name:class 4+} and {name:class 4-9} of a
/// length, {name=a|b} or {a|b} one of several texts, [...] optional. Without a name nothing is captured.
class Pattern {
 public:
  Pattern() = default;
  /// `separator` ends a segment: '/' in paths, '.' in hosts.
  Pattern(Bytes text, char separator, Slots& slots);

  /// Whether the whole text matches. `steps` bounds the work: without any left nothing matches.
  bool match(Bytes text, Captures& captures, int& steps) const;

  /// Whether it is one literal text.
  bool is_literal() const { return nodes_.size() == 1 && nodes_[0].kind == Kind::literal; }
  /// The literal texts that every match begins and ends with; empty if there are none.
  Bytes head() const;
  Bytes tail() const;
  /// The literal segments that every match contains, between separators.
  std::vector<std::string> literal_segments(char separator) const;

 private:
  enum class Kind { literal, choice, run, optional };
  enum class Check { none, opaque, url, guid, salesforce };
  struct Node {
    Kind kind;
    std::string text = {};
    std::vector<std::string> choices = {};
    int slot = -1;
    std::bitset<256> set = {};
    size_t least = 1, most = Bytes::npos;
    Check check = Check::none;
    size_t end = 0;  // of an optional group
  };
  void compile(Bytes text, size_t& at, char separator, Slots& slots, bool inside);
  void capture(Bytes inside, char separator, Slots& slots);
  bool run(size_t node, Bytes text, size_t at, Captures& captures, int& steps) const;
  static bool passes(Check check, Bytes text);

  std::vector<Node> nodes_;
};

/// Text with captures: `doi:{doi|lower}`. Filters apply from left to right.
class Template {
 public:
  Template() = default;
  Template(Bytes text, const Slots& slots);
  bool empty() const { return pieces_.empty(); }
  std::string fill(const Captures& captures) const;

 private:
  struct Piece {
    std::string text;
    int slot = -1;
    std::vector<void (*)(std::string&)> filters = {};
  };
  std::vector<Piece> pieces_;
};

std::string lower_ascii(Bytes text);
/// Every %XX as the byte it stands for.
std::string percent_decoded(Bytes text);
int hex_value(char c);
/// Whether this is a random-looking id whose case matters, such as base64: mixed case and digits, no words.
bool is_opaque(Bytes id);

}  // namespace gg
