// Bindings for traces and identity: thin wrappers without logic.
#include "bind_traces.hpp"

#include <array>
#include <deque>

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "label_index.hpp"
#include "normal_form.hpp"
#include "option_tables.hpp"
#include "python_values.hpp"
#include "text_citations.hpp"
#include "trace_scores.hpp"
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
  std::vector<uint32_t> numbers;
  {
    const UnlockedIf release(list.size() > 100'000);
    for (const Result& r : parser.parse_results(list)) numbers.push_back(clusters.add(r));
  }
  nb::list first;
  for (const uint32_t number : numbers) first.append(number);
  return nb::make_tuple(first, audit_list(clusters.decisions(), rules));
}

nb::list counted(const Rules& rules, nb::list lines, const Qrels* labels, const TraceOptions& options) {
  std::vector<Bytes> texts;
  std::vector<nb::bytes> owned;  // another thread may change the list
  size_t size = 0;
  for (nb::handle line : lines) {
    const nb::bytes& bytes = owned.emplace_back(nb::cast<nb::bytes>(line));
    texts.emplace_back(bytes.c_str(), bytes.size());
    size += bytes.size();
  }
  std::vector<CountedConversation> conversations;
  {
    const UnlockedIf release(size > 100'000);
    conversations = count_conversation(texts, rules, labels, options);
  }
  nb::list all;
  for (const CountedConversation& conversation : conversations) {
    nb::list first, gains, repeats;
    for (const auto& seen : conversation.results) {
      first.append(seen.first);
      gains.append(seen.labelled ? nb::object(nb::float_(seen.gain)) : nb::none());
    }
    for (const bool repeat : conversation.repeats) repeats.append(repeat);
    all.append(nb::make_tuple(first, gains, repeats, audit_list(conversation.decisions, rules)));
  }
  return all;
}

/// The memory of a Python object that has a buffer, such as that of an Arrow array; it must not change meanwhile.
class BufferView {
 public:
  explicit BufferView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE)) throw nb::python_error();
  }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ~BufferView() { PyBuffer_Release(&view_); }
  Bytes bytes() const { return {static_cast<const char*>(view_.buf), static_cast<size_t>(view_.len)}; }

 private:
  Py_buffer view_;
};

/// Scores (bytes, buffer or file descriptor, name) pairs together.
nb::list score(const Rules& rules, nb::list sources, const Qrels* labels, nb::dict options, unsigned threads) {
  const TraceOptions how = read_traces(options);
  std::deque<InputFile> files;
  std::vector<TraceText> texts;
  std::deque<BufferView> views;
  for (nb::handle item : sources) {
    const auto source = nb::cast<nb::tuple>(item);
    const auto name = nb::cast<std::string>(source[1]);
    if (nb::isinstance<nb::int_>(source[0]))
      texts.push_back({{}, name, &files.emplace_back(nb::cast<int>(source[0]), name)});
    else texts.push_back({views.emplace_back(source[0]).bytes(), name});
  }
  std::vector<TraceScores> scores;
  {
    const Unlocked release;
    scores = score_traces(texts, rules, labels, how, threads);
    for (const InputFile& file : files) file.require_unchanged();
  }
  nb::list all;
  for (TraceScores& one : scores) all.append(nb::cast(std::move(one)));
  return all;
}

nb::dict totals_dict(const TraceTotals& t) {
  nb::dict d;
  const std::pair<const char*, uint64_t> counts[] = {
      {"results", t.results},
      {"searches", t.searches},
      {"tries", t.tries},
      {"failed", t.failed},
      {"unread", t.unread},
      {"empty", t.empty},
      {"skipped", t.skipped},
      {"left_out", t.left_out},
      {"unknown_conversations", t.unknown_conversations},
      {"steps", t.steps},
      {"opens", t.opens},
      {"citations", t.citations},
      {"turns", t.turns},
      {"ambiguous_labels", t.ambiguous_labels},
      {"lent", t.lent},
      {"conflicting", t.conflicting},
      {"identical", t.identical},
      {"labels", t.labels},
      {"zeros", t.zeros},
      {"ones", t.ones},
      {"taken_as_zero", t.taken_as_zero},
  };
  for (const auto& [name, count] : counts) d[name] = count;
  const char* kinds[] = {"tokens", "cost", "seconds"};
  for (size_t kind = 0; kind < t.usage.size(); ++kind) {
    const UsageCounts& u = t.usage[kind];
    const std::pair<const char*, uint64_t> known[] = {
        {"by_step", u.by_step}, {"by_search", u.by_search}, {"by_turn", u.by_turn}, {"in_part", u.in_part}};
    for (const auto& [how, count] : known) d[(std::string(kinds[kind]) + "_" + how).c_str()] = count;
  }
  return d;
}

