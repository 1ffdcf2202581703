#include "bind_compat.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "dict_members.hpp"
#include "evaluate.hpp"
#include "kernels.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

nb::object owned(PyObject* object) {
  if (!object) throw nb::python_error();
  return nb::steal(object);
}

/// The number of a query of the run, whose key may be an integer in Python.
uint32_t query_number(const Qrels& qrels, nb::handle query) {
  uint32_t number = IdTable::none;
  with_bytes(PyUnicode_Check(query.ptr()) ? nb::borrow(query) : owned(PyObject_Str(query.ptr())),
             [&](Bytes id) { number = qrels.find(id); });
  return number;
}

/// {query: {measure: value}} in the order of the run, with the run's own keys.
nb::dict nested(const Scores& scores, const nb::dict& run, const nb::list& names) {
  const nb::dict result;
  const size_t width = nb::len(names);
  nb::object query, docs;
  Py_ssize_t place = 0;
  Breather breathe;
  while (next_member(run.ptr(), place, query, docs)) {
    breathe();
    const uint32_t q = query_number(*scores.qrels, query);
    if (q == IdTable::none) continue;
    const nb::object values = owned(PyDict_New());
    const double* row = scores.values.data() + q * scores.width;
    for (size_t m = 0; m < width; ++m) {
      const nb::object value = owned(PyFloat_FromDouble(row[m]));
      if (PyDict_SetItem(values.ptr(), names[m].ptr(), value.ptr()) < 0) throw nb::python_error();
    }
    if (PyDict_SetItem(result.ptr(), query.ptr(), values.ptr()) < 0) throw nb::python_error();
  }
  return result;
}

/// The value of one measure for one query, the value if nothing is judged, and for every rank (document, score, gain,
/// value so far), where the value so far treats everything below as unjudged.
nb::tuple explain(const Plan& plan, const Qrels& qrels, const Text& query, const std::vector<Text>& docs,
                  const std::vector<double>& scores, size_t measure) {
  const uint32_t q = qrels.find(query.bytes);
  if (q == IdTable::none) throw nb::key_error(query.bytes.c_str());
  const QueryJudgments& judged = qrels[q];
  std::vector<Row> rows;
  for (size_t i = 0; i < docs.size(); ++i) {
    const Bytes doc = docs[i].bytes;
    const uint64_t hash = hash_bytes(doc);
    rows.push_back({hash, doc, scores.at(i), judged.find(doc, hash)});
  }
  const auto group = std::find_if(plan.groups.begin(), plan.groups.end(), [&](const Plan::Group& g) {
    return std::find(g.measures.begin(), g.measures.end(), measure) != g.measures.end();
  });
  const Spec& spec = plan.measures.at(measure);
  Ranker ranker;
  bool repeated = false;
  const Ranked ranked = ranker.rank(qrels, judged, rows, group->policy, true, [&](const Row&) { repeated = true; });
  if (repeated) throw nb::value_error("duplicate document in the ranking");
  const auto value_of = [&](size_t hits) {
    Ranked part = ranked;
    part.hits = ranked.hits.first(hits);
    return spec.kernel->point(part, spec);
  };
  nb::list terms;
  size_t hits = 0;
  const double first = value_of(0);
  double so_far = first;
  const auto order = ranker.order();
  for (uint32_t rank = 1; rank <= order.size(); ++rank) {
    const Row& row = rows[order[rank - 1]];
    nb::object gain = nb::none();
    if (hits < ranked.hits.size() && ranked.hits[hits].rank == rank) {
      gain = nb::float_(judged.gains[ranked.hits[hits].judgment]);
      so_far = value_of(++hits);
    }
    terms.append(nb::make_tuple(to_python(row.doc), row.score, gain, so_far));
  }
  return nb::make_tuple(spec.kernel->point(ranked, spec), first, terms);
}

}  // namespace

void bind_compat(nb::module_& m) {
  m.def("nested_scores", nested);
  m.def("explain", explain);
}

}  // namespace gg
