// Opening archives in tests. May touch: the archive floor, the temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "tensor/archive/archive.h"

namespace plimsoll::tensor::test {

inline std::shared_ptr<const OpenArchive> opened(const std::string& path) {
  return OpenArchive::open(path, memory::Budget::root("test", memory::Budget::unlimited)).value();
}

/// The sentence by which the archive is refused; fails when it is not, or when it blames us.
inline std::string refusal_of(const std::string& path) {
  try {
    (void)opened(path);
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::internal) << error.message();
    EXPECT_NE(error.kind(), ErrorKind::failure) << error.message();
    EXPECT_NE(error.message().find(path), std::string::npos) << error.message();
    return error.message();
  }
  ADD_FAILURE() << path << " was taken";
  return "";
}

inline std::string bytes_of(const OpenArchive& archive, std::size_t entry) {
  std::string bytes(archive.entry(entry).length, '\0');
  archive.read(entry, 0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace plimsoll::tensor::test
