// Rules of identity that targets share.
#include "targets.hpp"

namespace gg::fuzz {

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
