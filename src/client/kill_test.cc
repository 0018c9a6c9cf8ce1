// Kills writers at random moments and looks at what they left. WHYSTOP_KILLS sets how many (40 by
// default).

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "base/parse.h"
#include "whystop/whystop.h"
#include "wire/wire_testing.h"

namespace whystop {
namespace {

int Kills() {
  const char* text = std::getenv("WHYSTOP_KILLS");
  return text == nullptr ? 40 : ParseWhole<int>(text).value_or(40);
}

double LossOf(std::int64_t step) { return 1.0 / static_cast<double>(step); }
std::string TextOf(std::int64_t step) {
  return std::string(static_cast<std::size_t>(step % 700), 'a') + "end";
}

/// Checks a dead writer's ring: everything in it is what was written, and the last completed step
/// is there.
void ExpectWhole(const std::string& path, std::int64_t completed) {
  auto reader = RingReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().what;
  const CollectEvents events = DecodeAll(*reader);
  std::int64_t newest = 0;
  for (const Scalar& scalar : events.All<Scalar>()) {
    if (scalar.series == "step_s") {
      continue;
    }
    EXPECT_EQ(scalar.value, scalar.series == "loss" ? LossOf(*scalar.step)
                                                    : static_cast<double>(*scalar.step) * 2);
    EXPECT_TRUE(scalar.series == "loss" || scalar.series == "twice") << scalar.series;
    if (scalar.series == "loss") {
      EXPECT_GT(*scalar.step, newest);
      newest = *scalar.step;
    }
  }
  for (const Observation& seen : events.All<Observation>()) {
    EXPECT_EQ(seen.kind, "note");
    EXPECT_EQ(*seen.Text("text"), TextOf(*seen.step));
  }
  for (const Drop& drop : events.All<Drop>()) {
    EXPECT_EQ(drop.counter, "wire.slots_overwritten");
  }
  EXPECT_GE(newest, completed) << "a step that was completed is missing";
  EXPECT_LE(newest, completed + 1);
}

void SleepMicroseconds(long microseconds) {
  const timespec time = {microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  nanosleep(&time, nullptr);  // tidy-allow sleep: the kill must come at a random moment
}

[[noreturn]] void WriteForEver(std::atomic<std::int64_t>& completed) {
  ws_run* run = ws_open();
  for (std::int64_t step = 1;; ++step) {
    ws_step(run, step, LossOf(step));
    completed.store(step);
    ws_scalar(run, "twice", WS_OTHER, step, static_cast<double>(step) * 2);
    const std::string text = TextOf(step);
    const ws_attribute attribute = {"text", text.c_str(), 0};
    ws_note(run, "note", step, &attribute, 1);
  }
}

TEST(KillTest, WhatACWriterCompletedIsThereAndNothingTornIsBelieved) {
  TemporaryFolder folder;
  setenv("WHYSTOP_RING_DIR", folder.path().c_str(), 1);
  setenv("WHYSTOP_RING_SLOTS", "256", 1);
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* completed = new (shared) std::atomic<std::int64_t>(0);
  std::mt19937 random(static_cast<std::uint32_t>(getpid()));
  for (int kill_number = 0; kill_number < Kills(); ++kill_number) {
    completed->store(0);
    const pid_t child = fork();
    if (child == 0) {
      WriteForEver(*completed);
    }
    while (completed->load() == 0) {
      SleepMicroseconds(50);
    }
    SleepMicroseconds(static_cast<long>(random() % 2000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ExpectWhole(folder.OnlyFile(), completed->load());
    ASSERT_FALSE(testing::Test::HasFailure()) << "kill " << kill_number;
    std::filesystem::remove(folder.OnlyFile());
  }
  munmap(shared, 4096);
  unsetenv("WHYSTOP_RING_DIR");
  unsetenv("WHYSTOP_RING_SLOTS");
}

/// tests/wire/kill_writers.py forks writers, kills them and prints "pid completed" for each.
void ExpectPythonWritersWhole(const char* no_native) {
  TemporaryFolder folder;
  const std::string report = folder.path() + "/report";
  const std::string script = WHYSTOP_SOURCE_DIR "/tests/wire/kill_writers.py";
  const std::string kills = std::to_string(Kills());
  const pid_t driver = fork();
  if (driver == 0) {
    setenv("WHYSTOP_RING_DIR", folder.path().c_str(), 1);
    setenv("WHYSTOP_RING_SLOTS", "256", 1);
    setenv("WHYSTOP_NO_NATIVE", no_native, 1);
    setenv("PYTHONPATH", WHYSTOP_BINARY_DIR "/python", 1);
    execlp("python3", "python3", script.c_str(), kills.c_str(), report.c_str(),
           static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(driver, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "the extension is not built";
  }
  ASSERT_EQ(status, 0);
  std::ifstream lines(report);
  int rings = 0;
  for (std::string name; lines >> name; ++rings) {
    std::int64_t completed = 0;
    lines >> completed;
    ExpectWhole(folder.path() + "/" + name, completed);
    ASSERT_FALSE(testing::Test::HasFailure()) << name;
  }
  EXPECT_EQ(rings, Kills());
}

TEST(KillTest, WhatAPurePythonWriterCompletedIsThere) { ExpectPythonWritersWhole("1"); }
TEST(KillTest, WhatAPythonExtensionWriterCompletedIsThere) { ExpectPythonWritersWhole(""); }

}  // namespace
}  // namespace whystop
