// Running out of budget, as a value. Why it exists: the limit is the contract, so "it does not fit"
// is an answer the caller branches on and never an exception that crosses the public API.
// May touch: the standard library only.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll {

/// Why a claim on a budget was not granted. Nothing was taken, nothing has changed.
struct Refusal {
  std::string budget;                 ///< path of the budget that refused: "process/session/window"
  std::string purpose;                ///< who asked: "activations of mlsd_512x512_large"
  std::uint64_t requested_bytes = 0;  ///< what was asked for
  std::uint64_t available_bytes = 0;  ///< what that budget could still give
  /// The smallest limit (bytes) that would work, where a plan knows it; 0 where unknown.
  std::uint64_t smallest_workable_limit_bytes = 0;
  std::string stage;  ///< the part of the run that was refused; empty before anything ran
  /// The ledger granted it and the kernel did not: a limit set from outside (ulimit, overcommit),
  /// or under the command line's own data limit a mistake of ours.
  bool by_kernel = false;

  /// One sentence with all of the above.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace plimsoll
