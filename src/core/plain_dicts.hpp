// The usual queries of a run in dictionaries, which several threads read at once.
#pragma once
#include <nanobind/nanobind.h>

#include "evaluate.hpp"

namespace gg {

/// Examples of texts that were read as ids.
struct TextIds {
  nanobind::object query, doc;
};

/// Measures the queries of {query: {doc: score}} whose documents are ASCII text and whose scores are finite floats,
/// and returns the others. The caller owns `run`.
nanobind::dict measure_plain_queries(const nanobind::dict& run, const Plan& plan, unsigned threads, Scores& scores,
                                     TextIds& ids);

}  // namespace gg
