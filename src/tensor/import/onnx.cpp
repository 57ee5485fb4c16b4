#include "tensor/import/onnx.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "plimsoll/error.h"
#include "tensor/import/external_data.h"
#include "tensor/import/graph_builder.h"
#include "tensor/import/read_messages.h"
#include "tensor/import/structure_limit.h"
#include "tensor/import/wire.h"
#include "tensor/import/wrong_file.h"

namespace plimsoll::tensor {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::shared_ptr<const ModelGraph> read_file(const std::shared_ptr<const SourceFile>& file,
                                            std::optional<std::string> folder) {
  StructureLimit limit;
  WireReader wire(file, limit);
  onnx::ExternalFiles external(std::move(folder));
  onnx::ReadContext context{wire, external};
  const onnx::ModelMessage message = onnx::read_model(context);
  if (!message.graph) fail_input("it holds no graph, so it is no ONNX model: check the path");
  auto model = std::make_shared<ModelGraph>();
  model->main = onnx::build_graph(message, limit);
  model->path = file->path();
  model->producer = message.producer;
  model->ir_version = message.ir_version;
  model->opsets = message.opsets;
  return model;
}

std::shared_ptr<const ModelGraph> import_file(const std::shared_ptr<const SourceFile>& file,
                                              std::optional<std::string> folder) {
  try {
    return read_file(file, std::move(folder));
  } catch (Error& error) {
    if (error.kind() == ErrorKind::bad_input) {
      const std::string wrong = describe_wrong_file(*file);
      if (!wrong.empty()) {
        fail_input(fmt::format("'{}' is no ONNX model: it is {}", file->path(), wrong));
      }
    }
    error.add_context(fmt::format("model '{}'", file->path()));
    throw;
  }
}

}  // namespace

std::shared_ptr<const ModelGraph> import_onnx(const std::string& path) {
  return import_file(SourceFile::open(path), folder_of(path));
}

std::shared_ptr<const ModelGraph> import_onnx_bytes(const std::string& name,
                                                    std::span<const std::byte> bytes) {
  return import_file(SourceFile::from_memory(name, bytes), std::nullopt);
}

}  // namespace plimsoll::tensor
