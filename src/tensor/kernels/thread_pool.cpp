#include "tensor/kernels/thread_pool.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::tensor::kernels {
namespace {

/// Workers watch for the next loop this long before they sleep. A model's steps follow each other
/// within microseconds, and waking a sleeper costs about 50 µs; machines are shared, so no longer.
constexpr int spins_before_sleep = 2000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  std::atomic<std::uint64_t> generation{0};
  std::atomic<int> busy{0};
  std::atomic<bool> ending{false};
  std::atomic<std::int64_t> next{0};
  // Written by the caller before `generation` changes, read by workers after.
  const RangeBody* body = nullptr;
  std::int64_t count = 0;
  std::int64_t part = 1;

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

  struct Worker {
    State* state = nullptr;
    int number = 0;
    pthread_t thread{};
    bool started = false;
  };
  std::unique_ptr<Worker[]> workers;  // NOLINT: sized once, never moved
  bool started = false;

  void work(int thread) {
    for (;;) {
      const std::int64_t begin = next.fetch_add(part, std::memory_order_relaxed);
      if (begin >= count) return;
      (*body)(begin, std::min(count, begin + part), thread);
    }
  }

  static void* loop(void* argument) {
    auto* worker = static_cast<Worker*>(argument);
    State& state = *worker->state;
    std::uint64_t seen = 0;
    for (;;) {
      int spins = 0;
      while (state.generation.load(std::memory_order_acquire) == seen) {
        if (++spins < spins_before_sleep) {
          pause();
          continue;
        }
        pthread_mutex_lock(&state.mutex);
        while (state.generation.load(std::memory_order_acquire) == seen) {
          pthread_cond_wait(&state.wake, &state.mutex);
        }
        pthread_mutex_unlock(&state.mutex);
      }
      ++seen;
      if (state.ending.load(std::memory_order_acquire)) return nullptr;
      state.work(worker->number);
      state.busy.fetch_sub(1, std::memory_order_release);
    }
  }

  void announce() {
    pthread_mutex_lock(&mutex);
    generation.fetch_add(1, std::memory_order_release);
    pthread_cond_broadcast(&wake);
    pthread_mutex_unlock(&mutex);
  }

  void stop(int threads) {
    ending.store(true, std::memory_order_release);
    announce();
    for (int index = 0; index + 1 < threads; ++index) {
      if (workers[index].started) pthread_join(workers[index].thread, nullptr);
    }
  }

  void start(int threads) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    int failure = 0;
    for (int index = 0; index + 1 < threads && failure == 0; ++index) {
      workers[index].state = this;
      workers[index].number = index + 1;
      failure = pthread_create(&workers[index].thread, &attributes, loop, &workers[index]);
      workers[index].started = failure == 0;
    }
    pthread_attr_destroy(&attributes);
    started = true;
    if (failure != 0) {
      throw Error(ErrorKind::failure, fmt::format("a thread cannot be started: {}; use fewer with "
                                                  "--threads",
                                                  std::strerror(failure)));
    }
  }
};

ThreadPool::ThreadPool(int threads) : threads_(std::clamp(threads, 1, max_threads)) {
  if (threads_ == 1) return;
  state_ = std::make_unique<State>();
  state_->workers = std::make_unique<State::Worker[]>(static_cast<std::size_t>(threads_ - 1));
}

ThreadPool::~ThreadPool() {
  if (state_ != nullptr && state_->started) state_->stop(threads_);
}

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain, RangeBody body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (threads_ == 1 || count <= grain) {
    body(0, count, 0);
    return;
  }
  State& state = *state_;
  if (!state.started) state.start(threads_);  // first use: an idle pool costs no thread
  // Parts of at least `grain`, four a thread so that an interrupted thread delays little.
  const std::int64_t wanted = std::int64_t{threads_} * 4;
  std::int64_t part = (count + wanted - 1) / wanted;
  part = (std::max(part, grain) + grain - 1) / grain * grain;
  state.body = &body;
  state.count = count;
  state.part = part;
  state.next.store(0, std::memory_order_relaxed);
  state.busy.store(threads_ - 1, std::memory_order_relaxed);
  state.announce();
  state.work(0);
  while (state.busy.load(std::memory_order_acquire) != 0) pause();
}

}  // namespace plimsoll::tensor::kernels
