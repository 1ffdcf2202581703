#include "trace_worker.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <functional>

#include "normal_form.hpp"

namespace gg {

namespace {

constexpr double Usage::* amounts[] = {&Usage::tokens, &Usage::cost, &Usage::seconds};

/// Adds up what the scored turns spent.
void add_usage(const std::vector<const Turn*>& turns, Member& member) {
  for (size_t kind = 0; kind < std::size(amounts); ++kind) {
    double Usage::* const amount = amounts[kind];
    const auto known = [&](const Usage& usage) { return !std::isnan(usage.*amount); };
    bool by_step = false, by_search = false, by_turn = false;
    for (const Turn* turn : turns) {
      by_turn |= known(turn->usage);
      for (const Step& step : turn->steps) {
        by_step |= known(step.usage);
        for (const Search& s : step.searches) by_search |= known(s.usage);
      }
    }
    double spent = 0, total = turns.empty() ? Usage::unknown : 0;
    size_t iteration = 0;
    for (const Turn* turn : turns) {
      const double before = spent;
      for (const Step& step : turn->steps) {
        if (by_step) spent += step.usage.*amount;
        for (const Search& s : step.searches) {
          // A generation's tokens and cost cover its searches, unless they report more; its seconds do not.
          const bool covered = by_step && amount != &Usage::seconds && !known(s.usage);
          if (!covered) spent += s.usage.*amount;
        }
        if (!step.searches.empty()) member.counted.iterations[iteration++].spent.*amount = spent;
      }
      total += known(turn->usage) ? turn->usage.*amount : by_step ? spent - before : Usage::unknown;
    }
    member.counted.total.*amount = total;
    if (!iteration) continue;
    UsageCounts& counts = member.totals.usage[kind];
    const bool complete = known(member.counted.iterations.back().spent);
    if (!complete) (by_step || by_search ? counts.in_part : counts.by_turn) += by_step || by_search || by_turn;
    else ++(by_step ? counts.by_step : counts.by_search);
  }
}

/// What became of every call, in all turns.
void count_calls(const Conversation& c, TraceTotals& totals) {
  ++totals.conversations;
  for (const Turn& turn : c.turns)
    for (const Step& step : turn.steps) {
      for (const Search& s : step.searches) {
        CallCounts& calls = totals.calls[std::string(s.tool)];
        ++(s.failed ? calls.failed : s.unread ? calls.unread : s.results.empty() ? calls.empty : calls.search);
        totals.results_of_all_turns += s.results.size();
      }
      for (const Opened& opened : step.opens) ++totals.calls[std::string(opened.tool)].open;
    }
}

void count_label(double gain, TraceTotals& totals) {
  ++totals.labels;
  totals.zeros += gain == 0;
  totals.ones += gain == 1;
}

/// The name of a piece of evidence: that of its label, or else the first that the result has.
Bytes name_of(const Result& r, const LabelIndex::Match& label) {
  if (label.labelled) return label.name;
  if (!r.id.empty()) return r.id;
  if (!r.ids.empty()) return r.ids.front().second;
  return !r.url.empty() ? r.url : !r.title.empty() ? r.title : r.snippet.substr(0, 80);
}

constexpr uint32_t many_results = 1 << 18;

/// Gives freed blocks back to the system; what follows a huge conversation would not fit into them.
void return_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Room for many more values at once, so that a huge search does not double what is there.
template <typename T>
void make_room(std::vector<T>& values, size_t more) {
  if (values.size() + more > 2 * values.capacity()) values.reserve(values.size() + more);
}

/// A text that an arena keeps with its size; none is empty.
Bytes text_at(const char* place) { return place ? Arena::sized(place) : Bytes(); }

}  // namespace

// --- the pool ---

void Pool::clear() {
  clusters_.clear();
  entries_.clear();
  by_label_.clear();
}

uint32_t Pool::add(const Result& result, uint32_t group, Bytes name) {
  entries_.emplace_back();
  const uint32_t entry = clusters_.add(result);
  if (group != LabelIndex::none) by_label_.try_emplace(group, entry);
  if (entries_[entry].name.empty()) entries_[entry].name = name;
  return entry;
}

uint32_t Pool::find(const OutsideDocument& document) {
  if (const uint32_t entry = clusters_.find(document.item); entry != Clusters::none) return entry;
  const auto known = document.label.labelled ? by_label_.find(document.label.group) : by_label_.end();
  return known == by_label_.end() ? Clusters::none : known->second;
}

void Pool::Entry::label(double gain) {
  least = labelled ? std::min(least, gain) : gain;
  most = labelled ? std::max(most, gain) : gain;
  labelled = true;
}

void Pool::share(std::vector<Member>& members, const GainOptions& o) {
  for (Member& m : members)
    for (size_t k = 0; k < m.new_results.size(); ++k)
      if (const Returned& r = m.at(m.new_results[k]); r.labelled) entries_[m.in_pool[k]].label(r.gain);
  const bool any = std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) { return e.labelled; });
  std::vector<uint32_t> good, unlabelled;
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].labelled && entries_[e].most >= o.threshold) good.push_back(e);
    members.front().totals.conflicting += entries_[e].least < entries_[e].most;
  }
  for (Member& m : members)
    for (const uint32_t e : m.in_pool)
      if (!entries_[e].labelled) unlabelled.push_back(e);
  std::sort(unlabelled.begin(), unlabelled.end());
  unlabelled.erase(std::unique(unlabelled.begin(), unlabelled.end()), unlabelled.end());
  for (Member& m : members) {
    m.counted.evidence_known |= any;
    for (size_t k = 0; k < m.new_results.size(); ++k) {
      Returned& r = m.at(m.new_results[k]);
      const Entry& entry = entries_[m.in_pool[k]];
      if (r.labelled || !entry.labelled) continue;
      r.labelled = true;
      r.gain = entry.most;
      ++m.totals.lent;
    }
    std::vector<uint32_t> own = m.in_pool;
    std::sort(own.begin(), own.end());
    const auto misses = [&](uint32_t e) { return !std::binary_search(own.begin(), own.end(), e); };
    for (const uint32_t e : good)
      if (misses(e)) {
        m.missed.push_back(e);
        m.counted.missed.push_back(entries_[e].most);
      }
    if (o.complete()) continue;
    std::copy_if(unlabelled.begin(), unlabelled.end(), std::back_inserter(m.missed_unlabelled), misses);
    m.counted.unlabelled_missed = static_cast<uint32_t>(m.missed_unlabelled.size());
  }
}

