#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "record/recording_writer.h"
#include "supervise/job_process.h"
#include "supervise/sweep_source.h"

namespace whystop {

struct JobOptions {
  std::vector<std::string> command;  // The program and its arguments, not empty.
  std::map<std::string, std::string>
      environment_set;              // Added to the job's environment (WHYSTOP_*).
  std::string python_path_prepend;  // Folder put in front of PYTHONPATH; empty: left alone.
  std::string ring_directory;       // Where the probes' rings appear; empty: there are none.
  std::optional<JobSetting> setting;  // As whystop found things; absent: as they are now.
  std::vector<pid_t> other_children;  // Of the caller: not to be reaped.
  RunStart start_template;          // What the caller knows; RunJob fills in the rest.
  std::chrono::milliseconds tick{
      1000};  // The first sweep interval, used when there is no SweepSource.
};

struct JobResult {
  std::optional<ChildEnd> end;  // Absent when the job could not be started or its end was not seen.
  int exit_code = 125;          // What `whystop run` must return.
  std::string fault;  // One line for the user when the job could not be started, or empty.
  bool stderr_line_open = false;  // The job's stderr ended without a line end.
  /// Why whystop could not stand up, or empty. The job was not started and nothing is held any more:
  /// the caller becomes the job (ExecuteInstead).
  std::string cannot_watch;
};

/// Occupies those of the descriptors 0, 1 and 2 that are closed, so that nothing of ours lands
/// there; the job still gets them closed. Call it first in main(), before anything is opened.
void HoldStandardDescriptors();

/// Becomes the command, as if whystop had never been: for where RunJob cannot stand up. `setting`:
/// how things stood. Returns only when the command cannot be executed.
StartFault ExecuteInstead(const std::vector<std::string>& command, const JobSetting& setting);

/// Runs the job to its end. See docs/decisions/0001-two-processes.md for who does what. Call it
/// from a process with one thread: it forks. `writer` is opened and not started.
JobResult RunJob(const JobOptions& options, RecordingWriter& writer, SweepSource* sweeps);

}  // namespace whystop
