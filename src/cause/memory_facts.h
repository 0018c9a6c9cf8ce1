#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/case_file.h"

namespace whystop {

/// What the kernel and the control groups say about memory kills during the run. Shared by all
/// causes that must tell one kind of SIGKILL from another.
struct MemoryFacts {
  // A kernel log line that names a process of ours as the victim.
  std::optional<std::string> cgroup_kill_line;
  std::optional<std::string> host_kill_line;
  std::int64_t victim_pid = 0;
  std::string victim_name;
  // The counters, from first to last reading.
  std::optional<std::int64_t> cgroup_kills;        // Own group; absent: not readable.
  std::optional<std::int64_t> cgroup_kills_above;  // In a group above it: may be another job's.
  std::optional<std::int64_t> host_kills;
  // The tightest limit that applied, and how close the run came.
  std::string limit_name;  // "control group /a/b", "the machine"
  std::optional<std::int64_t> limit_bytes;
  std::optional<std::int64_t> peak_bytes;
  std::optional<std::int64_t> host_available_bytes_min;
  std::optional<std::int64_t> host_total_bytes;

  bool NearLimit() const;       // Within a tenth of the tightest limit at the peak.
  bool HostWasShort() const;    // Available memory fell below a twentieth of the machine's.
  std::string Figures() const;  // "peak 120 of 128 MiB in control group /job".
};

MemoryFacts ReadMemoryFacts(const CaseFile& run);

/// The signal that ended the job, or a process of its tree whose death the job passed on as 128+signal, or its shell told
/// of; 0: none.
int SignalOfStatus(const CaseFile& run);
/// The same, or that of a child because of whose death the program gave up.
int SignalOfJob(const CaseFile& run);
/// The signal that a child of the program died of, where the program raised because of that; 0: it was not so.
int SignalOfDeadChild(const CaseFile& run);
/// Whether a status of 128 + `signal` is that of a process that died of it, as shells put it.
bool SomeProcessDiedOf(const CaseFile& run, int signal);

struct OomVictim {
  std::int64_t pid = 0;
  std::string name;
};

/// A process of the tree, other than the job itself, that the kernel's out-of-memory killer chose.
std::optional<OomVictim> OomKilledChild(const CaseFile& run, const MemoryFacts& memory);

/// The signal that somebody sent, with its sender; nullptr: not seen.
const SignalSeen* FindSignal(const CaseFile& run, int signal);

/// "process 4121 (earlyoom)", "the terminal (Ctrl-C)", "an unknown sender".
std::string DescribeSender(const SignalSeen& seen);

/// A kernel log line that contains `word` and names one of the run's processes; empty: none.
std::string FindKernelLine(const CaseFile& run, std::string_view word);

}  // namespace whystop
