#include "supervise/ring_collector.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace whystop {
namespace {

constexpr std::chrono::milliseconds kIntervalMin{20};
constexpr std::chrono::milliseconds kIntervalMax{1000};
constexpr std::string_view kSuffix = ".ring";

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool HasEnded(const RingReader& ring) {
  return ring.closed() || (::kill(static_cast<pid_t>(ring.header().pid), 0) != 0 && errno == ESRCH);
}

}  // namespace

void RingCollector::FindNew() {
  struct stat facts {};
  if (::stat(directory_.c_str(), &facts) != 0) {
    return;
  }
  const std::int64_t changed_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (changed_ns == folder_changed_ns_) {
    return;
  }
  bool all_taken = true;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(directory_.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const std::string name = entry->d_name;
    const bool is_ring = name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    if (!is_ring || open_.count(name) > 0 || ended_.count(name) > 0) {
      continue;
    }
    auto ring = open_.size() < kRingsMax ? RingReader::Open(directory_ + "/" + name)
                                         : Result<RingReader>(Error{Error::Code::kBusy, "", ""});
    if (ring) {
      open_.emplace(name, std::move(*ring));
    } else if (ring.error().code == Error::Code::kBusy) {
      all_taken = false;  // Not ready, or too many at once: look again next time.
    } else {
      ended_[name] = true;
    }
  }
  folder_changed_ns_ = all_taken ? changed_ns : -1;
}

void RingCollector::Collect(RunTime now, RecordingWriter& writer) {
  FindNew();
  double fullest = 0;
  for (auto entry = open_.begin(); entry != open_.end();) {
    RingReader& ring = entry->second;
    const bool ended = HasEnded(ring);  // Asked before the draining, so that nothing is written after it.
    const RingReader::Drained drained = ring.Drain([&](std::string_view slots) {
      writer.AppendProbe(now, ring.header().pid, slots);
    });
    fullest = std::max(fullest, static_cast<double>(drained.slots + drained.overwritten) / ring.header().slot_count);
    if (ended) {
      ended_[entry->first] = true;
      entry = open_.erase(entry);
    } else {
      ++entry;
    }
  }
  constexpr double kTooFull = 0.25;  // A burst four times the usual pace must still fit.
  constexpr double kNearlyEmpty = 0.05;
  if (fullest > kTooFull) {
    interval_ = std::max(interval_ / 2, kIntervalMin);
  } else if (fullest < kNearlyEmpty) {
    interval_ = std::min(interval_ * 2, kIntervalMax);
  }
}

}  // namespace whystop
