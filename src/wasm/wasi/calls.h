// The calls of WASI preview 1, each a function of the state and the guest's numbers. Why it exists:
// one list that wasi.cpp makes imports of. Names and parameters are those of the interface;
// addresses and lengths are the guest's and unchecked. May touch: state.h.
#pragma once

#include <cstdint>

#include "wasm/wasi/state.h"

namespace plimsoll::wasm::wasi {

using Address = std::uint32_t;
using Length = std::uint32_t;
using Number = std::uint32_t;  ///< a descriptor of the guest

// process_calls.cpp
Errno args_get(State& state, Address pointers, Address text);
Errno args_sizes_get(State& state, Address count, Address text_bytes);
Errno environ_get(State& state, Address pointers, Address text);
Errno environ_sizes_get(State& state, Address count, Address text_bytes);
Errno clock_res_get(State& state, std::uint32_t clock, Address result);
Errno clock_time_get(State& state, std::uint32_t clock, std::uint64_t precision, Address result);
Errno random_get(State& state, Address buffer, Length size);
Errno sched_yield(State& state);
/// Both throw GuestExit; proc_raise returns for signals that end nothing.
Errno proc_exit(State& state, std::uint32_t code);
Errno proc_raise(State& state, std::uint32_t signal);

// stream_calls.cpp
Errno fd_read(State& state, Number file, Address vectors, Length count, Address result);
Errno fd_write(State& state, Number file, Address vectors, Length count, Address result);
Errno fd_pread(State& state, Number file, Address vectors, Length count, std::uint64_t offset,
               Address result);
Errno fd_pwrite(State& state, Number file, Address vectors, Length count, std::uint64_t offset,
                Address result);
Errno fd_seek(State& state, Number file, std::uint64_t offset, std::uint32_t whence,
              Address result);
Errno fd_tell(State& state, Number file, Address result);

// descriptor_calls.cpp
Errno fd_close(State& state, Number file);
Errno fd_renumber(State& state, Number from, Number to);
Errno fd_fdstat_get(State& state, Number file, Address result);
Errno fd_fdstat_set_flags(State& state, Number file, std::uint32_t flags);
Errno fd_fdstat_set_rights(State& state, Number file, std::uint64_t base, std::uint64_t inheriting);
Errno fd_prestat_get(State& state, Number file, Address result);
Errno fd_prestat_dir_name(State& state, Number file, Address name, Length size);
/// Nothing that a guest can open is a socket.
Errno sock_accept(State& state, Number file, std::uint32_t flags, Address result);
Errno sock_recv(State& state, Number file, Address vectors, Length count, std::uint32_t flags,
                Address size, Address result_flags);
Errno sock_send(State& state, Number file, Address vectors, Length count, std::uint32_t flags,
                Address size);
Errno sock_shutdown(State& state, Number file, std::uint32_t how);

// file_calls.cpp
Errno fd_advise(State& state, Number file, std::uint64_t offset, std::uint64_t length,
                std::uint32_t advice);
Errno fd_allocate(State& state, Number file, std::uint64_t offset, std::uint64_t length);
Errno fd_sync(State& state, Number file);
Errno fd_datasync(State& state, Number file);
Errno fd_filestat_get(State& state, Number file, Address result);
Errno fd_filestat_set_size(State& state, Number file, std::uint64_t size);
Errno fd_filestat_set_times(State& state, Number file, std::uint64_t accessed,
                            std::uint64_t modified, std::uint32_t flags);
Errno fd_readdir(State& state, Number file, Address buffer, Length size, std::uint64_t cookie,
                 Address result);

// poll_calls.cpp
Errno poll_oneoff(State& state, Address subscriptions, Address events, Length count,
                  Address result);

// path_calls.cpp
Errno path_open(State& state, Number directory, std::uint32_t lookup, Address path, Length size,
                std::uint32_t open_flags, std::uint64_t base, std::uint64_t inheriting,
                std::uint32_t flags, Address result);
Errno path_create_directory(State& state, Number directory, Address path, Length size);
Errno path_remove_directory(State& state, Number directory, Address path, Length size);
Errno path_unlink_file(State& state, Number directory, Address path, Length size);
Errno path_rename(State& state, Number from_directory, Address from, Length from_size,
                  Number to_directory, Address to, Length to_size);
Errno path_link(State& state, Number from_directory, std::uint32_t lookup, Address from,
                Length from_size, Number to_directory, Address to, Length to_size);
Errno path_symlink(State& state, Address text, Length text_size, Number directory, Address path,
                   Length size);
Errno path_readlink(State& state, Number directory, Address path, Length size, Address buffer,
                    Length buffer_size, Address result);
Errno path_filestat_get(State& state, Number directory, std::uint32_t lookup, Address path,
                        Length size, Address result);
Errno path_filestat_set_times(State& state, Number directory, std::uint32_t lookup, Address path,
                              Length size, std::uint64_t accessed, std::uint64_t modified,
                              std::uint32_t flags);

}  // namespace plimsoll::wasm::wasi
