// Source of the format: https://github.com/huggingface/safetensors (README, "Format").
//
//   0      u64 N, at most 100 MB
//   8      N bytes of JSON: KEY → dtype, shape, data_offsets [begin, end); padded with spaces
//   8 + N  data, from which the offsets count
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/archive/formats.h"
#include "tensor/archive/safetensors_json.h"

namespace plimsoll::tensor {
namespace {

constexpr std::uint64_t largest_header = 100'000'000;
constexpr std::string_view sharded_ending = ".index.json";

constexpr std::array<std::pair<std::string_view, ArchiveType>, 21> types = {{
    {"F64", ArchiveType::f64},
    {"F32", ArchiveType::f32},
    {"F16", ArchiveType::f16},
    {"BF16", ArchiveType::bf16},
    {"I64", ArchiveType::i64},
    {"I32", ArchiveType::i32},
    {"I16", ArchiveType::i16},
    {"I8", ArchiveType::i8},
    {"U64", ArchiveType::u64},
    {"U32", ArchiveType::u32},
    {"U16", ArchiveType::u16},
    {"U8", ArchiveType::u8},
    {"BOOL", ArchiveType::boolean},
    {"C64", ArchiveType::c64},
    {"F8_E5M2", ArchiveType::f8_e5m2},
    {"F8_E4M3", ArchiveType::f8_e4m3},
    {"F8_E8M0", ArchiveType::f8_e8m0},
    {"F8_E4M3FNUZ", ArchiveType::f8_e4m3fnuz},
    {"F8_E5M2FNUZ", ArchiveType::f8_e5m2fnuz},
    {"F6_E2M3", ArchiveType::f6_e2m3},
    {"F6_E3M2", ArchiveType::f6_e3m2},
}};

ArchiveType type_of(const SafetensorsTensor& tensor) {
  if (tensor.dtype == "F4") return ArchiveType::f4;
  for (const auto& [name, type] : types) {
    if (name == tensor.dtype) return type;
  }
  fail_unsupported(fmt::format("'{}' has the type '{}', which this build does not know", tensor.key,
                               tensor.dtype.substr(0, 40)));
}

Shape shape_of(const SafetensorsTensor& tensor) {
  if (tensor.shape.size() > Shape::max_rank) {
    fail_unsupported(fmt::format("'{}' has {} dimensions; at most {} are supported", tensor.key,
                                 tensor.shape.size(), Shape::max_rank));
  }
  std::array<std::int64_t, Shape::max_rank> dimensions{};
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] > INT64_MAX) {
      fail_input(fmt::format("'{}' has a dimension of {}", tensor.key, tensor.shape[i]));
    }
    dimensions[i] = static_cast<std::int64_t>(tensor.shape[i]);
  }
  try {
    return Shape(std::span<const std::int64_t>(dimensions.data(), tensor.shape.size()));
  } catch (Error& error) {
    error.add_context(fmt::format("'{}'", tensor.key));
    throw;
  }
}

/// Where a file's JSON and its data are.
struct Layout {
  JsonRange header;
  std::uint64_t data = 0;
};

Layout layout_of(const SourceFile& file) {
  if (file.size() < 8) fail_input("it has fewer than 8 bytes: fetch it again");
  std::array<std::byte, 8> first{};
  file.read(0, first);
  const auto length = load_little<std::uint64_t>(first, 0);
  if (length > largest_header) {
    fail_input(
        fmt::format("its header has {} bytes; the format allows {}: it is no safetensors file, "
                    "or damaged",
                    length, largest_header));
  }
  if (length > file.size() - 8) {
    fail_input(fmt::format("its header has {} bytes, but the file ends after {}: fetch it again",
                           length, file.size() - 8));
  }
  return {{8, length}, 8 + length};
}

NewArchiveEntry checked(const SafetensorsTensor& tensor, const SourceFile& file,
                        std::uint64_t data) {
  NewArchiveEntry entry;
  entry.key = tensor.key;
  entry.type = type_of(tensor);
  entry.shape = shape_of(tensor);
  const std::uint64_t begin = tensor.data_offsets[0];
  const std::uint64_t end = tensor.data_offsets[1];
  const std::uint64_t size = file.size() - data;
  if (begin > end || end > size) {
    fail_input(
        fmt::format("'{}' lies at {} to {} of {} bytes of data, which cannot be: the file was "
                    "cut or damaged; fetch it again",
                    tensor.key, begin, end, size));
  }
  const auto bytes = archive_bytes(entry.type, *entry.shape);
  if (bytes != end - begin) {
    fail_input(
        fmt::format("'{}' is {} of shape {}, which are not the {} bytes that it has: fetch the "
                    "file again",
                    tensor.key, facts_of(entry.type).name, entry.shape->to_string(), end - begin));
  }
  entry.offset = data + begin;
  entry.length = end - begin;
  return entry;
}

}  // namespace

bool is_sharded_index(std::string_view path) noexcept {
  return path.ends_with(sharded_ending);
}

bool read_safetensors(const SourceFile& file, ArchiveFiles&, ArchiveIndex& index) {
  const Layout layout = layout_of(file);
  return read_safetensors_header(file, layout.header, [&](const SafetensorsTensor& tensor) {
    return index.add(checked(tensor, file, layout.data));
  });
}

bool read_sharded_safetensors(const SourceFile& file, ArchiveFiles& files, ArchiveIndex& index) {
  if (file.size() > largest_header) {
    fail_input(fmt::format("it has {} bytes; an index of shards has at most {}", file.size(),
                           largest_header));
  }
  // What the map says: key and shard. Only in use until the shards are read.
  ArchiveIndex wanted(index.budget());
  std::uint32_t shards = 0;
  const bool whole = read_weight_map(
      file, {0, file.size()}, [&](const std::string& key, const std::string& shard) {
        NewArchiveEntry entry;
        entry.key = key;
        const std::size_t before = files.size();
        entry.file = files.add(shard);
        if (files.size() != before && !wanted.claim_beside(files.bytes_for(shard))) return false;
        shards = std::max(shards, entry.file);
        return wanted.add(entry);
      });
  if (!whole || !wanted.finish()) return index.refuse(wanted.refusal());
  if (const auto key = wanted.duplicate_key()) {
    fail_input(fmt::format("'weight_map' names the key '{}' twice", *key));
  }
  for (std::uint32_t number = 1; number <= shards; ++number) {
    const auto shard = files.file(number);
    try {
      const Layout layout = layout_of(*shard);
      const bool read =
          read_safetensors_header(*shard, layout.header, [&](const SafetensorsTensor& tensor) {
            const auto place = wanted.find(tensor.key);
            if (!place || wanted.file_of(*place) != number) return true;  // not what the map wants
            NewArchiveEntry entry = checked(tensor, *shard, layout.data);
            entry.file = number;
            return index.add(entry);
          });
      if (!read) return false;
    } catch (Error& error) {
      error.add_context(fmt::format("its shard '{}'", shard->path()));
      throw;
    }
  }
  if (!index.finish()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ArchiveEntry entry = wanted.entry(i);
    if (!index.find(entry.key)) {
      fail_input(
          fmt::format("'weight_map' says that '{}' is in '{}', but it is not: fetch both again",
                      entry.key, files.name(wanted.file_of(i))));
    }
  }
  return true;
}

}  // namespace plimsoll::tensor
