// The door to Python: thin wrappers, no logic of their own.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "bind_compat.hpp"
#include "bind_lists.hpp"
#include "bind_packed.hpp"
#include "bind_stats.hpp"
#include "bind_traces.hpp"
#include "error.hpp"
#include "evaluate.hpp"
#include "kernels.hpp"
#include "loss.hpp"
#include "python_tables.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace gg {
namespace {

template <class T>
T field(const nb::dict& options, const char* name, T otherwise) {
  return options.contains(name) ? nb::cast<T>(options[name]) : otherwise;
}

template <class Enum>
Enum choice(const std::string& value, std::initializer_list<std::pair<const char*, Enum>> names) {
  for (const auto& [name, meaning] : names)
    if (value == name) return meaning;
  throw nb::value_error(value.c_str());
}

/// One measure from {"kernel": ..., parameters}; `kernel` None is a function of the user.
Spec spec_from(const nb::dict& options) {
  Spec s;
  if (!options["kernel"].is_none()) {
    const auto name = nb::cast<std::string>(options["kernel"]);
    s.kernel = find_kernel(name);
    if (!s.kernel) throw nb::key_error(("the core has no kernel " + name).c_str());
  }
  s.cutoff = field<uint32_t>(options, "cutoff", s.cutoff);
  s.rel = field(options, "rel", s.rel);
  s.binary = field(options, "binary", s.binary);
  s.exp_gain = field(options, "exp_gain", s.exp_gain);
  s.ideal_retrieved = field(options, "ideal_retrieved", s.ideal_retrieved);
  s.p = field(options, "p", s.p);
  s.alpha = field(options, "alpha", s.alpha);
  s.beta = field(options, "beta", s.beta);
  s.max_grade = field(options, "max_grade", s.max_grade);
  s.recall = field(options, "recall", s.recall);
  s.recall_ceil = field(options, "recall_ceil", s.recall_ceil);
  s.fp_penalty = field(options, "fp_penalty", s.fp_penalty);
  s.fn_penalty = field(options, "fn_penalty", s.fn_penalty);
  s.punish_max = field(options, "punish_max", s.punish_max);
  s.reference = field(options, "reference", s.reference);
  s.min_gain = field(options, "min_gain", s.min_gain);
  s.ideal_length = field(options, "ideal_length", s.ideal_length);
  s.returned = field(options, "returned", s.returned);
  s.scale = choice<Scale>(field<std::string>(options, "scale", "collection"),
                          {{"collection", Scale::collection}, {"query", Scale::query}, {"none", Scale::none}});
  s.negative_judged = field(options, "negative_judged", s.negative_judged);
  s.overlap_depth = field(options, "overlap_depth", s.overlap_depth);
  s.empty_zero = field(options, "empty_zero", s.empty_zero);
  s.numbers = field(options, "numbers", s.numbers);
  return s;
}

Policy policy_from(const nb::dict& options) {
  const auto text = [&](const char* name) { return nb::cast<std::string>(options[name]); };
  Policy p;
  p.ties = choice<Ties>(text("ties"), {{"docid", Ties::docid}, {"docid-ascending", Ties::docid_ascending},
                                       {"input", Ties::input}, {"average", Ties::average}, {"bounds", Ties::bounds}});
  p.missing = choice<Missing>(text("missing"), {{"zero", Missing::zero}, {"skip", Missing::skip}, {"invented", Missing::invented}});
  p.unjudged = choice<Unjudged>(text("unjudged"), {{"nonrelevant", Unjudged::nonrelevant}, {"remove", Unjudged::remove},
                                                   {"remove-negative", Unjudged::remove}, {"bounds", Unjudged::bounds}});
  p.duplicates = choice<Duplicates>(text("duplicates"), {{"error", Duplicates::error}, {"first", Duplicates::first}, {"best", Duplicates::best}});
  p.score32 = field<std::string>(options, "scores", "double") == "single";
  p.drop_negative = text("unjudged") == "remove-negative";
  p.drop_same_id = field<std::string>(options, "same_id", "keep") == "drop";
  p.depth = field<uint32_t>(options, "depth", 0);
  return p;
}

/// A Python function as a measure: called with the gains as a numpy array, under the interpreter's lock.
CustomMeasure custom_from(nb::callable function) {
  // The last copy may go on a thread without the interpreter's lock.
  std::shared_ptr<nb::callable> kept(new nb::callable(std::move(function)), [](nb::callable* f) {
    const nb::gil_scoped_acquire lock;
    delete f;
  });
  return [kept](const QueryJudgments& query, const std::vector<double>& gains) {
    const nb::gil_scoped_acquire lock;
    const auto array = [](std::span<const double> values) {
      auto* copy = new std::vector<double>(values.begin(), values.end());
      const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
      return nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy->data(), {copy->size()}, owner);
    };
    return nb::cast<double>((*kept)(array(gains), array(query.gains_sorted)));
  };
}

