// Deflated bytes of a file. Why it exists: compressed arrays are unpacked straight to where they
// will live, through a small window. May touch: byte_source.h; zlib (in its .cpp only).
#pragma once

#include <memory>

#include "cli/values/byte_source.h"

namespace plimsoll::cli {

/// Raw deflate (RFC 1951), `compressed_bytes` at `offset`, which must lie in the file. Holds 16 KiB
/// of input and zlib's window of 40 KiB. `finish` checks length and CRC-32.
class DeflateSource final : public ByteSource {
 public:
  DeflateSource(std::string name, std::shared_ptr<const InputFile> file, std::uint64_t offset,
                std::uint64_t compressed_bytes, std::uint64_t bytes, std::uint32_t checksum);
  ~DeflateSource() override;
  void finish() override;

 private:
  struct Stream;
  void read_some(std::span<std::byte> destination) override;
  std::shared_ptr<const InputFile> file_;
  std::uint64_t offset_;
  std::uint64_t compressed_left_;
  std::uint32_t wanted_;
  std::uint32_t checksum_ = 0;
  std::unique_ptr<Stream> stream_;
};

}  // namespace plimsoll::cli
