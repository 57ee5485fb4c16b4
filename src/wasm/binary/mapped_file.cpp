#include "wasm/binary/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "plimsoll/error.h"
#include "wasm/binary/implementation_limits.h"

namespace plimsoll::wasm {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

std::uint64_t size_of(int descriptor, const std::string& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail_input(fmt::format("'{}' is not a regular file; a WebAssembly module is expected", path));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0) fail_input(fmt::format("'{}' is empty; a WebAssembly module is expected", path));
  if (size > limits::module_bytes) {
    fail_input(fmt::format("'{}' has {} bytes, more than the {} that a WebAssembly module may have",
                           path, size, limits::module_bytes));
  }
  return size;
}

}  // namespace

std::expected<MappedFile, Refusal> MappedFile::open(memory::Budget& budget,
                                                    const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    fail_input(fmt::format("'{}' cannot be opened: {}", path, std::strerror(errno)));
  }
  const std::uint64_t size = size_of(file.get(), path);
  auto claim = budget.reserve(std::min(size, window_bytes), fmt::format("window on '{}'", path));
  if (!claim) return std::unexpected(std::move(claim.error()));
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    Refusal refusal;
    refusal.budget = budget.path();
    refusal.purpose = fmt::format("address space to map '{}'", path);
    refusal.requested_bytes = size;
    refusal.by_kernel = true;
    return std::unexpected(std::move(refusal));
  }
  return MappedFile(static_cast<const std::byte*>(data), size, std::move(*claim));
}

MappedFile::MappedFile(const std::byte* data, std::size_t size, memory::Reservation claim) noexcept
    : data_(data), size_(size), claim_(std::move(claim)) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      dropped_(std::exchange(other.dropped_, 0)),
      claim_(std::move(other.claim_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(dropped_, other.dropped_);
  std::swap(claim_, other.claim_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::expected<void, Refusal> MappedFile::claim_window(std::uint64_t item_bytes) {
  const std::uint64_t wanted = std::min<std::uint64_t>(size_, window_bytes + item_bytes);
  if (wanted <= claim_.bytes()) return {};  // kept for the next long one
  return claim_.resize(wanted);
}

void MappedFile::drop_before(std::uint64_t offset) noexcept {
  if (offset < dropped_ + window_bytes) return;
  const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t end = std::min<std::uint64_t>(offset, size_) / page * page;
  if (end <= dropped_) return;
  ::madvise(const_cast<std::byte*>(data_) + dropped_, end - dropped_, MADV_DONTNEED);
  dropped_ = end;
}

}  // namespace plimsoll::wasm
