#include "supervise/channel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace whystop {
namespace {

/// Not closed and not merely held by HoldStandardDescriptors: the user gave it to us for the job.
bool IsGiven(int number) {
  const int flags = ::fcntl(number, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

bool SameObject(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

Status MakePipe(Fd& read_end, Fd& write_end) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return SystemError("cannot make a pipe for the job's output", errno);
  }
  read_end = Fd(ends[0]);
  write_end = Fd(ends[1]);
  return Ok{};
}

/// The job's terminal looks like the user's, except that it leaves the output alone: the user's
/// terminal still does what it did to it before, and does it once.
Status MakeTerminal(Channel& channel) {
  channel.terminal = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[64];
  if (!channel.terminal || ::grantpt(channel.terminal.get()) != 0 ||
      ::unlockpt(channel.terminal.get()) != 0 ||
      ::ptsname_r(channel.terminal.get(), name, sizeof(name)) != 0) {
    return SystemError("cannot make a pseudo-terminal", errno);
  }
  auto job_end = OpenFd(name, O_RDWR | O_NOCTTY);
  if (!job_end) {
    return job_end.error();
  }
  channel.job_end = std::move(*job_end);
  termios modes{};
  if (::tcgetattr(channel.user.get(), &modes) == 0) {
    channel.user_modes = modes;
    modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(channel.job_end.get(), TCSANOW, &modes);
    if (::tcgetattr(channel.job_end.get(), &modes) == 0) {
      channel.job_modes = modes;
    }
  }
  winsize size{};
  if (::ioctl(channel.user.get(), TIOCGWINSZ, &size) == 0) {
    ::ioctl(channel.job_end.get(), TIOCSWINSZ, &size);
  }
  const int flags = ::fcntl(channel.terminal.get(), F_GETFL);
  ::fcntl(channel.terminal.get(), F_SETFL, flags | O_NONBLOCK);
  return MakePipe(channel.pipe_read, channel.pipe_write);
}

/// Opens the file that `number` writes to for reading, from where the job's first byte will land.
/// False: not readable.
bool OpenForFollowing(int number, Channel& channel) {
  auto file = OpenFd("/proc/self/fd/" + std::to_string(number), O_RDONLY);
  if (!file) {
    return false;
  }
  const int flags = ::fcntl(number, F_GETFL);
  const bool appends = flags >= 0 && (flags & O_APPEND) != 0;
  const off_t start = appends ? ::lseek(file->get(), 0, SEEK_END) : ::lseek(number, 0, SEEK_CUR);
  if (start < 0 || ::lseek(file->get(), start, SEEK_SET) < 0) {
    return false;
  }
  channel.file = std::move(*file);
  if (!appends) {
    channel.user = Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  }
  return true;
}

Result<Channel> MakeChannel(int number) {
  Channel channel;
  channel.carries[number] = true;
  channel.stream = number == 1 ? LogStream::kStdout : LogStream::kStderr;
  struct stat facts {};
  if (::fstat(number, &facts) == 0 && S_ISREG(facts.st_mode) && OpenForFollowing(number, channel)) {
    channel.kind = Channel::Kind::kFile;
    return channel;
  }
  channel.user = Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  if (!channel.user) {
    return SystemError("cannot duplicate descriptor " + std::to_string(number), errno);
  }
  if (::isatty(number) != 0) {
    channel.kind = Channel::Kind::kTerminal;
    channel.stream = LogStream::kTerminal;
    WS_RETURN_IF_ERROR(MakeTerminal(channel));
    return channel;
  }
  WS_RETURN_IF_ERROR(MakePipe(channel.pipe_read, channel.job_end));
  // As much room as the user's pipe would have given the job.
  const int room_bytes = ::fcntl(channel.user.get(), F_GETPIPE_SZ);
  if (room_bytes > 0) {
    ::fcntl(channel.pipe_read.get(), F_SETPIPE_SZ, room_bytes);
  }
  return channel;
}

}  // namespace

void Channel::Close() {
  for (Fd* fd : {&user, &job_end, &pipe_read, &pipe_write, &terminal, &file}) {
    fd->Close();
  }
}

Result<std::vector<Channel>> MakeChannels() {
  std::vector<Channel> channels;
  for (const int number : {1, 2}) {
    if (!IsGiven(number)) {
      continue;
    }
    if (number == 2 && !channels.empty() && SameObject(1, 2)) {
      channels.front().carries[2] = true;
      continue;
    }
    auto channel = MakeChannel(number);
    if (!channel) {
      return channel.error();
    }
    channels.push_back(std::move(*channel));
  }
  return channels;
}

}  // namespace whystop
