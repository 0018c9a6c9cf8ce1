#include "supervise/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/wait_for.h"
#include "supervise/log_ration.h"

namespace whystop {
namespace {

/// A channel whose job is this test and whose user throws everything away.
class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    channel_.pipe_read = Fd(ends[0]);
    job_ = Fd(ends[1]);
    channel_.user = Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  }

  /// Numbers one after the other, so that each piece of it tells where it stood.
  static std::vector<std::uint32_t> Numbers(std::size_t bytes) {
    std::vector<std::uint32_t> numbers(bytes / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<std::uint32_t>(i);
    }
    return numbers;
  }

  Channel channel_;
  Fd job_;
};

/// Goal: in a torrent nobody waits for the record, the newest is there, and the gap is known to the byte.
TEST_F(RelayTest, AThinnedTapHoldsTheNewestAndKnowsWhatItGaveUp) {
  constexpr std::size_t kBytes = 8 << 20;
  const std::vector<std::uint32_t> written = Numbers(kBytes);
  auto relay = Relay::Start(channel_);
  ASSERT_TRUE(relay);
  (*relay)->ThinTap(true);
  ASSERT_EQ(WriteAll(job_.get(), {reinterpret_cast<const char*>(written.data()), kBytes}), 0);
  (*relay)->NotifyJobEnded();
  char notice = 0;
  WaitFor((*relay)->notices(), POLLIN, -1);
  ASSERT_EQ(ReadSome((*relay)->notices(), {&notice, 1}), 1);
  ASSERT_EQ(notice, Relay::kDrained);

  std::int64_t skipped = 0;
  std::string held;
  std::vector<char> buffer(64 << 10);
  for (ssize_t size = 0; (size = (*relay)->ReadTap(buffer, skipped)) > 0;) {
    held.append(buffer.data(), static_cast<std::size_t>(size));
  }
  EXPECT_GT(skipped, 0);
  EXPECT_GT(held.size(), 64U << 10);
  ASSERT_EQ(static_cast<std::size_t>(skipped) + held.size(), kBytes);
  EXPECT_EQ(std::memcmp(held.data(), reinterpret_cast<const char*>(written.data()) + skipped, held.size()), 0);
  EXPECT_EQ((*relay)->unrecorded_bytes(), 0);
  job_.Close();
}

TEST(LogRation, ABurstIsTakenWholeAndATorrentInHelpings) {
  LogRation ration;
  const std::chrono::nanoseconds start = std::chrono::hours(5);
  ration.Refill(start);
  ration.Take(LogRation::kBurstBytes - 1);
  EXPECT_FALSE(ration.used_up());
  ration.Take(1);
  EXPECT_TRUE(ration.used_up());
  ration.Refill(start + LogRation::kPause);
  EXPECT_FALSE(ration.used_up());
  ration.Take(LogRation::kBytesPerSecond / 20);
  EXPECT_TRUE(ration.used_up());
  ration.Refill(start + std::chrono::hours(1));
  ration.Take(LogRation::kBurstBytes - 1);
  EXPECT_FALSE(ration.used_up());
}

}  // namespace
}  // namespace whystop
