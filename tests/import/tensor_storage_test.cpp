// Every way in which a file can hold a tensor, below and above the size that is decoded at once.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>

#include "import_fixture.h"
#include "support/temporary_folder.h"
#include "tensor/graph/half.h"

namespace plimsoll::tensor::test {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const StoredTensor> imported(const Message& tensor) {
  const auto model =
      import_graph(graph_of({NodeWriter("Op", {"x", "w"}, {"y"})}).initializer(tensor));
  return value_named(model->main, "w").stored;
}

// Small ones are decoded when imported, large ones stay in the file; both must read the same.
constexpr std::int64_t small_count = 6;
constexpr std::int64_t large_count = 5000;

template <typename T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    // Over the whole range of T, negative ones too.
    values.push_back(static_cast<T>(static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U));
  }
  return values;
}

template <typename T>
void expect_read_back(const Message& tensor, const std::vector<T>& values, bool large) {
  const auto stored = imported(tensor);
  ASSERT_NE(stored, nullptr);
  EXPECT_EQ(stored->type, element_of<T>());
  EXPECT_EQ(stored->shape, Shape({static_cast<std::int64_t>(values.size())}));
  EXPECT_EQ(std::holds_alternative<FileRange>(stored->source), large);
  EXPECT_EQ(elements_of<T>(*stored), values);
}

template <typename T>
class IntegerStorage : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                  std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerStorage, Integers);

TYPED_TEST(IntegerStorage, RawAndVarints) {
  for (const std::int64_t count : {small_count, large_count}) {
    const auto values = numbers<TypeParam>(count);
    expect_read_back(raw_tensor("w", {count}, values), values, count == large_count);
    std::vector<std::int64_t> wide;
    for (TypeParam value : values) wide.push_back(static_cast<std::int64_t>(value));
    expect_read_back(varint_tensor("w", element_of<TypeParam>(), {count}, wide), values,
                     count == large_count);
  }
}

TEST(FloatStorage, RawAndTyped) {
  for (const std::int64_t count : {small_count, large_count}) {
    const bool large = count == large_count;
    std::vector<float> floats;
    std::vector<double> doubles;
    for (std::int64_t i = 0; i < count; ++i) {
      floats.push_back(static_cast<float>(i) - 2.5F);
      doubles.push_back(static_cast<double>(i) * 1e100);
    }
    expect_read_back(raw_tensor("w", {count}, floats), floats, large);
    expect_read_back(float_tensor("w", {count}, floats), floats, large);
    expect_read_back(raw_tensor("w", {count}, doubles), doubles, large);
    expect_read_back(double_tensor("w", {count}, doubles), doubles, large);
  }
}

TEST(FloatStorage, SixteenBitsInVarintsAreBits) {
  for (const std::int64_t count : {small_count, large_count}) {
    std::vector<std::int64_t> bits;
    std::vector<Float16> halves;
    std::vector<BFloat16> brains;
    for (std::int64_t i = 0; i < count; ++i) {
      bits.push_back((i * 977) & 0xFFFF);
      halves.push_back({static_cast<std::uint16_t>(bits.back())});
      brains.push_back({static_cast<std::uint16_t>(bits.back())});
    }
    expect_read_back(varint_tensor("w", ElementType::f16, {count}, bits), halves,
                     count == large_count);
    expect_read_back(varint_tensor("w", ElementType::bf16, {count}, bits), brains,
                     count == large_count);
    expect_read_back(raw_tensor("w", {count}, halves), halves, count == large_count);
  }
}

TEST(BoolStorage, IsZeroOrOneWhateverTheFileHolds) {
  for (const std::int64_t count : {small_count, large_count}) {
    std::string bytes;
    std::vector<std::int64_t> wide;
    std::vector<std::uint8_t> expected;
    for (std::int64_t i = 0; i < count; ++i) {
      bytes.push_back(static_cast<char>(i % 3));
      wide.push_back(i % 3 == 0 ? 0 : -i);
      expected.push_back(i % 3 == 0 ? 0 : 1);
    }
    EXPECT_EQ(elements_of<std::uint8_t>(
                  *imported(raw_bytes_tensor("w", ElementType::boolean, {count}, bytes))),
              expected);
    EXPECT_EQ(elements_of<std::uint8_t>(
                  *imported(varint_tensor("w", ElementType::boolean, {count}, wide))),
              expected);
  }
}