/// One text of each conversation.
template <typename Get>
nb::list texts_of(const TraceScores& s, Get get) {
  nb::list all;
  Breather breathe;
  for (const ScoredConversation& c : s.conversations) {
    all.append(to_python(Bytes(get(c))));
    breathe();
  }
  return all;
}

/// The counts of a conversation's funnel, in the order of FUNNEL in agentic/evidence.py.
std::array<uint32_t, 13> funnel_row(const ScoredConversation& c) {
  const FunnelCounts& f = c.funnel;
  return {f.known,          f.returned,       f.opened,          f.cited,
          f.cited_returned, f.good_citations, f.other_citations, f.unlabelled_citations,
          f.unsupported,    f.unresolved,     c.has_answer,      f.has_answer,
          f.opens};
}

nb::list evidence_list(const ScoredConversation& c, size_t begin = 0, size_t end = SIZE_MAX) {
  nb::list all;
  for (size_t i = begin; i < std::min(end, c.evidence.size()); ++i) {
    const Evidence& e = c.evidence[i];
    const nb::object opened = e.opened == Use::never ? nb::none() : nb::object(nb::int_(e.opened));
    all.append(nb::make_tuple(to_python(e.name), e.gain, e.iteration, e.search, e.rank, opened, e.cited));
  }
  return all;
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
  m.def("normal_form", [](const Text& text) {
    std::string normal;
    {
      const UnlockedIf release(text.bytes.size() > 100'000);
      normal = normal_form(text.bytes);
    }
    return to_python(normal);
  });
  m.def("without_markup", [](const Text& text) {
    std::string scratch;
    return to_python(without_markup(text.bytes, scratch));
  });
  m.def("text_citations", [](nb::bytes text, nb::set names) {
    nb::list all;
    const auto is_name = [&](Bytes name) { return names.contains(to_python(name)); };
    for (const TextCitation& c : text_citations({text.c_str(), text.size()}, is_name)) {
      nb::dict citation;
      if (!c.url.empty()) citation["url"] = to_python(c.url);
      if (!c.marker.empty()) citation["marker"] = to_python(c.marker);
      all.append(citation);
    }
    return all;
  });
  m.def("marker_name", [](nb::bytes marker) { return to_python(marker_name({marker.c_str(), marker.size()})); });
  m.def("check_trace", [](nb::bytes line, double max_gain) {
    TraceParser parser(max_gain);
    const UnlockedIf release(line.size() > 100'000);
    parser.parse({line.c_str(), line.size()});
  });

  nb::class_<Rules>(m, "IdentityRules")
      .def_static("of", &identity_rules)
      .def("cluster", [](const Rules& rules, nb::bytes list,
                         double max_gain) { return cluster(rules, {list.c_str(), list.size()}, max_gain); })
      .def("compare", [](const Rules& rules, nb::bytes pair) { return compare(rules, {pair.c_str(), pair.size()}); })
      .def("reduce_url",
           [](const Rules& rules, const Text& url) {
             const ReducedUrl reduced = rules.urls.reduce(url.bytes);
             nb::list parameters;
             for (const ReducedUrl::Parameter& p : reduced.parameters)
               parameters.append(nb::make_tuple(to_python(p.name), to_python(p.value)));
             return nb::make_tuple(to_python(reduced.page), parameters, to_python(rules.urls.names(reduced.aliases)));
           })
      .def("label_keys",
           [](const Rules& rules, const Text& name) { return string_list(label_keys(name.bytes, rules.urls)); })
      .def(
          "counted",
          [](const Rules& rules, nb::list lines, std::shared_ptr<const Qrels> labels, nb::dict options) {
            return counted(rules, lines, labels.get(), read_traces(options));
          },
          nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "score",
          [](const Rules& rules, nb::list sources, std::shared_ptr<const Qrels> labels, nb::dict options,
             unsigned threads) { return score(rules, sources, labels.get(), options, threads); },
          nb::arg(), nb::arg().none(), nb::arg(), nb::arg());

  m.def("content_names", [](nb::bytes list) {
    TraceParser parser(1e300);
    nb::list names;
    for (const Result& r : parser.parse_results({list.c_str(), list.size()})) names.append(to_python(content_name(r)));
    return names;
  });
  m.def("conversation_ids", [](nb::list lines) {
    TraceParser parser(1e300);
    nb::list ids;
    Breather breathe;
    for (nb::handle line : nb::steal<nb::tuple>(PyList_AsTuple(lines.ptr()))) {
      breathe();
      const BufferView view(line);
      ids.append(to_python(parser.id_of(view.bytes())));
    }
    return ids;
  });

  nb::class_<TraceScores>(m, "TraceScores")
      .def_prop_ro(
          "conversations",
          [](const TraceScores& s) { return texts_of(s, [](const auto& c) -> const std::string& { return c.id; }); })
      .def_prop_ro("systems",
                   [](const TraceScores& s) {
                     return texts_of(s, [](const auto& c) -> const std::string& { return c.system; });
                   })
      .def_prop_ro("repeats",
                   [](const TraceScores& s) {
                     return texts_of(s, [](const auto& c) -> const std::string& { return c.repeat; });
                   })
      .def_prop_ro("counts",
                   [](const TraceScores& s) {
                     nb::list rows;
                     for (const ScoredConversation& c : s.conversations)
                       rows.append(nb::make_tuple(c.iterations, c.results, c.unique, c.labelled, c.unread));
                     return rows;
                   })
      .def_prop_ro("funnel",
                   [](const TraceScores& s) {
                     std::vector<int64_t> rows;
                     for (const ScoredConversation& c : s.conversations)
                       for (const uint32_t count : funnel_row(c)) rows.push_back(count);
                     return numpy_array(std::move(rows));
                   })
      .def_prop_ro("evidence",
                   [](const TraceScores& s) {
                     nb::list all;
                     Breather breathe;
                     for (const ScoredConversation& c : s.conversations) {
                       all.append(evidence_list(c));
                       breathe();
                     }
                     return all;
                   })
      .def("some_evidence", [](const TraceScores& s, size_t conversation, size_t begin,
                               size_t end) { return evidence_list(s.conversations.at(conversation), begin, end); })
      .def_prop_ro("answers",
                   [](const TraceScores& s) {
                     nb::list all;
                     for (const ScoredConversation& c : s.conversations)
                       all.append(nb::make_tuple(to_python(Bytes(c.user)),
                                                 c.has_answer ? nb::object(to_python(Bytes(c.answer))) : nb::none()));
                     return all;
                   })
      .def_prop_ro("places",
                   [](const TraceScores& s) {
                     nb::list places;
                     for (const ScoredConversation& c : s.conversations) places.append(c.place);
                     return places;
                   })
      .def_prop_ro("totals", [](const TraceScores& s) { return totals_dict(s.totals); })
      .def_prop_ro("calls",
                   [](const TraceScores& s) {
                     nb::list calls;
                     for (const auto& [tool, c] : s.totals.calls)
                       calls.append(nb::make_tuple(to_python(tool), c.search, c.empty, c.failed, c.unread, c.open));
                     return calls;
                   })
      .def_prop_ro("read",
                   [](const TraceScores& s) {
                     return nb::make_tuple(s.totals.conversations, s.totals.results_of_all_turns, s.totals.duplicates);
                   })
      .def_prop_ro("bounded", [](const TraceScores& s) { return s.rows.bounded; })
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
