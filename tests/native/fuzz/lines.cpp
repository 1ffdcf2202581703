// Text: lines, numbers, whole tables, measures, and pickled judgments.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "error.hpp"
#include "kernels.hpp"
#include "marks.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

std::vector<LineFormat> all_formats() {
  LineFormat trec_eval, csv, tsv, json, of_run;
  trec_eval.as_trec_eval = true;
  csv.kind = tsv.kind = of_run.kind = LineFormat::Kind::delimited;
  csv.quotes = of_run.quotes = true;
  tsv.delimiter = '\t';
  csv.columns = tsv.columns = {0, 1, 2, 3, 4, 5};
  of_run.columns = {0, 1, 2, Columns::none, Columns::none, 4, 3, "t"};
  json.kind = LineFormat::Kind::json;
  json.keys = {"query", "doc", "score", "target", "aspect", {}, {}, {}};
  return {{}, trec_eval, csv, tsv, json, of_run};
}

const std::vector<LineFormat>& formats() {
  static const std::vector<LineFormat> all = all_formats();
  return all;
}

/// What the first byte of an input chooses, and the rest.
std::pair<size_t, Bytes> chosen_by(Bytes bytes) {
  if (bytes.empty()) return {0, bytes};
  return {static_cast<unsigned char>(bytes[0]), bytes.substr(1)};
}

// --- one line at a time: where it lies in memory does not matter ---

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

/// A reader that looks at 64 bytes at once, and a new one at the end of its memory, where it cannot.
template <class Make>
void compare_lines(Bytes text, const Make& make) {
  auto wide = make(), narrow = make();
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
      narrow.forget();
      if (!(read_line(narrow, alone.get(), alone.get() + size) == first)) differ("fast and slow line", text);
    }
    at += size;
    wide.forget();
  }
}

/// All ways to find blanks and line feeds give the same bits.
void compare_marks(Bytes text) {
  std::string padded(text);
  padded.resize((text.size() + 63) / 64 * 64, '\n');
  const size_t words = padded.size() / 64;
  std::vector<Marks> expected(words), marks(words);
  const auto& ways = mark_ways();
  ways.front().mark(padded.data(), words, expected.data());
  for (const MarkWay& way : ways) {
    way.mark(padded.data(), words, marks.data());
    for (size_t i = 0; i < words; ++i)
      if (marks[i].blank != expected[i].blank || marks[i].feed != expected[i].feed) differ(way.name, text);
  }
}

/// Lines read several at a time, in every way that the machine has, are those read one by one.
void compare_usual(Bytes text, Table table, bool as_trec_eval) {
  const char* end = text.data() + text.size();
  for (const auto way : TrecReader::usual_ways()) {
    TrecReader many(table, as_trec_eval), one(table, as_trec_eval);
    many.read_usual_by(way);
    LineBatch batch;
    Line line{};
    for (const char* p = text.data(); p < end;) {
      many.next_usual(p, end, batch);
      batch.starts[batch.size] = p;
      for (size_t i = 0; i < batch.size; ++i) {
        const ReadLine expected = read_line(one, batch.starts[i], end);
        const Line& read = batch.lines[i];
        if (!expected.is_line || expected.used != static_cast<size_t>(batch.starts[i + 1] - batch.starts[i]) ||
            expected.query != read.query || expected.doc != read.doc || expected.aspect != read.aspect ||
            expected.value != std::bit_cast<uint64_t>(read.value))
          differ("usual and other lines", text);
      }
      if (batch.size == LineBatch::most || p == end) continue;
      many.next(p, end, line);
      many.take_problem();
    }
  }
}

}  // namespace

void lines(Bytes bytes) {
  const auto [choice, text] = chosen_by(bytes);
  const LineFormat& format = formats()[choice % formats().size()];
  const Table table = choice / formats().size() % 2 ? Table::qrels : Table::run;
  switch (format.kind) {
    case LineFormat::Kind::trec:
      compare_marks(text);
      compare_lines(text, [&] { return TrecReader(table, format.as_trec_eval); });
      compare_usual(text, table, format.as_trec_eval);
      break;
    case LineFormat::Kind::json: compare_lines(text, [&] { return JsonReader(table, format.keys); }); break;
    default:
      compare_lines(text, [&] { return DelimitedReader(table, format.delimiter, format.quotes, format.columns); });
  }
}

// --- numbers ---

