#include "supervise/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/wait_for.h"

namespace whystop {
namespace {

constexpr std::size_t kChunkBytes = 256 << 10;
constexpr int kTapBytes = 1 << 20;
// How long the job's output may wait for the recorder's thread, once, before its bytes go
// unrecorded.
constexpr int kTapPatienceMs = 200;
// A terminal's modes can change without output; looked at this often, more so while a program has
// changed them.
constexpr int kModesMs = 1000;
constexpr int kModesChangedMs = 50;

Status OpenPipe(Fd& read_end, Fd& write_end) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return SystemError("cannot make a pipe", errno);
  }
  read_end = Fd(ends[0]);
  write_end = Fd(ends[1]);
  return Ok{};
}

std::size_t WaitingBytes(int pipe) {
  int count = 0;
  return ::ioctl(pipe, FIONREAD, &count) == 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

Result<std::unique_ptr<Relay>> Relay::Start(const Channel& channel) {
  std::unique_ptr<Relay> relay(new Relay(channel));  // tidy-allow raw-new: private constructor
  WS_RETURN_IF_ERROR(relay->OpenPipes());
  if (channel.terminal) {
    relay->modes_.emplace(channel);
  }
  try {
    relay->thread_ = std::thread([self = relay.get()] { self->Run(); });
  } catch (const std::system_error& fault) {
    return SystemError("cannot start a thread", fault.code().value());
  }
  return relay;
}

Relay::~Relay() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

Status Relay::OpenPipes() {
  WS_RETURN_IF_ERROR(OpenPipe(tap_read_, tap_write_));
  WS_RETURN_IF_ERROR(OpenPipe(peek_read_, peek_write_));
  WS_RETURN_IF_ERROR(OpenPipe(notice_read_, notice_write_));
  WS_RETURN_IF_ERROR(TryMoving());
  ::fcntl(tap_write_.get(), F_SETPIPE_SZ, kTapBytes);  // Smaller where the system allows no more.
  if (auto nowhere = OpenFd("/dev/null", O_WRONLY)) {
    nowhere_ = std::move(*nowhere);
    can_thin_ = true;
  }
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return wake_ ? Status(Ok{}) : Status(SystemError("cannot make an event descriptor", errno));
}

/// Whether the system lets us move bytes between pipes: an old seccomp profile may not.
Status Relay::TryMoving() const {
  const int from = peek_read_.get();
  int waiting = 0;
  const bool splices = ::splice(from, nullptr, tap_write_.get(), nullptr, 1, SPLICE_F_NONBLOCK) <
                           0 &&
                       errno == EAGAIN;
  const bool copies =
      splices && ::tee(from, tap_write_.get(), 1, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN;
  if (!copies || ::ioctl(from, FIONREAD, &waiting) != 0) {
    return SystemError("cannot move bytes from pipe to pipe", errno);
  }
  return Ok{};
}

void Relay::NotifyJobEnded() const {
  const std::uint64_t one = 1;
  static_cast<void>(WriteSome(wake_.get(), {reinterpret_cast<const char*>(&one), sizeof(one)}));
}

void Relay::Tell(Notice notice) const {
  const char byte = notice;
  static_cast<void>(WriteSome(notice_write_.get(), {&byte, 1}));
}

/// Empty at this moment. Polling a pseudo-terminal also flushes what the kernel still holds back
/// for it.
bool Relay::SourceIsEmpty() const {
  const bool terminal_is_empty =
      !channel_.terminal || (WaitFor(channel_.terminal.get(), POLLIN, 0) & POLLIN) == 0;
  return terminal_is_empty && WaitingBytes(channel_.pipe_read.get()) == 0;
}

/// False: nobody has the job's side of the terminal open, and nothing is left in it.
bool Relay::FillFromTerminal() const {
  const ssize_t moved = ::splice(channel_.terminal.get(), nullptr, channel_.pipe_write.get(),
                                 nullptr, kChunkBytes, SPLICE_F_NONBLOCK);
  if (moved > 0) {
    return true;
  }
  if (moved < 0 && errno != EAGAIN && errno != EINTR && errno != EIO) {  // Kernels before 5.11 cannot splice from a terminal.
    std::array<char, 4096> bytes{};
    const ssize_t size = ReadSome(channel_.terminal.get(), bytes);
    if (size > 0) {
      return WriteAll(channel_.pipe_write.get(), {bytes.data(), static_cast<std::size_t>(size)}) ==
             0;
    }
    return size < 0 && errno == EAGAIN;
  }
  return moved < 0 && (errno == EAGAIN || errno == EINTR);
}

/// Before the bytes that follow a change of modes are delivered, so that they meet the terminal
/// they were meant for.
void Relay::MirrorModes() {
  if (modes_ && modes_->Copy()) {
    Tell(modes_->carried() ? kFullScreen : kLineByLine);
  }
}

void Relay::Run() {
  const int source = channel_.terminal ? channel_.terminal.get() : channel_.pipe_read.get();
  bool job_ended = false;
  for (;;) {
    // What waits in the pipe goes first: another process may have left it there.
    MirrorModes();
    while (WaitingBytes(channel_.pipe_read.get()) > 0) {
      if (MoveWaiting() == Moved::kReaderGone) {
        return Tell(kReaderGone);
      }
    }
    if (job_ended && SourceIsEmpty()) {
      Tell(kDrained);
      job_ended = false;
    }
    std::array<pollfd, 3> polled{{{.fd = source, .events = POLLIN, .revents = 0},
                                  {.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = channel_.user.get(), .events = 0, .revents = 0}}};
    const int modes_ms = !modes_ ? -1 : modes_->carried() ? kModesChangedMs : kModesMs;
    if (::poll(polled.data(), polled.size(), modes_ms) < 0) {
      continue;
    }
    // A pipe without reader and a terminal that hung up: the job must meet that as it would have
    // without us.
    if ((polled[2].revents & (POLLERR | POLLHUP)) != 0) {
      return Tell(kReaderGone);
    }
    if (polled[1].revents != 0) {
      std::uint64_t count = 0;
      static_cast<void>(ReadSome(wake_.get(), {reinterpret_cast<char*>(&count), sizeof(count)}));
      job_ended = true;
    }
    if (channel_.terminal && polled[0].revents != 0 && !FillFromTerminal()) {
      return Tell(kJobClosed);
    }
    if (!channel_.terminal && (polled[0].revents & POLLHUP) != 0 && WaitingBytes(source) == 0) {
      return Tell(kJobClosed);
    }
  }
}

ssize_t Relay::ReadTap(std::span<char> into, std::int64_t& skipped) {
  const MutexLock lock(tap_mutex_);
  skipped += given_up_bytes_;
  given_up_bytes_ = 0;
  return ReadSome(tap_read_.get(), into);
}

bool Relay::GiveUpOldest() {
  if (!tap_is_thinned_ || !can_thin_) {
    return false;
  }
  const MutexLock lock(tap_mutex_);
  const std::size_t half = std::max<std::size_t>(WaitingBytes(tap_read_.get()) / 2, 1);
  const ssize_t given_up =
      ::splice(tap_read_.get(), nullptr, nowhere_.get(), nullptr, half, SPLICE_F_NONBLOCK);
  given_up_bytes_ += std::max<ssize_t>(given_up, 0);
  can_thin_ = given_up > 0 || errno == EAGAIN || errno == EINTR;
  return given_up > 0;
}

/// Copies the head of what waits into the tap. Returns how many bytes may be delivered now.
std::size_t Relay::Tap(std::size_t waiting_bytes) {
  for (const bool may_wait : {!tap_is_stuck_, false}) {
    const ssize_t copied = ::tee(channel_.pipe_read.get(), tap_write_.get(),
                                 std::min(waiting_bytes, kChunkBytes), SPLICE_F_NONBLOCK);
    if (copied > 0) {
      tap_is_stuck_ = false;
      return static_cast<std::size_t>(copied);
    }
    if (!GiveUpOldest() && may_wait) {
      WaitFor(tap_write_.get(), POLLOUT, kTapPatienceMs);
    }
  }
  tap_is_stuck_ = true;
  const std::size_t bytes = std::min(waiting_bytes, kChunkBytes);
  unrecorded_bytes_ += static_cast<std::int64_t>(bytes);
  return bytes;
}

Relay::Moved Relay::MoveWaiting() {
  const std::size_t waiting_bytes = WaitingBytes(channel_.pipe_read.get());
  if (waiting_bytes == 0) {
    return Moved::kNothing;
  }
  return Deliver(Tap(waiting_bytes));
}

Relay::Moved Relay::Deliver(std::size_t bytes) {
  while (bytes > 0) {
    ssize_t moved = 0;
    if (by_copy_) {
      moved = DeliverByCopy(bytes);
    } else {
      moved = ::splice(channel_.pipe_read.get(), nullptr, channel_.user.get(), nullptr, bytes,
                       SPLICE_F_MOVE);
    }
    if (moved > 0) {
      bytes -= std::min(bytes, static_cast<std::size_t>(moved));
    } else if (moved < 0 && errno == EAGAIN) {
      WaitFor(channel_.user.get(), POLLOUT,
              -1);  // Somebody made the user's descriptor non-blocking.
    } else if (moved < 0 && errno != EINTR && errno != EPIPE && !by_copy_) {
      by_copy_ = true;  // write(2) itself decides whether the reader is gone.
    } else if (moved == 0 || errno != EINTR) {
      return Moved::kReaderGone;
    }
  }
  return Moved::kSome;
}

/// For descriptors that splice(2) refuses (files opened for appending). The bytes leave the pipe
/// only after they were written: killed in between, the last ones may come twice, but none is lost.
ssize_t Relay::DeliverByCopy(std::size_t bytes) {
  std::array<char, 65536>
      copy;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills what is used
  const ssize_t peeked = ::tee(channel_.pipe_read.get(), peek_write_.get(),
                               std::min(bytes, copy.size()), SPLICE_F_NONBLOCK);
  if (peeked <= 0) {
    return peeked;
  }
  std::size_t held = 0;
  while (held < static_cast<std::size_t>(peeked)) {
    const ssize_t size = ReadSome(peek_read_.get(), std::span(copy).subspan(held));
    if (size <= 0) {
      return -1;
    }
    held += static_cast<std::size_t>(size);
  }
  const ssize_t written = WriteSome(channel_.user.get(), {copy.data(), held});
  for (ssize_t left = written; left > 0;) {
    const ssize_t size =
        ReadSome(channel_.pipe_read.get(), std::span(copy).first(static_cast<std::size_t>(left)));
    if (size <= 0) {
      return -1;
    }
    left -= size;
  }
  return written;
}

}  // namespace whystop
