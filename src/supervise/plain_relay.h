#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "supervise/channel.h"

namespace whystop {

/// Stands in for a Relay where the system refuses what that one needs (descriptors, a thread,
/// splice and tee): read and write, called from the recorder's own loop. A slow reader holds the
/// recorder up, and a SIGKILL may lose what was read and not yet written. Needs nothing that could
/// be refused.
class PlainRelay {
 public:
  enum class Moved { kSome, kNothing, kJobClosed, kReaderGone };

  /// `channel` must outlive it.
  explicit PlainRelay(const Channel& channel) : channel_(channel) {}
  /// To be watched: readable when there is something to move.
  int source() const;
  /// Moves at most one buffer full to the user, and shows it to `record`.
  Moved Move(std::span<char> buffer, const std::function<void(std::string_view)>& record) const;

 private:
  const Channel& channel_;
};

}  // namespace whystop
