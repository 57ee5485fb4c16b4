// Forms of older and newer opsets that the standard's test data does not hold.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support/single_node.h"

namespace plimsoll::tensor::test {
namespace {

using Integers = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Floats floats(const SingleNode& node, std::size_t index = 0) {
  return values_of<float>(*node.run_tensor(index));
}

TEST(Versions, TableFindsTheNewestDefinitionNotNewerThanTheOpset) {
  const OperatorTable& table = OperatorTable::builtin();
  EXPECT_EQ(table.find("", "Clip", 5)->since_version, 1);
  EXPECT_EQ(table.find("", "Clip", 10)->since_version, 6);
  EXPECT_EQ(table.find("", "Clip", 21)->since_version, 13);
  EXPECT_EQ(table.find("", "Erf", 8), nullptr);
  EXPECT_EQ(table.find("", "NoSuchOperator", 21), nullptr);
  EXPECT_EQ(table.find("com.example", "Clip", 13), nullptr);
}

TEST(Versions, ClipBoundsAreAttributesThenInputs) {
  const Floats values{-2, 0.5F, 3, NAN};
  SingleNode old_form("Clip", 6);
  old_form.attribute("min", -1.0F).attribute("max", 1.0F).input(vector_of(values));
  SingleNode new_form("Clip", 12);
  new_form.input(vector_of(values)).input(scalar(-1.0F)).input(scalar(1.0F));
  for (const SingleNode* node : {&old_form, &new_form}) {
    const Floats result = floats(*node);
    EXPECT_EQ(result[0], -1);
    EXPECT_EQ(result[1], 0.5F);
    EXPECT_EQ(result[2], 1);
    EXPECT_TRUE(std::isnan(result[3]));
  }
  SingleNode upper("Clip", 13);
  upper.input(vector_of<std::int64_t>({-5, 5})).no_input().input(scalar<std::int64_t>(2));
  EXPECT_EQ(values_of<std::int64_t>(*upper.run_tensor()), (Integers{-5, 2}));
}

TEST(Versions, BroadcastAtAnAxisBeforeOpset7) {
  const auto a = tensor<float>({2, 3, 2}, Floats(12, 1.0F));
  const auto b = vector_of<float>({10, 20, 30});
  SingleNode node("Add", 6);
  node.attribute("broadcast", std::int64_t{1}).attribute("axis", std::int64_t{1}).input(a).input(b);
  EXPECT_EQ(floats(node), (Floats{11, 11, 21, 21, 31, 31, 11, 11, 21, 21, 31, 31}));
  SingleNode without("Add", 6);
  without.input(a).input(b);
  EXPECT_THROW(static_cast<void>(without.run()), Error);
}

TEST(Versions, SliceAttributesAndExtremeInputs) {
  const auto input = tensor<std::int32_t>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  SingleNode old_form("Slice", 9);
  old_form.attribute("starts", Integers{1}).attribute("ends", Integers{INT64_MAX});
  old_form.attribute("axes", Integers{1}).input(input);
  EXPECT_EQ(values_of<std::int32_t>(*old_form.run_tensor()),
            (std::vector<std::int32_t>{1, 2, 3, 5, 6, 7}));
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  SingleNode reversed("Slice", 13);
  reversed.input(input).input(integers({-1})).input(integers({lowest}));
  reversed.input(integers({-1})).input(integers({-2}));
  EXPECT_EQ(values_of<std::int32_t>(*reversed.run_tensor()),
            (std::vector<std::int32_t>{3, 1, 7, 5}));
  SingleNode one("Slice", 13);
  one.input(input).input(integers({0})).input(integers({INT64_MAX}));
  one.input(integers({1})).input(integers({INT64_MAX}));
  EXPECT_EQ(values_of<std::int32_t>(*one.run_tensor()), (std::vector<std::int32_t>{0, 4}));
  SingleNode back("Slice", 13);
  back.input(input).input(integers({INT64_MAX})).input(integers({lowest}));
  back.input(integers({1})).input(integers({lowest}));
  EXPECT_EQ(values_of<std::int32_t>(*back.run_tensor()), (std::vector<std::int32_t>{3, 7}));
}

TEST(Versions, SplitSizes) {
  const auto input = vector_of<float>({1, 2, 3, 4, 5});
  SingleNode attribute("Split", 2);
  attribute.attribute("split", Integers{2, 3}).input(input).outputs(2);
  EXPECT_EQ(floats(attribute, 1), (Floats{3, 4, 5}));
  SingleNode inputs("Split", 13);
  inputs.input(input).input(integers({4, 1})).outputs(2);
  EXPECT_EQ(floats(inputs, 0), (Floats{1, 2, 3, 4}));
  SingleNode uneven("Split", 18);
  uneven.attribute("num_outputs", std::int64_t{2}).input(input).outputs(2);
  EXPECT_EQ(floats(uneven, 0), (Floats{1, 2, 3}));
  EXPECT_EQ(floats(uneven, 1), (Floats{4, 5}));
  SingleNode refused("Split", 13);
  refused.input(input).outputs(2);
  EXPECT_THROW(static_cast<void>(refused.run()), Error);
}

TEST(Versions, ReshapeAttributeZerosAndOpenDimension) {
  const auto input = tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  SingleNode old_form("Reshape", 1);
  old_form.attribute("shape", Integers{0, -1, 1}).input(input);
  EXPECT_EQ(old_form.run_tensor()->type.shape, (Shape{2, 3, 1}));
  const auto empty = tensor<float>({0, 3}, {});
  SingleNode zeros("Reshape", 14);
  zeros.attribute("allowzero", std::int64_t{1}).input(empty).input(integers({3, 0}));
  EXPECT_EQ(zeros.run_tensor()->type.shape, (Shape{3, 0}));
  SingleNode kept("Reshape", 14);
  kept.input(empty).input(integers({0, -1}));
  EXPECT_EQ(kept.run_tensor()->type.shape, (Shape{0, 0}));
}

TEST(Versions, SqueezeAndUnsqueezeAttributes) {
  const auto input = tensor<float>({1, 2, 1}, {1, 2});
  SingleNode squeeze("Squeeze", 11);
  squeeze.attribute("axes", Integers{-1}).input(input);
  EXPECT_EQ(squeeze.run_tensor()->type.shape, (Shape{1, 2}));
  SingleNode all("Squeeze", 13);
  all.input(input);
  EXPECT_EQ(all.run_tensor()->type.shape, (Shape{2}));
  SingleNode unsqueeze("Unsqueeze", 11);
  unsqueeze.attribute("axes", Integers{0, -1}).input(vector_of<float>({1, 2}));
  EXPECT_EQ(unsqueeze.run_tensor()->type.shape, (Shape{1, 2, 1}));
}

TEST(Versions, PadFormsBeforeInputs) {
  const auto input = tensor<float>({1, 2}, {1, 2});
  for (const auto& [opset, key] : {std::pair{1, "paddings"}, std::pair{2, "pads"}}) {
    SingleNode node("Pad", opset);
    node.attribute(key, Integers{0, 1, 0, 2}).attribute("value", 9.0F).input(input);
    EXPECT_EQ(floats(node), (Floats{9, 1, 2, 9, 9})) << opset;
  }
  SingleNode axes("Pad", 18);
  axes.input(input).input(integers({1, 0})).no_input().input(integers({-1}));
  EXPECT_EQ(floats(axes), (Floats{0, 1, 2}));
  SingleNode wrap("Pad", 19);
  wrap.attribute("mode", std::string("wrap")).input(input).input(integers({0, 3, 0, 1}));
  EXPECT_EQ(floats(wrap), (Floats{2, 1, 2, 1, 2, 1}));
}

TEST(Versions, TopKAndTileOfVersion1) {
  SingleNode top("TopK", 9);
  top.attribute("k", std::int64_t{2}).input(vector_of<float>({1, 5, 5, 2})).outputs(2);
  EXPECT_EQ(floats(top), (Floats{5, 5}));
  EXPECT_EQ(values_of<std::int64_t>(*top.run_tensor(1)), (Integers{1, 2}));
  SingleNode tile("Tile", 5);
  tile.input(tensor<float>({1, 2}, {1, 2})).input(scalar(2.0F)).input(scalar(1.0F));
  EXPECT_EQ(floats(tile), (Floats{1, 2, 1, 2}));
}

TEST(Versions, DropoutPassesInInference) {
  const auto input = vector_of<float>({1, 2});
  SingleNode old_form("Dropout", 7);
  old_form.attribute("ratio", 0.9F).input(input).outputs(2);
  EXPECT_EQ(floats(old_form, 0), (Floats{1, 2}));
  EXPECT_EQ(floats(old_form, 1), (Floats{1, 1}));
  SingleNode nothing_dropped("Dropout", 13);
  nothing_dropped.input(input).input(scalar(0.0F));
  nothing_dropped.input(tensor<Boolean>({}, {Boolean{1}})).outputs(2);
  EXPECT_EQ(floats(nothing_dropped, 0), (Floats{1, 2}));
  EXPECT_EQ(values_of<Boolean>(*nothing_dropped.run_tensor(1))[0].byte, 1);
}

TEST(Versions, CastByNameBeforeVersion6) {
  SingleNode node("Cast", 1);
  node.attribute("to", std::string("INT32")).input(vector_of<float>({-1.7F, 2.2F}));
  EXPECT_EQ(values_of<std::int32_t>(*node.run_tensor()), (std::vector<std::int32_t>{-1, 2}));
}

TEST(Versions, CastsOfEveryPairKeepSmallNumbers) {
  const std::vector<ElementType> types{ElementType::f32,  ElementType::f64, ElementType::f16,
                                       ElementType::bf16, ElementType::i8,  ElementType::i16,
                                       ElementType::i32,  ElementType::i64, ElementType::u8,
                                       ElementType::u16,  ElementType::u32, ElementType::u64};
  const auto cast = [](const TensorPointer& value, ElementType to) {
    return std::const_pointer_cast<OwnedTensor>(
        SingleNode("Cast", 13)
            .attribute("to", static_cast<std::int64_t>(to))
            .input(value)
            .run_tensor(0, {.threads = 1, .in_place = true}));
  };
  const Floats values{0, 1, 2, 3, 100, 127};
  for (ElementType from : types) {
    for (ElementType to : types) {
      const auto result = cast(cast(cast(vector_of(values), from), to), ElementType::f32);
      EXPECT_EQ(values_of<float>(*result), values) << element_name(from) << element_name(to);
    }
    const auto truth = cast(cast(cast(vector_of(values), from), ElementType::boolean), from);
    EXPECT_EQ(values_of<float>(*cast(truth, ElementType::f32)), (Floats{0, 1, 1, 1, 1, 1}));
  }
}

TEST(Versions, PowerOfOneExponent) {
  const Floats values{4, 0.25F, 9, 0};
  for (float exponent : {2.0F, 0.5F, 3.0F, 1.0F, -1.0F, 2.5F}) {
    SingleNode node("Pow", 13);
    node.input(vector_of(values)).input(scalar(exponent));
    const Floats result = floats(node);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float expected = std::pow(values[i], exponent);
      if (std::isinf(expected)) {
        EXPECT_EQ(result[i], expected) << exponent;
      } else {
        EXPECT_NEAR(result[i], expected, 1e-6F * std::fabs(expected)) << exponent;
      }
    }
  }
  SingleNode mixed("Pow", 13);
  mixed.input(vector_of<std::int32_t>({2, -3})).input(vector_of<float>({0.5F, 3.0F}));
  EXPECT_EQ(values_of<std::int32_t>(*mixed.run_tensor()), (std::vector<std::int32_t>{1, -27}));
}

TEST(Versions, RandomNumbersFollowTheSeed) {
  const auto draw = [](const char* op, float seed) {
    return floats(SingleNode(op, 1)
                      .attribute("shape", Integers{1000})
                      .attribute("dtype", std::int64_t{1})
                      .attribute("seed", seed));
  };
  for (const char* op : {"RandomUniform", "RandomNormal"}) {
    EXPECT_EQ(draw(op, 3), draw(op, 3));
    EXPECT_NE(draw(op, 3), draw(op, 4));
  }
  double sum = 0;
  for (float value : draw("RandomUniform", 5)) {
    EXPECT_TRUE(value >= 0 && value < 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  double square = 0;
  for (float value : draw("RandomNormal", 5)) square += value * value;
  EXPECT_NEAR(square / 1000, 1.0, 0.2);
}

TEST(Versions, RangesEndWhereTheyMust) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta) {
    return values_of<std::int64_t>(*SingleNode("Range", 11)
                                        .input(scalar(start))
                                        .input(scalar(limit))
                                        .input(scalar(delta))
                                        .run_tensor());
  };
  EXPECT_EQ(range(10, 4, -2), (Integers{10, 8, 6}));
  EXPECT_EQ(range(4, 10, -2), Integers{});
  EXPECT_EQ(range(highest - 3, highest, 2), (Integers{highest - 3, highest - 1}));
  EXPECT_EQ(range(0, highest, highest - 1), (Integers{0, highest - 1}));
  EXPECT_THROW(static_cast<void>(range(0, 5, 0)), Error);
  EXPECT_THROW(static_cast<void>(range(-highest, highest, 1)), Error);
}

}  // namespace
}  // namespace plimsoll::tensor::test
