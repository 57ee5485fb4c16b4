#include "image_network.h"

#include <random>
#include <vector>

#include "support/onnx_writer.h"

namespace plimsoll::tensor::test {
namespace {

struct Image {
  std::string name;
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
  bool read = false;
};

class Maker {
 public:
  explicit Maker(const ImageNetwork& network) : network_(network), random_(network.seed) {}

  std::string make() {
    graph_.input("x", ElementType::f32, {network_.batch, 4, network_.height, network_.width});
    images_.push_back({"x", 4, network_.height, network_.width});
    for (int node = 0; node < network_.nodes; ++node) add_node();
    int output = 0;
    for (const Image& image : images_) {
      if (image.read) continue;
      const std::string name = "y" + std::to_string(output++);
      graph_.node(NodeWriter("Relu", {image.name}, {name}));
      graph_.output(name, ElementType::f32,
                    {network_.batch, image.channels, image.height, image.width});
    }
    return ModelWriter().graph(graph_).bytes();
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::string fresh(const char* what) { return what + std::to_string(next_++); }

  /// The latest values are read most, so that chains come about.
  Image& source() {
    const auto last = static_cast<std::int64_t>(images_.size()) - 1;
    Image& image = images_[static_cast<std::size_t>(last - std::min(last, pick(0, 5) / 3))];
    image.read = true;
    return image;
  }

  std::string weight(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<float> values(count);
    std::uniform_real_distribution<float> uniform(-0.3F, 0.3F);
    for (float& value : values) value = uniform(random_);
    const std::string name = fresh("w");
    graph_.initializer(raw_tensor<float>(name, shape, values));
    return name;
  }
  std::string integers(const std::vector<std::int64_t>& values) {
    const std::string name = fresh("i");
    graph_.initializer(
        raw_tensor<std::int64_t>(name, {static_cast<std::int64_t>(values.size())}, values));
    return name;
  }

  void add(NodeWriter node, std::string name, std::int64_t channels, std::int64_t height,
           std::int64_t width) {
    graph_.node(node);
    images_.push_back({std::move(name), channels, height, width});
  }

  void convolution(bool depthwise) {
    const Image image = source();
    const std::int64_t kernel = std::min({2 * pick(0, 2) + 1, image.height, image.width});
    const std::int64_t dilation = kernel == 3 ? pick(1, 2) : 1;
    const std::int64_t stride = image.height > 9 ? pick(1, 3) / 3 + 1 : 1;
    const std::int64_t reach = (kernel - 1) * dilation;
    const std::int64_t pad = pick(0, 1) == 0 || image.height <= reach ? reach / 2 : 0;
    if (image.height + 2 * pad <= reach || image.width + 2 * pad <= reach) return relu();
    const std::int64_t height = (image.height + 2 * pad - reach - 1) / stride + 1;
    const std::int64_t width = (image.width + 2 * pad - reach - 1) / stride + 1;
    const std::int64_t channels = depthwise ? image.channels : pick(1, network_.most_channels);
    const std::string name = fresh("v");
    NodeWriter node("Conv",
                    {image.name, weight({channels, depthwise ? 1 : image.channels, kernel, kernel}),
                     weight({channels})},
                    {name});
    node.integers("kernel_shape", {kernel, kernel});
    node.integers("strides", {stride, stride});
    node.integers("dilations", {dilation, dilation});
    node.integers("pads", {pad, pad, pad, pad});
    if (depthwise) node.integer("group", channels);
    add(node, name, channels, height, width);
  }

  void relu() {
    const Image image = source();
    const std::string name = fresh("v");
    add(NodeWriter(pick(0, 1) == 0 ? "Relu" : "Sigmoid", {image.name}, {name}), name,
        image.channels, image.height, image.width);
  }

  void pool() {
    const Image image = source();
    if (image.height < 4 || image.width < 4) return;
    const std::string name = fresh("v");
    NodeWriter node(pick(0, 1) == 0 ? "MaxPool" : "AveragePool", {image.name}, {name});
    node.integers("kernel_shape", {3, 2});
    node.integers("strides", {2, 1});
    node.integers("pads", {1, 0, 0, 1});
    add(node, name, image.channels, (image.height + 1 - 3) / 2 + 1, image.width);
  }

  void resize() {
    const Image image = source();
    if (image.height > 60) return;
    const std::string name = fresh("v");
    const std::vector<float> scales = {1, 1, 2, 2};
    const std::string list = fresh("s");
    graph_.initializer(raw_tensor<float>(list, {4}, scales));
    NodeWriter node("Resize", {image.name, "", list}, {name});
    const bool linear = pick(0, 1) == 0;
    node.text("mode", linear ? "linear" : "nearest");
    if (!linear) {
      node.text("coordinate_transformation_mode", "asymmetric").text("nearest_mode", "floor");
    }
    add(node, name, image.channels, image.height * 2, image.width * 2);
  }

  void transposed() {
    const Image image = source();
    if (image.height > 60) return;
    const std::int64_t channels = pick(1, 9);
    const std::string name = fresh("v");
    NodeWriter node("ConvTranspose", {image.name, weight({image.channels, channels, 2, 2})},
                    {name});
    node.integers("kernel_shape", {2, 2}).integers("strides", {2, 2});
    add(node, name, channels, image.height * 2, image.width * 2);
  }

  void pad() {
    const Image image = source();
    const std::string name = fresh("v");
    add(NodeWriter("Pad", {image.name, integers({0, 0, 1, 0, 0, 0, 2, 1})}, {name}), name,
        image.channels, image.height + 3, image.width + 1);
  }

  /// Two values of the same size are added or joined.
  void join() {
    const Image a = source();
    std::vector<std::size_t> fitting;
    for (std::size_t index = 0; index < images_.size(); ++index) {
      const Image& b = images_[index];
      if (b.height == a.height && b.width == a.width && b.name != a.name) fitting.push_back(index);
    }
    if (fitting.empty()) return;
    Image& b = images_[fitting[static_cast<std::size_t>(
        pick(0, static_cast<std::int64_t>(fitting.size()) - 1))]];
    b.read = true;
    const Image other = b;
    const std::string name = fresh("v");
    if (other.channels == a.channels && pick(0, 2) != 0) {
      add(NodeWriter(pick(0, 1) == 0 ? "Add" : "Mul", {a.name, other.name}, {name}), name,
          a.channels, a.height, a.width);
    } else {
      add(NodeWriter("Concat", {a.name, other.name}, {name}).integer("axis", 1), name,
          a.channels + other.channels, a.height, a.width);
    }
  }

  /// A part of the channels; or a factor for each channel, which needs the whole image.
  void part() {
    const Image image = source();
    const std::string name = fresh("v");
    if (pick(0, 1) == 0) {
      const std::int64_t count = (image.channels + 1) / 2;
      add(NodeWriter("Slice", {image.name, integers({0}), integers({count}), integers({1})},
                     {name}),
          name, count, image.height, image.width);
      return;
    }
    const std::string mean = fresh("m");
    graph_.node(NodeWriter("GlobalAveragePool", {image.name}, {mean}));
    add(NodeWriter("Mul", {image.name, mean}, {name}), name, image.channels, image.height,
        image.width);
  }

  void add_node() {
    switch (pick(0, 12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return convolution(false);
      case 4:
      case 5:
        return convolution(true);
      case 6:
        return relu();
      case 7:
        return pool();
      case 8:
        return resize();
      case 9:
        return pad();
      case 10:
        return transposed();
      case 11:
        return part();
      default:
        return join();
    }
  }

  ImageNetwork network_;
  std::mt19937 random_;
  GraphWriter graph_;
  std::vector<Image> images_;
  int next_ = 0;
};

}  // namespace

std::string image_network(const ImageNetwork& network) {
  return Maker(network).make();
}

}  // namespace plimsoll::tensor::test
