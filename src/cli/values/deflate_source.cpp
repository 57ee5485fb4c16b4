#include "cli/values/deflate_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include "plimsoll/error.h"

namespace plimsoll::cli {

struct DeflateSource::Stream {
  z_stream zlib{};
  std::array<std::byte, 16 * 1024> input{};

  Stream() {
    // Negative window bits: deflate without zlib's own header.
    if (inflateInit2(&zlib, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { inflateEnd(&zlib); }
};

DeflateSource::DeflateSource(std::string name, std::shared_ptr<const InputFile> file,
                             std::uint64_t offset, std::uint64_t compressed_bytes,
                             std::uint64_t bytes, std::uint32_t checksum)
    : ByteSource(std::move(name), bytes),
      file_(std::move(file)),
      offset_(offset),
      compressed_left_(compressed_bytes),
      wanted_(checksum),
      stream_(std::make_unique<Stream>()) {}

DeflateSource::~DeflateSource() = default;

void DeflateSource::read_some(std::span<std::byte> destination) {
  z_stream& zlib = stream_->zlib;
  while (!destination.empty()) {
    if (zlib.avail_in == 0 && compressed_left_ != 0) {
      const std::span<std::byte> input =
          std::span(stream_->input)
              .first(std::min<std::uint64_t>(stream_->input.size(), compressed_left_));
      file_->read(offset_, input);
      offset_ += input.size();
      compressed_left_ -= input.size();
      zlib.next_in = reinterpret_cast<Bytef*>(input.data());
      zlib.avail_in = static_cast<uInt>(input.size());
    }
    const auto piece =
        static_cast<uInt>(std::min<std::size_t>(destination.size(), std::size_t{1} << 20));
    zlib.next_out = reinterpret_cast<Bytef*>(destination.data());
    zlib.avail_out = piece;
    const int status = inflate(&zlib, Z_NO_FLUSH);
    const std::size_t made = piece - zlib.avail_out;
    checksum_ = static_cast<std::uint32_t>(
        crc32_z(checksum_, reinterpret_cast<const Bytef*>(destination.data()), made));
    destination = destination.subspan(made);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    const bool starved = made == 0 && zlib.avail_in == 0 && compressed_left_ == 0;
    const bool ended = status == Z_STREAM_END && !destination.empty();
    if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || starved || ended) {
      fail_input(
          fmt::format("'{}' is damaged: {}; write it again with numpy.savez_compressed", name(),
                      zlib.msg != nullptr ? zlib.msg : "its compressed bytes end too early"));
    }
  }
}

void DeflateSource::finish() {
  std::array<std::byte, 4096> rest{};
  while (remaining() != 0) {
    read(std::span(rest).first(std::min<std::uint64_t>(rest.size(), remaining())));
  }
  if (checksum_ != wanted_) {
    fail_input(
        fmt::format("'{}' is damaged: its checksum does not match; write it again with "
                    "numpy.savez_compressed",
                    name()));
  }
}

}  // namespace plimsoll::cli
