#include "items.hpp"

#include <cstring>
#include <type_traits>

namespace gg {

namespace {

// The first byte of a record: 0 for an id alone, otherwise what else it has.
constexpr uint8_t is_full = 1, is_typed = 2, has_url = 4, has_details = 8;

template <typename T>
void put(std::string& record, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  record.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_size(std::string& record, size_t size) {
  for (; size >= 0x80; size >>= 7) record.push_back(static_cast<char>(size | 0x80));
  record.push_back(static_cast<char>(size));
}

void put_text(std::string& record, Bytes text) {
  put_size(record, text.size());
  record.append(text);
}

/// Reads what the functions above have written.
class Reader {
 public:
  explicit Reader(const char* at) : at_(at) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  size_t size() {
    size_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  Bytes text() {
    const size_t length = size();
    const Bytes text(at_, length);
    at_ += length;
    return text;
  }

 private:
  const char* at_;
};

void pack(const Item& item, std::string& record) {
  const bool has_more = item.typed || item.has_url || !item.values.empty() || !item.ids.empty();
  if (!has_more && !item.generic_id.empty()) {
    record.push_back(0);
    put_text(record, item.generic_id);
    return;
  }
  put(record, static_cast<uint8_t>(is_full | (item.typed ? is_typed : 0) | (item.has_url ? has_url : 0) |
                                   (item.details ? has_details : 0)));
  put(record, item.signature);
  put(record, item.profile);
  put_text(record, item.generic_id);
  if (item.typed) put_text(record, item.type);
  if (item.has_url) {
    put_text(record, item.page);
    put(record, item.form);
  }
  if (item.details) put(record, item.details);
  put_size(record, item.values.size());
  for (const Item::Value& value : item.values) {
    put(record, value.field);
    put(record, value.moment);
    put_text(record, value.text);
  }
  put_size(record, item.moments.size());
  for (const Moment& moment : item.moments) put(record, moment);
  put_size(record, item.ids.size());
  for (const Item::Id& id : item.ids) {
    put_text(record, id.name);
    put_text(record, id.value);
  }
}

}  // namespace

uint64_t salted(uint64_t salt, uint64_t hash) {
  return mix(hash ^ 0x8ebc6af09c88c6e3ULL, salt * 0x589965cc75374cc3ULL + 1);
}

uint64_t signature_of(Bytes generic_id) { return salted(1000, hash_bytes(generic_id)); }

const Item::Value* Item::value(uint32_t field) const {
  for (const Value& v : values)
    if (v.field == field) return &v;
  return nullptr;
}

Moment Item::moment(const Value& value) const {
  return value.moment == Value::no_moment ? Moment{} : moments[value.moment];
}

const UrlDetails& Item::url_details() const {
  static const UrlDetails none;
  return details ? *details : none;
}

void Item::clear() {
  signature = form = 0;
  profile = 0;
  typed = has_url = false;
  generic_id = type = page = {};
  details = nullptr;
  values.clear();
  moments.clear();
  ids.clear();
}

void Items::push_back(const Item& item) {
  scratch_.clear();
  pack(item, scratch_);
  records_.push_back(arena_.keep(scratch_).data());
}

void Items::load(size_t number, Item& item) const {
  item.clear();
  Reader record(records_[number]);
  const auto flags = record.get<uint8_t>();
  if (!flags) {
    item.generic_id = record.text();
    item.signature = hash_bytes(Bytes()) + signature_of(item.generic_id);
    return;
  }
  item.signature = record.get<uint64_t>();
  item.profile = record.get<uint16_t>();
  item.generic_id = record.text();
  if ((item.typed = flags & is_typed)) item.type = record.text();
  if ((item.has_url = flags & has_url)) {
    item.page = record.text();
    item.form = record.get<uint64_t>();
  }
  if (flags & has_details) item.details = record.get<const UrlDetails*>();
  item.values.resize(record.size());
  for (Item::Value& value : item.values) {
    value.field = record.get<uint16_t>();
    value.moment = record.get<uint16_t>();
    value.text = record.text();
  }
  item.moments.resize(record.size());
  for (Moment& moment : item.moments) moment = record.get<Moment>();
  item.ids.resize(record.size());
  for (Item::Id& id : item.ids) {
    id.name = record.text();
    id.value = record.text();
  }
}

void Items::clear() {
  records_.clear();
  arena_.clear();
}

}  // namespace gg
