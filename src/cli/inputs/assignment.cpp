#include "cli/inputs/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/inputs/declared_shapes.h"
#include "cli/inputs/names.h"
#include "cli/output_file.h"

namespace plimsoll::cli {
namespace {

ImageRange parse_image_range(const std::string& text) {
  if (text == "0..1") return ImageRange::zero_to_one;
  if (text == "-1..1") return ImageRange::minus_one_to_one;
  return ImageRange::zero_to_255;
}

/// Takes a value for an input that must not have one yet.
void give(ValueRequest& request, std::string_view text) {
  if (!request.text.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--input: '{}' is given twice, as '{}' and as '{}'",
                                              request.input, request.text, text));
  }
  if (text.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--input '{}=': a value must follow", request.input));
  }
  request.text = text;
}

void fill_in_order(const std::vector<std::string_view>& unnamed, const ModelInfo& info,
                   std::vector<ValueRequest>& requests) {
  std::size_t next = 0;
  for (const std::string_view text : unnamed) {
    while (next < requests.size() && !requests[next].text.empty()) ++next;
    if (next == requests.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("--input '{}': no input is left for it; the model's inputs are: {}",
                              text, list_names(info.inputs)));
    }
    give(requests[next], text);
  }
}

}  // namespace

std::string declared_text(const ValueInfo& info) {
  std::string text = info.is_sequence ? "sequence of " : "";
  text += info.element == ElementType::undefined ? "any type" : element_name(info.element);
  if (!info.dimensions) return text + (info.is_sequence ? "" : " of any shape");
  std::string shape;
  for (const DimensionInfo& dimension : *info.dimensions) {
    if (!shape.empty()) shape += "x";
    if (dimension.value >= 0) {
      shape += fmt::format("{}", dimension.value);
    } else {
      shape += dimension.symbol.empty() ? "?" : dimension.symbol;
    }
  }
  return fmt::format("{} {}", text, shape.empty() ? "scalar" : shape);
}

std::vector<ValueRequest> assign_inputs(const Options& options, const ModelInfo& info) {
  const auto dimensions = input_dimensions(options, info);
  std::vector<ValueRequest> requests;
  for (std::size_t index = 0; index < info.inputs.size(); ++index) {
    ValueRequest& request = requests.emplace_back();
    const ValueInfo& input = info.inputs[index];
    request.input = input.name;
    request.number = index;
    request.element = input.element;
    request.is_sequence = input.is_sequence;
    request.dimensions = dimensions[index];
    request.declared = declared_text(input);
    request.range = parse_image_range(options.image_range);
  }
  std::vector<std::string_view> unnamed;
  std::optional<std::string_view> filler;
  for (const std::string& text : options.inputs) {
    if (const auto named = named_prefix(info.inputs, text)) {
      give(requests[*named], std::string_view(text).substr(requests[*named].input.size() + 1));
    } else if (is_random(text)) {
      if (filler)
        throw Error(ErrorKind::usage, "--input: random:SEED is given twice without NAME=");
      filler = text;
    } else {
      unnamed.push_back(text);
    }
  }
  fill_in_order(unnamed, info, requests);
  if (filler) {
    for (ValueRequest& request : requests) {
      if (request.text.empty()) request.text = *filler;
    }
  }
  return requests;
}

void require_all_inputs(const std::vector<ValueRequest>& requests) {
  std::string missing;
  for (const ValueRequest& request : requests) {
    if (request.text.empty()) missing += fmt::format("\n  {}  {}", request.input, request.declared);
  }
  if (missing.empty()) return;
  fail_input(
      fmt::format("inputs are missing; give each with --input NAME=VALUE, or all with --input "
                  "random:1:{}",
                  missing));
}

std::vector<std::string> assign_outputs(const Options& options, const ModelInfo& info) {
  std::vector<std::string> files(info.outputs.size());
  const auto place = [&](std::size_t index, std::string_view file) {
    if (!files[index].empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("--output: '{}' is given twice, as '{}' and as '{}'",
                              info.outputs[index].name, files[index], file));
    }
    require_writable(std::string(file));
    files[index] = file;
  };
  std::vector<std::string_view> unnamed;
  for (const std::string& text : options.outputs) {
    if (const auto named = named_prefix(info.outputs, text)) {
      place(*named, std::string_view(text).substr(info.outputs[*named].name.size() + 1));
      continue;
    }
    // A misspelt name must not become a file's.
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && text.find('/') > equals) {
      throw Error(ErrorKind::usage,
                  fmt::format("--output '{}': the model has no output '{}'; it has: {}", text,
                              text.substr(0, equals), list_names(info.outputs)));
    }
    unnamed.push_back(text);
  }
  std::size_t next = 0;
  for (const std::string_view text : unnamed) {
    while (next < files.size() && !files[next].empty()) ++next;
    if (next == files.size()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--output '{}': no output is left for it; the model's outputs are: {}", text,
                      list_names(info.outputs)));
    }
    place(next, text);
  }
  return files;
}

std::vector<StateBinding> assign_states(const Options& options, const ModelInfo& info) {
  std::vector<StateBinding> bindings;
  for (const std::string& text : options.states) {
    const auto output = named_prefix(info.outputs, text);
    const std::string input =
        output ? text.substr(info.outputs[*output].name.size() + 1) : std::string();
    if (!output || std::ranges::find(info.inputs, input, &ValueInfo::name) == info.inputs.end()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--state '{}': give OUTPUT=INPUT with names of the model; its outputs "
                      "are: {}; its inputs: {}",
                      text, list_names(info.outputs), list_names(info.inputs)));
    }
    for (const StateBinding& other : bindings) {
      if (other.input == input) {
        throw Error(ErrorKind::usage, fmt::format("--state: input '{}' is bound twice", input));
      }
    }
    bindings.push_back({info.outputs[*output].name, input});
  }
  return bindings;
}

}  // namespace plimsoll::cli
