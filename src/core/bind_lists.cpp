#include "bind_lists.hpp"

#include <algorithm>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "evaluate.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

/// All lists as columns. Documents are numbers in `ids`, which several runs share.
struct ListColumns {
  std::vector<uint32_t> counts, retrieved, docs, hit_counts, hit_ranks;
  std::vector<double> scores, gains;
  std::vector<std::vector<double>> contributions, bases;

  ListColumns(const TopLists& lists, IdTable& ids) : contributions(lists.measures()), bases(lists.measures()) {
    for (size_t q = 0; q < lists.size(); ++q) {
      const TopList& list = lists[q];
      counts.push_back(static_cast<uint32_t>(list.ends.size()));
      retrieved.push_back(list.retrieved);
      uint32_t begin = 0;
      for (const uint32_t end : list.ends) {
        docs.push_back(ids.add(Bytes(list.text).substr(begin, end - begin)));
        begin = end;
      }
      scores.insert(scores.end(), list.scores.begin(), list.scores.end());
      const size_t hits = list.ranks.size();
      hit_counts.push_back(static_cast<uint32_t>(hits));
      hit_ranks.insert(hit_ranks.end(), list.ranks.begin(), list.ranks.end());
      gains.insert(gains.end(), list.gains.begin(), list.gains.end());
      for (size_t m = 0; m < lists.measures(); ++m) {
        const double* own = list.contributions.data() + m * hits;
        contributions[m].insert(contributions[m].end(), own, own + hits);
        bases[m].push_back(list.bases.empty() ? std::numeric_limits<double>::quiet_NaN() : list.bases[m]);
      }
    }
  }
};

/// The relevant documents of every query, best first, and the rank of each in the run; 0 if it was not retrieved.
struct RelevantColumns {
  std::vector<uint32_t> totals, counts, docs, ranks;
  std::vector<double> gains;

  /// At most `most` documents of a query, with those of the highest gains; `totals` counts all.
  RelevantColumns(const TopLists& lists, const Qrels& qrels, IdTable& ids, size_t most) {
    std::vector<uint32_t> order, rank_of;
    for (size_t q = 0; q < lists.size(); ++q) {
      const QueryJudgments& query = qrels[q];
      order.clear();
      rank_of.assign(query.docs.size(), 0);
      for (uint32_t j = 0; j < query.docs.size(); ++j)
        if (query.gains[j] > 0) order.push_back(j);
      std::stable_sort(order.begin(), order.end(),
                       [&query](uint32_t a, uint32_t b) { return query.gains[a] > query.gains[b]; });
      const TopList& list = lists[q];
      for (size_t h = 0; h < list.ranks.size(); ++h) rank_of[list.judgments[h]] = list.ranks[h];
      for (const Hit& hit : list.later) rank_of[hit.judgment] = hit.rank;
      totals.push_back(static_cast<uint32_t>(order.size()));
      order.resize(std::min(order.size(), most));
      counts.push_back(static_cast<uint32_t>(order.size()));
      for (const uint32_t j : order) {
        docs.push_back(ids.add(query.docs[j]));
        gains.push_back(query.gains[j]);
        ranks.push_back(rank_of[j]);
      }
    }
  }
};

nb::dict relevant_of(const TopLists& lists, const Qrels& qrels, IdTable& ids, size_t most) {
  std::unique_ptr<RelevantColumns> columns;
  {
    const Unlocked release;
    columns = std::make_unique<RelevantColumns>(lists, qrels, ids, most);
  }
  nb::dict arrays;
  arrays["totals"] = numpy_array(std::move(columns->totals));
  arrays["counts"] = numpy_array(std::move(columns->counts));
  arrays["docs"] = numpy_array(std::move(columns->docs));
  arrays["gains"] = numpy_array(std::move(columns->gains));
  arrays["ranks"] = numpy_array(std::move(columns->ranks));
  return arrays;
}

nb::dict columns_of(const TopLists& lists, IdTable& ids) {
  std::unique_ptr<ListColumns> columns;
  {
    const Unlocked release;
    columns = std::make_unique<ListColumns>(lists, ids);
  }
  nb::dict arrays;
  arrays["counts"] = numpy_array(std::move(columns->counts));
  arrays["retrieved"] = numpy_array(std::move(columns->retrieved));
  arrays["docs"] = numpy_array(std::move(columns->docs));
  arrays["scores"] = numpy_array(std::move(columns->scores));
  arrays["hit_counts"] = numpy_array(std::move(columns->hit_counts));
  arrays["hit_ranks"] = numpy_array(std::move(columns->hit_ranks));
  arrays["gains"] = numpy_array(std::move(columns->gains));
  nb::list contributions, bases;
  for (size_t m = 0; m < lists.measures(); ++m) {
    contributions.append(numpy_array(std::move(columns->contributions[m])));
    bases.append(numpy_array(std::move(columns->bases[m])));
  }
  arrays["contributions"] = contributions;
  arrays["bases"] = bases;
  return arrays;
}

}  // namespace

void bind_lists(nb::module_& m) {
  m.def("hash_of", [](const Text& id) { return hash_bytes(id.bytes); });  // of this process
  nb::class_<IdTable>(m, "IdTable")
      .def(nb::init<>())
      .def("__len__", &IdTable::size)
      .def("texts", [](const IdTable& ids) { return string_list(ids); });

  nb::class_<TopLists>(m, "TopLists")
      .def(nb::new_([](const Qrels& qrels, size_t measures, uint32_t depth) {
        return std::make_shared<TopLists>(qrels.size(), measures, depth);
      }))
      .def("columns", &columns_of)
      .def("relevant", &relevant_of);
}

}  // namespace gg
