#include "cause/memory_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/human.h"
#include "base/parse.h"
#include "model/observations.h"
#include "sign/exception_facts.h"
#include "sign/shell_notice.h"
#include "sign/signal_words.h"

namespace whystop {
namespace {

constexpr double kNearLimit = 0.9;

bool IsJob(const CaseFile& run, std::int64_t pid) {
  return (run.start && run.start->pid == pid) || (run.job_end && run.job_end->pid == pid);
}

bool IsOurs(const CaseFile& run, std::int64_t pid) {
  return IsJob(run, pid) ||
         std::any_of(run.process_ends.begin(), run.process_ends.end(),
                     [pid](const ProcessEnd& ended) { return ended.pid == pid; }) ||
         std::any_of(run.readings.begin(), run.readings.end(),
                     [pid](const ReadingHistory& history) {
                       return history.subject.kind == Subject::Kind::kProcess &&
                              history.subject.number == pid;
                     });
}

/// The number behind `key` in a kernel line, for example "pid=" or "Killed process ".
std::int64_t NumberAfter(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) {
    return 0;
  }
  line.remove_prefix(at + key.size());
  const auto digits = line.substr(0, line.find_first_not_of("0123456789"));
  return ParseWhole<std::int64_t>(digits).value_or(0);
}

/// "oom-kill:constraint=CONSTRAINT_MEMCG,...,task_memcg=/job,task=python3,pid=23793,uid=0"
std::string_view GroupOfVictim(std::string_view line) {
  constexpr std::string_view kKey = ",task_memcg=";
  const auto at = line.find(kKey);
  if (at == std::string_view::npos) {
    return {};
  }
  line.remove_prefix(at + kKey.size());
  return line.substr(0, line.find(",task="));
}

/// Whether a process of the run was itself in the group; those above it hold other people's
/// processes too.
bool IsOwnGroup(const CaseFile& run, std::string_view group) {
  const auto groups = run.FindAll(Quantity::kCgroupOomKills);
  const auto named = [group](const ReadingHistory* history) {
    return history->subject.name == group;
  };
  const auto below = [group](const ReadingHistory* history) {
    const std::string& name = history->subject.name;
    return name.size() > group.size() && name.starts_with(group) &&
           (group == "/" || name[group.size()] == '/');
  };
  return std::any_of(groups.begin(), groups.end(), named) &&
         std::none_of(groups.begin(), groups.end(), below);
}

/// A child that lived for less than a sweep was never met, so its pid says nothing: then its group
/// does, and that it is younger than the job.
bool IsUnmetChild(const CaseFile& run, std::int64_t pid) {
  return run.start && pid > run.start->pid &&
         std::any_of(run.kernel_lines.begin(), run.kernel_lines.end(), [&](const KernelLine& line) {
           return NumberAfter(line.text, ",pid=") == pid &&
                  IsOwnGroup(run, GroupOfVictim(line.text));
         });
}

/// "Memory cgroup out of memory: Killed process 23793 (python3) total-vm:..." and
/// "Out of memory: Killed process 25315 (python3) total-vm:..."
void ReadKernelLines(const CaseFile& run, MemoryFacts& facts) {
  for (const KernelLine& line : run.kernel_lines) {
    const std::int64_t pid = NumberAfter(line.text, "illed process ");
    if (pid == 0 || !(IsOurs(run, pid) || IsUnmetChild(run, pid))) {
      continue;
    }
    if (line.text.find("Memory cgroup out of memory") != std::string::npos) {
      facts.cgroup_kill_line = line.text;
    } else if (line.text.find("Out of memory") != std::string::npos) {
      facts.host_kill_line = line.text;
    } else {
      continue;
    }
    facts.victim_pid = pid;
    const auto open = line.text.find('(');
    const auto close = line.text.find(')', open);
    if (open != std::string::npos && close != std::string::npos) {
      facts.victim_name = line.text.substr(open + 1, close - open - 1);
    }
  }
}

std::optional<std::int64_t> ReadOf(const CaseFile& run, const Subject& subject, Quantity quantity) {
  for (const ReadingHistory* history : run.FindAll(quantity)) {
    if (history->subject == subject) {
      return history->max;
    }
  }
  return std::nullopt;
}

std::int64_t PeakOf(const CaseFile& run, const Subject& group) {
  return std::max(ReadOf(run, group, Quantity::kCgroupMemoryBytes).value_or(0),
                  ReadOf(run, group, Quantity::kCgroupMemoryPeakBytes).value_or(0));
}

bool WasFull(const CaseFile& run, const Subject& group) {
  const auto limit = ReadOf(run, group, Quantity::kCgroupMemoryLimitBytes);
  return limit &&
         static_cast<double>(PeakOf(run, group)) > kNearLimit * static_cast<double>(*limit);
}

/// Kills in a group that was full, or in the innermost one, are the run's; those further out may be
/// another job's.
void ReadCounters(const CaseFile& run, MemoryFacts& facts) {
  const auto kills = run.FindAll(Quantity::kCgroupOomKills);
  const auto innermost = std::max_element(
      kills.begin(), kills.end(),
      [](const auto* a, const auto* b) { return a->subject.name.size() < b->subject.name.size(); });
  for (const ReadingHistory* history : kills) {
    auto& counter = history == *innermost || WasFull(run, history->subject)
                        ? facts.cgroup_kills
                        : facts.cgroup_kills_above;
    counter = std::max(counter.value_or(0), history->Rise());
  }
  if (const auto* host = run.Find(Subject::Kind::kHost, Quantity::kHostOomKills)) {
    facts.host_kills = host->Rise();
  }
  if (const auto* total = run.Find(Subject::Kind::kHost, Quantity::kHostMemTotalBytes)) {
    facts.host_total_bytes = total->last;
  }
  if (const auto* available = run.Find(Subject::Kind::kHost, Quantity::kHostMemAvailableBytes)) {
    facts.host_available_bytes_min = available->min;
  }
}

void ReadLimits(const CaseFile& run, MemoryFacts& facts) {
  for (const ReadingHistory* limit : run.FindAll(Quantity::kCgroupMemoryLimitBytes)) {
    if (!facts.limit_bytes || limit->last < *facts.limit_bytes) {
      facts.limit_bytes = limit->last;
      facts.limit_name = "control group " + limit->subject.name;
      facts.peak_bytes = PeakOf(run, limit->subject);
    }
  }
  if (facts.limit_bytes &&
      (!facts.host_total_bytes || *facts.limit_bytes <= *facts.host_total_bytes)) {
    return;
  }
  facts.limit_bytes = facts.host_total_bytes;
  facts.limit_name = "the machine";
  facts.peak_bytes.reset();
  const auto* rss = run.Find(Subject::Kind::kTree, Quantity::kTreeRssBytes);
  const std::int64_t job_max = run.job_end ? run.job_end->rss_bytes_max.value_or(0) : 0;
  if (rss != nullptr || job_max > 0) {
    facts.peak_bytes = std::max(rss == nullptr ? 0 : rss->max, job_max);
  }
}

}  // namespace

