// Traces and identity for Python: thin wrappers, no logic of their own.
#include "bind_traces.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python_tables.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace gg {

namespace {

std::vector<std::string> texts(nb::handle list) { return nb::cast<std::vector<std::string>>(list); }

FieldKind kind_of(const std::string& name) {
  if (name == "id") return FieldKind::id;
  if (name == "people") return FieldKind::people;
  if (name == "time") return FieldKind::time;
  return FieldKind::text;
}

Profile profile_from(nb::dict given, Rules& rules) {
  Profile profile;
  profile.name = nb::cast<std::string>(given["name"]);
  for (nb::handle item : nb::cast<nb::list>(given["fields"])) {
    const auto field = nb::cast<nb::dict>(item);
    const uint32_t number = rules.field(nb::cast<std::string>(field["name"]), kind_of(nb::cast<std::string>(field["kind"])),
                                        nb::cast<bool>(field["may_be_cut"]));
    profile.compared |= FieldMask{1} << number;
    if (nb::cast<bool>(field["rejects"])) profile.rejecting |= FieldMask{1} << number;
    for (const std::string& source : texts(field["sources"])) profile.sources[source] = number;
  }
  const std::pair<const char*, IdRole> roles[] = {
      {"definitive", IdRole::definitive}, {"container", IdRole::container}, {"hint", IdRole::hint}};
  for (const auto& [key, role] : roles)
    for (const std::string& id : texts(given[key])) {
      profile.ids[id] = role;
      rules.usual_roles.try_emplace(id, role);
      if (role == IdRole::container) rules.id_fields.try_emplace(id, rules.field(id, FieldKind::id, false));
    }
  for (nb::handle rule : nb::cast<nb::list>(given["rules"])) {
    std::vector<Requirement> all;
    for (nb::handle item : nb::cast<nb::list>(rule)) {
      const auto [count, of] = nb::cast<std::pair<int, std::vector<std::string>>>(item);
      Requirement r{0, count};
      for (const std::string& field : of) r.fields |= FieldMask{1} << rules.field(field, FieldKind::text, false);
      all.push_back(r);
    }
    profile.rules.push_back(std::move(all));
  }
  return profile;
}

std::shared_ptr<Rules> rules_from(nb::list profiles, const std::string& unit, nb::dict urls) {
  auto rules = std::make_shared<Rules>();
  rules->title = rules->field("title", FieldKind::text, false);
  rules->snippet = rules->field("snippet", FieldKind::text, true);
  rules->content = rules->field("content", FieldKind::text, true);
  rules->generic_id = rules->field("id", FieldKind::id, false);
  rules->url = rules->field("url", FieldKind::id, false);
  rules->text = (FieldMask{1} << rules->snippet) | (FieldMask{1} << rules->content);
  rules->unit = unit == "passage" ? Unit::passage : Unit::document;
  rules->urls = {texts(urls["ignored_prefixes"]), texts(urls["ignored"]), texts(urls["selectors"])};
  for (nb::handle item : profiles) {
    const auto given = nb::cast<nb::dict>(item);
    rules->profiles.push_back(profile_from(given, *rules));
    for (const std::string& type : texts(given["types"])) rules->of_type[type] = static_cast<uint32_t>(rules->profiles.size() - 1);
  }
  rules->finish();
  return rules;
}

nb::dict verdict_dict(const Verdict& v, const Rules& rules) {
  nb::dict d;
  d["verdict"] = outcome_name(v.outcome);
  d["step"] = v.step;
  std::string evidence = v.evidence;
  const FieldMask behind = v.outcome == Outcome::different ? v.differ : v.agree | v.cut;
  if (evidence.empty()) evidence = rules.names(behind);
  d["fields"] = to_python(evidence);
  d["cut"] = to_python(rules.names(v.cut));
  return d;
}

nb::list audit_list(const std::vector<Decision>& decisions, const Rules& rules) {
  nb::list audit;
  for (const Decision& d : decisions) {
    nb::dict entry = verdict_dict(d.verdict, rules);
    entry["result"] = d.result;
    entry["other"] = d.other;
    entry["key"] = to_python(d.key);
    entry["merged"] = d.merged;
    entry["contradicted"] = d.contradicted;
    audit.append(entry);
  }
  return audit;
}

nb::object cluster(const Rules& rules, Bytes list, double max_gain) {
  TraceParser parser(max_gain);
  Clusters clusters(rules);
  clusters.keep_audit(true);
  nb::list found;
  for (const Result& r : parser.parse_results(list)) found.append(clusters.add(r));
  return nb::make_tuple(found, audit_list(clusters.decisions(), rules));
}

nb::object counted(const Rules& rules, Bytes line, const Qrels* labels, const TraceOptions& options) {
  const CountedConversation found = count_conversation(line, rules, labels, options);
  nb::list first, gains, repeats;
  for (const auto& seen : found.results) {
    first.append(seen.first);
    gains.append(seen.labelled ? nb::object(nb::float_(seen.gain)) : nb::none());
  }
  for (const bool repeat : found.repeats) repeats.append(repeat);
  return nb::make_tuple(first, gains, repeats, audit_list(found.decisions, rules));
}

nb::dict compare(const Rules& rules, Bytes pair) {
  TraceParser parser(1e300);
  const auto& results = parser.parse_results(pair);
  if (results.size() != 2) throw Error(ErrorKind::usage, "a comparison is of two results");
  Clusters clusters(rules);
  const Item a = clusters.prepare(results[0]), b = clusters.prepare(results[1]);
  nb::dict d = verdict_dict(clusters.verify(a, b, true), rules);
  nb::list shared;
  const auto of_b = clusters.keys(b);
  for (const Key& key : clusters.keys(a))
    if (std::any_of(of_b.begin(), of_b.end(), [&](const Key& other) { return other.hash == key.hash; })) shared.append(key.kind);
  d["keys"] = shared;
  return d;
}

TraceOptions options_from(nb::dict given) {
  TraceOptions o;
  o.gain.threshold = nb::cast<double>(given["threshold"]);
  o.gain.max_gain = nb::cast<double>(given["max_gain"]);
  o.gain.scale = nb::cast<std::string>(given["gain"]) == "exp" ? GainScale::exponential : GainScale::linear;
  const auto discount = nb::cast<std::string>(given["discount"]);
  o.gain.discount = discount == "none"         ? Discount::none
                    : discount == "reciprocal" ? Discount::reciprocal
                    : discount == "geometric"  ? Discount::geometric
                                               : Discount::log2;
  o.gain.patience = nb::cast<double>(given["patience"]);
  o.turn = nb::cast<int>(given["turn"]);
  o.skip_bad = nb::cast<bool>(given["skip_bad"]);
  return o;
}

using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;

}  // namespace

