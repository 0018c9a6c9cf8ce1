#include "watch/watcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/human.h"
#include "base/tfrecord.h"
#include "base/wait_for.h"
#include "record/frame_file.h"
#include "record/recording_folder.h"
#include "record/recording_reader.h"
#include "watch/hang_decision.h"
#include "watch/middle_file.h"
#include "watch/progress_watch.h"
#include "watch/rank_watch.h"

namespace whystop {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr int kLooks = 3;
constexpr nanoseconds kPauseMax = seconds(5);       // Between two looks...
constexpr nanoseconds kPauseMin = milliseconds(300);
constexpr nanoseconds kPollMax = seconds(1);        // ...and between two readings of the recording.
constexpr nanoseconds kPollMin = milliseconds(100);
constexpr nanoseconds kGrace = seconds(10);         // From SIGTERM to SIGKILL.
constexpr nanoseconds kStartPatience = seconds(30);  // For the recording to begin.
// SIGRTMIN of Python and C library are the same; the probe says why it is this one.
constexpr int kStackSignalOffset = 7;

/// About what a record takes in its file.
std::int64_t BytesOf(const Record& record) {
  constexpr std::size_t kSmall = 64;
  const auto* probe = std::get_if<ProbeSlots>(&record.body);
  return static_cast<std::int64_t>(kSmall + (probe != nullptr ? probe->slots.size() : 0));
}

class Watcher {
 public:
  Watcher(const WatchOptions& options, RecordingReader reader, FrameFile file)
      : options_(options),
        reader_(std::move(reader)),
        file_(std::move(file)),
        progress_(options.hang_after),
        // Room for the new file beside the old one while it is written anew.
        middle_(options.directory, options.middle_bytes * 3 / 5),
        began_(MonotonicNow()) {}

  int Run() {
    while (!Over()) {
      const SilenceLimit limit = progress_.Limit();
      const nanoseconds silence = progress_.Silence(Now());
      if (hung_) {
        NoticeMoving();
      } else if (silence > limit.waiting && silence > look_again_after_) {
        if (const int status = Look(limit); status != 0) {
          return status;
        }
      }
      LookAtRanks();
      Wait(late_bytes_read_ > options_.late_bytes / 16 ? kPollMin : PollPause(limit));
    }
    TellOfRanks(/*at_the_end=*/true);
    middle_.Finish();
    return 0;
  }

 private:
  RunTime Now() const {
    const auto offset = progress_.wall_offset();
    return offset ? ReadClocks().wall + *offset : RunTime{};
  }

