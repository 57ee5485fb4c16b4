// WASI preview 1: the system as guests see it. Why it exists: programs compiled for wasm32-wasi
// import "wasi_snapshot_preview1". May touch: runtime/store.h, runtime/instance.h.
//
// A guest reaches: the arguments and the environment given here, clocks, random bytes, three
// streams, and the directories given here. Every address and length it passes is checked before
// use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wasm/runtime/instance.h"
#include "wasm/runtime/store.h"

namespace plimsoll::wasm {

namespace wasi {
struct State;
}

/// A directory of the host under the name that the guest knows it by.
struct WasiDirectory {
  std::string host;
  std::string guest;
};

struct WasiConfig {
  std::vector<std::string> arguments;      ///< the program's name first
  std::vector<std::string> environment;    ///< "NAME=VALUE"
  std::array<int, 3> streams = {0, 1, 2};  ///< descriptors of the host, borrowed
  std::vector<WasiDirectory> directories;  ///< guests read and write all below them
};

/// Thrown through Store::call when the guest ends itself (`proc_exit`, `proc_raise`).
struct GuestExit {
  std::uint32_t code = 0;
};

/// The imports of one guest. One thread at a time. A stream that is a pipe must not raise SIGPIPE:
/// who runs guests ignores that signal.
class Wasi {
 public:
  static constexpr std::string_view module_name = "wasi_snapshot_preview1";

  /// Opens the directories. Throws Error(bad_input) naming one that cannot be opened.
  explicit Wasi(WasiConfig config);
  /// The call of this name as a function of the store; null where preview 1 has none. The function
  /// keeps what it needs alive.
  [[nodiscard]] FunctionRecord* find(Store& store, std::string_view name) const;
  /// From here on addresses are those of the memory that the instance exports as "memory". Before,
  /// and where there is none, calls that take an address return the error `fault`.
  void attach(const Instance& instance);

 private:
  std::shared_ptr<wasi::State> state_;
};

}  // namespace plimsoll::wasm
