// Paths of guests, resolved inside a directory. Why it exists: no path leads out of the directories
// that a guest was given. May touch: abi.h, descriptors.h, guest_view.h, openat2.
//
// The kernel resolves with RESOLVE_BENEATH: "..", absolute paths and symbolic links that lead out
// are refused while it walks, so that a link that is swapped meanwhile changes nothing. What names
// an entry (creating, removing, renaming) is done in two steps: the folder is opened that way, then
// the call is made on its descriptor with one plain name, which is never ".." and never followed.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "wasm/wasi/abi.h"
#include "wasm/wasi/descriptors.h"
#include "wasm/wasi/guest_view.h"

namespace plimsoll::wasm::wasi {

/// Copies a path out of the guest's memory: fault, no_entry where it is empty, name_too_long,
/// invalid where it holds a zero.
[[nodiscard]] std::expected<std::string, Errno> path_of(const GuestView& view,
                                                        std::uint32_t address,
                                                        std::uint32_t length);

/// openat2 with `flags` of open; O_CLOEXEC is added. Errno::not_permitted for a path that leads
/// out.
[[nodiscard]] std::expected<HostFile, Errno> open_beneath(int directory, const std::string& path,
                                                          int flags, std::uint32_t mode = 0);

/// An entry that is there or not.
struct Entry {
  HostFile folder;                 ///< O_PATH
  std::string name;                ///< without '/', and neither "." nor ".."
  bool must_be_directory = false;  ///< the path ended in '/'
};
/// Errno::busy for a path that ends in "." or "..".
[[nodiscard]] std::expected<Entry, Errno> locate(int directory, const std::string& path);

/// Says at once whether the kernel has openat2. Throws Error(unsupported).
void require_confinement(int directory);

}  // namespace plimsoll::wasm::wasi
