// Native tests of the core; `make check-native` runs them under ThreadSanitizer, AddressSanitizer and UBSan.
#include <fcntl.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <tuple>

#include "blocks.hpp"
#include "error.hpp"
#include "fusion.hpp"
#include "kernels.hpp"
#include "packed.hpp"
#include "resample.hpp"
#include "text.hpp"

using namespace gg;

namespace {

int failures = 0;

void check(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
}

/// Text as a file, deleted with its descriptor.
int text_file(const std::string& text) {
  static int number = 0;
  const auto path = std::filesystem::temp_directory_path() /
                    ("goodgain-test-" + std::to_string(std::random_device{}()) + "-" + std::to_string(++number));
  std::ofstream(path, std::ios::binary) << text;
#ifdef _WIN32
  const int fd = _wopen(path.c_str(), _O_RDONLY | _O_BINARY | _O_TEMPORARY);
#else
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  unlink(path.c_str());
#endif
  if (fd < 0) std::abort();
  return fd;
}

Plan plan_of(std::initializer_list<const char*> names, Policy policy = {}) {
  Plan plan;
  plan.policy = policy;
  for (const char* name : names) {
    Spec spec;
    spec.kernel = find_kernel(name);
    spec.cutoff = 10;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  return plan;
}

std::shared_ptr<const Qrels> qrels_of(const std::string& text) {
  const InputFile file(text_file(text), "qrels");
  return read_qrels(file, {});
}

Scores scores_of(const std::shared_ptr<const Qrels>& qrels, const std::string& run, const Plan& plan, unsigned threads,
                 const LineFormat& format = {}) {
  const InputFile file(text_file(run), "run");
  return evaluate_file(qrels, file, format, plan, Resources{threads});
}

/// The message and place of the error that a call raises.
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()) + " @ " + error.where;
  }
  return "no error";
}

struct Collection {
  std::string qrels, run, interleaved;
};

/// Runs of several chunks, so that queries cross chunk boundaries.
Collection collection(unsigned queries, unsigned depth) {
  std::mt19937 random(7);
  Collection c;
  std::vector<std::string> lines;
  for (unsigned q = 0; q < queries; ++q) {
    for (unsigned d = 0; d < 20; ++d)
      c.qrels += "q" + std::to_string(q) + " 0 d" + std::to_string(random() % depth) + "x" + std::to_string(d) + " " +
                 std::to_string(random() % 4) + "\n";
    for (unsigned d = 0; d < depth; ++d)
      lines.push_back("q" + std::to_string(q) + " Q0 d" + std::to_string(d) + "x" + std::to_string(d % 20) + " 1 " +
                      std::to_string(random() % 1000) + ".5 tag\n");
  }
  for (const auto& line : lines) c.run += line;
  for (unsigned d = 0; d < depth; ++d)
    for (unsigned q = 0; q < queries; ++q) c.interleaved += lines[q * depth + d];
  return c;
}

bool same_bits(const Scores& a, const Scores& b) {
  return a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
}

void threads_and_order() {
  const Collection c = collection(400, 1000);  // about 11 MB: three chunks
  const auto qrels = qrels_of(c.qrels);
  for (const Ties ties : {Ties::docid, Ties::average, Ties::bounds}) {
    Policy policy;
    policy.ties = ties;
    const Plan plan = plan_of({"ndcg", "ap", "rr", "recall", "precision", "err", "bpref"}, policy);
    const Scores one = scores_of(qrels, c.run, plan, 1);
    check(same_bits(one, scores_of(qrels, c.run, plan, 2)), "two threads give the same bits");
    check(same_bits(one, scores_of(qrels, c.run, plan, 8)), "eight threads give the same bits");
    check(same_bits(one, scores_of(qrels, c.interleaved, plan, 4)), "queries need not be contiguous");
  }
}

void lists_do_not_depend_on_threads() {
  const Collection c = collection(400, 1000);
  const auto qrels = qrels_of(c.qrels);
  const auto lists_of = [&](const std::string& run, unsigned threads) {
    Plan plan = plan_of({"ndcg", "ap"});
    auto lists = std::make_unique<TopLists>(qrels->size(), plan.measures.size(), 10);
    plan.lists = lists.get();
    scores_of(qrels, run, plan, threads);
    return lists;
  };
  const auto one = lists_of(c.run, 1);
  for (const auto& many : {lists_of(c.run, 8), lists_of(c.interleaved, 4)}) {
    bool same = one->size() == many->size();
    for (size_t q = 0; same && q < one->size(); ++q) {
      const TopList &a = (*one)[q], &b = (*many)[q];
      same = a.ends.size() == 10 && a.text == b.text && a.scores == b.scores && a.ranks == b.ranks &&
             a.gains == b.gains && a.contributions == b.contributions && a.retrieved == b.retrieved;
    }
    check(same, "the first ranks for any number of threads and any order of lines");
  }
}

