// The Python module: thin wrappers without logic.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "arrow_run.hpp"
#include "bind_compat.hpp"
#include "bind_export.hpp"
#include "bind_json.hpp"
#include "bind_keywords.hpp"
#include "bind_lists.hpp"
#include "bind_packed.hpp"
#include "bind_parquet.hpp"
#include "bind_stats.hpp"
#include "bind_traces.hpp"
#include "cpu_time.hpp"
#include "error.hpp"
#include "evaluate.hpp"
#include "kernels.hpp"
#include "loss.hpp"
#include "option_tables.hpp"
#include "parquet_run.hpp"
#include "python_tables.hpp"
#include "python_values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace gg {
namespace {

/// A Python function as a measure, called with the gains as a numpy array and with the GIL held.
CustomMeasure custom_from(nb::callable function) {
  // The last copy may be destroyed on a thread without the GIL.
  std::shared_ptr<nb::callable> shared(new nb::callable(std::move(function)), [](nb::callable* f) {
    const nb::gil_scoped_acquire lock;
    delete f;
  });
  return [shared](const QueryJudgments& query, const std::vector<double>& gains) {
    const nb::gil_scoped_acquire lock;
    const auto array = [](std::span<const double> values) {
      auto* copy = new std::vector<double>(values.begin(), values.end());
      const nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
      return nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy->data(), {copy->size()}, owner);
    };
    return nb::cast<double>((*shared)(array(gains), array(query.gains_sorted)));
  };
}

std::shared_ptr<Plan> make_plan(nb::list measures, nb::dict policy) {
  auto plan = std::make_shared<Plan>();
  const PlanOptions options = read_plan(policy);
  plan->policy = options.policy;
  plan->may_be_disjoint = options.may_be_disjoint;
  plan->skip_bad = options.skip_bad;
  plan->by_rank = options.by_rank;
  for (nb::handle item : measures) {
    const MeasureOptions measure = read_measure(nb::cast<nb::dict>(item));
    plan->measures.push_back(measure.spec);
    plan->customs.emplace_back();
    if (!measure.spec.kernel) {
      plan->customs.back() = custom_from(nb::cast<nb::callable>(measure.function));
      plan->has_customs = true;
    }
    plan->group_next(measure.policy.value_or(plan->policy));
  }
  if (plan->groups.empty()) plan->groups.push_back({plan->policy, {}});
  if (plan->skip_bad && plan->policy.duplicates == Duplicates::error) {
    plan->repeats_are_bad = true;
    for (Plan::Group& group : plan->groups) group.policy.duplicates = Duplicates::first;
  }
  return plan;
}

/// What an object offers as a stream: whoever wrote `__arrow_c_stream__` may refuse a column, or offer anything.
nb::object stream_of(const nb::object& source, const std::string& name) {
  try {
    nb::object capsule = source.attr("__arrow_c_stream__")();
    if (!PyCapsule_IsValid(capsule.ptr(), "arrow_array_stream"))
      bad_input("cannot read the data: __arrow_c_stream__() does not return an Arrow stream", name,
                "convert it to a pyarrow, pandas or polars table");
    return capsule;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    const nb::object type = error.type().attr("__name__");
    // Errors of pyarrow have two texts; the second one names the column.
    std::string why;
    for (nb::handle text : nb::tuple(error.value().attr("args")))
      why += (why.empty() ? "" : ", ") + std::string(nb::str(text).c_str());
    bad_input("cannot read the data: " + (why.empty() ? std::string(nb::str(type).c_str()) : why), name,
              "convert the column to text or numbers that Arrow has, for example with astype()");
  }
}

/// Consumes the stream behind an object's `__arrow_c_stream__`.
std::unique_ptr<ArrowTable> arrow_table(nb::object source, std::string name) {
  const nb::object capsule = stream_of(source, name);
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (!stream) throw nb::python_error();
  if (!stream->release) bad_input("the stream was read already", name, "a stream can only be read once");
  const Unlocked release;
  return std::make_unique<ArrowTable>(*stream, std::move(name));
}

/// Rows as columns: query, doc, value, target, aspect.
template <class ForEach>
nb::tuple columns_of(ForEach&& for_each) {
  nb::list query, doc, value, target, aspect;
  Breather breathe;
  for_each([&](const Line& line, uint64_t) {
    breathe();
    query.append(to_python(line.query));
    doc.append(to_python(line.doc));
    value.append(line.value);
    target.append(line.target.data() ? nb::object(to_python(line.target)) : nb::none());
    aspect.append(line.aspect.data() ? nb::object(to_python(line.aspect)) : nb::none());
  });
  return nb::make_tuple(query, doc, value, target, aspect);
}

