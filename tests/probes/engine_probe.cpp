// Runs a model in a process that is small at its start, and prints what the kernel says. Why it
// exists: VmRSS and VmHWM are of the whole process, so each measurement needs one of its own. The
// model has one input 'x' of [n, rows] floats.
//
//   engine_probe sessions MODEL N ROWS COUNT   VmRSS before, and after each of COUNT sessions ran
//   engine_probe release MODEL N ROWS          VmRSS with a run's memory, and after release_memory
//   engine_probe added MODEL N ROWS LIMIT   what a run adds to VmHWM under a limit that covers only
//   the
//                                          engine (0: none), and the smallest limit that would work
//   engine_probe overrun MODEL N ROWS LIMIT MIB   owns its process under LIMIT bytes; during the
//   run
//                                              somebody takes MIB without asking; exit 6 if refused
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "plimsoll/engine.h"

namespace {

using plimsoll::Engine;
using plimsoll::EngineOptions;
using plimsoll::Session;

void print(std::uint64_t value) {
  std::printf("%llu ", static_cast<unsigned long long>(value));
}

/// The input's memory is kept as long as the program runs.
void feed(Session& session, std::int64_t n, std::int64_t rows) {
  static std::vector<float> x;
  x.assign(static_cast<std::size_t>(n * rows), 1);
  session.set_input("x", {plimsoll::ElementType::f32, plimsoll::Shape{n, rows},
                          reinterpret_cast<const std::byte*>(x.data())});
}

void run(Session& session) {
  if (auto outcome = session.run(); !outcome) {
    std::fprintf(stderr, "%s\n", outcome.error().to_string().c_str());
    std::exit(4);
  }
}

int sessions(const std::string& path, std::int64_t n, std::int64_t rows, int count) {
  const Engine engine = Engine::create({});
  const auto model = engine.open(path);
  print(Engine::kernel_memory().resident_bytes);
  std::vector<Session> alive;
  for (int index = 0; index < count; ++index) {
    alive.push_back(model.new_session());
    feed(alive.back(), n, rows);
    run(alive.back());
    print(Engine::kernel_memory().resident_bytes);
  }
  return 0;
}

int release(const std::string& path, std::int64_t n, std::int64_t rows) {
  const Engine engine = Engine::create({});
  Session session = engine.open(path).new_session();
  feed(session, n, rows);
  run(session);
  print(Engine::kernel_memory().resident_bytes);
  session.release_memory();
  print(Engine::kernel_memory().resident_bytes);
  return 0;
}

int added(const std::string& path, std::int64_t n, std::int64_t rows, std::uint64_t limit) {
  const std::vector<float> x(static_cast<std::size_t>(n * rows), 1);
  const std::uint64_t before = Engine::kernel_memory().peak_bytes;
  EngineOptions options;
  if (limit != 0) options.memory_limit_bytes = limit;
  const Engine engine = Engine::create(options);
  Session session = engine.open(path).new_session();
  session.set_input("x", {plimsoll::ElementType::f32, plimsoll::Shape{n, rows},
                          reinterpret_cast<const std::byte*>(x.data())});
  const std::uint64_t smallest = session.plan().smallest_workable_limit_bytes;
  run(session);
  print(Engine::kernel_memory().peak_bytes - before);
  print(smallest);
  return 0;
}

int overrun(const std::string& path, std::int64_t n, std::int64_t rows, std::uint64_t limit,
            std::uint64_t mebibytes) {
  std::unique_ptr<char[]> taken;  // NOLINT: raw on purpose, nobody reserves it
  EngineOptions options;
  options.memory_limit_bytes = limit;
  options.limit_covers_process = true;
  options.owns_process = true;
  options.progress = [&](std::string_view phase, double) {
    if (phase != "run" || taken != nullptr) return;
    taken.reset(new char[mebibytes << 20]);  // NOLINT: as above
    std::memset(taken.get(), 1, mebibytes << 20);
  };
  const Engine engine = Engine::create(options);
  Session session = engine.open(path).new_session();
  feed(session, n, rows);
  run(session);
  print(Engine::kernel_memory().peak_bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index) {
    return index < argc ? std::strtoll(argv[index], nullptr, 10) : 0;
  };
  if (argc < 5) return 2;
  const std::string what = argv[1];
  const std::string path = argv[2];
  try {
    if (what == "sessions") {
      return sessions(path, number(3), number(4), static_cast<int>(number(5)));
    }
    if (what == "release") return release(path, number(3), number(4));
    if (what == "added") {
      return added(path, number(3), number(4), static_cast<std::uint64_t>(number(5)));
    }
    if (what == "overrun") {
      return overrun(path, number(3), number(4), static_cast<std::uint64_t>(number(5)),
                     static_cast<std::uint64_t>(number(6)));
    }
  } catch (const plimsoll::Error& error) {
    std::printf("%s\n", error.what());
    return error.kind() == plimsoll::ErrorKind::internal ? 6 : 3;
  }
  return 2;
}
