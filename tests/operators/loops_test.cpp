// The loops that operators share, against the plainest code that says the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tensor/operators/broadcast.h"
#include "tensor/operators/padding.h"
#include "tensor/operators/strided_copy.h"

namespace plimsoll::tensor {
namespace {

/// Splits a flat index into coordinates.
std::vector<std::int64_t> coordinates(std::int64_t index, std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> result(sizes.size());
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    result[axis] = index % sizes[axis];
    index /= sizes[axis];
  }
  return result;
}

TEST(BroadcastLoop, VisitsEveryElementOnceInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t rank = random() % 5;
    std::vector<std::int64_t> sizes(rank);
    for (auto& size : sizes) size = random() % 5 == 0 ? 1 : static_cast<int>(random() % 4 + 1);
    const Shape output(sizes);
    std::vector<Shape> operands;
    for (int operand = 0; operand < 3; ++operand) {
      const std::size_t dropped = rank == 0 ? 0 : random() % (rank + 1);
      std::vector<std::int64_t> own(sizes.begin() + static_cast<std::ptrdiff_t>(dropped),
                                    sizes.end());
      for (auto& size : own) {
        if (random() % 3 == 0) size = 1;
      }
      operands.emplace_back(own);
    }
    const BroadcastLoop loop(output, operands);
    const std::int64_t count = output.elements();
    const std::int64_t begin = static_cast<std::int64_t>(random() % static_cast<unsigned>(count));
    std::int64_t next = begin;
    loop.run(begin, count,
             [&](std::int64_t offset, const BroadcastLoop::Offsets& offsets, std::int64_t length) {
               ASSERT_EQ(offset, next);
               next += length;
               for (std::int64_t i = 0; i < length; ++i) {
                 const auto position = coordinates(offset + i, output.dimensions());
                 for (std::size_t operand = 0; operand < operands.size(); ++operand) {
                   const Shape& shape = operands[operand];
                   std::int64_t expected = 0;
                   for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
                     const std::int64_t along = position[rank - shape.rank() + axis];
                     expected = expected * shape[axis] + (shape[axis] == 1 ? 0 : along);
                   }
                   ASSERT_EQ(offsets[operand] + i * loop.step(operand), expected);
                 }
               }
             });
    ASSERT_EQ(next, count);
  }
}

template <typename T>
void check_copies() {
  std::mt19937 random(2);
  kernels::ThreadPool threads(2);
  std::vector<T> source(20000);
  std::iota(source.begin(), source.end(), T{0});
  for (int round = 0; round < 300; ++round) {
    const std::size_t rank = random() % 5;
    std::vector<std::int64_t> sizes(rank);
    // A permuted, possibly repeated or reversed walk over a row-major tensor.
    for (auto& size : sizes) size = static_cast<std::int64_t>(random() % (rank > 3 ? 6 : 20)) + 1;
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    std::vector<std::int64_t> strides(rank);
    std::int64_t stride = 1;
    std::int64_t first = 0;
    for (std::size_t axis : order) {
      strides[axis] = stride;
      stride *= sizes[axis];
      if (random() % 6 == 0) strides[axis] = 0;
      if (random() % 6 == 0) {
        first += strides[axis] * (sizes[axis] - 1);
        strides[axis] = -strides[axis];
      }
    }
    const std::int64_t count =
        std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    if (stride > static_cast<std::int64_t>(source.size())) continue;
    std::vector<T> actual(static_cast<std::size_t>(count), T{0});
    copy_strided(threads, sizeof(T), sizes,
                 reinterpret_cast<const std::byte*>(source.data() + first), strides,
                 reinterpret_cast<std::byte*>(actual.data()));
    for (std::int64_t index = 0; index < count; ++index) {
      const auto position = coordinates(index, sizes);
      const std::int64_t from =
          std::inner_product(position.begin(), position.end(), strides.begin(), first);
      ASSERT_EQ(actual[static_cast<std::size_t>(index)], source[static_cast<std::size_t>(from)]);
    }
  }
}

