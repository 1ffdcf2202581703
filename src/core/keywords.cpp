#include "keywords.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "evaluate.hpp"

namespace gg {
namespace {

constexpr size_t CHUNK = 1000;        // documents that one thread reads at a time
constexpr uint32_t BLOCK = 1u << 12;  // documents whose sums fit into the cache of a core
constexpr uint32_t FEW = BLOCK / 8;   // postings in a block, below which only documents with a word are looked at
constexpr double DECIMALS = 1e6;      // scores are rounded to multiples of 1 / DECIMALS
constexpr uint32_t CODE_POINTS = 0x110000;

/// The code point at `text[i]`, and the number of its bytes; malformed bytes are one character that is in no word.
std::pair<uint32_t, size_t> decode(Bytes text, size_t i) {
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at])); };
  const uint32_t first = byte(i);
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || i + size > text.size()) return {CODE_POINTS, 1};
  uint32_t code = first & (0xffu >> (size + 1));
  for (size_t k = 1; k < size; ++k) {
    if ((byte(i + k) & 0xc0u) != 0x80u) return {CODE_POINTS, 1};
    code = code << 6 | (byte(i + k) & 0x3fu);
  }
  return {code, size};
}

double inverse_frequency(Bm25Method method, double documents, double with_word) {
  switch (method) {
    case Bm25Method::robertson: return std::log(std::max(1.0, (documents - with_word + 0.5) / (with_word + 0.5)));
    case Bm25Method::atire: return std::log(documents / with_word);
    case Bm25Method::bm25l: return std::log((documents + 1) / (with_word + 0.5));
    case Bm25Method::bm25plus: return std::log((documents + 1) / with_word);
    case Bm25Method::lucene: break;
  }
  return std::log(1 + (documents - with_word + 0.5) / (with_word + 0.5));
}

/// The weight of `count` occurrences, `length` being 1 - b + b * (length of the document / mean length).
double saturation(const Bm25Options& o, double count, double length) {
  switch (o.method) {
    case Bm25Method::atire: return count * (o.k1 + 1) / (count + o.k1 * length);
    case Bm25Method::bm25l: {
      const double shifted = count / length + o.delta;
      return (o.k1 + 1) * shifted / (o.k1 + shifted);
    }
    case Bm25Method::bm25plus: return (o.k1 + 1) * count / (count + o.k1 * length) + o.delta;
    case Bm25Method::lucene:
    case Bm25Method::robertson: break;
  }
  return count / (count + o.k1 * length);
}

bool counts_absent(Bm25Method method) { return method == Bm25Method::bm25l || method == Bm25Method::bm25plus; }

/// Postings of one word of a query that are still to be read.
struct Cursor {
  const uint32_t *doc, *end, *weight;
  uint64_t times;
  const uint32_t* stop = nullptr;  // the end of the current block
};

/// The best results so far. A result with a higher rounded score, or with the same and a higher number, is better.
class Best {
 public:
  Best(size_t depth, double unit, uint64_t extra) : depth_(depth), factor_(unit * DECIMALS), extra_(extra) {}

  /// A sum below this is not among the best, so that most are never rounded.
  uint64_t least() const { return least_; }

  void add(uint32_t doc, uint64_t sum) {
    const Entry entry{std::llround(static_cast<double>(sum + extra_) * factor_), doc};
    if (entry.first <= 0) return;
    if (heap_.size() < depth_) {
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else if (entry > heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.back() = entry;
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      return;
    }
    if (heap_.size() == depth_) {
      const double bound = (static_cast<double>(heap_.front().first) - 0.75) / factor_ - static_cast<double>(extra_);
      least_ = bound > 1 ? static_cast<uint64_t>(bound) : 1;
    }
  }

  std::vector<KeywordHit> sorted() && {
    std::sort(heap_.begin(), heap_.end(), std::greater<>());
    std::vector<KeywordHit> hits;
    hits.reserve(heap_.size());
    for (const auto& [score, doc] : heap_) hits.push_back({doc, static_cast<double>(score) / DECIMALS});
    return hits;
  }

 private:
  using Entry = std::pair<int64_t, uint32_t>;  // rounded score in units of 1 / DECIMALS, document

  size_t depth_;
  double factor_;
  uint64_t extra_;
  uint64_t least_ = 1;
  std::vector<Entry> heap_;
};

}  // namespace

// --- reading ---

/// The words of some documents, numbered on their own.
struct KeywordIndex::Chunk {
  IdTable words;                         // stop words first
  std::vector<uint32_t> lengths, sizes;  // of each document: words, and different words
  std::vector<uint32_t> terms, counts;
};

KeywordIndex::KeywordIndex(const std::vector<Bytes>& stopwords, WordRanges ranges) : word_bits_(CODE_POINTS / 64) {
  IdTable once;
  for (const Bytes word : stopwords)
    if (once.find(word) == IdTable::none) stopwords_.emplace_back(once[once.add(word)]);
  for (const auto& [begin, end] : ranges)
    for (uint32_t code = begin; code < std::min(end, CODE_POINTS); ++code) word_bits_[code / 64] |= 1ull << code % 64;
}

