// TensorProto: where a payload is, not what it holds.
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>

#include <charconv>
#include <cstring>

#include "plimsoll/error.h"
#include "tensor/import/onnx_messages.h"

namespace plimsoll::tensor::onnx {
namespace {

/// Decoded at once: shapes, axes, scalars. 455 constants of rxnmap have 3 KB in all.
constexpr std::uint64_t small_bytes = 1024;
/// An unpacked repeated field costs 5 bytes an element in the file; more than this is no sane file.
constexpr std::size_t most_unpacked = 1 << 20;

struct External {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::uint64_t parse_count(const std::string& text, const std::string& what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail_input(fmt::format("{} '{}' of external data is not a number", what, text));
  }
  return value;
}

void read_external_entry(WireReader& reader, External& external) {
  std::string key;
  std::string value;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 2) {
      key = reader.text(256);
    } else if (field.number == 2 && field.wire_type == 2) {
      value = reader.text(4096);
    } else {
      reader.skip(field);
    }
  }
  if (key == "location") external.location = value;
  if (key == "offset") external.offset = parse_count(value, "offset");
  if (key == "length") external.length = parse_count(value, "length");
}

std::string resolved(const std::string& path) {
  char* text = realpath(path.c_str(), nullptr);
  if (text == nullptr) return {};
  std::string result(text);
  free(text);  // NOLINT: realpath hands out malloc'ed memory
  return result;
}

}  // namespace

std::shared_ptr<const SourceFile> open_external(const std::string& model_path,
                                                const std::string& location,
                                                const std::string& tensor) {
  const std::size_t slash = model_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : model_path.substr(0, slash);
  const auto refuse = [&](const char* why) {
    fail_input(fmt::format("tensor '{}': external data '{}' {}; keep the file beside the model",
                           tensor, location, why));
  };
  if (location.empty()) refuse("has no location");
  if (location.front() == '/') refuse("is an absolute path");
  if (("/" + location + "/").find("/../") != std::string::npos) {
    refuse("points outside the model's folder");
  }
  const std::string path = folder + "/" + location;
  const std::string real_folder = resolved(folder);
  const std::string real_path = resolved(path);
  if (real_path.empty()) refuse("does not exist");
  if (!real_path.starts_with(real_folder == "/" ? real_folder : real_folder + "/")) {
    refuse("is a link that leads outside the model's folder");
  }
  return SourceFile::open(real_path);
}

