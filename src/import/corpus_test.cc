#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "import/open.h"
#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

/// Goal: every metric file of the shared corpus is known by its content and read without loss. The
/// corpus is not part of the project; without it there is nothing to test here.
class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(WHYSTOP_SOURCE_DIR) / "../shared/corpus/metrics";
    if (!std::filesystem::exists(folder_)) {
      folder_ = std::filesystem::path(WHYSTOP_SOURCE_DIR) / "../../shared/corpus/metrics";
    }
    if (!std::filesystem::exists(folder_)) {
      GTEST_SKIP() << "no shared corpus beside the source folder";
    }
  }
  std::filesystem::path folder_;
};

TEST_F(Corpus, EveryMetricFileIsKnownAndReadWithoutLoss) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const auto kind = SniffFile(entry.path());
    ASSERT_TRUE(kind);
    EXPECT_TRUE(*kind != FileKind::kTextLog && *kind != FileKind::kOther &&
                *kind != FileKind::kEmpty)
        << entry.path();
    CollectEvents sink;
    const FoundFile file{
        .path = entry.path(), .kind = *kind, .size_bytes = 0, .written = {}, .named = true};
    ASSERT_TRUE(ReadRun({.name = "run", .files = {file}}, {}, sink));
    EXPECT_LE(sink.All<TextEnd>().size() + sink.All<RunEnd>().size(), 1u) << entry.path();
    for (const Drop& drop : sink.All<Drop>()) {
      ADD_FAILURE() << entry.path() << ": " << drop.counter << " " << drop.count;
    }
    ++files;
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace whystop
