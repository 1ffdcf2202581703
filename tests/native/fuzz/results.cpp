// Identity of the results of a list.
#include <vector>

#include "error.hpp"
#include "label_index.hpp"
#include "targets.hpp"
#include "traces.hpp"

namespace gg::fuzz {

void results(Bytes text) {
  static TraceParser parser(4);
  for (const bool passages : {false, true}) {
    const Rules& rules = some_rules(passages);
    try {
      const std::vector<Result>& list = parser.parse_results(text);
      Clusters clusters(rules), audited(rules);
      audited.keep_audit(true);
      LabelIndex labels(rules.urls);
      labels.use(&(*some_judgments())[0]);
      for (size_t i = 0; i < list.size() && i < 40; ++i) {
        const uint32_t cluster = clusters.add(list[i]);
        if (cluster > i) differ("a cluster and its first result", text);
        if (audited.add(list[i]) != cluster) differ("clusters with and without an audit", text);
        labels.find(list[i]);
        content_name(list[i]);
      }
      for (size_t i = 0; i < list.size() && i < 6; ++i)
        for (size_t k = 0; k < i; ++k) {
          const Item a = clusters.prepare(list[i]), b = clusters.prepare(list[k]);
          if (clusters.verify(a, b, false).outcome != clusters.verify(b, a, true).outcome)
            differ("verdicts in both directions", text);
        }
    } catch (const Error&) {
    }
  }
}

}  // namespace gg::fuzz
