#include "label_index.hpp"

#include <cstdio>

#include "normal_form.hpp"

namespace gg {

namespace {

constexpr Bytes content_prefix = "text:";

}  // namespace

std::string content_name(const Result& result) {
  std::string text;
  const auto add = [&](Bytes name, Bytes value) {
    const std::string normal = normal_form(value);
    if (!normal.empty()) text.append(name).append("\x1f").append(normal).append("\x1e");
  };
  add("title", result.title);
  add("snippet", result.snippet);
  add("content", result.content);
  for (const auto& [name, value] : result.fields) add(name, value);
  if (text.empty()) return {};
  const uint64_t hash = hash_bytes(text), check = hash_bytes(text + "\x1d");
  char name[48];
  std::snprintf(name, sizeof name, "%.*s%016llx%016llx", static_cast<int>(content_prefix.size()), content_prefix.data(),
                static_cast<unsigned long long>(hash), static_cast<unsigned long long>(check));
  return name;
}

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
  by_content_ = false;
  if (!judged) return;
  for (const Bytes doc : judged->docs) by_content_ |= doc.starts_with(content_prefix);
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

LabelIndex::Match LabelIndex::find(const Result& result, bool returned) {
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
    if (returned) found_[group] = true;
    const uint32_t label = is_own ? static_cast<uint32_t>(own) : best_[group];
    const double gain = judged_->gains[label];
    match.ambiguous |= differs_[group] || (match.labelled && gain != match.gain);
    if (match.labelled && (exact || (!is_own && gain <= match.gain))) return;
    exact = is_own;
    match.labelled = true;
    match.gain = gain;
    match.name = judged_->docs[label];
    match.group = group;
  };
  look("id", result.id);
  for (const auto& [name, id] : result.ids) look(name, id);
  look("url", result.url);
  if (by_content_) look("", content_name(result));
  return match;
}

std::vector<LabelIndex::Missed> LabelIndex::missed() const {
  std::vector<Missed> missed;
  if (!judged_) return missed;
  for (uint32_t g = 0; g < best_.size(); ++g)
    if (!found_[g]) missed.push_back({g, judged_->docs[best_[g]], judged_->gains[best_[g]]});
  return missed;
}

}  // namespace gg
