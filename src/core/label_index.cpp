#include "label_index.hpp"

namespace gg {

std::vector<std::string> label_keys(Bytes name, const UrlRules& rules) {
  std::vector<std::string> keys{rules.id_form({}, name)};
  const size_t slash = name.find('/');
  if (slash != Bytes::npos && name.substr(0, slash).find('.') != Bytes::npos && !is_url(name))
    keys.push_back(rules.reduce(name).key());
  return keys;
}

void LabelIndex::use(const QueryJudgments* judged) {
  judged_ = judged;
  groups_.clear();
  of_label_.clear();
  best_.clear();
  differs_.clear();
  if (!judged) return;
  for (uint32_t d = 0; d < judged->docs.size(); ++d) {
    auto keys = label_keys(judged->docs[d], rules_);
    auto group = none;
    for (const std::string& key : keys)
      if (const auto known = groups_.find(key); known != groups_.end()) group = known->second;
    const bool is_new = group == none;
    if (is_new) group = static_cast<uint32_t>(best_.size());
    for (std::string& key : keys) groups_.try_emplace(std::move(key), group);
    of_label_.push_back(group);
    if (is_new) {
      best_.push_back(d);
      differs_.push_back(false);
      continue;
    }
    uint32_t& best = best_[group];
    if (judged->gains[d] != judged->gains[best]) differs_[group] = true;
    if (judged->gains[d] > judged->gains[best]) best = d;
  }
  found_.assign(best_.size(), false);
}

LabelIndex::Match LabelIndex::find(const Result& result) {
  Match match;
  if (!judged_) return match;
  bool exact = false;
  const auto look = [&](Bytes field, Bytes name) {
    if (name.empty() || is_citation_marker(name)) return;
    const int32_t own = judged_->find(name, hash_bytes(name));
    const bool is_own = own != QueryJudgments::unjudged;
    uint32_t group = none;
    if (is_own) {
      group = of_label_[static_cast<size_t>(own)];
    } else {
      const bool web = field == "url";
      const auto known = groups_.find(web ? rules_.reduce(name).key() : rules_.id_form(field, name));
      if (known == groups_.end()) return;
      group = known->second;
    }
    found_[group] = true;
    const uint32_t label = is_own ? static_cast<uint32_t>(own) : best_[group];
    const double gain = judged_->gains[label];
    match.ambiguous |= differs_[group] || (match.labelled && gain != match.gain);
    if (match.labelled && (exact || (!is_own && gain <= match.gain))) return;
    exact = is_own;
    match.labelled = true;
    match.gain = gain;
    match.name = judged_->docs[label];
  };
  look("id", result.id);
  for (const auto& [name, id] : result.ids) look(name, id);
  look("url", result.url);
  return match;
}

std::vector<double> LabelIndex::missed() const {
  std::vector<double> gains;
  for (size_t g = 0; g < best_.size(); ++g)
    if (!found_[g]) gains.push_back(judged_->gains[best_[g]]);
  return gains;
}

}  // namespace gg
