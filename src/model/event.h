#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/child_end.h"
#include "model/reading.h"

namespace whystop {

/// Monotonic time since the run began. Post-mortem files that carry no time use zero throughout.
using RunTime = std::chrono::nanoseconds;

/// Where in the evidence something stands, so that a reader can look it up.
struct Place {
  std::string
      file;  // Log or metric file, or "stdout"/"stderr" of a recording; empty: not from a file.
  std::int64_t line = 0;  // 1-based; 0: unknown.
};

/// The first event of every run that whystop watched.
struct RunStart {
  std::vector<std::string>
      command;  // Arguments that look like secrets are redacted by the recorder.
  std::string directory;
  std::string host;
  std::string user;
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string parent_name;          // "bash", "timeout", "slurmstepd".
  std::chrono::nanoseconds wall{};  // Since 1970.
  std::string boot_id;
  bool terminal = false;                           // The job was given a pseudo-terminal.
  std::map<std::string, std::string> environment;  // Allow-listed variables only.
  std::map<std::string, std::int64_t>
      limits;  // Soft rlimits by name ("nofile"); absent: unlimited.
  std::string whystop_version;
};

/// One sweep of the sensors. A value that did not change since the last sweep may be left out.
struct Sample {
  std::vector<Reading> readings;
};

/// A subject that later readings name by `id`.
struct SubjectSeen {
  SubjectId id = 0;
  Subject subject;
};

struct ProcessStart {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;     // comm
  std::string command;  // Command line, bounded.
};

/// A process of the job's tree ended. `end` is absent when another process reaped it and only its
/// vanishing was seen.
struct ProcessEnd {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;
  std::optional<ChildEnd> end;
  std::optional<std::int64_t> rss_bytes_max;  // rusage: the peak over its whole life.
  std::optional<std::int64_t> cpu_ms;
  bool is_job = false;  // The process that was started by `run`.
};

/// A signal that reached whystop (and was passed on) or the job (seen by the probe).
struct SignalSeen {
  int signal = 0;
  std::optional<std::int64_t> sender_pid;  // Absent: the kernel (terminal, timer) or unknown.
  std::optional<std::int64_t> sender_uid;
  std::string sender_name;  // comm of the sender, while it lived.
  std::string sender_command;
  bool from_kernel = false;  // SI_KERNEL: typed at the terminal, hang-up.
  bool forwarded = false;    // whystop received it and passed it to the job.
  bool by_whystop = false;   // whystop itself chose to send it.
  std::optional<std::int64_t> process;  // Whose probe saw it; absent: whystop did.
};

/// Monotonic and wall time side by side; `suspended` is how long the machine slept since the last
/// one.
struct ClockTie {
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds suspended{};
};

/// One line of the kernel log that arrived during the run.
struct KernelLine {
  std::string text;
};

/// What a signature of the log catalogue found in a line.
struct LogFact {
  enum class Role { kRoot, kConfirm, kCascade, kContext, kNoise, kNormal };
  std::string cause;  // Cause id of the signature row.
  Role role = Role::kContext;
  std::string line;                   // The line, cleaned of escapes and cut to a readable length.
  std::vector<std::string> captures;  // The pattern's groups, in order.
  Place place;
  std::optional<int> rank;
  bool generic = false;  // Loses to any other root of the same event (see cause/README).
  bool fatal = false;    // The line itself says that the process ends.
  std::optional<std::int64_t> process;  // Whose probe saw it, in the text of an exception; absent: from a log.
  std::int64_t metrics_after =
      0;  // Metric points that came later; filled in when the case is closed.
};

struct Frame {
  std::string file;
  std::int64_t line = 0;
  std::string function;
  std::string source;      // The source line as printed, trimmed.
  bool users_own = false;  // Not from site-packages, the standard library or a frozen module.
};

/// A Python exception, from a traceback in the log or from the probe's excepthook.
struct ExceptionSeen {
  std::string type;           // "RuntimeError", "torch.OutOfMemoryError"
  std::string message;        // First lines, bounded.
  std::vector<Frame> frames;  // Outermost first, bounded.
  std::string first_type;     // Of the chain's first exception, when it differs.
  std::string first_message;
  bool ended_process =
      false;  // Known to be uncaught (probe), or nothing but teardown followed it (log).
  bool in_worker = false;  // Raised in a DataLoader worker and re-raised in the trainer.
  std::optional<int> rank;
  std::optional<std::int64_t> process;  // Whose probe said it; absent: from a log.
  Place place;
  std::int64_t last_line = 0;  // Of its text in a log; 0: not from a log.
  std::int64_t metrics_after =
      0;  // Metric points that came later; filled in when the case is closed.
};

/// What a training series means. Names are the user's own and stay in `series`.
enum class SeriesRole : std::uint8_t {
  kOther,
  kTrainLoss,
  kValidationLoss,
  kLearningRate,
  kGradientNorm,
  kLossScale,
  kTrainScore,  // Accuracy, mAP, reward: higher is better.
  kValidationScore,
  kLossPart,  // One term of a loss whose total is logged too, or of an adversarial or policy loss:
              // it may rise in a healthy run, so only a value that is not finite says something by
              // itself.
};

/// One point of a training series.
struct Scalar {
  std::string series;  // "train/loss", "loss", "val_accuracy", "lr"
  SeriesRole role = SeriesRole::kOther;
  double value = 0;  // NaN and infinity are kept: they are what we look for.
  std::optional<std::int64_t> step;
  std::optional<double> epoch;
  std::optional<int> rank;
  std::optional<std::int64_t> process;  // Whose probe said it; absent: from a log or a file.
  std::optional<int> training;  // Of that process, from 1: one model and optimizer at a time.
  Place place;
};

/// How far the run is, and how far it meant to go. Absent fields are not known.
struct Progress {
  std::optional<double>
      epoch;  // Epochs begun, counted from 1; fractional where the source says so.
  std::optional<double> epochs_planned;
  std::optional<std::int64_t> step;  // Steps done.
  std::optional<std::int64_t> steps_planned;
  std::optional<int> rank;
  std::optional<std::int64_t> process;  // As in Scalar.
  std::optional<int> training;
  Place place;
};

/// Facts about one tensor at one step, by the probe.
struct TensorStats {
  enum class What : std::uint8_t {
    kWeight,
    kGradient,
    kUpdate,
    kInput,
    kTarget,
    kOutput,
    kActivation
  };
  What what = What::kWeight;
  std::string tensor;  // "encoder.0.weight"
  std::int64_t step = 0;
  std::uint64_t count = 0;
  std::uint64_t nan_count = 0;
  std::uint64_t inf_count = 0;
  std::uint64_t zero_count = 0;
  double min = 0;  // Over the finite values, like all below.
  double max = 0;
  double sum = 0;
  double sum_squares = 0;
  double abs_max = 0;
  /// Finite values with |x| below each of these. What 16-bit floats lose: 2^-24 is flushed to zero,
  /// 2^-14 is subnormal, 65520 becomes infinite. 2^-7 and 1 - 2^-7: the ends of a sigmoid's or
  /// tanh's range.
  static constexpr double kThresholds[6] = {0x1p-24, 0x1p-14, 0x1p-7, 0.9921875, 2.0, 65520.0};
  std::array<std::uint64_t, 6> below{};
  std::optional<int> rank;
  std::optional<std::int64_t> process;
  std::optional<int> training;
};

/// Anything else that the probe (or an importer) saw: loop plan, loop exit, model summary, a call
/// of a loss function, a loader's plan, a warning. `kind` names it ("loop-exit");
/// src/model/observations.tsv lists kinds and attributes, and model/observations.h has a struct for
/// each: As<seen::LoopExit>(observation).
struct Observation {
  using Value = std::variant<double, std::string>;
  std::string kind;
  std::optional<std::int64_t> step;
  std::optional<int> rank;
  std::optional<std::int64_t> process = {};  // Whose probe said it; absent: nobody's.
  std::optional<int> training = {};          // As in Scalar.
  std::map<std::string, Value> attributes;

