#include "cli/commands/outputs.h"

#include <fmt/format.h>

#include "cli/values/npy.h"

namespace plimsoll::cli {
namespace {

std::string numbered(std::string file, std::size_t number) {
  const std::size_t end = file.ends_with(".npy") ? file.size() - 4 : file.size();
  file.insert(end, fmt::format(".{}", number));
  return file;
}

OutputReport collect(const std::string& name, const ConstTensorView& tensor,
                     const std::string& file) {
  OutputReport output;
  output.name = name;
  output.type = tensor.type;
  output.shape = tensor.shape;
  output.file = file;
  output.statistics = make_statistics(tensor);
  if (!file.empty()) write_npy(file, tensor);
  return output;
}

}  // namespace

std::vector<OutputReport> collect_outputs(const Session& session, const ModelInfo& info,
                                          const std::vector<std::string>& files) {
  std::vector<OutputReport> outputs;
  for (std::size_t index = 0; index < info.outputs.size(); ++index) {
    const std::string& name = info.outputs[index].name;
    if (!session.output_is_sequence(name)) {
      outputs.push_back(collect(name, session.output(name), files[index]));
      continue;
    }
    const std::vector<ConstTensorView> items = session.output_sequence(name);
    for (std::size_t item = 0; item < items.size(); ++item) {
      outputs.push_back(
          collect(fmt::format("{}[{}]", name, item), items[item],
                  files[index].empty() ? std::string() : numbered(files[index], item)));
    }
  }
  return outputs;
}

}  // namespace plimsoll::cli
