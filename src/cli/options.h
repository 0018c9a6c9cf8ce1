#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace whystop {

// What each command was asked to do, parsed. One struct a command; cli/command_line.cc fills them
// in.

struct RunOptions {
  std::vector<std::string> command;
  std::string directory;  // Empty: a new one under the home of recordings.
  bool quiet = false;
  bool probe = true;
  std::int64_t log_head_mib = 8;
  std::int64_t log_tail_mib = 24;
  std::string max_size;            // "200M": the whole recording; empty: the default.
  double hang_after_s = 0;         // 0: learned from the run.
  std::string on_hang = "report";  // Or "stop", "restart".
  std::string notify;              // A command; empty: none.
};

struct WhyOptions {
  std::vector<std::string> paths;  // Empty: the newest recording.
  bool json = false;
  bool follow = false;
  std::string notify;  // A command; empty: none. Only with `follow`.
};

struct RunsOptions {
  bool json = false;
};

struct PruneOptions {
  std::string older;     // "30d": those that began longer ago.
  std::string max_size;  // "2G": the oldest, until all together are no larger.
  std::int64_t keep = -1;  // The newest so many stay whatever else is asked for; -1: not asked.
  bool dry_run = false;
  bool json = false;
};

struct ExplainOptions {
  std::string cause;  // Empty: list all.
  bool json = false;
};

struct InspectOptions {
  std::string path;       // Empty: the newest recording.
  std::string kind;       // Only events of this kind.
  bool output = false;    // What the job printed, instead of events.
  bool findings = false;  // What the detectors saw, instead of events.
  bool ranking = false;   // The table behind the verdict.
  bool signs = false;     // Every sign with its answer, as JSON lines.
  bool json = true;       // There is no other form.
};

struct DoctorOptions {
  bool json = false;
};

struct InstallHookOptions {
  std::string python = "python3";
  bool remove = false;
  bool json = false;
};

struct InstallKernelOptions {
  std::string python = "python3";
  std::string name = "whystop";
  std::string prefix;  // Empty: where that Python's Jupyter looks.
  bool remove = false;
  bool json = false;
};

struct AttachOptions {
  std::int64_t pid = 0;
  int looks = 3;
  double interval_s = 2;  // Between two looks.
  bool json = false;
};

/// The watcher's process; started by `run`, not by people.
struct WatchHangsOptions {
  std::string directory;
  double hang_after_s = 0;
  std::string on_hang = "report";
  std::int64_t late_bytes = 0;
  std::int64_t middle_bytes = 0;
  bool quiet = false;
};

/// The process that runs the command of `run --notify`; started by `run`, not by people.
struct NotifyOptions {
  std::string directory;
  std::string command;
  bool quiet = false;
};

/// What a shell offers while somebody types; called by the completion scripts, not by people.
struct CompleteWordsOptions {
  std::string kind;  // "recordings" or "causes".
};

struct ReportOptions {
  std::vector<std::string> paths;  // Empty: the newest recording.
  std::string output = "report.html";
  bool json = false;
};

struct ExportOptions {
  std::string path;  // Empty: the newest recording.
  std::string format = "csv";
  std::string output;  // Empty: standard output, or a name by the format.
  bool resources = false;
  bool json = false;  // The same as --format jsonl.
};

struct ServeOptions {
  std::vector<std::string> runs;  // Empty: all of this machine's home.
  std::string address = "127.0.0.1";
  std::uint16_t port = 7837;
  bool token = true;
  bool json = false;
};

struct TopOptions {
  std::string run;  // Empty: the newest recording.
  bool once = false;
  bool json = false;
};

/// How a recorded program is run again, for `try` and `fit` alike.
struct RerunOptions {
  std::string path;                  // Empty: the newest recording.
  std::vector<std::string> command;  // Empty: that of the recording.
  std::string budget;
  bool in_place = false;
  bool network = false;
  bool beside = false;  // Although the run is alive.
  bool json = false;
};

struct TryOptions : RerunOptions {
  TryOptions() { budget = "180s"; }
  std::string fix;         // "lr=0.01": this trial and no other.
  std::int64_t steps = 0;  // 0: as many as the run made, up to a bound.
  int jobs = 0;            // Trials side by side; 0: by cores and memory.
  bool again = false;      // Forget earlier trials.
  bool apply = false;
};

struct FitOptions : RerunOptions {
  FitOptions() { budget = "5m"; }
  std::string limit;  // "8G"; empty: what is free, or the limit of the run's control group.
};

using Options = std::variant<RunOptions, WhyOptions, RunsOptions, PruneOptions, ExplainOptions, InspectOptions,
                             DoctorOptions, InstallHookOptions, InstallKernelOptions, AttachOptions, WatchHangsOptions, NotifyOptions, CompleteWordsOptions,
                             ReportOptions, ExportOptions, ServeOptions, TopOptions, TryOptions, FitOptions>;

}  // namespace whystop
