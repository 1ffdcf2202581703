// What targets of tables share.
#include <algorithm>
#include <cstdlib>

#include "kernels.hpp"
#include "targets.hpp"

namespace gg::fuzz {

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

}  // namespace gg::fuzz
