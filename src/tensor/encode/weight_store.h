// The encoded weights of a model, each held once. Why it exists: sessions share weights, and a
// weight is encoded through a bounded window so that source and result are never both in memory.
// May touch: encoding.h, source_walk.h, memory/.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/budget.h"
#include "tensor/encode/encoding.h"
#include "tensor/graph/program.h"

namespace plimsoll::tensor {

/// Thread-safe. Weights stay as long as the store or a session holds them.
class WeightStore {
 public:
  explicit WeightStore(std::shared_ptr<memory::Budget> budget);

  /// The encoded weight; made now if it is not there. `window` is the staging memory.
  [[nodiscard]] std::expected<std::shared_ptr<const EncodedWeight>, Refusal> get(
      const WeightView& view, const Encoding& encoding, std::span<std::byte> window);
  /// The encoded weight where it is there already.
  [[nodiscard]] std::shared_ptr<const EncodedWeight> find(const WeightView& view,
                                                          const Encoding& encoding) const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Entry {
    WeightView view;
    std::shared_ptr<const EncodedWeight> weight;
  };
  std::shared_ptr<memory::Budget> budget_;
  std::mutex encoding_mutex_;  ///< held while a weight is made
  mutable std::mutex mutex_;   ///< of entries_
  std::vector<Entry> entries_;
};

/// Encodes into `destination` (encoding.bytes bytes, zeroed). Throws Error for a source that cannot
/// be read.
void encode_weight(const WeightView& view, const Encoding& encoding, std::span<std::byte> window,
                   std::byte* destination);

}  // namespace plimsoll::tensor
