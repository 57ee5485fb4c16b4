// NumPy's .npy files. Why it exists: arrays come and go in them. May touch: byte_source.h, the
// public API. Format: NumPy's "NEP 1" and its format documentation, versions 1.0 to 3.0:
//
//   0  "\x93NUMPY"
//   6  major version, minor version
//   8  length of the header: 2 bytes in version 1, 4 from version 2 on, little-endian
//   .  the header: a Python dictionary with 'descr', 'fortran_order' and 'shape'
//   .  the elements
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/values/byte_source.h"
#include "plimsoll/tensor_view.h"

namespace plimsoll::cli {

/// What a header's dictionary says.
struct NpyHeader {
  ElementType type = ElementType::undefined;
  Shape shape;
  bool big_endian = false;
  bool column_major = false;  ///< "fortran_order": the first dimension is contiguous
};

/// Parses the dictionary. Throws Error(bad_input) naming `name`.
[[nodiscard]] NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name);

/// An array being read. The header is read at once and checked against the bytes that there are,
/// the elements when they are asked for.
class NpyReader {
 public:
  /// Throws Error(bad_input).
  explicit NpyReader(std::unique_ptr<ByteSource> source);

  [[nodiscard]] ElementType type() const noexcept { return header_.type; }
  [[nodiscard]] const Shape& shape() const noexcept { return header_.shape; }
  /// Once: reads all elements, row-major and in this machine's byte order, to a tensor of the same
  /// shape. Its type is the array's, or bf16 for an array of f32: .npy has no bf16. Nothing but the
  /// destination and a buffer of 64 KiB is touched. Throws Error(bad_input).
  void read(TensorView destination);

 private:
  std::unique_ptr<ByteSource> source_;
  NpyHeader header_;
};

/// Writes a tensor, version 1.0, row-major; bf16 goes out as f32. Throws Error(failure) for a full
/// disk and the like.
void write_npy(const std::string& path, const ConstTensorView& tensor);

}  // namespace plimsoll::cli