std::shared_ptr<const StoredTensor> read_tensor(WireReader& reader) {
  auto tensor = std::make_shared<StoredTensor>();
  std::vector<std::int64_t> dimensions;
  std::int64_t data_type = 0;
  FileRange payload{reader.file(), 0, 0};
  std::uint32_t payload_field = 0;
  int payload_chunks = 0;
  SmallBytes unpacked;
  External external;
  bool is_external = false;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 1 && field.wire_type == 0) {
      dimensions.push_back(static_cast<std::int64_t>(reader.varint()));
    } else if (field.number == 1 && field.wire_type == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      while (!reader.at_end()) dimensions.push_back(static_cast<std::int64_t>(reader.varint()));
      reader.leave(outer);
    } else if (field.number == 2 && field.wire_type == 0) {
      data_type = static_cast<std::int64_t>(reader.varint());
    } else if (field.number == 8 && field.wire_type == 2) {
      tensor->name = reader.text(4096);
    } else if (field.number == 13 && field.wire_type == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      read_external_entry(reader, external);
      reader.leave(outer);
    } else if (field.number == 14 && field.wire_type == 0) {
      is_external = reader.varint() == 1;
    } else if (field.wire_type == 2 &&
               (field.number == 4 || field.number == 5 || field.number == 7 || field.number == 9 ||
                field.number == 10 || field.number == 11)) {
      payload.length = reader.length();
      payload.offset = reader.position();
      payload_field = field.number;
      if (payload.length != 0) ++payload_chunks;
      reader.skip_bytes(payload.length);
    } else if (field.number == 4 && field.wire_type == 5) {
      const std::uint32_t bits = reader.fixed32();
      const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
      unpacked.insert(unpacked.end(), bytes, bytes + 4);
      payload_field = 4;
    } else if (field.number == 10 && field.wire_type == 1) {
      const std::uint64_t bits = reader.fixed64();
      const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
      unpacked.insert(unpacked.end(), bytes, bytes + 8);
      payload_field = 10;
    } else if ((field.number == 5 || field.number == 7 || field.number == 11) &&
               field.wire_type == 0) {
      const std::uint64_t value = reader.varint();
      const auto type = element_type_from_onnx(data_type);
      if (!type) reader.fail("values come before the tensor's type");
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      unpacked.insert(unpacked.end(), bytes, bytes + element_size(*type));
      payload_field = field.number;
    } else {
      reader.skip(field);
    }
    if (unpacked.size() > most_unpacked) reader.fail("a tensor's values are not packed");
    if (dimensions.size() > 64) reader.fail("a tensor has more than 64 dimensions");
  }
  if (dimensions.size() > Shape::max_rank) {
    fail_unsupported(fmt::format("tensor '{}' has {} dimensions; at most {} are supported",
                                 tensor->name, dimensions.size(), Shape::max_rank));
  }
  try {
    tensor->shape = Shape(dimensions);
  } catch (Error& error) {
    error.add_context(fmt::format("tensor '{}'", tensor->name));
    throw;
  }
  const auto type = element_type_from_onnx(data_type);
  if (!type || *type == ElementType::string) {
    // Kept without data: an error only where a node reads it.
    tensor->type = type.value_or(ElementType::undefined);
    tensor->source = Unbound{};
    return tensor;
  }
  tensor->type = *type;
  tensor->storage.element = *type;
  const std::uint64_t bytes = tensor->bytes();
  const auto wrong = [&](std::uint64_t have) {
    fail_input(fmt::format("tensor '{}' of type {} and shape {} needs {} bytes, its data has {}",
                           tensor->name, element_name(*type), tensor->shape.to_string(), bytes,
                           have));
  };
  if (is_external) {
    payload.file = open_external(reader.file()->path(), external.location, tensor->name);
    payload.offset = external.offset;
    payload.length = external.length.value_or(bytes);
    if (payload.length != bytes) wrong(payload.length);
    if (payload.offset > payload.file->size() ||
        payload.length > payload.file->size() - payload.offset) {
      fail_input(
          fmt::format("tensor '{}': bytes {} to {} of '{}' are needed, but the file has {} bytes",
                      tensor->name, payload.offset, payload.offset + payload.length,
                      payload.file->path(), payload.file->size()));
    }
    tensor->source = payload;
  } else if (!unpacked.empty()) {
    if (unpacked.size() != bytes) wrong(unpacked.size());
    tensor->source = std::move(unpacked);
    return tensor;
  } else {
    if (payload_chunks > 1) {
      fail_unsupported(fmt::format("tensor '{}' has its values in several pieces", tensor->name));
    }
    const bool varint = payload_field == 5 || payload_field == 7 || payload_field == 11;
    if (varint) {
      tensor->storage.form = StorageType::Form::varint;
      // Each value takes one to ten bytes.
      const auto count = static_cast<std::uint64_t>(tensor->shape.elements());
      if (payload.length < count || payload.length / 10 > count) wrong(payload.length);
    } else if (payload.length != bytes) {
      wrong(payload.length);
    }
    tensor->source = payload;
  }
  if (bytes <= small_bytes) {
    SmallBytes decoded(bytes);
    tensor->read(0, tensor->shape.elements(), decoded.data());
    tensor->source = std::move(decoded);
    tensor->storage.form = StorageType::Form::dense;
  }
  return tensor;
}

}  // namespace plimsoll::tensor::onnx
