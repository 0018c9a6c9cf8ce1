#include "supervise/ring_collector.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "supervise/process_identity.h"
#include "wire/ring_file.h"

namespace whystop {
namespace {

constexpr std::chrono::milliseconds kIntervalMin{20};
// What a run writes in its first second must not be written over before it is read.
constexpr std::chrono::milliseconds kIntervalMax{250};
constexpr std::string_view kSuffix = ".ring";
constexpr std::string_view kStacksSuffix = ".stacks";

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The folder's time counts in ticks of the kernel, and what is made later in the same tick does not move it: only a
/// folder that has rested for longer than this has shown all that is in it.
constexpr std::chrono::milliseconds kFolderRests{100};

enum class Life { kHere, kGone, kUnknown };

/// Whether the process that made the ring lives under that number here, and no other does.
Life LookForProcess(const RingHeader& header) {
  const auto stat = ReadFile("/proc/" + std::to_string(header.pid) + "/stat", 4096);
  if (!stat && stat.error().code != Error::Code::kNotFound) {
    return Life::kUnknown;  // No descriptor was free, or the process ended while it was read.
  }
  if (!stat || ParseStartTicks(*stat) != header.start_ticks) {
    return Life::kGone;
  }
  // A zombie has no other threads: one whose first thread has left the others behind looks the same, and
  // its number of threads stays above one.
  constexpr int kThreadsAfterName = 18;
  std::string_view rest = std::string_view(*stat).substr(stat->rfind(')'));
  const bool looks_dead = rest.substr(0, 3) == ") Z" || rest.substr(0, 3) == ") X";
  for (int field = 0; field < kThreadsAfterName; ++field) {
    rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
  }
  const bool lives =
      !looks_dead || ParseWhole<int>(rest.substr(0, rest.find(' '))).value_or(1) > 1;
  return lives ? Life::kHere : Life::kGone;
}

}  // namespace

RingCollector::RingCollector(std::string directory, RunState& state)
    : directory_(std::move(directory)),
      state_(state),
      pid_namespace_(ProcIsOurs() ? OwnPidNamespace() : 0) {}

/// Rings whose end cannot be seen and that say nothing any more give way to new ones.
void RingCollector::MakeRoom() {
  for (auto entry = open_.begin(); entry != open_.end() && open_.size() >= kRingsMax;) {
    entry = entry->second.end_can_be_seen || !entry->second.quiet ? std::next(entry)
                                                                  : open_.erase(entry);
  }
}

void RingCollector::FindNew() {
  struct stat facts {};
  if (::stat(directory_.c_str(), &facts) != 0) {
    return;
  }
  const std::int64_t changed_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec;
  if (changed_ns == folder_changed_ns_) {
    return;
  }
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(directory_.c_str()));
  if (!folder) {
    return;
  }
  bool seen_whole = ReadClocks().wall - std::chrono::nanoseconds(changed_ns) > kFolderRests;
  others_wait_ = false;
  unready_.clear();
  while (const dirent* entry =
             ::readdir(folder.get())) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const std::string name = entry->d_name;
    const bool is_ring =
        name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    if (!is_ring || open_.count(name) > 0 || ended_.count(name) > 0) {
      continue;
    }
    MakeRoom();
    if (open_.size() >= kRingsMax) {
      others_wait_ = true;
      break;
    }
    auto ring = RingReader::Open(directory_ + "/" + name);
    if (ring) {
      const RingHeader& header = ring->header();
      // Seen under its number and start it is here, whatever its writer knew of namespaces.
      const bool end_can_be_seen =
          (header.pid_namespace != 0 && header.pid_namespace == pid_namespace_) ||
          LookForProcess(header) == Life::kHere;
      open_.emplace(name, Ring{.reader = std::move(*ring),
                               .end_can_be_seen = end_can_be_seen,
                               .lost_before = lost_});
    } else if (ring.error().code == Error::Code::kBusy) {
      unready_.insert(name);
    } else if (ring.error().code == Error::Code::kCorrupt ||
               ring.error().code == Error::Code::kTooNew) {
      ended_.insert(name);
    } else {
      seen_whole = false;  // No descriptor was free, perhaps.
    }
  }
  folder_changed_ns_ = seen_whole && !others_wait_ && unready_.empty() ? changed_ns : -1;
}

RunState::RingProgress* RingCollector::FindProgress(const RingHeader& header) {
  // Pid and start name a ring, but for programs that make several: those are told apart by their
  // creation.
  std::uint64_t key = static_cast<std::uint64_t>(header.pid) ^ (header.start_ticks << 24) ^
                      (header.created_ns << 1);
  key = std::max<std::uint64_t>(key, 1);
  RunState::RingProgress* free = nullptr;
  for (RunState::RingProgress& progress : state_.rings) {
    if (progress.ring == key) {
      return &progress;
    }
    free = free == nullptr && progress.ring == 0 ? &progress : free;
  }
  if (free != nullptr) {
    free->taken = 0;
    free->ring = key;
  }
  return free;
}

