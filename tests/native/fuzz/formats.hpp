// Every format of lines; the first byte of an input chooses one.
#pragma once
#include <utility>
#include <vector>

#include "text.hpp"

namespace gg::fuzz {

inline std::vector<LineFormat> all_formats() {
  LineFormat trec_eval, csv, tsv, json, of_run;
  trec_eval.as_trec_eval = true;
  csv.kind = tsv.kind = of_run.kind = LineFormat::Kind::delimited;
  csv.quotes = of_run.quotes = true;
  tsv.delimiter = '\t';
  csv.columns = tsv.columns = {.query = 0, .doc = 1, .value = 2, .target = 3, .aspect = 4, .count = 5, .only = {}};
  of_run.columns = {0, 1, 2, Columns::none, Columns::none, 4, 3, "t"};
  json.kind = LineFormat::Kind::json;
  json.keys = {"query", "doc", "score", "target", "aspect", {}, {}, {}};
  return {{}, trec_eval, csv, tsv, json, of_run};
}

inline const std::vector<LineFormat>& formats() {
  static const std::vector<LineFormat> all = all_formats();
  return all;
}

/// What the first byte of an input chooses, and the rest.
inline std::pair<size_t, Bytes> chosen_by(Bytes bytes) {
  if (bytes.empty()) return {0, bytes};
  return {static_cast<unsigned char>(bytes[0]), bytes.substr(1)};
}

}  // namespace gg::fuzz