/// Adds the names of the runs in a file of lines. A bad line is an error here, too, unless they are skipped: nobody
/// reads the rows of a run whose every line is bad, since it has no name.
void collect_run_names(const InputFile& file, const LineFormat& format, bool skip_bad, IdTable& names) {
  const auto add = [&](const Line& line, uint64_t) {
    if (!line.target.data())
      bad_input("document " + in_quotes(line.doc) + " of query " + in_quotes(line.query) + " has no name of a run",
                file.name(), "fill the column that names the run, in every row");
    names.add(line.target);
  };
  for_each_line(file, format, Table::run, add, skip_bad);
}

/// Fills buffers from the iterators of bytes that a function returns; takes the GIL for it.
std::function<Fill()> pieces_of(const nb::callable& open) {
  struct Pieces {
    nb::object iterator, piece;
    size_t used = 0;
  };
  return [&open] {
    const nb::gil_scoped_acquire lock;
    std::shared_ptr<Pieces> pieces(new Pieces{nb::iter(open()), nb::none()}, [](Pieces* p) {
      const nb::gil_scoped_acquire held;
      delete p;
    });
    return [pieces](char* to, size_t size) -> size_t {
      const nb::gil_scoped_acquire held;
      while (pieces->piece.is_none() || pieces->used == nb::len(pieces->piece)) {
        pieces->piece = nb::steal(PyIter_Next(pieces->iterator.ptr()));
        pieces->used = 0;
        if (pieces->piece.is_valid()) continue;
        pieces->piece = nb::bytes("", 0);
        if (PyErr_Occurred()) throw nb::python_error();
        return 0;
      }
      const auto bytes = nb::cast<nb::bytes>(pieces->piece);
      const size_t n = std::min(size, bytes.size() - pieces->used);
      std::memcpy(to, bytes.c_str() + pieces->used, n);
      pieces->used += n;
      return n;
    };
  };
}

/// Starts passes over pairs (place of the first row, Arrow data) that a Python iterator returns.
std::function<std::function<ArrowPiece()>()> arrow_pieces(nb::callable& open, const std::string& name) {
  return [&open, &name] {
    const nb::gil_scoped_acquire lock;
    const std::shared_ptr<nb::iterator> pieces(new nb::iterator(nb::iter(open())), [](nb::iterator* p) {
      const nb::gil_scoped_acquire held;
      delete p;
    });
    return [pieces, &name]() -> ArrowPiece {
      const nb::gil_scoped_acquire held;
      const nb::object piece = nb::steal(PyIter_Next(pieces->ptr()));
      if (PyErr_Occurred()) throw nb::python_error();
      if (!piece.is_valid()) return {};
      const auto first = nb::cast<uint64_t>(piece[0]);
      // Whoever drops the last reference may not have the GIL; Arrow's own data needs none, but objects of Python do.
      return {std::shared_ptr<const ArrowTable>(arrow_table(piece[1], name).release(),
                                                [](const ArrowTable* table) {
                                                  const nb::gil_scoped_acquire own;
                                                  delete table;
                                                }),
              first};
    };
  };
}

/// Judgments and measures, ready for any number of runs.
struct Prepared {
  std::shared_ptr<const Qrels> qrels;
  std::shared_ptr<const Plan> plan;
  Resources resources;
  std::shared_ptr<TopLists> lists;  // owned here because the plan points to them
};

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::duplicate: return "duplicate";
    case ErrorKind::disjoint: return "disjoint";
    case ErrorKind::usage: return "usage";
    case ErrorKind::measure: return "measure";
    default: return "input";
  }
}

using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;

}  // namespace
}  // namespace gg

