#include "uses.hpp"

#include "normal_form.hpp"
#include "text_citations.hpp"

namespace gg {

namespace {

Rules for_documents(const Rules& rules) {
  Rules copy = rules;
  copy.unit = Unit::document;
  return copy;
}

bool is_named(const Result& r) { return !r.id.empty() || !r.ids.empty() || !r.url.empty(); }
bool is_empty(const Result& r) {
  return !is_named(r) && r.title.empty() && r.snippet.empty() && r.content.empty() && r.fields.empty();
}

template <typename Work>
void each_id(const Result& r, Work work) {
  if (!r.id.empty()) work(r.id);
  for (const auto& [name, id] : r.ids)
    if (!id.empty()) work(id);
}

/// Calls `work(result)` for the results of some turns, in order.
template <typename Work>
void each_result(const std::vector<const Turn*>& turns, Work work) {
  for (const Turn* turn : turns)
    for (const Step& step : turn->steps)
      for (const Search& search : step.searches) search.results.each(work);
}

/// A copy whose texts lie in an arena; the parser may drop those of the original.
Result copy_of(const Result& result, Arena& arena) {
  Result copy = result;
  for (Bytes Result::* text :
       {&Result::id, &Result::type, &Result::url, &Result::title, &Result::snippet, &Result::content})
    copy.*text = arena.keep(copy.*text);
  for (auto* pairs : {&copy.ids, &copy.fields})
    for (auto& [name, value] : *pairs) name = arena.keep(name), value = arena.keep(value);
  copy.aspects.clear();
  return copy;
}

}  // namespace

UseFinder::UseFinder(const Rules& rules, Clusters& clusters, LabelIndex& labels)
    : clusters_(clusters),
      labels_(labels),
      document_rules_(for_documents(rules)),
      by_passage_(rules.unit == Unit::passage),
      documents_(document_rules_),
      others_(document_rules_),
      earlier_(document_rules_) {}

void UseFinder::find(const ScoredTurns& scored, Uses& uses) {
  const auto acts = [](const Turn* turn) {
    return turn->has_citations || !turn->answer.empty() ||
           std::any_of(turn->steps.begin(), turn->steps.end(), [](const Step& s) { return !s.opens.empty(); });
  };
  if (std::none_of(scored.turns.begin(), scored.turns.end(), acts)) return;
  scored_ = &scored;
  uses_ = &uses;
  has_names_ = has_titles_ = has_earlier_ = false;
  outside_names_.clear();
  outside_of_.clear();
  outside_by_label_.clear();
  unresolved_.clear();
  others_.clear();
  uses.results.resize(scored.new_results.size());
  if (by_passage_) add_documents();
  uint32_t iteration = 0;
  for (const Turn* turn : scored.turns)
    for (const Step& step : turn->steps) {
      iteration += !step.searches.empty();
      for (const Opened& opened : step.opens) {
        if (is_empty(opened.result)) continue;
        const Target target = locate(opened.result, false);
        add(target, {.opened = iteration});
        if (target.outside != none)
          each_id(opened.result, [&](Bytes id) { add_name(outside_names_, marker_name(id), target.outside); });
      }
    }
  cite(*scored.turns.back());
}

void UseFinder::cite(const Turn& turn) {
  std::vector<TextCitation> in_text;
  std::vector<Cited> from_text;
  if (!turn.has_citations) {
    in_text = text_citations(turn.answer, [&](Bytes name) { return is_name(std::string(name)); });
    for (const TextCitation& citation : in_text) {
      Cited& cited = from_text.emplace_back();
      cited.result.url = citation.url;
      cited.marker = citation.marker;
    }
  }
  const std::vector<Cited>& citations = turn.has_citations ? turn.citations : from_text;
  std::unordered_set<std::string> explained;  // markers of citations that name their document
  for (const Cited& cited : citations) {
    if (is_empty(cited.result)) continue;
    if (!cited.marker.empty()) explained.insert(marker_name(cited.marker));
    const Target target = locate(cited.result, true);
    if (target.is_ambiguous) unresolved_.insert(std::string(cited.result.id));
    else add(target, {.cited = true});
  }
  for (size_t i = 0; i < citations.size(); ++i) {
    const Cited& cited = citations[i];
    if (!is_empty(cited.result)) continue;
    const std::string name = marker_name(cited.marker);
    if (explained.contains(name)) continue;
    const Target target = name.empty() ? Target() : locate_marker(cited.marker);
    if (target.result != none || target.outside != none) add(target, {.cited = true});
    else unresolved_.insert(name.empty() ? std::string("#").append(std::to_string(i)) : name);
  }
  uses_->unresolved = static_cast<uint32_t>(unresolved_.size());
}

void UseFinder::add(const Target& target, const Use& use) {
  const auto add_to = [&](uint32_t result) {
    const auto at = std::lower_bound(scored_->new_results.begin(), scored_->new_results.end(), result);
    uses_->results[static_cast<size_t>(at - scored_->new_results.begin())].add(use);
  };
  if (target.outside != none) uses_->outside[target.outside].use.add(use);
  if (target.result == none) return;
  if (!by_passage_ || !target.by_document) return add_to(target.result);
  for (const uint32_t passage : passages_[target.result]) add_to(passage);
}

void UseFinder::add_documents() {
  documents_.clear();
  document_of_.clear();
  passages_.clear();
  each_result(scored_->turns, [&](const Result& r) {
    const auto number = static_cast<uint32_t>(document_of_.size());
    const uint32_t document = documents_.add(r);
    document_of_.push_back(document);
    passages_[document].push_back(clusters_.first(number));
  });
}

void UseFinder::add_name(Names& names, const std::string& name, uint32_t place) {
  if (name.empty()) return;
  const auto [known, is_new] = names.try_emplace(name, place);
  if (!is_new && known->second != place) known->second = several;
}

/// Whether this is the id of anything that the conversation or its labels know.
bool UseFinder::is_name(const std::string& name) {
  if (names().contains(name) || outside_names_.contains(name)) return true;
  read_earlier();
  return earlier_names_.contains(name) || is_label(name);
}

bool UseFinder::is_label(const std::string& name) const {
  return !is_ordinal(name) && scored_->judged &&
         scored_->judged->find(name, hash_bytes(name)) != QueryJudgments::unjudged;
}

const UseFinder::Names& UseFinder::names() {
  if (has_names_) return names_;
  has_names_ = true;
  names_.clear();
  size_t number = 0;
  each_result(scored_->turns, [&](const Result& r) {
    const uint32_t place = by_passage_ ? document_of_[number] : clusters_.first(number);
    ++number;
    each_id(r, [&](Bytes id) { add_name(names_, marker_name(id), place); });
  });
  return names_;
}

const UseFinder::Names& UseFinder::titles() {
  if (has_titles_) return titles_;
  has_titles_ = true;
  titles_.clear();
  size_t number = 0;
  each_result(scored_->turns, [&](const Result& r) {
    const uint32_t place = by_passage_ ? document_of_[number] : clusters_.first(number);
    ++number;
    if (!r.title.empty()) add_name(titles_, normal_form(r.title), place);
  });
  return titles_;
}

UseFinder::Target UseFinder::locate(const Result& result, bool is_cited) {
  Target target;
  const auto take = [&](const Names& names, const std::string& name) {
    const auto known = names.find(name);
    if (known == names.end()) return;
    if (known->second == several) target.is_ambiguous = true;
    else if (target.result == none) target.result = known->second;
    else if (target.result != known->second) target.is_ambiguous = true;
  };
  target.result = places().find(places().prepare(result));
  if (target.result != none) return target;
  if (result.url.empty()) {
    if (is_named(result)) each_id(result, [&](Bytes id) { take(names(), marker_name(id)); });
    else if (!result.title.empty()) take(titles(), normal_form(result.title));
  }
  if (target.is_ambiguous) target.result = none;
  if (target.is_ambiguous || target.result != none) return target;
  return locate_outside(result, is_cited);
}

UseFinder::Target UseFinder::locate_outside(const Result& result, bool is_cited) {
  Target target;
  const LabelIndex::Match label = scored_->judged ? labels_.find(result, false) : LabelIndex::Match();
  if (label.labelled) {
    if (const auto own = scored_->by_label.find(label.group); own != scored_->by_label.end()) {
      target.result = own->second;
      target.by_document = false;
      return target;
    }
    if (const auto known = outside_by_label_.find(label.group); known != outside_by_label_.end())
      target.outside = known->second;
  }
  if (target.outside == none) {
    const auto number = static_cast<uint32_t>(outside_of_.size());
    const uint32_t same = others_.add(result);
    const bool is_new = same == number;
    target.outside = is_new ? static_cast<uint32_t>(uses_->outside.size()) : outside_of_[same];
    outside_of_.push_back(target.outside);
    if (is_new) {
      OutsideDocument& document = uses_->outside.emplace_back();
      document.label = label;
      document.labelled = result.labelled;
      document.gain = result.gain;
      if (scored_->pool) document.item = scored_->pool->prepare(result);
    }
    if (label.labelled) outside_by_label_.try_emplace(label.group, target.outside);
  }
  OutsideDocument& document = uses_->outside[target.outside];
  if (is_cited && !document.supported) document.supported = returned_earlier(result);
  return target;
}

UseFinder::Target UseFinder::locate_marker(Bytes marker) {
  const std::string whole = marker_name(marker);
  std::vector<std::string> forms{whole};
  if (const Bytes rest = without_prefix(whole); !rest.empty()) forms.emplace_back(rest);
  const auto take = [&](const Names& names, uint32_t& place) {
    for (const std::string& name : forms)
      if (const auto known = names.find(name); known != names.end()) {
        place = known->second == several ? none : known->second;
        return true;
      }
    return false;
  };
  Target target;
  if (take(names(), target.result)) return target;
  if (take(outside_names_, target.outside)) return target;
  read_earlier();
  if (uint32_t number = none; take(earlier_names_, number))
    return number == none ? target : locate_outside(earlier_results_[number], true);
  for (const std::string& name : forms) {
    if (!is_label(name)) continue;
    Result named;
    named.id = name;
    return locate_outside(named, true);
  }
  return target;
}

void UseFinder::read_earlier() {
  if (has_earlier_) return;
  has_earlier_ = true;
  earlier_.clear();
  earlier_names_.clear();
  earlier_results_.clear();
  earlier_texts_.clear();
  const auto read = [&](const Result& r) {
    earlier_results_.push_back(copy_of(r, earlier_texts_));
    const uint32_t place = earlier_.add(r);
    each_id(r, [&](Bytes id) { add_name(earlier_names_, marker_name(id), place); });
  };
  for (const Turn& turn : scored_->conversation.turns) {
    if (&turn == scored_->turns.back()) break;
    if (std::find(scored_->turns.begin(), scored_->turns.end(), &turn) != scored_->turns.end()) continue;
    each_result({&turn}, read);
    for (const Step& step : turn.steps)
      for (const Opened& opened : step.opens) read(opened.result);
  }
}

bool UseFinder::returned_earlier(const Result& result) {
  read_earlier();
  return !earlier_results_.empty() && earlier_.find(earlier_.prepare(result)) != Clusters::none;
}

}  // namespace gg
