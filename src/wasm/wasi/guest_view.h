// A guest's memory as calls of the system see it. Why it exists: every address and length that a
// guest gives is checked here, in 64 bits, before it is used. May touch: runtime/guest_memory.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "wasm/runtime/guest_memory.h"

namespace plimsoll::wasm::wasi {

/// Valid until the memory grows: made anew for each call. Without a memory nothing is in bounds.
class GuestView {
 public:
  explicit GuestView(GuestMemory* memory) noexcept {
    if (memory != nullptr) bytes_ = {memory->view().base, memory->view().bytes};
  }

  /// Nothing unless all of it lies inside.
  [[nodiscard]] std::optional<std::span<std::byte>> bytes(std::uint32_t address,
                                                          std::uint64_t size) const noexcept {
    if (address > bytes_.size() || size > bytes_.size() - address) return std::nullopt;
    return bytes_.subspan(address, size);
  }
  [[nodiscard]] std::optional<std::string_view> text(std::uint32_t address,
                                                     std::uint32_t size) const noexcept {
    const auto found = bytes(address, size);
    if (!found) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(found->data()), found->size());
  }
  /// False where it does not lie inside; nothing is written then.
  template <typename Number>
  [[nodiscard]] bool write(std::uint32_t address, Number number) const noexcept {
    const auto found = bytes(address, sizeof(number));
    if (found) std::memcpy(found->data(), &number, sizeof(number));
    return found.has_value();
  }

 private:
  std::span<std::byte> bytes_;
};

/// A number inside a structure that was checked whole.
template <typename Number>
[[nodiscard]] Number load(std::span<const std::byte> structure, std::size_t offset) noexcept {
  Number number{};
  std::memcpy(&number, structure.data() + offset, sizeof(number));
  return number;
}
template <typename Number>
void store(std::span<std::byte> structure, std::size_t offset, Number number) noexcept {
  std::memcpy(structure.data() + offset, &number, sizeof(number));
}

}  // namespace plimsoll::wasm::wasi
