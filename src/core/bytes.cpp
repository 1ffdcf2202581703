#include "bytes.hpp"

#include <chrono>
#include <random>

namespace gg {
namespace {

HashSeeds random_seeds() {
  std::seed_seq::result_type words[4];
  try {
    std::random_device device;
    for (auto& word : words) word = device();
  } catch (const std::exception&) {  // no source of randomness: time and address space differ, too
    const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    std::seed_seq{now, now >> 32, reinterpret_cast<uint64_t>(&words)}.generate(std::begin(words), std::end(words));
  }
  // Odd, so that a product keeps all of its bits.
  return {uint64_t{words[0]} << 32 | words[1] | 1, uint64_t{words[2]} << 32 | words[3] | 1};
}

}  // namespace

const HashSeeds hash_seeds = random_seeds();

}  // namespace gg
