#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/recording_writer.h"
#include "supervise/channel.h"
#include "supervise/event_loop.h"
#include "supervise/file_follower.h"
#include "supervise/link.h"
#include "supervise/log_ration.h"
#include "supervise/plain_relay.h"
#include "supervise/relay.h"
#include "supervise/ring_collector.h"
#include "supervise/run_state.h"
#include "supervise/sweep_source.h"

namespace whystop {

/// Follows a started job to its end: relays its output, reaps its tree, sweeps the sensors, writes
/// the recording. Lives in the keeper, or in the front after the keeper was killed; either way the
/// process that holds it is the parent of the job. Works inside one EventLoop.
class Recorder {
 public:
  struct Parts {
    EventLoop& loop;
    RunState& state;
    std::vector<Channel>& channels;
    RecordingWriter& writer;
    SweepSource* sweeps = nullptr;
    std::string ring_directory;            // Empty: no probes.
    std::chrono::nanoseconds origin{};     // MonotonicNow() when the run began.
    std::chrono::milliseconds tick{1000};  // Without a SweepSource.
    std::function<void(const LinkMessage&)> tell;
  };

  explicit Recorder(Parts parts) : parts_(std::move(parts)) {}

  /// Whether it has the timers that it works by.
  bool able() const {
    return timer_.fd() >= 0 && ring_timer_.fd() >= 0 && front_patience_.fd() >= 0 &&
           reader_patience_.fd() >= 0 && reap_again_.fd() >= 0 && next_ration_.fd() >= 0;
  }
  void Begin(const RunStart& start);
  void Record(EventBody body);
  /// To be called after each SIGCHLD.
  void ChildrenChanged();
  /// To be called once the front has reported every signal that came before the job's end.
  void FrontReported();

 private:
  /// What the recorder has of one channel. One of them is set, as long as it is open.
  struct Output {
    std::unique_ptr<Relay> relay;
    std::unique_ptr<PlainRelay> plain;  // Where the system refuses what `relay` needs.
    std::unique_ptr<FileFollower> follower;
    LogRation ration;
  };

  RunTime Now() const;
  void RecordStart(const RunStart& start);
  void OpenOutput(std::size_t index);
  void RecordOutput(std::size_t index, std::string_view bytes);
  void OpenPlainly(std::size_t index, const std::string& reason);
  void MovePlainly(std::size_t index, bool to_the_end);
  void WatchTap(std::size_t index);
  void DrainTap(std::size_t index, bool to_the_end);
  void RestTap(std::size_t index);
  void ServeRations();
  void OnNotice(std::size_t index);
  void CloseOutput(std::size_t index, bool reader_gone);
  void Follow(std::size_t index);
  void Tick();
  void Sweep();
  void CollectRings();
  void TieClocks();
  void CheckStops();
  bool ReapOne();
  void OnJobDead();
  void LeaveTheRestToTheReader();
  void FinishIfDrained();
  void Finish();
  void StopIfNothingIsLeft();

  Parts parts_;
  std::vector<Output> outputs_;
  std::set<std::size_t> undrained_;
  std::unique_ptr<RingCollector> rings_;
  Timer timer_;
  Timer ring_timer_;
  Timer front_patience_;
  Timer reader_patience_;
  Timer reap_again_;
  Timer next_ration_;
  bool front_reported_ = false;
  bool finished_ = false;
  std::vector<Event> swept_;
  std::vector<char> buffer_;
  std::chrono::nanoseconds asleep_{};  // Boot time ahead of monotonic time at the last look.
  std::chrono::nanoseconds tied_{};    // Monotonic time of the last ClockTie.
  int ends_recorded_this_tick_ = 0;
  std::int64_t ends_unrecorded_ = 0;
};

}  // namespace whystop