  /// Until the time is over or the job is, whichever comes first: whoever started the run waits for our end.
  void Wait(nanoseconds time) {
    if (!job_ && progress_.job_pid() != 0) {
      job_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, progress_.job_pid(), 0)));
    }
    const auto wait_ms = static_cast<int>(std::chrono::duration_cast<milliseconds>(time).count());
    job_died_ = WaitFor(job_.get(), POLLIN, wait_ms) != 0;
  }

  nanoseconds PollPause(const SilenceLimit& limit) const {
    if (progress_.job_pid() == 0) {
      return kPollMin;
    }
    const nanoseconds due = ranks_.Due(progress_, MonotonicNow()).value_or(kPollMax);
    return std::clamp(std::min(limit.waiting / 8, due), kPollMin, kPollMax);
  }

  void LookAtRanks() {
    ranks_.LookIfDue(progress_, MonotonicNow());
    TellOfRanks(/*at_the_end=*/false);
  }

  void TellOfRanks(bool at_the_end) {
    for (Observation& seen : ranks_.Tell(at_the_end)) {
      Write(std::move(seen));
    }
  }

  /// Reads on. True: there is nothing more to watch.
  bool Over() {
    late_bytes_read_ = 0;
    while (const auto record = reader_.Next()) {
      progress_.Take(*record);
      if (reader_.last_was_late() && options_.middle_bytes > 0) {
        late_bytes_read_ += BytesOf(*record);
        middle_.Add(*record);
      }
    }
    if (progress_.ended()) {
      return true;
    }
    const std::int64_t job = progress_.job_pid();
    const bool alive = job == 0 ? MonotonicNow() - began_ < kStartPatience
                                : ::kill(static_cast<pid_t>(job), 0) == 0 || errno == EPERM;
    return job_died_ || !alive;
  }

  void Write(EventBody body) {
    std::string frame;
    AppendTfRecord(frame, EncodeEvent({.at = Now(), .body = std::move(body)}));
    file_.Append(frame);
  }

  /// Three looks. What they show decides; a run that moves is looked at again after half as long
  /// again.
  int Look(const SilenceLimit& limit) {
    // The longer it lasts, the longer the looks: on a machine that is busy with other things a
    // process needs time to show that it moves.
    const auto pause = std::clamp(progress_.Silence(Now()) / 4, kPauseMin, kPauseMax);
    const std::string sign = progress_.LastSign();
    std::vector<std::vector<Snapshot>> looks;
    std::int64_t gpu_percent = progress_.gpu_percent();
    const nanoseconds first = MonotonicNow();
    nanoseconds last = first;
    for (int i = 0; i < kLooks; ++i) {
      if (i > 0) {
        Wait(pause);
      }
      if (Over() || progress_.Silence(Now()) <= pause) {
        return 0;  // It has moved on, or is over.
      }
      last = MonotonicNow();
      looks.push_back(LookAtTree(static_cast<pid_t>(progress_.job_pid()),
                                 SIGRTMIN + kStackSignalOffset));
      gpu_percent = std::max(gpu_percent, progress_.gpu_percent());
    }
    const Stillness seen = CompareLooks(looks, last - first);
    const nanoseconds silence = progress_.Silence(Now());
    const Standstill standstill = DecideStandstill(seen, gpu_percent, silence, limit);
    if (standstill == Standstill::kNone) {
      look_again_after_ = silence + silence / 2;
      ReportMoving(seen, silence, limit, sign);
      return 0;
    }
    hung_ = true;
    hung_since_ = progress_.last_sign_at();
    Report(standstill, seen, silence, limit, sign);
    return options_.on_hang == OnHang::kReport ? 0 : Stop();
  }

  /// The looks of an episode, and what both kinds of report say of it.
  Observation BeginReport(const char* kind, const Stillness& seen, nanoseconds silence, const SilenceLimit& limit,
                          const std::string& sign) {
    ++episode_;
    for (ProcessLook process : seen.processes) {
      if (const auto told = progress_.RankOf(process.pid); told && !process.rank) {
        process.rank = told->rank;
        process.ranks = told->ranks;
      }
      Write(ToObservation(process, episode_));
    }
    Observation out;
    out.kind = kind;
    auto& attributes = out.attributes;
    attributes["episode"] = static_cast<double>(episode_);
    attributes["silence_s"] = std::chrono::duration<double>(silence).count();
    attributes["limit_s"] = std::chrono::duration<double>(limit.waiting).count();
    attributes["limit_reason"] = limit.reason;
    attributes["last_sign"] = sign;
    attributes["cpu_share"] = seen.cpu_share;
    attributes["processes"] = static_cast<double>(seen.processes.size());
    return out;
  }

  /// Silent for long, and well: what it is busy with may interest somebody who asks.
  void ReportMoving(const Stillness& seen, nanoseconds silence, const SilenceLimit& limit, const std::string& sign) {
    Observation moving = BeginReport("moving", seen, silence, limit, sign);
    moving.attributes["furthest"] = static_cast<double>(progress_.FurthestStep());
    Write(std::move(moving));
  }

  void Report(Standstill standstill, const Stillness& seen, nanoseconds silence,
              const SilenceLimit& limit, const std::string& sign) {
    Observation hang = BeginReport("hang", seen, silence, limit, sign);
    hang.attributes["how"] = std::string(Name(standstill));
    hang.attributes["looks"] = static_cast<double>(kLooks);
    std::string steps;
    for (const auto& [pid, stepped] : progress_.steps()) {
      const double age = std::chrono::duration<double>(Now() - stepped.at).count();
      steps += fmt::format("{} {} {:.3f}\n", pid, stepped.step, age);
    }
    hang.attributes["steps"] = steps;
    Write(std::move(hang));
    file_.Sync();
    Say(fmt::format("whystop: no progress for {} ({} was the last): {}\n  details: whystop why {}\n",
                    HumanDuration(silence), sign,
                    standstill == Standstill::kStopped ? "a process is stopped"
                    : standstill == Standstill::kBusy  ? "it computes in one place all the time"
                                                       : "every process waits",
                    options_.directory));
  }

  /// A regular file is not written to: it may be the log of the job, which is followed.
  void Say(const std::string& text) const {
    struct stat facts {};
    if (options_.tell >= 0 && ::fstat(options_.tell, &facts) == 0 && !S_ISREG(facts.st_mode)) {
      WriteAll(options_.tell, text);
    }
  }

  void NoticeMoving() {
    if (progress_.last_sign_at() <= hung_since_) {
      return;
    }
    Observation over;
    over.kind = "hang-over";
    over.attributes["episode"] = static_cast<double>(episode_);
    over.attributes["after_s"] = std::chrono::duration<double>(Now() - hung_since_).count();
    Write(std::move(over));
    hung_ = false;
    look_again_after_ = {};
  }

  void Send(int signal, std::int64_t pid) {
    if (::kill(static_cast<pid_t>(pid), signal) == 0) {
      SignalSeen seen;
      seen.signal = signal;
      seen.by_whystop = true;
      Write(std::move(seen));
    }
  }

  /// Ends the job as a scheduler would: SIGTERM, and what is left after a while by SIGKILL.
  int Stop() {
    const std::int64_t job = progress_.job_pid();
    Say(fmt::format("whystop: stopping it (--on-hang)\n"));
    const std::vector<Snapshot> tree = LookAtTree(static_cast<pid_t>(job), 0);
    Send(SIGTERM, job);
    ::kill(static_cast<pid_t>(job), SIGCONT);  // A stopped process takes no other signal.
    const nanoseconds asked = MonotonicNow();
    while (!Over() && MonotonicNow() - asked < kGrace) {
      Wait(kPollMin);
    }
    if (!Over()) {
      Send(SIGKILL, job);
    }
    for (const Snapshot& one : tree) {
      // Orphans of the job are known by pid and the time they began.
      const auto now = LookAtTree(static_cast<pid_t>(one.look.pid), 0);
      if (one.look.pid != job && !now.empty() && now.front().start_ticks == one.start_ticks) {
        ::kill(static_cast<pid_t>(one.look.pid), SIGKILL);
      }
    }
    return kStoppedTheJob;
  }

  const WatchOptions& options_;
  RecordingReader reader_;
  FrameFile file_;
  ProgressWatch progress_;
  RankWatch ranks_;
  MiddleFile middle_;
  std::int64_t late_bytes_read_ = 0;  // In the last round: to come again before they give way to newer ones.
  nanoseconds began_;
  Fd job_;  // pidfd, once the recording has told its number.
  bool job_died_ = false;
  nanoseconds look_again_after_{};
  bool hung_ = false;
  RunTime hung_since_{};
  int episode_ = 0;
};

}  // namespace

Result<int> WatchForHangs(const WatchOptions& options) {
  auto reader = RecordingReader::Open(options.directory);
  if (!reader) {
    return reader.error();
  }
  auto file = OpenFd(options.directory + "/" + std::string(kWatchFile), O_RDWR | O_CREAT);
  if (!file) {
    return file.error();
  }
  return Watcher(options, std::move(*reader), FrameFile(std::move(*file))).Run();
}

}  // namespace whystop
