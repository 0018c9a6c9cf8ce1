#include "look/tree_look.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "base/fd.h"
#include "base/parse.h"
#include "look/python_stacks.h"
#include "look/source_line.h"
#include "look/stack_signal.h"
#include "look/thread_facts.h"
#include "sense/process_parse.h"

namespace whystop {
namespace {

constexpr std::size_t kProcessesMax = 512;
constexpr std::size_t kCommandMax = 300;

struct Found {
  ProcessStat stat;
  std::string name;
};

std::map<pid_t, Found> AllProcesses() {
  std::map<pid_t, Found> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const auto pid = ParseWhole<pid_t>(std::string_view(entry->d_name));
    const auto text = pid ? ReadFile(fmt::format("/proc/{}/stat", *pid), 4096)
                          : Result<std::string>(Error{});
    const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
    if (stat) {
      Found& found = all[*pid] = {*stat, std::string(stat->name)};
      found.stat.name = {};  // It points into a text that is gone.
    }
  }
  return all;
}

/// The root and its descendants, parents before children.
std::vector<pid_t> TreeOf(pid_t root, const std::map<pid_t, Found>& all) {
  std::vector<pid_t> tree;
  if (all.contains(root)) {
    tree.push_back(root);
  }
  for (std::size_t i = 0; i < tree.size() && tree.size() < kProcessesMax; ++i) {
    for (const auto& [pid, found] : all) {
      if (found.stat.parent_pid == tree[i] && pid != root) {
        tree.push_back(pid);
      }
    }
  }
  return tree;
}

/// The number that the first of these variables of an environment holds.
std::optional<int> NumberIn(const std::string& environment,
                            std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::size_t at = environment.find(std::string(1, '\0') + std::string(name));
    if (at != std::string::npos) {
      const std::string_view rest = std::string_view(environment).substr(at + 1 + name.size());
      return ParseWhole<int>(rest.substr(0, rest.find('\0')));
    }
  }
  return std::nullopt;
}

/// The rank as torchrun and others set it. No other variable is looked at.
void AddRank(pid_t pid, ProcessLook& look) {
  const auto text = ReadFile(fmt::format("/proc/{}/environ", pid), 1 << 20);
  if (text) {
    const std::string environment = std::string(1, '\0') + *text;
    look.rank = NumberIn(environment, {"RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK="});
    look.ranks = NumberIn(environment, {"WORLD_SIZE=", "OMPI_COMM_WORLD_SIZE=", "PMI_SIZE="});
  }
}

void AddSources(pid_t pid, std::vector<Frame>& frames) {
  for (Frame& frame : frames) {
    if (frame.users_own) {
      AddSource(pid, frame);
    }
  }
}

void AddDump(const std::vector<DumpedThread>& dumped, ProcessLook& look) {
  if (dumped.empty() || look.threads.empty()) {
    return;
  }
  look.unseen.clear();
  std::size_t other = 1;
  for (const DumpedThread& thread : dumped) {
    // The dump knows threads by another number; only the one that took the signal is known: the
    // main one.
    if (thread.current) {
      look.threads.front().frames = thread.frames;
    } else if (other < look.threads.size()) {
      look.threads[other++].frames = thread.frames;
    }
  }
}

std::uint64_t MarkOf(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) {
    text += fmt::format("{}:{}:{};", frame.file, frame.line, frame.function);
  }
  return std::hash<std::string>{}(text);
}

void AddPython(pid_t pid, int stack_signal, Snapshot& out) {
  const PythonStacks stacks = PythonProcess(pid).ReadStacks();
  out.look.python = stacks.version;
  out.look.unseen = stacks.unseen;
  out.look.finalizing = stacks.finalizing;
  for (const PythonThread& thread : stacks.threads) {
    out.marks.emplace_back(thread.place, thread.variables);
    // A forked child has its parent's number for the thread that forked.
    const bool only = stacks.threads.size() == 1 && !out.look.threads.empty();
    const auto found =
        std::find_if(out.look.threads.begin(), out.look.threads.end(),
                     [&thread](const ThreadLook& one) { return one.tid == thread.tid; });
    ThreadLook* owner = found != out.look.threads.end() ? &*found
                        : only                          ? &out.look.threads.front()
                                                        : nullptr;
    if (owner != nullptr) {
      owner->frames = thread.frames;
      owner->holds_gil = thread.holds_gil;
    }
  }
  if (!stacks.unseen.empty() && stack_signal > 0 && out.look.state != 'T') {
    AddDump(AskForStacks(pid, stack_signal), out.look);
    for (const ThreadLook& thread : out.look.threads) {
      out.marks.emplace_back(MarkOf(thread.frames), 0);
    }
  }
}

