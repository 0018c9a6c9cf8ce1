#include "sense/process_tree.h"

#include <algorithm>

#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr std::size_t kFollowedMax = 4096;  // Beyond this a fork bomb would be our problem too.
constexpr std::int64_t kStartsPerSweepMax = 256;
constexpr int kRenamesMax = 4;  // exec, then a framework naming its threads.
constexpr std::size_t kPssProcessesMax = 4;
const Subject kTree{.kind = Subject::Kind::kTree, .name = {}, .number = 0};

std::int64_t WholeCpuMs(const ProcessFacts& facts) {
  return facts.cpu_user_ms + facts.cpu_system_ms + facts.cpu_reaped_ms;
}

void Count(std::int64_t now, std::int64_t& before, const char* counter, Sweep& sweep) {
  if (now > before) {
    sweep.Announce(Drop{counter, now - before});
    before = now;
  }
}

}  // namespace

void ProcessTree::Sample(std::span<const pid_t> job_pids, bool dense, Sweep& sweep) {
  const auto interval = dense ? options_.interval : options_.interval_slow;
  const bool slow = !last_slow_ || sweep.now() - *last_slow_ >= interval;
  if (slow) {
    last_slow_ = sweep.now();
  }
  vanished_.clear();
  starts_left_ = kStartsPerSweepMax;
  DropVanished(sweep);
  FindNew(job_pids, slow, sweep);
  Report(slow, sweep);
  ReportTotals(sweep);
}

void ProcessTree::DropVanished(Sweep& sweep) {
  for (auto at = processes_.begin(); at != processes_.end();) {
    ProcessWatch& process = at->second;
    const std::string name_before = process.name();
    if (process.ReadQuick(buffer_)) {
      if (process.subject != 0 && process.name() != name_before && process.renames < kRenamesMax) {
        ++process.renames;
        AnnounceName(process, sweep);
      }
      ++at;
      continue;
    }
    const ProcessFacts& facts = process.facts();
    vanished_.push_back({process.pid(), facts.parent_pid, process.name()});
    // A parent that waits for a child takes over its CPU time and I/O (the kernel adds them up).
    if (!processes_.contains(static_cast<pid_t>(facts.parent_pid))) {
      ended_cpu_ms_ += WholeCpuMs(facts);
      ended_read_bytes_ = SaturatingSum(ended_read_bytes_, facts.io.read_bytes.value_or(0));
      ended_written_bytes_ =
          SaturatingSum(ended_written_bytes_, facts.io.written_bytes.value_or(0));
    }
    detailed_ -= process.subject != 0 ? 1U : 0U;
    at = processes_.erase(at);
  }
}

void ProcessTree::FindNew(std::span<const pid_t> job_pids, bool every_thread, Sweep& sweep) {
  for (const pid_t pid : job_pids) {
    Follow(pid, sweep);
  }
  std::vector<pid_t> open;
  for (const auto& [pid, process] : processes_) {
    open.push_back(pid);
  }
  if (children_missing_) {
    if (every_thread) {  // The scan looks at the whole machine: only on slow sweeps.
      for (const pid_t pid : ScanDescendants(options_.roots.proc, open)) {
        Follow(pid, sweep);
      }
    }
    return;
  }
  std::vector<pid_t> children;
  while (!open.empty()) {
    const auto found = processes_.find(open.back());
    open.pop_back();
    if (found == processes_.end()) {
      continue;
    }
    children.clear();
    found->second.AppendChildren(every_thread, buffer_, children);
    children_missing_ = children_missing_ || found->second.children_missing();
    for (const pid_t child : children) {
      if (!processes_.contains(child)) {
        Follow(child, sweep);
        open.push_back(child);
      }
    }
  }
  Count(starts_dropped_ + std::max<std::int64_t>(0, -starts_left_), starts_dropped_,
        "sense.process_starts_unreported", sweep);
}

void ProcessTree::Follow(pid_t pid, Sweep& sweep) {
  if (pid <= 0 || processes_.contains(pid)) {
    return;
  }
  if (processes_.size() >= kFollowedMax) {
    --starts_left_;
    return;
  }
  ProcessWatch process(options_.roots.proc, pid, *budget_);
  if (!process.ReadQuick(buffer_)) {
    return;  // It ended between being listed and being read.
  }
  process.ReadSlow(buffer_);
  if (detailed_ < options_.processes_max && --starts_left_ >= 0) {
    ++detailed_;
    process.subject = sweep.AddSubject({Subject::Kind::kProcess, process.name(), pid});
    sweep.Announce(ProcessStart{pid, process.facts().parent_pid, process.name(),
                                process.ReadCommandLine(buffer_)});
    AnnounceLostProbe(process, sweep);
  }
  processes_.emplace(pid, std::move(process));
}

void ProcessTree::AnnounceName(ProcessWatch& process, Sweep& sweep) {
  sweep.Announce(
      SubjectSeen{process.subject, {Subject::Kind::kProcess, process.name(), process.pid()}});
  sweep.Announce(ProcessStart{process.pid(), process.facts().parent_pid, process.name(),
                              process.ReadCommandLine(buffer_)});
  AnnounceLostProbe(process, sweep);
}

