#include "view/resource_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace whystop {
namespace {

constexpr std::size_t kLinesMax = 96;

/// How a quantity becomes a line.
struct Recipe {
  Quantity quantity;
  std::string_view panel;
  std::string_view unit;
  std::string_view label;       // Behind the subject's own name.
  double scale = 1;             // From the sensor's unit to the chart's.
  bool rate = false;            // A counter: the chart shows its slope a second.
  Quantity limit = Quantity{};  // Of the same subject; the zero quantity: none.
};

constexpr std::array kRecipes = {
    Recipe{Quantity::kTreeRssBytes, "memory", "bytes", "resident"},
    Recipe{Quantity::kTreeAnonBytes, "memory", "bytes", "private"},
    Recipe{Quantity::kCgroupMemoryBytes, "memory", "bytes", "", 1, false,
           Quantity::kCgroupMemoryLimitBytes},
    Recipe{Quantity::kHostMemAvailableBytes, "machine memory", "bytes", "memory available", 1,
           false, Quantity::kHostMemTotalBytes},
    Recipe{Quantity::kCgroupMemoryHighBytes, "memory", "bytes", "throttled from"},
    Recipe{Quantity::kCgroupAnonBytes, "memory", "bytes", "private"},
    Recipe{Quantity::kCgroupFileBytes, "memory", "bytes", "page cache"},
    Recipe{Quantity::kCgroupShmemBytes, "memory", "bytes", "shared"},
    Recipe{Quantity::kCgroupOoms, "memory limit met", "count", "times"},
    Recipe{Quantity::kCgroupSwapBytes, "memory", "bytes", "swap", 1, false,
           Quantity::kCgroupSwapLimitBytes},
    Recipe{Quantity::kHostSwapFreeBytes, "machine memory", "bytes", "swap free", 1, false,
           Quantity::kHostSwapTotalBytes},
    Recipe{Quantity::kHostSwapInPages, "paging", "pages/s", "read back from swap", 1, true},
    Recipe{Quantity::kHostSwapOutPages, "paging", "pages/s", "written to swap", 1, true},
    Recipe{Quantity::kHostMajorFaults, "paging", "pages/s", "fetched from storage", 1, true},
    Recipe{Quantity::kTreeCpuMs, "cpu", "cores", "CPU", 1e-3, true},
    Recipe{Quantity::kHostCpuBusyMs, "cpu", "cores", "CPU", 1e-3, true, Quantity::kHostCpus},
    Recipe{Quantity::kCgroupThrottledMs, "cpu", "cores", "throttled", 1e-3, true},
    Recipe{Quantity::kHostLoadMilli, "load", "tasks", "load", 1e-3},
    Recipe{Quantity::kCgroupFrozen, "frozen", "count", "frozen"},
    Recipe{Quantity::kGpuUtilisationPercent, "gpu", "percent", "busy"},
    Recipe{Quantity::kGpuMemoryUsedBytes, "gpu memory", "bytes", "used", 1, false,
           Quantity::kGpuMemoryTotalBytes},
    Recipe{Quantity::kGpuJobMemoryBytes, "gpu memory", "bytes", "of the job"},
    Recipe{Quantity::kGpuTemperatureCelsius, "gpu temperature", "celsius", "temperature"},
    Recipe{Quantity::kGpuPowerMilliwatts, "gpu power", "watts", "power", 1e-3},
    Recipe{Quantity::kGpuSmClockMhz, "gpu clock", "MHz", "clock"},
    Recipe{Quantity::kGpuEccUncorrected, "gpu faults", "count", "memory errors not corrected"},
    Recipe{Quantity::kGpuXidLast, "gpu faults", "count", "last Xid"},
    Recipe{Quantity::kTreeReadBytes, "disk traffic", "bytes/s", "read", 1, true},
    Recipe{Quantity::kTreeWrittenBytes, "disk traffic", "bytes/s", "written", 1, true},
    Recipe{Quantity::kDiskFreeBytes, "disk space", "bytes", "free"},
    Recipe{Quantity::kHostNetReceivedBytes, "network", "bytes/s", "received", 1, true},
    Recipe{Quantity::kHostNetSentBytes, "network", "bytes/s", "sent", 1, true},
    Recipe{Quantity::kHostNetErrors, "network errors", "count", "errors and drops so far"},
    Recipe{Quantity::kPressureMemorySome, "pressure", "percent", "waiting for memory", 0.01},
    Recipe{Quantity::kPressureIoSome, "pressure", "percent", "waiting for storage", 0.01},
    Recipe{Quantity::kPressureMemoryFull, "pressure", "percent", "all waiting for memory", 0.01},
    Recipe{Quantity::kPressureIoFull, "pressure", "percent", "all waiting for storage", 0.01},
    Recipe{Quantity::kPressureCpuSome, "pressure", "percent", "waiting for a CPU", 0.01},
    Recipe{Quantity::kTreeProcesses, "tasks", "count", "processes"},
    Recipe{Quantity::kTreeThreads, "tasks", "count", "threads"},
    Recipe{Quantity::kTreeFdsMax, "tasks", "count", "open files of one process"},
    Recipe{Quantity::kCgroupPids, "tasks of a group", "count", "tasks"},
    Recipe{Quantity::kCgroupPidsLimit, "tasks of a group", "count", "most tasks"},
    Recipe{Quantity::kRecorderCpuMs, "whystop itself", "cores", "CPU", 1e-3, true},
};

std::string SubjectName(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::kHost:
      return "machine";
    case Subject::Kind::kTree:
      return "job";
    case Subject::Kind::kCgroup:
      return "control group " + subject.name;
    case Subject::Kind::kMount:
      return subject.name;
    case Subject::Kind::kGpu:
      return fmt::format("GPU {}", subject.number);
    case Subject::Kind::kRecorder:
      return "whystop";
    default:
      return subject.name;
  }
}

