// Calls of WASI with what no library would pass. Why it exists: a guest chooses every number of a
// call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "memory/budget.h"
#include "wasm/module_builder.h"
#include "wasm/runtime/instance.h"
#include "wasm/wasi/abi.h"
#include "wasm/wasi/wasi.h"

namespace plimsoll::wasm::test {
namespace {

using wasi::Errno;

constexpr std::uint64_t budget_bytes = 64 << 20;
constexpr std::uint32_t end_of_memory = 65536;

/// Without fd_allocate, which would take gigabytes of the disk, and poll_oneoff, which would wait
/// for years: they have tests of their own.
constexpr std::array all_names = {"args_get",
                                  "args_sizes_get",
                                  "environ_get",
                                  "environ_sizes_get",
                                  "clock_res_get",
                                  "clock_time_get",
                                  "random_get",
                                  "sched_yield",
                                  "proc_exit",
                                  "proc_raise",
                                  "fd_read",
                                  "fd_write",
                                  "fd_pread",
                                  "fd_pwrite",
                                  "fd_seek",
                                  "fd_tell",
                                  "fd_close",
                                  "fd_renumber",
                                  "fd_fdstat_get",
                                  "fd_fdstat_set_flags",
                                  "fd_prestat_get",
                                  "fd_prestat_dir_name",
                                  "fd_fdstat_set_rights",
                                  "sock_accept",
                                  "sock_recv",
                                  "sock_send",
                                  "sock_shutdown",
                                  "fd_advise",

                                  "fd_sync",
                                  "fd_datasync",
                                  "fd_filestat_get",
                                  "fd_filestat_set_size",
                                  "fd_filestat_set_times",
                                  "fd_readdir",
                                  "path_open",
                                  "path_create_directory",
                                  "path_remove_directory",
                                  "path_unlink_file",
                                  "path_rename",
                                  "path_link",
                                  "path_symlink",
                                  "path_readlink",
                                  "path_filestat_get",
                                  "path_filestat_set_times"};

/// A file of its own in memory, which takes the place of a standard stream.
class MemoryFile {
 public:
  MemoryFile() : number_(::memfd_create("stream", MFD_CLOEXEC)) {
    if (number_ < 0) throw std::runtime_error("memfd_create");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(number_, 0, SEEK_END)), '\0');
    if (::pread(number_, text.data(), text.size(), 0) < 0) throw std::runtime_error("pread");
    return text;
  }

 private:
  int number_;
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = testing::TempDir() + "plimsoll-wasi-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
    std::filesystem::create_directory(path_ / "given");
    std::ofstream(path_ / "beside") << "secret";
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  /// What a guest is given; a file lies beside it.
  [[nodiscard]] std::filesystem::path path() const { return path_ / "given"; }
  [[nodiscard]] bool is_untouched_outside() const {
    std::string text;
    std::ifstream(path_ / "beside") >> text;
    const std::filesystem::directory_iterator entries(path_);
    return text == "secret" && std::distance(begin(entries), end(entries)) == 2;
  }

 private:
  std::filesystem::path path_;
};

/// A guest that is nothing but one page of memory, and the calls.
class WasiCalls : public testing::Test {
 protected:
  void SetUp() override {
    const auto budget = memory::Budget::root("test", budget_bytes);
    auto engine = Engine::create(budget, EngineSettings{});
    ASSERT_TRUE(engine);
    store_ = std::make_unique<Store>(*engine);
    ModuleBuilder module;
    module.section(5, {1, 0, 1});
    module.section(7, Bytes{1}.name("memory").add({2, 0}));
    auto code = CodeModule::compile(*engine, module.get());
    ASSERT_TRUE(code);
    const auto made = Instance::create(*store_, *code, {});
    ASSERT_TRUE(made);
    instance_ = made->instance;
    restart();
  }

  void restart() {
    wasi_ = std::make_unique<Wasi>(
        WasiConfig{.arguments = {"program", "one"},
                   .environment = {"A=1"},
                   .streams = {in_.number(), out_.number(), error_.number()},
                   .directories = {{.host = folder_.path().string(), .guest = "/"}}});
    wasi_->attach(*instance_);
  }

  Errno call(const char* name, const std::vector<std::uint64_t>& numbers) {
    FunctionRecord* const record = wasi_->find(*store_, name);
    if (record == nullptr) throw std::runtime_error(name);
    std::vector<Cell> cells;
    cells.reserve(numbers.size());
    for (const std::uint64_t number : numbers) cells.push_back({number, 0});
    const CallOutcome outcome = store_->call(*record, cells);
    EXPECT_EQ(outcome.trap, TrapKind::none);
    return static_cast<Errno>(static_cast<std::uint32_t>(outcome.results.at(0).low));
  }

