#include "plimsoll/archive.h"

#include <utility>

#include "memory/budget.h"
#include "memory/probe.h"
#include "tensor/archive/archive.h"

namespace plimsoll {

struct Archive::State {
  std::shared_ptr<const tensor::OpenArchive> archive;
};

std::expected<Archive, Refusal> Archive::open(const std::string& path, std::uint64_t limit_bytes) {
  if (limit_bytes == 0) {
    limit_bytes = memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes;
  }
  auto opened = tensor::OpenArchive::open(path, memory::Budget::root("archives", limit_bytes));
  if (!opened) return std::unexpected(std::move(opened.error()));
  return Archive(std::make_shared<const State>(State{std::move(*opened)}));
}

ArchiveFormat Archive::format() const noexcept {
  return state_->archive->format();
}

const std::string& Archive::path() const noexcept {
  return state_->archive->path();
}

std::size_t Archive::size() const noexcept {
  return state_->archive->size();
}

ArchiveEntry Archive::entry(std::size_t index) const {
  return state_->archive->entry(index);
}

std::optional<std::size_t> Archive::find(std::string_view key) const {
  return state_->archive->find(key);
}

void Archive::read(std::size_t index, std::uint64_t offset,
                   std::span<std::byte> destination) const {
  state_->archive->read(index, offset, destination);
}

std::uint64_t Archive::index_bytes() const noexcept {
  return state_->archive->index_bytes();
}

}  // namespace plimsoll