std::shared_ptr<Plan> make_plan(nb::list measures, nb::dict policy) {
  auto plan = std::make_shared<Plan>();
  plan->policy = policy_from(policy);
  for (nb::handle item : measures) {
    const auto options = nb::cast<nb::dict>(item);
    plan->measures.push_back(spec_from(options));
    plan->customs.emplace_back();
    if (!plan->measures.back().kernel) {
      plan->customs.back() = custom_from(nb::cast<nb::callable>(options["function"]));
      plan->has_customs = true;
    }
    plan->group_next(options.contains("policy") ? policy_from(nb::cast<nb::dict>(options["policy"])) : plan->policy);
  }
  if (plan->groups.empty()) plan->groups.push_back({plan->policy, {}});
  plan->may_be_disjoint = field(policy, "may_be_disjoint", false);
  plan->skip_bad = field(policy, "skip_bad", false);
  if (plan->skip_bad && plan->policy.duplicates == Duplicates::error) {
    plan->repeats_are_bad = true;
    for (Plan::Group& group : plan->groups) group.policy.duplicates = Duplicates::first;
  }
  return plan;
}

LineFormat format_from(const nb::dict& options) {
  LineFormat format;
  const auto kind = nb::cast<std::string>(options["kind"]);
  format.skip = field<size_t>(options, "skip", 0);
  format.as_trec_eval = field(options, "as_trec_eval", false);
  if (kind == "delimited") {
    format.kind = LineFormat::Kind::delimited;
    format.delimiter = nb::cast<std::string>(options["delimiter"])[0];
    format.quotes = nb::cast<bool>(options["quotes"]);
    format.columns = {nb::cast<size_t>(options["query"]), nb::cast<size_t>(options["doc"]), nb::cast<size_t>(options["value"]),
                      field(options, "target", Columns::none), field(options, "aspect", Columns::none),
                      nb::cast<size_t>(options["columns"])};
  } else if (kind == "json") {
    format.kind = LineFormat::Kind::json;
    const auto key = [&](const char* name) { return field<std::string>(options, name, ""); };
    format.keys = {key("query"), key("doc"), key("value"), key("target"), key("aspect")};
  }
  return format;
}

ColumnNames columns_from(const nb::dict& options) {
  const auto name = [&](const char* key) { return field<std::string>(options, key, ""); };
  return {name("query"), name("doc"), name("value"), name("target"), name("aspect")};
}

/// The stream behind an object's `__arrow_c_stream__`, consumed.
std::unique_ptr<ArrowTable> arrow_table(nb::object source, std::string name) {
  const nb::object capsule = source.attr("__arrow_c_stream__")();
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (!stream) throw nb::python_error();
  return std::make_unique<ArrowTable>(*stream, std::move(name));
}

/// Rows as columns: query, doc, value, target, aspect.
template <class ForEach>
nb::tuple columns_of(ForEach&& for_each) {
  nb::list query, doc, value, target, aspect;
  for_each([&](const Line& line, uint64_t) {
    query.append(to_python(line.query));
    doc.append(to_python(line.doc));
    value.append(line.value);
    target.append(line.target.data() ? nb::object(to_python(line.target)) : nb::none());
    aspect.append(line.aspect.data() ? nb::object(to_python(line.aspect)) : nb::none());
  });
  return nb::make_tuple(query, doc, value, target, aspect);
}

/// Judgements and measures, ready for any number of runs.
struct Prepared {
  std::shared_ptr<const Qrels> qrels;
  std::shared_ptr<const Plan> plan;
  unsigned threads;
  std::shared_ptr<TopLists> lists;  // kept while the plan points to them
};

