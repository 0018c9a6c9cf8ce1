#include "cli/recorded_run.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "cli/home.h"
#include "record/recording_reader.h"
#include "record/run_start.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

std::chrono::nanoseconds StartOf(const std::string& path) {
  if (const auto start = ReadRunStart(path); start && start->wall.count() > 0) {
    return start->wall;
  }
  struct stat facts {};
  ::lstat(path.c_str(), &facts);
  return std::chrono::seconds(facts.st_mtim.tv_sec) + std::chrono::nanoseconds(facts.st_mtim.tv_nsec);
}

}  // namespace

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