bool KeywordIndex::is_word_character(uint32_t code) const {
  return code < CODE_POINTS && (word_bits_[code / 64] >> code % 64 & 1u);
}

/// Calls `use` with every run of at least two word characters, in lower case.
template <class Use>
void KeywordIndex::for_each_word(Bytes text, std::string& word, Use&& use) const {
  for (size_t i = 0; i < text.size();) {
    word.clear();
    size_t characters = 0;
    while (i < text.size()) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x80) {
        if (!is_word_character(byte)) break;
        word.push_back(static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte));
        ++i;
      } else {
        const auto [code, size] = decode(text, i);
        if (!is_word_character(code)) break;
        word.append(text.substr(i, size));
        i += size;
      }
      ++characters;
    }
    if (characters > 1) use(Bytes(word));
    if (i < text.size() && !characters) i += static_cast<unsigned char>(text[i]) < 0x80 ? 1 : decode(text, i).second;
  }
}

KeywordIndex::Chunk KeywordIndex::read(const std::vector<Bytes>& texts, size_t begin, size_t end) const {
  Chunk chunk;
  for (const std::string& word : stopwords_) chunk.words.add(word);
  const auto stops = static_cast<uint32_t>(chunk.words.size());
  std::vector<uint32_t> places;  // of each word: its place among the words of the last document with it
  std::string word;
  for (size_t d = begin; d < end; ++d) {
    pause_point();
    const auto first = static_cast<uint32_t>(chunk.terms.size());
    uint32_t length = 0;
    for_each_word(texts[d], word, [&](Bytes w) {
      const uint32_t term = chunk.words.add(w);
      if (term < stops) return;
      ++length;
      if (term >= places.size()) places.resize(std::max<size_t>(2 * places.size(), term + 1), UINT32_MAX);
      const uint32_t place = places[term];
      if (place != UINT32_MAX && place >= first) {
        ++chunk.counts[place];
        return;
      }
      places[term] = static_cast<uint32_t>(chunk.terms.size());
      chunk.terms.push_back(term);
      chunk.counts.push_back(1);
    });
    chunk.lengths.push_back(length);
    chunk.sizes.push_back(static_cast<uint32_t>(chunk.terms.size()) - first);
  }
  return chunk;
}

void KeywordIndex::add(const std::vector<Bytes>& texts, unsigned threads) {
  const size_t pieces = (texts.size() + CHUNK - 1) / CHUNK;
  std::vector<Chunk> chunks(pieces);
  in_parallel(pieces, threads,
              [&](size_t i) { chunks[i] = read(texts, i * CHUNK, std::min(texts.size(), (i + 1) * CHUNK)); });
  std::vector<uint32_t> numbers;
  for (Chunk& chunk : chunks) {  // one after the other, so that words are numbered as they first occur
    numbers.assign(chunk.words.size(), 0);
    for (size_t t = stopwords_.size(); t < chunk.words.size(); ++t) numbers[t] = words_.add(chunk.words[t]);
    for (const uint32_t term : chunk.terms) terms_.push_back(numbers[term]);
    counts_.insert(counts_.end(), chunk.counts.begin(), chunk.counts.end());
    lengths_.insert(lengths_.end(), chunk.lengths.begin(), chunk.lengths.end());
    for (const uint32_t size : chunk.sizes) starts_.push_back(starts_.back() + size);
    chunk = Chunk();
  }
}

// --- words ---

std::vector<Bytes> KeywordIndex::words() const {
  std::vector<Bytes> listed;
  listed.reserve(words_.size());
  for (size_t t = 0; t < words_.size(); ++t) listed.push_back(words_[t]);
  return listed;
}

void KeywordIndex::rename(const std::vector<Bytes>& replacements) {
  IdTable renamed;
  std::vector<uint32_t> numbers;
  numbers.reserve(replacements.size());
  for (const Bytes word : replacements) numbers.push_back(renamed.add(word));
  std::vector<uint64_t> places(renamed.size(), UINT64_MAX);
  uint64_t size = 0;
  for (size_t d = 0; d < lengths_.size(); ++d) {
    pause_point(d);
    const uint64_t first = size;
    const uint64_t begin = starts_[d], end = starts_[d + 1];
    for (uint64_t i = begin; i < end; ++i) {
      const uint32_t term = numbers[terms_[i]], count = counts_[i];
      if (places[term] != UINT64_MAX && places[term] >= first) {
        counts_[places[term]] += count;
        continue;
      }
      places[term] = size;
      terms_[size] = term;
      counts_[size++] = count;
    }
    starts_[d] = first;
  }
  starts_.back() = size;
  terms_.resize(size);
  counts_.resize(size);
  words_ = std::move(renamed);
}

// --- weights ---

