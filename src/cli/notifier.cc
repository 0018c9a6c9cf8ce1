#include "cli/notifier.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/fd.h"
#include "base/wait_for.h"
#include "cli/console.h"
#include "report/terminal_report.h"

namespace whystop {
namespace {

constexpr int kLooksUntilTold = 2;
constexpr int kPatienceMs = 60'000;
constexpr int kNotStarted = 127;

using Words = std::array<std::pair<const char*, std::string>, 5>;

[[noreturn]] void BecomeCommand(const std::string& command, const Words& words, int input) {
  ::setpgid(0, 0);  // What it starts is ended with it.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : words) {
    ::setenv(name, value.c_str(), 1);
  }
  // stdout belongs to the verdict.
  if (::dup2(input, STDIN_FILENO) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  }
  ::_exit(kNotStarted);
}

/// Its status as a shell tells it; it does not take for ever.
int EndOf(pid_t child) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (process && WaitFor(process.get(), POLLIN, kPatienceMs) == 0 && ::kill(-child, SIGKILL) != 0) {
    ::kill(child, SIGKILL);  // It may not have a group of its own.
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void Notifier::Tell(std::string_view event, const Verdict& verdict) const {
  if (!wanted()) {
    return;
  }
  const std::string headline = RenderLine(verdict);
  const Words words = {{{"WHYSTOP_EVENT", std::string(event)},
                        {"WHYSTOP_HEADLINE", headline},
                        {"WHYSTOP_RUN", run_},
                        {"WHYSTOP_OUTCOME", std::string(Name(verdict.outcome))},
                        {"WHYSTOP_LEARNING", std::string(Name(verdict.learning))}}};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return;
  }
  Fd input(ends[0]);
  Fd output(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    BecomeCommand(command_, words, input.get());
  }
  input.Close();
  // A line fits into an empty pipe, so nobody has to read it; a reader that is gone is no fault.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  [[maybe_unused]] const int fault = WriteAll(output.get(), headline + "\n");
  output.Close();
  const int status = child > 0 ? EndOf(child) : kNotStarted;
  ::signal(SIGPIPE, before);
  if (status != 0) {
    Complain(fmt::format("--notify: '{}' returned {}", command_, status));
  }
}

void Notifier::Look(const Verdict& verdict) {
  looks_hung_ = verdict.outcome == Outcome::kHung ? looks_hung_ + 1 : 0;
  looks_diverged_ = verdict.learning == Learning::kDiverged ? looks_diverged_ + 1 : 0;
  if (looks_hung_ == kLooksUntilTold) {
    Tell("hang", verdict);
  }
  if (looks_diverged_ == kLooksUntilTold && !told_diverged_) {
    told_diverged_ = true;
    Tell("diverged", verdict);
  }
}

}  // namespace whystop
