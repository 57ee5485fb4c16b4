#include "support/test_data.h"

#include <algorithm>
#include <cstdlib>

#include "support/interpreter.h"
#include "tensor/import/onnx_messages.h"
#include "tensor/import/wire.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;

DynamicValue read_tensor_message(WireReader& reader) {
  return read_stored(*onnx::read_tensor(reader));
}

/// SequenceProto: elem_type 2, tensor_values 3.
DynamicValue read_sequence(WireReader& reader) {
  SequenceValue sequence;
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == 3 && field.wire_type == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      sequence.items.push_back(read_stored(*onnx::read_tensor(reader)));
      reader.leave(outer);
    } else {
      reader.skip(field);
    }
  }
  if (!sequence.items.empty()) sequence.element = sequence.items[0]->type.element;
  return std::make_shared<const SequenceValue>(std::move(sequence));
}

/// OptionalProto: elem_type 2, tensor_value 3, sequence_value 5. Without either: empty.
DynamicValue read_optional(WireReader& reader) {
  DynamicValue value;
  WireReader::Field field;
  while (reader.next(field)) {
    if ((field.number == 3 || field.number == 5) && field.wire_type == 2) {
      const std::uint64_t outer = reader.enter(reader.length());
      value = field.number == 3 ? read_tensor_message(reader) : read_sequence(reader);
      reader.leave(outer);
    } else {
      reader.skip(field);
    }
  }
  return value;
}

/// Files `prefix`0.pb, `prefix`1.pb … as far as they go.
std::vector<fs::path> numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> files;
  for (;;) {
    const fs::path file = folder / (prefix + std::to_string(files.size()) + ".pb");
    if (!fs::exists(file)) return files;
    files.push_back(file);
  }
}

}  // namespace

std::optional<fs::path> test_data_folder() {
  const char* given = std::getenv("PLIMSOLL_ONNX_TEST_DATA");
  const fs::path folder = given != nullptr ? given : PLIMSOLL_ONNX_TEST_DATA;
  if (!fs::is_directory(folder / "node")) return std::nullopt;
  return folder;
}

DynamicValue read_value(const fs::path& path, DeclaredType::Kind kind) {
  if (fs::file_size(path) == 0) {
    // An empty message: an optional without a value, or an empty sequence.
    if (kind == DeclaredType::Kind::optional) return {};
    return std::make_shared<const SequenceValue>();
  }
  WireReader reader(SourceFile::open(path.string()));
  switch (kind) {
    case DeclaredType::Kind::sequence:
      return read_sequence(reader);
    case DeclaredType::Kind::optional:
      return read_optional(reader);
    case DeclaredType::Kind::tensor:
      break;
  }
  return read_tensor_message(reader);
}

std::vector<DataSet> data_sets(const fs::path& test) {
  std::vector<DataSet> sets;
  for (;;) {
    const fs::path folder = test / ("test_data_set_" + std::to_string(sets.size()));
    if (!fs::is_directory(folder)) return sets;
    sets.push_back({numbered(folder, "input_"), numbered(folder, "output_")});
  }
}

}  // namespace plimsoll::tensor::test
