#include "supervise/front.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "supervise/process_identity.h"
#include "supervise/terminal_mirror.h"

namespace whystop {
namespace {

// A signal to a group reaches all its members within microseconds; a busy machine may take longer
// to run them.
constexpr std::chrono::milliseconds kDecideAfter{50};
constexpr std::chrono::milliseconds kRememberFor{250};
// How long the disk may take to swallow the last of the recording before the user gets the prompt
// back.
constexpr std::chrono::seconds kFinishPatience{10};

bool IsStop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

/// Signals about whystop's own doings, not for the job.
bool ConcernsOnlyUs(const SignalArrival& arrival) {
  switch (arrival.signal) {
    case SIGPIPE:
    case SIGURG:
    case SIGIO:
      return true;
    case SIGXCPU:
    case SIGXFSZ:
    case SIGALRM:
    case SIGVTALRM:
    case SIGPROF:
      return arrival.code == SI_KERNEL;
    default:
      return false;
  }
}

SignalSeen Describe(const SignalArrival& arrival) {
  SignalSeen seen;
  seen.signal = arrival.signal;
  seen.from_kernel = arrival.code == SI_KERNEL;
  if (arrival.sender > 0) {
    seen.sender_pid = arrival.sender;
    seen.sender_uid = arrival.sender_uid;
    const ProcessIdentity sender = LookAtProcess(arrival.sender);
    seen.sender_name = sender.name;
    seen.sender_command = sender.command;
  }
  return seen;
}

}  // namespace

Front::Front(RunParts& parts, Link to_keeper, pid_t keeper, SignalWitness witness, Ears ears)
    : parts_(parts),
      link_(std::move(to_keeper)),
      keeper_(keeper),
      witness_(std::move(witness)),
      signals_(std::move(ears.signals)),
      decide_(std::move(ears.decide)),
      patience_(std::move(ears.patience)) {
  for (Channel& channel : parts_.channels) {
    channel.job_end.Close();
  }
}

JobResult Front::Run() {
  loop_.Watch(signals_.get(), [this] { OnSignals(); });
  loop_.Watch(link_.fd(), [this] { OnKeeperMessages(); });
  if (witness_.arrivals() >= 0) {
    loop_.Watch(witness_.arrivals(), [this] { OnWitness(); });
  }
  loop_.Watch(decide_.fd(), [this] {
    decide_.Acknowledge();
    if (std::exchange(children_changed_, false)) {
      OnChildren();
    }
    DecidePending();
  });
  loop_.Watch(patience_.fd(), [this] { loop_.Stop(); });
  loop_.Run();
  witness_.End();
  if (parts_.state.stand_up_errno != 0) {
    ::waitpid(keeper_, nullptr, 0);  // We are about to become the job, which has no such child.
  }
  // What still waits came too late for the job and must not end us before its exit code is passed
  // on.
  while (ReadSignal(signals_.get())) {
  }
  return MakeResult();
}

void Front::OnSignals() {
  while (const auto arrival = ReadSignal(signals_.get())) {
    OnSignal(*arrival);
  }
}

void Front::OnSignal(const SignalArrival& arrival) {
  if (arrival.signal == SIGCHLD) {
    OnChildren();
    return;
  }
  if (ConcernsOnlyUs(arrival) || (arrival.signal == SIGCONT && arrival.sender == keeper_)) {
    return;
  }
  if (arrival.signal == SIGWINCH) {
    bool changed = false;
    for (const Channel& channel : parts_.channels) {
      changed = (channel.terminal && CopyWindowSize(channel.user.get(), channel.terminal.get())) ||
                changed;
    }
    if (changed) {
      Forward(SIGWINCH);  // The job may have looked at its terminal before we had changed it.
    }
    return;
  }
  const std::chrono::nanoseconds now = MonotonicNow();
  Pending pending{.arrival = arrival, .seen = Describe(arrival), .decide_at = now + kDecideAfter};
  const auto also =
      std::find_if(also_reached_.begin(), also_reached_.end(), [&](const Pending& other) {
        return other.arrival.signal == arrival.signal && other.arrival.sender == arrival.sender &&
               other.decide_at + kRememberFor > now;
      });
  if (also != also_reached_.end()) {
    also_reached_.erase(also);
    Report(std::move(pending.seen), false);
  } else {
    pending_.push_back(std::move(pending));
    decide_.SetOnce(kDecideAfter);
  }
  const bool ends_most =
      arrival.signal == SIGINT || arrival.signal == SIGTERM || arrival.signal == SIGHUP;
  if (end_is_reported_ && ends_most) {
    loop_.Stop();  // The job is over and only a slow reader holds us up; the keeper serves it to
                   // the end.
  }
}

void Front::OnWitness() {
  bool any = false;
  while (const auto arrival = witness_.Read()) {
    OnAlsoReached(*arrival);
    any = true;
  }
  if (!any) {
    loop_.Forget(witness_.arrivals());  // It was killed.
  }
}

void Front::OnAlsoReached(const SignalArrival& arrival) {
  const auto same = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.arrival.signal == arrival.signal && pending.arrival.sender == arrival.sender;
  });
  if (same != pending_.end()) {
    Report(std::move(same->seen), false);
    pending_.erase(same);
    return;
  }
  constexpr std::size_t kRememberedMax = 64;
  also_reached_.push_back({.arrival = arrival, .seen = {}, .decide_at = MonotonicNow()});
  if (also_reached_.size() > kRememberedMax) {
    also_reached_.pop_front();
  }
}

