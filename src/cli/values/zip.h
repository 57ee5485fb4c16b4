// Entries of .zip archives, which .npz files are. Why it exists: numpy.savez and savez_compressed
// write several arrays in one file. May touch: byte_source.h; zlib (deflate_source.cpp, zip.cpp's
// checksum). Format: PKWARE's APPNOTE 6.3.10, read from the end:
//
//   … local header, data … | central directory: one record an entry | [zip64 end] | end record
//
// Sizes are taken from the central directory and believed only as far as the file reaches, and for
// compressed entries as far as deflate can expand. The directory is read through a small buffer;
// nothing is kept but the entry that is looked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/values/byte_source.h"

namespace plimsoll::cli {

struct ZipEntry {
  std::string name;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t header_offset = 0;
  std::uint32_t checksum = 0;  ///< CRC-32 of the uncompressed bytes
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

/// The entry of an array: `key` or `key`.npy; an empty key means the only entry. Throws
/// Error(bad_input) for archives that are damaged, and with the names that there are for keys that
/// are not.
[[nodiscard]] ZipEntry find_zip_entry(const InputFile& file, const std::string& key);

/// Its bytes, uncompressed; `finish` checks the checksum. Throws Error(bad_input), and
/// Error(unsupported) for encryption and methods other than "stored" and "deflated".
[[nodiscard]] std::unique_ptr<ByteSource> open_zip_entry(
    const std::shared_ptr<const InputFile>& file, const ZipEntry& entry);

}  // namespace plimsoll::cli