using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;

}  // namespace
}  // namespace gg

NB_MODULE(_core, m) {
  using namespace gg;
  nb::set_leak_warnings(false);
  m.doc() = "The measured core of goodgain.";

  // (kind, message, where, hint): turned into goodgain.errors by the Python side.
  static nb::object core_error = nb::steal(PyErr_NewException("goodgain._core.CoreError", PyExc_ValueError, nullptr));
  m.attr("CoreError") = core_error;
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const Error& e) {
          const nb::tuple args = nb::make_tuple(e.kind == ErrorKind::usage ? "usage" : "input", to_python(e.what()),
                                                to_python(e.where), to_python(e.hint));
          PyErr_SetObject(core_error.ptr(), args.ptr());
        }
      });

  m.def("kernels", [] {
    nb::dict all;
    for (const Kernel& k : kernels()) {
      nb::dict facts;
      facts["unjudged_bounds"] = k.unjudged_bounds != UnjudgedBounds::refuse;
      all[nb::str(k.name.data(), k.name.size())] = facts;
    }
    return all;
  });

  nb::class_<Qrels>(m, "Qrels")
      .def_static("from_file", [](int fd, std::string name, nb::dict format) -> std::shared_ptr<Qrels> {
        const LineFormat how = format_from(format);
        const nb::gil_scoped_release release;
        const MappedFile file(fd, std::move(name));
        return read_qrels(file, how);
      })
      .def_static("from_dict", [](nb::dict table, std::string name, bool typed) -> std::shared_ptr<Qrels> {
        return qrels_from_dict(table, std::move(name), typed);
      })
      .def_static("from_rows", [](nb::sequence rows, std::string name) -> std::shared_ptr<Qrels> { return qrels_from_rows(rows, std::move(name)); })
      .def("__len__", &Qrels::size)
      .def_prop_ro("judgments", &Qrels::judgments)
      .def_prop_ro("max_gain", &Qrels::max_gain)
      .def_prop_ro("has_targets", &Qrels::has_targets)
      .def_prop_ro("has_aspects", &Qrels::has_aspects)
      .def("queries", [](const Qrels& q) {
        nb::list ids;
        for (size_t i = 0; i < q.size(); ++i) ids.append(to_python(q[i].id));
        return ids;
      })
      .def("judgements_of", [](const Qrels& q, std::string query) -> nb::object {
        const uint32_t i = q.find(query);
        if (i == IdTable::none) return nb::none();
        nb::dict found;
        for (size_t d = 0; d < q[i].docs.size(); ++d) found[to_python(q[i].docs[d])] = q[i].gains[d];
        return found;
      });

  nb::class_<Plan>(m, "Plan")
      .def(nb::new_([](nb::list measures, nb::dict policy) { return make_plan(measures, policy); }));

  nb::class_<Prepared>(m, "Prepared")
      .def("__init__", [](Prepared* self, std::shared_ptr<const Qrels> qrels, std::shared_ptr<const Plan> plan, unsigned threads) {
        new (self) Prepared{std::move(qrels), std::move(plan), threads, nullptr};
      })
      // The same, keeping the first ranks of every query of the run that is measured next.
      .def("listing", [](const Prepared& p, std::shared_ptr<TopLists> lists) {
        auto plan = std::make_shared<Plan>(*p.plan);
        plan->lists = lists.get();
        return Prepared{p.qrels, std::move(plan), p.threads, std::move(lists)};
      })
      .def("file", [](const Prepared& p, int fd, std::string name, nb::dict format) {
        const LineFormat how = format_from(format);
        const nb::gil_scoped_release release;
        const MappedFile file(fd, std::move(name));
        return evaluate_file(p.qrels, file, how, *p.plan, p.threads);
      })
      .def("dict", [](const Prepared& p, nb::dict run, const std::string& name, bool typed) {
        return evaluate_dict(p.qrels, run, *p.plan, p.threads, name, typed);
      })
      .def("rows", [](const Prepared& p, nb::sequence rows, const std::string& name) {
        return evaluate_rows(p.qrels, rows, *p.plan, name);
      })
      .def("arrow", [](const Prepared& p, const ArrowTable& table, nb::dict columns) {
        const ColumnNames names = columns_from(columns);
        const nb::gil_scoped_release release;
        return table.evaluate(p.qrels, names, *p.plan, p.threads);
      });

  nb::class_<ArrowTable>(m, "ArrowTable")
      .def_static("of", [](nb::object source, std::string name) { return arrow_table(std::move(source), std::move(name)).release(); }, nb::rv_policy::take_ownership)
      .def("columns", &ArrowTable::column_names)
      .def("qrels", [](const ArrowTable& t, nb::dict columns) -> std::shared_ptr<Qrels> {
        const ColumnNames names = columns_from(columns);
        const nb::gil_scoped_release release;
        return t.qrels(names);
      })
      .def("rows", [](const ArrowTable& t, nb::dict columns, bool is_run) {
        return columns_of([&](auto&& row) { t.for_each(columns_from(columns), is_run ? Table::run : Table::qrels, row); });
      });

  m.def("file_rows", [](int fd, std::string name, nb::dict format, bool is_run) {
    const MappedFile file(fd, std::move(name));
    return columns_of([&](auto&& row) { for_each_line(file, format_from(format), is_run ? Table::run : Table::qrels, row); });
  });

  nb::class_<Scores>(m, "Scores")
      .def("__len__", [](const Scores& s) { return s.in_run.size(); })
      .def_ro("width", &Scores::width)
      .def_ro("documents", &Scores::documents)
      .def_ro("unjudged_queries", &Scores::unjudged_queries)
      .def_prop_ro("bad", [](const Scores& s) { return nb::make_tuple(s.bad.count, to_python(s.bad.example)); })
      .def_prop_ro("unjudged_example", [](const Scores& s) { return to_python(s.unjudged_example); })
      .def("row", [](const Scores& s, size_t query) {
        nb::list row;
        for (size_t i = 0; i < s.width; ++i) row.append(s.values.at(query * s.width + i));
        return row;
      })
      .def("column", [](const Scores& s, size_t index) {
        nb::list values;
        for (size_t q = 0; q < s.in_run.size(); ++q) values.append(s.values.at(q * s.width + index));
        return values;
      })
      .def("in_run", [](const Scores& s) {
        nb::list flags;
        for (const uint8_t f : s.in_run) flags.append(f != 0);
        return flags;
      })
      .def("totals", [](const Scores& s) {
        uint64_t queries = 0, retrieved = 0, unjudged = 0, top = 0, top_judged = 0;
        for (size_t q = 0; q < s.counts.size(); ++q) {
          queries += s.in_run[q];
          retrieved += s.counts[q].retrieved;
          unjudged += s.counts[q].unjudged;
          top += s.counts[q].top;
          top_judged += s.counts[q].top_judged;
        }
        return nb::make_tuple(queries, retrieved, unjudged, top, top_judged);
      })
      .def("matrix", [](nb::handle_t<Scores> self) {
        const Scores& s = nb::cast<const Scores&>(self);
        return Matrix(s.values.data(), {s.in_run.size(), s.width}, self);
      });

  bind_compat(m);
  bind_lists(m);

  // One list of gains, best rank first, measured as if it were all that is judged.
  m.def("measure_list", [](std::vector<double> gains, nb::dict options) {
    const Spec spec = spec_from(options);
    std::vector<double> sorted = gains;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    QueryJudgments query;
    query.gains = gains;
    query.gains_sorted = sorted;
    std::vector<Hit> hits;
    for (uint32_t i = 0; i < gains.size(); ++i) hits.push_back({i + 1, i});
    const Ranked ranked{&query, static_cast<uint32_t>(gains.size()), 0, hits, {}, sorted.empty() ? 0 : sorted.front()};
    return spec.kernel->point(ranked, spec);
  });

  m.def("gain_loss", [](std::vector<double> list, std::vector<double> missing, std::vector<double> worths, nb::dict options,
                        bool inverted, double max_rank, bool normalise) {
    return gain_loss(list, missing, std::move(worths), spec_from(options), inverted, max_rank, normalise);
  });

  bind_packed(m);
  bind_stats(m);
  bind_traces(m);
}
