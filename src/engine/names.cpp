#include "plimsoll/engine.h"

namespace plimsoll {

std::string_view verdict_name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::fits_with_measures:
      return "fits-with-measures";
    case Verdict::fits_so_far:
      return "fits-so-far";
    case Verdict::does_not_fit:
      return "does-not-fit";
  }
  return "?";
}

}  // namespace plimsoll
