#include "supervise/ring_collector.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::chrono::milliseconds kIntervalMin{20};
// What a run writes in its first second must not be written over before it is read.
constexpr std::chrono::milliseconds kIntervalMax{250};
constexpr std::string_view kSuffix = ".ring";

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// Whether the process that made the ring lives under that number here, and no other does.
bool IsProcessHere(const RingHeader& header) {
  constexpr int kStartTicks = 22;  // Counted from 1, as proc(5) does; the name is the second.
  const auto text = ReadFile("/proc/" + std::to_string(header.pid) + "/stat", 4096);
  if (!text || text->rfind(')') == std::string::npos) {
    return false;
  }
  std::string_view rest = std::string_view(*text).substr(text->rfind(')') + 1);
  for (int field = 2; field < kStartTicks; ++field) {
    rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
    if (rest.empty()) {
      return false;
    }
  }
  const auto ticks = ParseWhole<std::uint64_t>(rest.substr(0, rest.find(' ')));
  return ticks && *ticks == header.start_ticks;
}

}  // namespace

/// Rings whose end cannot be asked for and that say nothing any more give way to new ones.
void RingCollector::MakeRoom() {
  for (auto entry = open_.begin(); entry != open_.end() && open_.size() >= kRingsMax;) {
    entry = entry->second.process_seen || !entry->second.quiet ? std::next(entry)
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
  bool all_taken = true;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(directory_.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get())
                                      : nullptr) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const std::string name = entry->d_name;
    const bool is_ring =
        name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
    if (!is_ring || open_.count(name) > 0 || ended_.count(name) > 0) {
      continue;
    }
    MakeRoom();
    auto ring = open_.size() < kRingsMax ? RingReader::Open(directory_ + "/" + name)
                                         : Result<RingReader>(Error{Error::Code::kBusy, "", ""});
    if (ring) {
      RunState::RingProgress* progress = FindProgress(ring->header());
      const bool process_seen = IsProcessHere(ring->header());
      open_.emplace(name, Ring{std::move(*ring), progress, process_seen});
    } else if (ring.error().code == Error::Code::kBusy) {
      all_taken = false;  // Not ready, or too many at once: look again next time.
    } else {
      ended_[name] = true;
    }
  }
  folder_changed_ns_ = all_taken ? changed_ns : -1;
}

RunState::RingProgress* RingCollector::FindProgress(const RingHeader& header) {
  // Pid and start name a ring, but for programs that make several: those are told apart by their
  // creation.
  std::uint64_t key = static_cast<std::uint64_t>(header.pid) ^ (header.start_ticks << 24) ^
                      (header.created_ns << 1);
  key = std::max<std::uint64_t>(key, 1);
  for (RunState::RingProgress& progress : state_.rings) {
    if (progress.ring == key || progress.ring == 0) {
      progress.ring = key;
      return &progress;
    }
  }
  return nullptr;
}

RingReader::Drained RingCollector::Drain(RunTime now, Ring& ring, RecordingWriter& writer) {
  const std::int64_t pid = ring.reader.header().pid;
  const std::uint64_t taken_before = ring.progress != nullptr ? ring.progress->taken.load() : 0;
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
  if (ring.progress != nullptr) {
    ring.progress->taken = taken;
  }
  return drained;
}

void RingCollector::RemoveDrained(const RecordingWriter& writer) {
  if (drained_.empty() || !writer.AllWritten()) {
    return;
  }
  for (const std::string& name : drained_) {
    ::unlink((directory_ + "/" + name).c_str());
    ended_.erase(name);
  }
  drained_.clear();
}

void RingCollector::RemoveAll(const RecordingWriter& writer) {
  for (const auto& [name, ring] : open_) {
    drained_.push_back(name);
  }
  open_.clear();
  RemoveDrained(writer);
}

void RingCollector::Collect(RunTime now, RecordingWriter& writer) {
  RemoveDrained(writer);  // What was drained the last time.
  FindNew();
  double fullest = 0;
  for (auto entry = open_.begin(); entry != open_.end();) {
    Ring& ring = entry->second;
    // Asked before the draining, so that nothing is written after it.
    const bool ended =
        ring.reader.closed() || (ring.process_seen && !IsProcessHere(ring.reader.header()));
    const RingReader::Drained drained = Drain(now, ring, writer);
    ring.quiet = drained.slots == 0;
    fullest = std::max(fullest, static_cast<double>(drained.slots + drained.overwritten) /
                                    ring.reader.header().slot_count);
    if (ended) {
      ended_[entry->first] = true;
      drained_.push_back(entry->first);
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
