#include "supervise/signal_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/close_from.h"
#include "supervise/process_name.h"

namespace whystop {
namespace {

constexpr int kReportFd = 3;
constexpr int kAliveFd = 4;

/// Everything but the two pipes is closed: a witness must not keep the user's pipes open.
[[noreturn]] void Watch(int report, int alive) {
  RenameThisProcess(kWitnessName);
  // Both out of the way first: either may have the number that the other is to get.
  constexpr int kAbove = kAliveFd + 1;
  const int high_report = ::fcntl(report, F_DUPFD, kAbove);
  const int high_alive = ::fcntl(alive, F_DUPFD, kAbove);
  if (high_report < 0 || high_alive < 0 || ::dup2(high_report, kReportFd) < 0 ||
      ::dup2(high_alive, kAliveFd) < 0) {
    ::_exit(0);  // Without it the front takes every signal for one that was sent to it alone.
  }
  for (const int number : {0, 1, 2}) {
    ::close(number);
  }
  CloseFrom(kAbove);
  const int signals = OpenSignalFd().Release();
  for (;;) {
    pollfd polled[2] = {{.fd = signals, .events = POLLIN, .revents = 0},
                        {.fd = kAliveFd, .events = POLLIN, .revents = 0}};
    if (signals < 0 || (::poll(polled, 2, -1) > 0 && polled[1].revents != 0)) {
      ::_exit(0);
    }
    const auto arrival = ReadSignal(signals);
    if (arrival) {
      static_cast<void>(
          WriteSome(kReportFd, {reinterpret_cast<const char*>(&*arrival), sizeof(*arrival)}));
    }
  }
}

}  // namespace

Fd OpenSignalFd() {
  sigset_t all;
  ::sigfillset(&all);
  return Fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<SignalArrival> ReadSignal(int signal_fd) {
  signalfd_siginfo info{};
  if (ReadSome(signal_fd, {reinterpret_cast<char*>(&info), sizeof(info)}) !=
      static_cast<ssize_t>(sizeof(info))) {
    return std::nullopt;
  }
  SignalArrival arrival{.signal = static_cast<int>(info.ssi_signo), .code = info.ssi_code};
  if (arrival.code != SI_KERNEL) {
    arrival.sender = static_cast<pid_t>(info.ssi_pid);
    arrival.sender_uid = info.ssi_uid;
  }
  return arrival;
}

SignalWitness SignalWitness::Start() {
  SignalWitness witness;
  int report[2] = {-1, -1};
  int alive[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0 || ::pipe2(alive, O_CLOEXEC) != 0) {
    return witness;
  }
  const Fd report_write(report[1]);
  const Fd alive_read(alive[0]);
  Fd report_read(report[0]);
  Fd alive_write(alive[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    report_read.Close();
    alive_write.Close();
    Watch(report_write.get(), alive_read.get());
  }
  if (pid > 0) {
    witness.arrivals_ = std::move(report_read);
    witness.alive_ = std::move(alive_write);
    witness.pid_ = pid;
  }
  return witness;
}

void SignalWitness::Continue() const {
  siginfo_t info{};
  // Only while it is still our child: the number could mean another process.
  if (pid_ > 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &info,
                           WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
    ::kill(pid_, SIGCONT);
  }
}

void SignalWitness::End() {
  arrivals_.Close();
  alive_.Close();
  // Still ours, so the number means no other process. It may be stopped: nothing less would end it.
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::optional<SignalArrival> SignalWitness::Read() const {
  SignalArrival arrival;
  if (ReadSome(arrivals_.get(), {reinterpret_cast<char*>(&arrival), sizeof(arrival)}) !=
      static_cast<ssize_t>(sizeof(arrival))) {
    return std::nullopt;
  }
  return arrival;
}

}  // namespace whystop
