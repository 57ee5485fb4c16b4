// A tensor that a model carries (initialiser, Constant), as a reference to where its bytes are. Why
// it exists: import never materialises weights. May touch: archive/source_file.h.
//
// The storage type (how bytes lie in the file) is kept apart from the graph type (what the graph
// sees): an archive may bind quantised blocks to an f32 tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "plimsoll/element_type.h"
#include "plimsoll/shape.h"
#include "tensor/archive/source_file.h"

namespace plimsoll::tensor {

/// How the bytes of one tensor are laid out at its source.
struct StorageType {
  enum class Form : std::uint8_t {
    dense,   ///< little-endian elements, row-major
    varint,  ///< protobuf packed varints (int32_data, int64_data, uint64_data): read forward only
    blocks,  ///< quantised blocks along `axis` (GGUF); block_elements elements in block_bytes bytes
  };
  ElementType element = ElementType::undefined;
  Form form = Form::dense;
  std::uint32_t block_elements = 1;
  std::uint32_t block_bytes = 0;
  std::int32_t axis = -1;
  std::uint32_t block_kind = 0;  ///< GGUF's type number where form is blocks

  friend bool operator==(const StorageType&, const StorageType&) = default;
};

/// Bytes in a file.
struct FileRange {
  std::shared_ptr<const SourceFile> file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
/// One value repeated for the whole tensor (ConstantOfShape of a weight, IRPA splats).
struct Splat {
  std::vector<std::byte> pattern;
};
/// Small values that the importer had to decode or that folding produced. Bounded: see
/// graph/folding.
using SmallBytes = std::vector<std::byte>;
/// Not part of the model: bound to an archive entry `scope::key` before planning.
struct Unbound {};
/// A tensor that this build cannot read (int4, complex, strings …). Kept so that a model which
/// carries one without using it still runs; reading it throws Error(unsupported) with `reason`, a
/// sentence. `type` is undefined unless it is string; `shape` holds as far as it could be read.
struct Unreadable {
  std::string reason;
};

struct StoredTensor {
  std::string name;
  ElementType type = ElementType::undefined;  ///< what the graph sees
  Shape shape;
  StorageType storage;
  std::variant<FileRange, SmallBytes, Splat, Unbound, Unreadable> source;

  [[nodiscard]] std::uint64_t bytes() const {
    return checked_bytes(shape, element_size(type), name.c_str());
  }
  [[nodiscard]] std::uint64_t source_bytes() const;  ///< bytes at the source
  /// Decodes elements [first, first + count) into `destination` as `type`, row-major. For varint
  /// storage `first` must be 0. Reads through a stack buffer of 16 KiB at most. A bool is 0 or 1
  /// whatever the file holds. Between floating types the storage type is converted; other
  /// conversions, blocks and Unreadable throw Error(unsupported).
  void read(std::int64_t first, std::int64_t count, std::byte* destination) const;
};

}  // namespace plimsoll::tensor
