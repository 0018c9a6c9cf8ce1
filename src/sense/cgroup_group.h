#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/reading.h"
#include "sense/cgroup_locate.h"
#include "sense/host_sensor.h"
#include "sense/kept_file.h"

namespace whystop {

/// A limit file: "max" and the v1 way of saying unlimited (a number near 2^63) are absent.
std::optional<std::int64_t> ParseCgroupLimit(std::string_view text);
/// The number after `key` in lines of "key number".
std::optional<std::int64_t> ParseFlatKeyed(std::string_view text, std::string_view key);

/// What one control group says, of v1 or v2.
struct CgroupFacts {
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> memory_peak_bytes;
  std::optional<std::int64_t> memory_limit_bytes;
  std::optional<std::int64_t> memory_high_bytes;
  std::optional<std::int64_t> oom_kills;
  std::optional<std::int64_t> ooms;
  std::optional<std::int64_t> swap_bytes;
  std::optional<std::int64_t> swap_limit_bytes;
  std::optional<std::int64_t> pids;
  std::optional<std::int64_t> pids_limit;
  std::optional<std::int64_t> pids_refused;
  std::optional<std::int64_t> anon_bytes;
  std::optional<std::int64_t> file_bytes;
  std::optional<std::int64_t> shmem_bytes;
  std::optional<std::int64_t> throttled_ms;
  std::optional<std::int64_t> frozen;
};

/// What memory.stat says of v1 (`hierarchical`: the sums over the whole subtree) and of v2.
void ParseMemoryStatV1(std::string_view text, CgroupFacts& facts);
void ParseMemoryStatV2(std::string_view text, CgroupFacts& facts);

/// One folder of one hierarchy. Files that are not there cost one failed open at the first look.
class CgroupGroup {
 public:
  CgroupGroup(CgroupFolder folder, DescriptorBudget& budget);
  void Read();
  void Report(SubjectId subject, Sweep& sweep);

  const CgroupFolder& folder() const { return folder_; }
  const CgroupFacts& facts() const { return facts_; }

 private:
  std::optional<std::string_view> Text(const char* file);
  void ReadMemoryV1();
  void ReadMemoryV2();
  void ReadOthers();

  CgroupFolder folder_;
  DescriptorBudget* budget_;
  std::map<std::string_view, std::optional<KeptFile>> files_;  // Empty: it was not there.
  std::optional<PressureSensor> pressure_;                     // v2 only.
  CgroupFacts facts_;
  std::array<char, 8192> buffer_{};
};

}  // namespace whystop