  std::byte* memory() { return instance_->memory(0).view().base; }
  void put(std::uint32_t address, std::uint32_t number) {
    std::memcpy(memory() + address, &number, sizeof(number));
  }
  std::uint32_t get(std::uint32_t address) {
    std::uint32_t number = 0;
    std::memcpy(&number, memory() + address, sizeof(number));
    return number;
  }

  TemporaryFolder folder_;
  MemoryFile in_;
  MemoryFile out_;
  MemoryFile error_;
  std::unique_ptr<Store> store_;
  Instance* instance_ = nullptr;
  std::unique_ptr<Wasi> wasi_;
};

TEST_F(WasiCalls, LastByteOfMemoryIsUsableAndNotOneMore) {
  EXPECT_EQ(call("random_get", {end_of_memory - 8, 8}), Errno::success);
  EXPECT_EQ(call("random_get", {end_of_memory - 8, 9}), Errno::fault);
  EXPECT_EQ(call("random_get", {end_of_memory, 0}), Errno::success);
  EXPECT_EQ(call("random_get", {end_of_memory + 1, 0}), Errno::fault);
  EXPECT_EQ(call("random_get", {0xFFFFFFFF, 0xFFFFFFFF}), Errno::fault);
  EXPECT_EQ(call("clock_time_get", {0, 0, end_of_memory - 8}), Errno::success);
  EXPECT_EQ(call("clock_time_get", {0, 0, end_of_memory - 7}), Errno::fault);
  EXPECT_EQ(call("clock_time_get", {4, 0, 0}), Errno::invalid);
  EXPECT_EQ(call("fd_fdstat_get", {1, end_of_memory - 24}), Errno::success);
  EXPECT_EQ(call("fd_fdstat_get", {1, end_of_memory - 23}), Errno::fault);
}

TEST_F(WasiCalls, UpperHalfOfANumberIsIgnored) {
  EXPECT_EQ(call("random_get", {0xDEADBEEF00000010, 0xDEADBEEF00000008}), Errno::success);
}

TEST_F(WasiCalls, ArgumentsNeedRoomForAllOfThem) {
  EXPECT_EQ(call("args_sizes_get", {0, 4}), Errno::success);
  EXPECT_EQ(get(0), 2);
  EXPECT_EQ(get(4), 12);
  EXPECT_EQ(call("args_get", {0, end_of_memory - 12}), Errno::success);
  EXPECT_EQ(get(4), end_of_memory - 4);
  EXPECT_STREQ(reinterpret_cast<const char*>(memory() + end_of_memory - 4), "one");
  EXPECT_EQ(call("args_get", {0, end_of_memory - 11}), Errno::fault);
  EXPECT_EQ(call("args_get", {end_of_memory - 7, 0}), Errno::fault);
  EXPECT_EQ(call("args_get", {0, 0xFFFFFFFF}), Errno::fault);
}

TEST_F(WasiCalls, EveryBufferIsCheckedBeforeAnyIsUsed) {
  std::memcpy(memory() + 100, "abc", 3);
  put(0, 100);
  put(4, 3);
  put(8, end_of_memory - 1);
  put(12, 2);
  EXPECT_EQ(call("fd_write", {1, 0, 2, 200}), Errno::fault);
  put(12, 0xFFFFFFFF);
  EXPECT_EQ(call("fd_write", {1, 0, 2, 200}), Errno::fault);
  EXPECT_EQ(call("fd_write", {1, 0, 1, end_of_memory - 3}), Errno::fault);
  EXPECT_EQ(call("fd_write", {1, 0, 0x20000001, 200}), Errno::fault);
  EXPECT_EQ(call("fd_write", {1, end_of_memory - 8, 2, 200}), Errno::fault);
  EXPECT_EQ(out_.text(), "");
  EXPECT_EQ(call("fd_write", {1, 0, 1, 200}), Errno::success);
  EXPECT_EQ(get(200), 3);
  EXPECT_EQ(out_.text(), "abc");
}

TEST_F(WasiCalls, MoreBuffersThanTheKernelTakesAreTakenInPart) {
  for (std::uint32_t index = 0; index < 4000; ++index) {
    put(8 * index, 40000);
    put(8 * index + 4, 1);
  }
  EXPECT_EQ(call("fd_write", {1, 0, 4000, 50000}), Errno::success);
  EXPECT_EQ(get(50000), 1024);
}

