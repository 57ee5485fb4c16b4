#include "tensor/kernels/thread_pool.h"

#include <pthread.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace plimsoll::tensor::kernels {
namespace {

/// How long a thread watches before it sleeps. A model's steps follow each other within
/// microseconds, and waking a sleeper costs about 50; machines are shared, so no longer.
constexpr std::chrono::microseconds longest_spin{20};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Watches until done() or until the longest spin is over; says which.
template <typename Done>
bool spin(const Done& done) {
  if (done()) return true;
  const auto end = std::chrono::steady_clock::now() + longest_spin;
  do {
    // A pause takes from 10 to 150 cycles: a look at the clock every 8 is often enough.
    for (int i = 0; i < 8; ++i) {
      pause();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// The state of a loop in one word, so that a worker enters only a loop that is still open:
//
//   63 … 32 number of the loop   31 open   30 … 0 workers inside
constexpr std::uint64_t open_bit = std::uint64_t{1} << 31U;
constexpr std::uint64_t inside_mask = open_bit - 1;
constexpr std::uint64_t next_loop = std::uint64_t{1} << 32U;

constexpr std::uint64_t number_of(std::uint64_t word) {
  return word / next_loop;
}

}  // namespace

// A caller writes the loop, then opens it; it closes it when no parts are left, and waits for the
// workers inside. Workers that wake too late find it closed and cost nothing. A thread that is
// about to sleep counts itself first and then looks again; the other side changes the word first
// and then looks for sleepers. All of that is sequentially consistent, so one of them sees the
// other.
struct ThreadPool::State {
  struct Worker {
    State* state = nullptr;
    int number = 0;
    pthread_t thread{};
  };

  std::atomic<std::uint64_t> word{0};
  std::atomic<std::int64_t> next{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> caller_sleeps{false};
  std::atomic<bool> ending{false};
  // Written while no worker is inside.
  const RangeBody* body = nullptr;
  std::int64_t count = 0;
  std::int64_t part = 1;

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;  // for workers
  pthread_cond_t left = PTHREAD_COND_INITIALIZER;  // for the caller

  std::unique_ptr<Worker[]> workers;
  int wanted = 0;  ///< workers
  int running = 0;
  bool started = false;

  void work(int thread) {
    for (;;) {
      const std::int64_t begin = next.fetch_add(part, std::memory_order_relaxed);
      if (begin >= count) return;
      (*body)(begin, std::min(count, begin + part), thread);
    }
  }

  /// Something to do for a worker that has seen loops up to number `seen`.
  bool called(std::uint64_t seen) const {
    const std::uint64_t now = word.load();
    return ((now & open_bit) != 0 && number_of(now) != seen) || ending.load();
  }

  void sleep_until_called(std::uint64_t seen) {
    pthread_mutex_lock(&mutex);
    sleepers.fetch_add(1);
    while (!called(seen)) pthread_cond_wait(&wake, &mutex);
    sleepers.fetch_sub(1);
    pthread_mutex_unlock(&mutex);
  }

  void enter(int thread, std::uint64_t& seen) {
    std::uint64_t now = word.load();
    do {
      if ((now & open_bit) == 0) return;
    } while (!word.compare_exchange_weak(now, now + 1));
    seen = number_of(now);
    work(thread);
    if ((word.fetch_sub(1) & inside_mask) == 1 && caller_sleeps.load()) {
      pthread_mutex_lock(&mutex);
      pthread_cond_signal(&left);
      pthread_mutex_unlock(&mutex);
    }
  }

  static void* loop(void* argument) {
    const Worker& worker = *static_cast<Worker*>(argument);
    State& state = *worker.state;
    std::uint64_t seen = 0;
    for (;;) {
      if (!spin([&] { return state.called(seen); })) state.sleep_until_called(seen);
      if (state.ending.load()) return nullptr;
      state.enter(worker.number, seen);
    }
  }

  void wake_sleepers(std::int64_t most) {
    const int asleep = sleepers.load();
    if (asleep == 0) return;
    pthread_mutex_lock(&mutex);
    if (most >= asleep) {
      pthread_cond_broadcast(&wake);
    } else {
      for (std::int64_t i = 0; i < most; ++i) pthread_cond_signal(&wake);
    }
    pthread_mutex_unlock(&mutex);
  }

  bool all_left() const { return (word.load() & inside_mask) == 0; }

  void wait_until_all_left() {
    if (spin([&] { return all_left(); })) return;
    pthread_mutex_lock(&mutex);
    caller_sleeps.store(true);
    while (!all_left()) pthread_cond_wait(&left, &mutex);
    caller_sleeps.store(false);
    pthread_mutex_unlock(&mutex);
  }

  void run(std::int64_t total, std::int64_t size, const RangeBody& what) {
    body = &what;
    count = total;
    part = size;
    next.store(0, std::memory_order_relaxed);
    word.store((number_of(word.load()) + 1) * next_loop | open_bit);
    wake_sleepers((total + size - 1) / size - 1);
    work(0);
    word.fetch_and(~open_bit);
    wait_until_all_left();
  }

  /// Signals are for the program's own threads.
  void start() {
    started = true;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    while (running < wanted) {
      Worker& worker = workers[static_cast<std::size_t>(running)];
      worker.state = this;
      worker.number = running + 1;
      if (pthread_create(&worker.thread, &attributes, loop, &worker) != 0) break;
      ++running;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void stop() {
    ending.store(true);
    wake_sleepers(running);
    for (int index = 0; index < running; ++index) {
      pthread_join(workers[static_cast<std::size_t>(index)].thread, nullptr);
    }
  }
};

ThreadPool::ThreadPool(int threads) : threads_(std::clamp(threads, 1, max_threads)) {
  if (threads_ == 1) return;
  state_ = std::make_unique<State>();
  state_->wanted = threads_ - 1;
  state_->workers = std::make_unique<State::Worker[]>(static_cast<std::size_t>(threads_ - 1));
}

ThreadPool::~ThreadPool() {
  if (state_ != nullptr) state_->stop();
}

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain, RangeBody body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (threads_ == 1 || count <= grain) {
    body(0, count, 0);
    return;
  }
  State& state = *state_;
  if (!state.started) state.start();
  // Parts of at least `grain`, four a thread so that an interrupted thread delays little.
  const std::int64_t wanted = std::int64_t{threads_} * 4;
  const std::int64_t part = std::max((count - 1) / wanted + 1, grain);
  state.run(count, (part - 1) / grain * grain + grain, body);
}

}  // namespace plimsoll::tensor::kernels
