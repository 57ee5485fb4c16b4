// The inputs of a run, from opened to read. Why it exists: a plan must know types, shapes and bytes
// of all inputs, and the values of small ones, before anything large is read; then the same values
// are read to the memory that was planned for them. May touch: the public API, values/value.h.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "cli/values/value.h"
#include "plimsoll/engine.h"

namespace plimsoll::cli {

/// Owns the inputs' memory: the session borrows it, so this must live as long as the session runs.
class LoadedInputs {
 public:
  /// Opens every value that is given, claims memory for all, reads those that may decide shapes (at
  /// most 64 elements) and tells the session of them and of the other inputs' types and shapes.
  /// Inputs without a value are planned with their declared shape, 1 where that is open. Throws
  /// Error(bad_input), and for inputs whose type or shape is neither given nor declared.
  LoadedInputs(const Engine& engine, Session& session, const std::vector<ValueRequest>& requests);

  /// Reads the rest and binds it. Throws Error(bad_input), Error(failure).
  [[nodiscard]] std::expected<void, Refusal> read_all(const Engine& engine, Session& session);

  /// Memory for inputs that the engine's limit could not give; nothing can be read then.
  [[nodiscard]] std::uint64_t refused_bytes() const noexcept { return refused_bytes_; }
  /// The most that reading one of them takes beside the inputs themselves.
  [[nodiscard]] std::uint64_t scratch_bytes() const noexcept { return scratch_bytes_; }

 private:
  struct Item {
    ValueType type;
    HostMemory memory;
  };
  struct Input {
    std::string name;
    std::unique_ptr<Value> value;  ///< absent: planned only
    std::vector<Item> items;
    bool is_read = false;
  };
  [[nodiscard]] static std::expected<void, Refusal> read(const Engine& engine, Session& session,
                                                         Input& input);
  void claim(const Engine& engine, Input& input, const ValueType& type);

  std::vector<Input> inputs_;
  std::uint64_t refused_bytes_ = 0;
  std::uint64_t scratch_bytes_ = 0;
};

}  // namespace plimsoll::cli