// --- one conversation ---

void TraceWorker::begin_group() {
  pool_.clear();
  names_.clear();
  group_begins_ = true;
}

Member TraceWorker::read(Bytes line, Reading how) {
  const Conversation& c = parser_.parse(line, how.padded);
  if (!how.pooled) names_.clear();
  Member member;
  member.id = c.id, member.system = c.system, member.repeat = c.repeat;
  clusters_.keep_audit(how.audited);
  count_calls(c, member.totals);
  identify(c, how.pooled, member);
  member.totals.duplicates = member.results - member.new_results.size();
  if (how.audited) {
    member.decisions = clusters_.decisions();
    for (size_t i = 0; i < clusters_.size(); ++i) member.first.push_back(clusters_.first(i));
  }
  clusters_.clear();  // before what follows needs memory of its own
  if (member.results >= many_results) return_memory();
  if (how.done) how.done->release();
  return member;
}

void TraceWorker::finish(std::vector<Member>& members) {
  if (members.size() > 1) pool_.share(members, options_.gain);
  std::vector<LabelIndex::Missed> missed_labels = index_.missed();  // by none of them
  std::erase_if(missed_labels, [&](const auto& missed) { return !(missed.gain >= options_.gain.threshold); });
  for (Member& m : members) {
    m.counted.evidence_known |= m.judged || options_.gain.complete();
    for (const LabelIndex::Missed& missed : missed_labels) m.counted.missed.push_back(missed.gain);
    for (const uint32_t number : m.new_results)
      if (Returned& r = m.at(number); r.labelled) m.counted.evidence_known = true;
      else if (options_.gain.complete()) r.labelled = true, r.gain = 0, ++m.totals.taken_as_zero;
    // The same sums for any order of the systems.
    std::sort(m.counted.missed.begin(), m.counted.missed.end(), std::greater<>());
    trace_evidence(m, missed_labels, !m.in_pool.empty() || members.size() > 1);
  }
}

