#include "wasm/runtime/signals.h"

#include <fmt/format.h>
#include <signal.h>  // NOLINT: POSIX's, not C++'s
#include <ucontext.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "code/code_ranges.h"
#include "plimsoll/error.h"
#include "wasm/runtime/trap.h"

namespace plimsoll::wasm {
namespace {

constexpr std::array<int, 4> caught = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
std::array<struct sigaction, caught.size()> previous;
constinit thread_local StoreContext* store_of_thread = nullptr;

const struct sigaction& previous_of(int signal) noexcept {
  for (std::size_t index = 0; index < caught.size(); ++index) {
    if (caught[index] == signal) return previous[index];
  }
  return previous[0];
}

/// Continues the thread at the exit of its activation; false where this is no trap of a guest.
bool turn_into_trap(ucontext_t& machine) noexcept {
  StoreContext* store = store_of_thread;
  if (store == nullptr || store->activation == nullptr) return false;
  auto* registers = machine.uc_mcontext.gregs;
  const auto address = static_cast<std::uintptr_t>(registers[REG_RIP]);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that came as a number
  const code::CodeOwner* owner = code::find_code_owner(reinterpret_cast<const void*>(address));
  if (owner == nullptr) return false;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that came as a number
  const int kind = owner->trap_kind_at(reinterpret_cast<const std::byte*>(address));
  if (kind < 0) return false;
  Activation& activation = *store->activation;
  if (kind != static_cast<int>(TrapKind::recorded)) {
    activation.trap_kind = static_cast<std::uint32_t>(kind);
  }
  activation.trap_address = address;
  registers[REG_RIP] = static_cast<greg_t>(activation.trap_exit);
  registers[REG_RSP] = static_cast<greg_t>(activation.stack_pointer);
  registers[REG_RBP] = static_cast<greg_t>(activation.frame_pointer);
  return true;
}

void handle(int signal, siginfo_t* information, void* context) {
  if (turn_into_trap(*static_cast<ucontext_t*>(context))) return;
  const struct sigaction& before = previous_of(signal);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, information, context);
  } else if (before.sa_handler == SIG_IGN) {
    return;
  } else if (before.sa_handler != SIG_DFL) {
    before.sa_handler(signal);
  } else {
    // The default ends the process: let the fault happen again under it.
    ::sigaction(signal, &before, nullptr);
  }
}

}  // namespace

void install_trap_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (std::size_t index = 0; index < caught.size(); ++index) {
      struct sigaction action{};
      action.sa_sigaction = handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      if (::sigaction(caught[index], &action, &previous[index]) != 0) {
        throw Error(ErrorKind::failure, fmt::format("the handler of signal {} cannot be set: {}",
                                                    caught[index], std::strerror(errno)));
      }
    }
  });
}

void set_running_store(StoreContext* store) noexcept {
  store_of_thread = store;
}
StoreContext* running_store() noexcept {
  return store_of_thread;
}

}  // namespace plimsoll::wasm
