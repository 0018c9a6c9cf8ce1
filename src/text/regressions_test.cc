#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "text/log_check.h"

namespace whystop {
namespace {

/// Goal: what a fuzzer once found stays mended. Method: its inputs and seeds, through its own
/// check.
TEST(LogRegressions, AreReplayed) {
  std::size_t replayed = 0;
  for (const char* folder : {"regressions", "seeds"}) {
    const auto path = std::filesystem::path(WHYSTOP_SOURCE_DIR) / "fuzz" / folder / "log";
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      SCOPED_TRACE(entry.path());
      std::ifstream file(entry.path(), std::ios::binary);
      CheckLog(std::string(std::istreambuf_iterator<char>(file), {}));
      ++replayed;
    }
  }
  EXPECT_GT(replayed, 1U);
}

}  // namespace
}  // namespace whystop
