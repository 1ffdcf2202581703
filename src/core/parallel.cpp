#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace gg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_interval = std::chrono::milliseconds(20);

/// Ends the work of a helping thread; the calling thread has the reason.
struct Stopped {};

struct ThreadState {
  void (*poll)() = nullptr;
  std::atomic<bool>* stop = nullptr;  // shared by all threads of one piece of work
  Clock::time_point next_poll;
};

thread_local ThreadState current;

void poll_now() {
  current.next_poll = Clock::now() + poll_interval;
  try {
    current.poll();
  } catch (...) {
    if (current.stop) current.stop->store(true);
    throw;
  }
}

/// What the threads of one call share.
class Tasks {
 public:
  Tasks(size_t n, const std::function<void(size_t)>& work) : n_(n), work_(work) {}

  void run(unsigned threads) {
    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    try {
      for (unsigned t = 1; t < threads; ++t) {
        helpers.emplace_back([this] { help(); });
        const std::lock_guard lock(mutex_);
        ++running_;
      }
    } catch (const std::system_error&) {  // no more threads: those that started do the work
    } catch (const std::bad_alloc&) {
    }
    const auto before = current.stop;
    current.stop = &stop_;
    loop(true);
    while (!wait_for_helpers()) {
      try {
        poll_now();
      } catch (...) {
        fail(interrupted);
      }
    }
    current.stop = before;
    for (std::thread& helper : helpers) helper.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void help() {
    current = {nullptr, &stop_, {}};
    loop(false);
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  void loop(bool is_caller) {
    for (size_t i; (i = next_.fetch_add(1)) < n_;) {
      try {
        pause_point();
        work_(i);
      } catch (const Stopped&) {
        next_.store(n_);
      } catch (...) {
        fail(is_caller && stop_.load() ? interrupted : static_cast<int64_t>(i));
      }
    }
  }

  /// The error of the first task is reported, whatever the timing.
  void fail(int64_t i) {
    const std::lock_guard lock(mutex_);
    if (i < error_at_) error_at_ = i, error_ = std::current_exception();
    next_.store(n_);
  }

  /// False if it is time to poll.
  bool wait_for_helpers() {
    std::unique_lock lock(mutex_);
    const auto all_ended = [this] { return running_ == 0; };
    if (current.poll && !stop_.load()) return changed_.wait_for(lock, poll_interval, all_ended);
    changed_.wait(lock, all_ended);
    return true;
  }

  const size_t n_;
  const std::function<void(size_t)>& work_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  std::exception_ptr error_;
  int64_t error_at_ = std::numeric_limits<int64_t>::max();
  static constexpr int64_t interrupted = -1;  // comes before the errors of all tasks
};

constexpr std::ptrdiff_t block_bytes = 64 << 20;

}  // namespace

Polling::Polling(void (*poll)()) : before_(current.poll) {
  current.poll = poll;
  current.next_poll = Clock::now() + poll_interval;
}

Polling::~Polling() { current.poll = before_; }

void pause_point() {
  if (current.stop && current.stop->load(std::memory_order_relaxed)) throw Stopped{};
  if (current.poll && Clock::now() >= current.next_poll) poll_now();
}

bool has_byte(const char* begin, const char* end, char byte) {
  for (; begin < end; begin += std::min(block_bytes, end - begin)) {
    pause_point();
    if (std::memchr(begin, byte, static_cast<size_t>(std::min(block_bytes, end - begin)))) return true;
  }
  return false;
}

uint64_t count_byte(const char* begin, const char* end, char byte) {
  uint64_t count = 0;
  for (; begin < end; begin += std::min(block_bytes, end - begin)) {
    pause_point();
    count += static_cast<uint64_t>(std::count(begin, begin + std::min(block_bytes, end - begin), byte));
  }
  return count;
}

void in_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& work) {
  threads = static_cast<unsigned>(std::min<size_t>(std::max(threads, 1u), n));
  if (threads > 1) return Tasks(n, work).run(threads);
  for (size_t i = 0; i < n; ++i) {
    pause_point();
    work(i);
  }
}

}  // namespace gg
