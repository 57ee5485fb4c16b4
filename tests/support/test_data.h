// The ONNX project's test data: folders with a model and its inputs and outputs as .pb files. Why
// it exists: operators, the importer and runs are all tested with them. May touch: import/, graph/.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tensor/graph/graph.h"
#include "tensor/operators/dynamic.h"

namespace plimsoll::tensor::test {

/// The folder that holds `node`, `simple` …: PLIMSOLL_ONNX_TEST_DATA, or where Debian's
/// libonnx-testdata puts it. Nothing when it is not there.
[[nodiscard]] std::optional<std::filesystem::path> test_data_folder();

/// A TensorProto, SequenceProto or OptionalProto file, read as what the graph declares.
[[nodiscard]] DynamicValue read_value(const std::filesystem::path& path, DeclaredType::Kind kind);

/// One pair of inputs and outputs, in the order of the file names' numbers.
struct DataSet {
  std::vector<std::filesystem::path> inputs;
  std::vector<std::filesystem::path> outputs;
};
/// The test_data_set_N folders of a test.
[[nodiscard]] std::vector<DataSet> data_sets(const std::filesystem::path& test);

}  // namespace plimsoll::tensor::test
