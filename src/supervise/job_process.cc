#include "supervise/job_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace whystop {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT: exec's signature predates const
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// In the forked child. Returns only if the command cannot be executed: which of the two errors of
/// `state` says why.
std::atomic<int>& BecomeJob(const JobPlan& plan, const std::vector<Channel>& channels,
                            char* const* arguments, char* const* environment, RunState& state) {
  for (const Channel& channel : channels) {
    for (const int number : {1, 2}) {
      if (channel.job_end && channel.carries[number] && ::dup2(channel.job_end.get(), number) < 0) {
        return state.stand_up_errno;
      }
    }
  }
  plan.setting.Restore();
  ::execvpe(arguments[0], arguments, environment);
  return state.exec_errno;
}

}  // namespace

SignalSetting SignalSetting::Save() {
  SignalSetting setting;
  ::sigprocmask(SIG_BLOCK, nullptr, &setting.mask);
  // Who starts us with SIGCHLD ignored would have our children vanish unseen.
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &setting.child);
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, &setting.pipe);
  ::sigaction(SIGXFSZ, &ignored, &setting.file_size);
  return setting;
}

bool SignalSetting::BlockAll() {
  sigset_t all;
  ::sigfillset(&all);
  // A fault of our own must end us, not hang us.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    ::sigdelset(&all, fault);
  }
  return ::sigprocmask(SIG_BLOCK, &all, nullptr) == 0;
}

void SignalSetting::Restore() const {
  ::sigaction(SIGCHLD, &child, nullptr);
  ::sigaction(SIGPIPE, &pipe, nullptr);
  ::sigaction(SIGXFSZ, &file_size, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

DescriptorLimit DescriptorLimit::SaveAndRaise() {
  constexpr rlim_t kWanted = 1024;
  DescriptorLimit limit;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur < kWanted &&
      now.rlim_max > now.rlim_cur) {
    const rlimit raised{.rlim_cur = std::min(kWanted, now.rlim_max), .rlim_max = now.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
      limit.given = now;
    }
  }
  return limit;
}

void DescriptorLimit::Restore() const {
  if (given) {
    ::setrlimit(RLIMIT_NOFILE, &*given);
  }
}

void StartJob(const JobPlan& plan, const std::vector<Channel>& channels, RunState& state) {
  const std::vector<char*> arguments = Pointers(plan.command);
  const std::vector<char*> environment = Pointers(plan.environment);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    state.stand_up_errno = errno;
    return;
  }
  const Fd executed_read(ends[0]);
  Fd executed_write(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    state.stand_up_errno = errno;
    return;
  }
  if (child == 0) {
    state.job = ::getpid();
    std::atomic<int>& fault =
        BecomeJob(plan, channels, arguments.data(), environment.data(), state);
    fault = errno;
    ::_exit(127);
  }
  executed_write.Close();
  char none = 0;
  static_cast<void>(
      ReadSome(executed_read.get(), {&none, 1}));  // Ends when exec closes the other side.
  if (state.exec_errno != 0 || state.stand_up_errno != 0) {
    ::waitpid(child, nullptr, 0);
  }
}

StartFault DescribeStartFault(const std::string& command, int exec_errno) {
  const bool is_path = command.find('/') != std::string::npos;
  if (exec_errno == ENOENT && !is_path) {
    return {"command not found: '" + command + "'", 127};
  }
  if (exec_errno == ENOENT && ::access(command.c_str(), F_OK) == 0) {
    return {"cannot execute '" + command +
                "': its interpreter (first line, after #!) or loader does not exist",
            126};
  }
  const int code = exec_errno == ENOENT ? 127 : 126;
  return {"cannot execute '" + command + "': " + std::generic_category().message(exec_errno), code};
}

}  // namespace whystop
