#include "import/plain_log/plain_log.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace whystop {
namespace {

struct Kept : EventSink {
  void Push(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

TEST(PlainLog, ReadsAFileToItsEnd) {
  const std::string path = testing::TempDir() + "/plain_log_test.log";
  std::ofstream(path) << "Epoch [1/2], Train Loss: 0.5\nslurmstepd: error: *** JOB 1 ON n "
                         "CANCELLED AT 2024-01-01T00:00:00 ***\n";
  Kept kept;
  const Result<PlainLogStats> read = ReadPlainLog(path, kept);
  std::remove(path.c_str());
  ASSERT_TRUE(read);
  EXPECT_GT(read->bytes, 0);
  ASSERT_FALSE(kept.events.empty());
  const TextEnd* end = kept.events.back().As<TextEnd>();
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->place.line, 2);
}

TEST(PlainLog, AMissingFileIsAnErrorThatNamesIt) {
  Kept kept;
  const Result<PlainLogStats> read = ReadPlainLog("/nonexistent/train.log", kept);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("/nonexistent/train.log"), std::string::npos);
  EXPECT_TRUE(kept.events.empty());
}

TEST(PlainLog, TellsTextFromBinary) {
  EXPECT_TRUE(LooksLikeText("Epoch 1/10\r\x1b[31mloss\x1b[0m: 0.5\n"));
  EXPECT_TRUE(LooksLikeText("28%|##8  | \xE2\x96\x88" + std::string(65, '\0')));
  EXPECT_TRUE(LooksLikeText(std::string("\xFF\xFEL\0o\0", 6)));
  EXPECT_TRUE(LooksLikeText(""));
  EXPECT_FALSE(
      LooksLikeText(std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\x01\0\x02\0\x03", 20)));
  EXPECT_FALSE(LooksLikeText(std::string("PK\x03\x04\x14\0\x08\0\x01\x02\x03\x04\x05\x06", 14)));
}

}  // namespace
}  // namespace whystop
