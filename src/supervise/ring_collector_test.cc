#include "supervise/ring_collector.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/result.h"
#include "wire/ring_writer.h"

namespace whystop {
namespace {

/// Keeps the numbers of the numbered slots that came.
class SlotKeeper final : public RecordingWriter {
 public:
  void Start() override {}
  void Append(const Event& /*event*/) override {}
  void AppendLog(RunTime /*at*/, LogStream /*stream*/, std::string_view /*bytes*/) override {}
  void SkipLog(LogStream /*stream*/, std::int64_t /*bytes*/) override {}
  void AppendProbe(RunTime /*at*/, std::int64_t /*pid*/, std::string_view slots) override {
    for (std::size_t at = 0; at + kSlotBytes <= slots.size(); at += kSlotBytes) {
      Slot slot{};
      std::memcpy(&slot, slots.data() + at, kSlotBytes);
      if (slot.kind == static_cast<std::uint8_t>(SlotKind::kStep) &&
          (slot.flags & kSlotLastOnly) == 0) {
        steps.push_back(slot.sequence);
      }
    }
  }
  std::optional<std::int64_t> ProbeBytesLost() const override {
    return all_written ? std::optional(lost) : std::nullopt;
  }
  void Finish() override {}
  std::string fault() const override { return {}; }

  std::vector<std::uint64_t> steps;
  bool all_written = false;
  std::int64_t lost = 0;
};

class RingCollectorTest : public testing::Test {
 protected:
  RingCollectorTest() {
    RingWriterOptions options;
    options.directory = ::mkdtemp(folder_);
    options.slot_count = kSlotCountMin;
    EXPECT_TRUE(ring_.Open(options));
  }
  ~RingCollectorTest() override { std::filesystem::remove_all(folder_); }

  void WriteSteps(int count) {
    for (int i = 0; i < count; ++i) {
      ring_.Step({}, false);
    }
  }

  std::ptrdiff_t Rings() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  /// So many processes, one after the other, that write two steps each and die without a word.
  void LetProcessesDie(int count, bool reap = true) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        RingWriter ring;
        ring.Open({.directory = folder_, .slot_count = kSlotCountMin});
        ring.Step({}, false);
        ring.Step({}, false);
        ::kill(::getpid(), SIGKILL);
      }
      siginfo_t end{};
      ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | (reap ? 0 : WNOWAIT)), 0);
    }
  }

  char folder_[32] = "/tmp/whystop-ringsXXXXXX";
  RingWriter ring_;
  RunState state_;
  SlotKeeper kept_;
};