RingReader::Drained RingCollector::Drain(RunTime now, Ring& ring, RecordingWriter& writer) {
  const std::int64_t pid = ring.reader.header().pid;
  if (ring.progress == nullptr) {
    ring.progress = FindProgress(ring.reader.header());
  }
  const std::uint64_t taken_before =
      std::max(ring.taken, ring.progress != nullptr ? ring.progress->taken.load() : 0);
  std::uint64_t taken = taken_before;
  std::string fresh;
  const RingReader::Drained drained = ring.reader.Drain([&](std::string_view slots) {
    fresh.clear();
    for (std::size_t at = 0; at + kSlotBytes <= slots.size(); at += kSlotBytes) {
      Slot slot{};
      std::memcpy(&slot, slots.data() + at, kSlotBytes);
      // What the reader itself puts in between, and the last step's copy, stand outside the
      // numbering.
      const bool is_numbered = slot.sequence != 0 && (slot.flags & kSlotLastOnly) == 0;
      if (!is_numbered || slot.sequence > taken_before) {
        fresh.append(slots, at, kSlotBytes);
      }
      taken = is_numbered ? std::max(taken, slot.sequence) : taken;
    }
    if (!fresh.empty()) {
      writer.AppendProbe(now, pid, fresh);
    }
  });
  ring.taken = taken;
  if (ring.progress != nullptr) {
    ring.progress->taken = taken;
  }
  return drained;
}

void RingCollector::RemoveDrained(const RecordingWriter& writer) {
  const std::optional<std::int64_t> lost = writer.ProbeBytesLost();
  if (!lost) {
    return;
  }
  lost_ = *lost;
  for (const Drained& drained : drained_) {
    if (drained.lost_before == lost_) {
      ::unlink((directory_ + "/" + drained.name).c_str());
      ended_.erase(drained.name);
      if (drained.progress != nullptr) {
        drained.progress->ring = 0;
      }
    }
  }
  drained_.clear();
}

void RingCollector::RemoveAll(const RecordingWriter& writer) {
  for (const auto& [name, ring] : open_) {
    drained_.push_back({name, ring.progress, ring.lost_before});
  }
  open_.clear();
  RemoveDrained(writer);
  RemoveEmptyStacks();
  for (const std::string& name : unready_) {
    ::unlink((directory_ + "/" + name).c_str());  // Its process died before it had written anything.
  }
}

void RingCollector::RemoveEmptyStacks() {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(directory_.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get())
                                      : nullptr) {  // NOLINT(concurrency-mt-unsafe): own DIR
    struct stat facts {};
    if (std::string_view(entry->d_name).ends_with(kStacksSuffix) &&
        ::fstatat(::dirfd(folder.get()), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(facts.st_mode) && facts.st_size == 0) {
      ::unlinkat(::dirfd(folder.get()), entry->d_name, 0);
    }
  }
}

bool RingCollector::DrainAll(RunTime now, RecordingWriter& writer) {
  bool some_ended = false;
  for (auto entry = open_.begin(); entry != open_.end();) {
    Ring& ring = entry->second;
    // Asked before the draining, so that nothing is written after it.
    const bool ended =
        ring.reader.closed() ||
        (ring.end_can_be_seen && LookForProcess(ring.reader.header()) == Life::kGone);
    const RingReader::Drained drained = Drain(now, ring, writer);
    ring.quiet = drained.slots == 0;
    fullest_ = std::max(fullest_, static_cast<double>(drained.slots + drained.overwritten) /
                                      ring.reader.header().slot_count);
    if (ended) {
      some_ended = true;
      ended_.insert(entry->first);
      drained_.push_back({entry->first, ring.progress, ring.lost_before});
      entry = open_.erase(entry);
    } else {
      ++entry;
    }
  }
  return some_ended;
}

void RingCollector::Collect(RunTime now, RecordingWriter& writer) {
  RemoveDrained(writer);  // What was drained the last time.
  fullest_ = 0;
  do {
    FindNew();
  } while (DrainAll(now, writer) && others_wait_);
  constexpr double kTooFull = 0.25;  // A burst four times the usual pace must still fit.
  constexpr double kNearlyEmpty = 0.05;
  if (fullest_ > kTooFull) {
    interval_ = std::max(interval_ / 2, kIntervalMin);
  } else if (fullest_ < kNearlyEmpty) {
    interval_ = std::min(interval_ * 2, kIntervalMax);
  }
}

}  // namespace whystop
