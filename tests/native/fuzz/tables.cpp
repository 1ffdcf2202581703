// Whole tables: neither blocks, nor short reads, nor threads matter.
#include <algorithm>

#include "error.hpp"
#include "formats.hpp"
#include "targets.hpp"

namespace gg::fuzz {

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

}  // namespace gg::fuzz
