// The two JSON texts of safetensors, read as a stream of what matters. Why it exists: a header may
// have 100 MB, and a document of it would take many times that. May touch: file_window.h,
// nlohmann-json (in the .cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tensor/archive/file_window.h"

namespace plimsoll::tensor {

/// One tensor of a header, as it is written there.
struct SafetensorsTensor {
  std::string key;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> data_offsets;
  bool has_dtype = false;
  bool has_shape = false;
};

/// Where a JSON text lies in its file.
struct JsonRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Calls `take` for each tensor in order, until it returns false, which is then returned. Throws
/// Error(bad_input) for what is no JSON or no header. Strings are limited to 4 MiB, lists to 64.
[[nodiscard]] bool read_safetensors_header(
    const SourceFile& file, JsonRange text,
    const std::function<bool(const SafetensorsTensor&)>& take);

/// The same for "weight_map" of a sharded index: key and file name.
[[nodiscard]] bool read_weight_map(
    const SourceFile& file, JsonRange text,
    const std::function<bool(const std::string& key, const std::string& shard)>& take);

}  // namespace plimsoll::tensor
