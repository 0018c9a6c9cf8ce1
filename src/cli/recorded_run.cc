#include "cli/recorded_run.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "cli/home.h"
#include "record/recording_folder.h"
#include "record/recording_reader.h"
#include "record/run_start.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

std::chrono::nanoseconds TimeOf(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds StartOf(const std::string& path) {
  if (const auto start = ReadRunStart(path); start && start->wall.count() > 0) {
    return start->wall;
  }
  struct stat facts {};
  ::lstat(path.c_str(), &facts);
  return TimeOf(facts.st_mtim);
}

/// When its events or its log were last written.
std::chrono::nanoseconds LastWritten(const std::string& path) {
  std::chrono::nanoseconds last{};
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(path, fault)) {
    struct stat facts {};
    if (entry.path().extension() == ".tfrecord" && ::lstat(entry.path().c_str(), &facts) == 0 &&
        S_ISREG(facts.st_mode)) {
      last = std::max(last, TimeOf(facts.st_mtim));
    }
  }
  return last;
}

bool HasEnd(const std::string& path) {
  auto reader = RecordingReader::Open(path);
  while (auto record = reader ? reader->Next() : std::nullopt) {
    const Event* event = std::get_if<Event>(&record->body);
    if (event != nullptr && event->As<RunEnd>() != nullptr) {
      return true;
    }
  }
  return false;
}

/// This machine since it was last started: only here a number of a process can be asked after.
bool IsOfThisBoot(const RunStart& start) {
  const auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64);
  char host[256] = "";
  return boot && Trim(*boot) == start.boot_id && ::gethostname(host, sizeof(host) - 1) == 0 &&
         start.host == host;
}

}  // namespace

bool IsFinished(const RecordedRun& run) {
  // A live recorder writes every second or so; file systems between machines tell it a little later.
  constexpr std::chrono::hours kSilence{1};
  if (LockHolder(run.path) > 0) {
    return false;
  }
  const auto start = ReadRunStart(run.path);
  const bool may_live = start && IsOfThisBoot(*start)
                            ? start->pid > 0 && (::kill(static_cast<pid_t>(start->pid), 0) == 0 || errno == EPERM)
                            : ReadClocks().wall - LastWritten(run.path) < kSilence;
  return !may_live || HasEnd(run.path);
}

std::string LocalTime(std::chrono::nanoseconds wall, const char* form) {
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(wall).count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[40];
  return {text, std::strftime(text, sizeof(text), form, &parts)};
}

std::vector<RecordedRun> ListRecordings() {
  std::vector<RecordedRun> found;
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(HomeOfRecordings(), fault)) {
    if (!entry.is_symlink(fault) && IsRecording(entry.path().string())) {
      found.push_back({entry.path().string(), StartOf(entry.path().string())});
    }
  }
  std::sort(found.begin(), found.end(), [](const RecordedRun& a, const RecordedRun& b) {
    return std::tie(a.started, a.path) < std::tie(b.started, b.path);
  });
  return found;
}

std::int64_t BytesOnDisk(const std::string& path) {
  constexpr std::int64_t kBlockBytes = 512;  // Of st_blocks, whatever the file system.
  const auto bytes_of = [](const fs::path& one) {
    struct stat facts {};
    return ::lstat(one.c_str(), &facts) == 0 ? std::int64_t{facts.st_blocks} * kBlockBytes : 0;
  };
  std::int64_t bytes = bytes_of(path);
  std::error_code fault;
  for (auto entry = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, fault);
       !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
    bytes += bytes_of(entry->path());
  }
  return bytes;
}

}  // namespace whystop
