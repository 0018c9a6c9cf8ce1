#include "cause/memory_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/human.h"
#include "base/parse.h"

namespace whystop {
namespace {

constexpr double kNearLimit = 0.9;

bool IsOurs(const CaseFile& run, std::int64_t pid) {
  if (run.start && run.start->pid == pid) {
    return true;
  }
  if (run.job_end && run.job_end->pid == pid) {
    return true;
  }
  return std::any_of(run.process_ends.begin(), run.process_ends.end(),
                     [pid](const ProcessEnd& ended) { return ended.pid == pid; }) ||
         std::any_of(run.readings.begin(), run.readings.end(), [pid](const ReadingHistory& history) {
           return history.subject.kind == Subject::Kind::kProcess && history.subject.number == pid;
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

/// "Memory cgroup out of memory: Killed process 23793 (python3) total-vm:..." and
/// "Out of memory: Killed process 25315 (python3) total-vm:..."
void ReadKernelLines(const CaseFile& run, MemoryFacts& facts) {
  for (const KernelLine& line : run.kernel_lines) {
    const std::int64_t pid = NumberAfter(line.text, "illed process ");
    if (pid == 0 || !IsOurs(run, pid)) {
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
  return limit && static_cast<double>(PeakOf(run, group)) > kNearLimit * static_cast<double>(*limit);
}

/// Kills in a group that was full, or in the innermost one, are the run's; those further out may be another job's.
void ReadCounters(const CaseFile& run, MemoryFacts& facts) {
  const auto kills = run.FindAll(Quantity::kCgroupOomKills);
  const auto innermost = std::max_element(kills.begin(), kills.end(), [](const auto* a, const auto* b) {
    return a->subject.name.size() < b->subject.name.size();
  });
  for (const ReadingHistory* history : kills) {
    auto& counter = history == *innermost || WasFull(run, history->subject) ? facts.cgroup_kills : facts.cgroup_kills_above;
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
  if (facts.limit_bytes && (!facts.host_total_bytes || *facts.limit_bytes <= *facts.host_total_bytes)) {
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
  return limit_bytes && peak_bytes && static_cast<double>(*peak_bytes) > kNearLimit * static_cast<double>(*limit_bytes);
}

bool MemoryFacts::HostWasShort() const {
  return host_total_bytes && host_available_bytes_min &&
         static_cast<double>(*host_available_bytes_min) < 0.05 * static_cast<double>(*host_total_bytes);
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

int SignalOfJob(const CaseFile& run) {
  if (const int signal = run.Signal(); signal != 0) {
    return signal;
  }
  const auto code = run.ExitCode();
  if (!code || *code <= 128) {
    return 0;
  }
  for (const ProcessEnd& ended : run.process_ends) {
    if (ended.end && ended.end->signal() == *code - 128) {
      return *code - 128;
    }
  }
  return 0;
}

const ProcessEnd* OomKilledChild(const CaseFile& run, const MemoryFacts& memory) {
  const bool counters_rose = memory.cgroup_kills.value_or(0) > 0 || memory.host_kills.value_or(0) > 0;
  for (const ProcessEnd& ended : run.process_ends) {
    if (ended.pid == memory.victim_pid && memory.victim_pid != 0) {
      return &ended;
    }
    if (memory.victim_pid == 0 && counters_rose && ended.end && ended.end->signal() == SIGKILL) {
      return &ended;
    }
  }
  return nullptr;
}

const SignalSeen* FindSignal(const CaseFile& run, int signal) {
  for (const SignalSeen& seen : run.signals) {
    if (seen.signal == signal) {
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
  return seen.sender_name.empty() ? fmt::format("process {}{}", *seen.sender_pid, uid)
                                  : fmt::format("process {} ({}{})", *seen.sender_pid, seen.sender_name, uid);
}

std::string FindKernelLine(const CaseFile& run, std::string_view word) {
  for (const KernelLine& line : run.kernel_lines) {
    if (line.text.find(word) == std::string::npos) {
      continue;
    }
    // "python3[4711]: segfault at 10 ip 00007f... in libfoo.so[...]"
    const auto open = line.text.find('[');
    const std::int64_t pid = open == std::string::npos ? 0 : NumberAfter(line.text.substr(open), "[");
    if (pid != 0 && IsOurs(run, pid)) {
      return line.text;
    }
  }
  return "";
}

}  // namespace whystop
