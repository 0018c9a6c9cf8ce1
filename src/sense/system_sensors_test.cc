#include "sense/system_sensors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace whystop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A child that waits until it is killed. Makes `grandchildren` of its own first.
class WaitingChild {
 public:
  explicit WaitingChild(int grandchildren = 0) {
    int ready[2] = {};
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);  // So that the grandchildren can be ended with it.
      for (int count = 0; count < grandchildren; ++count) {
        if (::fork() == 0) {
          break;
        }
      }
      static_cast<void>(!::write(ready[1], "x", 1));
      while (true) {
        ::pause();
      }
    }
    char byte = 0;
    for (int count = 0; count <= grandchildren; ++count) {
      EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~WaitingChild() { End(); }
  void End() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

SenseOptions QuickOptions() {
  SenseOptions options;
  options.gpu = false;
  return options;
}

std::optional<std::int64_t> Value(const std::vector<Event>& events, Subject::Kind kind,
                                  Quantity quantity, std::int64_t number = 0) {
  std::set<SubjectId> ids;
  std::optional<std::int64_t> value;
  for (const Event& event : events) {
    if (const auto* seen = event.As<SubjectSeen>()) {
      if (seen->subject.kind == kind && (number == 0 || seen->subject.number == number)) {
        ids.insert(seen->id);
      }
    } else if (const auto* sample = event.As<Sample>()) {
      for (const Reading& reading : sample->readings) {
        if (reading.quantity == quantity && ids.contains(reading.subject)) {
          value = reading.value;
        }
      }
    }
  }
  return value;
}

TEST(SystemSensors, SeesThisMachineAndTheTreeOfAProcess) {
  const WaitingChild child(2);
  const auto sensors = SystemSensors::Create(QuickOptions());
  std::vector<Event> events;
  const pid_t pids[] = {child.pid()};
  sensors->Sample(seconds(1), pids, events);
  EXPECT_EQ(Value(events, Subject::Kind::kTree, Quantity::kTreeProcesses), 3);
  EXPECT_GE(Value(events, Subject::Kind::kProcess, Quantity::kProcessThreads, child.pid()),
            1);  // A sanitizer may add one of its own.
  EXPECT_GT(Value(events, Subject::Kind::kProcess, Quantity::kProcessRssBytes, child.pid()), 0);
  EXPECT_GT(Value(events, Subject::Kind::kProcess, Quantity::kProcessAnonBytes, child.pid()), 0);
  EXPECT_GT(Value(events, Subject::Kind::kProcess, Quantity::kProcessFds, child.pid()), 2);
  EXPECT_GT(Value(events, Subject::Kind::kHost, Quantity::kHostMemTotalBytes), 0);
  EXPECT_GT(Value(events, Subject::Kind::kHost, Quantity::kHostCpus), 0);
  const auto starts = std::count_if(events.begin(), events.end(), [](const Event& event) {
    return event.As<ProcessStart>() != nullptr;
  });
  EXPECT_EQ(starts, 3);
  EXPECT_NE(events.back().As<Sample>(), nullptr);
}

TEST(SystemSensors, TellsWhichProcessesVanishedAndStopsReportingThem) {
  WaitingChild child;
  const auto sensors = SystemSensors::Create(QuickOptions());
  std::vector<Event> events;
  const pid_t pids[] = {child.pid()};
  sensors->Sample(seconds(1), pids, events);
  EXPECT_TRUE(sensors->vanished().empty());
  child.End();
  events.clear();
  sensors->Sample(seconds(2), pids, events);
  ASSERT_EQ(sensors->vanished().size(), 1U);
  EXPECT_EQ(sensors->vanished()[0].pid, pids[0]);
  EXPECT_EQ(sensors->vanished()[0].parent_pid, ::getpid());
  sensors->Sample(seconds(3), pids, events);
  EXPECT_TRUE(sensors->vanished().empty());
}

TEST(SystemSensors, ReportsTheRestOnlyInTotalsAndSaysSo) {
  const WaitingChild child(5);
  SenseOptions options = QuickOptions();
  options.processes_max = 2;
  const auto sensors = SystemSensors::Create(options);
  std::vector<Event> events;
  const pid_t pids[] = {child.pid()};
  sensors->Sample(seconds(1), pids, events);
  EXPECT_EQ(Value(events, Subject::Kind::kTree, Quantity::kTreeProcesses), 6);
  std::int64_t dropped = 0;
  std::set<SubjectId> processes;
  for (const Event& event : events) {
    if (const auto* drop = event.As<Drop>()) {
      EXPECT_EQ(drop->counter, "sense.processes_not_detailed");
      dropped += drop->count;
    } else if (const auto* seen = event.As<SubjectSeen>()) {
      if (seen->subject.kind == Subject::Kind::kProcess) {
        processes.insert(seen->id);
      }
    }
  }
  EXPECT_EQ(processes.size(), 2U);
  EXPECT_EQ(dropped, 4);
}

TEST(SystemSensors, WorksWithoutAnyOfItsRoots) {
  SenseOptions options = QuickOptions();
  options.roots = {"/nonexistent/proc", "/nonexistent/sys", "/nonexistent/dev", "/nonexistent"};
  const auto sensors = SystemSensors::Create(options);
  std::vector<Event> events;
  const pid_t pids[] = {1};
  sensors->Sample(seconds(5), pids, events);
  EXPECT_EQ(Value(events, Subject::Kind::kHost, Quantity::kHostMemTotalBytes), std::nullopt);
  EXPECT_EQ(Value(events, Subject::Kind::kTree, Quantity::kTreeProcesses), 0);
  EXPECT_EQ(Value(events, Subject::Kind::kTree, Quantity::kTreeRssBytes), std::nullopt);
  const auto unavailable = std::count_if(events.begin(), events.end(), [](const Event& event) {
    return event.As<Observation>() != nullptr;
  });
  EXPECT_EQ(unavailable, 1);
}

TEST(SystemSensors, ComesOftenAtFirstAndThenOnceASecond) {
  SenseOptions options = QuickOptions();
  options.roots.proc = "/nonexistent/proc";  // Nothing can be near its limit there.
  const auto sensors = SystemSensors::Create(options);
  std::vector<Event> events;
  sensors->Sample(milliseconds(100), {}, events);
  EXPECT_EQ(sensors->NextInterval(), options.interval_dense);
  sensors->Sample(seconds(60), {}, events);
  EXPECT_EQ(sensors->NextInterval(), options.interval);
}

}  // namespace
}  // namespace whystop
