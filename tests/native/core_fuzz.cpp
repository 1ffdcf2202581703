// Feeds damaged input to the readers, which must return a result or throw an Error.
//
// Built with clang and -fsanitize=fuzzer it is a libFuzzer target; otherwise it mutates its own seeds for the number
// of seconds in its first argument.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "error.hpp"
#include "kernels.hpp"
#include "text.hpp"

using namespace gg;

namespace {

int text_file(const char* data, size_t size) {
  char name[] = "/tmp/goodgain-fuzz-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  if (write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  return fd;
}

Plan all_measures(Ties ties) {
  Plan plan;
  plan.policy.ties = ties;
  plan.policy.duplicates = Duplicates::first;
  for (const Kernel& kernel : kernels()) {
    Spec spec;
    spec.kernel = &kernel;
    spec.cutoff = 5;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  return plan;
}

std::vector<LineFormat> formats() {
  LineFormat csv, json;
  csv.kind = LineFormat::Kind::delimited;
  csv.quotes = true;
  csv.columns = {0, 1, 2, Columns::none, Columns::none, 3};
  json.kind = LineFormat::Kind::json;
  json.keys = {"query", "doc", "score", "target", "aspect"};
  return {{}, csv, json};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const Plan plans[] = {all_measures(Ties::docid), all_measures(Ties::average), all_measures(Ties::bounds)};
  static const std::shared_ptr<const Qrels> judged = [] {
    const std::string text = "q 1 a 2\nq 2 a 1\nq 1 b 0\nq 2 c 3\nq 1 d -1\nr 1 a 1\n";
    const InputFile file(text_file(text.data(), text.size()), "qrels");
    return std::shared_ptr<const Qrels>(read_qrels(file, {}));
  }();
  const auto* data = reinterpret_cast<const char*>(bytes);
  for (const LineFormat& format : formats()) {
    try {
      const InputFile file(text_file(data, size), "fuzz");
      read_qrels(file, format);
    } catch (const Error&) {
    }
    for (const Plan& plan : plans) {
      try {
        const InputFile file(text_file(data, size), "fuzz");
        evaluate_file(judged, file, format, plan, Resources{2});
      } catch (const Error&) {
      }
    }
  }
  return 0;
}

#ifndef GOODGAIN_LIBFUZZER
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const std::vector<std::string> seeds = {
      "q Q0 a 1 3.5 t\nq Q0 b 2 3.5 t\nq Q0 c 3 3.5 t\nr Q0 a 1 1e-3 t\n",
      "q 0 a 1\nq 0 b -2\nr 0 a 3.25\n",
      "query,doc,score\nq,a,1\nq,\"b\"\"x\",2\nr,\"a\nb\",3\n",
      "{\"query\":\"q\",\"doc\":\"a\",\"score\":1}\n{\"query\":\"q\",\"doc\":\"\\u00e9\",\"score\":-2.5e3}\n",
  };
  std::mt19937_64 random(20261115);
  const auto begin = std::chrono::steady_clock::now();
  unsigned long runs = 0;
  const std::string spice = "\n\r\t \",:{}[]\\#-+.eE0123456789qrabc\xc3\xa9\xff";
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    std::string text = seeds[random() % seeds.size()];
    for (uint64_t n = random() % 12; n-- > 0 && !text.empty();) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = spice[random() % spice.size()]; break;
        case 1: text.insert(at, 1, spice[random() % spice.size()]); break;
        case 2: text.erase(at, random() % 5); break;
        default: text += text.substr(at, random() % 40);
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    ++runs;
  }
  std::printf("%lu inputs, no crash\n", runs);
  return 0;
}
#endif
