// A bound on what a file's structure may take in memory. Why it exists: weights are never read by
// import, so what it holds should be small; but an empty message of two bytes costs hundreds once
// it is a node, and functions that call functions multiply, so a small file could ask for any
// amount. May touch: error.h.
#pragma once

#include <cstdint>

#include "plimsoll/error.h"

namespace plimsoll::tensor {

/// Counts bytes of structure: messages, names, attribute lists, nodes and values. Approximate: what
/// the containers hold, without the heap's own overhead.
class StructureLimit {
 public:
  /// A node takes about a kilobyte with its names and attributes. Exported models have up to some
  /// ten thousand nodes; this allows twenty times that.
  static constexpr std::uint64_t largest = std::uint64_t{256} << 20;

  /// Throws Error(unsupported) when the sum exceeds the bound.
  void charge(std::uint64_t bytes) {
    if (bytes > largest - used_) {
      fail_unsupported(
          "its structure (nodes, names and attributes, without weights) takes more than 256 MiB: "
          "keep large data in tensors, and functions from multiplying");
    }
    used_ += bytes;
  }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }

 private:
  std::uint64_t used_ = 0;
};

}  // namespace plimsoll::tensor
