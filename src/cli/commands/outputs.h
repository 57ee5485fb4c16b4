// Outputs of a finished run. May touch: the public API, the .npy writer.
#pragma once

#include <string>
#include <vector>

#include "cli/report/report.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// Describes every output and writes those that have a file in `files` (one entry for each of the
/// model's outputs). The items of a sequence go to numbered files: "out.npy" → "out.0.npy" … Throws
/// Error(failure) when a file cannot be written.
[[nodiscard]] std::vector<OutputReport> collect_outputs(const Session& session,
                                                        const ModelInfo& info,
                                                        const std::vector<std::string>& files);

}  // namespace plimsoll::cli
