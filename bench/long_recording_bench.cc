// Writes a recording as a job of many hours leaves it: a sample a second of a tree of ten
// processes, a line of log and a step a second. Usage: long_recording_bench FOLDER HOURS

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "base/parse.h"
#include "record/recording_writer.h"

namespace whystop {
namespace {

constexpr int kProcesses = 10;

Sample SampleAt(std::int64_t second, std::mt19937& random) {
  Sample sample;
  const auto noise = [&random] { return static_cast<std::int64_t>(random() % (1 << 20)); };
  for (SubjectId process = 1; process <= kProcesses; ++process) {
    sample.readings.push_back(
        {process, Quantity::kProcessRssBytes, (std::int64_t{1} << 30) + noise()});
    sample.readings.push_back({process, Quantity::kProcessCpuUserMs, second * 900 + noise() % 100});
    sample.readings.push_back({process, Quantity::kProcessThreads, 12});
    if (second % 5 == 0) {
      sample.readings.push_back(
          {process, Quantity::kProcessAnonBytes, (std::int64_t{1} << 30) + noise()});
      sample.readings.push_back({process, Quantity::kProcessReadBytes, second << 20});
      sample.readings.push_back({process, Quantity::kProcessFds, 40});
    }
  }
  sample.readings.push_back(
      {0, Quantity::kHostMemAvailableBytes, (std::int64_t{20} << 30) - noise()});
  sample.readings.push_back({0, Quantity::kHostMemTotalBytes, std::int64_t{24} << 30});
  sample.readings.push_back({0, Quantity::kHostOomKills, 0});
  sample.readings.push_back({0, Quantity::kHostCpuBusyMs, second * 1900});
  return sample;
}

int WriteRecording(const std::string& folder, std::int64_t hours) {
  auto writer = RecordingWriter::Create(folder, {});
  if (!writer) {
    std::fprintf(stderr, "%s\n", writer.error().what.c_str());
    return 1;
  }
  (*writer)->Start();
  std::mt19937 random(1);
  RunStart start;
  start.command = {"python", "train.py"};
  start.pid = 1;
  (*writer)->Append({RunTime{}, start});
  (*writer)->Append({RunTime{}, SubjectSeen{0, {Subject::Kind::kHost, "", 0}}});
  for (SubjectId process = 1; process <= kProcesses; ++process) {
    (*writer)->Append(
        {RunTime{}, SubjectSeen{process, {Subject::Kind::kProcess, "python", process}}});
  }
  const std::int64_t seconds = hours * 3600;
  for (std::int64_t second = 0; second < seconds; ++second) {
    const RunTime at = std::chrono::seconds(second);
    (*writer)->Append({at, SampleAt(second, random)});
    const double loss = 2.0 / (1 + static_cast<double>(second) / 3000) +
                        0.01 * static_cast<double>(random() % 100) / 100;
    const std::string line = "step " + std::to_string(second) + "/" + std::to_string(seconds) +
                             " loss " + std::to_string(loss) + " lr 0.001\n";
    (*writer)->AppendLog(at, LogStream::kStdout, line);
  }
  RunEnd end;
  end.end = ChildEnd::Signaled(9);
  end.duration = std::chrono::seconds(seconds);
  (*writer)->Append({std::chrono::seconds(seconds), end});
  (*writer)->Finish();
  return 0;
}

}  // namespace
}  // namespace whystop

int main(int argc, char** argv) {
  const auto hours = argc == 3 ? whystop::ParseWhole<std::int64_t>(argv[2]) : std::nullopt;
  if (!hours) {
    std::fprintf(stderr, "usage: long_recording_bench FOLDER HOURS\n");
    return 2;
  }
  return whystop::WriteRecording(argv[1], *hours);
}
