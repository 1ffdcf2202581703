#include "urls.hpp"

#include <algorithm>

#include "ada.h"
#include "error.hpp"
#include "normal_form.hpp"

namespace gg {

namespace {

constexpr int most_rewrites = 8, most_steps = 20'000;
constexpr size_t most_segments = 24, most_parameters = 64;  // that aliases look at

Bytes trimmed(Bytes text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// One form of percent-encoding: everything is decoded except what would then mean something else.
std::string normal_percent(Bytes text, Bytes meaningful) {
  std::string out;
  out.reserve(text.size());
  bool wide = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    const char c = static_cast<char>(high * 16 + low);
    static constexpr char upper[] = "0123456789ABCDEF";
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f || meaningful.find(c) != Bytes::npos)
      out += {'%', upper[high], upper[low]};
    else out += c;
    wide |= static_cast<signed char>(c) < 0;
    i += 2;
  }
  if (wide) compose(out);
  return out;
}

/// With %20 for every blank.
std::string escaped(Bytes text, char blank) {
  std::string out;
  out.reserve(text.size() + 16);
  for (const char c : text) {
    if (c == blank) out += "%20";
    else out += c;
  }
  return out;
}

std::string normal_value(Bytes text) {
  std::string value = normal_percent(text, "%&+#");
  return value.find('+') == std::string::npos ? value : escaped(value, '+');
}

/// A path without session ids (/a;jsessionid=1F) and trailing slashes.
std::string normal_path(Bytes text) {
  std::string path = normal_percent(text, "%/?#\\");
  if (path.find(';') != std::string::npos) {
    const std::string lower = lower_ascii(path);
    if (const size_t at = lower.find(";jsessionid="); at != std::string::npos)
      path.erase(at, std::min(path.find('/', at), path.size()) - at);
  }
  while (path.ends_with('/')) path.pop_back();
  return path;
}

bool has_scheme(Bytes url, Bytes scheme) {
  return url.size() > scheme.size() && lower_ascii(url.substr(0, scheme.size())) == scheme;
}

}  // namespace

bool is_url(Bytes text) {
  text = trimmed(text);
  return has_scheme(text, "http://") || has_scheme(text, "https://");
}

// --- parameters ---

ParameterSet::ParameterSet(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    if (entry.ends_with('*')) prefixes_.push_back(lower_ascii(Bytes(entry).substr(0, entry.size() - 1)));
    else exact_.insert(lower_ascii(entry));
  }
}

bool ParameterSet::has(Bytes name, Bytes value) const {
  if (empty()) return false;
  std::string lower = lower_ascii(name);
  if (exact_.contains(lower)) return true;
  for (const std::string& prefix : prefixes_)
    if (lower.starts_with(prefix)) return true;
  if (value.size() > 40) return false;
  return exact_.contains(lower.append("=").append(lower_ascii(value)));
}

std::string ReducedUrl::key() const {
  std::string whole = page;
  for (const Parameter& p : parameters) whole.append("\n").append(p.name).append("\t").append(p.value);
  return whole;
}

// --- compiling aliases ---

UrlRules::UrlRules(const std::vector<std::string>& ignore, const std::vector<std::string>& select,
                   const std::vector<std::string>& fragment_select, const std::vector<AliasOptions>& aliases,
                   const std::vector<IdOptions>& ids)
    : ignore_(ignore), select_(select), fragment_select_(fragment_select) {
  for (const AliasOptions& options : aliases) {
    try {
      aliases_.push_back(compile(options));
      index(aliases_.back(), static_cast<uint16_t>(aliases_.size() - 1));
    } catch (const Error& e) {
      throw Error(e.kind, e.what(), "alias " + in_quotes(options.name), e.hint);
    }
  }
  for (const IdOptions& options : ids) {
    IdRule rule;
    rule.fields = options.fields;
    try {
      for (const std::string& pattern : options.patterns) rule.patterns.emplace_back(pattern, '/', rule.slots);
      rule.key = Template(options.key, rule.slots);
    } catch (const Error& e) {
      throw Error(e.kind, e.what(), "id " + in_quotes(options.name), e.hint);
    }
    ids_.push_back(std::move(rule));
  }
}

