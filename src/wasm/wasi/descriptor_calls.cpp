#include <fcntl.h>

#include <cerrno>

#include "wasm/wasi/calls.h"

namespace plimsoll::wasm::wasi {
namespace {

Errno no_socket(State& state, Number file) {
  const auto found = state.descriptors.find(file, 0);
  return found ? Errno::not_socket : found.error();
}

}  // namespace

Errno fd_close(State& state, Number file) {
  return state.descriptors.close(file);
}

Errno fd_renumber(State& state, Number from, Number to) {
  return state.descriptors.renumber(from, to);
}

Errno fd_fdstat_get(State& state, Number file, Address result) {
  const auto found = state.descriptors.find(file, 0);
  if (!found) return found.error();
  const auto status = state.view().bytes(result, fdstat_bytes);
  if (!status) return Errno::fault;
  std::memset(status->data(), 0, status->size());
  store(*status, 0, static_cast<std::uint8_t>((*found)->type));
  store(*status, 2, (*found)->flags);
  store(*status, 8, (*found)->rights);
  store(*status, 16, (*found)->inheriting);
  return Errno::success;
}

Errno fd_fdstat_set_flags(State& state, Number file, std::uint32_t flags) {
  const auto found = state.descriptors.find(file, rights::set_flags);
  if (!found) return found.error();
  namespace all = descriptor_flags;
  if ((flags & ~std::uint32_t{all::all}) != 0) return Errno::invalid;
  // The kernel cannot change the synchronous flags of an open file.
  constexpr std::uint32_t fixed = all::dsync | all::rsync | all::sync;
  if (((flags ^ (*found)->flags) & fixed) != 0) return Errno::not_supported;
  if ((*found)->file.is_owned()) {
    int host_flags = (flags & all::append) != 0 ? O_APPEND : 0;
    if ((flags & all::nonblock) != 0) host_flags |= O_NONBLOCK;
    if (::fcntl((*found)->file.number(), F_SETFL, host_flags) != 0) return errno_of(errno);
  } else if ((flags & all::append) != 0) {
    return Errno::not_supported;  // the flag would be set for other processes too
  }
  (*found)->flags = static_cast<std::uint16_t>(flags);
  return Errno::success;
}

Errno fd_fdstat_set_rights(State& state, Number file, std::uint64_t base,
                           std::uint64_t inheriting) {
  const auto found = state.descriptors.find(file, 0);
  if (!found) return found.error();
  // Rights can be given up, never gained.
  if ((base & ~(*found)->rights) != 0 || (inheriting & ~(*found)->inheriting) != 0) {
    return Errno::not_capable;
  }
  (*found)->rights = base;
  (*found)->inheriting = inheriting;
  return Errno::success;
}

Errno fd_prestat_get(State& state, Number file, Address result) {
  const auto found = state.descriptors.find(file, 0);
  if (!found) return found.error();
  if (!(*found)->preopened) return Errno::bad_descriptor;
  const auto status = state.view().bytes(result, prestat_bytes);
  if (!status) return Errno::fault;
  store(*status, 0, std::uint32_t{0});
  store(*status, 4, static_cast<std::uint32_t>((*found)->preopened->size()));
  return Errno::success;
}

Errno fd_prestat_dir_name(State& state, Number file, Address name, Length size) {
  const auto found = state.descriptors.find(file, 0);
  if (!found) return found.error();
  if (!(*found)->preopened) return Errno::bad_descriptor;
  const std::string& text = *(*found)->preopened;
  if (size < text.size()) return Errno::name_too_long;
  const auto bytes = state.view().bytes(name, text.size());
  if (!bytes) return Errno::fault;
  std::memcpy(bytes->data(), text.data(), text.size());
  return Errno::success;
}

Errno sock_accept(State& state, Number file, std::uint32_t /*flags*/, Address /*result*/) {
  return no_socket(state, file);
}

Errno sock_recv(State& state, Number file, Address /*vectors*/, Length /*count*/,
                std::uint32_t /*flags*/, Address /*size*/, Address /*result_flags*/) {
  return no_socket(state, file);
}

Errno sock_send(State& state, Number file, Address /*vectors*/, Length /*count*/,
                std::uint32_t /*flags*/, Address /*size*/) {
  return no_socket(state, file);
}

Errno sock_shutdown(State& state, Number file, std::uint32_t /*how*/) {
  return no_socket(state, file);
}

}  // namespace plimsoll::wasm::wasi