NB_MODULE(_core, m) {
  using namespace gg;
  nb::set_leak_warnings(false);
  m.doc() = "The measured core of goodgain.";

  // (kind, message, where, hint): goodgain.errors converts it.
  static nb::object core_error = nb::steal(PyErr_NewException("goodgain._core.CoreError", PyExc_ValueError, nullptr));
  m.attr("CoreError") = core_error;
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Stopped&) {
      try {
        std::rethrow_exception(reason_to_stop());
      } catch (nb::python_error& e) {
        e.restore();
      }
    } catch (const Error& e) {
      const nb::tuple args =
          nb::make_tuple(kind_name(e.kind), to_python(e.what()), to_python(e.where), to_python(e.hint));
      PyErr_SetObject(core_error.ptr(), args.ptr());
    }
  });

  m.def("option_names", &option_names);
  m.def("shared_cpu_seconds", [] { return static_cast<double>(shared_cpu_time.load()) * 1e-9; });
  m.def("kernels", [] {
    nb::dict all;
    for (const Kernel& k : kernels()) {
      nb::dict facts;
      facts["unjudged_bounds"] =
          k.unjudged_bounds != UnjudgedBounds::refuse || exact_unjudged_bounds(k.name) != nullptr;
      all[nb::str(k.name.text.data(), k.name.text.size())] = facts;
    }
    return all;
  });

  nb::class_<Qrels>(m, "Qrels")
      .def_static(
          "from_file",
          [](int fd, std::string name, nb::dict format, unsigned threads) -> std::shared_ptr<Qrels> {
            const LineFormat how = read_line_format(format);
            const Unlocked release;
            const InputFile file(fd, std::move(name));
            return read_qrels(file, how, threads);
          },
          "fd"_a, "name"_a, "format"_a, "threads"_a = 1)
      .def_static("from_dict",
                  [](nb::dict table, std::string name, bool typed) -> std::shared_ptr<Qrels> {
                    return qrels_from_dict(table, std::move(name), typed);
                  })
      .def_static("from_rows",
                  [](nb::sequence rows, std::string name) -> std::shared_ptr<Qrels> {
                    return qrels_from_rows(rows, std::move(name));
                  })
      .def("__len__", &Qrels::size)
      .def_prop_ro("judgments", &Qrels::judgments)
      .def_prop_ro("max_gain", &Qrels::max_gain)
      .def_prop_ro("has_targets", &Qrels::has_targets)
      .def_prop_ro("has_aspects", &Qrels::has_aspects)
      // (kind, message, where, hint) of a document judged in two iterations, or None.
      .def_prop_ro("repeated",
                   [](const Qrels& q) -> nb::object {
                     if (!q.repeated()) return nb::none();
                     const Error& e = *q.repeated();
                     return nb::make_tuple(kind_name(e.kind), to_python(e.what()), to_python(e.where),
                                           to_python(e.hint));
                   })
      .def("merged",
           [](const Qrels& q, bool first) -> std::shared_ptr<Qrels> {
             const Unlocked release;
             return q.merged(first);
           })
      .def("state",
           [](const Qrels& q) {
             std::string state;
             {
               const Unlocked release;
               state = q.state();
             }
             return nb::bytes(state.data(), state.size());
           })
      .def_static("from_state",
                  [](nb::bytes state) -> std::shared_ptr<Qrels> {
                    const Unlocked release;
                    return Qrels::from_state(Bytes(state.c_str(), state.size()));
                  })
      .def("queries", [](const Qrels& q) { return string_list(q.queries()); })
      .def("judgments_of", [](const Qrels& q, const Text& query) -> nb::object {
        const uint32_t i = q.find(query.bytes);
        if (i == IdTable::none) return nb::none();
        nb::dict gains;
        for (size_t d = 0; d < q[i].docs.size(); ++d) gains[to_python(q[i].docs[d])] = q[i].gains[d];
        return gains;
      });

  nb::class_<Plan>(m, "Plan").def(
      nb::new_([](nb::list measures, nb::dict policy) { return make_plan(measures, policy); }));

  nb::class_<Prepared>(m, "Prepared")
      .def(
          "__init__",
          [](Prepared* self, std::shared_ptr<const Qrels> qrels, std::shared_ptr<const Plan> plan, unsigned threads,
             size_t memory) {
            new (self) Prepared{std::move(qrels), std::move(plan), Resources{threads, memory}, nullptr};
          },
          "qrels"_a, "plan"_a, "threads"_a, "memory"_a = Resources::usual_memory)
      .def_prop_ro("memory", [](const Prepared& p) { return p.resources.memory; })
      // The same, collecting the top ranks of every query of the next run.
      .def("listing",
           [](const Prepared& p, std::shared_ptr<TopLists> lists) {
             auto plan = std::make_shared<Plan>(*p.plan);
             plan->lists = lists.get();
             return Prepared{p.qrels, std::move(plan), p.resources, std::move(lists)};
           })
      // The same for a run whose values are ranks.
      .def("by_rank",
           [](const Prepared& p) {
             auto plan = std::make_shared<Plan>(*p.plan);
             plan->by_rank = true;
             return Prepared{p.qrels, std::move(plan), p.resources, p.lists};
           })
      .def("file",
           [](const Prepared& p, int fd, std::string name, nb::dict format) {
             const LineFormat how = read_line_format(format);
             const Unlocked release;
             const InputFile file(fd, std::move(name));
             return evaluate_file(p.qrels, file, how, *p.plan, p.resources);
           })
      // Text that comes in pieces: `open()` returns an iterator of bytes from the beginning.
      .def("stream",
           [](const Prepared& p, nb::callable open, size_t size, std::string name, nb::dict format) {
             const LineFormat how = read_line_format(format);
             const nb::gil_scoped_release release;
             const StreamSource text(pieces_of(open), size, std::move(name), how.delimiter, how.is_quoted());
             return evaluate_text(p.qrels, text, how, *p.plan, p.resources);
           })
      .def("dict", [](const Prepared& p, nb::dict run, const std::string& name,
                      bool typed) { return evaluate_dict(p.qrels, run, *p.plan, p.resources.threads, name, typed); })
      // {query: {document: score}}, judging by the first score; None for anything else. For training loops, in which
      // every function call counts.
      .def("plain_dict",
           [](const Prepared& p, nb::handle run) -> std::optional<Scores> {
             static const std::string name = "run";
             if (!is_plain_run(run)) return std::nullopt;
             return evaluate_dict(p.qrels, nb::borrow<nb::dict>(run), *p.plan, p.resources.threads, name, true);
           })
      .def("rows", [](const Prepared& p, nb::sequence rows,
                      const std::string& name) { return evaluate_rows(p.qrels, rows, *p.plan, name); })
      // `without_results` are queries of the run without a row.
      .def(
          "arrow",
          [](const Prepared& p, const ArrowTable& table, nb::dict columns, std::vector<std::string> without_results) {
            const ColumnNames names = read_columns(columns);
            const Unlocked release;
            return evaluate_arrow(p.qrels, table, names, *p.plan, p.resources, without_results);
          },
          "table"_a, "columns"_a, "without_results"_a = std::vector<std::string>())
      // Arrow data that comes in pieces: `open()` returns an iterator of (place of the first row, rows) from the
      // beginning; `rows` is about how many there are. `left_out` counts what it left out.
      .def(
          "arrow_pieces",
          [](const Prepared& p, nb::callable open, size_t rows, std::string name, nb::dict columns,
             const LeftOut* left_out) {
            const ColumnNames names = read_columns(columns);
            const Unlocked release;
            const ArrowSource source{name, rows, arrow_pieces(open, name), left_out};
            return evaluate_arrow(p.qrels, source, names, *p.plan, p.resources);
          },
          "open"_a, "rows"_a, "name"_a, "columns"_a, "left_out"_a.none() = nb::none())
      .def("parquet",
           [](const Prepared& p, const ParquetTable& table, nb::dict columns) {
             const ColumnNames names = read_columns(columns);
             const Unlocked release;
             return evaluate_parquet(p.qrels, table, names, *p.plan, p.resources);
           })
      // One bit for each row of a table: whether its query is judged.
      .def("judged", [](const Prepared& p, const ArrowTable& table, const std::string& query, const std::string& run,
                        const std::string& only, LeftOut& left_out) {
        std::vector<uint8_t> bits;
        {
          const Unlocked release;
          bits = table.judged(*p.qrels, query, run, only, left_out);
        }
        return nb::bytes(reinterpret_cast<const char*>(bits.data()), bits.size());
      });

  nb::class_<LeftOut>(m, "LeftOut")
      .def(nb::init<>())
      .def_ro("rows", &LeftOut::rows)
      .def("clear", [](LeftOut& all) { all = {}; })
      .def("add", [](LeftOut& all, const LeftOut& more) {
        all.rows += more.rows;
        for (size_t q = 0; q < more.queries.size(); ++q) all.queries.add(more.queries[q]);
      });

  nb::class_<ArrowTable>(m, "ArrowTable")
      .def_static(
          "of",
          [](nb::object source, std::string name) { return arrow_table(std::move(source), std::move(name)).release(); },
          nb::rv_policy::take_ownership)
      .def("columns", &ArrowTable::column_names)
      // Refuses data that would be read outside their buffers.
      .def("check", &ArrowTable::check)
      .def("distinct", [](const ArrowTable& t, const std::string& column) { return string_list(t.distinct(column)); })
      .def("qrels",
           [](const ArrowTable& t, nb::dict columns) -> std::shared_ptr<Qrels> {
             const ColumnNames names = read_columns(columns);
             const Unlocked release;
             return t.qrels(names);
           })
      .def("rows", [](const ArrowTable& t, nb::dict columns, bool is_run) {
        return columns_of(
            [&](auto&& row) { t.for_each(read_columns(columns), is_run ? Table::run : Table::qrels, row); });
      });

  m.def("require_text",
        [](nb::bytes head, const std::string& name) { require_text(Bytes(head.c_str(), head.size()), name); });
  // The names of the runs in a file; `format` reads the column that names them as the target.
  m.def("run_names", [](int fd, std::string name, nb::dict format, bool skip_bad) {
    const LineFormat how = read_line_format(format);
    const InputFile file(fd, std::move(name));
    IdTable names;
    {
      const Unlocked release;
      collect_run_names(file, how, skip_bad, names);
    }
    return string_list(names);
  });
  m.def("file_rows", [](int fd, std::string name, nb::dict format, bool is_run) {
    const InputFile file(fd, std::move(name));
    return columns_of(
        [&](auto&& row) { for_each_line(file, read_line_format(format), is_run ? Table::run : Table::qrels, row); });
  });

  nb::class_<Scores>(m, "Scores")
      .def("__len__", [](const Scores& s) { return s.in_run.size(); })
      .def_ro("width", &Scores::width)
      .def_ro("documents", &Scores::documents)
      .def_ro("unjudged_queries", &Scores::unjudged_queries)
      .def_prop_ro("bad", [](const Scores& s) { return nb::make_tuple(s.bad.count, to_python(s.bad.example)); })
      .def_prop_ro("unjudged_example", [](const Scores& s) { return to_python(s.unjudged_example); })
      .def("row",
           [](const Scores& s, size_t query) {
             nb::list row;
             for (size_t i = 0; i < s.width; ++i) row.append(s.values.at(query * s.width + i));
             return row;
           })
      .def("column",
           [](const Scores& s, size_t index) {
             nb::list values;
             for (size_t q = 0; q < s.in_run.size(); ++q) values.append(s.values.at(q * s.width + index));
             return values;
           })
      .def("in_run",
           [](const Scores& s) {
             nb::list flags;
             for (const uint8_t f : s.in_run) flags.append(f != 0);
             return flags;
           })
      // Queries in which documents share a rank, ranks are left out, and the first rank is 0.
      .def("rank_facts",
           [](const Scores& s) {
             uint64_t shared = 0, gaps = 0, from_zero = 0;
             for (const QueryCounts& c : s.counts) {
               shared += c.ranks.shared;
               gaps += c.ranks.gaps;
               from_zero += c.ranks.from_zero;
             }
             return nb::make_tuple(shared, gaps, from_zero);
           })
      .def("totals",
           [](const Scores& s) {
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
  bind_export(m);
  bind_json(m);
  bind_keywords(m);
  bind_lists(m);

  // One list of gains, best rank first, measured as if it were everything judged.
  m.def("measure_list", [](std::vector<double> gains, nb::dict options) {
    const Spec spec = read_spec(options);
    if (!spec.kernel) throw Error(ErrorKind::measure, "a list of gains needs a kernel");
    const UnlockedIf release(gains.size() > 100'000);
    std::vector<double> sorted = gains;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    QueryJudgments query;
    query.gains = gains;
    query.gains_sorted = sorted;
    std::vector<Hit> hits;
    for (uint32_t i = 0; i < gains.size(); ++i) hits.push_back({i + 1, i});
    const Ranked ranked{.query = &query,
                        .retrieved = static_cast<uint32_t>(gains.size()),
                        .unjudged = 0,
                        .hits = hits,
                        .blocks = {},
                        .max_gain = sorted.empty() ? 0 : sorted.front()};
    return spec.kernel->point(ranked, spec);
  });

  m.def("gain_loss", [](std::vector<double> list, std::vector<double> missing, std::vector<double> worths,
                        nb::dict options, bool inverted, double max_rank, bool normalise) {
    const Spec spec = read_spec(options);
    const UnlockedIf release(list.size() + missing.size() > 100'000);
    return gain_loss(list, missing, std::move(worths), spec, inverted, max_rank, normalise);
  });

  bind_packed(m);
  bind_parquet(m);
  bind_stats(m);
  bind_traces(m);
}
