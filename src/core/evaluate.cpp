#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "error.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

namespace gg {

// --- one query ---

void Worker::duplicate(const QueryJudgments& query, const Row& row, std::string where) {
  duplicate_input("duplicate document " + in_quotes(row.doc) + " for query " + in_quotes(query.id), std::move(where),
                  "set the policy duplicates=first or duplicates=best to keep one of them");
}

void Worker::bad_rank(const QueryJudgments& query, const Row& row, std::string where) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", row.score);
  bad_input(std::string("the rank ") + text + " of document " + in_quotes(row.doc) + " for query " +
                in_quotes(query.id) + " must be a non-negative integer",
            std::move(where), "ranks count from 1; for scores, name their column 'score'");
}

RankFacts Worker::rank_facts(const std::vector<Row>& rows) {
  ranks_.clear();
  for (const Row& row : rows) ranks_.push_back(row.score);
  std::sort(ranks_.begin(), ranks_.end());
  RankFacts facts;
  if (ranks_.empty()) return facts;
  facts.from_zero = ranks_[0] == 0;
  facts.gaps = ranks_[0] > 1;
  for (size_t i = 1; i < ranks_.size(); ++i) {
    if (ranks_[i] == ranks_[i - 1]) facts.shared = 1;
    if (ranks_[i] > ranks_[i - 1] + 1) facts.gaps = 1;
  }
  return facts;
}

QueryCounts Worker::counts(const Ranked& ranked) {
  constexpr uint32_t top = 10;
  QueryCounts n;
  n.retrieved = ranked.retrieved;
  n.unjudged = ranked.unjudged;
  n.top = std::min(ranked.retrieved, top);
  for (const Hit& hit : ranked.hits) {
    if (hit.rank > top) break;
    ++n.top_judged;
  }
  return n;
}

void Plan::group_next(const Policy& of_measure) {
  const auto next = static_cast<uint32_t>(measures.size() - 1);
  for (Group& group : groups)
    if (group.policy == of_measure) return group.measures.push_back(next);
  groups.push_back({of_measure, {next}});
}

void Worker::measure(const Plan::Group& group, const Ranked& ranked, const std::vector<Row>& rows, double* out) {
  const size_t n = plan_->measures.size();
  const Policy& policy = group.policy;
  if (plan_->has_customs) {
    gains_.clear();
    for (const uint32_t i : ranker_.order())
      gains_.push_back(rows[i].judgment == QueryJudgments::unjudged
                           ? undefined
                           : ranked.query->gains[static_cast<size_t>(rows[i].judgment)]);
  }
  for (const uint32_t m : group.measures) {
    if (++measured_ % 64 == 0) pause_point();  // a query may have thousands of measures
    const Spec& spec = plan_->measures[m];
    if (!spec.kernel) {
      out[m] = plan_->customs[m](*ranked.query, gains_);
      if (policy.bounds()) out[n + 2 * m] = out[n + 2 * m + 1] = undefined;
      continue;
    }
    out[m] = policy.ties == Ties::average ? spec.kernel->expected(ranked, spec) : spec.kernel->point(ranked, spec);
    if (policy.bounds()) {
      const Interval interval = policy.ties == Ties::bounds ? tie_bounds(ranked, spec) : unjudged_bounds(ranked, spec);
      out[n + 2 * m] = interval.lower;
      out[n + 2 * m + 1] = interval.upper;
    }
  }
}

void Worker::add_to(TopList& list, size_t group, const Ranked& ranked, const std::vector<Row>& rows) {
  if (group == 0) list = plan_->lists->begin(ranked, rows, ranker_.order());
  for (const uint32_t m : plan_->groups[group].measures)
    plan_->lists->explain(list, ranked, plan_->groups[group].policy, plan_->measures[m], m);
}

