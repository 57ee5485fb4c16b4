// Loops of the elementwise operators. Why it exists: one operand, two operands and many operands
// each need one loop, written once over the functor and the element types. May touch: operator.h,
// broadcast.h, dispatch.h.
//
// A functor takes and returns Compute<T> (f32 for the 16-bit floats). Output element i is written
// after the operands' elements for i were read, so the first operand's memory may be the output's.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/dispatch.h"
#include "tensor/operators/operator.h"

namespace plimsoll::tensor {

/// Elements that one thread takes at least: below, waking another thread costs more than it saves
/// (a few microseconds against some 16 Ki elements × 0.3 ns).
inline constexpr std::int64_t elementwise_grain = 16 * 1024;

/// output[i] = op(input[i]) from T to R.
template <typename T, typename R, typename Op>
void map_elements(kernels::ThreadPool& threads, const T* input, R* output, std::int64_t count,
                  const Op& op) {
  threads.parallel_for(count, elementwise_grain,
                       [&](std::int64_t begin, std::int64_t end, int /*thread*/) {
                         PLIMSOLL_INDEPENDENT_LOOP
                         for (std::int64_t i = begin; i < end; ++i) {
                           output[i] = store<R>(op(load(input[i])));
                         }
                       });
}

/// output = op(a, b) with a and b broadcast to `shape`.
template <typename A, typename B, typename R, typename Op>
void map_pairs(kernels::ThreadPool& threads, const A* a, const Shape& a_shape, const B* b,
               const Shape& b_shape, R* output, const Shape& shape, const Op& op) {
  const std::array<Shape, 2> shapes{a_shape, b_shape};
  const BroadcastLoop loop(shape, shapes);
  const bool a_moves = loop.step(0) != 0;
  const bool b_moves = loop.step(1) != 0;
  const auto part = [&](std::int64_t offset, const BroadcastLoop::Offsets& offsets,
                        std::int64_t length) {
    const A* x = a + offsets[0];
    const B* y = b + offsets[1];
    R* z = output + offset;
    if (a_moves && b_moves) {
      PLIMSOLL_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < length; ++i) z[i] = store<R>(op(load(x[i]), load(y[i])));
    } else if (a_moves) {
      const auto fixed = load(y[0]);
      PLIMSOLL_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < length; ++i) z[i] = store<R>(op(load(x[i]), fixed));
    } else if (b_moves) {
      const auto fixed = load(x[0]);
      PLIMSOLL_INDEPENDENT_LOOP
      for (std::int64_t i = 0; i < length; ++i) z[i] = store<R>(op(fixed, load(y[i])));
    } else {
      std::fill_n(z, length, store<R>(op(load(x[0]), load(y[0]))));
    }
  };
  threads.parallel_for(
      shape.elements(), elementwise_grain,
      [&](std::int64_t begin, std::int64_t end, int /*thread*/) { loop.run(begin, end, part); });
}

}  // namespace plimsoll::tensor
