// Identity of results: shared keys propose pairs, then a verdict follows from the strongest evidence down.
//
// The rules are data (profiles). Every decision is made here, for files, Python objects and the audit.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bytes.hpp"
#include "items.hpp"
#include "sequence.hpp"
#include "urls.hpp"

namespace gg {

/// A result as returned; the parser owns the bytes.
struct Result {
  Bytes id, type, url, title, snippet, content;
  std::vector<std::pair<Bytes, Bytes>> ids, fields;
  std::vector<std::pair<Bytes, double>> aspects;
  double gain = 0;
  bool labelled = false;
};

enum class FieldKind : uint8_t { text, id, people, time };
enum class IdRole : uint8_t { definitive, container, hint };
enum class Unit { document, passage };

using FieldMask = uint64_t;

/// At least `count` of some fields must agree.
struct Requirement {
  FieldMask fields;
  int count;
};

/// The rules for one type of result. Fields are numbered across all profiles (`Rules::fields`).
struct Profile {
  std::string name;
  std::unordered_map<std::string, uint32_t> sources;  // name of a value in a result -> field
  FieldMask compared = 0, rejecting = 0;
  std::unordered_map<std::string, IdRole> ids;
  std::vector<std::vector<Requirement>> rules;  // one of these must hold, with all of its requirements
  std::vector<std::vector<uint32_t>> key_sets;  // sets of fields that only jointly form a key
};

struct Field {
  std::string name;
  FieldKind kind = FieldKind::text;
  bool may_be_cut = false;     // a source may truncate it
  bool distinguishes = false;  // even results with one URL: people and times
};

struct Rules {
  static constexpr size_t most_fields = 64;
  static constexpr uint32_t no_field = 0xffffffffu;

  std::vector<Field> fields;
  std::vector<Profile> profiles;                        // the first is generic
  std::unordered_map<std::string, uint32_t> of_type;    // type name -> profile
  std::unordered_map<std::string, uint32_t> id_fields;  // container ids that rules may refer to
  std::unordered_map<std::string, IdRole> usual_roles;  // for ids that a profile does not name
  UrlRules urls;
  Unit unit = Unit::document;
  uint32_t title = 0, snippet = 0, content = 0, generic_id = 0, url = 0;
  FieldMask text = 0;  // snippet and content

  /// The number of a field; a new field is added.
  uint32_t field(const std::string& name, FieldKind kind, bool may_be_cut);
  /// Computes the key sets; call once all profiles have been added.
  void finish();
  std::string names(FieldMask mask) const;
};

enum class Outcome : uint8_t { duplicate, different, undecided };

/// The outcome, the step that decided it, and the fields it rests on.
struct Verdict {
  Outcome outcome = Outcome::undecided;
  int step = 3;
  FieldMask agree = 0, cut = 0, differ = 0;
  std::string evidence = {};  // ids or URL components; only filled in for an audit
  std::string rule = {};      // the aliases or the profile behind it; only filled in for an audit
};

/// A key that proposes pairs, with its kind as named in an audit.
struct Key {
  uint64_t hash;
  const char* kind;
  bool is_name = false;  // of an id or a page, which results with one signature share
};

/// One decision in an audit.
struct Decision {
  uint32_t result, other;
  std::string key;
  Verdict verdict;
  bool merged;
  bool contradicted = false;  // verified, but differs from the first result of the other's cluster
};

/// Results by key: a chain per key, in order of arrival.
class KeyIndex {
 public:
  static constexpr uint32_t none = 0xffffffffu;
  struct Chain {
    uint64_t key = 0;
    uint32_t last = none, size = 0;  // of a single item the item itself, otherwise its link
  };

  const Chain* find(uint64_t key) const;
  void add(uint64_t key, uint32_t item);
  void clear();
  /// Calls `work(item)` in order of arrival, as long as it returns true.
  template <typename Work>
  void each(const Chain& chain, Work work) const {
    if (chain.size == 1) return work(chain.last), void();
    uint32_t link = chain.last;
    for (uint32_t n = 0; n < chain.size; ++n) {
      link = links_[link].next;
      if (!work(links_[link].item)) return;
    }
  }