TEST(StridedCopy, AgreesWithCoordinates) {
  check_copies<std::uint8_t>();
  check_copies<std::uint16_t>();
  check_copies<std::uint32_t>();
  check_copies<std::uint64_t>();
}

TEST(StridedCopy, LargeTransposeOnThreads) {
  kernels::ThreadPool threads(3);
  constexpr std::int64_t rows = 301;
  constexpr std::int64_t columns = 517;
  std::vector<std::uint32_t> source(rows * columns);
  std::iota(source.begin(), source.end(), 0U);
  std::vector<std::uint32_t> actual(source.size());
  const std::array<std::int64_t, 2> sizes{columns, rows};
  const std::array<std::int64_t, 2> strides{1, columns};
  copy_strided(threads, 4, sizes, reinterpret_cast<const std::byte*>(source.data()), strides,
               reinterpret_cast<std::byte*>(actual.data()));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      ASSERT_EQ(actual[static_cast<std::size_t>(column * rows + row)],
                source[static_cast<std::size_t>(row * columns + column)]);
    }
  }
}

/// Source index along one dimension, by walking: the plainest reading of the modes.
std::int64_t walked(std::int64_t i, std::int64_t n, PadMode mode) {
  if (mode == PadMode::constant) return i >= 0 && i < n ? i : -1;
  if (mode == PadMode::edge) return i < 0 ? 0 : (i >= n ? n - 1 : i);
  if (mode == PadMode::wrap) {
    while (i < 0) i += n;
    while (i >= n) i -= n;
    return i;
  }
  while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * (n - 1) - i;
  return n == 1 ? 0 : i;
}

TEST(Padding, AllModesAgreeWithWalking) {
  std::mt19937 random(3);
  kernels::ThreadPool threads(2);
  for (int round = 0; round < 400; ++round) {
    const auto mode = static_cast<PadMode>(random() % 4);
    const std::size_t rank = random() % 4 + 1;
    std::vector<std::int64_t> sizes(rank);
    std::vector<std::int64_t> before(rank);
    std::vector<std::int64_t> padded(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      sizes[axis] = static_cast<std::int64_t>(random() % 5) + 1;
      if (random() % 3 != 0) before[axis] = static_cast<std::int64_t>(random() % 9) - 2;
      before[axis] = std::max(before[axis], -sizes[axis]);
      const std::int64_t behind = before[axis] == 0 ? 0 : static_cast<std::int64_t>(random() % 8);
      padded[axis] = sizes[axis] + before[axis] + behind;
    }
    const Shape from(sizes);
    const Shape to(padded);
    std::vector<std::int16_t> input(static_cast<std::size_t>(from.elements()));
    std::iota(input.begin(), input.end(), std::int16_t{0});
    std::vector<std::int16_t> output(static_cast<std::size_t>(to.elements()), -7);
    const std::int16_t value = -3;
    pad_tensor(threads, {ElementType::i16, from, reinterpret_cast<const std::byte*>(input.data())},
               before, mode, reinterpret_cast<const std::byte*>(&value),
               {ElementType::i16, to, reinterpret_cast<std::byte*>(output.data())});
    for (std::int64_t index = 0; index < to.elements(); ++index) {
      const auto position = coordinates(index, to.dimensions());
      std::int64_t source = 0;
      for (std::size_t axis = 0; axis < rank && source >= 0; ++axis) {
        const std::int64_t along = walked(position[axis] - before[axis], sizes[axis], mode);
        source = along < 0 ? -1 : source * sizes[axis] + along;
      }
      const std::int16_t expected = source < 0 ? value : input[static_cast<std::size_t>(source)];
      ASSERT_EQ(output[static_cast<std::size_t>(index)], expected)
          << from.to_string() << " to " << to.to_string();
    }
  }
}

}  // namespace
}  // namespace plimsoll::tensor
