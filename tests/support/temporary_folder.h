// A folder that goes away with the test. Why it exists: tests that write files must not meet each
// other's. May touch: the standard library, POSIX.
#pragma once

#include <filesystem>
#include <string>

namespace plimsoll::tensor::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The path of a file in it, which need not exist.
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace plimsoll::tensor::test
