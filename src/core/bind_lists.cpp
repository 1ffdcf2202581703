#include "bind_lists.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "evaluate.hpp"
#include "python_tables.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

template <class T>
nb::object array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

/// All lists as columns. Documents are numbers of `ids`, which several runs share.
struct ListColumns {
  std::vector<uint32_t> counts, retrieved, docs, hit_counts, hit_ranks;
  std::vector<double> scores, gains;
  std::vector<std::vector<double>> parts, bases;

  ListColumns(const TopLists& lists, IdTable& ids) : parts(lists.measures()), bases(lists.measures()) {
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
        const double* own = list.parts.data() + m * hits;
        parts[m].insert(parts[m].end(), own, own + hits);
        bases[m].push_back(list.bases.empty() ? std::numeric_limits<double>::quiet_NaN() : list.bases[m]);
      }
    }
  }
};

nb::dict columns_of(const TopLists& lists, IdTable& ids) {
  std::unique_ptr<ListColumns> made;
  {
    const nb::gil_scoped_release release;
    made = std::make_unique<ListColumns>(lists, ids);
  }
  nb::dict found;
  found["counts"] = array(std::move(made->counts));
  found["retrieved"] = array(std::move(made->retrieved));
  found["docs"] = array(std::move(made->docs));
  found["scores"] = array(std::move(made->scores));
  found["hit_counts"] = array(std::move(made->hit_counts));
  found["hit_ranks"] = array(std::move(made->hit_ranks));
  found["gains"] = array(std::move(made->gains));
  nb::list parts, bases;
  for (size_t m = 0; m < lists.measures(); ++m) {
    parts.append(array(std::move(made->parts[m])));
    bases.append(array(std::move(made->bases[m])));
  }
  found["parts"] = parts;
  found["bases"] = bases;
  return found;
}

}  // namespace

void bind_lists(nb::module_& m) {
  nb::class_<IdTable>(m, "IdTable")
      .def(nb::init<>())
      .def("__len__", &IdTable::size)
      .def("texts", [](const IdTable& ids) {
        nb::list texts;
        for (size_t i = 0; i < ids.size(); ++i) texts.append(to_python(ids[i]));
        return texts;
      });

  nb::class_<TopLists>(m, "TopLists")
      .def(nb::new_([](const Qrels& qrels, size_t measures, uint32_t depth) {
        return std::make_shared<TopLists>(qrels.size(), measures, depth);
      }))
      .def("columns", &columns_of);
}

}  // namespace gg
