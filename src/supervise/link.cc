#include "supervise/link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace whystop {
namespace {

static_assert(std::is_trivially_copyable_v<LinkMessage>);

template <std::size_t kSize>
void CopyText(std::string_view text, char (&into)[kSize]) {
  const std::size_t size = std::min(text.size(), kSize - 1);
  std::memcpy(into, text.data(), size);
  into[size] = '\0';
}

}  // namespace

LinkMessage FromSignal(const SignalSeen& seen) {
  LinkMessage message{.kind = LinkMessage::Kind::kSignal, .number = seen.signal};
  message.sender_pid = static_cast<std::int32_t>(seen.sender_pid.value_or(0));
  message.sender_uid = static_cast<std::int32_t>(seen.sender_uid.value_or(-1));
  message.from_kernel = seen.from_kernel;
  message.forwarded = seen.forwarded;
  CopyText(seen.sender_name, message.sender_name);
  CopyText(seen.sender_command, message.sender_command);
  return message;
}

SignalSeen ToSignal(const LinkMessage& message) {
  SignalSeen seen;
  seen.signal = message.number;
  if (message.sender_pid > 0) {
    seen.sender_pid = message.sender_pid;
    seen.sender_uid = message.sender_uid;
  }
  seen.from_kernel = message.from_kernel;
  seen.forwarded = message.forwarded;
  seen.sender_name = message.sender_name;
  seen.sender_command = message.sender_command;
  return seen;
}

Result<std::pair<Link, Link>> Link::MakePair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return SystemError("cannot make a socket pair", errno);
  }
  return std::pair(Link(Fd(ends[0])), Link(Fd(ends[1])));
}

void Link::Send(const LinkMessage& message) const {
  ssize_t size = 0;
  do {
    size = ::send(fd_.get(), &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
}

Link::Received Link::Receive(LinkMessage& message) const {
  ssize_t size = 0;
  do {
    size = ::recv(fd_.get(), &message, sizeof(message), MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size == static_cast<ssize_t>(sizeof(message))) {
    return Received::kMessage;
  }
  return size < 0 && errno == EAGAIN ? Received::kNothing : Received::kPeerGone;
}

}  // namespace whystop
