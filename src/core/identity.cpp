#include "identity.hpp"

#include <algorithm>
#include <bit>

#include "error.hpp"
#include "likeness.hpp"
#include "normal_form.hpp"
#include "parallel.hpp"

namespace gg {

namespace {

constexpr size_t shortest_key_text = 50, snippet_characters = 100, content_characters = 500;

/// Whether the first of the keys is a name, and only once; the last is the signature.
bool implies_signature(const std::vector<Key>& keys) {
  return keys.front().is_name &&
         std::count_if(keys.begin(), keys.end(), [&](const Key& key) { return key.hash == keys.front().hash; }) == 1;
}

FieldMask bit(uint32_t field) { return field < 64 ? FieldMask{1} << field : 0; }

}  // namespace

const char* outcome_name(Outcome outcome) {
  return outcome == Outcome::duplicate ? "duplicate" : outcome == Outcome::different ? "different" : "undecided";
}

// --- rules ---

uint32_t Rules::field(const std::string& name, FieldKind kind, bool may_be_cut) {
  for (uint32_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return i;
  if (fields.size() == most_fields)
    throw Error(ErrorKind::usage, "identity profiles compare more than 64 different fields", {}, "remove some fields");
  // A file that was modified is still that file.
  const bool distinguishes =
      kind == FieldKind::people || (kind == FieldKind::time && !name.starts_with("modified") && name != "updated");
  fields.push_back({name, kind, may_be_cut, distinguishes});
  return static_cast<uint32_t>(fields.size() - 1);
}

void Rules::finish() {
  for (Profile& profile : profiles) {
    for (const auto& rule : profile.rules) {
      // Every choice of fields that would satisfy the rule, unless one of them forms a key by itself.
      std::vector<std::vector<uint32_t>> sets{{}};
      for (const Requirement& r : rule) {
        std::vector<std::vector<uint32_t>> longer;
        for (const auto& set : sets) {
          std::vector<uint32_t> choices;
          for (uint32_t f = 0; f < fields.size(); ++f)
            if (r.fields & bit(f) && std::find(set.begin(), set.end(), f) == set.end()) choices.push_back(f);
          std::vector<bool> selected(choices.size(), false);
          if (static_cast<size_t>(r.count) > choices.size()) continue;
          std::fill(selected.begin(), selected.begin() + r.count, true);
          do {
            auto next = set;
            for (size_t i = 0; i < choices.size(); ++i)
              if (selected[i]) next.push_back(choices[i]);
            longer.push_back(std::move(next));
          } while (std::prev_permutation(selected.begin(), selected.end()));
        }
        sets = std::move(longer);
      }
      for (auto& set : sets) {
        std::sort(set.begin(), set.end());
        const bool alone = set.empty() || (set.size() == 1 && bit(set[0]) & text);
        if (!alone && std::find(profile.key_sets.begin(), profile.key_sets.end(), set) == profile.key_sets.end())
          profile.key_sets.push_back(set);
      }
    }
  }
}

std::string Rules::names(FieldMask mask) const {
  std::string text;
  for (uint32_t f = 0; f < fields.size(); ++f)
    if (mask & bit(f)) text += (text.empty() ? "" : ", ") + fields[f].name;
  return text;
}

// --- results prepared for comparison ---

Bytes Clusters::keep_normal(Bytes text, Arena& texts) {
  scratch_.clear();
  append_normal_form(text, scratch_);
  return texts.keep(scratch_);
}

Bytes Clusters::keep_text(Bytes text, Arena& texts) { return keep_normal(without_markup(text, markup_), texts); }

Item Clusters::prepare(const Result& result) {
  Item item;
  prepare(result, prepared_, item);
  return item;
}

void Clusters::prepare(const Result& result, Arena& texts, Item& item) {
  item.clear();
  if (!result.type.empty()) {
    item.typed = true;
    item.type = keep_normal(result.type, texts);
    const auto type = rules_.of_type.find(std::string(item.type));
    item.profile = static_cast<uint16_t>(type == rules_.of_type.end() ? 0 : type->second);
  }
  const Profile& profile = rules_.profiles[item.profile];
  item.signature = hash_bytes(item.type);
  const auto mixed_in = [&](uint64_t salt, uint64_t hash) { item.signature += salted(salt, hash); };

  const auto add = [&](uint32_t field, Bytes raw) {
    if (raw.empty() || item.value(field)) return;
    const FieldKind kind = rules_.fields[field].kind;
    const Bytes text = kind == FieldKind::people ? texts.keep(normal_people(raw)) : keep_text(raw, texts);
    if (text.empty()) return;
    Item::Value value{static_cast<uint16_t>(field), Item::Value::no_moment, text};
    if (kind == FieldKind::time) {
      value.moment = static_cast<uint16_t>(item.moments.size());
      item.moments.push_back(parse_moment(raw));
    }
    mixed_in(field, hash_bytes(text));
    item.values.push_back(value);
  };
  add(rules_.title, result.title);
  add(rules_.snippet, result.snippet);
  add(rules_.content, result.content);
  for (const auto& [name, raw] : result.fields)
    if (const auto source = profile.sources.find(std::string(name)); source != profile.sources.end())
      add(source->second, raw);

  for (const auto& [name, raw] : result.ids) {
    if (is_citation_marker(raw)) continue;
    const Bytes value = texts.keep(rules_.urls.id_form(name, raw));
    if (value.empty()) continue;
    item.ids.push_back({texts.keep(name), value});
    mixed_in(hash_bytes(name), hash_bytes(value));
  }
  if (item.ids.empty() && !is_citation_marker(result.id)) {
    item.generic_id = texts.keep(rules_.urls.id_form("id", result.id));
    item.signature += signature_of(item.generic_id);
  }
  const Bytes url = result.url.empty() && item.ids.empty() && is_url(result.id) ? result.id : result.url;
  if (!url.empty() && !is_citation_marker(url)) {
    ReducedUrl reduced = rules_.urls.reduce(url);
    item.has_url = true;
    item.page = texts.keep(reduced.page);
    item.form = reduced.form;
    mixed_in(1001, hash_bytes(item.page) ^ item.form);
    for (const ReducedUrl::Parameter& p : reduced.parameters) mixed_in(hash_bytes(p.name), hash_bytes(p.value));
    if (!reduced.parameters.empty() || !reduced.aliases.empty())
      item.details = &details_.emplace_back(UrlDetails{std::move(reduced.parameters), std::move(reduced.aliases)});
  }
}

// --- phase 1: keys ---

std::vector<Key> Clusters::keys(const Item& item) const {
  std::vector<Key> keys;
  const auto add = [&](const char* kind, uint64_t hash, bool is_name = false) {
    keys.push_back({salted(hash_bytes(kind), hash), kind, is_name});
  };
  for (const Item::Id& id : item.ids) add("ids", salted(hash_bytes(id.name), hash_bytes(id.value)), true);
  if (const Bytes id = item.generic_id; !id.empty()) add("id", hash_bytes(id), true);
  if (item.has_url) add("url", hash_bytes(item.page), true);
  FieldMask own = 0;
  for (const Item::Value& v : item.values) {
    const bool snippet = v.field == rules_.snippet, content = v.field == rules_.content,
               title = v.field == rules_.title;
    if (!(snippet || content || title) || !has_characters(v.text, shortest_key_text)) continue;
    own |= bit(v.field);
    add(snippet   ? "snippet"
        : content ? "content"
                  : "title",
        hash_bytes(title ? v.text : first_characters(v.text, snippet ? snippet_characters : content_characters)));
    // A truncated text shares only its beginning with the full one.
    if (!title)
      add(snippet ? "start of snippet" : "start of content", hash_bytes(first_characters(v.text, shortest_key_text)));
  }
  const auto part = [&](uint32_t field, uint64_t& hash) {
    if (field == rules_.generic_id) {
      hash = hash_bytes(item.generic_id);
      return !item.generic_id.empty();
    }
    for (const auto& [name, number] : rules_.id_fields)
      if (number == field)
        for (const Item::Id& id : item.ids)
          if (id.name == name) return hash = hash_bytes(id.value), true;
    const Item::Value* value = item.value(field);
    if (!value) return false;
    // The same moment may be written in several ways.
    const Moment moment = item.moment(*value);
    hash = moment.known && moment.has_time
               ? salted(static_cast<uint64_t>(moment.day), static_cast<uint64_t>(moment.second * 1000))
               : hash_bytes(value->text);
    return true;
  };
  for (const auto& set : rules_.profiles[item.profile].key_sets) {
    uint64_t all = 0, hash = 0;
    const bool complete = std::all_of(set.begin(), set.end(), [&](uint32_t field) {
      if (own & bit(field) || !part(field, hash)) return false;
      all += salted(field + 7, hash);
      return true;
    });
    if (complete) add("fields", all);
  }
  return keys;
}

std::vector<Key> Clusters::all_keys(const Item& item) const {
  std::vector<Key> all = keys(item);
  all.push_back({salted(0x5e1f, item.signature), "everything"});
  return all;
}

// --- phase 2: the verdict ---

bool Clusters::compare_ids(const Item& a, const Item& b, const Profile& profile, Verdict& verdict, bool& comparable,
                           bool& hint, bool explain) const {
  bool definitive = false;
  std::string equal, unequal;
  for (const Item::Id& x : a.ids) {
    for (const Item::Id& y : b.ids) {
      if (x.name != y.name) continue;
      const std::string name(x.name);
      IdRole role = IdRole::definitive;
      if (const auto own = profile.ids.find(name); own != profile.ids.end()) role = own->second;
      else if (const auto usual = rules_.usual_roles.find(name); usual != rules_.usual_roles.end())
        role = usual->second;
      const bool same = x.value == y.value;
      if (role == IdRole::hint) {
        hint |= same;
        continue;
      }
      comparable = true;
      if (explain) (same ? equal : unequal) += (same ? equal : unequal).empty() ? name : ", " + name;
      if (!same) {
        verdict = {.outcome = Outcome::different, .step = 1};
        if (!explain) return true;
        continue;
      }
      definitive |= role == IdRole::definitive;
      if (const auto f = rules_.id_fields.find(name); f != rules_.id_fields.end()) verdict.agree |= bit(f->second);
    }
  }
  if (!unequal.empty()) {
    verdict = {.outcome = Outcome::different, .step = 1, .evidence = unequal};
    return true;
  }
  if (definitive) {
    verdict = {.outcome = Outcome::duplicate, .step = 1, .evidence = equal};
    return true;
  }
  return false;
}

Clusters::Relation Clusters::relate(const Item& a, const Item::Value& x, const Item& b, const Item::Value& y) const {
  if (x.text == y.text) return Relation::equal;
  if (const Moment m = a.moment(x), n = b.moment(y); m.known && n.known) {
    if (m.day != n.day) return Relation::different;
    if (m.has_time != n.has_time) return Relation::unclear;  // a date and a time on that date
    return m.second == n.second ? Relation::equal : Relation::different;
  }
  if (!rules_.fields[x.field].may_be_cut) return Relation::different;
  const Bytes p = without_ellipsis(x.text), q = without_ellipsis(y.text);
  const Bytes shorter = p.size() < q.size() ? p : q, longer = p.size() < q.size() ? q : p;
  if (!longer.starts_with(shorter)) return Relation::different;
  return has_characters(shorter, shortest_key_text) ? Relation::cut : Relation::unclear;
}

FieldMask Clusters::contradiction(const Item& a, const Item& b, const Profile& profile) const {
  const auto both = [&](uint32_t field, const Item::Value*& x, const Item::Value*& y) {
    if (!(profile.rejecting & bit(field))) return false;
    x = a.value(field);
    y = b.value(field);
    return x && y;
  };
  const Item::Value *x = nullptr, *y = nullptr;
  const Bytes page = a.page, host = page.substr(0, page.find('|'));
  const bool titled = both(rules_.title, x, y);
  const FieldMask title = titled && !alike_titles(x->text, y->text, host) ? bit(rules_.title) : 0;
  if (titled && !title) return 0;
  const bool likely = a.form != b.form;
  if (titled && likely) return title;
  // People and times: all meetings of a series have one URL.
  FieldMask facts = 0;
  for (const Item::Value& value : a.values)
    if (rules_.fields[value.field].distinguishes && both(value.field, x, y) &&
        relate(a, *x, b, *y) == Relation::different)
      facts |= bit(value.field);
  if (facts && (title || !(profile.rejecting & bit(rules_.title)))) return title | facts;
  FieldMask texts = 0;
  for (const uint32_t field : {rules_.snippet, rules_.content}) {
    if (!both(field, x, y)) continue;
    if (alike_texts(x->text, y->text)) return 0;
    texts |= bit(field);
  }
  if (!texts) return 0;
  for (const auto& [p, q] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    const Item::Value *snippet = p->value(rules_.snippet), *content = q->value(rules_.content);
    if (snippet && content && alike_texts(snippet->text, content->text)) return 0;
  }
  return titled || likely ? title | texts : 0;
}

bool Clusters::compare_urls(const Item& a, const Item& b, const Profile& profile, Verdict& verdict, bool& equal,
                            bool explain) const {
  const auto decide = [&](Outcome outcome, const std::string& evidence) {
    verdict = {.outcome = outcome, .step = 2, .evidence = explain ? evidence : ""};
    return true;
  };
  const Bytes p = a.page, q = b.page;
  if (p != q) {
    const auto host = [](Bytes page) { return page.substr(0, page.find('|')); };
    return decide(Outcome::different, explain && host(p) == host(q) ? "url path" : "url host");
  }
  const auto &x = a.url_details().parameters, &y = b.url_details().parameters;
  if (x == y) {
    equal = true;
    if (rules_.unit != Unit::document) return false;
    if (const FieldMask differ = contradiction(a, b, profile)) {
      verdict = {.outcome = Outcome::different, .step = 3, .differ = differ};
      return true;
    }
    return decide(Outcome::duplicate, "url");
  }
  std::vector<ReducedUrl::Parameter> differing;
  std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(differing));
  const auto routes = std::count_if(differing.begin(), differing.end(), [](const auto& p) { return p.name == "#"; });
  if (routes == 2) return decide(Outcome::different, "url fragment");  // of one application
  for (const ReducedUrl::Parameter& p : differing)
    if (p.selects) return decide(Outcome::different, explain ? "url parameter " + p.name : "");
  return false;
}

bool Clusters::rules_met(const Profile& profile, FieldMask agree, FieldMask cut) const {
  const auto met = [&](FieldMask fields) {
    return std::any_of(profile.rules.begin(), profile.rules.end(), [&](const auto& rule) {
      FieldMask left = fields;  // a field satisfies only one requirement
      for (const Requirement& r : rule) {
        int needed = r.count;
        for (FieldMask m = left & r.fields; m && needed; m &= m - 1, --needed) left &= ~(m & (~m + 1));
        if (needed) return false;
      }
      return true;
    });
  };
  return met(agree) || (cut && agree && met(agree | cut));
}

Verdict Clusters::verify(const Item& a, const Item& b, bool explain) const {
  const Profile& profile = rules_.profiles[a.typed ? a.profile : b.profile];
  Verdict verdict = compared(a, b, profile, explain);
  if (!explain) return verdict;
  if (verdict.step != 2) {
    verdict.rule = profile.name;
    return verdict;
  }
  std::vector<uint16_t> aliases = a.url_details().aliases;
  for (const uint16_t alias : b.url_details().aliases)
    if (std::find(aliases.begin(), aliases.end(), alias) == aliases.end()) aliases.push_back(alias);
  verdict.rule = rules_.urls.names(aliases);
  return verdict;
}

Verdict Clusters::compared(const Item& a, const Item& b, const Profile& profile, bool explain) const {
  Verdict verdict;
  bool comparable = false, hint = false, url_equal = false;
  if (compare_ids(a, b, profile, verdict, comparable, hint, explain)) return verdict;
  if (a.has_url && b.has_url) {
    comparable = true;
    if (compare_urls(a, b, profile, verdict, url_equal, explain)) return verdict;
    if (url_equal) verdict.agree |= bit(rules_.url);
  }
  if (a.typed && b.typed && (a.profile != b.profile || (a.profile == 0 && a.type != b.type)))
    return {.outcome = Outcome::different, .step = 3, .evidence = explain ? "type" : ""};

  FieldMask compared = 0;
  for (const Item::Value& x : a.values) {
    if (!(profile.compared & bit(x.field))) continue;
    const Item::Value* y = b.value(x.field);
    if (!y) continue;
    compared |= bit(x.field);
    switch (relate(a, x, b, *y)) {
      case Relation::equal: verdict.agree |= bit(x.field); break;
      case Relation::cut: verdict.cut |= bit(x.field); break;
      case Relation::different: verdict.differ |= bit(x.field); break;
      case Relation::unclear: break;
    }
  }
  if (verdict.differ & profile.rejecting) {
    verdict.differ &= profile.rejecting;
    verdict.outcome = Outcome::different;
    return verdict;
  }
  if (url_equal && !(compared & rules_.text)) {  // no text that could distinguish two passages of the page
    verdict.outcome = Outcome::duplicate;
    verdict.step = 2;
    if (explain) verdict.evidence = "url";
    return verdict;
  }
  const bool same_id = !a.generic_id.empty() && a.generic_id == b.generic_id;
  if (!compared && !comparable) {  // nothing else can be compared
    verdict.step = 4;
    if (same_id || hint) {
      verdict.outcome = Outcome::duplicate;
      if (explain) verdict.evidence = same_id ? "id" : "ids";
    }
    return verdict;
  }
  if (same_id && profile.compared & bit(rules_.generic_id)) verdict.agree |= bit(rules_.generic_id);
  if (rules_met(profile, verdict.agree, verdict.cut)) verdict.outcome = Outcome::duplicate;
  return verdict;
}

// --- clusters ---

const KeyIndex::Chain* KeyIndex::find(uint64_t key) const {
  if (tags_.empty()) return nullptr;
  const size_t at = place(key);
  return tags_[at] ? &chains_[slots_[at]] : nullptr;
}

void KeyIndex::grow() {
  const size_t size = std::max<size_t>(256, tags_.size() * 2);
  tags_ = {}, slots_ = {};  // first, so that the old and the new ones are not there together
  std::vector<uint32_t> slots(size);
  tags_.resize(size);
  slots_ = std::move(slots);
  for (size_t c = 0; c < chains_.size(); ++c) {
    size_t i = chains_[c].key & (size - 1);
    while (tags_[i]) i = (i + 1) & (size - 1);
    tags_[i] = tag(chains_[c].key);
    slots_[i] = static_cast<uint32_t>(c);
  }
}

void KeyIndex::add(uint64_t key, uint32_t item) {
  if ((chains_.size() + 1) * 4 > tags_.size() * 3) grow();
  const size_t at = place(key);
  if (!tags_[at]) {
    tags_[at] = tag(key);
    slots_[at] = static_cast<uint32_t>(chains_.size());
    chains_.push_back({key, item, 1});
    return;
  }
  Chain& chain = chains_[slots_[at]];
  const auto add_link = [&](uint32_t number, uint32_t next) {
    links_.push_back({number, next});
    return static_cast<uint32_t>(links_.size() - 1);
  };
  if (chain.size++ == 1) chain.last = add_link(chain.last, static_cast<uint32_t>(links_.size()));
  const uint32_t first = links_[chain.last].next;
  links_[chain.last].next = static_cast<uint32_t>(links_.size());
  chain.last = add_link(item, first);
}

void KeyIndex::clear() {
  if (tags_.size() > 1 << 14) tags_ = {}, slots_ = {};  // one huge conversation must not slow down all others
  std::fill(tags_.begin(), tags_.end(), 0);
  chains_.clear();
  links_.clear();
}

void Clusters::propose(const std::vector<Key>& keys) {
  proposals_.clear();
  by_size_.clear();
  for (uint32_t k = 0; k < keys.size(); ++k)
    if (const KeyIndex::Chain* chain = index_.find(keys[k].hash)) by_size_.emplace_back(chain->size, k);
  std::sort(by_size_.begin(), by_size_.end());  // most selective keys first
  for (const auto& [size, k] : by_size_) {
    index_.each(*index_.find(keys[k].hash), [&, k = k](uint32_t item) {
      if (std::any_of(proposals_.begin(), proposals_.end(), [&](const Proposal& p) { return p.item == item; }))
        return true;
      if (proposals_.size() == budget) {
        ++left_out_;
        return false;
      }
      proposals_.push_back({item, k});
      return true;
    });
    if (proposals_.size() == budget) break;
  }
  std::sort(proposals_.begin(), proposals_.end(), [](const Proposal& x, const Proposal& y) { return x.item < y.item; });
}

uint32_t Clusters::find(const Item& item) {
  const uint64_t left_out = left_out_;
  propose(all_keys(item));
  left_out_ = left_out;
  for (const Proposal& proposal : proposals_) {
    items_.load(proposal.item, other_);
    if (verify(other_, item, false).outcome != Outcome::duplicate) continue;
    const uint32_t first = cluster_[proposal.item];
    if (first == proposal.item) return first;
    items_.load(first, first_);
    if (verify(first_, item, false).outcome != Outcome::different) return first;
  }
  return none;
}

uint32_t Clusters::add(const Result& result) {
  pause_point();
  const auto number = static_cast<uint32_t>(items_.size());
  texts_.clear();
  prepare(result, texts_, item_);
  const std::vector<Key> item_keys = all_keys(item_);
  propose(item_keys);
  uint32_t cluster = number;
  bool repeats = false;
  for (const Proposal& proposal : proposals_) {
    items_.load(proposal.item, other_);
    Verdict verdict = verify(other_, item_, audited_);
    bool merged = verdict.outcome == Outcome::duplicate && cluster == number, contradicted = false;
    const uint32_t first = cluster_[proposal.item];
    if (merged && first != proposal.item) {
      items_.load(first, first_);
      if (verify(first_, item_, false).outcome == Outcome::different) merged = false, contradicted = true;
    }
    if (audited_)
      decisions_.push_back({number, proposal.item, item_keys[proposal.key].kind, verdict, merged, contradicted});
    if (!merged) continue;
    cluster = first;
    repeats = other_.signature == item_.signature;
    break;
  }
  if (!repeats) index(item_keys, number);
  items_.push_back(item_);
  cluster_.push_back(cluster);
  return cluster;
}

/// Adds the keys of a result. Most results are the first with their own name, which then finds all that the signature
/// would find; the signature is added as soon as another result has that name.
void Clusters::index(const std::vector<Key>& keys, uint32_t number) {
  const bool is_implied = implies_signature(keys) && !index_.find(keys.front().hash);
  for (size_t k = 0; k + 1 < keys.size(); ++k) {
    const KeyIndex::Chain* chain = index_.find(keys[k].hash);
    if (chain && chain->size == 1 && keys[k].is_name && chain->last != number) {
      const uint32_t only = chain->last;
      items_.load(only, other_);
      const std::vector<Key> others = all_keys(other_);
      if (others.front().hash == keys[k].hash && implies_signature(others)) index_.add(others.back().hash, only);
    }
    index_.add(keys[k].hash, number);
  }
  if (!is_implied) index_.add(keys.back().hash, number);
}

void Clusters::clear() {
  prepared_.clear();
  texts_.clear();
  items_.clear();
  details_.clear();
  cluster_.clear();
  index_.clear();
  decisions_.clear();
}

}  // namespace gg
