#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "model/event.h"

namespace whystop {

/// What front and keeper tell each other; sent whole or not at all.
struct LinkMessage {
  enum class Kind : std::int32_t {
    kStarted,     // To the front: RunState says how the start went.
    kJobStopped,  // number: the signal.
    kJobContinued,
    kJobEnded,       // RunState has the status.
    kChannelClosed,  // number: its index.
    kFullScreen,     // number: 1, a program changed its terminal's modes; 0, it restored them.
    kReachedKeeper,  // number: a signal that the keeper got as well, from sender_pid.
    kDrained,        // All output of the job is at the user's.
    kFinished,       // The recording is complete.
    kReported,  // To the keeper, after kJobEnded: all signals that reached the front are reported.
    kSignal,    // To the keeper: a signal that reached the front, for the record.
  };
  Kind kind{};
  std::int32_t number = 0;
  std::int32_t sender_pid = 0;
  std::int32_t sender_uid = 0;
  bool from_kernel = false;
  bool forwarded = false;
  char sender_name[32] = {};
  char sender_command[512] = {};
};

LinkMessage FromSignal(const SignalSeen& seen);
SignalSeen ToSignal(const LinkMessage& message);

/// One end of the connection between front and keeper. Sending never waits: a peer that is stopped
/// or dead loses messages, and what it must know stands in RunState as well.
class Link {
 public:
  static Result<std::pair<Link, Link>> MakePair();
  int fd() const { return fd_.get(); }
  void Send(const LinkMessage& message) const;
  enum class Received { kMessage, kNothing, kPeerGone };
  Received Receive(LinkMessage& message) const;
  void Close() { fd_.Close(); }

 private:
  explicit Link(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace whystop