/// Follows each piece of evidence from being known to being cited, and counts what is cited.
void TraceWorker::trace_evidence(Member& m, const std::vector<LabelIndex::Missed>& missed_labels, bool pooled) {
  FunnelCounts& f = m.counted.funnel;
  const double threshold = options_.gain.threshold;
  f.unresolved = m.uses.unresolved;
  const auto count_citation = [&](bool labelled, double gain) {
    ++(!labelled && !options_.gain.complete() ? f.unlabelled_citations
       : labelled && gain >= threshold        ? f.good_citations
                                              : f.other_citations);
  };
  std::unordered_map<uint32_t, Use> of_entries, of_labels;
  if (!m.uses.outside.empty()) {
    std::unordered_map<uint32_t, size_t> own;  // entry of the pool -> new result
    for (size_t k = 0; k < m.in_pool.size(); ++k) own.try_emplace(m.in_pool[k], k);
    for (const OutsideDocument& o : m.uses.outside) {
      const uint32_t entry = pooled ? pool_.find(o) : Clusters::none;
      if (const auto returned = own.find(entry); returned != own.end()) {
        m.uses.results[returned->second].add(o.use);
        continue;
      }
      const bool has_label = o.label.labelled;
      Use* same = entry != Clusters::none ? &of_entries[entry] : has_label ? &of_labels[o.label.group] : nullptr;
      const bool is_counted = same && same->cited;
      if (same) same->add(o.use);
      const bool by_pool = entry != Clusters::none && pool_[entry].labelled;
      const bool labelled = by_pool || has_label || o.labelled;
      if (!labelled && entry == Clusters::none) {
        f.outside_opened += o.use.is_opened();
        f.outside_cited += o.use.cited;
      }
      if (!o.use.cited || is_counted) continue;
      count_citation(labelled, by_pool ? pool_[entry].most : has_label ? o.label.gain : o.gain);
      f.unsupported += !o.supported && !o.use.is_opened();
    }
  }
  const auto add_evidence = [&](Evidence evidence, const Use& use, bool returned) {
    ++f.known;
    f.returned += returned;
    f.opened += use.is_opened();
    f.cited += use.cited;
    f.cited_returned += use.cited && returned;
    evidence.opened = use.opened;
    evidence.cited = use.cited;
    m.evidence.push_back(evidence);
  };
  const auto add_unknown = [&](const Use& use) {
    ++f.unknown;
    f.unknown_opened += use.is_opened();
    f.unknown_cited += use.cited;
  };
  const auto use_in = [](const std::unordered_map<uint32_t, Use>& uses, uint32_t key) {
    const auto known = uses.find(key);
    return known == uses.end() ? Use() : known->second;
  };
  const auto is_good = [&](uint32_t number) { return m.at(number).labelled && m.at(number).gain >= threshold; };
  m.evidence.reserve(static_cast<size_t>(std::count_if(m.new_results.begin(), m.new_results.end(), is_good)));
  for (size_t k = 0; k < m.new_results.size(); ++k) {
    const Returned& r = m.at(m.new_results[k]);
    const Use use = k < m.uses.results.size() ? m.uses.results[k] : Use();
    if (use.cited) count_citation(r.labelled, r.gain);
    if (r.labelled && r.gain >= threshold) {
      const Member::Start& s = m.start(m.new_results[k]);
      Evidence evidence{.name = text_at(m.names[k]), .gain = r.gain};
      evidence.iteration = s.iteration + 1;
      evidence.search = s.search + 1;
      evidence.rank = m.new_results[k] - s.result + 1;
      add_evidence(evidence, use, true);
    } else if (!r.labelled) {
      add_unknown(use);
      ++f.own_unknown;
      f.own_unknown_cited += use.cited;
    }
  }
  for (const uint32_t entry : m.missed)
    add_evidence({.name = pool_[entry].name, .gain = pool_[entry].most}, use_in(of_entries, entry), false);
  for (const uint32_t entry : m.missed_unlabelled) add_unknown(use_in(of_entries, entry));
  for (const LabelIndex::Missed& missed : missed_labels)
    add_evidence({.name = missed.name, .gain = missed.gain}, use_in(of_labels, missed.group), false);
}

