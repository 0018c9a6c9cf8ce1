#include "supervise/recorder.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "supervise/process_identity.h"
#include "supervise/terminal_mirror.h"

namespace whystop {
namespace {

// A job that starts thousands of short children must not fill the recording with them.
constexpr int kProcessEndsPerTick = 64;
constexpr int kReapsPerRound = 512;
constexpr std::size_t kReadBytes = 256 << 10;
constexpr int kReadsPerRound = 16;
constexpr std::int64_t kFollowBytesMax = 32 << 20;
// A signal that killed the job reached the front as well; its report may be behind the death. A
// front that is stopped or starved is not waited for much longer.
constexpr std::chrono::milliseconds kFrontPatience{500};
// Nor is a reader that leaves the last of the output in its pipe: that pipe has room for few small pieces
// where the job's own writes would have shared a page, and whoever waits for our end before reading would wait for ever.
constexpr std::chrono::seconds kReaderPatience{3};

// The two clocks are read one after the other; less than this is the time between the two readings.
constexpr std::chrono::milliseconds kSleepMin{10};
constexpr std::chrono::milliseconds kTieEvery{950};

int WaitStatus(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) {
    return (info.si_status & 0xff) << 8;
  }
  constexpr int kCoreFlag = 0x80;
  return info.si_code == CLD_DUMPED ? info.si_status | kCoreFlag : info.si_status;
}

std::int64_t Milliseconds(const timeval& time) { return time.tv_sec * 1000 + time.tv_usec / 1000; }

}  // namespace

RunTime Recorder::Now() const { return MonotonicNow() - parts_.origin; }

void Recorder::Record(EventBody body) {
  if (!finished_) {
    parts_.writer.Append({.at = Now(), .body = std::move(body)});
  }
}

void Recorder::Begin(const RunStart& start) {
  buffer_.resize(kReadBytes);
  parts_.writer.Start();
  if (!parts_.state.start_recorded) {
    RecordStart(start);
    parts_.state.start_recorded = true;
  }
  const ClockReading clocks = ReadClocks();
  asleep_ = clocks.boottime - clocks.monotonic;
  outputs_.resize(parts_.channels.size());
  for (std::size_t i = 0; i < parts_.channels.size(); ++i) {
    OpenOutput(i);
  }
  parts_.loop.Watch(timer_.fd(), [this] {
    timer_.Acknowledge();
    Tick();
  });
  parts_.loop.Watch(front_patience_.fd(), [this] {
    front_patience_.Acknowledge();
    FrontReported();
  });
  parts_.loop.Watch(reader_patience_.fd(), [this] {
    reader_patience_.Acknowledge();
    LeaveTheRestToTheReader();
  });
  parts_.loop.Watch(reap_again_.fd(), [this] {
    reap_again_.Acknowledge();
    ChildrenChanged();
  });
  parts_.loop.Watch(next_ration_.fd(), [this] {
    next_ration_.Acknowledge();
    ServeRations();
  });
  if (!parts_.ring_directory.empty()) {
    rings_ = std::make_unique<RingCollector>(parts_.ring_directory, parts_.state);
    parts_.loop.Watch(ring_timer_.fd(), [this] {
      ring_timer_.Acknowledge();
      CollectRings();
    });
    ring_timer_.SetOnce(parts_.tick);
  }
  timer_.SetOnce({});  // The counters at the start are what later ones are compared with.
  if (parts_.state.job_reaped) {
    OnJobDead();
  }
  ChildrenChanged();
}

void Recorder::RecordStart(const RunStart& start) {
  RunStart complete = start;
  complete.pid = parts_.state.job;
  for (const Channel& channel : parts_.channels) {
    complete.terminal = complete.terminal || channel.kind == Channel::Kind::kTerminal;
  }
  Record(std::move(complete));
  if (parts_.sweeps != nullptr) {
    return;  // The sensors announce every process, this one included.
  }
  ProcessStart job{.pid = parts_.state.job, .parent_pid = ::getpid(), .name = {}, .command = {}};
  const ProcessIdentity facts = LookAtProcess(parts_.state.job);
  job.name = facts.name;
  job.command = facts.command;
  Record(std::move(job));
}

