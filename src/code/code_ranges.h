// Which owner an address of code belongs to. Why it exists: a signal handler must find it without
// locks and without allocating. May touch: the standard library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::code {

/// Whoever owns a range answers for its addresses. Called from signal handlers: nothing may lock or
/// allocate.
class CodeOwner {
 public:
  CodeOwner() = default;
  CodeOwner(const CodeOwner&) = delete;
  CodeOwner& operator=(const CodeOwner&) = delete;
  virtual ~CodeOwner() = default;
  /// The kind of the trap site at this address, or a negative number.
  [[nodiscard]] virtual int trap_kind_at(const std::byte* address) const noexcept = 0;
};

/// Most ranges at once, over the whole process.
inline constexpr std::size_t most_code_ranges = 4096;

/// A registration, ended by its destructor. Whoever ends it makes sure that no thread runs in the
/// range any more.
class CodeRange {
 public:
  /// Throws Error(failure) when there are too many.
  CodeRange(const std::byte* begin, std::uint64_t size, const CodeOwner& owner);
  CodeRange(const CodeRange&) = delete;
  CodeRange& operator=(const CodeRange&) = delete;
  ~CodeRange();

 private:
  std::size_t index_;
};

/// Async-signal-safe; null where the address is nobody's.
[[nodiscard]] const CodeOwner* find_code_owner(const void* address) noexcept;

}  // namespace plimsoll::code
