// What inference of nearly every operator checks. Why it exists: one wording for each kind of
// fault, and no operator forgets one. May touch: operator.h,
// dispatch.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tensor/operators/dispatch.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

/// A set of element types, one bit per ElementType value.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<ElementType> types) {
    for (ElementType type : types) bits_ |= bit(type);
  }
  [[nodiscard]] constexpr bool contains(ElementType type) const { return (bits_ & bit(type)) != 0; }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    TypeSet result;
    result.bits_ = a.bits_ | b.bits_;
    return result;
  }

 private:
  static constexpr std::uint32_t bit(ElementType type) {
    return std::uint32_t{1} << static_cast<unsigned>(type);
  }
  std::uint32_t bits_ = 0;
};

inline constexpr TypeSet float_types{ElementType::f32, ElementType::f64, ElementType::f16,
                                     ElementType::bf16};
inline constexpr TypeSet signed_types{ElementType::i8, ElementType::i16, ElementType::i32,
                                      ElementType::i64};
inline constexpr TypeSet unsigned_types{ElementType::u8, ElementType::u16, ElementType::u32,
                                        ElementType::u64};
inline constexpr TypeSet integer_types = signed_types | unsigned_types;
inline constexpr TypeSet numeric_types = float_types | integer_types;
inline constexpr TypeSet boolean_type{ElementType::boolean};
inline constexpr TypeSet all_types = numeric_types | boolean_type;
inline constexpr TypeSet index_types{ElementType::i32, ElementType::i64};

/// The types of a list as a set for checks.
template <typename... Ts>
constexpr TypeSet set_of(Types<Ts...> /*types*/) {
  return TypeSet{element_of<Ts>...};
}

/// Throws Error(bad_input) unless the node has between `least` and `most` inputs (trailing ones may
/// be omitted) and each of the first `least` is there.
void check_input_count(const InferContext& context, std::size_t least, std::size_t most);
/// The input's type; throws Error(bad_input) when it is not in the set.
const TensorType& check_type(const InferContext& context, std::size_t index, TypeSet allowed);
/// Throws Error(bad_input) when the two inputs' element types differ.
void check_same_type(const InferContext& context, std::size_t first, std::size_t second);
/// Throws Error(bad_input) when the input's rank is not within [least, most].
void check_rank(const InferContext& context, std::size_t index, std::size_t least,
                std::size_t most);
/// Throws Error(bad_input) unless the input has exactly one element.
void check_scalar(const InferContext& context, std::size_t index);

/// An axis in [−rank, rank) as one in [0, rank). Throws Error(bad_input) naming `what`.
[[nodiscard]] std::size_t normalize_axis(std::int64_t axis, std::size_t rank,
                                         std::string_view what = "axis");
/// Several axes, each checked, none twice; in the order given.
[[nodiscard]] std::vector<std::size_t> normalize_axes(std::span<const std::int64_t> axes,
                                                      std::size_t rank,
                                                      std::string_view what = "axes");

/// The values of an i32 or i64 tensor. Throws Error(bad_input) for other types.
[[nodiscard]] std::vector<std::int64_t> read_integers(const ConstTensorView& view);
/// The values of a floating tensor as f32. Throws Error(bad_input) for other types.
[[nodiscard]] std::vector<float> read_floats(const ConstTensorView& view);
/// Whether the only element of a boolean tensor is not 0.
[[nodiscard]] bool read_boolean(const ConstTensorView& view);

/// The dimensions as a vector, to change and to make a Shape of again.
[[nodiscard]] std::vector<std::int64_t> to_vector(const Shape& shape);

/// a × b for sizes that come from outside; throws Error(bad_input) naming `what` past 2^62 or for a
/// negative factor.
[[nodiscard]] std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what);
/// a + b likewise.
[[nodiscard]] std::int64_t checked_sum(std::int64_t a, std::int64_t b, std::string_view what);

/// An attribute that names an element type (TensorProto.DataType). Throws Error(unsupported) for
/// types this build does not know.
[[nodiscard]] ElementType element_attribute(const Node& node, std::string_view key,
                                            ElementType fallback);

/// Output 0 as input 0: the inference of operators that keep type and shape.
void infer_same(InferContext& context);

}  // namespace plimsoll::tensor
