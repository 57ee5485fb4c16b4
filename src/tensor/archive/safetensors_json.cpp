// Includes nlohmann-json, which takes long to compile.
#include "tensor/archive/safetensors_json.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "plimsoll/error.h"

namespace plimsoll::tensor {
namespace {

using Json = nlohmann::json;

// Trainers keep notes of some hundred kilobytes; a token is held in memory whole.
constexpr std::uint64_t longest_string = std::uint64_t{4} << 20;
constexpr std::size_t longest_list = 64;  // of dimensions
constexpr int deepest = 4;

/// The characters of a range, through a window; a string in it that is too long is refused while
/// it is read.
class Characters {
 public:
  Characters(const SourceFile& file, JsonRange range)
      : window_(file), next_(range.offset), end_(range.offset + range.length) {}

  [[nodiscard]] bool at_end() const noexcept { return position_ == piece_.size() && next_ == end_; }
  [[nodiscard]] char get() {
    if (position_ == piece_.size()) {
      const auto some =
          static_cast<std::size_t>(std::min<std::uint64_t>(end_ - next_, FileWindow::capacity));
      piece_ = window_.at(next_, some);
      position_ = 0;
      next_ += some;
    }
    return static_cast<char>(piece_[position_]);
  }
  void advance() {
    const char c = get();
    ++position_;
    if (c == '"' && !escaped_) {
      inside_ = !inside_;
      length_ = 0;
    }
    escaped_ = inside_ && c == '\\' && !escaped_;
    if (inside_ && ++length_ > longest_string) {
      fail_input(
          fmt::format("a string of its JSON has more than {} bytes, which is the most that is "
                      "supported",
                      longest_string));
    }
    // Numbers and spaces outside of strings: a number's digits are kept while it is read.
    outside_ =
        inside_ || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',' ? 0 : outside_ + 1;
    if (outside_ > longest_string) fail_input("a number of its JSON is too long");
  }

 private:
  FileWindow window_;
  std::span<const std::byte> piece_;
  std::size_t position_ = 0;
  std::uint64_t next_;
  std::uint64_t end_;
  bool inside_ = false;
  bool escaped_ = false;
  std::uint64_t length_ = 0;
  std::uint64_t outside_ = 0;
};

/// What the parser wants: an input iterator; a null one is the end.
class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  explicit Iterator(Characters* characters = nullptr) : characters_(characters) {}
  char operator*() const { return characters_->get(); }
  Iterator& operator++() {
    characters_->advance();
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.ended() == b.ended(); }

 private:
  [[nodiscard]] bool ended() const { return characters_ == nullptr || characters_->at_end(); }
  Characters* characters_;
};

[[noreturn]] void fail_form(const std::string& where) {
  fail_input(
      fmt::format("its JSON does not have the form of safetensors at {}: fetch the file again",
                  where.empty() ? "the top" : "'" + where.substr(0, 200) + "'"));
}

/// Follows depth and the latest key of each depth; what is found goes to the two below.
class Handler : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return other(); }
  bool boolean(bool) override { return other(); }
  bool number_integer(std::int64_t) override { return other(); }
  bool number_unsigned(std::uint64_t number) override { return on_number(number); }
  bool number_float(double, const std::string&) override { return other(); }
  bool string(std::string& text) override { return on_string(text); }
  bool binary(Json::binary_t&) override { return wrong(); }
  bool start_object(std::size_t) override {
    deeper();
    return on_object(true);
  }
  bool key(std::string& text) override {
    keys_[static_cast<std::size_t>(depth_)].swap(text);
    return true;
  }
  bool end_object() override {
    const bool go_on = on_object(false);
    --depth_;
    return go_on;
  }
  bool start_array(std::size_t) override {
    deeper();
    return on_array();
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    fail_input(
        fmt::format("it holds no valid JSON at character {}: the file was cut or damaged; fetch "
                    "it again",
                    position));
  }

 protected:
  /// The object that is beginning or about to end is at `depth_`.
  virtual bool on_object(bool begins) = 0;
  virtual bool on_array() = 0;
  virtual bool on_number(std::uint64_t number) = 0;
  virtual bool on_string(std::string& text) = 0;
  /// A value of a kind that nothing here is made of.
  virtual bool other() = 0;
  [[noreturn]] bool wrong() const { fail_form(keys_[1]); }
  [[nodiscard]] const std::string& key_at(int depth) const {
    return keys_[static_cast<std::size_t>(depth)];
  }
  [[nodiscard]] int depth() const noexcept { return depth_; }

 private:
  void deeper() {
    if (++depth_ > deepest) wrong();
  }
  int depth_ = 0;
  std::array<std::string, deepest + 1> keys_;
};

