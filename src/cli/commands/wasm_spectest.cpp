#include "cli/commands/wasm_spectest.h"

#include <bit>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

using wasm::External;
using wasm::ValueType;

template <typename Made>
auto* granted(Made made) {
  if (!made) throw Error(ErrorKind::failure, made.error().to_string());
  return *made;
}

}  // namespace

std::map<std::string, External> make_spectest(wasm::Store& store) {
  std::map<std::string, External> made;
  const auto print = [&](const char* name, std::vector<ValueType> parameters) {
    made[name] = store.add_host_function(
        parameters, {},
        [](std::span<const wasm::Cell>, std::span<wasm::Cell>) { return wasm::TrapKind::none; });
  };
  print("print", {});
  print("print_i32", {wasm::i32_type});
  print("print_i64", {wasm::i64_type});
  print("print_f32", {wasm::f32_type});
  print("print_f64", {wasm::f64_type});
  print("print_i32_f32", {wasm::i32_type, wasm::f32_type});
  print("print_f64_f64", {wasm::f64_type, wasm::f64_type});
  const auto global = [&](const char* name, ValueType type, std::uint64_t bits) {
    made[name] = store.add_global({.type = type, .is_mutable = false}, {bits, 0});
  };
  global("global_i32", wasm::i32_type, 666);
  global("global_i64", wasm::i64_type, 666);
  global("global_f32", wasm::f32_type, std::bit_cast<std::uint32_t>(666.6F));
  global("global_f64", wasm::f64_type, std::bit_cast<std::uint64_t>(666.6));
  const auto limits = [](std::uint64_t minimum, std::uint64_t maximum) {
    return wasm::Limits{.minimum = minimum, .maximum = maximum, .has_maximum = true};
  };
  made["table"] =
      granted(store.add_table({.element = wasm::funcref_type, .limits = limits(10, 20)}, 0));
  wasm::Limits wide = limits(10, 20);
  wide.is_64 = true;
  made["table64"] = granted(store.add_table({.element = wasm::funcref_type, .limits = wide}, 0));
  made["memory"] = granted(store.add_memory({limits(1, 2)}));
  wasm::Limits shared = limits(1, 2);
  shared.is_shared = true;
  made["shared_memory"] = granted(store.add_memory({shared}));
  return made;
}

}  // namespace plimsoll::cli
