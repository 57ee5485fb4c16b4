#include "wasm/binary/value_type.h"

#include <fmt/format.h>

namespace plimsoll::wasm {

std::string to_string(HeapType type) {
  if (type.is_concrete()) return std::to_string(type.index());
  switch (type.abstract()) {
    case HeapType::bottom:
      return "bottom";
    case HeapType::array:
      return "array";
    case HeapType::structure:
      return "struct";
    case HeapType::i31:
      return "i31";
    case HeapType::eq:
      return "eq";
    case HeapType::any:
      return "any";
    case HeapType::external:
      return "extern";
    case HeapType::function:
      return "func";
    case HeapType::none:
      return "none";
    case HeapType::no_external:
      return "noextern";
    case HeapType::no_function:
      return "nofunc";
    case HeapType::exception:
      return "exn";
    case HeapType::no_exception:
      return "noexn";
  }
  return "?";
}

std::string to_string(ValueType type) {
  switch (type.kind()) {
    case ValueType::Kind::bottom:
      return "any type";
    case ValueType::Kind::i32:
      return "i32";
    case ValueType::Kind::i64:
      return "i64";
    case ValueType::Kind::f32:
      return "f32";
    case ValueType::Kind::f64:
      return "f64";
    case ValueType::Kind::v128:
      return "v128";
    case ValueType::Kind::reference:
      return fmt::format("(ref {}{})", type.is_nullable() ? "null " : "", to_string(type.heap()));
  }
  return "?";
}

}  // namespace plimsoll::wasm
