// What a file is that is plainly no model. Why it exists: most damaged models are no models at all
// (a pointer of Git LFS, an error page saved under the model's name), and naming that helps more
// than the byte where decoding stopped. May touch: archive/source_file.h.
#pragma once

#include <string>

#include "tensor/archive/source_file.h"

namespace plimsoll::tensor {

/// "a Git LFS pointer …: run 'git lfs pull' …": what it is and what to do; empty when nothing is
/// recognised. Reads at most 256 bytes.
[[nodiscard]] std::string describe_wrong_file(const SourceFile& file);

}  // namespace plimsoll::tensor
