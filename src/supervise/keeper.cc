#include "supervise/keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "supervise/process_name.h"
#include "supervise/recorder.h"
#include "supervise/signal_witness.h"

namespace whystop {
namespace {

class Keeper {
 public:
  Keeper(RunParts& parts, const Link& to_front)
      : parts_(parts),
        link_(to_front),
        front_(::getppid()),
        signals_(OpenSignalFd()),
        recorder_({.loop = loop_,
                   .state = parts.state,
                   .channels = parts.channels,
                   .writer = parts.writer,
                   .sweeps = parts.sweeps,
                   .ring_directory = parts.ring_directory,
                   .origin = parts.origin,
                   .tick = parts.tick,
                   .tell = [this](const LinkMessage& message) { Tell(message); }}) {}

  /// Whether it would hear of the job's end.
  bool able() const { return static_cast<bool>(signals_) && recorder_.able(); }

  void Run() {
    loop_.Watch(signals_.get(), [this] { OnSignals(); });
    loop_.Watch(link_.fd(), [this] { OnFront(); });
    recorder_.Begin(parts_.start);
    loop_.Run();
  }

 private:
  void Tell(const LinkMessage& message) {
    if (!front_is_alive_ && message.kind == LinkMessage::Kind::kJobEnded) {
      recorder_.FrontReported();
      return;
    }
    link_.Send(message);
    const bool front_must_wake = message.kind == LinkMessage::Kind::kJobContinued ||
                                 message.kind == LinkMessage::Kind::kJobEnded;
    // Our parent is the front or, once that is dead, somebody whom this does not concern.
    if (front_must_wake && parts_.state.front_stopped && ::getppid() == front_) {
      ::kill(front_, SIGCONT);
    }
  }

  void OnSignals() {
    bool children_changed = false;
    while (const auto arrival = ReadSignal(signals_.get())) {
      if (arrival->signal == SIGCHLD) {
        children_changed = true;
      } else {
        link_.Send({.kind = LinkMessage::Kind::kReachedKeeper,
                    .number = arrival->signal,
                    .sender_pid = arrival->sender});
      }
    }
    if (children_changed) {
      recorder_.ChildrenChanged();
    }
  }

  void OnFront() {
    LinkMessage message;
    for (;;) {
      switch (link_.Receive(message)) {
        case Link::Received::kMessage:
          if (message.kind == LinkMessage::Kind::kReported) {
            recorder_.FrontReported();
          } else {
            recorder_.Record(ToSignal(message));
          }
          break;
        case Link::Received::kNothing:
          return;
        case Link::Received::kPeerGone:
          loop_.Forget(link_.fd());
          recorder_.Record(RecorderNote{"the front (whystop run) died; the keeper goes on"});
          front_is_alive_ = false;
          if (parts_.state.job_ended) {
            recorder_.FrontReported();
          }
          return;
      }
    }
  }

  RunParts& parts_;
  const Link& link_;
  pid_t front_;
  bool front_is_alive_ = true;
  Fd signals_;
  EventLoop loop_;
  Recorder recorder_;
};

/// Made before there is a job, so that nothing can be refused any more that its end depends on. nullptr: refused.
std::unique_ptr<Keeper> MakeKeeper(RunParts& parts, const Link& to_front) {
  try {
    auto keeper = std::make_unique<Keeper>(parts, to_front);
    if (keeper->able()) {
      return keeper;
    }
    parts.state.stand_up_errno = errno;
  } catch (...) {
    parts.state.stand_up_errno = ENOMEM;
  }
  return nullptr;
}

/// The recording of a run that never was.
void RecordStartFault(RunParts& parts) {
  const StartFault fault = DescribeStartFault(parts.plan.command.front(), parts.state.exec_errno);
  parts.writer.Start();
  parts.writer.Append({.at = {}, .body = parts.start});
  parts.writer.Append({.at = {}, .body = RecorderNote{"could not start: " + fault.what}});
  parts.writer.Append({.at = {}, .body = RunEnd{}});
  parts.writer.Finish();
}

}  // namespace

void ReplaceByNull(int number) {
  auto null = OpenFd("/dev/null", O_RDWR);
  if (null && ::dup2(null->get(), number) >= 0) {
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
  } else if (!null) {
    ::close(number);  // Whoever reads or writes at the other end must see that we do not.
  }
}

void RunKeeper(RunParts& parts, const Link& to_front) {
  RenameThisProcess("wskeeper");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::unique_ptr<Keeper> keeper = MakeKeeper(parts, to_front);
  if (keeper) {
    StartJob(parts.plan, parts.channels, parts.state);
  }
  // Only now: the job belongs to the front's session and process group, the keeper to neither.
  ::setsid();
  for (const int number : {0, 1, 2}) {
    ReplaceByNull(number);
  }
  for (Channel& channel : parts.channels) {
    if (!channel.terminal) {
      channel.job_end.Close();
    }
  }
  if (parts.state.stand_up_errno != 0) {
    to_front.Send({.kind = LinkMessage::Kind::kStarted});
    ::_exit(0);
  }
  if (parts.state.exec_errno != 0) {
    RecordStartFault(parts);
    to_front.Send({.kind = LinkMessage::Kind::kStarted});
    ::_exit(0);
  }
  to_front.Send({.kind = LinkMessage::Kind::kStarted});
  try {
    keeper->Run();
  } catch (...) {  // Out of memory, most likely: the front takes over, as after a SIGKILL.
    ::_exit(2);
  }
  ::_exit(0);
}

}  // namespace whystop