void bind_traces(nb::module_& m) {
  m.def("gain_columns", [] {
    nb::list names;
    for (const char* name : gain_columns()) names.append(name);
    return names;
  });
  m.def("normal_form", [](const std::string& text) { return to_python(normal_form(text)); });
  m.def("check_trace", [](nb::bytes line, double max_gain) {
    TraceParser parser(max_gain);
    parser.parse({line.c_str(), line.size()});
  });

  nb::class_<Rules>(m, "IdentityRules")
      .def_static("of", &rules_from)
      .def("cluster", [](const Rules& rules, nb::bytes list, double max_gain) { return cluster(rules, {list.c_str(), list.size()}, max_gain); })
      .def("compare", [](const Rules& rules, nb::bytes pair) { return compare(rules, {pair.c_str(), pair.size()}); })
      .def("reduce_url", [](const Rules& rules, const std::string& url) {
        const ReducedUrl reduced = reduce_url(url, rules.urls);
        nb::list parameters;
        for (const auto& [name, value] : reduced.parameters) parameters.append(nb::make_tuple(to_python(name), to_python(value)));
        return nb::make_tuple(to_python(reduced.page), parameters);
      })
      .def("counted", [](const Rules& rules, nb::bytes line, std::shared_ptr<const Qrels> labels, nb::dict options) {
        return counted(rules, {line.c_str(), line.size()}, labels.get(), options_from(options));
      }, nb::arg(), nb::arg().none(), nb::arg())
      .def("score_file", [](const Rules& rules, int fd, std::string name, std::shared_ptr<const Qrels> labels, nb::dict options, unsigned threads) {
        const TraceOptions how = options_from(options);
        const nb::gil_scoped_release release;
        const MappedFile file(fd, name);
        return score_traces({file.data(), file.size()}, name, &file, rules, labels.get(), how, threads);
      }, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def("score_lines", [](const Rules& rules, nb::bytes lines, std::string name, std::shared_ptr<const Qrels> labels, nb::dict options, unsigned threads) {
        const TraceOptions how = options_from(options);
        const Bytes text{lines.c_str(), lines.size()};
        const nb::gil_scoped_release release;
        return score_traces(text, name, nullptr, rules, labels.get(), how, threads);
      }, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());

  nb::class_<TraceScores>(m, "TraceScores")
      .def_prop_ro("conversations", [](const TraceScores& s) {
        nb::list ids;
        for (const std::string& id : s.conversations) ids.append(to_python(id));
        return ids;
      })
      .def_prop_ro("systems", [](const TraceScores& s) {
        nb::list ids;
        for (const std::string& id : s.systems) ids.append(to_python(id));
        return ids;
      })
      .def_ro("first_row", &TraceScores::first_row)
      .def_prop_ro("bounded", [](const TraceScores& s) { return s.rows.bounded; })
      .def_ro("results", &TraceScores::results)
      .def_ro("searches", &TraceScores::searches)
      .def_ro("skipped", &TraceScores::skipped)
      .def_ro("left_out", &TraceScores::left_out)
      .def_ro("unknown_conversations", &TraceScores::unknown_conversations)
      .def_prop_ro("skipped_examples", [](const TraceScores& s) {
        nb::list found;
        for (const Error& e : s.skipped_examples) found.append(nb::make_tuple(to_python(e.what()), to_python(e.where), to_python(e.hint)));
        return found;
      })
      .def("matrix", [](nb::handle_t<TraceScores> self, const std::string& which) {
        const TraceScores& s = nb::cast<const TraceScores&>(self);
        const std::vector<double>& from = !s.rows.bounded || which == "value" ? s.rows.values
                                          : which == "lower"                    ? s.rows.lower
                                                                                : s.rows.upper;
        return Matrix(from.data(), {from.size() / gain_columns().size(), gain_columns().size()}, self);
      });
}

}  // namespace gg
