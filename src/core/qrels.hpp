// Judgments, built once and then only read, by any number of threads.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "error.hpp"

namespace gg {

/// The type of ids; untyped ids do not distinguish 1 from "1".
enum class IdKind { untyped, text, integer };

/// A link from a document to a target or aspect, with the document's gain for it.
struct Link {
  uint32_t judgment;
  uint32_t label;  // number of the target or aspect within the query
  double gain;
};

/// The judgments of one query. Spans point into the owning Qrels.
struct QueryJudgments {
  static constexpr int32_t unjudged = -1;

  Bytes id;
  std::span<const Bytes> docs;
  std::span<const double> gains;         // parallel to docs
  std::span<const double> gains_sorted;  // descending
  std::span<const Link> targets;         // by judgment; empty if the qrels have no target column
  std::span<const Link> aspects;         // by judgment; empty if they have no aspects
  uint32_t target_count = 0;
  uint32_t named_targets = 0;  // the first of them; each of the others is a document without a target
  uint32_t aspect_count = 0;

  /// The judgment of a document, or `unjudged`.
  int32_t find(Bytes doc, uint64_t hash) const {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    const size_t bit = tag & filter_mask;
    if ((filter[bit / 64] >> bit % 64 & 1) == 0) return unjudged;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots[i];
      if (slot.judgment == unjudged) return unjudged;
      if (slot.tag == tag && same_bytes(docs[static_cast<size_t>(slot.judgment)], doc)) return slot.judgment;
    }
  }

  /// How many judged documents have at least this gain.
  uint32_t count_at_least(double gain) const;

  struct Slot {
    uint32_t tag = 0;  // the upper half of the hash
    int32_t judgment = unjudged;
  };
  const Slot* slots = nullptr;
  size_t mask = 0;
  // One of at least 16 bits for each judgment, by the tag. Whether a slot is free cannot be predicted, and most
  // documents of a run are not judged.
  const uint64_t* filter = nullptr;
  size_t filter_mask = 0;
};

struct QrelsRow {
  uint32_t query;
  Bytes doc;
  double gain;
  uint32_t target;  // IdTable numbers, or IdTable::none
  uint32_t aspect;
  uint64_t place;  // line or row number, for messages
};

class Qrels {
 public:
  Qrels() = default;
  Qrels(const Qrels&) = delete;  // its spans point into itself
  Qrels& operator=(const Qrels&) = delete;

  size_t size() const { return queries_.size(); }
  const IdTable& queries() const { return ids_; }
  const QueryJudgments& operator[](size_t i) const { return queries_[i]; }
  /// The number of a query, or IdTable::none.
  uint32_t find(Bytes query) const { return ids_.find(query); }
  double max_gain() const { return max_gain_; }
  size_t judgments() const { return docs_.size(); }
  bool has_targets() const { return !targets_.empty(); }
  bool has_aspects() const { return !aspects_.empty(); }

  /// A document that TREC qrels judge twice, in two iterations. Nobody said that an iteration is an aspect: only
  /// measures over aspects may read it so; to others it is a duplicate judgment.
  const std::optional<Error>& repeated() const { return repeated_; }
  /// The judgments without aspects, with the first gain of every document or its highest.
  std::unique_ptr<Qrels> merged(bool first) const;

  /// All of it as bytes, for pickles; and back.
  std::string state() const;
  static std::unique_ptr<Qrels> from_state(Bytes bytes);

  std::string name;  // the file, for messages
  IdKind query_kind = IdKind::untyped;
  IdKind doc_kind = IdKind::untyped;

 private:
  friend class QrelsBuilder;
  /// The last step, once slots are filled.
  void fill_filters(unsigned threads);

  IdTable ids_;
  Arena arena_;
  std::vector<QueryJudgments> queries_;
  std::vector<Bytes> docs_;
  std::vector<double> gains_, gains_sorted_;
  std::vector<Link> targets_, aspects_;
  std::vector<QueryJudgments::Slot> slots_;
  std::vector<uint64_t> filters_;
  double max_gain_ = 0;
  std::optional<Error> repeated_;
  std::vector<std::pair<size_t, double>> first_gains_;  // of repeated documents, by their place in docs_
};

/// Takes rows in any order and builds the table. Raises an error on a duplicate (query, document)
/// unless the two rows name different targets or aspects.
class QrelsBuilder {
 public:
  /// The aspects come from TREC's second column, which may also hold the iteration of a judgment: they are aspects if
  /// they look like subtopics, and a document with two of them is noted in `Qrels::repeated`.
  void aspects_may_be_iterations() { iterations_ = true; }
  /// `place` is the line or row number, for messages.
  void add(Bytes query, Bytes doc, double gain, uint64_t place, Bytes target = {}, Bytes aspect = {});
  std::unique_ptr<Qrels> finish(std::string name, bool places_are_lines, unsigned threads = 1);
  /// The same for a subset of the judgments; the other arguments describe the whole set.
  std::unique_ptr<Qrels> finish(std::string name, bool places_are_lines, double max_gain, bool has_targets,
                                bool has_aspects, unsigned threads = 1);
  bool empty() const { return rows_.empty(); }
  /// Reserves memory for this many rows, if it is there: it is only a guess.
  void expect(size_t rows) {
    try {
      rows_.reserve(rows);
    } catch (const std::exception&) {
      return;
    }
  }

 private:
  /// The usual case: no targets and no aspects, so that each document is judged once.
  void fill_plain(const std::vector<size_t>& begin, const std::vector<uint32_t>& order, bool places_are_lines,
                  unsigned threads);
  Error duplicate(const QrelsRow& row, const QrelsRow& first, bool places_are_lines) const;

  std::unique_ptr<Qrels> qrels_ = std::make_unique<Qrels>();
  std::vector<QrelsRow> rows_;
  bool look_like_subtopics() const;

  IdTable targets_, aspects_;
  uint32_t last_query_ = IdTable::none, last_aspect_ = IdTable::none;
  bool iterations_ = false;
};

}  // namespace gg