/// Columns of texts and numbers as one batch of an Arrow stream.
class Batch {
 public:
  void texts(const char* name, const Texts& of, const char* format = "u") {
    column(name, format, of.ends.size() - 1, of.ends.data(), of.bytes.data());
  }
  template <class T>
  void numbers(const char* name, const char* format, const std::vector<T>& of) {
    column(name, format, of.size(), of.data(), nullptr);
  }

  ArrowTable table() {
    for (size_t c = 0; c < schemas_.size(); ++c) children_.push_back(&schemas_[c]), arrays_of_.push_back(&arrays_[c]);
    ArrowArrayStream stream{};
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
      auto* self = static_cast<Batch*>(s->private_data);
      *out = {"+s",
              "",
              nullptr,
              0,
              static_cast<int64_t>(self->children_.size()),
              self->children_.data(),
              nullptr,
              [](ArrowSchema* x) { x->release = nullptr; },
              nullptr};
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* s, ArrowArray* out) {
      auto* self = static_cast<Batch*>(s->private_data);
      *out = {};
      if (self->consumed_) return 0;
      self->consumed_ = true;
      *out = {self->arrays_[0].length,
              0,
              0,
              1,
              static_cast<int64_t>(self->arrays_of_.size()),
              self->none_,
              self->arrays_of_.data(),
              nullptr,
              [](ArrowArray* x) { x->release = nullptr; },
              nullptr};
      return 0;
    };
    return ArrowTable(stream, "table");
  }

 private:
  void column(const char* name, const char* format, size_t rows, const void* first, const void* second) {
    buffers_.push_back({nullptr, first, second});
    schemas_.push_back({format, name, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr});
    arrays_.push_back({static_cast<int64_t>(rows), 0, 0, second ? 3 : 2, 0, buffers_.back().data(), nullptr, nullptr,
                       nullptr, nullptr});
  }

  bool consumed_ = false;
  const void* none_[1] = {nullptr};
  std::deque<std::array<const void*, 3>> buffers_;
  std::deque<ArrowSchema> schemas_;
  std::deque<ArrowArray> arrays_;
  std::vector<ArrowSchema*> children_;
  std::vector<ArrowArray*> arrays_of_;
};