TEST(TensorStorage, KnowsWhereThePayloadIs) {
  const auto stored = imported(raw_tensor<float>("w", {300}, std::vector<float>(300, 1.5F)));
  const auto& range = std::get<FileRange>(stored->source);
  EXPECT_EQ(range.length, 1200U);
  EXPECT_EQ(stored->source_bytes(), 1200U);
  EXPECT_EQ(stored->bytes(), 1200U);
  float first = 0;
  range.file->read(range.offset, std::as_writable_bytes(std::span(&first, 1)));
  EXPECT_EQ(first, 1.5F);
}

TEST(TensorStorage, PartsAreReadFromTheirOffset) {
  const auto values = numbers<std::int32_t>(large_count);
  const auto dense = imported(raw_tensor("w", {large_count}, values));
  std::vector<std::int32_t> part(100);
  dense->read(4000, 100, reinterpret_cast<std::byte*>(part.data()));
  EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + 4000));
  // Varints can only be counted from the start.
  std::vector<std::int64_t> wide(values.begin(), values.end());
  const auto varints = imported(varint_tensor("w", ElementType::i32, {large_count}, wide));
  varints->read(0, 100, reinterpret_cast<std::byte*>(part.data()));
  EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin()));
  const auto out_of_range = [&](std::int64_t first, std::int64_t count) {
    return [&, first, count] {
      dense->read(first, count, reinterpret_cast<std::byte*>(part.data()));
      return 0;
    };
  };
  expect_error(out_of_range(-1, 1), ErrorKind::internal, {"'w'"});
  expect_error(out_of_range(large_count, 1), ErrorKind::internal, {"'w'"});
  expect_error(out_of_range(1, std::numeric_limits<std::int64_t>::max()), ErrorKind::internal,
               {"'w'"});
}

TEST(TensorStorage, ValuesMayComeOneByOneOrInRuns) {
  Message single = tensor_header("w", ElementType::f32, {3});
  single.real(4, 1).real(4, 2).real(4, 3);
  EXPECT_THAT(elements_of<float>(*imported(single)), ElementsAre(1, 2, 3));
  Message doubles = tensor_header("w", ElementType::f64, {2});
  doubles.fixed64(10, std::bit_cast<std::uint64_t>(1.0))
      .fixed64(10, std::bit_cast<std::uint64_t>(-2.0));
  EXPECT_THAT(elements_of<double>(*imported(doubles)), ElementsAre(1, -2));
  const std::vector<std::int64_t> run{-300, 4};
  Message integers = tensor_header("w", ElementType::i64, {4});
  integers.integer(7, -1).packed(7, run).integer(7, 1 << 20);
  EXPECT_THAT(elements_of<std::int64_t>(*imported(integers)), ElementsAre(-1, -300, 4, 1 << 20));
}

TEST(TensorStorage, ManySingleValuesToo) {
  Message tensor = tensor_header("w", ElementType::i32, {large_count});
  for (std::int64_t i = 0; i < large_count; ++i) tensor.integer(5, i - 100);
  const auto values = elements_of<std::int32_t>(*imported(tensor));
  EXPECT_EQ(values[0], -100);
  EXPECT_EQ(values[large_count - 1], large_count - 101);
}

TEST(TensorStorage, LongRunsInPiecesAreRefusedWhereTheyAreRead) {
  const std::vector<std::int64_t> run(2000, 1);
  Message tensor = tensor_header("w", ElementType::i64, {4000});
  tensor.packed(7, run).packed(7, run);
  EXPECT_TRUE(std::holds_alternative<Unreadable>(imported(tensor)->source));
}

