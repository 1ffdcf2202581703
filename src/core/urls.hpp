// URLs reduced to what identifies a page, by rules that are data: parameters, and aliases of well-known sites.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "patterns.hpp"

namespace gg {

/// Lets maps of strings be searched by a view.
struct BytesHash {
  using is_transparent = void;
  size_t operator()(Bytes text) const { return static_cast<size_t>(hash_bytes(text)); }
};

/// Names of URL parameters: `name`, `prefix*` or `name=value`. Case does not count.
class ParameterSet {
 public:
  ParameterSet() = default;
  explicit ParameterSet(const std::vector<std::string>& entries);
  bool has(Bytes name, Bytes value) const;
  bool empty() const { return exact_.empty() && prefixes_.empty(); }

 private:
  std::unordered_set<std::string, BytesHash, std::equal_to<>> exact_;
  std::vector<std::string> prefixes_;
};

/// How sure an alias is: `certain` and `likely` URLs are those of one page unless title or text contradict;
/// for `possible` ones the text decides.
enum class Certainty : uint8_t { certain, likely, possible };

/// An alias as its file has it.
struct AliasOptions {
  std::string name;
  std::vector<std::string> hosts, paths;
  std::string key, url, host, path;  // what replaces the URL, or its host and path
  std::string variant;               // what distinguishes forms that are not certainly the same page
  std::vector<std::string> keep, ignore, select;
  bool any_case = false;       // the path's case does not count
  bool drop_fragment = false;  // fragments are only positions in the page
  Certainty certainty = Certainty::certain;
};

/// Rules for the ids of results: which of them respect case, and which forms of them are equal.
struct IdOptions {
  std::string name;
  std::vector<std::string> fields;    // names of ids that the rule is for; all if empty
  std::vector<std::string> patterns;  // of the ids' values
  std::string key;                    // what is compared instead
};

/// A URL reduced for comparison: no scheme (http equals https), www., default port, position or trailing slash.
struct ReducedUrl {
  struct Parameter {
    std::string name, value;
    bool selects = false;
    auto operator<=>(const Parameter&) const = default;
  };
  std::string page;                   // host|path, or the key of an alias
  std::vector<Parameter> parameters;  // the relevant ones, sorted
  uint64_t form = 0;                  // differs for forms that are only likely the same page
  std::vector<uint16_t> aliases;      // that were applied

  /// Both in one text, equal if and only if page and parameters are.
  std::string key() const;
};

class UrlRules {
 public:
  UrlRules() = default;
  UrlRules(const std::vector<std::string>& ignore, const std::vector<std::string>& select,
           const std::vector<std::string>& fragment_select, const std::vector<AliasOptions>& aliases,
           const std::vector<IdOptions>& ids);

  ReducedUrl reduce(Bytes url) const;
  /// "youtube, mobile"
  std::string names(const std::vector<uint16_t>& aliases) const;
  /// The form in which an id is compared.
  std::string id_form(Bytes field, Bytes id) const;

 private:
  struct Form {
    Pattern path;
    bool has_path = false, has_fragment = false;
    std::vector<std::pair<std::string, Pattern>> parameters;
    Pattern fragment;
  };
  struct Alias {
    std::string name;
    Slots slots;
    std::vector<Pattern> hosts;  // empty for any
    std::vector<Form> forms;     // empty for any
    Template key, url, host, path, variant;
    ParameterSet keep, ignore, select;
    bool any_case, drop_fragment;
    Certainty certainty;
  };
  struct IdRule {
    std::vector<std::string> fields;
    std::vector<Pattern> patterns;
    Slots slots;
    Template key;
  };
  struct Parts;
  using Index = std::unordered_map<std::string, std::vector<uint16_t>, BytesHash, std::equal_to<>>;

  /// The form of an id that a rule knows.
  bool match_id(Bytes field, Bytes id, std::string& form) const;
  Alias compile(const AliasOptions& options) const;
  Form compile_form(Bytes text, Slots& slots) const;
  void index(const Alias& alias, uint16_t number);
  std::vector<uint16_t> candidates(const Parts& url) const;
  bool matches(const Alias& alias, const Parts& url, Captures& captures, int& steps) const;
  /// Applies the first alias that matches; says whether another may apply to the result.
  bool apply_aliases(Parts& url, std::string& next, int& steps, ReducedUrl& reduced) const;
  void finish(Parts& url, ReducedUrl& reduced) const;

  ParameterSet ignore_, select_, fragment_select_;
  std::vector<Alias> aliases_;
  std::vector<IdRule> ids_;
  Index by_host_, by_label_, by_segment_, by_parameter_;
};

bool is_url(Bytes text);  // http:// or https://

}  // namespace gg