/// Like an engine: tasks pack rows and measure contiguous queries; one of them joins the pieces of all.
void packed_rows() {
  const unsigned queries = 400, depth = 1000;
  const Collection c = collection(queries, depth);
  const auto qrels = qrels_of(c.qrels);
  const auto plan = std::make_shared<Plan>(plan_of({"ndcg", "ap"}));
  const Scores expected = scores_of(qrels, c.run, *plan, 2);
  const auto joined = [&](const std::string& run, bool here, size_t cut_short) {
    std::multimap<std::string, std::pair<int8_t, std::string>> sent;
    const auto send = [&](const Pieces& pieces) {
      for (size_t i = 0; i < pieces.places.size(); ++i) {
        const auto text = [&](const Texts& of) { return of.bytes.substr(of.ends[i], of.ends[i + 1] - of.ends[i]); };
        std::string piece = text(pieces.bytes);
        sent.emplace(text(pieces.queries), std::pair(pieces.kinds[i], piece.substr(0, piece.size() - cut_short)));
      }
    };
    const JudgmentFacts facts{qrels->max_gain(), qrels->has_targets(), qrels->has_aspects()};
    PackedEvaluation first(qrels, facts, plan, "run"), second(qrels, facts, plan, "run");
    std::istringstream lines(run);
    std::string query, word, doc, score;
    Packer packer({"query", "doc", "score", "", ""}, Table::run, 0);
    Texts ids, docs;
    std::vector<double> scores;
    const auto flush = [&] {
      Batch rows;
      rows.texts("query", ids);
      rows.texts("doc", docs);
      rows.numbers("score", "g", scores);
      packer.add(rows.table());
      ids = {}, docs = {}, scores.clear();
      if (packer.full()) send(packer.take(here ? &first : nullptr));
    };
    while (lines >> query >> word >> doc >> word >> score >> word) {
      ids.add(query), docs.add(doc), scores.push_back(std::stod(score));
      if (scores.size() == 7777) flush();
    }
    flush();
    send(packer.take(here ? &first : nullptr));
    Texts names, pieces;
    std::vector<int8_t> kinds;
    std::vector<int64_t> places;
    for (size_t q = 0; q < qrels->size(); ++q)
      sent.emplace(std::string((*qrels)[q].id), std::pair(int8_t{0}, std::string()));
    for (auto at = sent.begin(); at != sent.end();) {
      const auto end = sent.upper_bound(at->first);
      std::vector<std::pair<int8_t, std::string>> own;
      const std::string name = at->first;
      for (; at != end; ++at) own.push_back(at->second);
      std::stable_sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [kind, piece] : own)
        names.add(name), kinds.push_back(kind), pieces.add(piece),
            places.push_back(static_cast<int64_t>(places.size()));
    }
    Batch all;
    all.texts("query", names);
    all.numbers("kind", "c", kinds);
    all.numbers("place", "l", places);
    all.texts("piece", pieces, "z");
    second.add(all.table());
    second.finish();
    const auto measured = second.take();
    bool same = measured.places.size() == qrels->size();
    for (size_t i = 0; same && i < measured.places.size(); ++i) {
      const std::string name = measured.queries.bytes.substr(measured.queries.ends[i],
                                                             measured.queries.ends[i + 1] - measured.queries.ends[i]);
      same = !std::memcmp(measured.values.data() + i * plan->width(),
                          expected.values.data() + qrels->find(name) * plan->width(), plan->width() * sizeof(double));
    }
    return std::tuple(same, packer.scattered() || second.scattered, std::count(kinds.begin(), kinds.end(), 2));
  };
  check(joined(c.run, false, 0) == std::tuple(true, false, 0L), "packed rows give the same values");
  check(joined(c.run, true, 0) == std::tuple(true, false, long{queries} - 2),
        "contiguous queries are measured where they are read");
  std::string apart = c.run;  // two windows of rows, then one row of a query of the first
  for (unsigned d = 0; d < queries * depth; ++d)
    apart += "other" + std::to_string(d / depth) + " Q0 d" + std::to_string(d) + " 1 1 tag\n";
  apart += "q5 Q0 late 1 0.5 tag\n";
  check(std::get<1>(joined(apart, true, 0)), "rows that come again are detected");
  check(std::get<0>(joined(c.interleaved, false, 0)), "interleaved rows give the same values");
  check(message_of([&] { joined(c.run, true, 3); }).find("truncated piece") != std::string::npos,
        "a damaged piece is an error");
}

void worked_example() {
  // Gains 3 2 3 0 1 2 by rank, a well-known nDCG example.
  std::string qrels, run;
  const int gains[] = {3, 2, 3, 0, 1, 2};
  for (int i = 0; i < 6; ++i) {
    qrels += "q 0 d" + std::to_string(i) + " " + std::to_string(gains[i]) + "\n";
    run += "q\tQ0\td" + std::to_string(i) + "\t9\t" + std::to_string(10 - i) + "\ttag\r\n";
  }
  const Scores s = scores_of(qrels_of(qrels), "# a comment\n\n" + run, plan_of({"dcg", "ndcg"}), 1);
  check(std::abs(s.values[0] - 6.861126688593502) < 1e-12, "DCG of the example");
  check(std::abs(s.values[1] - 0.9608081943360617) < 1e-12, "nDCG of the example");
}

void formats() {
  const auto qrels = qrels_of("q 0 a,b 1\nq 0 c 0\n");
  const Plan plan = plan_of({"rr"});
  LineFormat csv;
  csv.kind = LineFormat::Kind::delimited;
  csv.quotes = true;
  csv.columns = {0, 1, 2, Columns::none, Columns::none, 3};
  check(scores_of(qrels, "q,c,2\n\"q\",\"a,b\",\"1\"\r\n", plan, 2, csv).values[0] == 0.5, "quoted CSV");
  LineFormat json;
  json.kind = LineFormat::Kind::json;
  json.keys = {"query", "doc", "score", "", ""};
  check(scores_of(
            qrels,
            "{\"score\": 2, \"doc\": \"c\", \"query\": \"q\"}\n{\"query\":\"q\",\"doc\":\"a\\u002cb\",\"score\":1.5}",
            plan, 2, json)
                .values[0] == 0.5,
        "JSON lines");
}

