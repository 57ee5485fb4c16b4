// Files that others wrote: the ONNX project's test data and the models of the cache.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "import_fixture.h"
#include "support/test_data.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models_below(const fs::path& folder) {
  std::vector<fs::path> models;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(folder, options)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::ranges::sort(models);
  return models;
}

// What every later piece relies on.
void expect_sound(const Graph& graph, const std::string& where) {
  std::vector<bool> known(graph.values.size(), false);
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    known[id] = graph.values[id].stored != nullptr;
  }
  for (ValueId id : graph.inputs) known.at(id) = true;
  for (const Capture& capture : graph.captures) known.at(capture.inner) = true;
  for (const Node& node : graph.nodes) {
    EXPECT_NE(node.op_type, "Constant") << where;
    EXPECT_GT(node.opset, 0) << where;
    for (ValueId id : node.inputs) {
      EXPECT_TRUE(id == no_value || known.at(id)) << where << ": " << node.label();
    }
    for (const auto& [key, attribute] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      for (const Capture& capture : (*body)->captures) {
        EXPECT_TRUE(known.at(capture.outer)) << where << ": " << node.label();
        EXPECT_EQ(graph.values[capture.outer].stored, nullptr) << where << ": " << node.label();
      }
      expect_sound(**body, where + "/" + node.name);
    }
    for (ValueId id : node.outputs) {
      if (id == no_value) continue;
      EXPECT_FALSE(known.at(id)) << where << ": " << node.label();
      known[id] = true;
    }
  }
  for (ValueId id : graph.outputs) EXPECT_TRUE(known.at(id)) << where;
}

TEST(RealModels, TheStandardsTestDataImport) {
  const auto folder = test_data_folder();
  if (!folder) {
    GTEST_SKIP() << "the ONNX test data are not installed (Debian: libonnx-testdata); set "
                    "PLIMSOLL_ONNX_TEST_DATA to their folder";
  }
  const std::vector<fs::path> models = models_below(*folder);
  EXPECT_GT(models.size(), 1000U);
  for (const fs::path& path : models) {
    try {
      expect_sound(import_onnx(path.string())->main, path.string());
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

class CachedModels : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("PLIMSOLL_MODELS");
    if (given == nullptr || !fs::is_directory(given)) {
      GTEST_SKIP() << "set PLIMSOLL_MODELS to the folder of the fetched models";
    }
    models_ = models_below(given);
  }
  // Skips where the model was not fetched.
  std::shared_ptr<const ModelGraph> find(const std::string& name) {
    for (const fs::path& path : models_) {
      if (path.filename() == name) return import_onnx(path.string());
    }
    return nullptr;
  }
  std::vector<fs::path> models_;
};

TEST_F(CachedModels, AllImport) {
  EXPECT_FALSE(models_.empty());
  for (const fs::path& path : models_) {
    try {
      expect_sound(import_onnx(path.string())->main, path.string());
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

TEST_F(CachedModels, RxnmapSharesTheWeightsOfTwoLayers) {
  const auto model = find("rxnmap.onnx");
  if (model == nullptr) GTEST_SKIP() << "rxnmap.onnx was not fetched";
  // 15 layers of a transformer use the weights of two, four products each: one layer 8 times, the
  // other 7 times, and its first product once more for the result.
  std::map<const StoredTensor*, int> uses;
  std::set<std::string> operators;
  int products = 0;
  for (const Node& node : model->main.nodes) {
    operators.insert(node.op_type);
    if (node.op_type != "MatMul") continue;
    ++products;
    const auto& stored = model->main.values[node.inputs.at(1)].stored;
    if (stored != nullptr) ++uses[stored.get()];
  }
  EXPECT_EQ(products, 92);
  EXPECT_FALSE(operators.contains("Identity"));
  EXPECT_FALSE(operators.contains("Constant"));
  const auto used = [&](int times) {
    return std::ranges::count_if(uses, [&](const auto& use) { return use.second == times; });
  };
  EXPECT_EQ(uses.size(), 8U);
  EXPECT_EQ(used(8), 5);
  EXPECT_EQ(used(7), 3);
}

TEST_F(CachedModels, SileroLivesInsideOfIf) {
  const auto model = find("silero_vad_v5.onnx");
  if (model == nullptr) GTEST_SKIP() << "silero_vad_v5.onnx was not fetched";
  EXPECT_THAT(names_of(model->main, model->main.inputs),
              ::testing::ElementsAre("input", "state", "sr"));
  const auto found = std::ranges::find(model->main.nodes, "If", &Node::op_type);
  ASSERT_NE(found, model->main.nodes.end());
  EXPECT_GT(found->graph("then_branch")->nodes.size(), 1U);
}

}  // namespace
}  // namespace plimsoll::tensor::test
