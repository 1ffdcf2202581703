// Work on several threads that a signal can stop.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>

namespace gg {

/// Ends the work on all threads. Whatever catches everything must let it pass.
struct Stopped {};

/// While one is alive, `pause_point` on its thread calls `poll` some fifty times a second. If `poll` throws, the work
/// is `Stopped` on all threads, and `reason_to_stop` has its exception.
class Polling {
 public:
  explicit Polling(void (*poll)());
  ~Polling();
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

 private:
  void (*before_)();
};

/// What stopped the last work of this thread.
std::exception_ptr reason_to_stop();

/// A place where work may be abandoned. Long loops call it every few milliseconds.
void pause_point();

/// The same for loops whose steps are short: looks only at every 1,024th of them.
inline void pause_point(uint64_t step) {
  if (step % 1024 == 0) pause_point();
}

/// Runs `work(i)` for i in [0, n) on up to `threads` threads and rethrows the exception of the first i. With fewer
/// threads than wanted, because the system has no more, it takes longer.
void in_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& work);

}  // namespace gg
