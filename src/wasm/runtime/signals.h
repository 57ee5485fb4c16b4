// Faults of guests as traps. Why it exists: bounds are checked by the memory's guard and traps are
// `ud2`, so a signal is how they arrive. May touch: sigaction, code/code_ranges.h, context.h.
#pragma once

#include "wasm/runtime/context.h"

namespace plimsoll::wasm {

/// Installs handlers for SIGSEGV, SIGBUS, SIGILL and SIGFPE, once for the process. They act only
/// for a known trap site in registered code, on a thread that runs a guest; everything else goes to
/// the handler that was there before. Throws Error(failure).
void install_trap_handlers();

/// The store whose guests this thread runs now; null where none. Read by the handlers.
void set_running_store(StoreContext* store) noexcept;
[[nodiscard]] StoreContext* running_store() noexcept;

}  // namespace plimsoll::wasm
