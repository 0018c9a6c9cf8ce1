#include "supervise/stand_up.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/fd.h"
#include "base/wait_for.h"
#include "supervise/event_loop.h"
#include "supervise/link.h"
#include "supervise/signal_witness.h"

namespace whystop {
namespace {

// Front or keeper with two terminals, the recording, the sensors' kept files and some rings.
constexpr int kDescriptorsNeeded = 64;

Status TryDescriptors() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return SystemError("cannot make a pipe", errno);
  }
  const Fd read_end(ends[0]);
  const Fd write_end(ends[1]);
  char byte = 'x';
  if (WriteSome(write_end.get(), {&byte, 1}) != 1 || ReadSome(read_end.get(), {&byte, 1}) != 1) {
    return SystemError("cannot write and read", errno);
  }
  std::vector<Fd> held;
  for (int i = 2; i < kDescriptorsNeeded; ++i) {
    held.emplace_back(::fcntl(read_end.get(), F_DUPFD_CLOEXEC, 3));
    if (!held.back()) {
      return SystemError("needs " + std::to_string(kDescriptorsNeeded) + " descriptors", errno);
    }
  }
  return Ok{};
}

Status TryLink() {
  const auto links = Link::MakePair();
  if (!links) {
    return links.error();
  }
  links->first.Send({.kind = LinkMessage::Kind::kReported});
  LinkMessage message;
  if (links->second.Receive(message) != Link::Received::kMessage) {
    return SystemError("cannot send to a process of its own", errno);
  }
  return Ok{};
}

Status TryWaiting() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != ECHILD) {
    return SystemError("cannot wait for processes", errno);
  }
  // For a process that is no child of ours, so that nothing is reaped.
  if (::wait4(::getpid(), nullptr, WNOHANG, nullptr) < 0 && errno != ECHILD) {
    return SystemError("cannot wait for processes", errno);
  }
  return Ok{};
}

/// The descriptors that signals, time and threads come through, and the call that waits for them.
Status TryEvents() {
  const Fd signals = OpenSignalFd();
  if (!signals) {
    return SystemError("cannot receive signals by signalfd", errno);
  }
  Timer timer;
  if (timer.fd() < 0) {
    return SystemError("cannot make a timer", errno);
  }
  const Fd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) {
    return SystemError("cannot make an event descriptor", errno);
  }
  timer.SetOnce({});
  constexpr int kPatienceMs = 1000;
  errno = ETIME;
  if (WaitFor(timer.fd(), POLLIN, kPatienceMs) == 0) {
    return SystemError("cannot wait for a timer", errno);
  }
  return Ok{};
}

}  // namespace

Status TryToStandUp() {
  WS_RETURN_IF_ERROR(TryDescriptors());
  WS_RETURN_IF_ERROR(TryWaiting());
  WS_RETURN_IF_ERROR(TryEvents());
  return TryLink();
}

}  // namespace whystop
