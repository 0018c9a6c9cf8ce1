#include "supervise/signal_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "supervise/process_name.h"

namespace whystop {
namespace {

constexpr int kReportFd = 3;
constexpr int kAliveFd = 4;

/// Everything but the two pipes is closed: a witness must not keep the user's pipes open.
[[noreturn]] void Watch(int report, int alive) {
  RenameThisProcess(kWitnessName);
  const int high_report = ::fcntl(report, F_DUPFD, 10);
  const int high_alive = ::fcntl(alive, F_DUPFD, 10);
  ::dup2(high_report, kReportFd);
  ::dup2(high_alive, kAliveFd);
  ::close_range(0, 2, 0);
  ::close_range(kAliveFd + 1, ~0U, 0);
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
    Watch(report_write.get(), alive_read.get());
  }
  if (pid > 0) {
    witness.arrivals_ = std::move(report_read);
    witness.alive_ = std::move(alive_write);
    witness.pid_ = pid;
  }
  return witness;
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