void Worker::measure_missing(const QueryJudgments& query, double* out) {
  static const std::string invented = "a document that is not in the run";
  std::vector<Row> rows;
  for (const Plan::Group& group : plan_->groups) {
    if (group.policy.missing == Missing::skip) continue;  // stays undefined
    rows.clear();
    if (group.policy.missing == Missing::invented) rows.push_back({0, invented, 1, QueryJudgments::unjudged});
    const Ranked ranked = ranker_.rank(*qrels_, query, rows, group.policy, false, [](const Row&) {});
    measure(group, ranked, rows, out);
  }
}

// --- scores of a run ---

std::string as_example(const Error& error) {
  return error.where.empty() ? error.what() : std::string(error.what()) + " (" + error.where + ")";
}

namespace {

void count_bad_ranks(Scores& scores) {
  for (size_t q = 0; q < scores.counts.size(); ++q)
    if (const uint32_t n = scores.counts[q].ranks.bad)
      scores.bad.join({n, "invalid rank for query " + in_quotes((*scores.qrels)[q].id)});
}

void count_repeats(Scores& scores, const Plan& plan) {
  if (!plan.repeats_are_bad) return;
  for (size_t q = 0; q < scores.counts.size(); ++q)
    if (const uint32_t n = scores.counts[q].repeated)
      scores.bad.join({n, "duplicate document for query " + in_quotes((*scores.qrels)[q].id)});
}

void fill_missing(Scores& scores, const Plan& plan) {
  if (plan.policy.missing == Missing::skip) return;
  Worker worker(*scores.qrels, plan);
  for (size_t q = 0; q < scores.in_run.size(); ++q)
    if (pause_point(q); !scores.in_run[q])
      worker.measure_missing((*scores.qrels)[q], scores.values.data() + q * scores.width);
}

void require_common_queries(const Scores& scores, const Plan& plan, const std::string& run_name) {
  if (plan.may_be_disjoint) return;
  if (std::find(scores.in_run.begin(), scores.in_run.end(), 1) != scores.in_run.end()) return;
  if (scores.documents == 0) bad_input("the run is empty", run_name, "was it written completely?");
  throw Error(ErrorKind::disjoint,
              "no query of the run is judged: the run has query " + in_quotes(scores.unjudged_example) +
                  ", the judgments have " +
                  (scores.qrels->size() ? in_quotes((*scores.qrels)[0].id) : std::string("none")),
              run_name, "both must use the same query ids; were they swapped, or are they from different collections?");
}

}  // namespace

Scores empty_scores(std::shared_ptr<const Qrels> qrels, const Plan& plan) {
  Scores scores;
  const size_t n = qrels->size();
  scores.qrels = std::move(qrels);
  scores.width = plan.width();
  scores.values.assign(n * scores.width, undefined);
  scores.counts.resize(n);
  scores.in_run.assign(n, 0);
  return scores;
}

Scores complete(Scores scores, const Plan& plan, const std::string& run_name) {
  count_bad_ranks(scores);
  count_repeats(scores, plan);
  require_common_queries(scores, plan, run_name);
  fill_missing(scores, plan);
  return scores;
}

void require_same_kinds(const Qrels& qrels, IdSample queries, IdSample docs, const std::string& run_name) {
  const auto name = [](IdKind kind) { return kind == IdKind::text ? "text" : "integers"; };
  for (const bool is_query : {true, false}) {
    const IdKind ours = is_query ? qrels.query_kind : qrels.doc_kind;
    const IdSample& theirs = is_query ? queries : docs;
    if (ours == theirs.kind || ours == IdKind::untyped || theirs.kind == IdKind::untyped) continue;
    const std::string example(is_query ? qrels[0].id : qrels[0].docs[0]);
    bad_input(std::string(is_query ? "query" : "document") + " ids are " + name(ours) + " in the judgments (" +
                  (ours == IdKind::text ? in_quotes(example) : example) + ") but " + name(theirs.kind) +
                  " in the run (" + theirs.example + ")",
              run_name, "1 and '1' are different ids: convert one side, for example with str()");
  }
}

}  // namespace gg