TEST_F(RingCollectorTest, TakesEverySlotOnce) {
  RingCollector collector(folder_, state_);
  WriteSteps(3);
  collector.Collect({}, kept_);
  collector.Collect({}, kept_);
  WriteSteps(2);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST_F(RingCollectorTest, GoesOnWhereAnotherProcessStopped) {
  WriteSteps(3);
  RingCollector(folder_, state_).Collect({}, kept_);
  WriteSteps(2);
  RingCollector(folder_, state_).Collect({}, kept_);
  EXPECT_EQ(kept_.steps, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST_F(RingCollectorTest, ComesMoreOftenToARingThatFills) {
  RingCollector collector(folder_, state_);
  const auto calm = collector.NextInterval();
  WriteSteps(static_cast<int>(kSlotCountMin) / 2);
  collector.Collect({}, kept_);
  EXPECT_LT(collector.NextInterval(), calm);
  for (int i = 0; i < 10; ++i) {
    collector.Collect({}, kept_);
  }
  EXPECT_EQ(collector.NextInterval(), calm);
}

/// A container inside the job has numbers of its own: a ring whose process we cannot find is not over.
TEST_F(RingCollectorTest, ARingOfAnotherPidNamespaceGoesOn) {
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::int64_t unknown_here = (1LL << 22) + 1;  // Beyond the largest pid there is.
    file.seekp(offsetof(RingHeader, pid));
    file.write(reinterpret_cast<const char*>(&unknown_here), sizeof(unknown_here));
    const std::uint32_t another_namespace = 1;
    file.seekp(offsetof(RingHeader, pid_namespace));
    file.write(reinterpret_cast<const char*>(&another_namespace), sizeof(another_namespace));
  }
  RingCollector collector(folder_, state_);
  WriteSteps(2);
  collector.Collect({}, kept_);
  WriteSteps(2);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

/// Goal: a ring is removed when its process has ended in good order and all that it held is in the
/// files, not before: until then it is the only copy that outlives the recorder.
TEST_F(RingCollectorTest, ARingGoesOnceItIsWrittenAndNotBefore) {
  RingCollector collector(folder_, state_);
  WriteSteps(3);
  kept_.all_written = true;
  collector.Collect({}, kept_);
  collector.Collect({}, kept_);
  EXPECT_EQ(Rings(), 1) << "its process lives";
  ring_.Close();
  kept_.all_written = false;
  collector.Collect({}, kept_);
  collector.Collect({}, kept_);
  EXPECT_EQ(Rings(), 1) << "what it held waits for the disk";
  kept_.all_written = true;
  collector.Collect({}, kept_);
  EXPECT_EQ(Rings(), 0);
  EXPECT_EQ(kept_.steps, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(RingCollectorTest, AtTheEndOfTheRunAllRingsGoUnlessSomethingWasLost) {
  RingCollector collector(folder_, state_);
  collector.Collect({}, kept_);
  kept_.all_written = true;
  kept_.lost = 100;
  collector.RemoveAll(kept_);
  EXPECT_EQ(Rings(), 1);
  RingCollector later(folder_, state_);
  later.Collect({}, kept_);
  later.RemoveAll(kept_);
  EXPECT_EQ(Rings(), 0) << "what was lost before it was opened is not its own";
}

/// Goal: however many processes die, before anyone looked at their rings, each step is taken once and
/// no ring stays.
TEST_F(RingCollectorTest, RingsOfManyDeadProcessesAllGo) {
  RingCollector collector(folder_, state_);
  kept_.all_written = true;
  LetProcessesDie(300);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps.size(), 600U);
  collector.Collect({}, kept_);
  EXPECT_EQ(Rings(), 1) << "the living process's own";
  LetProcessesDie(200);
  WriteSteps(1);
  collector.Collect({}, kept_);
  RingCollector(folder_, state_).Collect({}, kept_);
  EXPECT_EQ(kept_.steps.size(), 1001U) << "another that takes over takes nothing twice";
}

/// A parent that never waits for its children leaves their numbers taken.
TEST_F(RingCollectorTest, RingsOfZombiesGoToo) {
  RingCollector collector(folder_, state_);
  kept_.all_written = true;
  LetProcessesDie(2, /*reap=*/false);
  collector.Collect({}, kept_);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps.size(), 4U);
  EXPECT_EQ(Rings(), 1);
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// A process that is killed while it makes its ring leaves a file without a header.
TEST_F(RingCollectorTest, ARingThatWasNeverFinishedGoesWithTheRun) {
  std::ofstream(std::string(folder_) + "/7-7.ring") << std::string(kRingHeaderBytes, '\0');
  RingCollector collector(folder_, state_);
  kept_.all_written = true;
  collector.Collect({}, kept_);
  EXPECT_EQ(Rings(), 2);
  collector.RemoveAll(kept_);
  EXPECT_EQ(Rings(), 0);
}

TEST_F(RingCollectorTest, HasNothingToSayWithoutAFolder) {
  RingCollector collector("/no/such/folder", state_);
  collector.Collect({}, kept_);
  EXPECT_TRUE(kept_.steps.empty());
}

TEST_F(RingCollectorTest, FilesForStacksGoUnlessThereAreSome) {
  std::ofstream(std::string(folder_) + "/7.stacks");
  std::ofstream(std::string(folder_) + "/8.stacks") << "Fatal Python error: Segmentation fault";
  RingCollector collector(folder_, state_);
  kept_.all_written = true;
  collector.Collect({}, kept_);
  collector.RemoveAll(kept_);
  EXPECT_EQ(Rings(), 1) << "the stacks of 8";
}

/// The folder's time counts in ticks of some milliseconds: what is made right behind a look may not change it.
TEST_F(RingCollectorTest, ARingMadeInTheTickOfTheLastLookIsSeen) {
  RingCollector collector(folder_, state_);
  collector.Collect({}, kept_);
  struct stat facts {};
  ASSERT_EQ(::stat(folder_, &facts), 0);
  RingWriter second;
  ASSERT_TRUE(second.Open({.directory = folder_, .slot_count = kSlotCountMin}));
  second.Step({}, false);
  const timespec times[] = {facts.st_atim, facts.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder_, times, 0), 0);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps.size(), 1U);
}

/// Goal: a look that fails for want of a descriptor is no news of a process, nor of a ring.
TEST_F(RingCollectorTest, WithoutDescriptorsNothingIsTakenForEnded) {
  kept_.all_written = true;
  RingCollector collector(folder_, state_);
  WriteSteps(2);
  collector.Collect({}, kept_);
  RingWriter second;
  ASSERT_TRUE(second.Open({.directory = folder_, .slot_count = kSlotCountMin}));
  second.Step({}, false);
  static_cast<void>(SystemError("", EMFILE));  // The sanitizer reads a type's table through a pipe, the first time.
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  for (rlim_t room = 0; room < 3; ++room) {  // None, one for the folder, and one for a ring's file.
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next) + room, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    collector.Collect({}, kept_);
    collector.Collect({}, kept_);
    ::setrlimit(RLIMIT_NOFILE, &before);
  }
  WriteSteps(2);
  collector.Collect({}, kept_);
  EXPECT_EQ(kept_.steps.size(), 5U);
  EXPECT_EQ(Rings(), 2);
}

/// In a PID namespace whose /proc is still another's, /proc knows a living process by another number.
TEST_F(RingCollectorTest, WithTheProcOfAnotherNamespaceALivingRingGoesOn) {
  kept_.all_written = true;
  const pid_t outside = ::fork();
  if (outside == 0) {
    if (::unshare(CLONE_NEWPID) != 0) {
      ::_exit(77);
    }
    const pid_t inside = ::fork();
    if (inside == 0) {
      RingWriter ring;
      ring.Open({.directory = folder_, .slot_count = kSlotCountMin});
      RingCollector collector(folder_, state_);
      for (int i = 0; i < 3; ++i) {
        ring.Step({}, false);
        collector.Collect({}, kept_);
      }
      ::_exit(static_cast<int>(kept_.steps.size()));
    }
    int status = 0;
    ::waitpid(inside, &status, 0);
    ::_exit(WEXITSTATUS(status));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(outside, &status, 0), outside);
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "may not make PID namespaces";
  }
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace whystop
