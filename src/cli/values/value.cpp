#include "cli/values/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "cli/values/npy.h"
#include "cli/values/random.h"
#include "cli/values/zip.h"
#include "plimsoll/values.h"

namespace plimsoll::cli {
namespace {

using Outcome = std::expected<void, Refusal>;

class ArrayValue final : public Value {
 public:
  ArrayValue(std::unique_ptr<ByteSource> source, ElementType wanted) : reader_(std::move(source)) {
    const bool narrow = wanted == ElementType::bf16 && reader_.type() == ElementType::f32;
    items_.push_back({narrow ? ElementType::bf16 : reader_.type(), reader_.shape()});
  }
  Outcome read(const Engine& /*engine*/, std::size_t /*item*/, TensorView destination) override {
    reader_.read(destination);
    return {};
  }

 private:
  NpyReader reader_;
};

class ProtoValue final : public Value {
 public:
  explicit ProtoValue(const std::string& path) : file_(OnnxValueFile::open(path)) {
    for (const OnnxValueFile::Item& item : file_.items()) {
      items_.push_back({item.type, item.shape});
    }
    is_sequence_ = file_.is_sequence();
    is_absent_ = file_.is_absent();
  }
  Outcome read(const Engine& /*engine*/, std::size_t item, TensorView destination) override {
    if (destination.bytes() != 0) file_.read(item, destination.data);
    return {};
  }

 private:
  OnnxValueFile file_;
};

class ImageValue final : public Value {
 public:
  ImageValue(const std::string& path, const ValueRequest& request)
      : file_(path), header_(read_image_header(file_)), range_(request.range) {
    constexpr ElementType known[] = {ElementType::f32, ElementType::f16, ElementType::bf16,
                                     ElementType::u8};
    if (std::ranges::find(known, request.element) == std::end(known)) {
      fail_input(
          fmt::format("a picture can be given as f32, f16, bf16 or u8; the model takes {}; make an "
                      ".npy file of it",
                      request.declared));
    }
    std::optional<Shape> shape;
    if (request.dimensions) shape = image_shape(*request.dimensions, header_);
    if (!shape) {
      fail_input(
          fmt::format("a picture fits shapes with 1, 3 or 4 channels first or last and a batch of "
                      "1; the model takes {}; give the shape with --shape, or an .npy file",
                      request.declared));
    }
    items_.push_back({request.element, *shape});
  }
  std::uint64_t scratch_bytes() const override {
    return image_decode_bytes(
        header_, file_.size(),
        static_cast<std::uint32_t>(
            image_layout(items_.front().shape).value_or(ImageLayout{}).channels));
  }
  Outcome read(const Engine& engine, std::size_t /*item*/, TensorView destination) override {
    return read_image(engine, file_, header_, range_, destination);
  }

 private:
  InputFile file_;
  ImageHeader header_;
  ImageRange range_;
};

class MadeRandom final : public Value {
 public:
  MadeRandom(const RandomValue& spec, const ValueRequest& request)
      : seed_(spec.seed), number_(request.number) {
    if (spec.type) {
      items_.push_back(*spec.type);
      return;
    }
    if (!request.dimensions || element_size(request.element) == 0 || request.is_sequence) {
      fail_input(fmt::format(
          "random numbers need a type and a shape; the model only says {}; give them as "
          "in 1x512xf32=random:{}",
          request.declared, spec.seed));
    }
    std::vector<std::int64_t> dimensions = *request.dimensions;
    for (std::int64_t& dimension : dimensions) dimension = dimension < 0 ? 1 : dimension;
    items_.push_back({request.element, Shape(dimensions)});
    (void)checked_bytes(items_.front().shape, element_size(request.element), "the value");
  }
  Outcome read(const Engine& /*engine*/, std::size_t /*item*/, TensorView destination) override {
    fill_random(destination, seed_, number_);
    return {};
  }

 private:
  std::uint64_t seed_;
  std::size_t number_;
};

class MadeConstant final : public Value {
 public:
  explicit MadeConstant(const ConstantValue& spec) : element_(spec.element) {
    items_.push_back(spec.type);
  }
  Outcome read(const Engine& /*engine*/, std::size_t /*item*/, TensorView destination) override {
    switch (element_size(destination.type)) {
      case 8:
        fill<std::uint64_t>(destination);
        break;
      case 4:
        fill<std::uint32_t>(destination);
        break;
      case 2:
        fill<std::uint16_t>(destination);
        break;
      default:
        fill<std::uint8_t>(destination);
    }
    return {};
  }

 private:
  template <typename Bits>
  void fill(TensorView destination) const {
    Bits bits{};
    std::memcpy(&bits, element_.data(), sizeof bits);
    std::fill_n(destination.as<Bits>(), destination.elements(), bits);
  }
  std::array<std::byte, 8> element_;
};

std::unique_ptr<Value> open_npz(const NpzEntry& spec, ElementType wanted) {
  auto file = std::make_shared<const InputFile>(spec.path);
  const ZipEntry entry = find_zip_entry(*file, spec.key);
  return std::make_unique<ArrayValue>(open_zip_entry(file, entry), wanted);
}

std::unique_ptr<Value> open_spec(const ValueSpec& spec, const ValueRequest& request) {
  if (const auto* npy = std::get_if<NpyFile>(&spec)) {
    auto file = std::make_shared<const InputFile>(npy->path);
    return std::make_unique<ArrayValue>(std::make_unique<FileRange>(file), request.element);
  }
  if (const auto* npz = std::get_if<NpzEntry>(&spec)) return open_npz(*npz, request.element);
  if (const auto* proto = std::get_if<ProtoFile>(&spec)) {
    return std::make_unique<ProtoValue>(proto->path);
  }
  if (const auto* image = std::get_if<ImageFile>(&spec)) {
    return std::make_unique<ImageValue>(image->path, request);
  }
  if (const auto* random = std::get_if<RandomValue>(&spec)) {
    return std::make_unique<MadeRandom>(*random, request);
  }
  return std::make_unique<MadeConstant>(std::get<ConstantValue>(spec));
}

bool shape_matches(const std::vector<std::int64_t>& wanted, const Shape& shape) {
  if (wanted.size() != shape.rank()) return false;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis] >= 0 && wanted[axis] != shape[axis]) return false;
  }
  return true;
}

void check(const Value& value, const ValueRequest& request) {
  if (value.is_absent()) return;
  if (request.is_sequence && !value.is_sequence()) {
    fail_input("the model takes a sequence of tensors; give a .pb file that holds a SequenceProto");
  }
  for (const ValueType& item : value.items()) {
    if (request.element != ElementType::undefined && request.element != item.type) {
      fail_input(
          fmt::format("it is {}, the model takes {}; convert it, or give a constant as "
                      "{}{}=…",
                      element_name(item.type), request.declared,
                      item.shape.rank() == 0 ? "" : item.shape.to_string() + "x",
                      element_name(request.element)));
    }
    if (!value.is_sequence() && request.dimensions &&
        !shape_matches(*request.dimensions, item.shape)) {
      fail_input(fmt::format("its shape is {}, the model takes {}; reshape it",
                             item.shape.to_string(), request.declared));
    }
  }
}

}  // namespace

std::unique_ptr<Value> open_value(const ValueRequest& request) {
  try {
    auto value = open_spec(parse_value(request.text), request);
    check(*value, request);
    return value;
  } catch (Error& error) {
    if (error.message().find(request.text) == std::string::npos) {
      error.add_context(fmt::format("'{}'", request.text));
    }
    error.add_context(fmt::format("input '{}'", request.input));
    throw;
  }
}

}  // namespace plimsoll::cli
