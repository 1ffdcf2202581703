// Python dictionaries and rows, read in place.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "evaluate.hpp"

namespace gg {

/// {query: {doc: gain}}. `typed`: whether "1" and 1 are different ids; in data from a JSON file they are not.
std::unique_ptr<Qrels> qrels_from_dict(nanobind::dict qrels, std::string name, bool typed);
/// [(query, doc, gain), ...], optionally with target and aspect as fourth and fifth fields.
std::unique_ptr<Qrels> qrels_from_rows(nanobind::sequence rows, std::string name);

/// Whether it is {query: {doc: score}}, judging by the first score.
bool is_plain_run(nanobind::handle run);
/// {query: {doc: score}} or {query: [(doc, score), ...]}.
Scores evaluate_dict(std::shared_ptr<const Qrels> qrels, nanobind::dict run, const Plan& plan, unsigned threads,
                     const std::string& name, bool typed);
/// [(query, doc, score), ...] in any order.
Scores evaluate_rows(std::shared_ptr<const Qrels> qrels, nanobind::sequence rows, const Plan& plan,
                     const std::string& name);

}  // namespace gg