TEST_F(WasiCalls, StreamsHaveNoMoreRightsThanTheyNeed) {
  EXPECT_EQ(call("fd_write", {0, 0, 0, 200}), Errno::not_capable);
  EXPECT_EQ(call("fd_read", {1, 0, 0, 200}), Errno::not_capable);
  EXPECT_EQ(call("fd_read", {3, 0, 0, 200}), Errno::not_capable);
  EXPECT_EQ(call("fd_read", {4, 0, 0, 200}), Errno::bad_descriptor);
  EXPECT_EQ(call("fd_read", {0xFFFFFFFF, 0, 0, 200}), Errno::bad_descriptor);
  EXPECT_EQ(call("fd_fdstat_set_rights", {0, UINT64_MAX, 0}), Errno::not_capable);
  EXPECT_EQ(call("fd_fdstat_set_rights", {0, 0, 0}), Errno::success);
  EXPECT_EQ(call("fd_read", {0, 0, 0, 200}), Errno::not_capable);
  EXPECT_EQ(call("fd_prestat_get", {0, 0}), Errno::bad_descriptor);
  EXPECT_EQ(call("sock_shutdown", {0, 0}), Errno::not_socket);
}

TEST_F(WasiCalls, NamesOfDirectoriesNeedRoom) {
  EXPECT_EQ(call("fd_prestat_get", {3, end_of_memory - 8}), Errno::success);
  EXPECT_EQ(get(end_of_memory - 4), 1);
  EXPECT_EQ(call("fd_prestat_get", {3, end_of_memory - 7}), Errno::fault);
  EXPECT_EQ(call("fd_prestat_dir_name", {3, end_of_memory - 1, 1}), Errno::success);
  EXPECT_EQ(call("fd_prestat_dir_name", {3, 0, 0}), Errno::name_too_long);
  EXPECT_EQ(call("fd_prestat_dir_name", {3, end_of_memory, 1}), Errno::fault);
}

TEST_F(WasiCalls, PathsAreCheckedBeforeTheyAreUsed) {
  std::memcpy(memory(), "a\0b", 3);
  EXPECT_EQ(call("path_create_directory", {3, 0, 3}), Errno::invalid);
  EXPECT_EQ(call("path_create_directory", {3, 0, 0}), Errno::no_entry);
  EXPECT_EQ(call("path_create_directory", {3, end_of_memory - 1, 2}), Errno::fault);
  EXPECT_EQ(call("path_create_directory", {3, 0xFFFFFFFF, 0xFFFFFFFF}), Errno::fault);
  EXPECT_EQ(call("path_create_directory", {3, 0, 4096}), Errno::name_too_long);
  EXPECT_EQ(call("path_create_directory", {0, 0, 1}), Errno::not_capable);
  // Nothing is made when there is nowhere to say what it is called.
  EXPECT_EQ(call("path_open", {3, 0, 0, 1, 1, UINT64_MAX, 0, 0, end_of_memory - 3}), Errno::fault);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(WasiCalls, ListsOfFilesFitAnyBuffer) {
  for (const char* name : {"first", "second"}) std::ofstream(folder_.path() / name) << "x";
  EXPECT_EQ(call("fd_readdir", {3, 1000, 5000, 0, 0}), Errno::success);
  const std::uint32_t whole = get(0);
  EXPECT_EQ(whole, 4 * 24 + 1 + 2 + 5 + 6);
  for (std::uint32_t size = 0; size <= whole; ++size) {
    std::memset(memory() + 1000, 0x5A, 5000);
    EXPECT_EQ(call("fd_readdir", {3, 1000, size, 0, 0}), Errno::success);
    EXPECT_EQ(get(0), size);
    EXPECT_EQ(memory()[1000 + size], std::byte{0x5A});
  }
  EXPECT_EQ(call("fd_readdir", {3, end_of_memory - 10, 11, 0, 0}), Errno::fault);
  EXPECT_EQ(call("fd_readdir", {3, 1000, 5000, UINT64_MAX, 0}), Errno::invalid);
}

TEST_F(WasiCalls, TheHostKeepsStreamsThatTheGuestCloses) {
  EXPECT_EQ(call("fd_renumber", {2, 1}), Errno::success);
  EXPECT_EQ(call("fd_close", {2}), Errno::bad_descriptor);
  put(0, 100);
  put(4, 3);
  EXPECT_EQ(call("fd_write", {1, 0, 1, 200}), Errno::success);
  EXPECT_EQ(call("fd_close", {1}), Errno::success);
  EXPECT_EQ(call("fd_close", {1}), Errno::bad_descriptor);
  EXPECT_EQ(out_.text(), "");
  EXPECT_EQ(error_.text().size(), 3);
}

TEST_F(WasiCalls, PollingChecksWhatItIsGiven) {
  const auto subscribe = [this](std::uint32_t at, std::byte tag, std::uint32_t subject) {
    std::memset(memory() + at, 0, 48);
    put(at, at);
    memory()[at + 8] = tag;
    put(at + 16, subject);
  };
  constexpr std::byte clock{0};
  constexpr std::byte write{2};
  subscribe(0, clock, 1);
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 0, 2000}), Errno::invalid);
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 1025, 2000}), Errno::invalid);
  EXPECT_EQ(call("poll_oneoff", {end_of_memory - 47, 1000, 1, 2000}), Errno::fault);
  EXPECT_EQ(call("poll_oneoff", {0, end_of_memory - 31, 1, 2000}), Errno::fault);
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 1, end_of_memory - 3}), Errno::fault);
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 1, 2000}), Errno::success);
  EXPECT_EQ(get(2000), 1);
  subscribe(0, std::byte{3}, 1);
  EXPECT_EQ(call("poll_oneoff", {0, 1000, 1, 2000}), Errno::invalid);
  // Faults of single subscriptions are events, and nobody waits then. Events lie over
  // subscriptions.
  subscribe(0, clock, 7);
  subscribe(48, write, 77);
  subscribe(96, write, 1);
  subscribe(144, clock, 1);
  put(144 + 24, 0xFFFFFFFF);
  put(144 + 28, 0xFFFFFFFF);
  EXPECT_EQ(call("poll_oneoff", {0, 0, 4, 2000}), Errno::success);
  EXPECT_EQ(get(2000), 3);
  EXPECT_EQ(get(8) & 0xFFFFU, static_cast<std::uint32_t>(Errno::invalid));
  EXPECT_EQ(get(32), 48);
  EXPECT_EQ(get(32 + 8) & 0xFFFFU, static_cast<std::uint32_t>(Errno::bad_descriptor));
  EXPECT_EQ(get(64), 96);
  EXPECT_EQ(get(64 + 8), 2U << 16U);
}

