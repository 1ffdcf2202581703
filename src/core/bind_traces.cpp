// Bindings for traces and identity: thin wrappers without logic.
#include "bind_traces.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "label_index.hpp"
#include "normal_form.hpp"
#include "option_tables.hpp"
#include "python_values.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace gg {

namespace {

Profile add_profile(const ProfileOptions& options, Rules& rules) {
  Profile profile;
  profile.name = options.name;
  for (const FieldOptions& field : options.fields) {
    const uint32_t number = rules.field(field.name, field.kind, field.may_be_cut);
    profile.compared |= FieldMask{1} << number;
    if (field.rejects) profile.rejecting |= FieldMask{1} << number;
    for (const std::string& source : field.sources) profile.sources[source] = number;
  }
  const std::pair<const std::vector<std::string>&, IdRole> roles[] = {
      {options.definitive, IdRole::definitive}, {options.container, IdRole::container}, {options.hint, IdRole::hint}};
  for (const auto& [ids, role] : roles)
    for (const std::string& id : ids) {
      profile.ids[id] = role;
      rules.usual_roles.try_emplace(id, role);
      if (role == IdRole::container) rules.id_fields.try_emplace(id, rules.field(id, FieldKind::id, false));
    }
  for (const auto& rule : options.rules) {
    std::vector<Requirement> all;
    for (const auto& [count, of] : rule) {
      Requirement r{0, count};
      for (const std::string& field : of) r.fields |= FieldMask{1} << rules.field(field, FieldKind::text, false);
      all.push_back(r);
    }
    profile.rules.push_back(std::move(all));
  }
  return profile;
}

std::shared_ptr<Rules> identity_rules(nb::list profiles, nb::handle unit, nb::dict urls) {
  auto rules = std::make_shared<Rules>();
  rules->title = rules->field("title", FieldKind::text, false);
  rules->snippet = rules->field("snippet", FieldKind::text, true);
  rules->content = rules->field("content", FieldKind::text, true);
  rules->generic_id = rules->field("id", FieldKind::id, false);
  rules->url = rules->field("url", FieldKind::id, false);
  rules->text = (FieldMask{1} << rules->snippet) | (FieldMask{1} << rules->content);
  rules->unit = read_unit(unit);
  rules->urls = read_urls(urls);
  for (nb::handle item : profiles) {
    const ProfileOptions options = read_profile(nb::cast<nb::dict>(item));
    rules->profiles.push_back(add_profile(options, *rules));
    for (const std::string& type : options.types)
      rules->of_type[type] = static_cast<uint32_t>(rules->profiles.size() - 1);
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
  d["rule"] = to_python(v.rule);
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
  nb::list first;
  for (const Result& r : parser.parse_results(list)) first.append(clusters.add(r));
  return nb::make_tuple(first, audit_list(clusters.decisions(), rules));
}

nb::object counted(const Rules& rules, Bytes line, const Qrels* labels, const TraceOptions& options) {
  const CountedConversation conversation = count_conversation(line, rules, labels, options);
  nb::list first, gains, repeats;
  for (const auto& seen : conversation.results) {
    first.append(seen.first);
    gains.append(seen.labelled ? nb::object(nb::float_(seen.gain)) : nb::none());
  }
  for (const bool repeat : conversation.repeats) repeats.append(repeat);
  return nb::make_tuple(first, gains, repeats, audit_list(conversation.decisions, rules));
}

nb::dict compare(const Rules& rules, Bytes pair) {
  TraceParser parser(1e300);
  const auto& results = parser.parse_results(pair);
  if (results.size() != 2)
    throw Error(ErrorKind::usage, "expected two results to compare, got " + std::to_string(results.size()));
  Clusters clusters(rules);
  const Item a = clusters.prepare(results[0]), b = clusters.prepare(results[1]);
  nb::dict d = verdict_dict(clusters.verify(a, b, true), rules);
  nb::list shared;
  const auto of_b = clusters.keys(b);
  for (const Key& key : clusters.keys(a))
    if (std::any_of(of_b.begin(), of_b.end(), [&](const Key& other) { return other.hash == key.hash; }))
      shared.append(key.kind);
  d["keys"] = shared;
  return d;
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
  m.def("without_markup", [](const std::string& text) {
    std::string scratch;
    return to_python(without_markup(text, scratch));
  });
  m.def("check_trace", [](nb::bytes line, double max_gain) {
    TraceParser parser(max_gain);
    parser.parse({line.c_str(), line.size()});
  });

  nb::class_<Rules>(m, "IdentityRules")
      .def_static("of", &identity_rules)
      .def("cluster", [](const Rules& rules, nb::bytes list,
                         double max_gain) { return cluster(rules, {list.c_str(), list.size()}, max_gain); })
      .def("compare", [](const Rules& rules, nb::bytes pair) { return compare(rules, {pair.c_str(), pair.size()}); })
      .def("reduce_url",
           [](const Rules& rules, const std::string& url) {
             const ReducedUrl reduced = rules.urls.reduce(url);
             nb::list parameters;
             for (const ReducedUrl::Parameter& p : reduced.parameters)
               parameters.append(nb::make_tuple(to_python(p.name), to_python(p.value)));
             return nb::make_tuple(to_python(reduced.page), parameters, to_python(rules.urls.names(reduced.aliases)));
           })
      .def("label_keys",
           [](const Rules& rules, const std::string& name) { return string_list(label_keys(name, rules.urls)); })
      .def(
          "counted",
          [](const Rules& rules, nb::bytes line, std::shared_ptr<const Qrels> labels, nb::dict options) {
            return counted(rules, {line.c_str(), line.size()}, labels.get(), read_traces(options));
          },
          nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "score_file",
          [](const Rules& rules, int fd, std::string name, std::shared_ptr<const Qrels> labels, nb::dict options,
             unsigned threads) {
            const TraceOptions how = read_traces(options);
            const nb::gil_scoped_release release;
            const MappedFile file(fd, name);
            return score_traces({file.data(), file.size()}, name, &file, rules, labels.get(), how, threads);
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg())
      .def(
          "score_lines",
          [](const Rules& rules, nb::bytes lines, std::string name, std::shared_ptr<const Qrels> labels,
             nb::dict options, unsigned threads) {
            const TraceOptions how = read_traces(options);
            const Bytes text{lines.c_str(), lines.size()};
            const nb::gil_scoped_release release;
            return score_traces(text, name, nullptr, rules, labels.get(), how, threads);
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());

  nb::class_<TraceScores>(m, "TraceScores")
      .def_prop_ro("conversations", [](const TraceScores& s) { return string_list(s.conversations); })
      .def_prop_ro("systems", [](const TraceScores& s) { return string_list(s.systems); })
      .def_ro("first_row", &TraceScores::first_row)
      .def_prop_ro("bounded", [](const TraceScores& s) { return s.rows.bounded; })
      .def_ro("results", &TraceScores::results)
      .def_ro("searches", &TraceScores::searches)
      .def_ro("skipped", &TraceScores::skipped)
      .def_ro("left_out", &TraceScores::left_out)
      .def_ro("unknown_conversations", &TraceScores::unknown_conversations)
      .def_ro("ambiguous_labels", &TraceScores::ambiguous_labels)
      .def_prop_ro("skipped_examples",
                   [](const TraceScores& s) {
                     nb::list examples;
                     for (const Error& e : s.skipped_examples)
                       examples.append(nb::make_tuple(to_python(e.what()), to_python(e.where), to_python(e.hint)));
                     return examples;
                   })
      .def("matrix", [](nb::handle_t<TraceScores> self, const std::string& which) {
        const TraceScores& s = nb::cast<const TraceScores&>(self);
        const std::vector<double>& from = !s.rows.bounded || which == "value" ? s.rows.values
                                          : which == "lower"                  ? s.rows.lower
                                                                              : s.rows.upper;
        return Matrix(from.data(), {from.size() / gain_columns().size(), gain_columns().size()}, self);
      });
}

}  // namespace gg
