#include "supervise/run_facts.h"

#include <limits.h>
#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "supervise/process_identity.h"
#include "base/redact.h"

namespace whystop {
namespace {

struct Variable {
  std::string_view name;   // Ends in '*': all that begin so.
  bool value_may_be_kept;  // False: only that it is set.
};
constexpr std::array<Variable, 37> kRecordable = {{{"CONDA_DEFAULT_ENV", true},
                                                   {"CUDA_LAUNCH_BLOCKING", true},
                                                   {"CUDA_VISIBLE_DEVICES", true},
                                                   {"HIP_VISIBLE_DEVICES", true},
                                                   {"HOSTNAME", true},
                                                   {"JOB_ID", true},
                                                   {"KUBERNETES_SERVICE_HOST", false},
                                                   {"LOCAL_RANK", true},
                                                   {"LOCAL_WORLD_SIZE", true},
                                                   {"LSB_JOBID", true},
                                                   {"LSB_JOBINDEX", true},
                                                   {"LSB_QUEUE", true},
                                                   {"MASTER_PORT", true},
                                                   {"MKL_NUM_THREADS", true},
                                                   {"NCCL_DEBUG", true},
                                                   {"NODE_RANK", true},
                                                   {"OMP_NUM_THREADS", true},
                                                   {"PBS_JOBID", true},
                                                   {"PBS_JOBNAME", true},
                                                   {"PBS_QUEUE", true},
                                                   {"PBS_WALLTIME", true},
                                                   {"PYTHONFAULTHANDLER", true},
                                                   {"PYTHONUNBUFFERED", true},
                                                   {"PYTORCH_CUDA_ALLOC_CONF", true},
                                                   {"RANK", true},
                                                   {"SLURM_ARRAY_*", true},
                                                   {"SLURM_CPUS_*", true},
                                                   {"SLURM_JOB_*", true},
                                                   {"SLURM_MEM_*", true},
                                                   {"SLURM_N*", true},
                                                   {"SLURM_RESTART_COUNT", true},
                                                   {"SSH_CONNECTION", false},
                                                   {"STY", false},
                                                   {"TMUX", false},
                                                   {"VIRTUAL_ENV", true},
                                                   {"WORLD_SIZE", true},
                                                   {"XDG_SESSION_ID", true}}};

const Variable* FindRecordable(std::string_view name) {
  const auto found =
      std::find_if(kRecordable.begin(), kRecordable.end(), [&](const Variable& variable) {
        if (variable.name.back() == '*') {
          const std::string_view beginning = variable.name.substr(0, variable.name.size() - 1);
          return name.substr(0, beginning.size()) == beginning;
        }
        return name == variable.name;
      });
  return found == kRecordable.end() ? nullptr : &*found;
}

std::map<std::string, std::int64_t> SoftLimits() {
  constexpr std::array<std::pair<const char*, __rlimit_resource>, 11> kLimits = {
      {{"as", RLIMIT_AS},
       {"core", RLIMIT_CORE},
       {"cpu", RLIMIT_CPU},
       {"data", RLIMIT_DATA},
       {"fsize", RLIMIT_FSIZE},
       {"locks", RLIMIT_LOCKS},
       {"memlock", RLIMIT_MEMLOCK},
       {"nofile", RLIMIT_NOFILE},
       {"nproc", RLIMIT_NPROC},
       {"rss", RLIMIT_RSS},
       {"stack", RLIMIT_STACK}}};
  std::map<std::string, std::int64_t> limits;
  for (const auto& [name, resource] : kLimits) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      limits[name] = static_cast<std::int64_t>(limit.rlim_cur);
    }
  }
  return limits;
}

std::string UserName() {
  std::array<char, 4096> space{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, space.data(), space.size(), &found) == 0 &&
      found != nullptr) {
    return found->pw_name;
  }
  return std::to_string(::geteuid());
}

}  // namespace

std::vector<std::string> CurrentEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    environment.emplace_back(*entry);
  }
  return environment;
}

std::vector<std::string> JobEnvironment(std::vector<std::string> environment,
                                        const std::map<std::string, std::string>& set,
                                        const std::string& python_path_prepend) {
  constexpr std::string_view kPythonPath = "PYTHONPATH=";
  std::string python_path;
  const auto is_replaced = [&](const std::string& entry) {
    return set.count(entry.substr(0, entry.find('='))) > 0;
  };
  environment.erase(std::remove_if(environment.begin(), environment.end(), is_replaced),
                    environment.end());
  for (const auto& [name, value] : set) {
    environment.push_back(name + "=" + value);
  }
  if (python_path_prepend.empty()) {
    return environment;
  }
  for (std::string& entry : environment) {
    if (entry.compare(0, kPythonPath.size(), kPythonPath) == 0) {
      const std::string old = entry.substr(kPythonPath.size());
      const bool nested =
          old == python_path_prepend ||
          old.compare(0, python_path_prepend.size() + 1, python_path_prepend + ":") == 0;
      if (!nested) {
        entry = std::string(kPythonPath) + python_path_prepend + (old.empty() ? "" : ":" + old);
      }
      return environment;
    }
  }
  environment.push_back(std::string(kPythonPath) + python_path_prepend);
  return environment;
}

std::map<std::string, std::string> RecordableEnvironment(
    const std::vector<std::string>& environment) {
  std::map<std::string, std::string> kept;
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      continue;
    }
    const std::string name = entry.substr(0, equals);
    if (const Variable* variable = FindRecordable(name)) {
      const std::string value = entry.substr(equals + 1, 1000);
      kept[name] = !variable->value_may_be_kept ? "yes"
                   : NamesASecret(name)         ? "***"
                                                : RedactText(value);
    }
  }
  return kept;
}

void FillRunFacts(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, RunStart& start) {
  start.command = RedactSecrets(command);
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) != nullptr) {
    start.directory = folder.data();
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) {
    start.host = host.data();
  }
  start.user = UserName();
  start.parent_pid = ::getppid();
  start.parent_name = LookAtProcess(::getppid()).name;
  start.wall = ReadClocks().wall;
  if (const auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64)) {
    start.boot_id = Trim(*boot);
  }
  start.environment = RecordableEnvironment(environment);
  start.limits = SoftLimits();
}

}  // namespace whystop
