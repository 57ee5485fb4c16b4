// Numbers and layouts of WASI preview 1. Why it exists: guests are compiled against them. Source:
// the interface "wasi_snapshot_preview1" (WebAssembly/WASI, legacy/preview1). May touch: the
// standard library.
//
// Structures are written field by field at these offsets, little-endian:
//   fdstat 24        0 filetype u8 · 2 flags u16 · 8 rights u64 · 16 inheriting rights u64
//   prestat 8        0 tag u8 (0: directory) · 4 length of the name u32
//   filestat 64      0 device u64 · 8 inode u64 · 16 filetype u8 · 24 links u64 · 32 size u64 ·
//                    40 accessed u64 · 48 modified u64 · 56 changed u64 (nanoseconds)
//   dirent 24        0 next cookie u64 · 8 inode u64 · 16 length of the name u32 · 20 filetype u8
//   subscription 48  0 user data u64 · 8 tag u8 · clock: 16 id u32 · 24 timeout u64 ·
//                    32 precision u64 · 40 flags u16; reading, writing: 16 descriptor u32
//   event 32         0 user data u64 · 8 errno u16 · 10 tag u8 · 16 bytes u64 · 24 flags u16
//   iovec 8          0 address u32 · 4 length u32
#pragma once

#include <cstdint>

namespace plimsoll::wasm::wasi {

enum class Errno : std::uint16_t {
  success = 0,
  too_big = 1,
  access = 2,
  again = 6,
  bad_descriptor = 8,
  busy = 10,
  quota = 19,
  exists = 20,
  fault = 21,
  file_too_big = 22,
  illegal_bytes = 25,
  interrupted = 27,
  invalid = 28,
  io = 29,
  is_directory = 31,
  loop = 32,
  descriptors_of_process = 33,
  too_many_links = 34,
  name_too_long = 37,
  descriptors_of_system = 41,
  no_device = 43,
  no_entry = 44,
  no_memory = 48,
  no_space = 51,
  no_system_call = 52,
  not_directory = 54,
  not_empty = 55,
  not_socket = 57,
  not_supported = 58,
  not_terminal = 59,
  no_such_device = 60,
  overflow = 61,
  not_permitted = 63,
  pipe = 64,
  range = 68,
  read_only = 69,
  no_seek = 70,
  timed_out = 73,
  text_busy = 74,
  crosses_devices = 75,
  not_capable = 76,
};

enum class FileType : std::uint8_t {
  unknown = 0,
  block_device = 1,
  character_device = 2,
  directory = 3,
  regular_file = 4,
  datagram_socket = 5,
  stream_socket = 6,
  symbolic_link = 7,
};

using Rights = std::uint64_t;
namespace rights {
inline constexpr Rights datasync = 1U << 0U;
inline constexpr Rights read = 1U << 1U;
inline constexpr Rights seek = 1U << 2U;
inline constexpr Rights set_flags = 1U << 3U;
inline constexpr Rights sync = 1U << 4U;
inline constexpr Rights tell = 1U << 5U;
inline constexpr Rights write = 1U << 6U;
inline constexpr Rights advise = 1U << 7U;
inline constexpr Rights allocate = 1U << 8U;
inline constexpr Rights path_create_directory = 1U << 9U;
inline constexpr Rights path_create_file = 1U << 10U;
inline constexpr Rights path_link_source = 1U << 11U;
inline constexpr Rights path_link_target = 1U << 12U;
inline constexpr Rights path_open = 1U << 13U;
inline constexpr Rights readdir = 1U << 14U;
inline constexpr Rights path_readlink = 1U << 15U;
inline constexpr Rights path_rename_source = 1U << 16U;
inline constexpr Rights path_rename_target = 1U << 17U;
inline constexpr Rights path_filestat_get = 1U << 18U;
inline constexpr Rights path_filestat_set_size = 1U << 19U;
inline constexpr Rights path_filestat_set_times = 1U << 20U;
inline constexpr Rights filestat_get = 1U << 21U;
inline constexpr Rights filestat_set_size = 1U << 22U;
inline constexpr Rights filestat_set_times = 1U << 23U;
inline constexpr Rights path_symlink = 1U << 24U;
inline constexpr Rights path_remove_directory = 1U << 25U;
inline constexpr Rights path_unlink_file = 1U << 26U;
inline constexpr Rights poll = 1U << 27U;

/// What makes sense for a file, and for a directory.
inline constexpr Rights of_file = datasync | read | seek | set_flags | sync | tell | write |
                                  advise | allocate | filestat_get | filestat_set_size |
                                  filestat_set_times | poll;
inline constexpr Rights of_directory =
    datasync | set_flags | sync | path_create_directory | path_create_file | path_link_source |
    path_link_target | path_open | readdir | path_readlink | path_rename_source |
    path_rename_target | path_filestat_get | path_filestat_set_size | path_filestat_set_times |
    filestat_get | filestat_set_times | path_symlink | path_remove_directory | path_unlink_file;
}  // namespace rights

namespace descriptor_flags {
inline constexpr std::uint16_t append = 1;
inline constexpr std::uint16_t dsync = 2;
inline constexpr std::uint16_t nonblock = 4;
inline constexpr std::uint16_t rsync = 8;
inline constexpr std::uint16_t sync = 16;
inline constexpr std::uint16_t all = 31;
}  // namespace descriptor_flags

inline constexpr std::uint64_t fdstat_bytes = 24;
inline constexpr std::uint64_t prestat_bytes = 8;
inline constexpr std::uint64_t filestat_bytes = 64;
inline constexpr std::uint64_t dirent_bytes = 24;
inline constexpr std::uint64_t subscription_bytes = 48;
inline constexpr std::uint64_t event_bytes = 32;
inline constexpr std::uint64_t iovec_bytes = 8;

/// Of what a system call left in `errno`.
[[nodiscard]] Errno errno_of(int system_error) noexcept;

}  // namespace plimsoll::wasm::wasi