TEST(TensorStorage, FieldsComeInAnyOrder) {
  Message tensor;
  tensor.text(9, std::string("\x01\x02", 2)).text(8, "w").integer(2, 2).integer(1, 2);
  EXPECT_THAT(elements_of<std::uint8_t>(*imported(tensor)), ElementsAre(1, 2));
  Message packed_shape;
  packed_shape.packed(1, std::vector<std::int64_t>{1, 2}).integer(2, 2).text(8, "w").text(9, "ab");
  EXPECT_EQ(imported(packed_shape)->shape, Shape({1, 2}));
}

TEST(TensorStorage, EmptyAndScalar) {
  EXPECT_EQ(imported(tensor_header("w", ElementType::f32, {0, 7}))->shape, Shape({0, 7}));
  EXPECT_EQ(imported(tensor_header("w", ElementType::f32, {0, 7}))->source_bytes(), 0U);
  EXPECT_THAT(elements_of<double>(*imported(raw_tensor<double>("w", {}, {2.5}))), ElementsAre(2.5));
  // An empty raw_data beside the field that is used.
  Message both = tensor_header("w", ElementType::f32, {1});
  both.text(9, "").text(4, std::string("\0\0\x80\x3f", 4));
  EXPECT_THAT(elements_of<float>(*imported(both)), ElementsAre(1));
}

TEST(TensorStorage, UnsupportedTypesAreRefusedWhereTheyAreRead) {
  for (const std::int64_t type : {14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28}) {
    const auto stored = imported(raw_bytes_tensor("w", DataType(type), {2}, "abcdefgh"));
    EXPECT_EQ(stored->type, ElementType::undefined);
    expect_error(
        [&] {
          stored->read(0, 1, nullptr);
          return 0;
        },
        ErrorKind::unsupported, {"'w'", "not supported"});
  }
  const auto strings = imported(string_tensor("w", {2}, {"a", ""}));
  EXPECT_EQ(strings->type, ElementType::string);
  EXPECT_TRUE(std::holds_alternative<Unreadable>(strings->source));
  const auto deep = imported(raw_tensor<float>("w", {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1}));
  EXPECT_TRUE(std::holds_alternative<Unreadable>(deep->source));
}

TEST(TensorStorage, FloatingTypesAreConverted) {
  StoredTensor tensor;
  tensor.name = "w";
  tensor.type = ElementType::f32;
  tensor.shape = Shape{20'000};  // more than one buffer
  tensor.storage.element = ElementType::f16;
  SmallBytes bytes(40'000);
  for (std::size_t i = 0; i < 20'000; ++i) {
    const Float16 half = to_float16(static_cast<float>(i % 512) / 4);
    std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
  tensor.source = bytes;
  const auto values = elements_of<float>(tensor);
  for (std::size_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(values[i], static_cast<float>(i % 512) / 4) << i;
  }
  tensor.type = ElementType::i32;
  std::vector<std::byte> to(80'000);
  expect_error(
      [&] {
        tensor.read(0, 1, to.data());
        return 0;
      },
      ErrorKind::unsupported, {"'w'", "f16", "i32"});
}

TEST(TensorStorage, SplatsRepeatAndUnboundSaysSo) {
  StoredTensor tensor;
  tensor.name = "w";
  tensor.type = ElementType::i16;
  tensor.storage.element = ElementType::i16;
  tensor.shape = Shape{5};
  tensor.source = Splat{{std::byte{1}, std::byte{2}}};
  EXPECT_EQ(elements_of<std::int16_t>(tensor), std::vector<std::int16_t>(5, 0x0201));
  EXPECT_EQ(tensor.source_bytes(), 2U);
  tensor.source = Unbound{};
  std::int16_t value = 0;
  expect_error(
      [&] {
        tensor.read(0, 1, reinterpret_cast<std::byte*>(&value));
        return 0;
      },
      ErrorKind::bad_input, {"'w'", "archive"});
}

}  // namespace
}  // namespace plimsoll::tensor::test
