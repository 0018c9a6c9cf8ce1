// Records five days of training in fast motion: the recorder's own writer and the watcher's own thinning, with made-up
// times. Usage: long_run FOLDER BYTES STEPS [nan]

#include <sched.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "record/recording_reader.h"
#include "record/recording_writer.h"
#include "watch/middle_file.h"
#include "wire/ring_format.h"

namespace whystop {
namespace {

constexpr std::chrono::nanoseconds kFiveDays = std::chrono::hours(5 * 24);
constexpr std::int64_t kPid = 4711;

std::string StepSlot(std::int64_t step, std::int64_t steps, RunTime at, double loss) {
  StepBody body{};
  body.step = step;
  body.loss = loss;
  body.lr = 1e-3 * (1 - static_cast<double>(step) / static_cast<double>(steps));
  body.wait_s = 0.001;
  body.duration_s = 0.1;
  body.present = StepBody::kLoss | StepBody::kLr | StepBody::kWait | StepBody::kDuration;
  Slot slot{};
  slot.sequence = static_cast<std::uint64_t>(step);
  slot.kind = static_cast<std::uint8_t>(SlotKind::kStep);
  slot.parts = 1;
  slot.at_ns = static_cast<std::uint64_t>(at.count());
  std::memcpy(slot.body, &body, sizeof(body));
  return {reinterpret_cast<const char*>(&slot), sizeof(slot)};
}

int Simulate(const std::string& folder, std::int64_t bytes, std::int64_t steps, bool sick) {
  const RecordingOptions shares = ShareOut(bytes, {});
  auto writer = RecordingWriter::Create(folder, shares);
  auto reader = writer ? RecordingReader::Open(folder) : Result<RecordingReader>(writer.error());
  if (!reader) {
    std::fprintf(stderr, "%s\n", reader.error().what.c_str());
    return 1;
  }
  MiddleFile middle(folder, shares.middle_bytes * 3 / 5);
  (*writer)->Start();
  RunStart start;
  start.command = {"python", "train.py"};
  start.wall = std::chrono::hours(500000);
  start.pid = kPid;
  (*writer)->Append({RunTime{}, start});
  (*writer)->Append({RunTime{}, SubjectSeen{1, {Subject::Kind::kTree, "", 0}}});
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same run each time.
  std::normal_distribution<double> noise(0, 0.02);
  std::string slots;
  for (std::int64_t step = 1; step <= steps; ++step) {
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    const RunTime at = kFiveDays / steps * step;
    double loss = 2.3 * std::exp(-4 * part) + 0.2 + noise(random);
    loss = step == steps / 2 ? 40 : loss;  // One spike, half-way.
    loss = sick && part > 0.55 ? NAN : loss;
    slots += StepSlot(step, steps, at, loss);
    if (step % 50 != 0 && step != steps) {
      continue;
    }
    (*writer)->AppendProbe(at, kPid, slots);
    slots.clear();
    const std::int64_t peak = step / 50 == steps / 150 ? 90 : 10;  // Of memory, after a third.
    (*writer)->Append({at, Sample{{{1, Quantity::kTreeRssBytes, (peak << 30) + step % 1000}}}});
    (*writer)->AppendLog(at, LogStream::kStdout, "step " + std::to_string(step) + "\n");
    while (!(*writer)->ProbeBytesLost()) {
      ::sched_yield();  // The watcher comes by long before a half of the late files is full.
    }
    while (const auto record = reader->Next()) {
      if (reader->last_was_late()) {
        middle.Add(*record);
      }
    }
  }
  (*writer)->Append({kFiveDays, RunEnd{.end = ChildEnd::Exited(0), .duration = kFiveDays}});
  (*writer)->Finish();
  middle.Finish();
  return 0;
}

}  // namespace
}  // namespace whystop

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  return whystop::Simulate(argv[1], std::atoll(argv[2]), std::atoll(argv[3]),
                           argc > 4 && std::strcmp(argv[4], "nan") == 0);
}