void Front::DecidePending() {
  if (!started_) {
    decide_.SetOnce(kDecideAfter);  // There is nobody yet to forward to.
    return;
  }
  const std::chrono::nanoseconds now = MonotonicNow();
  while (!pending_.empty() && pending_.front().decide_at <= now) {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    const bool to_group_only = witness_.arrivals() < 0 && pending.arrival.code == SI_KERNEL;
    Report(std::move(pending.seen), !to_group_only && Forward(pending.arrival.signal));
  }
  if (!pending_.empty()) {
    decide_.SetOnce(pending_.front().decide_at - now);
  }
}

void Front::Report(SignalSeen seen, bool forwarded) {
  seen.forwarded = forwarded;
  if (recorder_) {
    recorder_->Record(std::move(seen));
  } else {
    link_.Send(FromSignal(seen));
  }
}

/// The job is dead: what came before that goes on record, and there is nobody left to forward to.
void Front::ReportAll() {
  while (const auto arrival = ReadSignal(signals_.get())) {
    if (arrival->signal == SIGCHLD) {
      children_changed_ = true;  // Not here: the recorder itself may have called us.
      decide_.SetOnce({});
    } else {
      OnSignal(*arrival);
    }
  }
  for (Pending& pending : pending_) {
    Report(std::move(pending.seen), false);
  }
  pending_.clear();
  end_is_reported_ = true;
  if (recorder_) {
    recorder_->FrontReported();
  } else {
    link_.Send({.kind = LinkMessage::Kind::kReported});
  }
}

bool Front::Forward(int signal) const {
  if (signal == SIGCONT) {
    witness_.Continue();
  }
  if (job_) {
    return ::syscall(SYS_pidfd_send_signal, job_.get(), signal, nullptr, 0) == 0;
  }
  // Kernels before 5.3 have no pidfd.
  return started_ && !parts_.state.job_ended && ::kill(parts_.state.job, signal) == 0;
}

void Front::OnKeeperMessages() {
  LinkMessage message;
  for (;;) {
    switch (link_.Receive(message)) {
      case Link::Received::kMessage:
        OnMessage(message);
        break;
      case Link::Received::kNothing:
        return;
      case Link::Received::kPeerGone:
        loop_.Forget(link_.fd());  // Its SIGCHLD tells the rest.
        return;
    }
  }
}

void Front::OnMessage(const LinkMessage& message) {
  switch (message.kind) {
    case LinkMessage::Kind::kStarted:
      return OnStarted();
    case LinkMessage::Kind::kJobStopped:
      return StopWithJob(message.number);
    case LinkMessage::Kind::kChannelClosed:
      return CloseChannel(static_cast<std::size_t>(message.number));
    case LinkMessage::Kind::kFullScreen:
      return OnFullScreen(message.number != 0);
    case LinkMessage::Kind::kReachedKeeper:
      return OnAlsoReached({.signal = message.number, .sender = message.sender_pid});
    case LinkMessage::Kind::kDrained:
      return patience_.SetOnce(kFinishPatience);
    case LinkMessage::Kind::kFinished:
      if (!recorder_) {
        loop_.Stop();
      }
      return;
    case LinkMessage::Kind::kJobEnded:
      return ReportAll();
    case LinkMessage::Kind::kJobContinued:
    case LinkMessage::Kind::kReported:
    case LinkMessage::Kind::kSignal:
      return;
  }
}

void Front::OnStarted() {
  if (parts_.state.exec_errno != 0 || parts_.state.stand_up_errno != 0) {
    loop_.Stop();
    return;
  }
  started_ = true;
  ReplaceByNull(0);  // The job alone reads it; who writes to it must see when the job closes it.
  // By number: glibc 2.36 declares these two calls unusably for C++.
  job_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, parts_.state.job.load(), 0)));
  if (parts_.state.job_reaped) {
    job_.Close();  // Too late: the number may already mean another process.
  }
}