void problems() {
  const auto qrels = qrels_of("q 0 d 1\n");
  const Plan plan = plan_of({"rr"});
  const auto says = [&](const std::string& run) { return message_of([&] { scores_of(qrels, run, plan, 2); }); };
  check(says("q Q0 d 1 2 t\nq Q0 e 1\n") == "the line 'q Q0 e 1' has 4 columns, not 6 @ run:2", "too few columns");
  check(says("q Q0 d 1 x t\n") == "the score 'x' is not a number @ run:1", "a score that is not a number");
  check(says("q Q0 d 1 nan t\n") == "the score 'nan' is not a finite number @ run:1", "NaN");
  check(says("q Q0 d 1 2 t\nq Q0 d 1 1 t\n") == "duplicate document 'd' for query 'q' @ run:2", "a duplicate");
  check(says("").starts_with("the file is empty"), "an empty file");
  check(says("z Q0 d 1 2 t\n").starts_with("no query of the run is judged"), "no query in common");
  check(message_of([] { qrels_of("q 0 d 1\nq 0 d 2\n"); }) ==
            "duplicate judgment of document 'd' for query 'q' @ qrels:2",
        "a duplicate judgment");
}

void failed_streams() {
  // The stream fails in the middle of a line and, asked again by another thread, has nothing more.
  const auto open = [] {
    return [calls = 0](char* to, size_t) mutable -> size_t {
      if (++calls > 2) return 0;
      if (calls == 2) throw std::runtime_error("failed");
      std::memcpy(to, "q Q0 d 1 2 t\nq Q", 16);
      return 16;
    };
  };
  const StreamSource stream(open, 16, "run", ' ', false);
  const auto blocks = stream.read(0, 64);
  TextBlock block;
  bool failed = false;
  try {
    blocks->take(block);
  } catch (const std::runtime_error&) {
    failed = true;
  }
  check(failed, "the error of a stream is thrown");
  check(!blocks->take(block), "a stream that failed has no last line");
}

void numbers() {
  const auto value = [](const char* text) {
    double v = NAN;
    return parse_number(text, v) ? v : NAN;
  };
  for (const char* text :
       {"0", "-0.25", "1e-7", "+3.5", "123456789012345678", "0.1234567890123456789", "1E300", "5e-324"})
    check(value(text) == std::strtod(text, nullptr), std::string("the number ") + text);
  // In lines of a run, where short numbers bypass the general parser.
  const auto qrels = qrels_of("q 0 d 1\n");
  std::mt19937 random(11);
  for (int i = 0; i < 4000; ++i) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random() % 10),
                  (static_cast<double>(random()) - 2e9) / std::pow(10, random() % 10));
    char exact[64];
    std::snprintf(exact, sizeof exact, "%.17g", std::strtod(text, nullptr));
    // Equal numbers in different notation tie, and ties go to the larger id.
    const std::string run =
        std::string("q Q0 d 1 ") + text + " tag\nq Q0 c 2 " + exact + " tag\n" + std::string(64, '#') + "\n";
    check(scores_of(qrels, run, plan_of({"rr"}), 1).values[0] == 1, std::string("the score ") + text);
    const std::string other =
        std::string("q Q0 d 1 ") + text + " tag\nq Q0 e 2 " + exact + " tag\n" + std::string(64, '#') + "\n";
    check(scores_of(qrels, other, plan_of({"rr"}), 1).values[0] == 0.5, std::string("the tie of ") + text);
  }
  for (const char* text : {"", "-", ".", "1e", "0x10", "inf", "nan", "1e999", "1 2", "+-1", "--1"})
    check(std::isnan(value(text)), std::string("no number: ") + text);
}

void resampling_does_not_depend_on_threads() {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(0.01, 1);
  std::vector<double> values(301 * 7);
  for (double& v : values) v = normal(random);
  for (const size_t measures : {1, 5, 7}) {
    const Differences d{{values.data(), 301 * measures}, 301, measures};
    const FlipCounts one = random_flips(d, 5000, 9, 1), many = random_flips(d, 5000, 9, 8);
    check(one.as_extreme == many.as_extreme && one.at_least == many.at_least, "flips for any number of threads");
    check(bootstrap_means(d, 2000, 9, 1) == bootstrap_means(d, 2000, 9, 8), "means for any number of threads");
  }
  const std::span<const double> a(values.data(), 300), b(values.data() + 300, 300);
  for (const bool swap : {false, true})
    check(percentile_differences(a, b, 95, swap, 3000, 1, 1) == percentile_differences(a, b, 95, swap, 3000, 1, 8),
          "percentiles for any number of threads");
  const double three[] = {0.1, 0.2, 0.4};
  const FlipCounts all = all_flips(three, 4);
  check(all.total == 8 && all.as_extreme[0] == 2 && all.at_least[0] == 1 && all.at_most[0] == 8, "all flips of three");
}

