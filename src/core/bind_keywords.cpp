#include "bind_keywords.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "keywords.hpp"
#include "python_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace gg {
namespace {

/// The bytes of a list of Python strings, which live as long as this.
class Texts {
 public:
  explicit Texts(const nb::list& texts) : texts_(nb::steal<nb::tuple>(PyList_AsTuple(texts.ptr()))) {
    views.reserve(nb::len(texts_));
    Breather breathe;
    for (const nb::handle text : texts_) {
      breathe();
      Py_ssize_t size;
      if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
        views.emplace_back(utf8, static_cast<size_t>(size));
        continue;
      }
      PyErr_Clear();  // surrogates, which are in no word
      const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
      if (!bytes.is_valid()) throw nb::python_error();
      views.push_back(copies_.emplace_back(bytes_of(bytes)));
    }
  }

  std::vector<Bytes> views;

 private:
  nb::tuple texts_;                 // another thread may change the list
  std::deque<std::string> copies_;  // of strings that UTF-8 cannot encode
};

Bm25Options options_of(const std::string& method, double k1, double b, double delta) {
  static const std::pair<const char*, Bm25Method> methods[] = {
      {"lucene", Bm25Method::lucene}, {"robertson", Bm25Method::robertson}, {"atire", Bm25Method::atire},
      {"bm25l", Bm25Method::bm25l},   {"bm25+", Bm25Method::bm25plus},
  };
  for (const auto& [name, value] : methods)
    if (method == name) return {value, k1, b, delta};
  throw nb::value_error(("unknown method " + method).c_str());
}

nb::list hits_of(const KeywordIndex& index, const nb::list& query, size_t depth, const nb::list& names) {
  const Texts words(query);
  std::vector<KeywordHit> hits;
  {
    const Unlocked release;
    hits = index.search(words.views, depth);
  }
  nb::list results;
  for (const KeywordHit& hit : hits) results.append(nb::make_tuple(names[hit.doc], hit.score));
  return results;
}

}  // namespace

void bind_keywords(nb::module_& m) {
  nb::class_<KeywordIndex>(m, "KeywordIndex")
      .def(
          "__init__",
          [](KeywordIndex* index, const nb::list& stopwords, const WordRanges& ranges) {
            new (index) KeywordIndex(Texts(stopwords).views, ranges);
          },
          "stopwords"_a, "ranges"_a)
      .def(
          "add",
          [](KeywordIndex& index, const nb::list& list, unsigned threads) {
            const Texts texts(list);
            const Unlocked release;
            index.add(texts.views, threads);
          },
          "texts"_a, "threads"_a)
      .def("words", [](const KeywordIndex& index) { return string_list(index.words()); })
      .def(
          "rename",
          [](KeywordIndex& index, const nb::list& replacements) {
            if (nb::len(replacements) != index.words().size()) throw nb::value_error("one replacement for each word");
            const Texts texts(replacements);
            const Unlocked release;
            index.rename(texts.views);
          },
          "replacements"_a)
      .def(
          "finish",
          [](KeywordIndex& index, const std::string& method, double k1, double b, double delta) {
            const Bm25Options options = options_of(method, k1, b, delta);
            const Unlocked release;
            index.finish(options);
          },
          "method"_a, "k1"_a, "b"_a, "delta"_a)
      .def("search", &hits_of, "query"_a, "depth"_a, "names"_a)
      .def("__len__", &KeywordIndex::documents)
      .def_prop_ro("nbytes", &KeywordIndex::bytes);
}

}  // namespace gg