/// The user's shell waits for us: it must see us stop when the job stops, by the same signal.
void Front::StopWithJob(int signal) {
  OnSignals();
  // After a stop of the whole group somebody may have continued us alone: then the job goes on too.
  const bool continued = std::any_of(pending_.begin(), pending_.end(), [](const Pending& pending) {
    return pending.arrival.signal == SIGCONT;
  });
  if (!parts_.state.job_stopped || continued) {
    return;
  }
  parts_.state.front_stopped = true;
  if (IsStop(signal)) {
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);  // Stops here, until SIGCONT.
    ::sigprocmask(SIG_BLOCK, &one, nullptr);
  } else {
    ::kill(::getpid(), SIGSTOP);
  }
  parts_.state.front_stopped = false;
}

void Front::OnFullScreen(bool full_screen) {
  if (keys_) {
    loop_.Forget(keys_->fd());
    keys_.reset();
  }
  for (const Channel& channel : parts_.channels) {
    if (full_screen && channel.terminal && KeyPump::IsNeeded(channel.terminal.get())) {
      keys_.emplace(channel.terminal.get());
      if (keys_->fd() < 0) {
        return;  // No controlling terminal, so no keys either.
      }
      loop_.Watch(keys_->fd(), [this] {
        if (!keys_->Pump()) {
          loop_.Forget(keys_->fd());
        }
      });
      return;
    }
  }
}

void Front::CloseChannel(std::size_t index) {
  Channel& channel = parts_.channels.at(index);
  if (channel.terminal) {
    OnFullScreen(false);
  }
  channel.Close();
  if (channel.carries[1] && !channel.carries[2]) {
    ReplaceByNull(1);  // Who reads the job's stdout must see its end now, not when we end.
  }
}

void Front::OnChildren() {
  int status = 0;
  if (!recorder_ && ::waitpid(keeper_, &status, WNOHANG) == keeper_) {
    OnKeeperMessages();  // Its last words may still wait.
    if (!parts_.state.end_recorded && parts_.state.exec_errno == 0 &&
        parts_.state.stand_up_errno == 0) {
      TakeOver(status);
    } else {
      loop_.Stop();
    }
  } else if (recorder_) {
    recorder_->ChildrenChanged();
  } else {
    ReapStrangers();
  }
}

/// As process 1 of a container we inherit orphans of others. Not the job: if the keeper was killed
/// that has come to us too, and the recorder must see how it ended.
void Front::ReapStrangers() const {
  siginfo_t info{};
  const auto is_stranger = [&] {
    const auto& known = parts_.other_children;
    return info.si_pid != 0 && info.si_pid != keeper_ && info.si_pid != parts_.state.job &&
           std::find(known.begin(), known.end(), info.si_pid) == known.end();
  };
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && is_stranger() &&
         ::waitpid(info.si_pid, nullptr, WNOHANG) == info.si_pid) {
    info = {};
  }
}

void Front::TakeOver(int keeper_status) {
  if (parts_.state.job == 0) {
    loop_.Stop();  // It died before there was a job.
    return;
  }
  if (!started_) {
    OnStarted();
  }
  // What it had passed on and not looked at is gone with it; should nothing come behind that, a blank line does no harm.
  parts_.state.stderr_line_open = true;
  recorder_ = std::make_unique<Recorder>(
      Recorder::Parts{.loop = loop_,
                      .state = parts_.state,
                      .channels = parts_.channels,
                      .writer = parts_.writer,
                      .sweeps = parts_.sweeps,
                      .ring_directory = parts_.ring_directory,
                      .origin = parts_.origin,
                      .tick = parts_.tick,
                      .tell = [this](const LinkMessage& message) { OnMessage(message); }});
  recorder_->Begin(parts_.start);
  const std::string how = WIFSIGNALED(keeper_status)
                              ? "was killed by signal " + std::to_string(WTERMSIG(keeper_status))
                              : "ended early";
  recorder_->Record(RecorderNote{"the keeper " + how + "; the front took over"});
}

JobResult Front::MakeResult() const {
  JobResult result;
  const RunState& state = parts_.state;
  result.stderr_line_open = state.stderr_line_open;
  if (state.stand_up_errno != 0) {
    result.cannot_watch = SystemError("cannot start a process", state.stand_up_errno).what;
  } else if (state.exec_errno != 0) {
    const StartFault fault = DescribeStartFault(parts_.plan.command.front(), state.exec_errno);
    result.exit_code = fault.exit_code;
    result.fault = fault.what;
  } else if (state.job_ended) {
    result.end = ChildEnd::FromWaitStatus(state.job_status);
    result.exit_code = result.end->ShellCode();
  } else {
    // Not tried again: it may have come so far that the job runs.
    result.fault = "whystop's keeper process was killed before it could start the job";
  }
  return result;
}

}  // namespace whystop
