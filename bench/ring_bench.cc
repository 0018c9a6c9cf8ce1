// Nanoseconds of CPU time for one record of the C library, and of draining it again. The bar is a
// ratio in the same run: a step record may cost at most eight reads of the clock, which each record
// needs anyway.

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "whystop/whystop.h"
#include "wire/ring_reader.h"

namespace {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Act>
double NanosecondsEach(int count, const Act& act) {
  const double start = CpuSeconds();
  for (int i = 0; i < count; ++i) {
    act(i);
  }
  return (CpuSeconds() - start) * 1e9 / count;
}

double Median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "whystop-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return 2;
  }
  setenv("WHYSTOP_RING_DIR", folder.c_str(), 1);
  ws_run* run = ws_open();
  const std::string path = std::filesystem::directory_iterator(folder)->path();
  auto reader = whystop::RingReader::Open(path);
  if (run == nullptr || !reader) {
    return 2;
  }
  constexpr int kRecords = 8000;
  std::vector<double> clock, step, scalar, note, none, drain;
  volatile std::int64_t sink = 0;
  const ws_attribute attributes[] = {{"line", nullptr, 31}, {"file", "train.py", 0}};
  for (int round = 0; round < 101; ++round) {
    clock.push_back(
        NanosecondsEach(kRecords, [&](int) { sink = whystop::MonotonicNow().count(); }));
    step.push_back(NanosecondsEach(kRecords, [&](int i) { ws_step(run, i, 0.5); }));
    drain.push_back(NanosecondsEach(1, [&](int) { reader->Drain([](std::string_view) {}); }) /
                    kRecords);
    scalar.push_back(NanosecondsEach(
        kRecords, [&](int i) { ws_scalar(run, "grad_norm", WS_GRADIENT_NORM, i, 1); }));
    note.push_back(
        NanosecondsEach(kRecords, [&](int i) { ws_note(run, "loop-exit", i, attributes, 2); }));
    none.push_back(NanosecondsEach(kRecords, [&](int i) { ws_step(nullptr, i, 0.5); }));
  }
  const double ratio = Median(step) / Median(clock);
  std::printf(
      "clock read %.1f ns, step %.1f ns (%.1f clock reads), scalar %.1f ns, note %.1f ns, no "
      "whystop %.2f ns\n",
      Median(clock), Median(step), ratio, Median(scalar), Median(note), Median(none));
  std::printf("draining %.1f ns a slot\n", Median(drain));
  ws_close(run);
  std::filesystem::remove_all(folder);
  return ratio <= 8 ? 0 : 1;
}
