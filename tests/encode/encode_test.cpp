// Encoded weights are what their layout says, element by element, whatever the window's size and
// the order of the source.
#include <gtest/gtest.h>

#include <cstring>

#include "tensor/encode/weight_store.h"
#include "tensor/kernels/packing.h"

namespace plimsoll::tensor {
namespace {

WeightView numbered(ElementType type, const Shape& shape) {
  auto stored = std::make_shared<StoredTensor>();
  stored->name = "w";
  stored->type = type;
  stored->shape = shape;
  stored->storage.element = type;
  const std::size_t width = element_size(type);
  SmallBytes bytes(static_cast<std::size_t>(shape.elements()) * width);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  stored->source = std::move(bytes);
  return WeightView::of(std::move(stored));
}

std::size_t source_element(const WeightView& view, std::initializer_list<std::int64_t> index) {
  std::int64_t at = 0;
  std::size_t axis = 0;
  for (std::int64_t i : index) at += i * view.strides[axis++];
  return static_cast<std::size_t>(at);
}

/// Checks every element of an encoding; `place`: its index in the encoded weight.
template <typename Place>
void expect_encoded(const WeightView& view, Encoding encoding, const Place& place) {
  const std::size_t width = element_size(encoding.element);
  const auto& bytes = std::get<SmallBytes>(view.stored->source);
  std::vector<std::byte> expected(encoding.bytes);
  const Shape& shape = view.type.shape;
  const bool taps = shape.rank() == 3;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      for (std::int64_t t = 0; t < (taps ? shape[2] : 1); ++t) {
        const std::size_t from =
            taps ? source_element(view, {i, j, t}) : source_element(view, {i, j});
        std::memcpy(expected.data() + static_cast<std::size_t>(place(i, j, t)) * width,
                    bytes.data() + from * width, width);
      }
    }
  }
  for (const std::size_t room : {4096U, 10000U, 1U << 20U}) {
    std::vector<std::byte> window(room);
    std::vector<std::byte> actual(encoding.bytes);
    encode_weight(view, encoding, window, actual.data());
    EXPECT_TRUE(actual == expected) << "a window of " << room << " bytes";
  }
}

Encoding panels(ElementType type, std::int64_t k, std::int64_t n, std::int64_t panel) {
  Encoding encoding;
  encoding.kind = Encoding::Kind::panels;
  encoding.element = type;
  encoding.k = k;
  encoding.n = n;
  encoding.panel = panel;
  encoding.bytes = panel_layout(encoding).bytes();
  return encoding;
}

constexpr ElementType types[] = {ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::i8};

TEST(Encode, ProductsInBothOrders) {
  for (const ElementType type : types) {
    for (const std::int64_t panel : {4, 8, 16}) {
      for (const bool transposed : {false, true}) {
        const Shape shape = transposed ? Shape{75, 130} : Shape{130, 75};
        WeightView view = numbered(type, shape);
        if (transposed) view = view.transposed(std::vector<std::int64_t>{1, 0});
        const Encoding encoding = panels(type, 130, 75, panel);
        const kernels::PanelLayout layout = panel_layout(encoding);
        expect_encoded(view, encoding, [&](std::int64_t k, std::int64_t n, std::int64_t) {
          return layout.element(k, n);
        });
      }
    }
  }
}

TEST(Encode, ConvolutionsAndTheirGroups) {
  for (const ElementType type : types) {
    for (const std::int64_t groups : {1, 2}) {
      const WeightView view = numbered(type, {42, 19, 9});
      Encoding encoding = panels(type, 19 * 9, 42 / groups, 16);
      encoding.taps = 9;
      encoding.groups = groups;
      const kernels::PanelLayout layout = panel_layout(encoding);
      encoding.bytes *= static_cast<std::uint64_t>(groups);
      const auto group_elements =
          static_cast<std::int64_t>(layout.bytes() / element_size(encoding.element));
      expect_encoded(view, encoding, [&](std::int64_t o, std::int64_t i, std::int64_t t) {
        return o / encoding.n * group_elements + layout.element(t * 19 + i, o % encoding.n);
      });
    }
  }
}

TEST(Encode, TapsAsMatricesOfTheirOwn) {
  for (const ElementType type : types) {
    const WeightView view = numbered(type, {30, 21, 4});
    Encoding encoding = panels(type, 30, 21, 8);
    encoding.taps = 4;
    encoding.by_tap = true;
    const kernels::PanelLayout layout = panel_layout(encoding);
    encoding.bytes *= 4;
    const auto tap_elements =
        static_cast<std::int64_t>(layout.bytes() / element_size(encoding.element));
    expect_encoded(view, encoding, [&](std::int64_t k, std::int64_t n, std::int64_t t) {
      return t * tap_elements + layout.element(k, n);
    });
  }
}

TEST(Encode, DepthwiseByTap) {
  const WeightView view = numbered(ElementType::f32, {150, 1, 25});
  Encoding encoding;
  encoding.kind = Encoding::Kind::depthwise;
  encoding.element = ElementType::f32;
  encoding.n = 150;
  encoding.taps = 25;
  encoding.bytes = 150 * 25 * 4;
  expect_encoded(view, encoding,
                 [](std::int64_t c, std::int64_t, std::int64_t t) { return t * 150 + c; });
}

TEST(Encode, PlainInTheViewsOrder) {
  WeightView view = numbered(ElementType::i64, {7, 40, 30});
  view = view.transposed(std::vector<std::int64_t>{2, 0, 1});
  Encoding encoding;
  encoding.element = ElementType::i64;
  encoding.bytes = 7 * 40 * 30 * 8;
  expect_encoded(view, encoding, [](std::int64_t i, std::int64_t j, std::int64_t t) {
    return (i * 7 + j) * 40 + t;
  });
}

}  // namespace
}  // namespace plimsoll::tensor
