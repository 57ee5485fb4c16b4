#include "cli/inputs/declared_shapes.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/inputs/assignment.h"
#include "cli/inputs/names.h"
#include "cli/values/value_spec.h"

namespace plimsoll::cli {
namespace {

std::string list_symbols(const ModelInfo& info) {
  std::set<std::string> symbols;
  for (const ValueInfo& input : info.inputs) {
    if (!input.dimensions) continue;
    for (const DimensionInfo& dimension : *input.dimensions) {
      if (dimension.value < 0 && !dimension.symbol.empty()) symbols.insert(dimension.symbol);
    }
  }
  std::string text;
  for (const std::string& symbol : symbols) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", symbol);
  }
  return text.empty() ? "none; give --shape INPUT=1x512 instead" : text;
}

std::map<std::string, std::int64_t> parse_dimensions(const Options& options,
                                                     const ModelInfo& info) {
  std::set<std::string> known;
  for (const ValueInfo& input : info.inputs) {
    if (!input.dimensions) continue;
    for (const DimensionInfo& dimension : *input.dimensions) {
      if (dimension.value < 0) known.insert(dimension.symbol);
    }
  }
  std::map<std::string, std::int64_t> result;
  for (const std::string& text : options.dimensions) {
    // A number holds no '=', a symbol may.
    const std::size_t equals = text.rfind('=');
    const auto value =
        equals == std::string::npos ? std::nullopt : parse_dimension(text.substr(equals + 1));
    if (!value || equals == 0) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--dim '{}': give NAME=N with a whole number N, as in batch=1", text));
    }
    const std::string name = text.substr(0, equals);
    if (!known.contains(name)) {
      throw Error(ErrorKind::usage,
                  fmt::format("--dim '{}': no input of the model has a dimension '{}'; it has: {}",
                              text, name, list_symbols(info)));
    }
    if (!result.emplace(name, *value).second) {
      throw Error(ErrorKind::usage, fmt::format("--dim: '{}' is given twice", name));
    }
  }
  return result;
}

std::map<std::size_t, Shape> parse_shapes(const Options& options, const ModelInfo& info) {
  std::map<std::size_t, Shape> result;
  for (const std::string& text : options.shapes) {
    const auto index = named_prefix(info.inputs, text);
    if (!index) {
      throw Error(ErrorKind::usage,
                  fmt::format("--shape '{}': give INPUT=1x512 with a name of the model's inputs, "
                              "which are: {}",
                              text, list_names(info.inputs)));
    }
    const std::string_view written =
        std::string_view(text).substr(info.inputs[*index].name.size() + 1);
    std::optional<Shape> shape;
    try {
      shape = parse_shape(written);
    } catch (Error& error) {
      error.add_context(fmt::format("--shape '{}'", text));
      throw;
    }
    if (!shape) {
      throw Error(ErrorKind::usage,
                  fmt::format("--shape '{}': '{}' is no shape; give one as in 1x3x640x640, or "
                              "'scalar'",
                              text, written));
    }
    if (!result.emplace(*index, *shape).second) {
      throw Error(ErrorKind::usage,
                  fmt::format("--shape: '{}' is given twice", info.inputs[*index].name));
    }
  }
  return result;
}

void check_shape(const ValueInfo& input, const Shape& shape) {
  if (!input.dimensions) return;
  bool matches = input.dimensions->size() == shape.rank();
  for (std::size_t axis = 0; matches && axis < shape.rank(); ++axis) {
    const std::int64_t wanted = (*input.dimensions)[axis].value;
    matches = wanted < 0 || wanted == shape[axis];
  }
  if (!matches) {
    fail_input(fmt::format("--shape: input '{}' cannot be {}: the model takes {}", input.name,
                           shape.to_string(), declared_text(input)));
  }
}

}  // namespace

std::vector<std::optional<std::vector<std::int64_t>>> input_dimensions(const Options& options,
                                                                       const ModelInfo& info) {
  const std::map<std::string, std::int64_t> named = parse_dimensions(options, info);
  const std::map<std::size_t, Shape> shapes = parse_shapes(options, info);
  std::vector<std::optional<std::vector<std::int64_t>>> result;
  for (std::size_t index = 0; index < info.inputs.size(); ++index) {
    const ValueInfo& input = info.inputs[index];
    auto& dimensions = result.emplace_back();
    if (const auto given = shapes.find(index); given != shapes.end()) {
      check_shape(input, given->second);
      const auto sizes = given->second.dimensions();
      dimensions.emplace(sizes.begin(), sizes.end());
      continue;
    }
    if (!input.dimensions) continue;
    dimensions.emplace();
    for (const DimensionInfo& dimension : *input.dimensions) {
      const auto known = named.find(dimension.symbol);
      const std::int64_t open = known != named.end() ? known->second : -1;
      dimensions->push_back(dimension.value >= 0 ? dimension.value : open);
    }
  }
  return result;
}

}  // namespace plimsoll::cli
