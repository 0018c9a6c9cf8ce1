#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/finding.h"
#include "model/verdict.h"
#include "view/bucket_line.h"
#include "view/heat_map.h"
#include "view/log_lines.h"
#include "view/resource_lines.h"

namespace whystop {

/// A training series, as much of it as a picture can show.
struct SeriesLine {
  std::string name;
  SeriesRole role = SeriesRole::kOther;
  std::optional<int> rank;
  std::string file;             // Where it was read; empty: by the probe.
  bool has_steps = false;       // Else x is the number of the point.
  std::optional<double> noise;  // Of the detector's trend: how far values usually lie apart.
  BucketLine line;
};

/// Something that happened at one moment and is worth a mark on the time axis.
struct TimeMark {
  RunTime at{};
  std::optional<std::int64_t> step;
  std::string kind;  // "signal", "oom-kill", "process", "epoch", "exception", "log", "loop", ...
  std::string text;
  bool grave = false;
};

/// A process of the job from its start to its end.
struct LifeLine {
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::string name;
  std::string command;
  RunTime from{};
  std::optional<RunTime> to;  // Absent: it was alive when the recording ended.
  std::string how;            // "exit 1", "SIGKILL", "vanished"
  bool grave = false;
  bool is_job = false;
  std::optional<std::int64_t> rss_bytes_max;
};

/// The curve of one trial of `whystop try`.
struct TrialLine {
  std::string change;  // As in the verdict: "learning rate x 0.1".
  SeriesLine series;
};

/// Everything a picture of one run needs, in bounded size whatever the run's length.
struct RunView {
  std::optional<RunStart> start;
  RunTime last_at{};
  bool timed = false;  // Events carry times; a plain log has none.
  bool ended = false;
  std::vector<SeriesLine> series;  // Losses first.
  std::int64_t series_left_out = 0;
  std::vector<ResourceLine> resources;
  HeatMap heat;
  std::vector<TimeMark> marks;  // In order of time.
  std::vector<LifeLine> processes;
  std::int64_t processes_left_out = 0;
  std::vector<TrialLine> trials;
  std::vector<Finding> findings;
  std::vector<Place> frames;  // Of the exception that ended it: the user's own, innermost first.
  std::vector<Excerpt> logs;
  std::vector<Excerpt> sources;
  std::optional<double> guess_level;  // The loss of a classifier that knows the class counts only; set by who judges.
  std::string decided_by;  // The series that says whether it learns; set by who judges. "": none.
  Progress progress;
};

}  // namespace whystop
