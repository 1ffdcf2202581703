// Bindings for resampling and fusion: thin wrappers without logic.
#include "bind_stats.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fusion.hpp"
#include "option_tables.hpp"
#include "python_values.hpp"
#include "resample.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> span_of(const Values& values) { return {values.data(), values.shape(0)}; }

Differences differences_of(const Rows& rows) {
  return {{rows.data(), rows.shape(0) * rows.shape(1)}, rows.shape(0), rows.shape(1)};
}

nb::tuple tuple_of(const FlipCounts& c) { return nb::make_tuple(c.at_least, c.at_most, c.as_extreme, c.total); }

std::shared_ptr<RankedRun> ranked_run(nb::list queries, nb::list docs, nb::list scores, std::string name) {
  auto run = std::make_shared<RankedRun>(std::move(name));
  Breather breathe;
  for (size_t i = 0; i < queries.size(); ++i) {
    breathe();
    with_bytes(queries[i], [&](Bytes query) {
      with_bytes(docs[i], [&](Bytes doc) { run->add(query, doc, nb::cast<double>(scores[i])); });
    });
  }
  const Unlocked release;
  run->finish();
  return run;
}

nb::dict fused_dict(const std::vector<std::shared_ptr<const RankedRun>>& runs, nb::dict options, size_t depth,
                    unsigned threads) {
  const Fusion how = read_fusion(options);
  std::vector<Fused> fused;
  {
    const Unlocked release;
    fused = fuse(runs, how, threads);
  }
  nb::dict table;
  Breather breathe;
  for (const Fused& f : fused) {
    breathe();
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
      const Unlocked release;
      counts = random_flips(differences_of(rows), replicates, seed, threads);
    }
    return tuple_of(counts);
  });
  m.def("all_flips", [](Values values, unsigned threads) {
    FlipCounts counts;
    {
      const Unlocked release;
      counts = all_flips(span_of(values), threads);
    }
    return tuple_of(counts);
  });
  m.def("bootstrap_means", [](Rows rows, uint64_t replicates, uint64_t seed, unsigned threads) {
    std::vector<double> means;
    {
      const Unlocked release;
      means = bootstrap_means(differences_of(rows), replicates, seed, threads);
    }
    return numpy_array(std::move(means));
  });
  m.def("percentile_differences",
        [](Values a, Values b, double percent, bool swap, uint64_t replicates, uint64_t seed, unsigned threads) {
          std::vector<double> differences;
          {
            const Unlocked release;
            differences = percentile_differences(span_of(a), span_of(b), percent, swap, replicates, seed, threads);
          }
          return numpy_array(std::move(differences));
        });

  nb::class_<RankedRun>(m, "RankedRun")
      .def_static("of", &ranked_run)
      .def("queries", [](const RankedRun& r) { return string_list(r.queries()); })
      .def("hits", [](const RankedRun& r, std::shared_ptr<const Qrels> qrels, double rel) {
        const Unlocked release;
        return r.hits(*qrels, rel);
      });
  m.def("fuse", &fused_dict);
}

}  // namespace gg
