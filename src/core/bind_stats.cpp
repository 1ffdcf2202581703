// Resampling and fusion for Python: thin wrappers, no logic of their own.
#include "bind_stats.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fusion.hpp"
#include "python_tables.hpp"
#include "resample.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

std::span<const double> span_of(const Values& values) { return {values.data(), values.shape(0)}; }

Differences differences_of(const Rows& rows) {
  return {{rows.data(), rows.shape(0) * rows.shape(1)}, rows.shape(0), rows.shape(1)};
}

Array array_of(std::vector<double>&& values) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Array(kept->data(), {kept->size()}, owner);
}

nb::tuple tuple_of(const FlipCounts& c) { return nb::make_tuple(c.at_least, c.at_most, c.as_extreme, c.total); }

/// Text as bytes; ids that were no UTF-8 get theirs back.
template <class Use>
void with_bytes(nb::handle text, Use&& use) {
  Py_ssize_t size;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return use(Bytes(utf8, static_cast<size_t>(size)));
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  use(Bytes(PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))));
}

std::shared_ptr<RankedRun> ranked_run(nb::list queries, nb::list docs, nb::list scores, std::string name) {
  auto run = std::make_shared<RankedRun>(std::move(name));
  for (size_t i = 0; i < queries.size(); ++i)
    with_bytes(queries[i], [&](Bytes query) {
      with_bytes(docs[i], [&](Bytes doc) { run->add(query, doc, nb::cast<double>(scores[i])); });
    });
  run->finish();
  return run;
}

template <class Enum>
Enum named(const nb::dict& options, const char* key, std::initializer_list<std::pair<const char*, Enum>> names) {
  const auto value = nb::cast<std::string>(options[key]);
  for (const auto& [name, meaning] : names)
    if (value == name) return meaning;
  throw nb::value_error(value.c_str());
}

Fusion fusion_from(const nb::dict& options) {
  Fusion how;
  how.norm = named<Norm>(options, "norm", {{"none", Norm::none}, {"min-max", Norm::min_max}, {"min-max-inverted", Norm::min_max_inverted},
                                           {"max", Norm::max}, {"sum", Norm::sum}, {"zmuv", Norm::zmuv}, {"rank", Norm::rank}, {"borda", Norm::borda}});
  how.points = named<Points>(options, "points", {{"score", Points::score}, {"inverse_square", Points::inverse_square}, {"reciprocal", Points::reciprocal},
                                                 {"geometric", Points::geometric}, {"table", Points::table}, {"segments", Points::segments},
                                                 {"segments_times_score", Points::segments_times_score}, {"window", Points::window},
                                                 {"inverse", Points::inverse}, {"borda", Points::borda}});
  how.combine = named<Combine>(options, "combine", {{"sum", Combine::sum}, {"min", Combine::min}, {"max", Combine::max}, {"median", Combine::median},
                                                    {"mean", Combine::mean}, {"times_count", Combine::times_count}, {"times_log_count", Combine::times_log_count},
                                                    {"times_weight", Combine::times_weight}, {"times_root_count", Combine::times_root_count},
                                                    {"condorcet", Combine::condorcet}});
  how.parameter = nb::cast<double>(options["parameter"]);
  how.exponent = nb::cast<double>(options["exponent"]);
  how.log_shift = nb::cast<double>(options["log_shift"]);
  how.absent = nb::cast<double>(options["absent"]);
  how.weights = nb::cast<std::vector<double>>(options["weights"]);
  how.tables = nb::cast<std::vector<std::vector<double>>>(options["tables"]);
  return how;
}

nb::dict fused_dict(const std::vector<std::shared_ptr<const RankedRun>>& runs, nb::dict options, size_t depth, unsigned threads) {
  const Fusion how = fusion_from(options);
  std::vector<Fused> fused;
  {
    const nb::gil_scoped_release release;
    fused = fuse(runs, how, threads);
  }
  nb::dict table;
  for (const Fused& f : fused) {
    nb::dict docs;
    const size_t n = depth ? std::min(depth, f.ranking.size()) : f.ranking.size();
    for (size_t i = 0; i < n; ++i) docs[to_python(f.ranking[i].doc)] = f.ranking[i].score;
    table[to_python(f.query)] = docs;
  }
  return table;
}

}  // namespace

void bind_stats(nb::module_& m) {
  m.def("random_flips", [](Rows rows, uint64_t replicates, uint64_t seed, unsigned threads) {
    FlipCounts counts;
    {
      const nb::gil_scoped_release release;
      counts = random_flips(differences_of(rows), replicates, seed, threads);
    }
    return tuple_of(counts);
  });
  m.def("all_flips", [](Values values, unsigned threads) {
    FlipCounts counts;
    {
      const nb::gil_scoped_release release;
      counts = all_flips(span_of(values), threads);
    }
    return tuple_of(counts);
  });
  m.def("bootstrap_means", [](Rows rows, uint64_t replicates, uint64_t seed, unsigned threads) {
    std::vector<double> means;
    {
      const nb::gil_scoped_release release;
      means = bootstrap_means(differences_of(rows), replicates, seed, threads);
    }
    return array_of(std::move(means));
  });
  m.def("percentile_differences", [](Values a, Values b, double percent, bool swap, uint64_t replicates, uint64_t seed, unsigned threads) {
    std::vector<double> found;
    {
      const nb::gil_scoped_release release;
      found = percentile_differences(span_of(a), span_of(b), percent, swap, replicates, seed, threads);
    }
    return array_of(std::move(found));
  });

  nb::class_<RankedRun>(m, "RankedRun")
      .def_static("of", &ranked_run)
      .def("queries", [](const RankedRun& r) {
        nb::list ids;
        for (size_t i = 0; i < r.queries().size(); ++i) ids.append(to_python(r.queries()[i]));
        return ids;
      })
      .def("hits", &RankedRun::hits);
  m.def("fuse", &fused_dict);
}

}  // namespace gg