void TraceWorker::append(Member& m, uint64_t place, Piece& piece) const {
  ScoredConversation scored{.id = m.id, .system = m.system, .repeat = m.repeat, .place = place};
  const size_t before = piece.rows.values.size();
  append_good_gain(m.counted, options_.gain, piece.rows);
  scored.rows = static_cast<uint32_t>((piece.rows.values.size() - before) / gain_columns().size());
  scored.iterations = static_cast<uint32_t>(m.counted.iterations.size());
  scored.results = m.results;
  scored.unique = m.new_results.size();
  scored.funnel = m.counted.funnel;
  for (Evidence& evidence : m.evidence) evidence.name = piece.names->keep(evidence.name);
  scored.evidence = std::move(m.evidence);
  scored.has_answer = m.has_answer;
  scored.user = std::move(m.user);
  scored.answer = std::move(m.answer);
  for (const Iteration& iteration : m.counted.iterations)
    for (const Searched& s : iteration.searches) {
      scored.unread += s.unread;
      for (const Returned& r : s.results) scored.labelled += r.is_new && r.labelled;
    }
  piece.conversations.push_back(std::move(scored));
}

std::vector<const Turn*> TraceWorker::counting(const Conversation& c) const {
  std::vector<const Turn*> turns;
  const auto count = static_cast<int>(c.turns.size());
  for (int t = 1; t <= count; ++t)
    if (options_.turn == TraceOptions::all_turns || t == options_.turn ||
        (options_.turn == TraceOptions::last_turn && t == count))
      turns.push_back(&c.turns[static_cast<size_t>(t - 1)]);
  return turns;
}

/// Finds which results are new and the gain of each new one: its own, or that of its first labelled duplicate.
void TraceWorker::identify(const Conversation& c, bool pooled, Member& member) {
  if (labels_) {
    const uint32_t query = labels_->find(c.id);
    if (query == IdTable::none) ++member.totals.unknown_conversations;
    else member.judged = &(*labels_)[query];
  }
  if (!pooled || group_begins_) index_.use(member.judged);
  group_begins_ = false;
  if (member.judged)
    for (const double gain : member.judged->gains) count_label(gain, member.totals);
  clusters_.clear();  // it is not empty if the last line was bad
  queries_.clear();
  by_label_.clear();
  const std::vector<const Turn*> turns = counting(c);
  for (const Turn* turn : turns)
    for (const Step& step : turn->steps) {
      if (!step.searches.empty()) add_iteration(step, pooled, member);
      ++member.totals.steps;
      member.totals.opens += step.opens.size();
    }
  for (const Turn* turn : turns) member.totals.citations += turn->citations.size();
  member.totals.turns += turns.size();
  add_usage(turns, member);
  member.totals.left_out += clusters_.left_out() - left_out_;
  left_out_ = clusters_.left_out();
  if (turns.empty()) return;
  const Turn& last = *turns.back();
  member.has_answer = last.has_answer;
  member.counted.funnel.has_answer = last.has_answer || last.has_citations;
  member.counted.funnel.by_content = options_.opens == Opens::content;
  member.counted.funnel.opens += static_cast<uint32_t>(member.totals.opens);
  member.counted.confidence = last.confidence;
  if (options_.answers) member.user = last.user, member.answer = last.answer;
  const ScoredTurns scored{.conversation = c,
                           .turns = turns,
                           .new_results = member.new_results,
                           .by_label = by_label_,
                           .judged = member.judged,
                           .pool = pooled ? &pool_.clusters() : nullptr};
  finder_.find(scored, member.uses);
}

