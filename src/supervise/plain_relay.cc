#include "supervise/plain_relay.h"

#include <poll.h>

#include <cerrno>

#include "base/wait_for.h"

namespace whystop {
namespace {

bool IsReadable(int fd) {
  return (WaitFor(fd, POLLIN, 0) & (POLLIN | POLLHUP)) != 0;
}

bool Deliver(int user, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = WriteSome(user, bytes);
    if (size < 0 && errno == EAGAIN) {
      WaitFor(user, POLLOUT, -1);  // Somebody made the user's descriptor non-blocking.
    } else if (size <= 0) {
      return false;
    } else {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }
  return true;
}

}  // namespace

int PlainRelay::source() const {
  return channel_.terminal ? channel_.terminal.get() : channel_.pipe_read.get();
}

PlainRelay::Moved PlainRelay::Move(std::span<char> buffer,
                                   const std::function<void(std::string_view)>& record) const {
  // What waits in a terminal's pipe goes first: another process may have left it there.
  const bool pipe_first = channel_.terminal && IsReadable(channel_.pipe_read.get());
  const int from = pipe_first ? channel_.pipe_read.get() : source();
  if (!IsReadable(from)) {
    return Moved::kNothing;
  }
  const ssize_t size = ReadSome(from, buffer);
  if (size < 0 && errno == EAGAIN) {
    return Moved::kNothing;
  }
  if (size <= 0) {
    return Moved::kJobClosed;  // A terminal that nobody has open answers EIO.
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(size));
  const bool delivered = Deliver(channel_.user.get(), bytes);
  record(bytes);
  return delivered ? Moved::kSome : Moved::kReaderGone;
}

}  // namespace whystop
