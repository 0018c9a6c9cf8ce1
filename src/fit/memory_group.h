#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace whystop {

/// A memory control group below that of this process, for one trial. It is removed at the end of
/// its life, also when this process is killed: a small process waits for that.
class MemoryGroup {
 public:
  /// Fails where this user may make none.
  static Result<MemoryGroup> Make(std::int64_t limit_bytes);
  MemoryGroup(MemoryGroup&& other) noexcept
      : folder_(std::exchange(other.folder_, "")),
        first_version_(other.first_version_),
        door_(std::move(other.door_)), alive_(std::move(other.alive_)) {}
  MemoryGroup& operator=(MemoryGroup&&) = delete;
  ~MemoryGroup();

  /// A process that writes "0" there is in the group, and so are its children.
  int door() const { return door_.get(); }
  /// The most it held at once, without page cache, which is given back under pressure.
  std::optional<std::int64_t> PeakBytes() const;
  /// Processes that were killed because the limit was met.
  std::int64_t Kills() const;

 private:
  MemoryGroup(std::string folder, bool first_version)
      : folder_(std::move(folder)), first_version_(first_version) {}
  Status Limit(std::int64_t bytes) const;
  void RemoveWhenThisProcessDies();

  std::string folder_;  // Empty: moved from.
  bool first_version_ = false;
  Fd door_;
  Fd alive_;  // Closed when this process ends, however it does.
};

}  // namespace whystop