namespace {

/// The number by the C library; only decimal forms and one sign.
bool number_by_library(Bytes text, double& value) {
  const std::string copy(text);
  const char* begin = copy.c_str();
  if (*begin == '+' && begin[1] != '-' && begin[1] != '+') ++begin;
  const char first = *begin == '-' ? begin[1] : *begin;
  if (!(first == '.' || (first >= '0' && first <= '9')) || copy.find_first_of("xX") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(begin, &end);
  return end == copy.c_str() + copy.size() && std::isfinite(value);
}

}  // namespace

void numbers(Bytes text) {
  const std::string roomy = std::string(text) + std::string(64, '7');
  double plain = 0, eager = 0, by_library = 0;
  const bool is_number = parse_number(text, plain);
  const Bytes inside = Bytes(roomy).substr(0, text.size());
  if (!text.empty() && (parse_number_in(inside, roomy.data() + roomy.size(), eager) != is_number ||
                        (is_number && std::bit_cast<uint64_t>(plain) != std::bit_cast<uint64_t>(eager))))
    differ("fast and slow number", text);
  if (number_by_library(text, by_library) != is_number ||
      (is_number && std::bit_cast<uint64_t>(plain) != std::bit_cast<uint64_t>(by_library)))
    differ("our number and the library's", text);
}

// --- whole tables: neither blocks, nor short reads, nor threads matter ---

namespace {

std::string outcome(Bytes text, const LineFormat& format, const Plan& plan, size_t piece, Resources resources) {
  try {
    return bytes_of(evaluate_text(some_judgments(), in_pieces(text, piece, format), format, plan, resources));
  } catch (const Error& e) {
    return std::string(e.what()) + e.where;
  }
}

void compare_run(Bytes text, const LineFormat& format, bool skip_bad) {
  static const Plan strict = some_plan(), lenient = [] {
    Plan plan = some_plan();
    plan.skip_bad = true;
    return plan;
  }();
  const Plan& plan = skip_bad ? lenient : strict;
  const std::string whole = outcome(text, format, plan, text.size() + 1, {1, Resources::usual_memory});
  if (outcome(text, format, plan, 3, {1, Resources::usual_memory}) != whole) differ("short reads", text);
  if (is_one_of(text, 16) && outcome(text, format, plan, text.size() + 1, {2, 1 << 16}) != whole)
    differ("threads", text);
}

bool is_text(Bytes text) {
  try {
    require_text(text, "fuzz");
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Everything about judgments but the places of their lines.
bool are_equal(const Qrels& a, const Qrels& b) {
  if (a.size() != b.size() || a.has_targets() != b.has_targets() || a.has_aspects() != b.has_aspects()) return false;
  const auto same_links = [](std::span<const Link> x, std::span<const Link> y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Link& l, const Link& m) {
      return l.judgment == m.judgment && l.label == m.label && l.gain == m.gain;
    });
  };
  for (size_t i = 0; i < a.size(); ++i) {
    const QueryJudgments &x = a[i], &y = b[i];
    if (x.id != y.id || !std::equal(x.docs.begin(), x.docs.end(), y.docs.begin(), y.docs.end()) ||
        !std::equal(x.gains.begin(), x.gains.end(), y.gains.begin(), y.gains.end()) ||
        !same_links(x.targets, y.targets) || !same_links(x.aspects, y.aspects))
      return false;
  }
  return true;
}

/// Judgments as files are read, and as lines that an engine hands over.
void compare_judgments(Bytes text, const LineFormat& format) {
  std::unique_ptr<Qrels> of_file, of_lines;
  try {
    of_file = read_qrels(in_pieces(text, 7, format), format, 1);
    const std::string state = of_file->state();
    if (Qrels::from_state(state)->state() != state) differ("states", text);
  } catch (const Error&) {
  }
  QrelsBuilder builder;
  if (format.kind == LineFormat::Kind::trec) builder.aspects_may_be_iterations();
  BadRows bad;
  uint64_t row = 0;
  const bool is_complete = for_each_line(
      text, "fuzz", format, Table::qrels,
      [&](const Line& line) { builder.add(line.query, line.doc, line.value, ++row, line.target, line.aspect); }, bad);
  if (!is_complete || !is_text(text)) return;  // read as a whole, or not at all
  try {
    if (bad.count == 0 && !builder.empty()) of_lines = builder.finish("fuzz", true);
  } catch (const Error&) {
  }
  if (!of_file != !of_lines || (of_file && !are_equal(*of_file, *of_lines))) differ("files and lines", text);
}

}  // namespace

void tables(Bytes bytes) {
  const auto [choice, text] = chosen_by(bytes);
  const LineFormat& format = formats()[choice % formats().size()];
  const size_t use = choice / formats().size() % 3;
  if (use == 2) compare_judgments(text, format);
  else compare_run(text, format, use == 1);
}

// --- every kernel ---

namespace {

Plan all_measures(Ties ties) {
  Plan plan;
  plan.policy.ties = ties;
  plan.policy.duplicates = Duplicates::first;
  for (const Kernel& kernel : kernels()) {
    Spec spec;
    spec.kernel = &kernel;
    spec.cutoff = 5;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  return plan;
}

/// Judgments with targets, aspects and negative gains.
const std::shared_ptr<const Qrels>& judgments_by_aspect() {
  static const std::shared_ptr<const Qrels> judged = [] {
    const LineFormat format;
    return std::shared_ptr<const Qrels>(
        read_qrels(in_pieces("q 1 a 2\nq 2 a 1\nq 1 b 0\nq 2 c 3\nq 1 d -1\nr 1 a 1\n", 1000, format), format, 1));
  }();
  return judged;
}

}  // namespace

void measures(Bytes bytes) {
  static const Plan plans[] = {all_measures(Ties::docid), all_measures(Ties::average), all_measures(Ties::bounds)};
  const auto [choice, text] = chosen_by(bytes);
  const LineFormat& format = formats()[choice % formats().size()];
  const Plan& plan = plans[choice / formats().size() % std::size(plans)];
  try {
    evaluate_text(judgments_by_aspect(), in_pieces(text, text.size() + 1, format), format, plan, Resources{1});
  } catch (const Error&) {
  }
}

void states(Bytes text) {
  try {
    const auto qrels = Qrels::from_state(text);
    if (Qrels::from_state(qrels->state())->state() != qrels->state()) differ("states", text);
  } catch (const Error&) {
  }
}

}  // namespace gg::fuzz
