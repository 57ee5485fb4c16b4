#include "plimsoll/archive.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "memory/budget.h"
#include "memory/probe.h"
#include "plimsoll/error.h"
#include "tensor/archive/archive.h"
#include "tensor/archive/content_hash.h"
#include "tensor/archive/irpa_writer.h"

namespace plimsoll {

struct Archive::State {
  std::shared_ptr<const tensor::OpenArchive> archive;
};

namespace {

std::shared_ptr<memory::Budget> budget_of(std::uint64_t limit_bytes) {
  if (limit_bytes == 0) {
    limit_bytes = memory::default_limit(memory::probe_cgroup(), memory::probe_machine()).bytes;
  }
  return memory::Budget::root("archives", limit_bytes);
}

/// Calls `take(offset, bytes)` for the pieces of an entry that fit the window.
void in_pieces(std::uint64_t length, std::span<std::byte> window,
               const std::function<void(std::uint64_t, std::span<std::byte>)>& take) {
  if (window.empty()) throw Error(ErrorKind::usage, "a window of no bytes moves nothing");
  for (std::uint64_t offset = 0; offset < length; offset += window.size()) {
    const std::uint64_t some = std::min<std::uint64_t>(window.size(), length - offset);
    take(offset, window.first(static_cast<std::size_t>(some)));
  }
}

}  // namespace

std::expected<Archive, Refusal> Archive::open(const std::string& path, std::uint64_t limit_bytes) {
  auto opened = tensor::OpenArchive::open(path, budget_of(limit_bytes));
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

std::optional<std::uint64_t> Archive::stored_hash(std::size_t index) const {
  return state_->archive->hash_of(index);
}

std::uint64_t Archive::index_bytes() const noexcept {
  return state_->archive->index_bytes();
}

struct ArchiveWriter::State {
  std::shared_ptr<memory::Budget> budget;
  std::unique_ptr<tensor::IrpaWriter> writer;
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::ArchiveWriter(ArchiveWriter&& other) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&& other) noexcept = default;
ArchiveWriter::~ArchiveWriter() = default;

std::expected<ArchiveWriter, Refusal> ArchiveWriter::create(const std::string& path,
                                                            std::size_t count,
                                                            const Describe& describe,
                                                            std::uint64_t limit_bytes) {
  auto budget = budget_of(limit_bytes);
  auto writer = tensor::IrpaWriter::create(path, count, describe, *budget);
  if (!writer) return std::unexpected(std::move(writer.error()));
  return ArchiveWriter(std::make_unique<State>(State{std::move(budget), std::move(*writer)}));
}

void ArchiveWriter::write(std::size_t number, std::uint64_t offset,
                          std::span<const std::byte> bytes) const {
  state_->writer->write(number, offset, bytes);
}

void ArchiveWriter::copy(std::size_t number, const Archive& from, std::size_t index,
                         std::span<std::byte> window) const {
  tensor::ContentHash hash;
  in_pieces(from.entry(index).length, window,
            [&](std::uint64_t offset, std::span<std::byte> piece) {
              from.read(index, offset, piece);
              hash.add(piece);
              state_->writer->write(number, offset, piece);
            });
  state_->writer->set_hash(number, hash.value());
}

void ArchiveWriter::fill(std::size_t number, std::uint64_t length,
                         std::span<const std::byte> pattern, std::span<std::byte> window) const {
  tensor::ContentHash hash;
  in_pieces(length, window, [&](std::uint64_t offset, std::span<std::byte> piece) {
    tensor::fill_pattern(pattern, offset, piece);
    hash.add(piece);
    state_->writer->write(number, offset, piece);
  });
  state_->writer->set_hash(number, hash.value());
}

void ArchiveWriter::finish() {
  state_->writer->finish();
}

std::uint64_t content_hash(const Archive& archive, std::size_t index, std::span<std::byte> window) {
  tensor::ContentHash hash;
  in_pieces(archive.entry(index).length, window,
            [&](std::uint64_t offset, std::span<std::byte> piece) {
              archive.read(index, offset, piece);
              hash.add(piece);
            });
  return hash.value();
}

}  // namespace plimsoll
