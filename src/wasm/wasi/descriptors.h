// The files that a guest has open. Why it exists: a guest's numbers are its own; it reaches nothing
// of the host's but what stands in this table. May touch: abi.h, POSIX files.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wasm/wasi/abi.h"

namespace plimsoll::wasm::wasi {

/// A descriptor of the host, closed with its owner unless it is borrowed.
class HostFile {
 public:
  HostFile() noexcept = default;
  [[nodiscard]] static HostFile owned(int number) noexcept { return {number, true}; }
  [[nodiscard]] static HostFile borrowed(int number) noexcept { return {number, false}; }
  HostFile(HostFile&& other) noexcept
      : number_(std::exchange(other.number_, -1)), is_owned_(other.is_owned_) {}
  HostFile& operator=(HostFile&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(is_owned_, other.is_owned_);
    return *this;
  }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  ~HostFile();

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_owned() const noexcept { return is_owned_; }

 private:
  HostFile(int number, bool is_owned) noexcept : number_(number), is_owned_(is_owned) {}
  int number_ = -1;
  bool is_owned_ = false;
};

struct Descriptor {
  HostFile file;
  FileType type = FileType::unknown;
  Rights rights = 0;
  Rights inheriting = 0;
  std::uint16_t flags = 0;               ///< of namespace descriptor_flags
  std::optional<std::string> preopened;  ///< the guest's name of a directory given at start
};

/// One thread at a time.
class DescriptorTable {
 public:
  /// More than programs need, and few enough that the host keeps some of its own 1,024.
  static constexpr std::size_t most = 512;

  /// The lowest free number, or Errno::descriptors_of_process.
  [[nodiscard]] std::expected<std::uint32_t, Errno> insert(Descriptor descriptor);
  /// With all of these rights; Errno::bad_descriptor or not_capable. Valid until the next change.
  [[nodiscard]] std::expected<Descriptor*, Errno> find(std::uint32_t number, Rights needed);
  [[nodiscard]] Errno close(std::uint32_t number);
  /// `to` is closed, `from` takes its number. Both are open before.
  [[nodiscard]] Errno renumber(std::uint32_t from, std::uint32_t to);

 private:
  std::vector<std::unique_ptr<Descriptor>> entries_;
};

[[nodiscard]] FileType type_of_mode(std::uint32_t mode) noexcept;
/// A standard stream of the host, or of who captures it; it stays open when the guest closes its
/// own.
[[nodiscard]] Descriptor standard_stream(int host_number, bool is_input);

/// Throws Error(bad_input) naming the directory, Error(unsupported) where guests cannot be
/// confined.
[[nodiscard]] Descriptor given_directory(const std::string& host, const std::string& guest);

}  // namespace plimsoll::wasm::wasi