void fusion_does_not_depend_on_threads() {
  std::mt19937_64 random(5);
  std::vector<std::shared_ptr<const RankedRun>> runs;
  for (int r = 0; r < 3; ++r) {
    auto run = std::make_shared<RankedRun>("run");
    for (int q = 0; q < 50; ++q)
      for (int d = r; d < 40; d += 1 + r)
        run->add("q" + std::to_string(q), "d" + std::to_string(d), static_cast<double>(random() % 10));
    run->finish();
    runs.push_back(run);
  }
  for (int norm = 0; norm <= static_cast<int>(Norm::borda); ++norm)
    for (int combine = 0; combine <= static_cast<int>(Combine::condorcet); ++combine) {
      Fusion how;
      how.norm = static_cast<Norm>(norm);
      how.combine = static_cast<Combine>(combine);
      how.weights = {1, 2, 1};
      const std::vector<Fused> one = fuse(runs, how, 1), many = fuse(runs, how, 8);
      bool same = one.size() == many.size() && one.size() == 50;
      for (size_t i = 0; same && i < one.size(); ++i)
        for (size_t k = 0; k < one[i].ranking.size(); ++k)
          same = same && one[i].ranking[k].doc == many[i].ranking[k].doc &&
                 one[i].ranking[k].score == many[i].ranking[k].score;
      check(same, "fusion for any number of threads");
    }
  RankedRun twice("twice");
  twice.add("q", "d", 1);
  twice.add("q", "d", 2);
  try {
    twice.finish();
    check(false, "duplicate documents are refused");
  } catch (const Error&) {
  }
}

/// All ways to mark a text give the same bits, and numbers read eight digits at a time those of strtod.
void marks_and_numbers() {
  std::mt19937_64 random(5);
  std::string text(64 * 20 + 64, ' ');
  for (int round = 0; round < 300; ++round) {
    for (char& c : text) c = static_cast<char>(random() % (round % 2 ? 256 : 40));
    std::vector<Marks> expected(20), marks(20);
    const char* from = text.data() + round % 7;
    for (size_t i = 0; i < 64 * 20; ++i) {
      const auto byte = static_cast<unsigned char>(from[i]);
      expected[i / 64].blank |= uint64_t{byte <= ' '} << (i % 64);
      expected[i / 64].feed |= uint64_t{byte == '\n'} << (i % 64);
    }
    for (const MarkWay& way : mark_ways()) {
      way.mark(from, 20, marks.data());
      check(std::memcmp(marks.data(), expected.data(), 20 * sizeof(Marks)) == 0, std::string("marks by ") + way.name);
    }
  }
  for (int round = 0; round < 200'000; ++round) {
    std::string number;
    const size_t size = 1 + random() % 20;
    const char* characters = round % 2 ? "0123456789.-" : "0123456789.-+eE";
    for (size_t i = 0; i < size; ++i) number += characters[random() % (round % 2 ? 12 : 15)];
    const std::string line = number + " 123456789.123456789 and more text";
    double slow = 0, fast = 0;
    char* end = nullptr;
    const double expected = std::strtod(number.c_str(), &end);
    const bool signs = number.starts_with("+-");
    const bool good = end == number.c_str() + number.size() && std::isfinite(expected) && !signs;
    check(parse_number(number, slow) == good, "number '" + number + "'");
    check(parse_number_in({line.data(), number.size()}, line.data() + line.size(), fast) == good,
          "number '" + number + "' in a line");
    if (good)
      check(std::memcmp(&slow, &expected, 8) == 0 && std::memcmp(&fast, &expected, 8) == 0, "bits of '" + number + "'");
  }
}

}  // namespace

int main() {
  for (const auto& test : {worked_example, numbers, marks_and_numbers, formats, problems, failed_streams,
                           threads_and_order, lists_do_not_depend_on_threads, packed_rows,
                           resampling_does_not_depend_on_threads, fusion_does_not_depend_on_threads})
    test();
  std::printf("%s\n", failures ? "core tests failed" : "core tests passed");
  return failures ? 1 : 0;
}