UrlRules::Alias UrlRules::compile(const AliasOptions& o) const {
  Alias alias;
  alias.name = o.name;
  alias.slots.add("host");
  alias.slots.add("query");
  for (const std::string& host : o.hosts) {
    if (host == "*") continue;
    std::string pattern = host;  // *.example.com and example.*
    if (pattern.starts_with("*.")) pattern.replace(0, 1, "{:any}");
    if (pattern.ends_with(".*")) pattern.replace(pattern.size() - 1, 1, "{:any}");
    alias.hosts.emplace_back(pattern, '.', alias.slots);
  }
  for (const std::string& path : o.paths) alias.forms.push_back(compile_form(path, alias.slots));
  alias.key = Template(o.key, alias.slots);
  alias.url = Template(o.url, alias.slots);
  alias.host = Template(o.host, alias.slots);
  alias.path = Template(o.path, alias.slots);
  alias.variant = Template(o.variant, alias.slots);
  alias.keep = ParameterSet(o.keep);
  alias.ignore = ParameterSet(o.ignore);
  alias.select = ParameterSet(o.select);
  alias.any_case = o.any_case;
  alias.drop_fragment = o.drop_fragment;
  alias.certainty = o.certainty;
  return alias;
}

/// `/path?name=pattern&name=pattern#fragment`; a part that is missing may be anything.
UrlRules::Form UrlRules::compile_form(Bytes text, Slots& slots) const {
  Form form;
  if (const size_t hash = text.find('#'); hash != Bytes::npos) {
    form.has_fragment = true;
    form.fragment = Pattern(text.substr(hash + 1), '/', slots);
    text = text.substr(0, hash);
  }
  const size_t mark = std::min(text.find('?'), text.size());
  Bytes path = text.substr(0, mark), query = text.substr(std::min(mark + 1, text.size()));
  if (path == "/") path = {};
  form.has_path = mark > 0;
  if (form.has_path) form.path = Pattern(path, '/', slots);
  while (!query.empty()) {
    const size_t stop = std::min(query.find('&'), query.size());
    const Bytes one = query.substr(0, stop);
    query.remove_prefix(std::min(stop + 1, query.size()));
    const size_t equals = std::min(one.find('='), one.size());
    form.parameters.emplace_back(lower_ascii(one.substr(0, equals)),
                                 Pattern(one.substr(std::min(equals + 1, one.size())), '/', slots));
  }
  return form;
}

void UrlRules::index(const Alias& alias, uint16_t number) {
  for (const Pattern& host : alias.hosts) {
    Bytes tail = host.tail(), head = host.head();
    if (host.is_literal()) {
      by_host_[std::string(tail)].push_back(number);
    } else if (tail.size() > 1 && tail.starts_with('.')) {
      by_host_[std::string(tail.substr(1))].push_back(number);
    } else if (const size_t dot = head.find('.'); dot != Bytes::npos && dot > 0) {
      by_label_[std::string(head.substr(0, dot))].push_back(number);
    } else {
      bad_input("a host pattern needs literal labels at its beginning or end", {},
                "for example '*.example.com', '{language}.example.org' or 'shop.*'");
    }
  }
  if (!alias.hosts.empty()) return;
  if (alias.forms.empty()) bad_input("an alias for any host needs paths", {}, "add paths, or hosts");
  for (const Form& form : alias.forms) {
    const auto segments = form.path.literal_segments('/');
    if (!segments.empty()) {
      by_segment_[*std::max_element(segments.begin(), segments.end(), [](const auto& a, const auto& b) {
        return a.size() < b.size();
      })].push_back(number);
    } else if (!form.parameters.empty()) {
      by_parameter_[form.parameters.front().first].push_back(number);
    } else {
      bad_input("a path for any host needs a literal segment or a parameter", {},
                "for example '{page:any}/index.html'");
    }
  }
}

// --- applying them ---

struct UrlRules::Parts {
  bool web = false;
  std::string scheme, host, port, path, fragment, query;
  std::vector<ReducedUrl::Parameter> parameters;  // all of them
  std::vector<const Alias*> settings;             // aliases that say what parameters mean; each applies once
};

