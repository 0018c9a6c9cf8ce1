#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "whystop/whystop.hpp"
#include "wire/wire_testing.h"

namespace whystop {
namespace {

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("WHYSTOP_RING_DIR", folder_.path().c_str(), 1);
    setenv("WHYSTOP_RING_SLOTS", "1024", 1);
  }
  void TearDown() override {
    for (const char* name : {"WHYSTOP_RING_DIR", "WHYSTOP_RING_SLOTS", "RANK"}) {
      unsetenv(name);
    }
  }
  CollectEvents Read() {
    auto reader = RingReader::Open(folder_.OnlyFile());
    EXPECT_TRUE(reader);
    return DecodeAll(*reader);
  }
  TemporaryFolder folder_;
};

TEST_F(ClientTest, FiveLinesRecordATraining) {
  setenv("RANK", "2", 1);
  whystop::Run run;
  run.Plan(3, 100);
  run.LearningRate(0.1);
  run.Step(1, 0.5);
  run.Step(2, 0.25);
  const float gradient[] = {1, 2, std::numeric_limits<float>::infinity()};
  run.Tensor(WS_GRADIENT, "w", 2, gradient, 3);
  EXPECT_TRUE(run.recorded());

  const CollectEvents events = Read();
  const auto scalars = events.All<Scalar>();
  ASSERT_EQ(scalars.size(), 5u) << "loss and lr twice, one duration";
  EXPECT_EQ(scalars[2].series, "loss");
  EXPECT_EQ(scalars[2].value, 0.25);
  EXPECT_EQ(scalars[2].rank, 2);
  EXPECT_EQ(scalars[3].value, 0.1);
  EXPECT_EQ(scalars[4].series, "step_s");
  EXPECT_GE(scalars[4].value, 0);
  EXPECT_EQ(events.All<Progress>()[0].epochs_planned, 3.0);
  EXPECT_EQ(events.All<Progress>()[0].steps_planned, 100);
  ASSERT_EQ(events.All<TensorStats>().size(), 1u);
  EXPECT_EQ(events.All<TensorStats>()[0].inf_count, 1u);
  EXPECT_EQ(events.All<TensorStats>()[0].sum, 3);
}

TEST_F(ClientTest, NotesBecomeObservationsAndExceptions) {
  whystop::Run run;
  run.Note("loop-exit", 7, {{"line", nullptr, 31}, {"file", "train.cc", 0}});
  run.Note("exception", -1,
           {{"type", "ValueError", 0},
            {"message", "bad", 0},
            {"ended_process", nullptr, 1},
            {"frames", "a.py\t3\tmain\t1\ttrain()\nb.py\t9\tf\t0\traise", 0}});
  run.Note("signal", -1, {{"signal", nullptr, 15}, {"sender_pid", nullptr, 42}});
  const CollectEvents events = Read();
  EXPECT_EQ(events.Only<Observation>("loop-exit").Number("line"), 31.0);
  ASSERT_EQ(events.All<ExceptionSeen>().size(), 1u);
  const ExceptionSeen seen = events.All<ExceptionSeen>()[0];
  EXPECT_EQ(seen.type, "ValueError");
  EXPECT_TRUE(seen.ended_process);
  ASSERT_EQ(seen.frames.size(), 2u);
  EXPECT_EQ(seen.frames[0].line, 3);
  EXPECT_TRUE(seen.frames[0].users_own);
  EXPECT_EQ(seen.frames[1].source, "raise");
  ASSERT_EQ(events.All<SignalSeen>().size(), 1u);
  EXPECT_EQ(events.All<SignalSeen>()[0].sender_pid, 42);
}

TEST_F(ClientTest, WithoutWhystopEveryCallDoesNothing) {
  unsetenv("WHYSTOP_RING_DIR");
  EXPECT_EQ(ws_open(), nullptr);
  whystop::Run run;
  EXPECT_FALSE(run.recorded());
  run.Plan(1, 1);
  run.Epoch(1);
  run.Phase("train");
  run.LearningRate(1);
  run.Step(1, 1);
  run.Scalar("x", WS_OTHER, 1, 1);
  run.Tensor(WS_WEIGHT, "w", 1, static_cast<const float*>(nullptr), 0);
  run.Note("x", 1, {{"a", nullptr, 1}});
  EXPECT_TRUE(folder_.Files().empty());
}

