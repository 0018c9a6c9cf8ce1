#include "sense/surroundings_parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "sense/proc_text.h"

namespace whystop {
namespace {

using State = SurroundingFact::State;

std::optional<std::string> FirstLine(const std::string& path) {
  const auto text = ReadFile(path, 4096);
  if (!text) {
    return std::nullopt;
  }
  std::string_view rest = *text;
  return std::string(Trim(TakeLine(rest)));
}

/// A limit of /proc/self/limits: "Max open files            1024                 4096   files".
std::optional<std::string> SoftLimit(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (line.starts_with(name)) {
      line.remove_prefix(name.size());
      return std::string(TakeField(line));
    }
  }
  return std::nullopt;
}

struct LimitInfo {
  std::string_view file_name;
  std::string_view name;
  std::int64_t comfortable;  // Below this a training run can meet it; see the advice.
  std::string_view advice;
};

constexpr LimitInfo kLimits[] = {
    {"Max open files", "ulimit open files", 4096,
     "loader workers that share tensors by descriptor use thousands; raise with ulimit -n"},
    {"Max processes", "ulimit processes", 4096,
     "counts all threads of the user on this machine; raise with ulimit -u"},
    {"Max cpu time", "ulimit CPU time", INT64_MAX, "the kernel sends SIGXCPU when it is used up"},
    {"Max file size", "ulimit file size", INT64_MAX, "a checkpoint beyond it ends by SIGXFSZ"},
    {"Max address space", "ulimit address space", INT64_MAX,
     "GPU programs reserve far more than they use; allocation fails at this limit"},
    {"Max locked memory", "ulimit locked memory", 0, ""},
};

}  // namespace

void AddContainer(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  std::string kind;
  const auto has = [&](const char* name) { return input.environment.contains(name); };
  const auto there = [&](const std::string& path) {
    return ::access((input.roots.mounts + path).c_str(), F_OK) == 0;
  };
  if (has("KUBERNETES_SERVICE_HOST")) {
    kind = "Kubernetes pod";
  } else if (has("APPTAINER_CONTAINER") || has("SINGULARITY_CONTAINER")) {
    kind = "Apptainer";
  } else if (there("/run/.containerenv")) {
    kind = "Podman (/run/.containerenv is there)";
  } else if (there("/.dockerenv")) {
    kind = "Docker (/.dockerenv is there)";
  } else {
    const auto groups = ReadFile(input.roots.proc + "/1/cgroup", 65536);
    for (const std::string_view sign : {"kubepods", "docker", "lxc", "containerd", "libpod"}) {
      if (kind.empty() && groups && groups->find(sign) != std::string::npos) {
        kind = fmt::format("yes ({} in the first process's control group)", sign);
      }
    }
  }
  out.push_back({"container", kind.empty() ? "none seen" : kind, State::kOk,
                 kind.empty() ? "" : "limits set outside of it may be invisible from inside"});
}

void AddScheduler(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto value = [&](const char* name) -> std::string {
    const auto found = input.environment.find(name);
    return found == input.environment.end() ? "" : found->second;
  };
  if (const std::string job = value("SLURM_JOB_ID"); !job.empty()) {
    std::string text = "Slurm job " + job;
    for (const auto& [name, words] :
         {std::pair{"SLURM_MEM_PER_NODE", "MiB a node"},
          std::pair{"SLURM_MEM_PER_CPU", "MiB a CPU"},
          std::pair{"SLURM_CPUS_PER_TASK", "CPUs a task"},
          std::pair{"SLURM_JOB_END_TIME", "end time (seconds, Unix)"}}) {
      if (const std::string figure = value(name); !figure.empty()) {
        text += fmt::format(", {} {}", figure, words);
      }
    }
    out.push_back({"scheduler", text, State::kLimited,
                   "the job ends at its time limit; seff or sacct tell what it used"});
  } else if (!value("PBS_JOBID").empty()) {
    out.push_back({"scheduler", "PBS job " + value("PBS_JOBID"), State::kLimited, ""});
  } else if (!value("LSB_JOBID").empty()) {
    out.push_back({"scheduler", "LSF job " + value("LSB_JOBID"), State::kLimited, ""});
  } else {
    out.push_back({"scheduler", "none seen", State::kOk, ""});
  }
}

void AddOvercommit(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto mode = FirstLine(input.roots.proc + "/sys/vm/overcommit_memory");
  if (!mode) {
    return;
  }
  const bool strict = *mode == "2";
  out.push_back({"overcommit",
                 strict ? "strict (2)" : (*mode == "1" ? "always (1)" : "heuristic (0)"),
                 strict ? State::kLimited : State::kOk,
                 strict ? "allocations fail when promises, not use, reach the commit limit" : ""});
}

void AddLimits(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto text = ReadFile(input.roots.proc + "/self/limits", 65536);
  if (!text) {
    out.push_back({"ulimits", "unknown", State::kUnavailable, "/proc/self/limits cannot be read"});
    return;
  }
  for (const LimitInfo& info : kLimits) {
    const auto limit = SoftLimit(*text, info.file_name);
    if (!limit) {
      continue;
    }
    const auto number = ParseWhole<std::int64_t>(*limit);
    const bool low = number && *number < info.comfortable;
    out.push_back({std::string(info.name), *limit, low ? State::kLimited : State::kOk,
                   low ? std::string(info.advice) : ""});
  }
}

void AddPressure(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const bool there = FirstLine(input.roots.proc + "/pressure/memory").has_value();
  out.push_back(
      {"pressure (PSI)", there ? "readable" : "not available",
       there ? State::kOk : State::kUnavailable,
       there ? "" : "needs Linux 4.20 with psi=1; waiting for memory is guessed from swap"});
}

void AddTracing(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto scope = FirstLine(input.roots.proc + "/sys/kernel/yama/ptrace_scope");
  if (!scope || *scope == "0" || *scope == "1") {
    out.push_back({"stacks of a hung job", "readable", State::kOk, ""});
    return;
  }
  out.push_back({"stacks of a hung job", "ptrace scope " + *scope, State::kUnavailable,
                 "only root may look into a process; kernel.yama.ptrace_scope=1 would allow it"});
}

void AddCorePattern(const SurroundingsInput& input, std::vector<SurroundingFact>& out) {
  const auto pattern = FirstLine(input.roots.proc + "/sys/kernel/core_pattern");
  const auto limits = ReadFile(input.roots.proc + "/self/limits", 65536);
  if (!pattern || !limits) {
    return;
  }
  const auto size = SoftLimit(*limits, "Max core file size");
  const bool piped = pattern->starts_with('|');
  const bool off = !piped && size == "0";
  out.push_back({"core dumps", off ? "off (ulimit -c is 0)" : "to " + *pattern, State::kOk,
                 off ? "ulimit -c unlimited would keep one of a crash" : ""});
}

}  // namespace whystop
