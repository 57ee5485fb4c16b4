// Opening a file below a folder and never outside of it. Why it exists: a model names its external
// data by a path that comes from outside; a crafted one must not reach other files. May touch:
// POSIX files, error.h.
//
// The path is walked one component at a time on open descriptors (O_PATH | O_NOFOLLOW), symbolic
// links are expanded here, and ".." may go up to the folder but not above it. This is what Linux's
// openat2(RESOLVE_BENEATH) does (man 2 openat2), which older kernels and some sandboxes lack.
#pragma once

#include <string>

#include "tensor/archive/file_descriptor.h"

namespace plimsoll::tensor {

/// A descriptor of the file, opened for reading. Throws Error(bad_input) when
/// the location is empty, absolute, holds a ".." component or a NUL, when a symbolic link leads
/// outside, and for all that makes a file impossible to open.
[[nodiscard]] FileDescriptor open_descriptor_below(const std::string& folder,
                                                   const std::string& location);

/// Throws the Error for `path` that could not be opened with this errno: bad_input where the path
/// is to blame, failure where the system is.
[[noreturn]] void fail_to_open(const std::string& path, int error);

}  // namespace plimsoll::tensor