/// The number behind "name:" in a file of /proc; 0 where it cannot be read.
std::int64_t NumberBehind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) {
    return 0;
  }
  const std::string_view rest = text.substr(at + name.size());
  return ParseWhole<std::int64_t>(Trim(rest.substr(0, rest.find('\n')))).value_or(0);
}

Snapshot LookAt(pid_t pid, const Found& found, int stack_signal) {
  static const long ticks = ::sysconf(_SC_CLK_TCK);
  Snapshot out;
  out.look.pid = pid;
  out.look.parent_pid = found.stat.parent_pid;
  out.look.name = found.name;
  out.look.state = found.stat.state;
  out.start_ticks = found.stat.start_ticks;
  out.cpu_ms = (found.stat.user_ticks + found.stat.system_ticks) * 1000 / ticks;
  if (const auto text = ReadFile(fmt::format("/proc/{}/cmdline", pid), 4096)) {
    out.look.command = ParseCommandLine(*text, kCommandMax);
  }
  AddRank(pid, out.look);
  if (const auto text = ReadFile(fmt::format("/proc/{}/io", pid), 1024)) {
    out.io_bytes = NumberBehind(*text, "rchar:") + NumberBehind(*text, "wchar:");
  }
  // What a socket receives is in no count of bytes; that somebody was woken by it shows.
  if (const auto text = ReadFile(fmt::format("/proc/{}/task/{}/status", pid, pid), 4096)) {
    out.wakes = NumberBehind(*text, "\nvoluntary_ctxt_switches:");
  }
  if (found.stat.state != 'Z') {
    out.look.threads = ReadThreads(pid);
    AddPython(pid, stack_signal, out);
    for (ThreadLook& thread : out.look.threads) {
      AddSources(pid, thread.frames);
    }
  }
  return out;
}

const Snapshot* SameProcess(const std::vector<Snapshot>& look, const Snapshot& wanted) {
  const auto found = std::find_if(look.begin(), look.end(), [&wanted](const Snapshot& one) {
    return one.look.pid == wanted.look.pid && one.start_ticks == wanted.start_ticks;
  });
  return found == look.end() ? nullptr : &*found;
}

bool WaitsForPeer(const Snapshot& snapshot) {
  const ThreadLook* main = snapshot.look.MainThread();
  return main != nullptr && (main->waits_for.starts_with("tcp") || main->waits_in == "epoll_wait");
}

/// Whether no thread moved from one look to the next: by places, or by places and variables.
bool SameMarks(const Snapshot& a, const Snapshot& b, bool with_variables) {
  return std::equal(a.marks.begin(), a.marks.end(), b.marks.begin(), b.marks.end(),
                    [with_variables](const auto& one, const auto& other) {
                      return one.first == other.first &&
                             (!with_variables || one.second == other.second);
                    });
}

}  // namespace

std::vector<Snapshot> LookAtTree(pid_t root, int stack_signal) {
  const std::map<pid_t, Found> all = AllProcesses();
  std::vector<Snapshot> out;
  for (const pid_t pid : TreeOf(root, all)) {
    out.push_back(LookAt(pid, all.at(pid), stack_signal));
  }
  return out;
}

Stillness CompareLooks(const std::vector<std::vector<Snapshot>>& looks,
                       std::chrono::nanoseconds elapsed) {
  Stillness out;
  if (looks.empty()) {
    return out;
  }
  const double elapsed_ms = std::chrono::duration<double, std::milli>(elapsed).count();
  for (const Snapshot& last : looks.back()) {
    ProcessLook look = last.look;
    look.same_frames = look.same_variables = true;
    const Snapshot* first = &last;
    bool runs = last.look.state == 'R';
    for (const std::vector<Snapshot>& earlier : looks) {
      const Snapshot* before = SameProcess(earlier, last);
      out.same_processes = out.same_processes && before != nullptr;
      if (before != nullptr) {
        first = first == &last ? before : first;
        runs = runs && before->look.state == 'R';
        look.same_frames = look.same_frames && SameMarks(*before, last, false);
        look.same_variables = look.same_variables && SameMarks(*before, last, true);
      }
    }
    look.cpu_share =
        elapsed_ms > 0 ? static_cast<double>(last.cpu_ms - first->cpu_ms) / elapsed_ms : 0;
    out.io_bytes += last.io_bytes - first->io_bytes;
    out.always_runs = out.always_runs || runs;
    if (elapsed_ms > 0 && WaitsForPeer(last) && WaitsForPeer(*first)) {
      out.peer_wakes = std::max(out.peer_wakes, 1000 * static_cast<double>(last.wakes - first->wakes) / elapsed_ms);
    }
    out.cpu_share += look.cpu_share;
    out.processes.push_back(std::move(look));
  }
  out.cpu_s = out.cpu_share * elapsed_ms / 1000;
  out.same_processes = out.same_processes && looks.front().size() == looks.back().size();
  return out;
}

}  // namespace whystop