void Recorder::OpenOutput(std::size_t index) {
  Channel& channel = parts_.channels[index];
  Output& output = outputs_[index];
  if (channel.kind == Channel::Kind::kFile) {
    output.follower = std::make_unique<FileFollower>(channel.file.get(), channel.user.get(),
                                                     parts_.state.followed_to.at(index));
    return;
  }
  if (!channel.open()) {
    return;
  }
  if (channel.terminal) {
    if (!channel.job_end && !parts_.state.job_ended) {
      // Held open until the job ends: a job may close its terminal and open it again.
      channel.job_end =
          Fd(::ioctl(channel.terminal.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    }
  }
  auto relay = Relay::Start(channel);
  if (!relay) {
    return OpenPlainly(index, relay.error().what);
  }
  output.relay = std::move(*relay);
  undrained_.insert(index);
  WatchTap(index);
  parts_.loop.Watch(output.relay->notices(), [this, index] { OnNotice(index); });
}

void Recorder::RecordOutput(std::size_t index, std::string_view bytes) {
  const Channel& channel = parts_.channels[index];
  if (channel.carries[2] && !bytes.empty()) {
    parts_.state.stderr_line_open = bytes.back() != '\n';
  }
  if (!finished_) {
    parts_.writer.AppendLog(Now(), channel.stream, bytes);
  }
}

void Recorder::OpenPlainly(std::size_t index, const std::string& reason) {
  Record(RecorderNote{"output is copied by hand: " + reason});
  Output& output = outputs_[index];
  output.plain = std::make_unique<PlainRelay>(parts_.channels[index]);
  undrained_.insert(index);
  parts_.loop.Watch(output.plain->source(), [this, index] { MovePlainly(index, false); });
}

void Recorder::MovePlainly(std::size_t index, bool to_the_end) {
  const auto record = [this, index](std::string_view bytes) { RecordOutput(index, bytes); };
  PlainRelay::Moved moved = PlainRelay::Moved::kSome;
  for (int moves = 0;
       moved == PlainRelay::Moved::kSome && (to_the_end || moves < kReadsPerRound); ++moves) {
    moved = outputs_[index].plain->Move(buffer_, record);
  }
  const bool closed =
      moved == PlainRelay::Moved::kJobClosed || moved == PlainRelay::Moved::kReaderGone;
  if (closed || to_the_end) {
    undrained_.erase(index);
  }
  if (closed) {
    CloseOutput(index, moved == PlainRelay::Moved::kReaderGone);
    FinishIfDrained();
    StopIfNothingIsLeft();
  }
}

void Recorder::WatchTap(std::size_t index) {
  parts_.loop.Watch(outputs_[index].relay->tap(), [this, index] { DrainTap(index, false); });
}

/// Until its next ration the tap keeps the newest of the torrent only.
void Recorder::RestTap(std::size_t index) {
  outputs_[index].relay->ThinTap(true);
  parts_.loop.Forget(outputs_[index].relay->tap());
  next_ration_.SetOnce(LogRation::kPause);
}

void Recorder::ServeRations() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].relay && outputs_[i].ration.used_up()) {
      outputs_[i].ration.Refill(MonotonicNow());
      outputs_[i].relay->ThinTap(false);
      WatchTap(i);
    }
  }
}

void Recorder::DrainTap(std::size_t index, bool to_the_end) {
  Output& output = outputs_[index];
  output.ration.Refill(MonotonicNow());
  for (int reads = 0; to_the_end || reads < kReadsPerRound; ++reads) {
    std::int64_t skipped = 0;
    const ssize_t size = output.relay->ReadTap(buffer_, skipped);
    if (skipped > 0 && !finished_) {
      parts_.writer.SkipLog(parts_.channels[index].stream, skipped);
    }
    if (size <= 0) {
      break;
    }
    RecordOutput(index, {buffer_.data(), static_cast<std::size_t>(size)});
    output.ration.Take(size);
    if (output.ration.used_up() && output.relay->can_thin() && !to_the_end) {
      return RestTap(index);
    }
  }
  if (to_the_end && parts_.channels[index].carries[2] && output.relay->unrecorded_bytes() > 0) {
    parts_.state.stderr_line_open = true;  // Nobody saw how they ended: a blank line does no harm.
  }
}

void Recorder::OnNotice(std::size_t index) {
  char notice = 0;
  if (ReadSome(outputs_[index].relay->notices(), {&notice, 1}) != 1) {
    return;
  }
  if (notice == Relay::kFullScreen || notice == Relay::kLineByLine) {
    parts_.tell(
        {.kind = LinkMessage::Kind::kFullScreen, .number = notice == Relay::kFullScreen ? 1 : 0});
    return;
  }
  undrained_.erase(index);
  if (notice != Relay::kDrained) {
    CloseOutput(index, notice == Relay::kReaderGone);
  }
  FinishIfDrained();
  StopIfNothingIsLeft();
}

