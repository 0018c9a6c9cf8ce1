#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "supervise/event_loop.h"
#include "supervise/keeper.h"
#include "supervise/key_pump.h"
#include "supervise/recorder.h"
#include "supervise/signal_witness.h"
#include "supervise/supervise.h"

namespace whystop {

/// The process that the user started, once the keeper runs. It passes on signals, stops and goes on
/// with the job, and waits for its end. If the keeper is killed it becomes the recorder itself.
class Front {
 public:
  /// The descriptors without which it would neither hear of a signal nor of its child's end.
  struct Ears {
    Fd signals = OpenSignalFd();
    Timer decide;
    Timer patience;
    explicit operator bool() const {
      return static_cast<bool>(signals) && decide.fd() >= 0 && patience.fd() >= 0;
    }
  };

  Front(RunParts& parts, Link to_keeper, pid_t keeper, SignalWitness witness, Ears ears);
  JobResult Run();

 private:
  /// A signal whose addressee is not yet known: us alone, or our whole group and so the job too.
  struct Pending {
    SignalArrival arrival;
    SignalSeen seen;
    std::chrono::nanoseconds decide_at{};
  };

  void OnSignals();
  void OnSignal(const SignalArrival& arrival);
  void OnChildren();
  void ReapStrangers() const;
  void OnKeeperMessages();
  void OnMessage(const LinkMessage& message);
  void OnStarted();
  void OnWitness();
  void OnAlsoReached(const SignalArrival& arrival);
  void DecidePending();
  void Report(SignalSeen seen, bool forwarded);
  void ReportAll();
  bool Forward(int signal) const;
  void StopWithJob(int signal);
  void OnFullScreen(bool full_screen);
  void CloseChannel(std::size_t index);
  void TakeOver(int keeper_status);
  JobResult MakeResult() const;

  RunParts& parts_;
  Link link_;
  pid_t keeper_;
  SignalWitness witness_;
  Fd signals_;
  Timer decide_;
  Timer patience_;
  Fd job_;  // pidfd; a pid alone could come to mean another process.
  EventLoop loop_;
  std::deque<Pending> pending_;
  std::deque<Pending>
      also_reached_;  // What the witnesses saw and we have not yet; only `arrival` and time.
  std::optional<KeyPump> keys_;
  std::unique_ptr<Recorder> recorder_;  // After taking over.
  bool started_ = false;
  bool children_changed_ = false;
  bool end_is_reported_ = false;
};

}  // namespace whystop
