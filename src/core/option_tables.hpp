// The options that Python may pass to the core: one table of names per reader.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fusion.hpp"
#include "identity.hpp"
#include "lines.hpp"
#include "spec.hpp"
#include "text.hpp"
#include "trace_scores.hpp"

namespace gg {

/// One measure of a plan. A measure without a kernel is a Python function.
struct MeasureOptions {
  Spec spec;
  nanobind::object function;
  std::optional<Policy> policy;  // if it differs from that of the plan
};

struct PlanOptions {
  Policy policy;
  bool may_be_disjoint = false;
  bool skip_bad = false;
  bool by_rank = false;
};

struct FieldOptions {
  std::string name;
  FieldKind kind = FieldKind::text;
  bool may_be_cut = false, rejects = false;
  std::vector<std::string> sources;
};

struct ProfileOptions {
  std::string name;
  std::vector<std::string> types, definitive, container, hint;
  std::vector<FieldOptions> fields;
  std::vector<std::vector<std::pair<int, std::vector<std::string>>>> rules;
};

struct UrlOptions {
  std::vector<std::string> ignore, select, fragment_select;
  std::vector<AliasOptions> aliases;
  std::vector<IdOptions> ids;
};

MeasureOptions read_measure(const nanobind::dict& options);
/// A measure of a single list, which has neither a function nor a policy.
Spec read_spec(const nanobind::dict& options);
PlanOptions read_plan(const nanobind::dict& options);
LineFormat read_line_format(const nanobind::dict& options);
ColumnNames read_columns(const nanobind::dict& options);
Fusion read_fusion(const nanobind::dict& options);
TraceOptions read_traces(const nanobind::dict& options);
ProfileOptions read_profile(const nanobind::dict& options);
UrlRules read_urls(const nanobind::dict& options);
Unit read_unit(nanobind::handle name);

/// {reader: [option, ...]}
nanobind::dict option_names();

}  // namespace gg
