// Faults. Why it exists: every floor reports a fault in one shape, so that the command line can map
// it to an exit code and a host program can tell a bad file from a mistake of ours.
// May touch: the standard library only.
//
// A fault is thrown. Running out of budget is no fault: it is an outcome (see refusal.h).
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace plimsoll {

/// Who is to blame, and so what the caller can do about it.
enum class ErrorKind {
  usage,        ///< the caller asked for something that makes no sense (exit 2)
  bad_input,    ///< a file, model or value is missing, damaged or does not match (exit 3)
  unsupported,  ///< valid, but this build does not implement it (exit 3)
  failure,      ///< the system failed us while running: read error, disk full (exit 6)
  internal,     ///< a mistake of ours, out of memory behind the ledger's back included (exit 6)
};

/// One fault: a sentence naming the thing, the cause and what to do. Context is put in front on the
/// way up ("node 'conv1': input 'x' …").
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

  /// Puts "context: " in front of the message. For `catch (Error& e) { e.add_context(…); throw; }`.
  void add_context(std::string_view context) {
    message_.insert(0, ": ");
    message_.insert(0, context);
  }

 private:
  ErrorKind kind_;
  std::string message_;
};

[[noreturn]] inline void fail_input(std::string message) {
  throw Error(ErrorKind::bad_input, std::move(message));
}
[[noreturn]] inline void fail_unsupported(std::string message) {
  throw Error(ErrorKind::unsupported, std::move(message));
}
[[noreturn]] inline void fail_internal(std::string message) {
  throw Error(ErrorKind::internal, std::move(message));
}

}  // namespace plimsoll