std::vector<uint16_t> UrlRules::candidates(const Parts& url) const {
  std::vector<uint16_t> numbers;
  const auto look = [&](const Index& index, Bytes key) {
    if (const auto at = index.find(key); at != index.end())
      numbers.insert(numbers.end(), at->second.begin(), at->second.end());
  };
  Bytes host = url.host;
  look(by_label_, host.substr(0, host.find('.')));
  for (int labels = 0; labels < 8 && !host.empty(); ++labels) {
    look(by_host_, host);
    const size_t dot = host.find('.');
    host = dot == Bytes::npos ? Bytes() : host.substr(dot + 1);
  }
  Bytes path = url.path;
  for (size_t n = 0; n < most_segments && !path.empty(); ++n) {
    path.remove_prefix(1);
    const size_t stop = std::min(path.find('/'), path.size());
    look(by_segment_, path.substr(0, stop));
    path.remove_prefix(stop);
  }
  if (!path.empty()) look(by_segment_, path.substr(path.rfind('/') + 1));
  for (size_t n = 0; n < std::min(url.parameters.size(), most_parameters); ++n)
    look(by_parameter_, lower_ascii(url.parameters[n].name));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

bool UrlRules::matches(const Alias& alias, const Parts& url, Captures& captures, int& steps) const {
  captures.assign(alias.slots.size(), {});
  if (!alias.hosts.empty() && std::none_of(alias.hosts.begin(), alias.hosts.end(),
                                           [&](const Pattern& host) { return host.match(url.host, captures, steps); }))
    return false;
  captures[0] = url.host;
  captures[1] = url.query;
  if (alias.forms.empty()) return true;
  const auto parameter = [&](const std::string& name, const Pattern& pattern) {
    return std::any_of(url.parameters.begin(), url.parameters.end(), [&](const ReducedUrl::Parameter& p) {
      --steps;
      return p.name.size() == name.size() && lower_ascii(p.name) == name && pattern.match(p.value, captures, steps);
    });
  };
  const Captures of_host = captures;
  return std::any_of(alias.forms.begin(), alias.forms.end(), [&](const Form& form) {
    captures = of_host;
    return (!form.has_path || form.path.match(url.path, captures, steps)) &&
           std::all_of(form.parameters.begin(), form.parameters.end(),
                       [&](const auto& wanted) { return parameter(wanted.first, wanted.second); }) &&
           (!form.has_fragment || form.fragment.match(url.fragment, captures, steps));
  });
}

bool UrlRules::apply_aliases(Parts& url, std::string& next, int& steps, ReducedUrl& reduced) const {
  Captures captures;
  for (const uint16_t number : candidates(url)) {
    const Alias& alias = aliases_[number];
    if (std::find(url.settings.begin(), url.settings.end(), &alias) != url.settings.end()) continue;
    if (steps <= 0) return false;
    if (!matches(alias, url, captures, steps)) continue;
    if (alias.key.empty() && alias.url.empty()) {
      url.settings.push_back(&alias);  // what it says about parameters holds to the end
      if (alias.host.empty() && alias.path.empty()) continue;
    }
    reduced.aliases.push_back(number);
    if (alias.certainty == Certainty::likely)
      reduced.form = mix(reduced.form ^ number ^ hash_bytes(alias.variant.fill(captures)), 0x9e3779b97f4a7c15ULL) | 1;
    if (alias.certainty == Certainty::possible)
      reduced.parameters.push_back({"@" + alias.name, alias.variant.fill(captures)});
    if (!alias.url.empty()) {
      next = alias.url.fill(captures);
      return true;
    }
    if (!alias.key.empty()) {
      reduced.page = alias.key.fill(captures);
      if (const size_t colon = reduced.page.find(':'); colon != std::string::npos) reduced.page[colon] = '|';
      for (ReducedUrl::Parameter& p : url.parameters)
        if (alias.keep.has(p.name, p.value)) {
          if (alias.ignore.has(p.name, p.value)) continue;
          p.selects = alias.select.has(p.name, p.value);
          if (!p.selects && ignore_.has(p.name, p.value)) continue;
          p.selects |= select_.has(p.name, p.value);
          reduced.parameters.push_back(std::move(p));
        }
      std::sort(reduced.parameters.begin(), reduced.parameters.end());
      return false;
    }
    // The host or path is replaced; captures are views of the old ones.
    std::string host = alias.host.empty() ? url.host : alias.host.fill(captures);
    std::string path = alias.path.empty() ? url.path : alias.path.fill(captures);
    if (!path.empty() && path.front() != '/') path.insert(0, 1, '/');
    path = escaped(path, ' ');
    path.erase(std::unique(path.begin(), path.end(), [](char x, char y) { return x == '/' && y == '/'; }), path.end());
    while (path.ends_with('/')) path.pop_back();
    url.host = std::move(host);
    url.path = std::move(path);
    return true;
  }
  return false;
}

void UrlRules::finish(Parts& url, ReducedUrl& reduced) const {
  if (!url.web) reduced.page += url.scheme;
  reduced.page += url.host;
  if (!url.port.empty() && !(url.web && (url.port == "80" || url.port == "443")))
    reduced.page.append(":").append(url.port);
  reduced.page += '|';
  const auto any = [&](auto&& holds) { return std::any_of(url.settings.begin(), url.settings.end(), holds); };
  reduced.page += any([](const Alias* a) { return a->any_case; }) ? lower_ascii(url.path) : url.path;
  for (ReducedUrl::Parameter& p : url.parameters) {
    if (any([&](const Alias* a) { return a->ignore.has(p.name, p.value); })) continue;
    p.selects = any([&](const Alias* a) { return a->select.has(p.name, p.value); });
    if (!p.selects && ignore_.has(p.name, p.value)) continue;
    p.selects |= select_.has(p.name, p.value);
    reduced.parameters.push_back(std::move(p));
  }
  Bytes fragment = url.fragment;
  if (any([](const Alias* a) { return a->drop_fragment; })) fragment = {};
  while (fragment.ends_with('/')) fragment.remove_suffix(1);
  if (fragment.starts_with('!') || fragment.starts_with('/')) {  // a route of an application
    reduced.page.append("#").append(fragment);
  } else if (fragment.find('/') != Bytes::npos ||
             (fragment.find('=') != Bytes::npos && fragment_select_.has(fragment.substr(0, fragment.find('=')), {}))) {
    reduced.parameters.push_back({"#", std::string(fragment), false});  // perhaps one; the text decides
  }
  std::sort(reduced.parameters.begin(), reduced.parameters.end());
  const auto repeated = std::unique(reduced.parameters.begin(), reduced.parameters.end());
  reduced.parameters.erase(repeated, reduced.parameters.end());
}

ReducedUrl UrlRules::reduce(Bytes raw) const {
  ReducedUrl reduced;
  std::string held;
  int steps = most_steps;
  for (int rewrites = 0;; ++rewrites) {
    Bytes url = trimmed(raw);
    std::string decoded;
    if (url.find("&amp;") != Bytes::npos || url.find("&#") != Bytes::npos) {
      append_decoded_entities(url, decoded);
      url = decoded;
    }
    auto parsed = ada::parse<ada::url_aggregator>(url);
    const Bytes authority = url.substr(0, url.find('/'));
    const bool bare = !url.starts_with('/') && authority.find('.') != Bytes::npos &&
                      (!parsed || parsed->get_protocol().find('.') != Bytes::npos);
    if (bare || url.starts_with("//"))  // a host without a scheme
      parsed =
          ada::parse<ada::url_aggregator>("https:" + std::string(url.starts_with("//") ? "" : "//") + std::string(url));
    const bool known = parsed && (parsed->get_protocol() == "http:" || parsed->get_protocol() == "https:");
    if (!known && match_id({}, url, reduced.page)) return reduced;  // doi:10.1000/1
    if (!parsed) {
      reduced.page.append("|").append(url);
      return reduced;
    }
    Parts parts;
    parts.scheme = parsed->get_protocol();
    parts.web = known;
    Bytes host = parsed->get_hostname();
    if (host.starts_with("www.") && host.find('.', 4) != Bytes::npos) host.remove_prefix(4);
    while (host.ends_with('.')) host.remove_suffix(1);
    parts.host = host;
    parts.port = parsed->get_port();
    parts.path = normal_path(parsed->get_pathname());
    parts.query = parsed->get_search();
    Bytes fragment = parsed->get_hash();
    if (fragment.starts_with('#')) fragment.remove_prefix(1);
    parts.fragment = normal_percent(fragment.substr(0, fragment.find(":~:")), "%");  // without #:~:text=...
    Bytes query = parts.query;
    if (query.starts_with('?')) query.remove_prefix(1);
    while (!query.empty()) {
      const size_t stop = std::min(query.find('&'), query.size());
      const Bytes one = query.substr(0, stop);
      query.remove_prefix(std::min(stop + 1, query.size()));
      const size_t equals = std::min(one.find('='), one.size());
      if (!one.empty())
        parts.parameters.push_back(
            {normal_value(one.substr(0, equals)), normal_value(one.substr(std::min(equals + 1, one.size())))});
    }
    std::string next;
    for (; parts.web && rewrites < most_rewrites && reduced.page.empty(); ++rewrites)
      if (!apply_aliases(parts, next, steps, reduced) || !next.empty()) break;
    if (!next.empty()) {
      held = std::move(next);
      raw = held;
      continue;
    }
    if (reduced.page.empty()) finish(parts, reduced);
    return reduced;
  }
}

std::string UrlRules::names(const std::vector<uint16_t>& aliases) const {
  std::string text;
  for (const uint16_t alias : aliases) text += (text.empty() ? "" : ", ") + aliases_[alias].name;
  return text;
}

// --- ids ---

bool UrlRules::match_id(Bytes field, Bytes id, std::string& form) const {
  int steps = 2'000;
  Captures captures;
  for (const IdRule& rule : ids_) {
    if (!rule.fields.empty() && std::find(rule.fields.begin(), rule.fields.end(), field) == rule.fields.end()) continue;
    captures.assign(rule.slots.size(), {});
    for (const Pattern& pattern : rule.patterns)
      if (pattern.match(id, captures, steps)) {
        form = rule.key.fill(captures);
        return true;
      }
  }
  return false;
}

std::string UrlRules::id_form(Bytes field, Bytes id) const {
  id = trimmed(id);
  if (is_url(id)) return reduce(id).key();
  std::string form;
  return match_id(field, id, form) ? form : normal_form(id);
}

}  // namespace gg