TEST_F(WasiCalls, AllocatingChecksItsRange) {
  std::memcpy(memory(), "f", 1);
  EXPECT_EQ(call("path_open", {3, 0, 0, 1, 1, UINT64_MAX, 0, 0, 8}), Errno::success);
  const std::uint32_t file = get(8);
  EXPECT_EQ(call("fd_allocate", {file, 1, UINT64_MAX}), Errno::file_too_big);
  EXPECT_EQ(call("fd_allocate", {file, INT64_MAX, 1}), Errno::file_too_big);
  EXPECT_EQ(call("fd_allocate", {file, 0, 0}), Errno::invalid);
  EXPECT_EQ(call("fd_allocate", {file, 10, 10}), Errno::success);
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / "f"), 20);
}

TEST_F(WasiCalls, WithoutAMemoryNothingIsInBounds) {
  const Wasi bare(WasiConfig{});
  const std::array<Cell, 2> cells{};
  const auto outcome = store_->call(*bare.find(*store_, "random_get"), cells);
  EXPECT_EQ(outcome.results.at(0).low, static_cast<std::uint64_t>(Errno::success));
  const auto sizes = store_->call(*bare.find(*store_, "args_sizes_get"), cells);
  EXPECT_EQ(sizes.results.at(0).low, static_cast<std::uint64_t>(Errno::fault));
  EXPECT_EQ(bare.find(*store_, "fd_fly"), nullptr);
}

TEST_F(WasiCalls, AnyNumbersAreAnswered) {
  constexpr int rounds = 4'000;
  constexpr std::array<std::uint64_t, 16> numbers = {0,
                                                     1,
                                                     2,
                                                     3,
                                                     8,
                                                     24,
                                                     end_of_memory - 8,
                                                     0x7FFFFFFF,
                                                     0x80000000,
                                                     0xFFFFFFFF,
                                                     0xFFFFFFF8,
                                                     UINT64_MAX,
                                                     0x1FFF,
                                                     end_of_memory - 1,
                                                     INT64_MAX,
                                                     end_of_memory};
  // Paths begin at 0, 1, 2, 3, 8 and 24.
  constexpr std::string_view texts = "../beside/../new/a/b/c//../../beside/";
  std::mt19937_64 random(20260205);  // NOLINT: the same on each run
  for (int round = 0; round < rounds; ++round) {
    if (round % 50 == 0) restart();
    std::memcpy(memory(), texts.data(), texts.size());
    const char* name = all_names[random() % all_names.size()];
    FunctionRecord* const record = wasi_->find(*store_, name);
    ASSERT_NE(record, nullptr) << name;
    std::vector<Cell> cells;
    for (std::size_t index = 0; index < store_->parameters_of(*record).size(); ++index) {
      const std::uint64_t pick = random();
      cells.push_back({pick % 4 == 0 ? random() % end_of_memory : numbers[pick / 4 % 16], 0});
    }
    try {
      EXPECT_EQ(store_->call(*record, cells).trap, TrapKind::none) << name;
    } catch (const GuestExit&) {
      EXPECT_THAT(name, testing::StartsWith("proc_"));
    }
    ASSERT_EQ(::ftruncate(out_.number(), 0), 0);
    ASSERT_EQ(::ftruncate(error_.number(), 0), 0);
    ASSERT_TRUE(folder_.is_untouched_outside()) << name;
  }
}

}  // namespace
}  // namespace plimsoll::wasm::test
