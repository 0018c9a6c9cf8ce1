#include "sense/cgroup_group.h"

#include <algorithm>
#include <cerrno>

#include "sense/proc_text.h"

namespace whystop {
namespace {

/// v1 says 2^63 rounded down to a page for "no limit". No machine has an exbibyte.
constexpr std::int64_t kUnlimitedFrom = std::int64_t{1} << 60;

std::optional<std::int64_t> Number(std::optional<std::string_view> text) {
  return text ? ParseWhole<std::int64_t>(Trim(*text)) : std::nullopt;
}

std::optional<std::int64_t> Limit(std::optional<std::string_view> text) {
  return text ? ParseCgroupLimit(*text) : std::nullopt;
}

std::optional<std::int64_t> Keyed(std::optional<std::string_view> text, std::string_view key) {
  return text ? ParseFlatKeyed(*text, key) : std::nullopt;
}

std::optional<std::int64_t> Smaller(std::optional<std::int64_t> left,
                                    std::optional<std::int64_t> right) {
  return left && right ? std::min(*left, *right) : (left ? left : right);
}

std::optional<std::int64_t> Difference(std::optional<std::int64_t> whole,
                                       std::optional<std::int64_t> part) {
  // The two are read one after the other, or counted by the kernel in batches.
  return whole && part ? std::optional(std::max<std::int64_t>(0, *whole - *part)) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> ParseCgroupLimit(std::string_view text) {
  const auto limit = ParseWhole<std::int64_t>(Trim(text));
  return limit && *limit >= 0 && *limit < kUnlimitedFrom ? limit : std::nullopt;
}

std::optional<std::int64_t> ParseFlatKeyed(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (TakeField(line) == key) {
      const auto number = TakeNumber(line);
      return number && *number >= 0 ? number : std::nullopt;
    }
  }
  return std::nullopt;
}

void ParseMemoryStatV1(std::string_view text, CgroupFacts& facts) {
  facts.anon_bytes = ParseFlatKeyed(text, "total_rss");
  facts.shmem_bytes = ParseFlatKeyed(text, "total_shmem");
  facts.file_bytes = Difference(ParseFlatKeyed(text, "total_cache"), facts.shmem_bytes);
  facts.swap_bytes = ParseFlatKeyed(text, "total_swap");
  // Holds the limits of ancestors too, also of those outside of a container.
  const auto effective = ParseFlatKeyed(text, "hierarchical_memory_limit");
  if (effective && *effective < kUnlimitedFrom) {
    facts.memory_limit_bytes = Smaller(facts.memory_limit_bytes, effective);
  }
}

void ParseMemoryStatV2(std::string_view text, CgroupFacts& facts) {
  facts.anon_bytes = ParseFlatKeyed(text, "anon");
  facts.shmem_bytes = ParseFlatKeyed(text, "shmem");
  facts.file_bytes = Difference(ParseFlatKeyed(text, "file"), facts.shmem_bytes);
}

CgroupGroup::CgroupGroup(CgroupFolder folder, DescriptorBudget& budget)
    : folder_(std::move(folder)), budget_(&budget) {
  if (folder_.controllers.empty()) {
    pressure_.emplace(folder_.folder + "/", ".pressure", budget);
  }
}

std::optional<std::string_view> CgroupGroup::Text(const char* file) {
  auto found = files_.find(file);
  if (found == files_.end()) {
    found = files_.emplace(file, KeptFile(folder_.folder + "/" + file, *budget_)).first;
  }
  if (!found->second) {
    return std::nullopt;
  }
  const auto text = found->second->Read(buffer_);
  if (!text && errno == ENOENT) {
    found->second.reset();
  }
  return text;
}

void CgroupGroup::Read() {
  facts_ = {};
  const bool v2 = folder_.controllers.empty();
  if (v2) {
    ReadMemoryV2();
  } else if (ListHas(folder_.controllers, "memory")) {
    ReadMemoryV1();
  }
  ReadOthers();
}

void CgroupGroup::ReadMemoryV1() {
  facts_.memory_bytes = Number(Text("memory.usage_in_bytes"));
  facts_.memory_peak_bytes = Number(Text("memory.max_usage_in_bytes"));
  facts_.memory_limit_bytes = Limit(Text("memory.limit_in_bytes"));
  // failcnt is left out: it stayed 0 through a real kill (see docs/sensors.md).
  facts_.oom_kills = Keyed(Text("memory.oom_control"), "oom_kill");
  const auto own_limit = facts_.memory_limit_bytes;
  facts_.swap_limit_bytes = Difference(Limit(Text("memory.memsw.limit_in_bytes")), own_limit);
  if (folder_.depth == 0) {
    if (const auto text = Text("memory.stat")) {
      ParseMemoryStatV1(*text, facts_);
    }
  }
}

void CgroupGroup::ReadMemoryV2() {
  facts_.memory_bytes = Number(Text("memory.current"));
  facts_.memory_peak_bytes = Number(Text("memory.peak"));
  facts_.memory_limit_bytes = Limit(Text("memory.max"));
  facts_.memory_high_bytes = Limit(Text("memory.high"));
  if (const auto text = Text("memory.events")) {
    facts_.oom_kills = ParseFlatKeyed(*text, "oom_kill");
    facts_.ooms = ParseFlatKeyed(*text, "oom");
  }
  facts_.swap_bytes = Number(Text("memory.swap.current"));
  facts_.swap_limit_bytes = Limit(Text("memory.swap.max"));
  // memory.stat makes the kernel add up all CPUs: only where it can matter.
  if (folder_.depth == 0 || facts_.memory_limit_bytes) {
    if (const auto text = Text("memory.stat"); text && facts_.memory_bytes) {
      ParseMemoryStatV2(*text, facts_);
    }
  }
}

void CgroupGroup::ReadOthers() {
  const bool v2 = folder_.controllers.empty();
  if (v2 || ListHas(folder_.controllers, "pids")) {
    facts_.pids = Number(Text("pids.current"));
    facts_.pids_limit = Limit(Text("pids.max"));
    facts_.pids_refused = Keyed(Text("pids.events"), "max");
  }
  if (v2) {
    const auto throttled = Keyed(Text("cpu.stat"), "throttled_usec");
    facts_.throttled_ms = throttled ? std::optional(*throttled / 1000) : std::nullopt;
    facts_.frozen = Keyed(Text("cgroup.events"), "frozen");
    return;
  }
  if (ListHas(folder_.controllers, "cpu")) {
    const auto throttled = Keyed(Text("cpu.stat"), "throttled_time");
    facts_.throttled_ms = throttled ? std::optional(*throttled / 1000000) : std::nullopt;
  }
  if (ListHas(folder_.controllers, "freezer")) {
    if (const auto text = Text("freezer.state")) {
      facts_.frozen = Trim(*text) == "FROZEN" ? 1 : 0;
    }
  }
}

void CgroupGroup::Report(SubjectId subject, Sweep& sweep) {
  sweep.Add(subject, Quantity::kCgroupMemoryBytes, facts_.memory_bytes);
  sweep.Add(subject, Quantity::kCgroupMemoryPeakBytes, facts_.memory_peak_bytes);
  sweep.Add(subject, Quantity::kCgroupMemoryLimitBytes, facts_.memory_limit_bytes);
  sweep.Add(subject, Quantity::kCgroupMemoryHighBytes, facts_.memory_high_bytes);
  sweep.Add(subject, Quantity::kCgroupOomKills, facts_.oom_kills);
  sweep.Add(subject, Quantity::kCgroupOoms, facts_.ooms);
  sweep.Add(subject, Quantity::kCgroupSwapBytes, facts_.swap_bytes);
  sweep.Add(subject, Quantity::kCgroupSwapLimitBytes, facts_.swap_limit_bytes);
  sweep.Add(subject, Quantity::kCgroupPids, facts_.pids);
  sweep.Add(subject, Quantity::kCgroupPidsLimit, facts_.pids_limit);
  sweep.Add(subject, Quantity::kCgroupPidsRefused, facts_.pids_refused);
  sweep.Add(subject, Quantity::kCgroupAnonBytes, facts_.anon_bytes);
  sweep.Add(subject, Quantity::kCgroupFileBytes, facts_.file_bytes);
  sweep.Add(subject, Quantity::kCgroupShmemBytes, facts_.shmem_bytes);
  sweep.Add(subject, Quantity::kCgroupThrottledMs, facts_.throttled_ms);
  sweep.Add(subject, Quantity::kCgroupFrozen, facts_.frozen);
  if (pressure_) {
    pressure_->Sample(subject, sweep);
  }
}

}  // namespace whystop
