#include "bind_packed.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "option_tables.hpp"
#include "packed.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

/// (ends, bytes): the two buffers of an Arrow array of texts.
nb::tuple arrow_buffers(Texts texts) {
  return nb::make_tuple(numpy_array(std::move(texts.ends)), nb::bytes(texts.bytes.data(), texts.bytes.size()));
}

nb::tuple bad_rows(const BadRows& bad) { return nb::make_tuple(bad.count, to_python(bad.example)); }

}  // namespace

void bind_packed(nb::module_& m) {
  nb::class_<Packer>(m, "Packer")
      .def("__init__",
           [](Packer* self, nb::dict columns, bool is_run, int64_t first_place) {
             new (self) Packer(read_columns(columns), is_run ? Table::run : Table::qrels, first_place);
           })
      .def("add",
           [](Packer& p, const ArrowTable& rows) {
             const Unlocked release;
             p.add(rows);
           })
      .def("add_lines",
           [](Packer& p, const ArrowTable& lines, nb::dict format) {
             const LineFormat how = read_line_format(format);
             const Unlocked release;
             p.add_lines(lines, how);
           })
      .def_prop_ro("broken", &Packer::broken)
      .def_prop_ro("full", &Packer::full)
      .def_prop_ro("bad", [](const Packer& p) { return bad_rows(p.bad()); })
      .def("begin_split", &Packer::begin_split)
      .def_prop_ro("scattered", &Packer::scattered)
      .def(
          "take",
          [](Packer& p, PackedEvaluation* here) {
            Pieces pieces;
            {
              const Unlocked release;
              pieces = p.take(here);
            }
            return nb::make_tuple(arrow_buffers(std::move(pieces.queries)), numpy_array(std::move(pieces.kinds)),
                                  numpy_array(std::move(pieces.places)), arrow_buffers(std::move(pieces.bytes)));
          },
          nb::arg("here").none() = nb::none());

  nb::class_<PackedEvaluation>(m, "PackedEvaluation")
      .def(
          "__init__",
          [](PackedEvaluation* self, std::shared_ptr<const Qrels> qrels, double max_gain, bool has_targets,
             bool has_aspects, std::shared_ptr<const Plan> plan, std::string name) {
            new (self) PackedEvaluation(std::move(qrels), {max_gain, has_targets, has_aspects}, std::move(plan),
                                        std::move(name));
          },
          nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg())
      .def("add",
           [](PackedEvaluation& e, const ArrowTable& pieces) {
             const Unlocked release;
             e.add(pieces);
           })
      .def("finish",
           [](PackedEvaluation& e) {
             const Unlocked release;
             e.finish();
           })
      .def("take",
           [](PackedEvaluation& e) {
             auto measured = e.take();
             return nb::make_tuple(arrow_buffers(std::move(measured.queries)), numpy_array(std::move(measured.places)),
                                   numpy_array(std::move(measured.in_run)), numpy_array(std::move(measured.values)));
           })
      .def_prop_ro("waiting", &PackedEvaluation::waiting)
      .def_prop_ro("width", &PackedEvaluation::width)
      .def_prop_ro("scattered", [](const PackedEvaluation& e) { return e.scattered; })
      .def_prop_ro("bad", [](const PackedEvaluation& e) { return bad_rows(e.bad); })
      .def("totals",
           [](const PackedEvaluation& e) {
             nb::dict all;
             all["judged"] = e.judged;
             all["in_run"] = e.in_run;
             all["unjudged_queries"] = e.unjudged_queries;
             all["documents"] = e.documents;
             all["retrieved"] = e.retrieved;
             all["unjudged"] = e.unjudged;
             all["top"] = e.top;
             all["top_judged"] = e.top_judged;
             all["shared_ranks"] = e.shared_ranks;
             all["rank_gaps"] = e.rank_gaps;
             all["ranks_from_zero"] = e.ranks_from_zero;
             return all;
           })
      .def_prop_ro("unjudged_example", [](const PackedEvaluation& e) { return to_python(e.unjudged_example); });
}

}  // namespace gg
