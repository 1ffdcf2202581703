// How much work is shared between threads, for benchmarks: its processor time, on all of them.
#pragma once
#include <atomic>
#include <cstdint>
#include <ctime>

namespace gg {

/// Nanoseconds of processor time that the current thread has used; 0 where the system does not say.
inline uint64_t thread_cpu_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
#endif
  return 0;
}

/// Nanoseconds of processor time inside `in_parallel` since the start of the process.
inline std::atomic<uint64_t> shared_cpu_time{0};

}  // namespace gg
