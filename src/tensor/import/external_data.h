// Tensors whose bytes are in another file. Why it exists: models beyond 2 GB keep their weights
// beside them; the location comes from the file and is not to be trusted. May touch:
// archive/source_file.h.
//
// Format: TensorProto.external_data holds the keys location (a path relative to the model's
// folder), offset and length (decimal numbers of bytes; by default 0 and the rest of the file).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tensor/graph/stored_tensor.h"

namespace plimsoll::tensor::onnx {

/// The entries of one tensor, as in the file.
struct ExternalEntries {
  std::string location;
  std::optional<std::string> offset;
  std::optional<std::string> length;
};

/// The files below one folder that tensors have named so far, each opened once.
class ExternalFiles {
 public:
  /// `folder` absent: the model is in memory, and external data is an Error(bad_input).
  explicit ExternalFiles(std::optional<std::string> folder) : folder_(std::move(folder)) {}
  /// Where the tensor's `bytes` bytes are. Throws Error(bad_input) when the file is missing,
  /// outside of the folder, too short, or when offset and length are no numbers or do not fit.
  [[nodiscard]] FileRange locate(const ExternalEntries& entries, std::uint64_t bytes);

 private:
  std::optional<std::string> folder_;
  std::map<std::string, std::shared_ptr<const SourceFile>> files_;
};

}  // namespace plimsoll::tensor::onnx
