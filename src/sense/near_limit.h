#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/event.h"

namespace whystop {

/// Tells when something is about to run out, so that the sweeps can come more often and the last
/// second before a death is seen. Pure: levels in, a reason out.
class NearLimit {
 public:
  /// A level is near when less than a tenth is left, or when at the pace since the last sweep it
  /// would be gone within this time: five ordinary sweeps, so that the dense ones see the end.
  static constexpr std::chrono::seconds kHorizon{5};

  void Begin(RunTime now);
  /// `left` of `whole` remains. Absent values are no sign of anything.
  void Watch(const std::string& what, std::optional<std::int64_t> left,
             std::optional<std::int64_t> whole);
  /// As Watch, but only the pace counts: a disk that has been nearly full for years is no news.
  void WatchPace(const std::string& what, std::optional<std::int64_t> left);

  /// What is near its limit, or empty.
  const std::string& reason() const { return reason_; }
  bool about_memory() const { return reason_.starts_with("memory"); }

 private:
  struct Level {
    RunTime at{};
    std::int64_t left = 0;
  };
  bool WillRunOut(const std::string& what, std::int64_t left);

  RunTime now_{};
  std::map<std::string, Level> before_;  // One entry a limit: groups, mounts.
  std::string reason_;
};

}  // namespace whystop
