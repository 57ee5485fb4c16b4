// Bytes of a value in a file, read once from front to back. Why it exists: an array may lie in a
// file of its own, inside an archive, or compressed there; its reader needs not know. May touch:
// POSIX files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace plimsoll::cli {

/// Not thread-safe. `name` is what messages call it.
class ByteSource {
 public:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t remaining() const noexcept { return size_ - position_; }
  /// Fills `destination`. Throws Error(bad_input) when the bytes end before, or are damaged.
  void read(std::span<std::byte> destination);
  /// Reads what is left and checks the whole, where there is a checksum.
  virtual void finish() {}

 protected:
  virtual void read_some(std::span<std::byte> destination) = 0;

 private:
  std::string name_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

/// An open regular file, read by position. Closed by the destructor.
class InputFile {
 public:
  /// Throws Error(bad_input) with the cause: missing, a directory, no permission, not regular.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }  ///< when opened
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number; }
  /// Throws Error(bad_input) when the file ends before, Error(failure) on a read error.
  void read(std::uint64_t offset, std::span<std::byte> destination) const;

 private:
  struct Descriptor {
    explicit Descriptor(int opened) : number(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
    int number;
  };
  std::string path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Part of a file; the range must lie in it.
class FileRange final : public ByteSource {
 public:
  FileRange(std::string name, std::shared_ptr<const InputFile> file, std::uint64_t offset,
            std::uint64_t size)
      : ByteSource(std::move(name), size), file_(std::move(file)), offset_(offset) {}
  /// All of it.
  explicit FileRange(const std::shared_ptr<const InputFile>& file)
      : FileRange(file->path(), file, 0, file->size()) {}

 private:
  void read_some(std::span<std::byte> destination) override;
  std::shared_ptr<const InputFile> file_;
  std::uint64_t offset_;
};

}  // namespace plimsoll::cli
