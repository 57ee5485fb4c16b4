#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "wasm/wasi/calls.h"
#include "wasm/wasi/file_status.h"
#include "wasm/wasi/paths.h"

namespace plimsoll::wasm::wasi {
namespace {

constexpr std::uint32_t follow_links = 1;

Errno result_of(int done) {
  return done == 0 ? Errno::success : errno_of(errno);
}

/// The entry that a path names in a directory with these rights.
std::expected<Entry, Errno> entry_of(State& state, Number directory, Rights needed, Address path,
                                     Length size) {
  const auto found = state.descriptors.find(directory, needed);
  if (!found) return std::unexpected(found.error());
  const auto text = path_of(state.view(), path, size);
  if (!text) return std::unexpected(text.error());
  return locate((*found)->file.number(), *text);
}

/// What a path names, as it is: neither read nor written.
std::expected<HostFile, Errno> thing_of(State& state, Number directory, Rights needed,
                                        std::uint32_t lookup, Address path, Length size) {
  const auto found = state.descriptors.find(directory, needed);
  if (!found) return std::unexpected(found.error());
  const auto text = path_of(state.view(), path, size);
  if (!text) return std::unexpected(text.error());
  const int follow = (lookup & follow_links) != 0 ? 0 : O_NOFOLLOW;
  return open_beneath((*found)->file.number(), *text, O_PATH | follow);
}

bool is_directory(const Entry& entry) {
  struct stat status{};
  return ::fstatat(entry.folder.number(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

/// open's flags for the guest's; nothing where they contradict.
std::expected<int, Errno> host_flags(std::uint32_t lookup, std::uint32_t open_flags, Rights base,
                                     std::uint32_t flags) {
  namespace all = descriptor_flags;
  constexpr std::uint32_t create = 1;
  constexpr std::uint32_t directory = 2;
  constexpr std::uint32_t exclusive = 4;
  constexpr std::uint32_t truncate = 8;
  if (open_flags > 15U || lookup > 1U || (flags & ~std::uint32_t{all::all}) != 0) {
    return std::unexpected(Errno::invalid);
  }
  const bool is_directory = (open_flags & directory) != 0;
  if (is_directory && (open_flags & (create | truncate)) != 0) {
    return std::unexpected(Errno::invalid);
  }
  const bool writes =
      !is_directory &&
      ((open_flags & truncate) != 0 ||
       (base & (rights::write | rights::allocate | rights::filestat_set_size)) != 0);
  const bool reads = (base & (rights::read | rights::readdir)) != 0;
  int host = O_RDONLY;
  if (writes) host = reads ? O_RDWR : O_WRONLY;
  // Never waits for the other end of a pipe; taken back below unless the guest wants it.
  host |= O_NOCTTY | O_NONBLOCK;
  if ((lookup & follow_links) == 0) host |= O_NOFOLLOW;
  if (is_directory) host |= O_DIRECTORY;
  if ((open_flags & create) != 0) host |= O_CREAT;
  if ((open_flags & create) != 0 && (open_flags & exclusive) != 0) host |= O_EXCL;
  if ((open_flags & truncate) != 0) host |= O_TRUNC;
  if ((flags & all::append) != 0) host |= O_APPEND;
  if ((flags & all::dsync) != 0) host |= O_DSYNC;
  if ((flags & (all::sync | all::rsync)) != 0) host |= O_SYNC;
  return host;
}

Rights needed_to_open(std::uint32_t open_flags) {
  Rights needed = rights::path_open;
  if ((open_flags & 1U) != 0) needed |= rights::path_create_file;
  if ((open_flags & 8U) != 0) needed |= rights::path_filestat_set_size;
  return needed;
}

}  // namespace

Errno path_open(State& state, Number directory, std::uint32_t lookup, Address path, Length size,
                std::uint32_t open_flags, std::uint64_t base, std::uint64_t inheriting,
                std::uint32_t flags, Address result) {
  constexpr std::uint32_t mode = 0666;  // the process's umask takes from it
  const auto found = state.descriptors.find(directory, needed_to_open(open_flags));
  if (!found) return found.error();
  const Rights most = (*found)->inheriting;
  if (!state.view().bytes(result, sizeof(Number))) return Errno::fault;
  const auto text = path_of(state.view(), path, size);
  if (!text) return text.error();
  const auto host = host_flags(lookup, open_flags, base & most, flags);
  if (!host) return host.error();
  auto opened = open_beneath((*found)->file.number(), *text, *host, mode);
  if (!opened) return opened.error();
  struct stat status{};
  if (::fstat(opened->number(), &status) != 0) return errno_of(errno);
  if ((flags & descriptor_flags::nonblock) == 0 &&
      ::fcntl(opened->number(), F_SETFL, *host & O_APPEND) != 0) {
    return errno_of(errno);
  }
  Descriptor descriptor;
  descriptor.file = std::move(*opened);
  descriptor.type = type_of_mode(status.st_mode);
  const bool is_directory = descriptor.type == FileType::directory;
  descriptor.rights = base & most & (is_directory ? rights::of_directory : rights::of_file);
  if (descriptor.type != FileType::regular_file) {
    descriptor.rights &= ~(rights::seek | rights::tell);
  }
  descriptor.inheriting = inheriting & most;
  descriptor.flags = static_cast<std::uint16_t>(flags);
  const auto number = state.descriptors.insert(std::move(descriptor));
  if (!number) return number.error();
  return state.view().write(result, *number) ? Errno::success : Errno::fault;
}

Errno path_create_directory(State& state, Number directory, Address path, Length size) {
  constexpr mode_t mode = 0777;
  const auto entry = entry_of(state, directory, rights::path_create_directory, path, size);
  // A path that ends in "." or ".." names what is there.
  if (!entry) return entry.error() == Errno::busy ? Errno::exists : entry.error();
  return result_of(::mkdirat(entry->folder.number(), entry->name.c_str(), mode));
}

Errno path_remove_directory(State& state, Number directory, Address path, Length size) {
  const auto entry = entry_of(state, directory, rights::path_remove_directory, path, size);
  if (!entry) return entry.error();
  return result_of(::unlinkat(entry->folder.number(), entry->name.c_str(), AT_REMOVEDIR));
}

Errno path_unlink_file(State& state, Number directory, Address path, Length size) {
  const auto entry = entry_of(state, directory, rights::path_unlink_file, path, size);
  if (!entry) return entry.error();
  if (entry->must_be_directory) {
    return is_directory(*entry) ? Errno::is_directory : Errno::not_directory;
  }
  return result_of(::unlinkat(entry->folder.number(), entry->name.c_str(), 0));
}

Errno path_rename(State& state, Number from_directory, Address from, Length from_size,
                  Number to_directory, Address to, Length to_size) {
  const auto source = entry_of(state, from_directory, rights::path_rename_source, from, from_size);
  if (!source) return source.error();
  const auto target = entry_of(state, to_directory, rights::path_rename_target, to, to_size);
  if (!target) return target.error();
  if ((source->must_be_directory || target->must_be_directory) && !is_directory(*source)) {
    return Errno::not_directory;
  }
  return result_of(::renameat(source->folder.number(), source->name.c_str(),
                              target->folder.number(), target->name.c_str()));
}

Errno path_link(State& state, Number from_directory, std::uint32_t lookup, Address from,
                Length from_size, Number to_directory, Address to, Length to_size) {
  // Following would resolve the link's text outside of what open_beneath guards.
  if (lookup != 0) return Errno::invalid;
  const auto source = entry_of(state, from_directory, rights::path_link_source, from, from_size);
  if (!source) return source.error();
  const auto target = entry_of(state, to_directory, rights::path_link_target, to, to_size);
  if (!target) return target.error();
  if (source->must_be_directory) return Errno::not_directory;
  if (target->must_be_directory) return Errno::no_entry;
  return result_of(::linkat(source->folder.number(), source->name.c_str(), target->folder.number(),
                            target->name.c_str(), 0));
}

Errno path_symlink(State& state, Address text, Length text_size, Number directory, Address path,
                   Length size) {
  const auto content = path_of(state.view(), text, text_size);
  if (!content) return content.error();
  // A guest could not follow it, but who looks at the directory later would.
  if (content->starts_with('/')) return Errno::not_permitted;
  const auto entry = entry_of(state, directory, rights::path_symlink, path, size);
  if (!entry) return entry.error();
  if (entry->must_be_directory) return Errno::no_entry;
  return result_of(::symlinkat(content->c_str(), entry->folder.number(), entry->name.c_str()));
}

Errno path_readlink(State& state, Number directory, Address path, Length size, Address buffer,
                    Length buffer_size, Address result) {
  const auto link = thing_of(state, directory, rights::path_readlink, 0, path, size);
  if (!link) return link.error();
  const auto into = state.view().bytes(buffer, buffer_size);
  if (!into || !state.view().bytes(result, sizeof(Length))) return Errno::fault;
  ssize_t length = 0;
  if (!into->empty()) {
    length = ::readlinkat(link->number(), "", reinterpret_cast<char*>(into->data()), into->size());
    // Of something that is no link the kernel says "no entry" here.
    if (length < 0) return errno == ENOENT ? Errno::invalid : errno_of(errno);
  }
  return state.view().write(result, static_cast<Length>(length)) ? Errno::success : Errno::fault;
}

Errno path_filestat_get(State& state, Number directory, std::uint32_t lookup, Address path,
                        Length size, Address result) {
  const auto thing = thing_of(state, directory, rights::path_filestat_get, lookup, path, size);
  if (!thing) return thing.error();
  const auto into = state.view().bytes(result, filestat_bytes);
  if (!into) return Errno::fault;
  struct stat status{};
  if (::fstat(thing->number(), &status) != 0) return errno_of(errno);
  store_status(*into, status);
  return Errno::success;
}

Errno path_filestat_set_times(State& state, Number directory, std::uint32_t lookup, Address path,
                              Length size, std::uint64_t accessed, std::uint64_t modified,
                              std::uint32_t flags) {
  const auto times = file_times(accessed, modified, flags);
  if (!times) return times.error();
  const auto thing =
      thing_of(state, directory, rights::path_filestat_set_times, lookup, path, size);
  if (!thing) return thing.error();
  return result_of(::utimensat(thing->number(), "", times->data(), AT_EMPTY_PATH));
}

}  // namespace plimsoll::wasm::wasi
