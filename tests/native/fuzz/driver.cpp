// Runs a target on the files of its folder, tests/native/corpus/TARGET, and on what becomes of them.
//
//   core_fuzz list                      the names of all targets
//   core_fuzz TARGET replay FOLDER...   the files alone
//   core_fuzz TARGET allocations FOLDER every single allocation fails once, for every file
//   core_fuzz TARGET SECONDS FOLDER     random changes of the files
//
// Built with clang and -fsanitize=fuzzer, it is one target of libFuzzer, guided by coverage: GOODGAIN_FUZZ_TARGET. A
// program for each holds only the code that it reaches, as libFuzzer goes through all counters after every input.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "targets.hpp"

using namespace gg;

#ifndef GOODGAIN_LIBFUZZER
// --- allocations that fail ---

namespace {
std::atomic<int64_t> allocations_left{-1};  // the one after the last fails; negative: none does

void* allocate_or_null(size_t size) noexcept {
  if (allocations_left.load(std::memory_order_relaxed) >= 0 && allocations_left.fetch_sub(1) == 0) return nullptr;
  return std::malloc(size ? size : 1);
}

void* allocate(size_t size) {
  if (void* place = allocate_or_null(size)) return place;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate_or_null(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate_or_null(size); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }
void operator delete[](void* place, size_t) noexcept { std::free(place); }
#endif

namespace {

struct Target {
  const char* name;
  void (*run)(Bytes);
};
#ifdef GOODGAIN_LIBFUZZER
constexpr Target target{"", fuzz::GOODGAIN_FUZZ_TARGET};
const Target* chosen = &target;
#else
constexpr Target targets[] = {
    {"lines", fuzz::lines},       {"numbers", fuzz::numbers}, {"tables", fuzz::tables},   {"measures", fuzz::measures},
    {"states", fuzz::states},     {"arrow", fuzz::arrow},     {"packed", fuzz::packed},   {"urls", fuzz::urls},
    {"patterns", fuzz::patterns}, {"texts", fuzz::texts},     {"results", fuzz::results}, {"keywords", fuzz::keywords},
    {"traces", fuzz::traces},     {"parquet", fuzz::parquet},
};
const Target* chosen = nullptr;

bool choose(const char* name) {
  for (const Target& target : targets)
    if (name && std::strcmp(name, target.name) == 0) chosen = &target;
  if (!chosen) std::fprintf(stderr, "unknown target '%s'; core_fuzz list lists them\n", name ? name : "");
  return chosen != nullptr;
}
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // A copy of just this size, so that reading one byte too many is noticed.
  const std::unique_ptr<char[]> copy(new char[size]);
  if (size) std::memcpy(copy.get(), bytes, size);
  chosen->run(Bytes(copy.get(), size));
  return 0;
}

#ifdef GOODGAIN_LIBFUZZER
extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  if (seed % 2 || !std::memchr(bytes, '{', size)) return LLVMFuzzerMutate(bytes, size, most);
  std::mt19937_64 random(seed);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  if (!fuzz::change_value(text, random) || text.size() > most) return LLVMFuzzerMutate(bytes, size, most);
  std::memcpy(bytes, text.data(), text.size());
  return text.size();
}
#else
namespace {

std::vector<std::string> files_in(const char* folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void mutate(std::string& text, const std::vector<std::string>& seeds, std::mt19937_64& random) {
  if (random() % 2 && fuzz::change_value(text, random)) return text.resize(std::min<size_t>(text.size(), 4096));
  static const std::string spice = "\n\r\t \",:;{}[]\\#-+.%&=/()<>eE0123456789qrabc\xc3\xa9\xff\xe3\x80\x90";
  for (uint64_t n = 1 + random() % 12; n-- > 0 && !text.empty();) {
    const size_t at = random() % text.size();
    switch (random() % 6) {
      case 0: text[at] = spice[random() % spice.size()]; break;
      case 1: text.insert(at, 1, spice[random() % spice.size()]); break;
      case 2: text.erase(at, random() % 5); break;
      case 3: text[at] = static_cast<char>(random()); break;
      case 4: text += text.substr(at, random() % 80); break;
      default: text.insert(at, seeds[random() % seeds.size()].substr(0, random() % 40));
    }
  }
  text.resize(std::min<size_t>(text.size(), 4096));
}

/// Each allocation of a target fails once: it must throw, and leave nothing behind (which LeakSanitizer checks).
size_t fail_allocations(const std::string& input) {
  run(input);  // what is made once and kept
  for (int64_t n = 0;; ++n) {
    allocations_left = n;
    try {
      run(input);
    } catch (const std::bad_alloc&) {
    }
    const bool failed = allocations_left.exchange(-1) < 0;
    if (!failed) return static_cast<size_t>(n);
  }
}

size_t run_mutations(const std::vector<std::string>& seeds, double seconds) {
  std::mt19937_64 random(std::random_device{}());
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const std::string last = std::string("last-input-") + chosen->name;
  size_t runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    std::string text = seeds[random() % seeds.size()];
    mutate(text, seeds, random);
    std::ofstream(last, std::ios::binary) << text;
    run(text);
  }
  std::filesystem::remove(last);
  return runs;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "list") == 0) {
    for (const Target& target : targets) std::puts(target.name);
    return 0;
  }
  if (count < 4 || !choose(arguments[1])) return 2;
  std::vector<std::string> seeds;
  for (int i = 3; i < count; ++i)
    for (std::string& file : files_in(arguments[i])) seeds.push_back(std::move(file));
  if (seeds.empty()) return 2;
  if (std::strcmp(arguments[2], "allocations") == 0) {
    size_t failed = 0;
    for (const std::string& seed : seeds) failed += fail_allocations(seed);
    std::printf("%s: %zu allocations failed, one after the other\n", chosen->name, failed);
    return 0;
  }
  for (const std::string& seed : seeds) run(seed);
  const double seconds = std::atof(arguments[2]);
  std::printf("%s: %zu files, %zu changed ones\n", chosen->name, seeds.size(), run_mutations(seeds, seconds));
}
#endif