void ProcessTree::AnnounceLostProbe(const ProcessWatch& process, Sweep& sweep) {
  if (!probe_lost_ && process.HasLostPythonPath(options_.probe_folder)) {
    probe_lost_ = true;
    sweep.Announce(Observation{.kind = "probe-left-out",
                               .step = {},
                               .rank = {},
                               .attributes = {{"pid", static_cast<double>(process.pid())}, {"name", process.name()}}});
  }
}

void ProcessTree::Report(bool slow, Sweep& sweep) {
  for (auto& [pid, process] : processes_) {
    if (slow) {
      process.ReadSlow(buffer_);
    }
    const SubjectId id = process.subject;
    if (id == 0) {
      continue;
    }
    const ProcessFacts& facts = process.facts();
    sweep.Add(id, Quantity::kProcessRssBytes, facts.rss_bytes);
    sweep.Add(id, Quantity::kProcessCpuUserMs, facts.cpu_user_ms);
    sweep.Add(id, Quantity::kProcessCpuSystemMs, facts.cpu_system_ms);
    sweep.Add(id, Quantity::kProcessThreads, facts.threads);
    sweep.Add(id, Quantity::kProcessMajorFaults, facts.major_faults);
    sweep.Add(id, Quantity::kProcessAnonBytes, facts.status.anon_bytes);
    sweep.Add(id, Quantity::kProcessShmemBytes, facts.status.shmem_bytes);
    sweep.Add(id, Quantity::kProcessSwapBytes, facts.status.swap_bytes);
    sweep.Add(id, Quantity::kProcessFds, facts.fds);
    sweep.Add(id, Quantity::kProcessReadBytes, facts.io.read_bytes);
    sweep.Add(id, Quantity::kProcessWrittenBytes, facts.io.written_bytes);
  }
}

void ProcessTree::ReportTotals(Sweep& sweep) {
  std::int64_t rss_bytes = 0;
  std::int64_t threads = 0;
  std::int64_t cpu_ms = ended_cpu_ms_;
  std::optional<std::int64_t> anon_bytes;
  std::optional<std::int64_t> fds_max;
  std::optional<std::int64_t> read_bytes;
  std::optional<std::int64_t> written_bytes;
  const auto sum = [](std::optional<std::int64_t>& total, std::optional<std::int64_t> value) {
    if (value) {
      total = SaturatingSum(total.value_or(0), *value);
    }
  };
  for (const auto& [pid, process] : processes_) {
    const ProcessFacts& facts = process.facts();
    rss_bytes += facts.rss_bytes;
    threads += facts.threads;
    cpu_ms += WholeCpuMs(facts);
    sum(anon_bytes, facts.status.anon_bytes);
    sum(read_bytes, facts.io.read_bytes);
    sum(written_bytes, facts.io.written_bytes);
    fds_max = std::max(fds_max, facts.fds);
  }
  // Time that a dying process had used since the last sweep can be lost between two owners.
  cpu_ms_max_ = std::max(cpu_ms_max_, cpu_ms);
  const SubjectId tree = sweep.Find(kTree);
  sweep.Add(tree, Quantity::kTreeProcesses, static_cast<std::int64_t>(processes_.size()));
  sweep.Add(tree, Quantity::kTreeCpuMs, cpu_ms_max_);
  if (processes_.empty()) {
    return;
  }
  sweep.Add(tree, Quantity::kTreeRssBytes, rss_bytes);
  sweep.Add(tree, Quantity::kTreeThreads, threads);
  sweep.Add(tree, Quantity::kTreeAnonBytes, anon_bytes);
  sweep.Add(tree, Quantity::kTreeFdsMax, fds_max);
  if (read_bytes) {
    sweep.Add(tree, Quantity::kTreeReadBytes, SaturatingSum(*read_bytes, ended_read_bytes_));
  }
  if (written_bytes) {
    sweep.Add(tree, Quantity::kTreeWrittenBytes,
              SaturatingSum(*written_bytes, ended_written_bytes_));
  }
  Count(static_cast<std::int64_t>(processes_.size() - detailed_), not_detailed_,
        "sense.processes_not_detailed", sweep);
}

void ProcessTree::SamplePss(Sweep& sweep) {
  std::vector<const ProcessWatch*> largest;
  for (const auto& [pid, process] : processes_) {
    if (process.subject != 0) {
      largest.push_back(&process);
    }
  }
  const std::size_t count = std::min(kPssProcessesMax, largest.size());
  std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count),
                    largest.end(), [](const ProcessWatch* left, const ProcessWatch* right) {
                      return left->facts().rss_bytes > right->facts().rss_bytes;
                    });
  largest.resize(count);
  for (const ProcessWatch* process : largest) {
    sweep.Add(process->subject, Quantity::kProcessPssBytes, process->ReadPssBytes(buffer_));
  }
}

}  // namespace whystop
