// The dictionary of a .npy file: Python text, of which only what NumPy writes is accepted.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "cli/values/npy.h"
#include "cli/values/npy_types.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

/// Walks the text; every step says whether what it wanted was there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<std::vector<std::int64_t>> tuple() {
    if (!take("(")) return std::nullopt;
    std::vector<std::int64_t> numbers;
    while (!take(")")) {
      skip_space();
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return std::nullopt;
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc{}) return std::nullopt;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      (void)take("L");  // Python 2 wrote long numbers so
      numbers.push_back(number);
      if (numbers.size() > 64) return std::nullopt;
      if (!take(",") && !rest_.starts_with(')')) return std::nullopt;
    }
    return numbers;
  }
  bool at_end() {
    skip_space();
    return rest_.empty();
  }

 private:
  std::string_view rest_;
};

[[noreturn]] void fail(const std::string& name, std::string_view why) {
  fail_input(fmt::format("'{}' {}", name, why));
}

void read_type(std::string_view descr, const std::string& name, NpyHeader& header) {
  for (const NpyType& known : npy_types) {
    const bool named = descr.size() == 3 && descr.substr(1) == known.code;
    if (!named || std::string_view("<>=|").find(descr[0]) == std::string_view::npos) continue;
    header.type = known.type;
    header.big_endian = descr[0] == '>';
    return;
  }
  fail(name, fmt::format("holds elements of NumPy's type '{}', which is not supported; convert "
                         "them, for example with numpy's astype('float32')",
                         descr));
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name) {
  constexpr std::string_view damaged =
      "has a damaged .npy header; write it again with numpy.save or numpy.savez";
  NpyHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  Scanner scanner(text);
  if (!scanner.take("{")) fail(name, damaged);
  while (!scanner.take("}")) {
    const auto key = scanner.quoted();
    if (!key || !scanner.take(":")) fail(name, damaged);
    if (*key == "descr" && !has_type) {
      if (scanner.take("[")) {
        fail(name, "holds records of several fields; save each field as an array of its own");
      }
      const auto descr = scanner.quoted();
      if (!descr) fail(name, damaged);
      read_type(*descr, name, header);
      has_type = true;
    } else if (*key == "fortran_order" && !has_order) {
      header.column_major = scanner.take("True");
      if (!header.column_major && !scanner.take("False")) fail(name, damaged);
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      const auto dimensions = scanner.tuple();
      if (!dimensions) fail(name, damaged);
      try {
        header.shape = Shape(*dimensions);
      } catch (Error& error) {
        error.add_context(fmt::format("'{}'", name));
        throw;
      }
      has_shape = true;
    } else {
      fail(name, damaged);
    }
    if (scanner.take("}")) break;
    if (!scanner.take(",")) fail(name, damaged);
  }
  if (!scanner.at_end() || !has_type || !has_order || !has_shape) fail(name, damaged);
  return header;
}

}  // namespace plimsoll::cli
