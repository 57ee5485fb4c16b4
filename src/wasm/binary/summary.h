// What a module's bodies look like: how many of which size, and the largest. Why it exists: a user
// who must decide about tiers sees here what would be expensive. May touch: module.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wasm/binary/module.h"

namespace plimsoll::wasm {

/// Bodies by size: the bucket n holds those of 2^(n-1) < bytes <= 2^n, up to 8 MiB.
struct BodySizes {
  static constexpr int buckets = 24;
  std::array<std::uint32_t, buckets> count{};
  std::array<std::uint64_t, buckets> bytes{};
  std::uint32_t total_count = 0;
  std::uint64_t total_bytes = 0;
};
[[nodiscard]] BodySizes body_sizes(const Module& module);

/// The functions with the largest bodies, largest first, at most `most`.
[[nodiscard]] std::vector<std::uint32_t> largest_bodies(const Module& module, std::size_t most);

/// The name under which a function is exported first; empty where it is not.
[[nodiscard]] std::string_view export_name_of(const Module& module, std::uint32_t function);

/// "(i32 i64) -> (f32)", "memory 256..65536 pages, shared", "global mut i32" ….
[[nodiscard]] std::string describe(const Module& module, ExternalKind kind, std::uint32_t index);

/// "type", "code" … of a section identifier that the decoder accepted.
[[nodiscard]] std::string_view section_name(std::uint8_t id) noexcept;

}  // namespace plimsoll::wasm
