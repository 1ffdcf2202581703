#include "plain_dicts.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "dict_members.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {

// The stable ABI does not say whether a text is ASCII, and without a GIL nobody keeps others from changing the
// dictionaries.
#if defined(Py_LIMITED_API) || defined(Py_GIL_DISABLED)

nb::dict measure_plain_queries(const nb::dict& run, const Plan&, unsigned, Scores&, TextIds&) { return run; }

#else

namespace {

struct Query {
  PyObject *id, *docs;
  uint32_t number;
  bool is_plain = false;
};

/// Reads the documents of a query; false if one is not plain. Only looks at objects that never change, and at
/// dictionaries while some thread holds the GIL for all of them, so it needs no GIL itself.
bool read_rows(const Query& query, const QueryJudgments* judgments, std::vector<Row>& rows) {
  bool is_plain = true;
  rows.clear();
  rows.reserve(static_cast<size_t>(PyDict_GET_SIZE(query.docs)));
  Py_ssize_t place = each_plain_member(
      query.docs, 0,
      [&](PyObject* doc, PyObject* score) {
        if (!PyUnicode_IS_COMPACT_ASCII(doc) || !PyFloat_CheckExact(score) || !std::isfinite(PyFloat_AS_DOUBLE(score)))
          return void(is_plain = false);
        const Bytes id(static_cast<const char*>(PyUnicode_DATA(doc)), static_cast<size_t>(PyUnicode_GET_LENGTH(doc)));
        const uint64_t hash = hash_bytes(id);
        rows.push_back(
            {hash, id, PyFloat_AS_DOUBLE(score), judgments ? judgments->find(id, hash) : QueryJudgments::unjudged});
      },
      [] {});
  PyObject *key, *value;
  return is_plain && !PyDict_Next(query.docs, &place, &key, &value);
}

/// The text of a query id, or nothing for an id that is not plain.
Bytes plain_id(PyObject* id) {
  if (!PyUnicode_CheckExact(id) || !PyUnicode_IS_COMPACT_ASCII(id)) return {};
  return {static_cast<const char*>(PyUnicode_DATA(id)), static_cast<size_t>(PyUnicode_GET_LENGTH(id))};
}

void add(const nb::dict& others, const Query& query) {
  if (PyDict_SetItem(others.ptr(), query.id, query.docs) < 0) throw nb::python_error();
}

}  // namespace

nb::dict measure_plain_queries(const nb::dict& run, const Plan& plan, unsigned threads, Scores& scores, TextIds& ids) {
  constexpr Py_ssize_t documents_at_once = 1 << 17;  // some milliseconds: other threads of Python wait meanwhile
  const Qrels& qrels = *scores.qrels;
  threads = std::max(threads, 1u);
  nb::dict others;
  std::vector<Worker> workers(threads, Worker(qrels, plan));
  std::vector<std::vector<Row>> rows(threads);
  std::vector<Query> queries;
  Breather breathe;
  PyObject *id, *docs;
  bool is_end = false;
  for (Py_ssize_t place = 0; !is_end; breathe.look()) {
    queries.clear();
    for (Py_ssize_t n = 0; n < documents_at_once && !(is_end = !PyDict_Next(run.ptr(), &place, &id, &docs));) {
      const Bytes text = plain_id(id);
      const bool may_be_plain = text.data() && PyDict_CheckExact(docs) && PyDict_GET_SIZE(docs) > 0 &&
                                PyDict_GET_SIZE(docs) <= documents_at_once;
      queries.push_back({id, docs, may_be_plain ? qrels.find(text) : IdTable::none, may_be_plain});
      n += may_be_plain ? PyDict_GET_SIZE(docs) : 1;
    }
    std::atomic<size_t> next{0};
    in_parallel(threads, threads, [&](size_t t) {
      for (size_t i; (i = next.fetch_add(1)) < queries.size();) {
        Query& query = queries[i];
        const uint32_t q = query.number;
        const QueryJudgments* judgments = q == IdTable::none ? nullptr : &qrels[q];
        if (!query.is_plain || !(query.is_plain = read_rows(query, judgments, rows[t])) || !judgments) continue;
        scores.in_run[q] = 1;
        scores.counts[q] = workers[t].measure(*judgments, rows[t], false, scores.values.data() + q * scores.width,
                                              [](const Row&) { return std::string(); });
      }
    });
    for (const Query& query : queries) {
      if (!query.is_plain) {
        add(others, query);
        continue;
      }
      scores.documents += static_cast<uint64_t>(PyDict_GET_SIZE(query.docs));
      if (query.number == IdTable::none && scores.unjudged_queries++ == 0) scores.unjudged_example = plain_id(query.id);
      if (ids.query.is_valid()) continue;
      PyObject *doc, *score;
      Py_ssize_t first = 0;
      PyDict_Next(query.docs, &first, &doc, &score);
      ids = {nb::borrow(query.id), nb::borrow(doc)};
    }
  }
  return others;
}

#endif

}  // namespace gg
