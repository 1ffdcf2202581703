// What several targets use.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernels.hpp"
#include "targets.hpp"

namespace gg::fuzz {

void differ(const char* what, Bytes input) {
  std::fprintf(stderr, "%s differ on: %.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

bool is_one_of(Bytes input, size_t every) {
  uint64_t sum = 1469598103934665603ULL;  // FNV-1a: the same in every process, unlike the core's hash
  for (const char c : input) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return (sum >> 32) % every == 0;
}

const std::shared_ptr<const Qrels>& some_judgments() {
  static const std::shared_ptr<const Qrels> judged = [] {
    QrelsBuilder builder;
    uint64_t row = 0;
    for (const char* doc : {"a", "b", "c", "d", "1", "2"})
      for (const char* query : {"q", "r", "1", "c"}) builder.add(query, doc, static_cast<double>(++row % 4), row);
    return std::shared_ptr<const Qrels>(builder.finish("qrels", false));
  }();
  return judged;
}

Plan some_plan() {
  Plan plan;
  plan.policy.duplicates = Duplicates::first;
  for (const char* name : {"ndcg", "ap", "rr"}) {
    Spec spec;
    spec.kernel = find_kernel(name);
    if (!spec.kernel) std::abort();
    spec.cutoff = 5;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  return plan;
}

StreamSource in_pieces(Bytes text, size_t most, const LineFormat& format) {
  const auto open = [text, most] {
    return [text, most, at = size_t{0}](char* to, size_t size) mutable {
      const size_t n = std::min({size, most, text.size() - at});
      std::memcpy(to, text.data() + at, n);
      at += n;
      return n;
    };
  };
  return StreamSource(open, text.size(), "fuzz", format.delimiter, format.is_quoted());
}

std::string bytes_of(const Scores& scores) {
  std::string bytes(reinterpret_cast<const char*>(scores.values.data()), scores.values.size() * sizeof(double));
  return bytes.append(scores.in_run.begin(), scores.in_run.end());
}

namespace {

Rules make_rules(Unit unit) {
  Rules r;
  r.title = r.field("title", FieldKind::text, false);
  r.snippet = r.field("snippet", FieldKind::text, true);
  r.content = r.field("content", FieldKind::text, true);
  r.generic_id = r.field("id", FieldKind::id, false);
  r.url = r.field("url", FieldKind::id, false);
  const uint32_t people = r.field("to", FieldKind::people, false), time = r.field("start", FieldKind::time, false);
  r.text = (FieldMask{1} << r.snippet) | (FieldMask{1} << r.content);
  r.unit = unit;
  AliasOptions video{.name = "video", .hosts = {"example.com"}, .paths = {"/%7Ea", "/{a}~[{b:digits 2+}]"}};
  video.key = "video:{a|lower}{b}";
  AliasOptions wrapper{.name = "wrapper", .hosts = {"*"}, .paths = {"?u={target:url}"}, .url = "{target|url|decode}"};
  AliasOptions mobile{.name = "mobile", .hosts = {"m.{rest:any}"}, .host = "{rest}", .ignore = {"app"}};
  mobile.certainty = Certainty::likely;
  mobile.variant = "m";
  AliasOptions wiki{.name = "wiki", .hosts = {"{lang}.wiki.org"}, .paths = {"/wiki/{page:any}", "/w?title={page}"}};
  wiki.key = "wiki:{lang}:{page|wiki}";
  wiki.keep = {"oldid"}, wiki.drop_fragment = true;
  IdOptions opaque{.name = "opaque", .fields = {}, .patterns = {"{id:opaque 16+}", "{id:guid}"}, .key = "{id}"};
  IdOptions record{.name = "record", .fields = {"id"}, .patterns = {"{id:salesforce}"}, .key = "{id|salesforce}"};
  r.urls = UrlRules({"utm_*", "gclid", "a=1"}, {"id", "q"}, {"id"}, {video, wrapper, mobile, wiki}, {opaque, record});
  Profile p;
  p.name = "generic";
  p.sources = {{"title", r.title}, {"to", people}, {"start", time}};
  p.compared = p.rejecting = ~FieldMask{0};
  p.ids = {{"file_id", IdRole::definitive}, {"site_id", IdRole::container}};
  p.rules = {{{r.text, 1}}, {{FieldMask{1} << r.title, 1}, {(FieldMask{1} << people) | (FieldMask{1} << time), 1}}};
  r.profiles = {p, p};
  r.of_type["event"] = 1;
  r.finish();
  return r;
}

}  // namespace

const Rules& some_rules(bool passages) {
  static const Rules of_documents = make_rules(Unit::document), of_passages = make_rules(Unit::passage);
  return passages ? of_passages : of_documents;
}

}  // namespace gg::fuzz