const Recipe* RecipeOf(Quantity quantity) {
  const auto* found = std::find_if(kRecipes.begin(), kRecipes.end(), [quantity](const Recipe& one) {
    return one.quantity == quantity;
  });
  return found == kRecipes.end() ? nullptr : found;
}

bool IsLimit(Quantity quantity) {
  return std::any_of(kRecipes.begin(), kRecipes.end(),
                     [quantity](const Recipe& one) { return one.limit == quantity; });
}

bool IsZeroThroughout(const BucketLine& line) {
  return std::all_of(line.buckets().begin(), line.buckets().end(),
                     [](const LineBucket& bucket) { return bucket.min == 0 && bucket.max == 0; });
}

}  // namespace

void ResourceLines::Follow(const Reading& reading) {
  const Key key{reading.subject, reading.quantity};
  if (IsLimit(reading.quantity)) {
    newest_[key] = reading.value;
  }
  const Recipe* recipe = RecipeOf(reading.quantity);
  if (recipe == nullptr) {
    return;
  }
  auto found = followed_.find(key);
  if (found == followed_.end()) {
    if (followed_.size() >= kLinesMax) {
      ++left_out_;
      return;
    }
    found = followed_.emplace(key, Followed{}).first;
    found->second.recipe = static_cast<std::size_t>(recipe - kRecipes.data());
  }
  found->second.value = reading.value;
}

void ResourceLines::Advance(Followed& followed, RunTime at) {
  const Recipe& recipe = kRecipes[followed.recipe];
  const double seconds = std::chrono::duration<double>(at).count();
  if (!recipe.rate) {
    followed.line.Push(seconds, at, static_cast<double>(*followed.value) * recipe.scale);
    return;
  }
  const double passed = std::chrono::duration<double>(at - followed.before_at).count();
  if (followed.before && passed > 0) {
    const double rise =
        static_cast<double>(std::max<std::int64_t>(0, *followed.value - *followed.before));
    followed.line.Push(seconds, at, rise * recipe.scale / passed);
  }
  followed.before = followed.value;
  followed.before_at = at;
}

void ResourceLines::Push(const Sample& sample, RunTime at) {
  for (const Reading& reading : sample.readings) {
    Follow(reading);
  }
  // A value that did not change is left out of a sample: it holds still.
  for (auto& [key, followed] : followed_) {
    Advance(followed, at);
  }
}

std::optional<double> ResourceLines::LimitOf(const Followed& followed, SubjectId subject) const {
  const Recipe& recipe = kRecipes[followed.recipe];
  const auto found = newest_.find({subject, recipe.limit});
  if (recipe.limit == Quantity{} || found == newest_.end()) {
    return std::nullopt;
  }
  return static_cast<double>(found->second);
}

std::string ResourceLines::LabelOf(const Followed& followed, SubjectId subject) const {
  const auto found = subjects_.find(subject);
  const std::string name = found == subjects_.end() ? "" : SubjectName(found->second);
  const std::string_view label = kRecipes[followed.recipe].label;
  return label.empty() ? name : fmt::format("{} {}", name, label);
}

/// The memory of a control group tells something where it has a limit: else it is the job's, or that of
/// strangers, which would press the job's flat. The root of all groups is the machine once more.
bool ResourceLines::IsTelling(const Followed& followed, SubjectId subject) const {
  const auto found = subjects_.find(subject);
  if (found == subjects_.end() || found->second.kind != Subject::Kind::kCgroup) {
    return true;
  }
  if (kRecipes[followed.recipe].panel == "memory") {
    return newest_.contains({subject, Quantity::kCgroupMemoryLimitBytes}) ||
           newest_.contains({subject, Quantity::kCgroupSwapLimitBytes});
  }
  return found->second.name != "/";
}

std::vector<ResourceLine> ResourceLines::Lines() const {
  std::vector<ResourceLine> lines;
  for (std::size_t recipe = 0; recipe < kRecipes.size(); ++recipe) {
    for (const auto& [key, followed] : followed_) {
      if (followed.recipe == recipe && !IsZeroThroughout(followed.line) &&
          IsTelling(followed, key.first)) {
        lines.push_back({kRecipes[recipe].panel, kRecipes[recipe].unit,
                         LabelOf(followed, key.first), LimitOf(followed, key.first),
                         followed.line});
      }
    }
  }
  return lines;
}

std::optional<std::int64_t> ResourceLines::Newest(Subject::Kind kind, Quantity quantity) const {
  for (const auto& [key, followed] : followed_) {
    const auto subject = subjects_.find(key.first);
    if (key.second == quantity && subject != subjects_.end() && subject->second.kind == kind) {
      return followed.value;
    }
  }
  return std::nullopt;
}

}  // namespace whystop
