// Cast and CastLike: every pair of element types but strings.
//
// From floating to integer: towards zero; what does not fit is undefined in the standard and here
// as `truncated` says. To boolean: whether it is not 0 (so NaN is true). To 16-bit floats: rounded
// once, to nearest even, overflowing to infinity.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tensor/operators/checks.h"
#include "tensor/operators/elementwise.h"
#include "tensor/operators/families.h"
#include "tensor/operators/integer_math.h"

namespace plimsoll::tensor {
namespace {

template <typename To, typename From>
To converted(const From& value) {
  if constexpr (std::is_same_v<From, Boolean>) {
    const bool truth = value.byte != 0;
    if constexpr (std::is_same_v<To, Boolean>) {
      return {static_cast<std::uint8_t>(truth)};
    } else {
      return store<To>(truth ? 1.0F : 0.0F);
    }
  } else if constexpr (std::is_same_v<To, Boolean>) {
    return {static_cast<std::uint8_t>(load(value) != Compute<From>{0})};
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    return truncated<To>(load(value));
  } else if constexpr (is_half<To> && std::is_integral_v<From>) {
    return store<To>(static_cast<double>(value));
  } else {
    return store<To>(load(value));
  }
}

/// Version 1 names the type in letters, later ones by number.
ElementType cast_target(const Node& node) {
  if (node.opset >= 6) {
    if (node.attribute("to") == nullptr) fail_input("attribute 'to' is missing");
    return element_attribute(node, "to", ElementType::undefined);
  }
  static constexpr std::array<std::pair<std::string_view, ElementType>, 12> names{{
      {"FLOAT", ElementType::f32},
      {"UINT8", ElementType::u8},
      {"INT8", ElementType::i8},
      {"UINT16", ElementType::u16},
      {"INT16", ElementType::i16},
      {"INT32", ElementType::i32},
      {"INT64", ElementType::i64},
      {"BOOL", ElementType::boolean},
      {"FLOAT16", ElementType::f16},
      {"DOUBLE", ElementType::f64},
      {"UINT32", ElementType::u32},
      {"UINT64", ElementType::u64},
  }};
  const std::string wanted = node.text("to", "");
  for (const auto& [name, type] : names) {
    if (name == wanted) return type;
  }
  fail_unsupported("a cast to '" + wanted + "'");
}

void check_castable(ElementType type) {
  if (!all_types.contains(type)) {
    fail_unsupported(fmt::format("a cast from or to elements of type {}", element_name(type)));
  }
}

void infer_cast(InferContext& context) {
  check_input_count(context, 1, 1);
  const TensorType& type = context.input(0);
  const ElementType target = cast_target(context.node());
  check_castable(type.element);
  check_castable(target);
  context.set_output(0, target, type.shape);
}

void infer_cast_like(InferContext& context) {
  check_input_count(context, 2, 2);
  const TensorType& type = context.input(0);
  const ElementType target = context.input(1).element;
  check_castable(type.element);
  check_castable(target);
  context.set_output(0, target, type.shape);
}

template <typename From, typename To>
void cast_elements(kernels::ThreadPool& threads, const From* from, To* to, std::int64_t count) {
  threads.parallel_for(count, elementwise_grain,
                       [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                         PLIMSOLL_INDEPENDENT_LOOP
                         for (std::int64_t i = begin; i < end; ++i) to[i] = converted<To>(from[i]);
                       });
}

void run_cast(RunContext& context) {
  const ConstTensorView input = context.input(0);
  const TensorView output = context.output(0);
  dispatch(input.type, AllTypes{}, [&]<typename From>(Tag<From>) {
    dispatch(output.type, AllTypes{}, [&]<typename To>(Tag<To>) {
      cast_elements(context.threads(), input.as<From>(), output.as<To>(), input.elements());
    });
  });
}

}  // namespace

void register_casting(OperatorTable& table) {
  for (int version : {1, 6, 9, 13, 19, 21}) {
    table.add({.name = "Cast",
               .since_version = version,
               .infer = infer_cast,
               .run = run_cast,
               .in_place_input = 0});
  }
  for (int version : {15, 19, 21}) {
    table.add({.name = "CastLike",
               .since_version = version,
               .infer = infer_cast_like,
               .run = run_cast,
               .in_place_input = 0});
  }
}

}  // namespace plimsoll::tensor
