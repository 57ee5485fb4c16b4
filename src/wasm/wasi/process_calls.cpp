#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>

#include "wasm/wasi/calls.h"

namespace plimsoll::wasm::wasi {
namespace {

constexpr std::uint64_t nanoseconds_in_second = 1'000'000'000;

std::uint64_t text_bytes_of(const std::vector<std::string>& texts) {
  std::uint64_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size() + 1;
  return bytes;
}

Errno put_sizes(const State& state, const std::vector<std::string>& texts, Address count,
                Address text_bytes) {
  const std::uint64_t bytes = text_bytes_of(texts);
  if (bytes > UINT32_MAX) return Errno::overflow;
  const GuestView view = state.view();
  const bool is_written = view.write(count, static_cast<std::uint32_t>(texts.size())) &&
                          view.write(text_bytes, static_cast<std::uint32_t>(bytes));
  return is_written ? Errno::success : Errno::fault;
}

/// The texts one after the other, each with a zero behind it, and where each begins.
Errno put_texts(const State& state, const std::vector<std::string>& texts, Address pointers,
                Address text) {
  const std::uint64_t bytes = text_bytes_of(texts);
  if (bytes > UINT32_MAX) return Errno::overflow;
  const auto pointer_bytes = state.view().bytes(pointers, texts.size() * sizeof(std::uint32_t));
  const auto text_bytes = state.view().bytes(text, bytes);
  if (!pointer_bytes || !text_bytes) return Errno::fault;
  std::size_t offset = 0;
  for (std::size_t index = 0; index < texts.size(); ++index) {
    store(*pointer_bytes, index * sizeof(std::uint32_t), static_cast<std::uint32_t>(text + offset));
    std::memcpy(text_bytes->data() + offset, texts[index].c_str(), texts[index].size() + 1);
    offset += texts[index].size() + 1;
  }
  return Errno::success;
}

std::optional<clockid_t> clock_of(std::uint32_t clock) {
  switch (clock) {
    case 0:
      return CLOCK_REALTIME;
    case 1:
      return CLOCK_MONOTONIC;
    case 2:
      return CLOCK_PROCESS_CPUTIME_ID;
    case 3:
      return CLOCK_THREAD_CPUTIME_ID;
    default:
      return std::nullopt;
  }
}

Errno put_time(const State& state, const timespec& time, Address result) {
  const auto nanoseconds = static_cast<std::uint64_t>(time.tv_sec) * nanoseconds_in_second +
                           static_cast<std::uint64_t>(time.tv_nsec);
  return state.view().write(result, nanoseconds) ? Errno::success : Errno::fault;
}

}  // namespace

Errno args_get(State& state, Address pointers, Address text) {
  return put_texts(state, state.config.arguments, pointers, text);
}

Errno args_sizes_get(State& state, Address count, Address text_bytes) {
  return put_sizes(state, state.config.arguments, count, text_bytes);
}

Errno environ_get(State& state, Address pointers, Address text) {
  return put_texts(state, state.config.environment, pointers, text);
}

Errno environ_sizes_get(State& state, Address count, Address text_bytes) {
  return put_sizes(state, state.config.environment, count, text_bytes);
}

Errno clock_res_get(State& state, std::uint32_t clock, Address result) {
  const auto id = clock_of(clock);
  if (!id) return Errno::invalid;
  timespec time{};
  if (::clock_getres(*id, &time) != 0) return errno_of(errno);
  return put_time(state, time, result);
}

Errno clock_time_get(State& state, std::uint32_t clock, std::uint64_t /*precision*/,
                     Address result) {
  const auto id = clock_of(clock);
  if (!id) return Errno::invalid;
  timespec time{};
  if (::clock_gettime(*id, &time) != 0) return errno_of(errno);
  return put_time(state, time, result);
}

Errno random_get(State& state, Address buffer, Length size) {
  auto bytes = state.view().bytes(buffer, size);
  if (!bytes) return Errno::fault;
  while (!bytes->empty()) {
    // In pieces: a call for much of a guest's memory stays open to interruption.
    constexpr std::size_t piece = 1U << 20U;
    const ssize_t got = ::getrandom(bytes->data(), std::min(bytes->size(), piece), 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno_of(errno);
    }
    *bytes = bytes->subspan(static_cast<std::size_t>(got));
  }
  return Errno::success;
}

Errno sched_yield(State& /*state*/) {
  return ::sched_yield() == 0 ? Errno::success : errno_of(errno);
}

Errno proc_exit(State& /*state*/, std::uint32_t code) {
  throw GuestExit{code};
}

Errno proc_raise(State& /*state*/, std::uint32_t signal) {
  // The numbers up to SIGTERM's are those of Linux; 16, 17, 22 and 27 do nothing unless handled:
  // SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
  constexpr std::uint32_t most = 30;
  constexpr std::uint32_t as_shells_show_signals = 128;
  if (signal > most) return Errno::invalid;
  if (signal == 0 || signal == 16 || signal == 17 || signal == 22 || signal == 27) {
    return Errno::success;
  }
  throw GuestExit{as_shells_show_signals + signal};
}

}  // namespace plimsoll::wasm::wasi