void KeywordIndex::finish(const Bm25Options& options) {
  const size_t terms = words_.size(), documents = lengths_.size();
  begins_.assign(terms + 1, 0);
  for (const uint32_t term : terms_) ++begins_[term + 1];
  std::vector<double> rarity(terms);
  for (size_t t = 0; t < terms; ++t) {
    const auto with_word = static_cast<double>(begins_[t + 1]);
    rarity[t] = inverse_frequency(options.method, static_cast<double>(documents), with_word);
    begins_[t + 1] += begins_[t];
  }
  uint64_t total = 0;
  for (const uint32_t length : lengths_) total += length;
  const double mean = documents ? static_cast<double>(total) / static_cast<double>(documents) : 0;
  const double absent = counts_absent(options.method) ? saturation(options, 0, 1) : 0;
  const auto weight = [&](size_t d, uint64_t i) {
    const double length = 1 - options.b + options.b * lengths_[d] / mean;
    return rarity[terms_[i]] * (saturation(options, counts_[i], length) - absent);
  };
  double most = 0;
  for (size_t d = 0; d < documents; ++d) {
    pause_point(d);
    for (uint64_t i = starts_[d]; i < starts_[d + 1]; ++i) most = std::max(most, weight(d, i));
  }
  const int exponent = most > 0 ? 31 - std::ilogb(most) : 0;  // the largest weight has 32 bits
  const double scale = std::ldexp(1.0, exponent);
  unit_ = std::ldexp(1.0, -exponent);
  docs_.resize(terms_.size());
  weights_.resize(terms_.size());
  std::vector<uint64_t> next(begins_.begin(), begins_.end() - 1);
  for (size_t d = 0; d < documents; ++d) {
    pause_point(d);
    for (uint64_t i = starts_[d]; i < starts_[d + 1]; ++i) {
      const uint64_t place = next[terms_[i]]++;
      docs_[place] = static_cast<uint32_t>(d);
      const double scaled = std::nearbyint(scale * weight(d, i));
      weights_[place] = static_cast<uint32_t>(std::min(scaled, static_cast<double>(UINT32_MAX)));
    }
  }
  absent_.resize(absent != 0 ? terms : 0);
  for (size_t t = 0; t < absent_.size(); ++t)
    absent_[t] = static_cast<uint64_t>(std::nearbyint(scale * rarity[t] * absent));
  starts_ = {};
  terms_ = {};
  counts_ = {};
}

size_t KeywordIndex::bytes() const {
  size_t size = begins_.size() * sizeof(uint64_t) + (docs_.size() + weights_.size()) * sizeof(uint32_t);
  size += (absent_.size() + word_bits_.size()) * sizeof(uint64_t) + lengths_.size() * sizeof(uint32_t);
  for (size_t t = 0; t < words_.size(); ++t) size += words_[t].size() + sizeof(Bytes) + 32;  // and their hashes
  return size;
}

// --- search ---

std::vector<KeywordHit> KeywordIndex::search(const std::vector<Bytes>& query, size_t depth) const {
  std::vector<uint32_t> numbers;
  for (const Bytes word : query)
    if (const uint32_t number = words_.find(word); number != IdTable::none) numbers.push_back(number);
  if (numbers.empty() || !depth) return {};
  std::sort(numbers.begin(), numbers.end());
  std::vector<Cursor> cursors;
  uint64_t extra = 0;
  for (size_t i = 0; i < numbers.size();) {
    const size_t same = i;
    const uint32_t t = numbers[i];
    while (i < numbers.size() && numbers[i] == t) ++i;
    const uint64_t times = i - same, begin = begins_[t], end = begins_[t + 1];
    cursors.push_back({docs_.data() + begin, docs_.data() + end, weights_.data() + begin, times});
    if (!absent_.empty()) extra += times * absent_[t];
  }
  Best best(depth, unit_, extra);
  std::array<uint64_t, BLOCK> sums;
  sums.fill(0);
  std::vector<uint32_t> touched;
  while (true) {
    // Blocks in which no word occurs are skipped.
    uint32_t least = UINT32_MAX;
    for (const Cursor& c : cursors)
      if (c.doc != c.end) least = std::min(least, *c.doc);
    if (least == UINT32_MAX) break;
    const uint32_t base = least / BLOCK * BLOCK;
    const uint64_t limit = static_cast<uint64_t>(base) + BLOCK;
    size_t postings = 0;
    for (Cursor& c : cursors) {
      const auto rest = std::min<ptrdiff_t>(c.end - c.doc, BLOCK);
      c.stop = std::lower_bound(c.doc, c.doc + rest, limit);
      postings += static_cast<size_t>(c.stop - c.doc);
    }
    const bool few = postings < FEW;
    touched.clear();
    for (Cursor& c : cursors) {
      const auto count = static_cast<size_t>(c.stop - c.doc);
      for (size_t i = 0; i < count; ++i) {
        uint64_t& sum = sums[c.doc[i] - base];
        if (few && !sum) touched.push_back(c.doc[i] - base);
        sum += c.times * c.weight[i];
      }
      c.doc += count;
      c.weight += count;
    }
    if (few) {
      for (const uint32_t i : touched) {
        if (sums[i] >= best.least()) best.add(base + i, sums[i]);
        sums[i] = 0;
      }
    } else {
      for (uint32_t i = 0; i < BLOCK; ++i)
        if (sums[i] >= best.least()) best.add(base + i, sums[i]);
      sums.fill(0);
    }
  }
  return std::move(best).sorted();
}

}  // namespace gg
