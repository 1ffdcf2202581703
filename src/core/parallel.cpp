#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_time.hpp"

namespace gg {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_interval = std::chrono::milliseconds(20);

struct ThreadState {
  void (*poll)() = nullptr;
  std::atomic<bool>* stop = nullptr;  // shared by all threads of one piece of work
  Clock::time_point next_poll;
  std::exception_ptr reason;  // why work on this thread was stopped
};

thread_local ThreadState current;

void poll_now() {
  current.next_poll = Clock::now() + poll_interval;
  try {
    current.poll();
  } catch (...) {
    current.reason = std::current_exception();
    if (current.stop) current.stop->store(true);
    throw Stopped{};
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
    loop();
    while (!wait_for_helpers()) {
      try {
        poll_now();
      } catch (const Stopped&) {  // the helpers will notice, too
      }
    }
    current.stop = before;
    for (std::thread& helper : helpers) helper.join();
    if (stop_.load()) throw Stopped{};
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void help() {
    current = {nullptr, &stop_, {}, {}};
    loop();
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  void loop() {
    const uint64_t before = thread_cpu_time();
    for (size_t i; (i = next_.fetch_add(1)) < n_;) {
      try {
        pause_point();
        work_(i);
      } catch (const Stopped&) {
        next_.store(n_);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (i < error_at_) error_at_ = i, error_ = std::current_exception();
        next_.store(n_);
      }
    }
    shared_cpu_time += thread_cpu_time() - before;
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
  size_t error_at_ = std::numeric_limits<size_t>::max();  // of the first task that failed, whatever the timing
};

constexpr unsigned most_threads = 512;  // more only cost memory

}  // namespace

Polling::Polling(void (*poll)()) : before_(current.poll) {
  current.poll = poll;
  current.next_poll = Clock::now() + poll_interval;
}

Polling::~Polling() { current.poll = before_; }

std::exception_ptr reason_to_stop() { return std::exchange(current.reason, nullptr); }

void pause_point() {
  if (current.stop && current.stop->load(std::memory_order_relaxed)) throw Stopped{};
  if (current.poll && Clock::now() >= current.next_poll) poll_now();
}

void in_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& work) {
  threads = static_cast<unsigned>(std::min<size_t>(std::clamp(threads, 1u, most_threads), n));
  if (threads > 1) return Tasks(n, work).run(threads);
  for (size_t i = 0; i < n; ++i) {
    pause_point();
    work(i);
  }
}

}  // namespace gg