void TraceWorker::add_iteration(const Step& step, bool pooled, Member& member) {
  Iteration& iteration = member.counted.iterations.emplace_back();
  for (const Search& s : step.searches) {
    const bool repeats = !s.query.empty() && !queries_.insert(normal_form(s.query)).second;
    Searched& searched = iteration.searches.emplace_back();
    searched.repeats_query = repeats;
    searched.failed = s.failed;
    searched.unread = s.unread;
    TraceTotals& totals = member.totals;
    ++totals.searches;
    totals.tries += static_cast<uint64_t>(s.tries);
    totals.failed += s.failed;
    totals.unread += s.unread;
    totals.empty += s.results.empty() && !s.failed && !s.unread;
    totals.results += s.results.size();
    if (s.results.empty()) continue;
    member.searches.push_back({.result = member.results,
                               .iteration = static_cast<uint32_t>(member.counted.iterations.size() - 1),
                               .search = static_cast<uint32_t>(iteration.searches.size() - 1)});
    searched.results.reserve(s.results.size());
    make_room(member.new_results, s.results.size());
    make_room(member.names, s.results.size());
    s.results.each([&](const Result& r) { add_result(r, pooled, member); });
  }
}

void TraceWorker::add_result(const Result& r, bool pooled, Member& member) {
  const uint32_t number = member.results++;
  const uint32_t cluster = clusters_.add(r);
  double gain = r.gain;
  bool labelled = r.labelled;
  LabelIndex::Match match;
  if (member.judged) match = label(r, member.totals, gain, labelled);
  if (match.labelled) by_label_.try_emplace(match.group, cluster);
  if (labelled) count_label(gain, member.totals);
  const bool is_new = cluster == number;
  Iteration& iteration = member.counted.iterations.back();
  std::vector<Returned>& results = iteration.searches.back().results;
  if (!r.aspects.empty()) member.counted.aspects.emplace_back(r.aspects.begin(), r.aspects.end());
  const auto aspects = static_cast<uint32_t>(r.aspects.empty() ? 0 : member.counted.aspects.size());
  results.push_back({.is_new = is_new, .labelled = labelled, .aspects = aspects, .gain = gain});
  const bool may_be_good = pooled || (labelled && gain >= options_.gain.threshold);
  const bool has_content = options_.opens == Opens::content && !r.content.empty();
  if (is_new) {
    member.new_results.push_back(number);
    const Bytes name = may_be_good ? name_of(r, match) : Bytes();
    member.names.push_back(name.empty() ? nullptr : names_.keep_sized(name));
    if (pooled) member.in_pool.push_back(pool_.add(r, match.group, name));
  } else if (labelled) {
    Returned& original = member.at(cluster);
    if (!original.labelled) {
      original.labelled = true, original.gain = gain;
      if (match.labelled || !pooled) member.names[member.position(cluster)] = names_.keep_sized(name_of(r, match));
    }
  }
  member.counted.funnel.opens += has_content;
  if (!has_content) return;
  member.uses.results.resize(member.new_results.size());
  member.uses.results[member.position(cluster)].add(
      {.opened = static_cast<uint32_t>(member.counted.iterations.size())});
}

/// The outside label of a result replaces its own gain.
LabelIndex::Match TraceWorker::label(const Result& r, TraceTotals& totals, double& gain, bool& labelled) {
  const LabelIndex::Match match = index_.find(r);
  totals.ambiguous_labels += match.ambiguous;
  if (!match.labelled) return match;
  labelled = true;
  gain = match.gain;
  if (gain >= 0 && gain <= options_.gain.max_gain) return match;
  char range[64];
  std::snprintf(range, sizeof range, " must be between 0 and %g, got %g", options_.gain.max_gain, gain);
  bad_input("the label of " + in_quotes(match.name) + range, labels_->name,
            "set max_gain (--max-gain) for another scale");
}

}  // namespace gg
