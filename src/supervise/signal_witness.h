#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/fd.h"

namespace whystop {

/// Name of the witness process.
inline constexpr std::string_view kWitnessName = "wswitness";

/// What the kernel said about one signal that reached one of our processes.
struct SignalArrival {
  int signal = 0;
  int code = 0;
  pid_t sender = 0;
  uid_t sender_uid = 0;
};

/// signalfd(2) over every signal that can be blocked. They must be blocked.
Fd OpenSignalFd();
std::optional<SignalArrival> ReadSignal(int signal_fd);

/// A process of ours in the front's process group which does nothing but report the signals it
/// gets. What reached it as well as the front was sent to the group, so the job has it already and
/// must not get it twice.
class SignalWitness {
 public:
  /// Forks. Without it (out of processes), arrivals() is -1.
  static SignalWitness Start();
  int arrivals() const { return arrivals_.get(); }
  std::optional<SignalArrival> Read() const;
  /// It may have been stopped with the group.
  void Continue() const;
  /// In the process that forked it: ends it, at once and in any case.
  void End();
  /// In a child of that process: lets go of it.
  void Close() {
    arrivals_.Close();
    alive_.Close();
    pid_ = -1;
  }

 private:
  Fd arrivals_;
  Fd alive_;  // The witness ends when the last copy of this is closed.
  pid_t pid_ = -1;
};

}  // namespace whystop
