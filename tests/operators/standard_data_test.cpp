// Every test of the ONNX project's data, run by the interpreter. Why it exists: it shows which
// operators are covered, by name, and the recorded totals may not fall. May touch: everything.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/compare.h"
#include "support/interpreter.h"
#include "support/test_data.h"
#include "tensor/import/onnx.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;

/// Expected outputs that come from a random stream which the standard does not fix.
const std::set<std::string, std::less<>> random_tests{
    "test_bernoulli",      "test_bernoulli_expanded",        "test_bernoulli_double",
    "test_bernoulli_seed", "test_bernoulli_double_expanded", "test_bernoulli_seed_expanded"};

/// The windows in this version of the data were made with π as 3.1415, their function bodies too.
const std::set<std::string, std::less<>> short_pi_tests{"test_blackmanwindow",
                                                        "test_blackmanwindow_symmetric",
                                                        "test_hammingwindow",
                                                        "test_hammingwindow_symmetric",
                                                        "test_hannwindow",
                                                        "test_hannwindow_symmetric",
                                                        "test_blackmanwindow_expanded",
                                                        "test_blackmanwindow_symmetric_expanded",
                                                        "test_hammingwindow_expanded",
                                                        "test_hammingwindow_symmetric_expanded",
                                                        "test_hannwindow_expanded",
                                                        "test_hannwindow_symmetric_expanded"};

void collect_operators(const Graph& graph, std::set<std::string>& names) {
  for (const Node& node : graph.nodes) {
    names.insert(node.domain.empty() ? node.op_type : node.domain + "." + node.op_type);
    for (const auto& [key, value] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value)) {
        collect_operators(**body, names);
      }
    }
  }
}

struct Outcome {
  enum class Kind : std::uint8_t { passed, unsupported, failed } kind = Kind::passed;
  std::string reason;
};

/// Correct rounding costs half a step of the type; the rest is room for the order of sums.
Tolerance tolerance_for(const std::string& test, const DynamicValue& expected) {
  if (short_pi_tests.contains(test)) return {1e-3, 1e-5};
  const auto* tensor = std::get_if<std::shared_ptr<const OwnedTensor>>(&expected);
  const ElementType type = tensor != nullptr ? (*tensor)->type.element : ElementType::f32;
  switch (type) {
    case ElementType::f64:
      return {1e-6, 1e-7};
    case ElementType::f16:
      return {2e-3, 1e-4};
    case ElementType::bf16:
      return {1e-2, 1e-3};
    default:
      return {1e-4, 1e-5};
  }
}

/// A value of a file. This version of the data stores bf16 as u16.
DynamicValue read_declared(const fs::path& path, const Value& declared_value) {
  const auto& declared = declared_value.declared;
  DynamicValue value = read_value(path, declared ? declared->kind : DeclaredType::Kind::tensor);
  const auto* tensor = std::get_if<std::shared_ptr<const OwnedTensor>>(&value);
  if (tensor == nullptr || !declared || declared->element != ElementType::bf16 ||
      (*tensor)->type.element != ElementType::u16) {
    return value;
  }
  ConstTensorView view = (*tensor)->view();
  view.type = ElementType::bf16;
  return copy_of(view);
}

std::string run_set(const std::string& test, const Graph& graph, const DataSet& set,
                    Interpreter::Options options) {
  std::vector<DynamicValue> inputs;
  for (std::size_t index = 0; index < set.inputs.size(); ++index) {
    inputs.push_back(read_declared(set.inputs[index], graph.values[graph.inputs.at(index)]));
  }
  const std::vector<DynamicValue> outputs = Interpreter(options).run(graph, std::move(inputs));
  if (outputs.size() != set.outputs.size()) return "another number of outputs";
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    const DynamicValue expected =
        read_declared(set.outputs[index], graph.values[graph.outputs[index]]);
    const std::string message = difference(outputs[index], expected, tolerance_for(test, expected));
    if (!message.empty()) return fmt::format("output {}: {}", index, message);
  }
  return "";
}

Outcome run_test(const fs::path& folder, std::set<std::string>& operators) {
  try {
    const auto model = import_onnx((folder / "model.onnx").string());
    collect_operators(model->main, operators);
    const std::string test = folder.filename().string();
    const std::vector<DataSet> sets = data_sets(folder);
    if (sets.empty()) return {Outcome::Kind::failed, "has no data"};
    for (const DataSet& set : sets) {
      std::string message = run_set(test, model->main, set, {.threads = 1, .in_place = false});
      if (!message.empty()) return {Outcome::Kind::failed, message};
      message = run_set(test, model->main, set, {.threads = 2, .in_place = true});
      if (!message.empty()) return {Outcome::Kind::failed, "in place: " + message};
    }
    return {};
  } catch (const Error& error) {
    const bool unsupported = error.kind() == ErrorKind::unsupported;
    return {unsupported ? Outcome::Kind::unsupported : Outcome::Kind::failed, error.message()};
  } catch (const std::exception& error) {
    return {Outcome::Kind::failed, error.what()};
  }
}

/// Runs all tests of a folder; prints what is covered by operator and what is not by name. At least
/// `least` must pass, and none may give a wrong answer.
void run_folder(const std::string& name, int least) {
  const auto root = test_data_folder();
  if (!root) {
    GTEST_SKIP() << "the ONNX test data are not installed (Debian: libonnx-testdata); set "
                    "PLIMSOLL_ONNX_TEST_DATA to their folder";
  }
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(*root / name)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  std::map<std::string, std::pair<int, int>> by_operator;  // passed, all
  std::vector<std::string> uncovered;
  int passed = 0;
  for (const fs::path& folder : folders) {
    const std::string test = folder.filename().string();
    std::set<std::string> operators;
    const Outcome outcome = run_test(folder, operators);
    const bool random = random_tests.contains(test);
    const bool covered = outcome.kind == Outcome::Kind::passed && !random;
    passed += covered ? 1 : 0;
    for (const std::string& used : operators) {
      by_operator[used].first += covered ? 1 : 0;
      by_operator[used].second += 1;
    }
    if (random) {
      uncovered.push_back(test + ": the expected values are random");
    } else if (!covered) {
      uncovered.push_back(test + ": " + outcome.reason);
    }
    EXPECT_TRUE(outcome.kind != Outcome::Kind::failed || random)
        << name << "/" << test << ": " << outcome.reason;
  }
  fmt::print("{}: {} of {} tests pass\n", name, passed, folders.size());
  for (const auto& [used, counts] : by_operator) {
    fmt::print("  {} {}/{}\n", used, counts.first, counts.second);
  }
  if (!uncovered.empty()) fmt::print("{}: not covered\n", name);
  for (const std::string& line : uncovered) fmt::print("  {}\n", line);
  EXPECT_GE(passed, least) << "fewer tests pass than before";
}

TEST(StandardData, Node) {
  run_folder("node", 887);
}
TEST(StandardData, PytorchOperator) {
  run_folder("pytorch-operator", 35);
}
TEST(StandardData, PytorchConverted) {
  run_folder("pytorch-converted", 82);
}
TEST(StandardData, Simple) {
  run_folder("simple", 15);
}

}  // namespace
}  // namespace plimsoll::tensor::test
