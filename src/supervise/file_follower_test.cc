#include "supervise/file_follower.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

namespace whystop {
namespace {

class FileFollowerTest : public testing::Test {
 protected:
  FileFollowerTest() : file_(::mkstemp(name_)) { ::unlink(name_); }

  std::string Follow(std::int64_t limit_bytes = 1 << 20) {
    std::string text;
    follower_.Follow(limit_bytes, [&](std::string_view piece) { text += piece; });
    return text;
  }

  char name_[32] = "/tmp/whystop-followXXXXXX";
  Fd file_;
  std::atomic<std::int64_t> position_{0};
  FileFollower follower_{file_.get(), -1, position_};
};

TEST_F(FileFollowerTest, GivesWhatIsNewAndOnlyThat) {
  EXPECT_EQ(Follow(), "");
  ASSERT_EQ(WriteAll(file_.get(), "one"), 0);
  EXPECT_EQ(Follow(), "one");
  EXPECT_EQ(Follow(), "");
  const std::string large(200000, 'x');
  ASSERT_EQ(WriteAll(file_.get(), large), 0);
  EXPECT_EQ(Follow(), large);
}

TEST_F(FileFollowerTest, SkipsTheOldestBeyondItsLimitAndCountsIt) {
  ASSERT_EQ(WriteAll(file_.get(), "0123456789"), 0);
  EXPECT_EQ(Follow(4), "6789");
  EXPECT_EQ(follower_.skipped_bytes(), 6);
}

TEST_F(FileFollowerTest, BeginsAnewWhenTheFileWasTruncated) {
  ASSERT_EQ(WriteAll(file_.get(), "0123456789"), 0);
  EXPECT_EQ(Follow(), "0123456789");
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  ASSERT_EQ(::lseek(file_.get(), 0, SEEK_SET), 0);
  ASSERT_EQ(WriteAll(file_.get(), "new"), 0);
  EXPECT_EQ(Follow(), "new");
}

TEST_F(FileFollowerTest, StopsWhereTheWriterStands) {
  ASSERT_EQ(WriteAll(file_.get(), "old old old"), 0);
  ASSERT_EQ(::lseek(file_.get(), 0, SEEK_SET), 0);
  FileFollower overwritten(file_.get(), file_.get(), position_);
  ASSERT_EQ(WriteAll(file_.get(), "new"), 0);
  std::string text;
  overwritten.Follow(100, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text, "new");
}

}  // namespace
}  // namespace whystop
