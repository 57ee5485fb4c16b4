#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>

#include "wasm/wasi/calls.h"

namespace plimsoll::wasm::wasi {
namespace {

constexpr std::size_t most_vectors = 1024;  // what the kernel takes in one call; a guest repeats

/// A guest's buffers, each checked.
class Buffers {  // NOLINT(cppcoreguidelines-pro-type-member-init): 16 KiB, see below
 public:
  [[nodiscard]] Errno gather(const GuestView& view, Address vectors, Length count) {
    const auto table = view.bytes(vectors, std::uint64_t{count} * iovec_bytes);
    if (!table) return Errno::fault;
    count_ = std::min<std::size_t>(count, most_vectors);
    for (std::size_t index = 0; index < count_; ++index) {
      const std::size_t at = index * iovec_bytes;
      const auto bytes = view.bytes(load<std::uint32_t>(*table, at),
                                    load<std::uint32_t>(*table, at + sizeof(std::uint32_t)));
      if (!bytes) return Errno::fault;
      vectors_[index] = {.iov_base = bytes->data(), .iov_len = bytes->size()};
    }
    return Errno::success;
  }
  [[nodiscard]] const iovec* data() const noexcept { return vectors_.data(); }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(count_); }

 private:
  std::array<iovec, most_vectors> vectors_;  ///< the first count_ are set
  std::size_t count_ = 0;
};

/// Borrowed streams share their flags with other processes, so that one flag is kept here.
bool would_block(const Descriptor& descriptor, std::int16_t event) {
  if (descriptor.file.is_owned() || (descriptor.flags & descriptor_flags::nonblock) == 0) {
    return false;
  }
  pollfd waiting{.fd = descriptor.file.number(), .events = event, .revents = 0};
  return ::poll(&waiting, 1, 0) == 0;
}

/// `transfer(host descriptor, buffers)` is one call of the kernel.
template <typename Transfer>
Errno transfer_all(const State& state, const Descriptor& descriptor, Address vectors, Length count,
                   Address result, const Transfer& transfer) {
  const GuestView view = state.view();
  if (!view.bytes(result, sizeof(std::uint32_t))) return Errno::fault;
  Buffers buffers;
  if (const Errno error = buffers.gather(view, vectors, count); error != Errno::success) {
    return error;
  }
  ssize_t done = 0;
  do {
    done = transfer(descriptor.file.number(), buffers);
  } while (done < 0 && errno == EINTR);
  if (done < 0) return errno_of(errno);
  // The kernel moves less than 2 GiB in one call.
  return view.write(result, static_cast<std::uint32_t>(done)) ? Errno::success : Errno::fault;
}

bool is_offset(std::uint64_t offset) {
  return offset <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
}

}  // namespace

Errno fd_read(State& state, Number file, Address vectors, Length count, Address result) {
  const auto found = state.descriptors.find(file, rights::read);
  if (!found) return found.error();
  if (would_block(**found, POLLIN)) return Errno::again;
  return transfer_all(state, **found, vectors, count, result, [](int host, const Buffers& buffers) {
    return ::readv(host, buffers.data(), buffers.count());
  });
}

Errno fd_write(State& state, Number file, Address vectors, Length count, Address result) {
  const auto found = state.descriptors.find(file, rights::write);
  if (!found) return found.error();
  if (would_block(**found, POLLOUT)) return Errno::again;
  return transfer_all(state, **found, vectors, count, result, [](int host, const Buffers& buffers) {
    return ::writev(host, buffers.data(), buffers.count());
  });
}

Errno fd_pread(State& state, Number file, Address vectors, Length count, std::uint64_t offset,
               Address result) {
  const auto found = state.descriptors.find(file, rights::read | rights::seek);
  if (!found) return found.error();
  if (!is_offset(offset)) return Errno::invalid;
  return transfer_all(
      state, **found, vectors, count, result, [offset](int host, const Buffers& buffers) {
        return ::preadv(host, buffers.data(), buffers.count(), static_cast<off_t>(offset));
      });
}

Errno fd_pwrite(State& state, Number file, Address vectors, Length count, std::uint64_t offset,
                Address result) {
  const auto found = state.descriptors.find(file, rights::write | rights::seek);
  if (!found) return found.error();
  if (!is_offset(offset)) return Errno::invalid;
  return transfer_all(
      state, **found, vectors, count, result, [offset](int host, const Buffers& buffers) {
        return ::pwritev(host, buffers.data(), buffers.count(), static_cast<off_t>(offset));
      });
}

Errno fd_seek(State& state, Number file, std::uint64_t offset, std::uint32_t whence,
              Address result) {
  static constexpr std::array<int, 3> origins = {SEEK_SET, SEEK_CUR, SEEK_END};
  // Asking where it is needs no more than the right to ask.
  const bool only_tells = offset == 0 && whence == 1;
  const auto found = state.descriptors.find(file, only_tells ? rights::tell : rights::seek);
  if (!found) {
    // Libraries expect a pipe or terminal to say that it cannot.
    const auto any = state.descriptors.find(file, 0);
    if (any && (*any)->type != FileType::regular_file && (*any)->type != FileType::directory) {
      return Errno::no_seek;
    }
    return found.error();
  }
  if (whence >= origins.size()) return Errno::invalid;
  if (!state.view().bytes(result, sizeof(std::uint64_t))) return Errno::fault;
  const off_t reached =
      ::lseek((*found)->file.number(), static_cast<off_t>(offset), origins[whence]);
  if (reached < 0) return errno_of(errno);
  return state.view().write(result, static_cast<std::uint64_t>(reached)) ? Errno::success
                                                                         : Errno::fault;
}

Errno fd_tell(State& state, Number file, Address result) {
  return fd_seek(state, file, 0, 1, result);
}

}  // namespace plimsoll::wasm::wasi
