#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/fd.h"
#include "import/reader_check.h"

namespace whystop {
namespace {

/// Goal: what a fuzzer once found, and what it starts from, stays harmless.
/// Method: replay fuzz/regressions/<target> and fuzz/seeds/<target> through the same checks.
TEST(Regressions, EveryInputOfTheFuzzersIsHarmless) {
  const std::map<std::string, void (*)(std::string_view)> targets = {
      {"tensorboard", &CheckTensorBoard},
      {"wandb", &CheckWandb},
      {"csv", &CheckCsv},
      {"jsonl", &CheckJsonl},
      {"trainer_state", &CheckTrainerState}};
  for (const auto& [target, check] : targets) {
    std::size_t inputs = 0;
    for (const char* kind : {"seeds", "regressions"}) {
      const auto folder = std::filesystem::path(WHYSTOP_SOURCE_DIR) / "fuzz" / kind / target;
      if (!std::filesystem::exists(folder)) {
        continue;
      }
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto bytes = ReadFile(entry.path(), 16 << 20);
        ASSERT_TRUE(bytes) << entry.path();
        check(*bytes);
        ++inputs;
      }
    }
    EXPECT_GT(inputs, 0u) << target;
  }
}

}  // namespace
}  // namespace whystop
