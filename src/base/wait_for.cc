#include "base/wait_for.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace whystop {

short WaitFor(int fd, short events, int timeout_ms) {
  const auto end = MonotonicNow() + std::chrono::milliseconds(timeout_ms);
  for (int left_ms = timeout_ms;;) {
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, left_ms);
    if (ready >= 0) {
      return ready > 0 ? entry.revents : static_cast<short>(0);
    }
    if (errno != EINTR && errno != ENOMEM && errno != EAGAIN) {
      return 0;  // It would be refused again.
    }
    if (timeout_ms > 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - MonotonicNow());
      left_ms = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
      if (left_ms == 0) {
        return 0;
      }
    }
  }
}

}  // namespace whystop
