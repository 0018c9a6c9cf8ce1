#pragma once

namespace whystop {

/// poll(2) for one descriptor: the events that came, 0 if none did in time. It goes on after EINTR and
/// want of memory, but not beyond the time; negative: for ever.
short WaitFor(int fd, short events, int timeout_ms);

}  // namespace whystop
