// Does one thing to memory and prints what the kernel says of it. Why it exists: VmHWM never falls,
// and limits and malloc's settings are of the whole process, so each measurement needs a process of
// its own, small at the start.
//
//   memory_probe touch MIB          VmHWM before and after touching a block, VmRSS then
//   memory_probe discard MIB        VmRSS with the block touched, and after half of it is discarded
//   memory_probe huge MIB WHICH     AnonHugePages before and after touching; WHICH: always, never
//   memory_probe aligned MIB        data (virtual bytes) before and after an untouched huge-page
//   block memory_probe backstop LIMIT MIB sets the backstop for LIMIT bytes, then maps MIB past the
//   ledger memory_probe exhaust LIMIT MIB  the same, then operator new of MIB; prints who asked
//   last memory_probe heap MIB           configures the heap, takes and frees MIB of small blocks
//   memory_probe ulimit BYTES MIB   RLIMIT_DATA of BYTES from outside, then a block of MIB
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "memory/backstop.h"
#include "memory/block.h"
#include "memory/heap.h"
#include "memory/probe.h"
#include "plimsoll/error.h"

namespace {

using namespace plimsoll::memory;  // NOLINT: a program of one file

constexpr std::uint64_t mebibyte = 1024 * 1024;

std::shared_ptr<Budget> endless() {
  return Budget::root("process", Budget::unlimited);
}

void print(std::uint64_t value) {
  std::printf("%llu ", static_cast<unsigned long long>(value));
}

Block touched(Budget& budget, std::uint64_t bytes, HugePages huge = HugePages::never) {
  auto block = Block::allocate(budget, bytes, "block", huge);
  if (!block) {
    std::fprintf(stderr, "%s\n", block.error().to_string().c_str());
    std::exit(4);
  }
  std::memset(block->data(), 1, block->size());
  return std::move(*block);
}

int touch(std::uint64_t bytes) {
  print(probe_process().peak_resident_bytes);
  const auto budget = endless();
  const Block block = touched(*budget, bytes);
  print(probe_process().peak_resident_bytes);
  print(probe_process().resident_bytes);
  return 0;
}

int discard(std::uint64_t bytes) {
  const auto budget = endless();
  Block block = touched(*budget, bytes);
  print(probe_process().resident_bytes);
  block.discard(0, bytes / 2);
  print(probe_process().resident_bytes);
  print(static_cast<std::uint64_t>(block.data()[bytes / 2 - 1]));
  print(static_cast<std::uint64_t>(block.data()[bytes / 2]));
  return 0;
}

int huge(std::uint64_t bytes, const char* which) {
  const auto budget = endless();
  print(probe_mappings()->anonymous_huge_bytes);
  const Block block = touched(
      *budget, bytes, std::strcmp(which, "always") == 0 ? HugePages::always : HugePages::never);
  print(probe_mappings()->anonymous_huge_bytes);
  return 0;
}

int aligned(std::uint64_t bytes) {
  const auto budget = endless();
  print(probe_process().data_virtual_bytes);
  const auto block = Block::allocate(*budget, bytes, "block", HugePages::always);
  print(probe_process().data_virtual_bytes);
  return block ? 0 : 4;
}

int backstop(std::uint64_t limit, std::uint64_t bytes) {
  const auto set = install_backstop(limit, 0);
  print(set.value_or(0));
  const auto budget = endless();  // a ledger that does not know the limit: a mistake of ours
  const auto block = Block::allocate(*budget, bytes, "a block");
  std::printf("%s", block ? "granted" : block.error().to_string().c_str());
  return block ? 0 : block.error().by_kernel ? 6 : 4;
}

int exhaust(std::uint64_t limit, std::uint64_t bytes) {
  install_backstop(limit, 0);
  const auto budget = Budget::root("process", limit);
  const auto reservation = budget->reserve(3 * mebibyte, "activations of 'a model'");
  try {
    const std::vector<char> heap(bytes);
    return heap.size() == bytes ? 0 : 1;
  } catch (const std::bad_alloc&) {
    std::printf("%s", describe_exhausted_heap(*budget).c_str());
    return 6;
  }
}

int heap(std::uint64_t bytes) {
  configure_heap();
  print(probe_process().resident_bytes);
  {
    std::vector<std::unique_ptr<char[]>> blocks;  // NOLINT: raw bytes are what is wanted
    const auto budget = endless();
    auto entry = HeapEntry::open(*budget);
    for (std::uint64_t taken = 0; taken < bytes; taken += 1000) {
      blocks.push_back(std::make_unique<char[]>(1000));  // NOLINT
      blocks.back()[0] = 1;
    }
    print(probe_process().resident_bytes);
    print(entry && entry->update() ? entry->bytes() : 0);
  }
  trim_heap();
  print(probe_process().resident_bytes);
  return 0;
}

int limited_from_outside(std::uint64_t limit, std::uint64_t bytes) {
  const rlimit data{limit, limit};
  if (setrlimit(RLIMIT_DATA, &data) != 0) return 1;
  print(install_backstop(std::uint64_t{1} << 50, 0).value_or(0));
  const auto budget = endless();
  const auto block = Block::allocate(*budget, bytes, "a block");
  print(budget->used());
  return block ? 0 : block.error().by_kernel ? 6 : 4;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const auto is = [&](const char* name, int wanted) {
    return std::strcmp(arguments[1], name) == 0 && count == wanted;
  };
  const std::uint64_t first = std::strtoull(arguments[2], nullptr, 10);
  const std::uint64_t second = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 0;
  try {
    if (is("touch", 3)) return touch(first * mebibyte);
    if (is("discard", 3)) return discard(first * mebibyte);
    if (is("huge", 4)) return huge(first * mebibyte, arguments[3]);
    if (is("aligned", 3)) return aligned(first * mebibyte);
    if (is("backstop", 4)) return backstop(first, second * mebibyte);
    if (is("exhaust", 4)) return exhaust(first, second * mebibyte);
    if (is("heap", 3)) return heap(first * mebibyte);
    if (is("ulimit", 4)) return limited_from_outside(first, second * mebibyte);
  } catch (const plimsoll::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 2;
}
