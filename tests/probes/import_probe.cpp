// Prints how far VmHWM rises while a model is imported. Why it exists: the peak of a small process
// of its own can be measured; that of a test program with its own heap cannot.
//
//   import_probe MODEL      one line: bytes before, bytes after
#include <cstdio>

#include "memory/probe.h"
#include "plimsoll/error.h"
#include "tensor/import/onnx.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    const auto before = plimsoll::memory::probe_process().peak_resident_bytes;
    const auto model = plimsoll::tensor::import_onnx(arguments[1]);
    const auto after = plimsoll::memory::probe_process().peak_resident_bytes;
    std::printf("%llu %llu\n", static_cast<unsigned long long>(before),
                static_cast<unsigned long long>(after));
    return model->main.nodes.empty() ? 1 : 0;
  } catch (const plimsoll::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
