#include "wasm/wasi/wasi.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "plimsoll/error.h"
#include "wasm/wasi/calls.h"
#include "wasm/wasi/state.h"

namespace plimsoll::wasm {
namespace {

using wasi::Errno;
using wasi::State;

/// A call by name, with what imports it needs to know.
struct Call {
  std::string_view name;
  std::vector<ValueType> parameters;
  bool has_result = true;
  std::function<Errno(State&, std::span<const Cell>)> perform;
};

template <typename Number>
constexpr ValueType type_of() {
  static_assert(sizeof(Number) == 4 || sizeof(Number) == 8);
  return sizeof(Number) == 4 ? i32_type : i64_type;
}

template <typename... Numbers>
Call make_call(std::string_view name, Errno (*function)(State&, Numbers...)) {
  Call call;
  call.name = name;
  call.parameters = {type_of<Numbers>()...};
  call.perform = [function](State& state, std::span<const Cell> cells) {
    // The upper half of an i32's cell is undefined: the cast drops it.
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return function(state, static_cast<Numbers>(cells[Index].low)...);
    }(std::index_sequence_for<Numbers...>{});
  };
  return call;
}

std::vector<Call> make_calls() {
  using namespace wasi;  // NOLINT(google-build-using-namespace): the list below is all of it
  std::vector<Call> calls;
  const auto add = [&calls](std::string_view name, auto function) {
    calls.push_back(make_call(name, function));
  };
  add("args_get", args_get);
  add("args_sizes_get", args_sizes_get);
  add("environ_get", environ_get);
  add("environ_sizes_get", environ_sizes_get);
  add("clock_res_get", clock_res_get);
  add("clock_time_get", clock_time_get);
  add("random_get", random_get);
  add("sched_yield", wasi::sched_yield);
  add("proc_exit", proc_exit);
  calls.back().has_result = false;
  add("proc_raise", proc_raise);
  add("fd_read", fd_read);
  add("fd_write", fd_write);
  add("fd_pread", fd_pread);
  add("fd_pwrite", fd_pwrite);
  add("fd_seek", fd_seek);
  add("fd_tell", fd_tell);
  add("fd_close", fd_close);
  add("fd_renumber", fd_renumber);
  add("fd_fdstat_get", fd_fdstat_get);
  add("fd_fdstat_set_flags", fd_fdstat_set_flags);
  add("fd_fdstat_set_rights", fd_fdstat_set_rights);
  add("fd_prestat_get", fd_prestat_get);
  add("fd_prestat_dir_name", fd_prestat_dir_name);
  add("fd_advise", fd_advise);
  add("fd_allocate", fd_allocate);
  add("fd_sync", fd_sync);
  add("fd_datasync", fd_datasync);
  add("fd_filestat_get", fd_filestat_get);
  add("fd_filestat_set_size", fd_filestat_set_size);
  add("fd_filestat_set_times", fd_filestat_set_times);
  add("fd_readdir", fd_readdir);
  add("path_open", path_open);
  add("path_create_directory", path_create_directory);
  add("path_remove_directory", path_remove_directory);
  add("path_unlink_file", path_unlink_file);
  add("path_rename", path_rename);
  add("path_link", path_link);
  add("path_symlink", path_symlink);
  add("path_readlink", path_readlink);
  add("path_filestat_get", path_filestat_get);
  add("path_filestat_set_times", path_filestat_set_times);
  add("poll_oneoff", poll_oneoff);
  add("sock_accept", sock_accept);
  add("sock_recv", sock_recv);
  add("sock_send", sock_send);
  add("sock_shutdown", sock_shutdown);
  return calls;
}

const std::vector<Call>& all_calls() {
  static const std::vector<Call> calls = make_calls();
  return calls;
}

}  // namespace

Wasi::Wasi(WasiConfig config) : state_(std::make_shared<State>()) {
  state_->config = std::move(config);
  for (std::size_t stream = 0; stream < state_->config.streams.size(); ++stream) {
    auto descriptor = wasi::standard_stream(state_->config.streams[stream], stream == 0);
    if (!state_->descriptors.insert(std::move(descriptor))) fail_internal("no room for a stream");
  }
  for (const WasiDirectory& directory : state_->config.directories) {
    if (!state_->descriptors.insert(wasi::given_directory(directory.host, directory.guest))) {
      fail_input(fmt::format("a guest has {} files open at most, and directories count",
                             wasi::DescriptorTable::most));
    }
  }
}

FunctionRecord* Wasi::find(Store& store, std::string_view name) const {
  const auto& calls = all_calls();
  const auto found = std::ranges::find(calls, name, &Call::name);
  if (found == calls.end()) return nullptr;
  const std::vector<ValueType> results(found->has_result ? 1 : 0, i32_type);
  return store.add_host_function(
      found->parameters, results,
      [state = state_, call = &*found](std::span<const Cell> cells, std::span<Cell> result) {
        Errno error = Errno::success;
        try {
          error = call->perform(*state, cells);
        } catch (const std::bad_alloc&) {
          error = Errno::no_memory;
        }
        if (!result.empty()) result[0] = {static_cast<std::uint64_t>(error), 0};
        return TrapKind::none;
      });
}

void Wasi::attach(const Instance& instance) {
  const auto found = instance.find_export("memory");
  GuestMemory* const* const memory = found ? std::get_if<GuestMemory*>(&*found) : nullptr;
  state_->memory = memory == nullptr ? nullptr : *memory;
}

}  // namespace plimsoll::wasm
