// What an agent did with documents: which result of the conversation each open and each citation means.
#pragma once
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "identity.hpp"
#include "label_index.hpp"
#include "qrels.hpp"
#include "traces.hpp"

namespace gg {

/// Whether a document was opened, and in which iteration first, and whether the answer cites it.
struct Use {
  static constexpr uint32_t never = 0xffffffffu;
  uint32_t opened = never;  // 0 before the first search
  bool cited = false;

  bool is_opened() const { return opened != never; }
  void add(const Use& more) {
    opened = std::min(opened, more.opened);
    cited |= more.cited;
  }
};

/// Something opened or cited that no search of the scored turns returned.
struct OutsideDocument {
  Use use;
  Item item;                // prepared for the pool, if there is one
  LabelIndex::Match label;  // outside label
  bool labelled = false;    // in the trace
  double gain = 0;
  bool supported = false;  // an earlier turn returned or opened it
};

/// All opens and citations of one conversation.
struct Uses {
  std::vector<Use> results;  // by new result; shorter if the last ones are not used
  std::vector<OutsideDocument> outside;
  uint32_t unresolved = 0;  // markers that name nothing that is known, or several things
};

/// The scored turns of a conversation after identity.
struct ScoredTurns {
  const Conversation& conversation;
  const std::vector<const Turn*>& turns;
  const std::vector<uint32_t>& new_results;                // ascending
  const std::unordered_map<uint32_t, uint32_t>& by_label;  // piece of evidence -> first result
  const QueryJudgments* judged;                            // outside labels, if any
  Clusters* pool;                                          // of several systems, if any
};

class UseFinder {
 public:
  /// `clusters` has the results of the scored turns.
  UseFinder(const Rules& rules, Clusters& clusters, LabelIndex& labels);

  /// Adds the opens of the scored turns and the citations of the last answer. An open or a citation means the result
  /// that is identical to it, or else the only one with its id, its marker or (if it has nothing else) its title.
  void find(const ScoredTurns& scored, Uses& uses);

 private:
  static constexpr uint32_t none = Clusters::none, several = none - 1;
  using Names = std::unordered_map<std::string, uint32_t>;

  struct Target {
    uint32_t result = none;   // a cluster
    bool by_document = true;  // the cluster is one of `places()`
    uint32_t outside = none;
    bool is_ambiguous = false;
  };

  Clusters& places() { return by_passage_ ? documents_ : clusters_; }
  void add_documents();
  Target locate(const Result& result, bool is_cited);
  Target locate_outside(const Result& result, bool is_cited);
  Target locate_marker(Bytes marker);
  void add(const Target& target, const Use& use);
  void cite(const Turn& turn);
  bool is_name(const std::string& name);
  bool is_label(const std::string& name) const;
  const Names& names();
  const Names& titles();
  void add_name(Names& names, const std::string& name, uint32_t place);
  void read_earlier();
  bool returned_earlier(const Result& result);

  Clusters& clusters_;
  LabelIndex& labels_;
  Rules document_rules_;
  bool by_passage_;
  Clusters documents_;  // for passages: their documents
  Clusters others_;     // what no search returned
  Clusters earlier_;    // of turns before the scored ones

  const ScoredTurns* scored_ = nullptr;
  Uses* uses_ = nullptr;
  bool has_names_ = false, has_titles_ = false, has_earlier_ = false;
  Names names_, titles_, earlier_names_, outside_names_;
  std::vector<Result> earlier_results_;
  Arena earlier_texts_;                                           // theirs
  std::vector<uint32_t> document_of_;                             // by result of the scored turns
  std::unordered_map<uint32_t, std::vector<uint32_t>> passages_;  // document -> its new results
  std::vector<uint32_t> outside_of_;                              // by number in `others_`
  std::unordered_map<uint32_t, uint32_t> outside_by_label_;
  std::unordered_set<std::string> unresolved_;
};

}  // namespace gg
