// Judgments as bytes and back, so that they can be sent to another process of the same machine type.
#include <bit>
#include <cstring>

#include "qrels.hpp"

namespace gg {
namespace {

constexpr uint64_t version = 1;

class Writer {
 public:
  template <class T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(Bytes value) {
    number<uint64_t>(value.size());
    bytes_.append(value);
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    number<uint64_t>(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}

  Bytes bytes(uint64_t size) {
    if (size > rest_.size()) damaged();
    const Bytes head = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return head;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  Bytes text() { return bytes(number<uint64_t>()); }
  template <class T>
  std::vector<T> numbers() {
    const auto count = number<uint64_t>();
    if (count > rest_.size() / sizeof(T)) damaged();
    std::vector<T> values(count);
    if (count) std::memcpy(values.data(), bytes(count * sizeof(T)).data(), count * sizeof(T));
    return values;
  }
  bool at_end() const { return rest_.empty(); }
  [[noreturn]] static void damaged() {
    bad_input("damaged judgments: they were not pickled by this version", {}, "read them from their source again");
  }

 private:
  Bytes rest_;
};

}  // namespace

std::string Qrels::state() const {
  Writer out;
  out.number(version);
  out.text(name);
  out.number(query_kind);
  out.number(doc_kind);
  out.number(max_gain_);
  out.number<uint64_t>(queries_.size());
  for (const QueryJudgments& query : queries_) {
    out.text(query.id);
    for (const uint64_t count : {query.docs.size(), query.targets.size(), query.aspects.size(),
                                 size_t{query.target_count}, size_t{query.named_targets}, size_t{query.aspect_count}})
      out.number(count);
  }
  for (const Bytes doc : docs_) out.text(doc);
  out.numbers(gains_);
  out.numbers(gains_sorted_);
  out.numbers(targets_);
  out.numbers(aspects_);
  out.number<uint64_t>(first_gains_.size());
  for (const auto& [doc, gain] : first_gains_) {
    out.number<uint64_t>(doc);
    out.number(gain);
  }
  out.number<uint8_t>(repeated_.has_value());
  if (repeated_)
    for (const Bytes text : {Bytes(repeated_->what()), Bytes(repeated_->where), Bytes(repeated_->hint)}) out.text(text);
  return out.take();
}

std::unique_ptr<Qrels> Qrels::from_state(Bytes bytes) {
  Reader in(bytes);
  if (in.number<uint64_t>() != version) Reader::damaged();
  auto qrels = std::make_unique<Qrels>();
  Qrels& q = *qrels;
  q.name = in.text();
  q.query_kind = in.number<IdKind>();
  q.doc_kind = in.number<IdKind>();
  q.max_gain_ = in.number<double>();
  struct Counts {
    uint64_t docs, targets, aspects, target_count, named_targets, aspect_count;
  };
  std::vector<Counts> counts;
  Counts total{};
  for (auto n = in.number<uint64_t>(); n > 0; --n) {
    if (q.ids_.add(in.text()) != counts.size()) Reader::damaged();
    const auto c = in.number<Counts>();
    if (c.docs > bytes.size() || c.targets > bytes.size() || c.aspects > bytes.size()) Reader::damaged();
    total.docs += c.docs, total.targets += c.targets, total.aspects += c.aspects;
    counts.push_back(c);
  }
  for (uint64_t d = 0; d < total.docs; ++d) q.docs_.push_back(q.arena_.keep(in.text()));
  q.gains_ = in.numbers<double>();
  q.gains_sorted_ = in.numbers<double>();
  q.targets_ = in.numbers<Link>();
  q.aspects_ = in.numbers<Link>();
  if (q.gains_.size() != total.docs || q.gains_sorted_.size() != total.docs || q.targets_.size() != total.targets ||
      q.aspects_.size() != total.aspects)
    Reader::damaged();
  for (auto n = in.number<uint64_t>(); n > 0; --n) {
    const auto doc = in.number<uint64_t>();
    if (doc >= total.docs) Reader::damaged();
    q.first_gains_.emplace_back(doc, in.number<double>());
  }
  if (in.number<uint8_t>()) {
    const std::string message(in.text()), where(in.text()), hint(in.text());
    q.repeated_ = Error(ErrorKind::duplicate, message, where, hint);
  }
  if (!in.at_end()) Reader::damaged();

  // The hashes of another process are not ours.
  const auto slots_for = [](uint64_t docs) { return std::bit_ceil(docs * 2 + 1); };
  size_t slots = 0;
  for (const Counts& c : counts) slots += slots_for(c.docs);
  q.slots_.resize(slots);
  q.queries_.resize(counts.size());
  size_t doc = 0, slot = 0, target = 0, aspect = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const Counts& c = counts[i];
    QueryJudgments& query = q.queries_[i];
    query.id = q.ids_[i];
    query.docs = {q.docs_.data() + doc, c.docs};
    query.gains = {q.gains_.data() + doc, c.docs};
    query.gains_sorted = {q.gains_sorted_.data() + doc, c.docs};
    query.targets = {q.targets_.data() + target, c.targets};
    query.aspects = {q.aspects_.data() + aspect, c.aspects};
    query.target_count = static_cast<uint32_t>(c.target_count);
    query.named_targets = static_cast<uint32_t>(c.named_targets);
    query.aspect_count = static_cast<uint32_t>(c.aspect_count);
    for (const auto& links : {query.targets, query.aspects})
      for (const Link& link : links)
        if (link.judgment >= c.docs || link.label >= std::max(c.target_count, c.aspect_count)) Reader::damaged();
    query.slots = q.slots_.data() + slot;
    query.mask = slots_for(c.docs) - 1;
    for (uint32_t d = 0; d < c.docs; ++d) {
      const uint64_t hash = hash_bytes(query.docs[d]);
      size_t s = hash & query.mask;
      while (q.slots_[slot + s].judgment != QueryJudgments::unjudged) s = (s + 1) & query.mask;
      q.slots_[slot + s] = {static_cast<uint32_t>(hash >> 32), static_cast<int32_t>(d)};
    }
    doc += c.docs, slot += query.mask + 1, target += c.targets, aspect += c.aspects;
  }
  q.fill_filters(1);
  return qrels;
}

}  // namespace gg
