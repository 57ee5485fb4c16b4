#include "support/test_data.h"

#include <algorithm>
#include <cstdlib>

#include "support/interpreter.h"
#include "tensor/import/tensor_proto.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;

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
  const ProtoKind proto = kind == DeclaredType::Kind::sequence   ? ProtoKind::sequence
                          : kind == DeclaredType::Kind::optional ? ProtoKind::optional
                                                                 : ProtoKind::tensor;
  const ProtoValue value = describe_tensor_proto(path.string(), proto);
  if (!value.has_value) return {};
  if (!value.is_sequence) return read_stored(*value.tensors.at(0));
  SequenceValue sequence;
  for (const auto& tensor : value.tensors) sequence.items.push_back(read_stored(*tensor));
  if (!sequence.items.empty()) sequence.element = sequence.items[0]->type.element;
  return std::make_shared<const SequenceValue>(std::move(sequence));
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