TEST_F(ClientTest, NullTextsAndNonsenseAreHarmless) {
  ws_run* run = ws_open();
  ws_phase(run, nullptr);
  ws_scalar(run, nullptr, WS_OTHER, 1, 1);
  ws_step_all(run, nullptr);
  ws_progress(run, nullptr);
  ws_record_stats(run, WS_WEIGHT, "w", 1, nullptr);
  ws_tensor(run, WS_WEIGHT, "w", 1, nullptr);
  const ws_attribute attribute = {nullptr, nullptr, 1};
  ws_note(run, nullptr, -1, &attribute, 1);
  const std::string huge(100000, 'x');
  ws_phase(run, huge.c_str());
  ws_scalar(run, huge.c_str(), WS_OTHER, -1, 1);
  const ws_attribute long_text = {"text", huge.c_str(), 0};
  ws_note(run, huge.c_str(), -1, &long_text, 1);
  const CollectEvents events = Read();
  EXPECT_EQ(events.All<Scalar>().at(1).series, std::string(256, 'x'));
  EXPECT_EQ(events.All<Drop>().at(0).counter, "wire.observations_cut");
  ws_close(run);
}

/// Goal: threads that share a run lose no record silently and tear none.
TEST_F(ClientTest, ThreadsShareARun) {
  setenv("WHYSTOP_RING_SLOTS", "65536", 1);
  constexpr int kThreads = 4, kRecords = 2000;
  ws_run* run = ws_open();
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([run, t] {
      const std::string name = "series" + std::to_string(t);
      for (int i = 0; i < kRecords; ++i) {
        ws_scalar(run, name.c_str(), WS_OTHER, i, t + i * 10);
      }
    });
  }
  threads.clear();
  const CollectEvents events = Read();
  std::int64_t dropped = 0;
  for (const Drop& drop : events.All<Drop>()) {
    EXPECT_EQ(drop.counter, "wire.records_dropped");
    dropped += drop.count;
  }
  EXPECT_EQ(static_cast<std::int64_t>(events.All<Scalar>().size()) + dropped, kThreads * kRecords);
  for (const Scalar& scalar : events.All<Scalar>()) {
    const int thread = scalar.series.back() - '0';
    EXPECT_EQ(scalar.value, static_cast<double>(thread + *scalar.step * 10));
  }
  ws_close(run);
}

/// Goal: a reader beside a busy writer sees every record once, or counts it, and never a torn one.
TEST_F(ClientTest, AReaderBesideTheWriterMissesNothingSilently) {
  constexpr std::int64_t kSteps = 200'000;
  ws_run* run = ws_open();
  auto reader = RingReader::Open(folder_.OnlyFile());
  ASSERT_TRUE(reader);
  std::atomic<bool> done{false};
  std::jthread writer([&] {
    for (std::int64_t step = 1; step <= kSteps; ++step) {
      ws_step(run, step, std::sqrt(static_cast<double>(step)));
    }
    done = true;
  });
  std::int64_t seen = 0, lost = 0, newest = 0;
  for (bool last = false; !last;) {
    last = done;
    CollectEvents events = DecodeAll(*reader);
    for (const Drop& drop : events.All<Drop>()) {
      EXPECT_EQ(drop.counter, "wire.slots_overwritten");
      lost += drop.count;
    }
    for (const Scalar& scalar : events.All<Scalar>()) {
      if (scalar.series == "loss") {
        EXPECT_EQ(scalar.value, std::sqrt(static_cast<double>(*scalar.step)));
        EXPECT_GT(*scalar.step, newest);
        newest = *scalar.step;
        ++seen;
      }
    }
  }
  EXPECT_EQ(newest, kSteps);
  EXPECT_GE(seen + lost, kSteps) << "the header's copy of a lost step may come on top";
  ws_close(run);
}

/// Goal: a full disk costs the ring, never the trainee. Method: a small tmpfs, filled before and
/// after opening.
TEST_F(ClientTest, AFullDiskCostsTheRingAndNotTheTrainee) {
  const std::string small = folder_.path() + "/small";
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "not allowed to mount a tmpfs here";
  }
  setenv("WHYSTOP_RING_DIR", small.c_str(), 1);
  setenv("WHYSTOP_RING_SLOTS", "65536", 1);
  EXPECT_EQ(ws_open(), nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(small)) << "a ring that does not fit is removed";
  setenv("WHYSTOP_RING_SLOTS", "1024", 1);
  ws_run* run = ws_open();
  EXPECT_NE(run, nullptr);
  const int filler = open((small + "/filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::string kilobyte(1024, 'x');
  while (write(filler, kilobyte.data(), kilobyte.size()) > 0) {
  }
  EXPECT_EQ(errno, ENOSPC);
  close(filler);
  for (int step = 1; step <= 5000; ++step) {
    ws_step(run, step, 1);
  }
  EXPECT_NE(ws_alive(run), 0);
  ws_close(run);
  umount2(small.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace whystop
