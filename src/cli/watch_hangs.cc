#include "cli/watch_hangs.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cmath>
#include <vector>

#include "base/wait_for.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "watch/watcher.h"

namespace whystop {
namespace {

constexpr int kPatienceMs = 3000;
// Where the watcher finds the user's stderr. Its own is /dev/null: what a loader or a library may have
// to complain about does not belong between the lines of the job.
constexpr int kTellFd = 3;

/// Puts the standard descriptors in their places; false where that is refused.
bool ArrangeDescriptors() {
  auto null = OpenFd("/dev/null", O_RDWR);
  const Fd above(null ? ::fcntl(null->get(), F_DUPFD_CLOEXEC, kTellFd + 1) : -1);
  return above && ::dup2(STDERR_FILENO, kTellFd) >= 0 && ::dup2(above.get(), STDIN_FILENO) >= 0 &&
         ::dup2(above.get(), STDOUT_FILENO) >= 0 && ::dup2(above.get(), STDERR_FILENO) >= 0;
}

void BecomeWatcher(const std::vector<std::string>& arguments) {
  ::setsid();
  if (!ArrangeDescriptors()) {
    ::_exit(127);
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
  ::_exit(127);
}

}  // namespace

HangWatcher::HangWatcher(const std::string& directory, const RunOptions& options,
                         const RecordingOptions& shares) {
  std::vector<std::string> arguments = {"wswatcher", "watch-hangs", "--dir", directory, "--on-hang",
                                        options.on_hang,
                                        "--late-bytes", std::to_string(shares.late_bytes),
                                        "--middle-bytes", std::to_string(shares.middle_bytes)};
  if (options.hang_after_s > 0) {
    arguments.insert(arguments.end(), {"--hang-after", std::to_string(options.hang_after_s)});
  }
  if (options.quiet) {
    arguments.emplace_back("--quiet");
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    BecomeWatcher(arguments);
  }
  pid_ = pid;
  if (pid > 0) {
    process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  }
}

bool HangWatcher::Finish() {
  if (!process_) {
    return false;
  }
  if (WaitFor(process_.get(), POLLIN, kPatienceMs) == 0) {
    ::syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  }
  siginfo_t info{};
  constexpr auto kByPidfd = static_cast<idtype_t>(3);  // P_PIDFD, which old headers lack.
  if (::waitid(kByPidfd, static_cast<id_t>(process_.get()), &info, WEXITED) != 0) {
    return false;
  }
  return info.si_code == CLD_EXITED && info.si_status == kStoppedTheJob;
}

void HangWatcher::End() const {
  // Where waiting is refused it is still there, and still ours.
  const pid_t reaped = pid_ > 0 ? ::waitpid(pid_, nullptr, WNOHANG) : -1;
  if (reaped == 0 || (pid_ > 0 && reaped < 0 && errno != ECHILD)) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

int WatchHangs(const WatchHangsOptions& options) {
  WatchOptions watch;
  watch.directory = options.directory;
  if (options.hang_after_s > 0) {
    watch.hang_after = std::chrono::nanoseconds(std::llround(options.hang_after_s * 1e9));
  }
  watch.on_hang = options.on_hang == "stop"      ? OnHang::kStop
                  : options.on_hang == "restart" ? OnHang::kRestart
                                                 : OnHang::kReport;
  watch.late_bytes = options.late_bytes;
  watch.middle_bytes = options.middle_bytes;
  watch.tell = options.quiet ? -1 : kTellFd;
  const auto status = WatchForHangs(watch);
  return status ? *status : kExitUsage;
}

}  // namespace whystop
