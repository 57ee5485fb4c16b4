// NumPy's names of element types. Why it exists: reader and writer must agree. May touch: the
// public API.
#pragma once

#include <string_view>

#include "plimsoll/element_type.h"

namespace plimsoll::cli {

struct NpyType {
  ElementType type;
  std::string_view code;  ///< 'descr' without the byte order
};
inline constexpr NpyType npy_types[] = {
    {ElementType::f32, "f4"}, {ElementType::f64, "f8"}, {ElementType::f16, "f2"},
    {ElementType::i64, "i8"}, {ElementType::i32, "i4"}, {ElementType::i16, "i2"},
    {ElementType::i8, "i1"},  {ElementType::u64, "u8"}, {ElementType::u32, "u4"},
    {ElementType::u16, "u2"}, {ElementType::u8, "u1"},  {ElementType::boolean, "b1"}};

}  // namespace plimsoll::cli