/// {"__metadata__": {text: text}, KEY: {"dtype": text, "shape": [numbers], "data_offsets": [b, e]}}
class HeaderHandler : public Handler {
 public:
  explicit HeaderHandler(const std::function<bool(const SafetensorsTensor&)>& take) : take_(take) {}

 protected:
  bool on_object(bool begins) override {
    if (depth() > 2) wrong();
    if (depth() == 1 || in_metadata()) return true;
    if (begins) {
      tensor_ = {};
      tensor_.key = key_at(1);
      return true;
    }
    if (!tensor_.has_dtype || !tensor_.has_shape || tensor_.data_offsets.size() != 2) wrong();
    return take_(tensor_);
  }
  bool on_array() override {
    if (depth() != 3 || in_metadata()) wrong();
    if (key_at(2) == "shape") {
      if (tensor_.has_shape) wrong();
      tensor_.has_shape = true;
    } else if (key_at(2) != "data_offsets" || !tensor_.data_offsets.empty()) {
      wrong();
    }
    return true;
  }
  bool on_number(std::uint64_t number) override {
    if (depth() != 3) wrong();
    auto& list = key_at(2) == "shape" ? tensor_.shape : tensor_.data_offsets;
    if (list.size() == longest_list) wrong();
    list.push_back(number);
    return true;
  }
  bool on_string(std::string& text) override {
    if (depth() != 2) wrong();
    if (in_metadata()) return true;
    if (key_at(2) != "dtype" || tensor_.has_dtype) wrong();
    tensor_.has_dtype = true;
    tensor_.dtype.swap(text);
    return true;
  }
  bool other() override { wrong(); }

 private:
  [[nodiscard]] bool in_metadata() const { return key_at(1) == "__metadata__"; }
  const std::function<bool(const SafetensorsTensor&)>& take_;
  SafetensorsTensor tensor_;
};

/// {"metadata": {…}, "weight_map": {KEY: FILE}}
class MapHandler : public Handler {
 public:
  explicit MapHandler(const std::function<bool(const std::string&, const std::string&)>& take)
      : take_(take) {}
  [[nodiscard]] bool found() const noexcept { return found_; }

 protected:
  bool on_object(bool begins) override {
    if (begins && in_map()) {
      if (depth() != 2 || found_) wrong();
      found_ = true;
    }
    return true;
  }
  bool on_array() override { return !in_map() || wrong(); }
  bool on_number(std::uint64_t) override { return other(); }
  bool on_string(std::string& text) override {
    if (!in_map()) return true;
    if (depth() != 2) wrong();
    return take_(key_at(2), text);
  }
  bool other() override { return !in_map() || wrong(); }

 private:
  [[nodiscard]] bool in_map() const { return depth() >= 1 && key_at(1) == "weight_map"; }
  const std::function<bool(const std::string&, const std::string&)>& take_;
  bool found_ = false;
};

}  // namespace

bool read_safetensors_header(const SourceFile& file, JsonRange text,
                             const std::function<bool(const SafetensorsTensor&)>& take) {
  Characters characters(file, text);
  HeaderHandler handler(take);
  return Json::sax_parse(Iterator(&characters), Iterator(), &handler);
}

bool read_weight_map(const SourceFile& file, JsonRange text,
                     const std::function<bool(const std::string&, const std::string&)>& take) {
  Characters characters(file, text);
  MapHandler handler(take);
  const bool whole = Json::sax_parse(Iterator(&characters), Iterator(), &handler);
  if (whole && !handler.found()) fail_input("it holds no 'weight_map': it is no index of shards");
  return whole;
}

}  // namespace plimsoll::tensor
