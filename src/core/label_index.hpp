// Outside labels found by the identity of a result: its id, any of its other ids, or its URL in any form.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "identity.hpp"
#include "qrels.hpp"

namespace gg {

/// The forms in which the name of a label is looked up: a reduced URL, or an id as ids are compared; both for
/// example.com/a, which may be either.
std::vector<std::string> label_keys(Bytes name, const UrlRules& rules);

/// The name of a result by its text, for results that no id or URL names; empty if it has none.
std::string content_name(const Result& result);

/// The labels of one conversation. Labels whose names have one key are one piece of evidence.
class LabelIndex {
 public:
  explicit LabelIndex(const UrlRules& rules) : rules_(rules) {}

  /// Switches to the labels of a conversation, or to none.
  void use(const QueryJudgments* judged);

  struct Match {
    bool labelled = false;
    double gain = 0;
    Bytes name;              // of the label
    bool ambiguous = false;  // labels with other gains match too
    uint32_t group = none;   // the piece of evidence
  };
  static constexpr uint32_t none = 0xffffffffu;
  /// The label of a result: that of exactly its id, other id or URL, otherwise the highest of those that match.
  /// If it was returned, all of them are known to be returned from now on.
  Match find(const Result& result, bool returned = true);

  /// A piece of evidence that no result has matched, with the highest of its labels.
  struct Missed {
    uint32_t group;
    Bytes name;
    double gain;
  };
  std::vector<Missed> missed() const;

 private:
  uint32_t group(Bytes name) const;

  const UrlRules& rules_;
  const QueryJudgments* judged_ = nullptr;
  bool by_content_ = false;  // some labels name results by their text
  std::unordered_map<std::string, uint32_t> groups_;
  std::vector<uint32_t> of_label_;     // the group of each label
  std::vector<uint32_t> best_;         // per group: the label with the highest gain
  std::vector<bool> differs_, found_;  // per group: whether gains differ, whether it was returned
};

}  // namespace gg
