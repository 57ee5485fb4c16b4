#include "plimsoll/refusal.h"

#include <fmt/format.h>

#include "memory/size.h"

namespace plimsoll {

std::string Refusal::to_string() const {
  std::string text = fmt::format("{} needs {}, ", purpose, memory::format_bytes(requested_bytes));
  text += by_kernel ? fmt::format(
                          "which budget '{}' granted, but the kernel refused to map it (a "
                          "limit on data, address space or overcommit)",
                          budget)
                    : fmt::format("budget '{}' has {} left", budget,
                                  memory::format_bytes(available_bytes));
  if (!stage.empty()) text += fmt::format(" (stage: {})", stage);
  if (smallest_workable_limit_bytes != 0) {
    text += fmt::format("; the smallest limit that would work is {} ({} bytes)",
                        memory::format_bytes(smallest_workable_limit_bytes),
                        smallest_workable_limit_bytes);
  }
  return text;
}

}  // namespace plimsoll
