// Results prepared for comparison: their normal forms, and how very many of them are kept in little memory.
#pragma once
#include <string>
#include <vector>

#include "bytes.hpp"
#include "sequence.hpp"
#include "text_keys.hpp"
#include "urls.hpp"

namespace gg {

/// What few URLs have.
struct UrlDetails {
  std::vector<ReducedUrl::Parameter> parameters;
  std::vector<uint16_t> aliases;
};

/// A result prepared for comparison; its texts are normal forms that belong to whoever prepared or keeps it.
struct Item {
  struct Value {
    static constexpr uint16_t no_moment = 0xffffu;
    uint16_t field;
    uint16_t moment;  // its place in `moments`
    Bytes text;
  };
  struct Id {
    Bytes name, value;
  };

  uint64_t signature = 0;  // equal for results that are equal in every respect
  uint16_t profile = 0;
  bool typed = false, has_url = false;
  Bytes generic_id;  // empty if there is none or other ids replace it
  Bytes type;
  Bytes page;                           // of the reduced URL
  uint64_t form = 0;                    // likewise
  const UrlDetails* details = nullptr;  // likewise, if there is more to it
  std::vector<Value> values;
  std::vector<Moment> moments;  // of fields that are times
  std::vector<Id> ids;

  const Value* value(uint32_t field) const;
  Moment moment(const Value& value) const;
  const UrlDetails& url_details() const;
  /// Forgets everything, but keeps its memory.
  void clear();
};

uint64_t salted(uint64_t salt, uint64_t hash);
/// What a generic id, which may be empty, adds to a signature.
uint64_t signature_of(Bytes generic_id);

/// The items of a conversation, packed: those with an id alone, of which there may be millions, take little more
/// than its bytes.
class Items {
 public:
  size_t size() const { return records_.size(); }
  void push_back(const Item& item);
  /// Unpacks an item; its texts are valid until the next `clear`.
  void load(size_t number, Item& item) const;
  void clear();

 private:
  Blocks<const char*> records_;
  Arena arena_;
  std::string scratch_;
};

}  // namespace gg
