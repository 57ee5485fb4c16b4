// NumPy's .npy files. Why it exists: inputs and outputs of the command line. May touch: the public
// API only. Format: NumPy's format document, versions 1.0 to 3.0: "\x93NUMPY", major, minor, header
// length (2 bytes in 1.0, else 4), a Python dictionary with descr, fortran_order and shape, data.
#pragma once

#include <cstdint>
#include <string>

#include "plimsoll/tensor_view.h"

namespace plimsoll::cli {

/// What a header says, checked against the file's size.
struct NpyHeader {
  ElementType type = ElementType::undefined;
  Shape shape;
  std::uint64_t data_offset = 0;
};

/// Parses the first bytes of a file of `file_bytes` bytes. Throws Error(bad_input) naming `what`.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view head, std::uint64_t file_bytes,
                                         const std::string& what);
/// Writes a tensor; bf16 goes out as f32. Throws Error(failure) for a disk that is full and the
/// like.
void write_npy(const std::string& path, const ConstTensorView& tensor);

}  // namespace plimsoll::cli
