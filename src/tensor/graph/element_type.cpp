#include "plimsoll/element_type.h"

#include <array>

namespace plimsoll {
namespace {

struct Entry {
  ElementType type;
  std::size_t size;
  std::string_view name;
};

constexpr std::array<Entry, 15> entries{{
    {ElementType::undefined, 0, "undefined"},
    {ElementType::f32, 4, "f32"},
    {ElementType::u8, 1, "u8"},
    {ElementType::i8, 1, "i8"},
    {ElementType::u16, 2, "u16"},
    {ElementType::i16, 2, "i16"},
    {ElementType::i32, 4, "i32"},
    {ElementType::i64, 8, "i64"},
    {ElementType::string, 0, "string"},
    {ElementType::boolean, 1, "bool"},
    {ElementType::f16, 2, "f16"},
    {ElementType::f64, 8, "f64"},
    {ElementType::u32, 4, "u32"},
    {ElementType::u64, 8, "u64"},
    {ElementType::bf16, 2, "bf16"},
}};

const Entry& entry(ElementType type) noexcept {
  for (const Entry& candidate : entries) {
    if (candidate.type == type) return candidate;
  }
  return entries[0];
}

}  // namespace

std::size_t element_size(ElementType type) noexcept {
  return entry(type).size;
}

std::string_view element_name(ElementType type) noexcept {
  return entry(type).name;
}

std::optional<ElementType> element_type_from_name(std::string_view name) noexcept {
  for (const Entry& candidate : entries) {
    if (candidate.name == name && candidate.type != ElementType::undefined) return candidate.type;
  }
  return std::nullopt;
}

std::optional<ElementType> element_type_from_onnx(std::int64_t value) noexcept {
  for (const Entry& candidate : entries) {
    if (static_cast<std::int64_t>(candidate.type) == value &&
        candidate.type != ElementType::undefined) {
      return candidate.type;
    }
  }
  return std::nullopt;
}

bool is_floating(ElementType type) noexcept {
  return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::f16 ||
         type == ElementType::bf16;
}

bool is_signed_integer(ElementType type) noexcept {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

bool is_unsigned_integer(ElementType type) noexcept {
  return type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
         type == ElementType::u64;
}

}  // namespace plimsoll
