// Keyword search by BM25: an index of words, and the best documents of a query.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"

namespace gg {

/// Which characters belong to words: ranges [begin, end) of code points, ascending.
using WordRanges = std::vector<std::pair<uint32_t, uint32_t>>;

/// The variants of BM25 in Kamphuis et al. (ECIR 2020).
enum class Bm25Method { lucene, robertson, atire, bm25l, bm25plus };

struct Bm25Options {
  Bm25Method method = Bm25Method::lucene;
  double k1 = 1.5, b = 0.75, delta = 0.5;
};

/// A result: the number of a document and its score, rounded to six decimals.
struct KeywordHit {
  uint32_t doc = 0;
  double score = 0;
};

/// Documents are numbered in the order in which they are added. Weights are multiples of a power of two, so that
/// their sums are exact and do not depend on order, threads or processor.
class KeywordIndex {
 public:
  KeywordIndex(const std::vector<Bytes>& stopwords, WordRanges ranges);

  /// Adds documents in lower case (ASCII letters may be upper case), read by several threads.
  void add(const std::vector<Bytes>& texts, unsigned threads);

  /// The words, each once, in the order in which they first occurred.
  std::vector<Bytes> words() const;

  /// Replaces every word of `words()`, for example by its stem; those with the same replacement become one.
  void rename(const std::vector<Bytes>& replacements);

  /// Computes all weights. No document can be added afterwards.
  void finish(const Bm25Options& options);

  /// The best `depth` documents that contain a word of the query, a repeated word counting as often as it occurs.
  /// Of documents with the same rounded score, the one that was added last comes first.
  std::vector<KeywordHit> search(const std::vector<Bytes>& query, size_t depth) const;

  size_t documents() const { return lengths_.size(); }
  size_t bytes() const;

 private:
  struct Chunk;

  Chunk read(const std::vector<Bytes>& texts, size_t begin, size_t end) const;
  template <class Use>
  void for_each_word(Bytes text, std::string& word, Use&& use) const;
  bool is_word_character(uint32_t code) const;

  std::vector<std::string> stopwords_;
  std::vector<uint64_t> word_bits_;  // of code points
  IdTable words_;                    // stop words are not among them

  // By document, until `finish`: the words of document d are at starts_[d] .. starts_[d + 1].
  std::vector<uint32_t> lengths_;
  std::vector<uint64_t> starts_{0};
  std::vector<uint32_t> terms_, counts_;

  // By word, after `finish`: documents ascending, and their weights.
  std::vector<uint64_t> begins_;
  std::vector<uint32_t> docs_, weights_;
  std::vector<uint64_t> absent_;  // what a query's word adds to every score (BM25L, BM25+)
  double unit_ = 1;               // of weights
};

}  // namespace gg