bool MemoryFacts::NearLimit() const {
  return limit_bytes && peak_bytes &&
         static_cast<double>(*peak_bytes) > kNearLimit * static_cast<double>(*limit_bytes);
}

bool MemoryFacts::HostWasShort() const {
  return host_total_bytes && host_available_bytes_min &&
         static_cast<double>(*host_available_bytes_min) <
             0.05 * static_cast<double>(*host_total_bytes);
}

std::string MemoryFacts::Figures() const {
  if (!limit_bytes || !peak_bytes) {
    return "";
  }
  return fmt::format("peak {} of {} in {}", HumanBytes(static_cast<double>(*peak_bytes)),
                     HumanBytes(static_cast<double>(*limit_bytes)), limit_name);
}

MemoryFacts ReadMemoryFacts(const CaseFile& run) {
  MemoryFacts facts;
  ReadKernelLines(run, facts);
  ReadCounters(run, facts);
  ReadLimits(run, facts);
  return facts;
}

namespace {

/// A pool, a loader or a launcher that says that one of its processes is gone.
bool TellsOfADeadChild(const ExceptionSeen& exception) {
  for (const std::string_view word : {"BrokenProcessPool", "ProcessExitedException"}) {
    if (exception.type.find(word) != std::string::npos) {
      return true;
    }
  }
  for (const std::string_view word :
       {"DataLoader worker (pid", "terminated abruptly", "terminated with signal", "unexpectedly terminated",
        "exited unexpectedly", "died unexpectedly"}) {
    if (exception.message.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

int SignalOfDeadChild(const CaseFile& run) {
  const ExceptionSeen* ending = FindEndingException(run);
  if (ending == nullptr || !TellsOfADeadChild(*ending)) {
    return 0;
  }
  for (const Observation& observation : run.observations) {
    const auto told = As<seen::ChildEnd>(observation.kind == seen::ChildEnd::kKind ? &observation : nullptr);
    const std::int64_t status = told.status.value_or(0);
    if (status < 0 && status > -SIGRTMIN && status != -SIGTERM) {  // With that the pool ends those that are left.
      return static_cast<int>(-status);
    }
  }
  for (const ProcessEnd& ended : run.process_ends) {
    const int signal = ended.end ? ended.end->signal() : 0;
    // What was not dead by then is ended by the pool itself.
    if (signal != 0 && signal != SIGTERM && signal != SIGKILL) {
      return signal;
    }
  }
  for (const SignalWord& known : kSignalWords) {
    const bool by_itself = known.signal != SIGTERM && known.signal != SIGHUP;  // Those come from whoever ends the pool.
    if (by_itself && (ending->message.find(known.text) != std::string::npos ||
                      ending->message.find(SignalName(known.signal)) != std::string::npos)) {
      return known.signal;
    }
  }
  return 0;
}

int SignalOfStatus(const CaseFile& run) {
  if (const int signal = run.Signal(); signal != 0) {
    return signal;
  }
  const auto code = run.ExitCode();
  if (const auto notice = FindShellNotice(run); code && notice) {
    return notice->signal;
  }
  const bool is_of_signal = code && *code > 128 && *code <= 128 + SIGRTMAX;
  return is_of_signal && SomeProcessDiedOf(run, *code - 128) ? *code - 128 : 0;
}

int SignalOfJob(const CaseFile& run) {
  const int signal = SignalOfStatus(run);
  const auto code = run.ExitCode();
  return signal == 0 && code && *code <= 128 ? SignalOfDeadChild(run) : signal;
}

bool SomeProcessDiedOf(const CaseFile& run, int signal) {
  const bool was_sent = std::any_of(run.signals.begin(), run.signals.end(),
                                    [signal](const SignalSeen& seen) { return seen.signal == signal; });
  const bool by_shell = run.start && IsShell(run.start->command);
  return was_sent || std::any_of(run.process_ends.begin(), run.process_ends.end(), [&](const ProcessEnd& ended) {
    // Only the shell knows how its children ended, and its status says it.
    const bool known_to_shell = by_shell && !ended.end && ended.parent_pid == run.start->pid;
    return known_to_shell || (ended.end && ended.end->signal() == signal);
  });
}

std::optional<OomVictim> OomKilledChild(const CaseFile& run, const MemoryFacts& memory) {
  if (memory.victim_pid != 0) {
    return IsJob(run, memory.victim_pid)
               ? std::nullopt
               : std::optional<OomVictim>({memory.victim_pid, memory.victim_name});
  }
  const bool counters_rose =
      memory.cgroup_kills.value_or(0) > 0 || memory.host_kills.value_or(0) > 0;
  for (const ProcessEnd& ended : run.process_ends) {
    if (counters_rose && ended.end && ended.end->signal() == SIGKILL) {
      return OomVictim{ended.pid, ended.name};
    }
  }
  // The group counted a kill, and the job itself lived on: one of its children, whose end only it knows.
  for (const ProcessEnd& ended : run.process_ends) {
    if (memory.cgroup_kills.value_or(0) > 0 && memory.NearLimit() && !ended.end &&
        run.Signal() != SIGKILL) {
      return OomVictim{ended.pid, ended.name};
    }
  }
  return std::nullopt;
}

const SignalSeen* FindSignal(const CaseFile& run, int signal) {
  const bool ended_job = SignalOfJob(run) == signal;
  for (const SignalSeen& seen : run.signals) {
    // What one process of the job sends to another (a launcher ends its ranks) is the job's own
    // affair.
    const bool own_affair = !ended_job && seen.sender_pid && IsOurs(run, *seen.sender_pid);
    if (seen.signal == signal && !own_affair) {
      return &seen;
    }
  }
  return nullptr;
}

std::string DescribeSender(const SignalSeen& seen) {
  if (seen.by_whystop) {
    return "whystop itself";
  }
  if (seen.from_kernel) {
    return seen.signal == SIGHUP ? "the kernel, as the terminal went away" : "the terminal";
  }
  if (!seen.sender_pid) {
    return "an unknown sender";
  }
  const std::string uid = seen.sender_uid ? fmt::format(", user {}", *seen.sender_uid) : "";
  return seen.sender_name.empty()
             ? fmt::format("process {}{}", *seen.sender_pid, uid)
             : fmt::format("process {} ({}{})", *seen.sender_pid, seen.sender_name, uid);
}

std::string FindKernelLine(const CaseFile& run, std::string_view word) {
  for (const KernelLine& line : run.kernel_lines) {
    if (line.text.find(word) == std::string::npos) {
      continue;
    }
    // "python3[4711]: segfault at 10 ip 00007f... in libfoo.so[...]"
    const auto open = line.text.find('[');
    const std::int64_t pid =
        open == std::string::npos ? 0 : NumberAfter(line.text.substr(open), "[");
    if (pid != 0 && IsOurs(run, pid)) {
      return line.text;
    }
  }
  return "";
}

}  // namespace whystop
