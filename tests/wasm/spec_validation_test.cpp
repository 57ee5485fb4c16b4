// Every binary module of the specification's suite is accepted or refused as the suite says. What
// is left out is named by what the decoder refuses as not implemented, never by a list of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "memory/budget.h"
#include "plimsoll/error.h"
#include "wasm/binary/validate.h"
#include "wasm/spec_suite.h"

namespace plimsoll::wasm::test {
namespace {

enum class Verdict : std::uint8_t { accepted, refused, not_implemented };

Verdict judge(const std::vector<std::byte>& bytes, FeatureSet features, std::string& message) {
  const auto budget = memory::Budget::root("test", 64 << 20);
  try {
    const auto module = validate_module(budget, features, bytes);
    if (!module) {
      message = module.error().to_string();
      return Verdict::refused;
    }
    return Verdict::accepted;
  } catch (const Error& error) {
    message = error.message();
    const bool aggregate = message.find("feature 'gc' are not implemented") != std::string::npos;
    return aggregate ? Verdict::not_implemented : Verdict::refused;
  }
}

struct Totals {
  int modules = 0;    ///< accepted as they should be
  int invalid = 0;    ///< refused as they should be
  int malformed = 0;  ///< refused as they should be
  int skipped = 0;    ///< use structs or arrays
  int text = 0;       ///< no test of ours
};

/// Commands whose module must be accepted, whatever happens to it later.
bool expects_valid(const std::string& type) {
  return type == "module" || type == "module_definition" || type == "assert_unlinkable" ||
         type == "assert_uninstantiable" || type == "assert_trap";
}

Totals run_group(const std::filesystem::path& root, const std::string& group, FeatureSet features) {
  Totals totals;
  for (const SpecScript& script : spec_scripts(root, group)) {
    for (const auto& command : script.commands) {
      const std::string type = command.at("type");
      const bool refuses = type == "assert_invalid" || type == "assert_malformed";
      if (!command.contains("filename") || !(refuses || expects_valid(type))) continue;
      if (command.value("module_type", "binary") != "binary") {
        ++totals.text;
        continue;
      }
      std::string message;
      const std::string file = command.at("filename");
      const Verdict verdict = judge(read_bytes(script.folder / file), features, message);
      const std::string where = script.name + ":" + std::to_string(command.value("line", 0)) +
                                " (" + file + ", " + command.value("text", "") + ")";
      if (verdict == Verdict::not_implemented) {
        ++totals.skipped;
      } else if (refuses) {
        EXPECT_EQ(verdict, Verdict::refused) << where << ": accepted, expected " << type;
        if (verdict == Verdict::refused) {
          EXPECT_THAT(message, ::testing::HasSubstr("at byte ")) << where;
        }
        ++(type == "assert_invalid" ? totals.invalid : totals.malformed);
      } else {
        EXPECT_EQ(verdict, Verdict::accepted) << where << ": " << message;
        ++totals.modules;
      }
    }
  }
  std::cout << (group.empty() ? "core" : group) << ": " << totals.modules << " modules accepted, "
            << totals.invalid << " invalid and " << totals.malformed << " malformed refused, "
            << totals.skipped << " skipped (structs or arrays), " << totals.text << " are text\n";
  return totals;
}

/// What ran when this was recorded; less means that something is silently left out.
void expect_at_least(const Totals& totals, const Totals& recorded) {
  EXPECT_GE(totals.modules, recorded.modules);
  EXPECT_GE(totals.invalid, recorded.invalid);
  EXPECT_GE(totals.malformed, recorded.malformed);
  EXPECT_LE(totals.skipped, recorded.skipped);
}

TEST(SpecValidation, CoreStandard) {
  const auto root = spec_folder();
  if (!root) GTEST_SKIP() << "the test suite is not converted: scripts/convert_spec.sh does it";
  expect_at_least(run_group(*root, "", FeatureSet::wasm_3()),
                  {.modules = 2415, .invalid = 2654, .malformed = 710, .skipped = 133});
}

TEST(SpecValidation, ThreadsUnderTheFeaturesOfTheirTime) {
  const auto root = spec_folder();
  if (!root) GTEST_SKIP() << "the test suite is not converted: scripts/convert_spec.sh does it";
  // The converter writes element segments in the form that came with bulk memory.
  expect_at_least(
      run_group(*root, "proposals/threads", FeatureSet::parse("1.0,threads,bulk-memory")),
      {.modules = 173, .invalid = 96});
}

}  // namespace
}  // namespace plimsoll::wasm::test
