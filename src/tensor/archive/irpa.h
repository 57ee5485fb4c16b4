// The layout of IRPA archives, version 0. Why it exists: reader and writer share it. Source: IREE's
// public description of the format (runtime/src/iree/schemas/parameter_archive.h).
// May touch: the standard library.
//
// Little-endian, packed, no implicit padding. Segment offsets and the next header's offset count
// from the header that holds them; an entry's ranges from its segment.
//
//   header, 88 bytes                          entry, 60 bytes, each begins 16-aligned
//     0  u32 magic "IRPA"                       0  u64 entry_size, without the padding after it
//     4  u16 major, u16 minor                   8  u32 type
//     8  u64 header_size                       12  u64 flags
//    16  u64 next_header_offset, 0: none       20  name {u64 offset, u64 length}
//    24  u64 flags                             36  metadata {u64 offset, u64 length}
//    32  u64 entry_count                       52  u64 minimum_alignment
//    40  entries  {u64 offset, u64 length}   splat, 85: 60 u64 length, 68 u8[16] pattern,
//    56  metadata {u64 offset, u64 length}              84 u8 pattern_length
//    72  storage  {u64 offset, u64 length}   data, 76: 60 {u64 offset, u64 length}
//                                            external, 92: 60 path {…}, 76 range of that file {…}
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::tensor::irpa {

inline constexpr std::size_t header_bytes = 88;
inline constexpr std::size_t entry_alignment = 16;
inline constexpr std::size_t entry_bytes = 60;
inline constexpr std::size_t splat_bytes = 85;
inline constexpr std::size_t data_bytes = 76;
inline constexpr std::size_t external_bytes = 92;

enum class EntryType : std::uint32_t { skip = 0, splat = 1, data = 2, external = 3 };

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

}  // namespace plimsoll::tensor::irpa
