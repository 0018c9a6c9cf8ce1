#include "cli/process_beside.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/wait_for.h"

namespace whystop {
namespace {

constexpr int kNotStarted = 127;

/// Puts the standard descriptors in their places; false where that is refused.
bool ArrangeDescriptors() {
  auto null = OpenFd("/dev/null", O_RDWR);
  const Fd above(null ? ::fcntl(null->get(), F_DUPFD_CLOEXEC, ProcessBeside::kTellFd + 1) : -1);
  return above && ::dup2(STDERR_FILENO, ProcessBeside::kTellFd) >= 0 &&
         ::dup2(above.get(), STDIN_FILENO) >= 0 && ::dup2(above.get(), STDOUT_FILENO) >= 0 &&
         ::dup2(above.get(), STDERR_FILENO) >= 0;
}

void Become(const std::vector<std::string>& arguments) {
  ::setsid();
  if (!ArrangeDescriptors()) {
    ::_exit(kNotStarted);
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(kNotStarted);
}

}  // namespace

ProcessBeside::ProcessBeside(const std::vector<std::string>& arguments) {
  pid_ = ::fork();
  if (pid_ == 0) {
    Become(arguments);
  }
  if (pid_ > 0) {
    process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
}

std::optional<int> ProcessBeside::EndsWithin(int patience_ms) {
  if (!process_ || WaitFor(process_.get(), POLLIN, patience_ms) == 0) {
    return std::nullopt;
  }
  siginfo_t info{};
  constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD, which old headers lack.
  if (::waitid(kByPidfd, static_cast<id_t>(process_.get()), &info, WEXITED) != 0 ||
      info.si_code != CLD_EXITED) {
    return std::nullopt;
  }
  return info.si_status;
}

void ProcessBeside::Kill() const {
  // Where waiting is refused it is still there, and still ours.
  const pid_t reaped = pid_ > 0 ? ::waitpid(pid_, nullptr, WNOHANG) : -1;
  if (reaped == 0 || (pid_ > 0 && reaped < 0 && errno != ECHILD)) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

}  // namespace whystop
