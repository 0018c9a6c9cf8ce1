#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.h"
#include "record/recording_check.h"

namespace whystop {
namespace {

/// Goal: what a fuzzer once found stays harmless.
/// Method: replay fuzz/regressions/recording through the fuzzer's own check, which ends the process
/// if it fails.
TEST(Regressions, EveryFindingAboutRecordingsIsHarmless) {
  std::size_t inputs = 0;
  const auto folder =
      std::filesystem::path(WHYSTOP_SOURCE_DIR) / "fuzz" / "regressions" / "recording";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = ReadFile(entry.path(), 16 << 20);
    ASSERT_TRUE(bytes) << entry.path();
    CheckRecording(*bytes);
    ++inputs;
  }
  EXPECT_GT(inputs, 0u);
}

}  // namespace
}  // namespace whystop