 private:
  struct Link {
    uint32_t item = 0, next = 0;  // the last is followed by the first
  };

  /// A byte of the key, never 0: what does not match is not looked at.
  static uint8_t tag(uint64_t key) { return static_cast<uint8_t>(key >> 56 | 1); }
  size_t place(uint64_t key) const {
    const size_t mask = tags_.size() - 1;
    size_t i = key & mask;
    while (tags_[i] && (tags_[i] != tag(key) || chains_[slots_[i]].key != key)) i = (i + 1) & mask;
    return i;
  }
  void grow();

  // A chain takes the same for any number of them; only the slots, which are small, are ever copied.
  Blocks<Chain> chains_;
  Blocks<Link> links_;
  std::vector<uint8_t> tags_;  // 0 if the slot is free
  std::vector<uint32_t> slots_;
};

/// Clusters the results of one conversation in order of arrival.
class Clusters {
 public:
  explicit Clusters(const Rules& rules) : rules_(rules) {}

  /// The cluster of the next result: the number of the first identical result.
  uint32_t add(const Result& result);
  static constexpr uint32_t none = 0xffffffffu;
  /// The cluster that a result would join, or none; it is not added.
  uint32_t find(const Item& item);
  void clear();
  void keep_audit(bool keep) { audited_ = keep; }

  const std::vector<Decision>& decisions() const { return decisions_; }
  uint64_t left_out() const { return left_out_; }  // candidates beyond the budget per result

  /// The number of results, and the first that is identical to one of them.
  size_t size() const { return cluster_.size(); }
  uint32_t first(size_t number) const { return cluster_[number]; }

  /// Valid until the next `clear`.
  Item prepare(const Result& result);
  Verdict verify(const Item& a, const Item& b, bool explain) const;
  std::vector<Key> keys(const Item& item) const;

 private:
  void prepare(const Result& result, Arena& texts, Item& item);
  Bytes keep_normal(Bytes text, Arena& texts);
  Bytes keep_text(Bytes text, Arena& texts);          // without markup
  std::vector<Key> all_keys(const Item& item) const;  // the last is its signature
  void index(const std::vector<Key>& keys, uint32_t number);
  bool compare_ids(const Item& a, const Item& b, const Profile& profile, Verdict& verdict, bool& comparable, bool& hint,
                   bool explain) const;
  bool compare_urls(const Item& a, const Item& b, const Profile& profile, Verdict& verdict, bool& equal,
                    bool explain) const;
  enum class Relation { equal, cut, different, unclear };
  Relation relate(const Item& a, const Item::Value& x, const Item& b, const Item::Value& y) const;
  /// The fields by which two results with equal URLs are different pages nevertheless.
  FieldMask contradiction(const Item& a, const Item& b, const Profile& profile) const;
  Verdict compared(const Item& a, const Item& b, const Profile& profile, bool explain) const;
  bool rules_met(const Profile& profile, FieldMask agree, FieldMask cut) const;
  void propose(const std::vector<Key>& keys);

  // At most this many comparisons per result, so that time stays linear however many results share a key.
  static constexpr size_t budget = 64;

  const Rules& rules_;
  Arena prepared_;  // texts of items that are not added
  Arena texts_;     // of the item that is being added
  std::string scratch_, markup_;
  Items items_;
  Item item_, other_, first_;  // the one that is being added, and those that it is compared with
  std::deque<UrlDetails> details_;
  Blocks<uint32_t> cluster_;
  KeyIndex index_;
  std::vector<std::pair<uint32_t, uint32_t>> by_size_;
  struct Proposal {
    uint32_t item;
    uint32_t key;
  };
  std::vector<Proposal> proposals_;
  std::vector<Decision> decisions_;
  uint64_t left_out_ = 0;
  bool audited_ = false;
};

const char* outcome_name(Outcome outcome);

}  // namespace gg