  const std::string* Text(const std::string& name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  }
  std::optional<double> Number(const std::string& name) const {
    const auto found = attributes.find(name);
    const double* value = found == attributes.end() ? nullptr : std::get_if<double>(&found->second);
    return value == nullptr ? std::nullopt : std::optional<double>(*value);
  }
};

/// Something that was lost on the way, and how much of it.
struct Drop {
  std::string counter;  // "record.samples_dropped_queue_full"; docs/drops.md describes them all.
  std::int64_t count = 0;
};

/// whystop's own part ended or changed hands ("keeper died, front took over").
struct RecorderNote {
  std::string text;
};

/// The job is over. The last event of a recording that was finished properly.
struct RunEnd {
  std::optional<ChildEnd> end;  // Absent: not known (whystop died first, or a post-mortem file).
  std::optional<RunTime> duration;
};

/// How the text of a log or metric file ends, where no exit status is known.
struct TextEnd {
  enum class Kind {
    kCompleted,    // The program's or scheduler's own words say that it finished.
    kMidLine,      // Cut inside a line.
    kMidProgress,  // Whole lines, but a bar or counter stands short of its total.
    kSilent,       // Nothing after the last ordinary line.
    kNulTail,      // NUL bytes at the end: the machine or its storage went down.
  };
  Kind kind = Kind::kSilent;
  Place place;
  std::string last_line;
  std::optional<std::chrono::seconds> age;  // How long ago the file was last written, where known.
};

using EventBody = std::variant<RunStart, Sample, SubjectSeen, ProcessStart, ProcessEnd, SignalSeen,
                               ClockTie, KernelLine, LogFact, ExceptionSeen, Scalar, Progress,
                               TensorStats, Observation, Drop, RecorderNote, RunEnd, TextEnd>;

/// One thing that happened, at one time. The stream of a run is a sequence of these in order of
/// time.
struct Event {
  RunTime at{};
  EventBody body;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&body);
  }
};

/// Takes events in order. Implemented by the analysis, by `inspect`, and by tests.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Push(const Event& event) = 0;
};

}  // namespace whystop
