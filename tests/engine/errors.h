// Errors as values. Why it exists: a test says in one line what must be refused, and how.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::engine_test {

/// `action` throws an Error of this kind whose message holds all these parts.
template <typename Action>
void expect_error(Action action, ErrorKind kind, const std::vector<std::string>& parts) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.message();
    for (const std::string& part : parts) {
      EXPECT_NE(error.message().find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.message();
    }
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace plimsoll::engine_test
