// What the calls of one guest share. Why it exists: calls are free functions, grouped by subject.
// May touch: descriptors.h, guest_view.h, wasi.h.
#pragma once

#include "wasm/wasi/descriptors.h"
#include "wasm/wasi/guest_view.h"
#include "wasm/wasi/wasi.h"

namespace plimsoll::wasm::wasi {

/// One thread at a time.
struct State {
  WasiConfig config;
  DescriptorTable descriptors;
  GuestMemory* memory = nullptr;

  [[nodiscard]] GuestView view() const noexcept { return GuestView(memory); }
};

}  // namespace plimsoll::wasm::wasi
