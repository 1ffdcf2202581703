#include "option_tables.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "kernels.hpp"
#include "options.hpp"
#include "python_values.hpp"
#include "registry.hpp"

namespace gg {

namespace {

// --- measures ---

const Kernel* kernel_of(nb::handle name) {
  if (name.is_none()) return nullptr;
  const auto text = nb::cast<std::string>(name);
  if (const Kernel* kernel = find_kernel(text)) return kernel;
  OptionNames known;
  for (const Kernel& kernel : kernels()) known.push_back(kernel.name);
  throw Error(ErrorKind::measure, "unknown kernel " + in_quotes(text), {}, suggestion(text, known));
}

template <class Value>
Option<Spec> measure_option(std::string_view name, Value Spec::* member) {
  return field(name, member);
}

template <>
Option<Spec> measure_option(std::string_view name, Scale Spec::* member) {
  return choice(name, member, {{"collection", Scale::collection}, {"query", Scale::query}, {"none", Scale::none}});
}

template <>
Option<Spec> measure_option(std::string_view name, Expected Spec::* member) {
  return choice(name, member,
                {{"utility", Expected::utility},
                 {"total-utility", Expected::total_utility},
                 {"cost", Expected::cost},
                 {"total-cost", Expected::total_cost},
                 {"items", Expected::items}});
}

/// The options that the registry of measures names; each is a field of Spec.
const OptionTable<Spec>& spec_table() {
#define GOODGAIN_OPTION(name) measure_option(#name, &Spec::name),
  static const OptionTable<Spec> table{
      Option<Spec>{"kernel", [](Spec& s, nb::handle name) { s.kernel = kernel_of(name); },
                   "expected the name of a kernel"}
          .required(),
      GOODGAIN_MEASURE_OPTIONS(GOODGAIN_OPTION)};
#undef GOODGAIN_OPTION
  return table;
}

OptionOwner owner_of_measure(const nb::dict& options) {
  if (!options.contains("kernel")) return {"a measure", ErrorKind::measure};
  if (options["kernel"].is_none()) return {"a custom measure", ErrorKind::measure};
  return {"kernel " + python_repr(options["kernel"]), ErrorKind::measure};
}

// --- policies ---

const OptionTable<Policy>& policy_table() {
  using Removal = std::pair<Unjudged, bool>;  // and whether to drop documents of negative gain
  static const Choices<Removal> unjudged{{"nonrelevant", {Unjudged::nonrelevant, false}},
                                         {"remove", {Unjudged::remove, false}},
                                         {"remove-negative", {Unjudged::remove, true}},
                                         {"bounds", {Unjudged::bounds, false}}};
  static const OptionTable<Policy> table{
      choice("ties", &Policy::ties,
             {{"docid", Ties::docid},
              {"docid-ascending", Ties::docid_ascending},
              {"input", Ties::input},
              {"average", Ties::average},
              {"bounds", Ties::bounds}})
          .required(),
      choice("missing", &Policy::missing,
             {{"zero", Missing::zero}, {"skip", Missing::skip}, {"invented", Missing::invented}})
          .required(),
      Option<Policy>{
          "unjudged",
          [](Policy& p, nb::handle value) { std::tie(p.unjudged, p.drop_negative) = chosen(value, unjudged); },
          expected_choice(unjudged)}
          .required(),
      choice("duplicates", &Policy::duplicates,
             {{"error", Duplicates::error}, {"first", Duplicates::first}, {"best", Duplicates::best}})
          .required(),
      choice("scores", &Policy::score32, {{"double", false}, {"single", true}}),
      choice("same_id", &Policy::drop_same_id, {{"keep", false}, {"drop", true}}),
      field("depth", &Policy::depth),
  };
  return table;
}

const OptionTable<MeasureOptions>& measure_table() {
  static const auto table =
      OptionTable<MeasureOptions>{
          {"function", [](MeasureOptions& m, nb::handle value) { m.function = nb::cast<nb::callable>(value); },
           "expected a function"},
          {"policy",
           [](MeasureOptions& m, nb::handle value) {
             m.policy = policy_table().read(nb::cast<nb::dict>(value), "the policy");
           },
           "expected a dictionary"},
      }
          .with(&MeasureOptions::spec, spec_table());
  return table;
}

const OptionTable<PlanOptions>& plan_table() {
  static const auto table =
      OptionTable<PlanOptions>{
          field("may_be_disjoint", &PlanOptions::may_be_disjoint),
          field("skip_bad", &PlanOptions::skip_bad),
          field("by_rank", &PlanOptions::by_rank),
      }
          .with(&PlanOptions::policy, policy_table());
  return table;
}

// --- columns and lines ---

const OptionTable<ColumnNames>& column_table() {
  static const OptionTable<ColumnNames> table{
      field("query", &ColumnNames::query).required(),
      field("doc", &ColumnNames::doc).required(),
      field("value", &ColumnNames::value).required(),
      field("target", &ColumnNames::target),
      field("aspect", &ColumnNames::aspect),
      field("refused", &ColumnNames::refused),
      field("run", &ColumnNames::run),
      field("only", &ColumnNames::only),
  };
  return table;
}

const OptionTable<Columns>& column_number_table() {
  static const OptionTable<Columns> table{
      field("query", &Columns::query).required(),
      field("doc", &Columns::doc).required(),
      field("value", &Columns::value).required(),
      field("target", &Columns::target),
      field("aspect", &Columns::aspect),
      field("columns", &Columns::count).required(),
      field("run", &Columns::run),
      field("only", &Columns::only),
  };
  return table;
}

const Choices<LineFormat::Kind> line_kinds{
    {"trec", LineFormat::Kind::trec}, {"delimited", LineFormat::Kind::delimited}, {"json", LineFormat::Kind::json}};

const OptionTable<LineFormat>& trec_table() {
  static const OptionTable<LineFormat> table{
      choice("kind", &LineFormat::kind, line_kinds).required(),
      field("skip", &LineFormat::skip),
      field("as_trec_eval", &LineFormat::as_trec_eval),
      field("has_aspects", &LineFormat::has_aspects),
  };
  return table;
}

const OptionTable<LineFormat>& delimited_table() {
  static const auto table =
      OptionTable<LineFormat>{
          field("delimiter", &LineFormat::delimiter).required(),
          field("quotes", &LineFormat::quotes).required(),
      }
          .with(trec_table())
          .with(&LineFormat::columns, column_number_table());
  return table;
}

const OptionTable<LineFormat>& json_table() {
  static const auto table = OptionTable<LineFormat>{}.with(trec_table()).with(&LineFormat::keys, column_table());
  return table;
}

// --- fusion ---

// clang-format off
const Choices<Norm> norms{
    {"none", Norm::none}, {"min-max", Norm::min_max}, {"min-max-inverted", Norm::min_max_inverted}, {"max", Norm::max},
    {"sum", Norm::sum}, {"zmuv", Norm::zmuv}, {"rank", Norm::rank}, {"borda", Norm::borda}};
const Choices<Points> points_by_rank{
    {"score", Points::score}, {"inverse_square", Points::inverse_square}, {"reciprocal", Points::reciprocal},
    {"geometric", Points::geometric}, {"table", Points::table}, {"segments", Points::segments},
    {"segments_times_score", Points::segments_times_score}, {"window", Points::window}, {"inverse", Points::inverse},
    {"borda", Points::borda}};
const Choices<Combine> combinations{
    {"sum", Combine::sum}, {"min", Combine::min}, {"max", Combine::max}, {"median", Combine::median},
    {"mean", Combine::mean}, {"times_count", Combine::times_count}, {"times_log_count", Combine::times_log_count},
    {"times_weight", Combine::times_weight}, {"times_root_count", Combine::times_root_count},
    {"condorcet", Combine::condorcet}};
// clang-format on

const OptionTable<Fusion>& fusion_table() {
  static const OptionTable<Fusion> table{
      choice("norm", &Fusion::norm, norms).required(),
      choice("points", &Fusion::points, points_by_rank).required(),
      choice("combine", &Fusion::combine, combinations).required(),
      field("parameter", &Fusion::parameter).required(),
      field("exponent", &Fusion::exponent).required(),
      field("log_shift", &Fusion::log_shift).required(),
      field("absent", &Fusion::absent).required(),
      field("weights", &Fusion::weights).required(),
      field("tables", &Fusion::tables).required(),
  };
  return table;
}

// --- traces ---

const OptionTable<GainOptions>& gain_table() {
  static const OptionTable<GainOptions> table{
      field("threshold", &GainOptions::threshold).required(),
      field("max_gain", &GainOptions::max_gain).required(),
      choice("gain", &GainOptions::scale, {{"linear", GainScale::linear}, {"exp", GainScale::exponential}}).required(),
      choice("discount", &GainOptions::discount,
             {{"log2", Discount::log2},
              {"none", Discount::none},
              {"reciprocal", Discount::reciprocal},
              {"geometric", Discount::geometric}})
          .required(),
      field("patience", &GainOptions::patience).required(),
      choice("unlabelled", &GainOptions::unlabelled, {{"unknown", Unlabelled::unknown}, {"zero", Unlabelled::zero}})
          .required(),
  };
  return table;
}

const OptionTable<TraceOptions>& trace_table() {
  static const auto table =
      OptionTable<TraceOptions>{
          field("turn", &TraceOptions::turn).required(),
          field("skip_bad", &TraceOptions::skip_bad).required(),
          choice("opens", &TraceOptions::opens, {{"calls", Opens::calls}, {"content", Opens::content}}).required(),
          field("answers", &TraceOptions::answers).required(),
      }
          .with(&TraceOptions::gain, gain_table());
  return table;
}

// --- identity ---

const OptionTable<FieldOptions>& field_table() {
  static const OptionTable<FieldOptions> table{
      field("name", &FieldOptions::name).required(),
      choice(
          "kind", &FieldOptions::kind,
          {{"text", FieldKind::text}, {"id", FieldKind::id}, {"people", FieldKind::people}, {"time", FieldKind::time}})
          .required(),
      field("may_be_cut", &FieldOptions::may_be_cut).required(),
      field("rejects", &FieldOptions::rejects).required(),
      field("sources", &FieldOptions::sources).required(),
  };
  return table;
}

/// A list of dictionaries, each read by a table.
template <class Target, class Part>
Option<Target> records(std::string_view name, std::vector<Part> Target::* member, const OptionTable<Part>& table,
                       const char* owner) {
  return {name,
          [member, &table, owner](Target& target, nb::handle list) {
            for (nb::handle item : nb::cast<nb::list>(list))
              (target.*member).push_back(table.read(nb::cast<nb::dict>(item), owner));
          },
          "expected a list of dictionaries"};
}

const OptionTable<ProfileOptions>& profile_table() {
  static const OptionTable<ProfileOptions> table{
      field("name", &ProfileOptions::name).required(),
      field("types", &ProfileOptions::types).required(),
      field("definitive", &ProfileOptions::definitive).required(),
      field("container", &ProfileOptions::container).required(),
      field("hint", &ProfileOptions::hint).required(),
      records("fields", &ProfileOptions::fields, field_table(), "a field of an identity profile").required(),
      field("rules", &ProfileOptions::rules).required(),
  };
  return table;
}

const OptionTable<AliasOptions>& alias_table() {
  static const OptionTable<AliasOptions> table{
      field("name", &AliasOptions::name).required(),
      field("hosts", &AliasOptions::hosts).required(),
      field("paths", &AliasOptions::paths),
      field("key", &AliasOptions::key),
      field("url", &AliasOptions::url),
      field("host", &AliasOptions::host),
      field("path", &AliasOptions::path),
      field("variant", &AliasOptions::variant),
      field("keep", &AliasOptions::keep),
      field("ignore", &AliasOptions::ignore),
      field("select", &AliasOptions::select),
      field("any_case", &AliasOptions::any_case),
      field("drop_fragment", &AliasOptions::drop_fragment),
      choice("certainty", &AliasOptions::certainty,
             {{"certain", Certainty::certain}, {"likely", Certainty::likely}, {"possible", Certainty::possible}}),
  };
  return table;
}

const OptionTable<IdOptions>& id_table() {
  static const OptionTable<IdOptions> table{
      field("name", &IdOptions::name).required(),
      field("fields", &IdOptions::fields),
      field("patterns", &IdOptions::patterns).required(),
      field("key", &IdOptions::key).required(),
  };
  return table;
}

const OptionTable<UrlOptions>& url_table() {
  static const OptionTable<UrlOptions> table{
      field("ignore", &UrlOptions::ignore).required(),
      field("select", &UrlOptions::select).required(),
      field("fragment_select", &UrlOptions::fragment_select).required(),
      records("aliases", &UrlOptions::aliases, alias_table(), "an alias").required(),
      records("ids", &UrlOptions::ids, id_table(), "an id rule").required(),
  };
  return table;
}

}  // namespace

// --- readers ---

MeasureOptions read_measure(const nb::dict& options) {
  MeasureOptions m = measure_table().read(options, [&] { return owner_of_measure(options); });
  if (!m.spec.kernel && !m.function.is_valid()) missing_option("function", owner_of_measure(options));
  if (m.spec.kernel && m.function.is_valid())
    unknown_option("function", spec_table().names(), owner_of_measure(options));
  return m;
}

Spec read_spec(const nb::dict& options) {
  return spec_table().read(options, [&] { return owner_of_measure(options); });
}

PlanOptions read_plan(const nb::dict& options) { return plan_table().read(options, "the policy"); }

LineFormat read_line_format(const nb::dict& options) {
  constexpr const char* owner = "the line format";
  const bool has_kind = options.contains("kind") && nb::isinstance<nb::str>(options["kind"]);
  const std::string kind = has_kind ? nb::cast<std::string>(options["kind"]) : "";
  if (kind == "delimited") return delimited_table().read(options, owner);
  if (kind == "json") return json_table().read(options, owner);
  return trec_table().read(options, owner);
}

ColumnNames read_columns(const nb::dict& options) { return column_table().read(options, "the columns"); }
Fusion read_fusion(const nb::dict& options) { return fusion_table().read(options, "fusion"); }
TraceOptions read_traces(const nb::dict& options) { return trace_table().read(options, "Good Gain"); }
ProfileOptions read_profile(const nb::dict& options) { return profile_table().read(options, "an identity profile"); }
UrlRules read_urls(const nb::dict& options) {
  const UrlOptions o = url_table().read(options, "the URL rules");
  return {o.ignore, o.select, o.fragment_select, o.aliases, o.ids};
}

Unit read_unit(nb::handle name) {
  static const Choices<Unit> units{{"document", Unit::document}, {"passage", Unit::passage}};
  try {
    return chosen(name, units);
  } catch (const nb::cast_error&) {
    invalid_option("unit", name, expected_choice(units), {"identity"});
  }
}

nb::dict option_names() {
  nb::dict all;
  const auto add = [&](const char* reader, const OptionNames& names) { all[reader] = string_list(names); };
  add("measure", measure_table().names());
  add("policy", policy_table().names());
  add("plan", plan_table().names());
  add("columns", column_table().names());
  add("trec", trec_table().names());
  add("delimited", delimited_table().names());
  add("json", json_table().names());
  add("fusion", fusion_table().names());
  add("traces", trace_table().names());
  add("profile", profile_table().names());
  add("field", field_table().names());
  add("urls", url_table().names());
  add("alias", alias_table().names());
  add("id", id_table().names());
  return all;
}

}  // namespace gg