void Recorder::CloseOutput(std::size_t index, bool reader_gone) {
  Output& output = outputs_[index];
  if (output.relay) {
    parts_.loop.Forget(output.relay->tap());
    parts_.loop.Forget(output.relay->notices());
    DrainTap(index, true);
    if (output.relay->unrecorded_bytes() > 0) {
      Record(Drop{.counter = "supervise.output_bytes_unrecorded",
                  .count = output.relay->unrecorded_bytes()});
    }
  } else {
    parts_.loop.Forget(output.plain->source());
  }
  if (reader_gone) {
    const bool is_stderr = parts_.channels[index].stream == LogStream::kStderr;
    Record(RecorderNote{std::string("the reader of the job's ") +
                        (is_stderr ? "stderr" : "stdout") + " went away"});
  }
  output.relay.reset();
  output.plain.reset();
  parts_.channels[index].Close();
  parts_.tell(
      {.kind = LinkMessage::Kind::kChannelClosed, .number = static_cast<std::int32_t>(index)});
}

void Recorder::Follow(std::size_t index) {
  FileFollower& follower = *outputs_[index].follower;
  const std::int64_t skipped_before = follower.skipped_bytes();
  follower.Follow(kFollowBytesMax, [this, index](std::string_view piece) {
    RecordOutput(index, piece);
  });
  if (follower.skipped_bytes() > skipped_before) {
    Record(Drop{.counter = "supervise.output_bytes_unrecorded",
                .count = follower.skipped_bytes() - skipped_before});
  }
}

void Recorder::TieClocks() {
  const ClockReading clocks = ReadClocks();
  const std::chrono::nanoseconds asleep = clocks.boottime - clocks.monotonic;
  const bool slept = asleep - asleep_ > kSleepMin;
  if (!slept && clocks.monotonic - tied_ < kTieEvery) {
    return;  // The sensors may come more often than this is worth.
  }
  tied_ = clocks.monotonic;
  Record(ClockTie{.wall = clocks.wall,
                  .suspended = slept ? asleep - asleep_ : std::chrono::nanoseconds(0)});
  asleep_ = slept ? asleep : asleep_;
}

void Recorder::Sweep() {
  if (parts_.sweeps == nullptr) {
    return;
  }
  swept_.clear();
  parts_.sweeps->Sweep(Now(), parts_.state.job, swept_);
  for (const Event& event : swept_) {
    parts_.writer.Append(event);
  }
}

void Recorder::CollectRings() {
  if (rings_ && !finished_) {
    rings_->Collect(Now(), parts_.writer);
    ring_timer_.SetOnce(rings_->NextInterval());
  }
}

void Recorder::Tick() {
  if (finished_) {
    return;
  }
  TieClocks();
  Sweep();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].follower) {
      Follow(i);
    }
    const Channel& channel = parts_.channels[i];
    if (channel.terminal) {
      CopyWindowSize(channel.user.get(),
                     channel.terminal.get());  // The front is faster, but may be dead.
    }
  }
  if (ends_unrecorded_ > 0) {
    Record(Drop{.counter = "supervise.process_ends_unrecorded", .count = ends_unrecorded_});
  }
  ends_unrecorded_ = 0;
  ends_recorded_this_tick_ = 0;
  if (parts_.state.front_stopped && !parts_.state.job_stopped) {
    parts_.tell({.kind = LinkMessage::Kind::kJobContinued});
  }
  timer_.SetOnce(parts_.sweeps != nullptr ? parts_.sweeps->NextInterval() : parts_.tick);
}

