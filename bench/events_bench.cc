// Metric files: how fast, and in how much memory.
//
//   events_bench make KIND FILE RECORDS   writes a file of the kind: tensorboard, csv, jsonl
//   events_bench read FILE                reads it as `whystop why` would, and prints one JSON line
//   of CPU time
//
// bench/events_bench.py compares with TensorBoard's own Python loader.

#include <time.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "base/tfrecord.h"
#include "import/open.h"

namespace {

using namespace whystop;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double LossAt(long step) { return 0.5 + 2 / std::sqrt(1.0 + static_cast<double>(step)); }

/// As a trainer calls its figures: the first are judged as losses, scores and rates, the rest only drawn.
std::string TagOf(std::size_t number) {
  constexpr std::array kJudged = {"train/loss",   "val/loss", "train/accuracy",
                                  "val/accuracy", "lr",       "grad_norm"};
  return number < kJudged.size() ? kJudged[number] : "train/metric_" + std::to_string(number);
}

/// Twenty tags a step, one record each, as SummaryWriter writes them; noisy, as training is.
std::string EventRecord(long record) {
  std::string value;
  protozero::pbf_writer value_writer(value);
  value_writer.add_string(1, TagOf(static_cast<std::size_t>(record % 20)));
  const double noise = 0.1 * std::sin(static_cast<double>(record) * 12.9898);
  value_writer.add_float(2, static_cast<float>(LossAt(record / 20) * (1 + noise)));
  std::string summary;
  protozero::pbf_writer(summary).add_message(1, value);
  std::string event;
  protozero::pbf_writer writer(event);
  writer.add_double(1, 1.7e9 + static_cast<double>(record) * 0.01);
  writer.add_int64(2, record / 20);
  writer.add_message(5, summary);
  std::string frame;
  AppendTfRecord(frame, event);
  return frame;
}

std::string TableRow(long row) {
  char text[160];
  const double loss = LossAt(row);
  std::snprintf(text, sizeof(text), "%ld,%ld,%.17g,%.6f,%.3e,%.4f\n", row / 1000, row, loss,
                std::exp(-loss), 1e-4 * loss, loss * 7);
  return text;
}

std::string JsonRow(long row) {
  char text[240];
  const double loss = LossAt(row);
  std::snprintf(text, sizeof(text),
                "{\"iteration\": %ld, \"total_loss\": %.17g, \"accuracy\": %.6f, \"lr\": %.3e, "
                "\"time\": %.4f}\n",
                row, loss, std::exp(-loss), 1e-4 * loss, loss * 7);
  return text;
}

int Make(const std::string& kind, const char* path, long records) {
  std::ofstream out(path, std::ios::binary);
  if (kind == "csv") {
    out << "epoch,step,loss,accuracy,lr,time_s\n";
  }
  for (long i = 0; i < records; ++i) {
    out << (kind == "tensorboard" ? EventRecord(i) : kind == "csv" ? TableRow(i) : JsonRow(i));
  }
  return out ? 0 : 1;
}

class CountPoints final : public EventSink {
 public:
  void Push(const Event& event) override {
    if (const Scalar* scalar = event.As<Scalar>()) {
      ++points;
      sum += scalar->value;
    }
  }
  long points = 0;
  double sum = 0;
};

/// Of this program alone: what getrusage says includes the parent's memory before exec.
long PeakKib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kib = 0;
  while (status >> word) {
    if (word == "VmHWM:") {
      status >> kib;
    }
  }
  return kib;
}

int Read(const char* path) {
  const auto found = FindRuns({path}, {}, [](std::size_t) {});
  if (!found || found->runs.size() != 1) {
    return 1;
  }
  CountPoints sink;
  const double start = CpuSeconds();
  if (!ReadRun(found->runs[0], {}, sink)) {
    return 1;
  }
  const double seconds = CpuSeconds() - start;
  std::printf(
      "{\"points\": %ld, \"cpu_seconds\": %.6f, \"bytes\": %ld, \"peak_rss_kib\": %ld, \"sum\": "
      "%.6g}\n",
      sink.points, seconds, static_cast<long>(found->runs[0].files[0].size_bytes), PeakKib(),
      sink.sum);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::strcmp(arguments[1], "make") == 0) {
    return Make(arguments[2], arguments[3], std::strtol(arguments[4], nullptr, 10));
  }
  if (count == 3 && std::strcmp(arguments[1], "read") == 0) {
    return Read(arguments[2]);
  }
  std::fprintf(stderr, "usage: events_bench make KIND FILE RECORDS | events_bench read FILE\n");
  return 2;
}
