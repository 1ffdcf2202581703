// Feeds arbitrary bytes to every reader of the core, which must return a result or throw an Error, and the same result
// however the bytes come. The first byte of an input chooses the reader.
//
//   reader_fuzz SECONDS FOLDER      mutates the files of a folder (built with clang, libFuzzer does it, by coverage)
//   reader_fuzz allocations FOLDER  lets every single allocation fail once, for every file
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "error.hpp"
#include "kernels.hpp"
#include "normal_form.hpp"
#include "patterns.hpp"
#include "text.hpp"
#include "text_citations.hpp"
#include "urls.hpp"

using namespace gg;

// --- allocations that fail ---

namespace {
std::atomic<int64_t> allocations_left{-1};  // the one after the last fails; negative: none does

void* allocate(size_t size) {
  if (allocations_left.load(std::memory_order_relaxed) >= 0 && allocations_left.fetch_sub(1) == 0)
    throw std::bad_alloc();
  if (void* place = std::malloc(size ? size : 1)) return place;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }
void operator delete[](void* place, size_t) noexcept { std::free(place); }

namespace {

[[noreturn]] void differ(const char* what, Bytes input) {
  std::fprintf(stderr, "%s differ on: %.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

std::vector<LineFormat> formats() {
  LineFormat trec_eval, csv, tsv, json;
  trec_eval.as_trec_eval = true;
  csv.kind = tsv.kind = LineFormat::Kind::delimited;
  csv.quotes = true;
  tsv.delimiter = '\t';
  csv.columns = tsv.columns = {0, 1, 2, 3, 4, 5};
  json.kind = LineFormat::Kind::json;
  json.keys = {"query", "doc", "score", "target", "aspect", {}};
  return {{}, trec_eval, csv, tsv, json};
}

// --- one line at a time: the way it lies in memory does not matter ---

struct ReadLine {
  bool is_line = false;
  std::string query, doc, target, aspect, problem;
  uint64_t value = 0;
  size_t used = 0;
  bool operator==(const ReadLine&) const = default;
};

template <class Reader>
ReadLine read_line(Reader& reader, const char* begin, const char* end) {
  Line line{};
  const char* p = begin;
  ReadLine result;
  result.is_line = reader.next(p, end, line);
  result.used = static_cast<size_t>(p - begin);
  if (const auto problem = reader.take_problem()) result.problem = problem->message + problem->hint;
  if (!result.is_line) return result;
  result.query = line.query, result.doc = line.doc, result.target = line.target, result.aspect = line.aspect;
  result.value = std::bit_cast<uint64_t>(line.value);
  return result;
}

/// A reader that looks at 64 bytes at once, and the same reader at the end of its memory, where it cannot.
template <class Make>
void compare_lines(Bytes text, const Make& make) {
  auto wide = make();
  for (size_t at = 0; at < text.size();) {
    const char *begin = text.data() + at, *end = text.data() + text.size();
    const ReadLine first = read_line(wide, begin, end);
    size_t size = first.used;
    if (size == 0) {  // a problem: the reader goes on after the line
      const size_t feed = text.find('\n', at);
      size = (feed == Bytes::npos ? text.size() : feed + 1) - at;
    } else {
      const std::unique_ptr<char[]> alone(new char[size]);
      std::memcpy(alone.get(), begin, size);
      auto narrow = make();
      if (!(read_line(narrow, alone.get(), alone.get() + size) == first)) differ("fast and slow line", text);
    }
    at += size;
    wide.forget();
  }
}

void lines(Bytes text) {
  for (const Table table : {Table::run, Table::qrels})
    for (const LineFormat& format : formats()) switch (format.kind) {
        case LineFormat::Kind::trec: compare_lines(text, [&] { return TrecReader(table, format.as_trec_eval); }); break;
        case LineFormat::Kind::json: compare_lines(text, [&] { return JsonReader(table, format.keys); }); break;
        default:
          compare_lines(text, [&] { return DelimitedReader(table, format.delimiter, format.quotes, format.columns); });
      }
}

// --- whole tables: neither blocks, nor short reads, nor threads matter ---

std::function<Fill()> pieces_of(Bytes text, size_t most) {
  return [text, most] {
    return [text, most, at = size_t{0}](char* to, size_t size) mutable {
      const size_t n = std::min({size, most, text.size() - at});
      std::memcpy(to, text.data() + at, n);
      at += n;
      return n;
    };
  };
}

std::string outcome(Bytes text, const LineFormat& format, const std::shared_ptr<const Qrels>& judged, const Plan& plan,
                    size_t piece, Resources resources) {
  const StreamSource source(pieces_of(text, piece), text.size(), "fuzz", format.delimiter, format.is_quoted());
  try {
    const Scores scores = evaluate_text(judged, source, format, plan, resources);
    return {reinterpret_cast<const char*>(scores.values.data()), scores.values.size() * sizeof(double)};
  } catch (const Error& e) {
    return std::string(e.what()) + e.where;
  }
}

void tables(Bytes text) {
  static const std::shared_ptr<const Qrels> judged = [] {
    QrelsBuilder builder;
    uint64_t row = 0;
    for (const char* doc : {"a", "b", "c", "d"})
      for (const char* query : {"q", "r"}) builder.add(query, doc, static_cast<double>(++row % 4), row);
    return std::shared_ptr<const Qrels>(builder.finish("qrels", false));
  }();
  Plan plan;
  plan.policy.duplicates = Duplicates::first;
  for (const char* name : {"ndcg", "ap", "rr"}) {
    const Kernel* kernel = find_kernel(name);
    if (!kernel) continue;
    Spec spec;
    spec.kernel = kernel;
    spec.cutoff = 5;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  for (const LineFormat& format : formats())
    for (const bool skip_bad : {false, true}) {
      plan.skip_bad = skip_bad;
      const std::string whole = outcome(text, format, judged, plan, text.size() + 1, {1, Resources::usual_memory});
      if (outcome(text, format, judged, plan, 3, {1, Resources::usual_memory}) != whole) differ("short reads", text);
      if (outcome(text, format, judged, plan, text.size() + 1, {2, 1 << 16}) != whole) differ("threads", text);
    }
  for (const LineFormat& format : formats()) {
    const StreamSource source(pieces_of(text, 7), text.size(), "fuzz", format.delimiter, format.is_quoted());
    try {
      const auto qrels = read_qrels(source, format, 1);
      if (Qrels::from_state(qrels->state())->state() != qrels->state()) differ("states", text);
    } catch (const Error&) {
    }
  }
}

// --- identity and text ---

void urls(Bytes text) {
  static const UrlRules rules = [] {
    AliasOptions video{.name = "video", .hosts = {"example.com"}, .paths = {"/%7Ea", "/{a}~[{b:digits 2+}]"}};
    video.key = "video:{a|lower}{b}";
    AliasOptions wrapper{.name = "wrapper", .hosts = {"*"}, .paths = {"?u={target:url}"}, .url = "{target|url|decode}"};
    IdOptions opaque{.name = "opaque", .patterns = {"{id:opaque 16+}", "{id:guid}"}, .key = "{id}"};
    return UrlRules({"utm_*", "gclid", "a=1"}, {"id", "q"}, {"id"}, {video, wrapper}, {opaque});
  }();
  if (rules.reduce(text).key() != rules.reduce(std::string(text)).key()) differ("URLs", text);
  rules.id_form("id", text);
}

void texts(Bytes text) {
  std::string scratch;
  const std::string normal = normal_form(text);
  if (normal_form(normal) != normal) differ("normal forms", text);
  without_markup(text, scratch);
  text_citations(text, [](Bytes name) { return name == "name"; });
  marker_name(text);
}

void states(Bytes text) {
  try {
    Qrels::from_state(text);
  } catch (const Error&) {
  }
}

using Target = void (*)(Bytes);
constexpr Target targets[] = {lines, tables, urls, texts, states};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  // A copy of just this size, so that reading one byte too many is noticed.
  const std::unique_ptr<char[]> copy(new char[size]);
  std::memcpy(copy.get(), bytes + 1, size - 1);
  targets[bytes[0] % std::size(targets)](Bytes(copy.get(), size - 1));
  return 0;
}

#ifndef GOODGAIN_LIBFUZZER
namespace {

std::vector<std::string> seeds_in(const char* folder) {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void mutate(std::string& text, const std::vector<std::string>& seeds, std::mt19937_64& random) {
  static const std::string spice = "\n\r\t \",:;{}[]\\#-+.%&=/()<>eE0123456789qrabc\xc3\xa9\xff\xe3\x80\x90";
  for (uint64_t n = 1 + random() % 12; n-- > 0 && text.size() > 1;) {
    const size_t at = 1 + random() % (text.size() - 1);
    switch (random() % 6) {
      case 0: text[at] = spice[random() % spice.size()]; break;
      case 1: text.insert(at, 1, spice[random() % spice.size()]); break;
      case 2: text.erase(at, random() % 5); break;
      case 3: text[at] = static_cast<char>(random()); break;
      case 4: text += text.substr(at, random() % 80); break;
      default: text.insert(at, seeds[random() % seeds.size()].substr(1, random() % 40));
    }
  }
  text.resize(std::min<size_t>(text.size(), 4096));
}

/// Each allocation of a target fails once: it must throw, and leave nothing behind (which LeakSanitizer checks).
size_t fail_allocations(const std::string& input) {
  run(input);  // what is made once and kept
  for (int64_t n = 0;; ++n) {
    allocations_left = n;
    try {
      run(input);
    } catch (const std::bad_alloc&) {
    }
    const bool failed = allocations_left.exchange(-1) < 0;
    if (!failed) return static_cast<size_t>(n);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::vector<std::string> seeds = seeds_in(arguments[2]);
  if (seeds.empty()) return 2;
  if (std::strcmp(arguments[1], "allocations") == 0) {
    size_t failed = 0;
    for (const std::string& seed : seeds) failed += fail_allocations(seed);
    std::printf("%zu allocations failed, one after the other\n", failed);
    return 0;
  }
  std::mt19937_64 random(std::random_device{}());
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(arguments[1]));
  for (const std::string& seed : seeds) run(seed);
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = seeds[random() % seeds.size()];
    mutate(text, seeds, random);
    std::ofstream("last-input", std::ios::binary) << text;
    run(text);
  }
  std::filesystem::remove("last-input");
  std::printf("%zu inputs to the readers\n", runs);
}
#endif
