#include "bind_parquet.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "option_tables.hpp"
#include "parquet_run.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {

namespace {

/// A function `(compressed, size) -> bytes` of Python, which takes the GIL; bytes of another size are damaged.
PageDecompressor decompressor(nb::object function) {
  if (function.is_none()) return {};
  const std::shared_ptr<nb::object> held(new nb::object(std::move(function)), [](nb::object* p) {
    const nb::gil_scoped_acquire lock;
    delete p;
  });
  return [held](Bytes compressed, char* to, size_t size) {
    const nb::gil_scoped_acquire lock;
    const auto bytes = nb::cast<nb::bytes>((*held)(nb::bytes(compressed.data(), compressed.size()), size));
    if (bytes.size() != size) return false;
    std::memcpy(to, bytes.c_str(), size);
    return true;
  };
}

}  // namespace

void bind_parquet(nb::module_& m) {
  nb::class_<ParquetTable>(m, "ParquetTable")
      .def(
          "__init__",
          [](ParquetTable* self, std::string name, nb::object gzip, nb::object zstd) {
            new (self) ParquetTable{std::move(name), {}, {decompressor(gzip), decompressor(zstd)}};
          },
          nb::arg("name"), nb::arg("gzip") = nb::none(), nb::arg("zstd") = nb::none())
      // The descriptor is owned from here on.
      .def("add",
           [](ParquetTable& t, int descriptor, std::string name) {
             const Unlocked release;
             t.files.push_back(std::make_shared<const ParquetFile>(descriptor, std::move(name), t.decompressors));
           })
      .def_prop_ro("rows", &ParquetTable::rows)
      // The columns of the last file.
      .def("columns",
           [](const ParquetTable& t) {
             nb::list names;
             for (const ParquetColumn& column : t.files.back()->columns()) names.append(to_python(column.name));
             return names;
           })
      .def("has", [](const ParquetTable& t, nb::dict columns,
                     bool is_run) { return t.has(read_columns(columns), is_run ? Table::run : Table::qrels); })
      .def("distinct",
           [](const ParquetTable& t, const std::string& column) {
             std::vector<std::string> ids;
             {
               const Unlocked release;
               ids = distinct_ids(t, column);
             }
             return string_list(ids);
           })
      .def("qrels", [](const ParquetTable& t, nb::dict columns) -> std::shared_ptr<Qrels> {
        const ColumnNames names = read_columns(columns);
        const Unlocked release;
        return read_parquet_qrels(t, names);
      });
}

}  // namespace gg