void Recorder::CheckStops() {
  siginfo_t info{};
  while (!parts_.state.job_reaped &&
         ::waitid(P_PID, static_cast<id_t>(parts_.state.job.load()), &info,
                  WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
         info.si_pid != 0) {
    const bool stopped = info.si_code == CLD_STOPPED;
    parts_.state.job_stopped = stopped;
    parts_.tell(
        {.kind = stopped ? LinkMessage::Kind::kJobStopped : LinkMessage::Kind::kJobContinued,
         .number = info.si_status});
    info = {};
  }
}

void Recorder::ChildrenChanged() {
  CheckStops();
  int reaped = 0;
  while (reaped < kReapsPerRound && ReapOne()) {
    ++reaped;
  }
  if (reaped == kReapsPerRound) {
    reap_again_.SetOnce({});  // More are waiting, and SIGCHLD may not come again for them.
  }
}

/// Looks at the dead process before it is reaped, so that its status is never known only to a
/// process that may be killed: until then it would pass to the front.
bool Recorder::ReapOne() {
  siginfo_t info{};
  if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return false;
  }
  const pid_t pid = info.si_pid;
  const bool is_job = pid == parts_.state.job;
  const bool is_recorded = !finished_ && (is_job || ends_recorded_this_tick_ < kProcessEndsPerTick);
  ProcessEnd end{.pid = pid,
                 .parent_pid = ::getpid(),
                 .name = {},
                 .end = {},
                 .rss_bytes_max = {},
                 .cpu_ms = {}};
  end.is_job = is_job;
  if (is_recorded) {
    end.name = LookAtProcess(pid).name;
  }
  if (is_job) {
    parts_.state.job_status = WaitStatus(info);
    parts_.state.job_ended = true;
    parts_.state.job_stopped = false;
    Sweep();
    parts_.state.job_reaped = true;
  }
  int status = 0;
  rusage usage{};
  if (::wait4(pid, &status, WNOHANG, &usage) != pid) {
    return false;
  }
  if (parts_.sweeps != nullptr) {
    parts_.sweeps->Reaped(pid);
  }
  if (is_recorded) {
    ++ends_recorded_this_tick_;
    end.end = ChildEnd::FromWaitStatus(status);
    end.rss_bytes_max = usage.ru_maxrss * 1024;
    end.cpu_ms = Milliseconds(usage.ru_utime) + Milliseconds(usage.ru_stime);
    Record(std::move(end));
  } else if (!finished_) {
    ++ends_unrecorded_;
  }
  if (is_job) {
    OnJobDead();
  }
  return true;
}

void Recorder::OnJobDead() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].relay) {
      parts_.channels[i].job_end.Close();
      outputs_[i].relay->NotifyJobEnded();
    } else if (outputs_[i].plain) {
      parts_.channels[i].job_end.Close();
      MovePlainly(i, true);
    }
  }
  front_patience_.SetOnce(kFrontPatience);
  reader_patience_.SetOnce(kReaderPatience);
  parts_.tell({.kind = LinkMessage::Kind::kJobEnded});
}

void Recorder::FrontReported() {
  front_reported_ = true;
  FinishIfDrained();
}

/// The run is over for the record; the relays go on until the reader has all of it.
void Recorder::LeaveTheRestToTheReader() {
  if (!undrained_.empty()) {
    Record(RecorderNote{"the reader of the job's output has not taken all of it; its last bytes may be missing here"});
    undrained_.clear();
    FinishIfDrained();
  }
}

void Recorder::FinishIfDrained() {
  if (!finished_ && parts_.state.job_ended && parts_.state.job_reaped && undrained_.empty() &&
      front_reported_) {
    parts_.tell({.kind = LinkMessage::Kind::kDrained});
    Finish();
    StopIfNothingIsLeft();
  }
}

void Recorder::Finish() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].follower) {
      Follow(i);
      outputs_[i].follower.reset();
      parts_.channels[i].Close();
    } else if (outputs_[i].relay) {
      DrainTap(i, true);
    }
  }
  if (ends_unrecorded_ > 0) {
    Record(Drop{.counter = "supervise.process_ends_unrecorded", .count = ends_unrecorded_});
  }
  CollectRings();
  TieClocks();
  Record(RunEnd{.end = ChildEnd::FromWaitStatus(parts_.state.job_status), .duration = Now()});
  finished_ = true;
  parts_.writer.Finish();
  if (rings_) {
    rings_->RemoveAll(parts_.writer);
  }
  parts_.state.end_recorded = true;
  parts_.loop.Forget(timer_.fd());
  parts_.loop.Forget(front_patience_.fd());
  parts_.loop.Forget(reader_patience_.fd());
  parts_.loop.Forget(ring_timer_.fd());
  parts_.tell({.kind = LinkMessage::Kind::kFinished});
}

/// After the end a daemon of the job may still hold its output: somebody must go on relaying it.
void Recorder::StopIfNothingIsLeft() {
  for (const Output& output : outputs_) {
    if (output.relay || output.plain) {
      return;
    }
  }
  if (finished_) {
    parts_.loop.Stop();
  }
}

}  // namespace whystop
