#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "cause/hang_facts.h"
#include "cause/hang_ranks.h"
#include "cause/hang_workers.h"

namespace whystop {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t kCount>
bool IsOneOf(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool ReadsAFile(const ThreadLook& thread) {
  constexpr std::array<std::string_view, 11> kCalls = {
      "read", "pread", "readv", "write", "pwrite", "writev", "open", "stat", "fsync", "fdatasync",
      "flock"};
  return IsOneOf(thread.waits_in, kCalls) && thread.waits_for.starts_with('/') &&
         !thread.waits_for.starts_with("/dev/");
}

bool WaitsForPeer(const ThreadLook& thread) {
  return thread.waits_for.starts_with("tcp ") || thread.waits_for.starts_with("tcp6 ");
}

/// It writes what nobody reads: a full pipe behind its output or its log, or a terminal that was
/// stopped by Ctrl-S. A pipe of any other kind may be how it talks to its workers.
bool WritesUnread(const ThreadLook& thread) {
  if (thread.waits_in != "write" && thread.waits_in != "writev") {
    return false;
  }
  return thread.waits_for.starts_with("the terminal") || thread.waits_for.starts_with("standard output") ||
         thread.waits_for.starts_with("standard error") ||
         (thread.waits_for == "a pipe" && FrameOf(thread, "/logging/") != nullptr);
}

bool WaitsForKeys(const ThreadLook& thread) {
  return thread.waits_for.starts_with("the terminal") ||
         thread.waits_for.starts_with("standard input");
}

/// Its main thread runs no module any more but a function that was registered for the exit. Not known
/// of a program that has Python inside: there any function may be the first.
bool RunsAtExit(const ProcessLook& process, const ThreadLook& main) {
  constexpr std::array<std::string_view, 3> kStarts = {"_run_module_as_main", "Thread._bootstrap", "_bootstrap"};
  return process.name.starts_with("python") && !main.frames.empty() && main.frames.front().function != "<module>" &&
         !main.frames.front().file.starts_with("<frozen") && !IsOneOf(main.frames.front().function, kStarts);
}

/// The interpreter is on its way out: nothing of the program itself is left to run.
bool IsEnding(const ProcessLook& process, const ThreadLook& main) {
  if (process.finalizing) {
    return true;
  }
  if (main.frames.empty() || main.frames.front().function == "<module>") {
    return false;
  }
  constexpr std::array<std::string_view, 4> kLast = {"_shutdown", "_exit_function", "_python_exit",
                                                     "_run_exitfuncs"};
  return IsOneOf(main.frames.front().function, kLast) || RunsAtExit(process, main);
}

/// Another thread of a process that waits for its threads to end.
std::string ThreadsLeft(const ProcessLook& process) {
  for (std::size_t i = 1; i < process.threads.size(); ++i) {
    const Frame* own = InnermostOwn(process.threads[i].frames);
    if (own != nullptr) {
      return fmt::format("a thread of the program is still at {}", PlaceText(*own));
    }
  }
  return "it waits for threads or processes that do not end";
}

/// What a process that is on its way out still waits for.
std::string EndWaitsFor(const ProcessLook& process, const ThreadLook& main) {
  const Frame* own = InnermostOwn(main.frames);
  return own != nullptr ? "what it calls at its exit does not return: " + PlaceText(*own) : ThreadsLeft(process);
}

bool UsesTracker(const ThreadLook& main) {
  constexpr std::array<std::string_view, 6> kTrackers = {
      "/wandb/", "/mlflow/", "/neptune/", "/comet_ml/", "/clearml/", "/aim/"};
  return std::any_of(kTrackers.begin(), kTrackers.end(),
                     [&main](std::string_view name) { return FrameOf(main, name) != nullptr; });
}

bool ShowsAWindow(const ThreadLook& main) {
  if (FrameOf(main, "/tkinter/") != nullptr || FrameOf(main, "/PyQt") != nullptr ||
      FrameOf(main, "/PySide") != nullptr) {
    return true;
  }
  const Frame* plot = FrameOf(main, "/matplotlib/");
  const Frame* own = InnermostOwn(main.frames);
  return (plot != nullptr && (Holds(plot->function, "show") || Holds(plot->function, "mainloop"))) ||
         (own != nullptr && Holds(own->source, "cv2.waitKey"));
}

bool FetchesBatch(const ThreadLook& main) {
  const Frame* loader = FrameOf(main, "/torch/utils/data/dataloader.py");
  return loader != nullptr && Holds(loader->function, "_MultiProcessingDataLoaderIter");
}

bool FetchesBatchBefore311(const ThreadLook& main) {
  const Frame* loader = FrameOf(main, "/torch/utils/data/dataloader.py");
  constexpr std::array<std::string_view, 2> kCalls = {"_try_get_data", "_get_data"};
  return loader != nullptr && IsOneOf(loader->function, kCalls);
}

HangKind ClassifyProcess(const HangFacts& hang, const ProcessLook& process, int depth);

/// The trainer waits for a batch: what its workers do decides.
HangKind ClassifyLoader(const HangFacts& hang, const ProcessLook& trainer, int depth) {
  int workers = 0;
  for (const ProcessLook& process : hang.processes) {
    if (process.parent_pid != trainer.pid || !IsLoaderWorker(process)) {
      continue;
    }
    ++workers;
    if (const auto forked = ClassifyForked(process)) {
      const bool lock = forked->cause == "lock-held";
      return {lock ? "dataloader-deadlock" : forked->cause, &process,
              "the trainer waits for a batch; " + forked->text, forked->certain};
    }
    if (OwnOfWorker(process) == nullptr) {
      continue;  // It waits for work.
    }
    HangKind inner = ClassifyProcess(hang, process, depth + 1);
    inner.text = "the trainer waits for a batch; " + inner.text;
    return inner;
  }
  return {"dataloader-deadlock", &trainer,
          workers == 0
              ? std::string("the trainer waits for a batch, and no worker is alive to make it")
              : fmt::format("the trainer waits for a batch, and its {} workers wait for work",
                            workers)};
}

HangKind ClassifyBusy(const HangFacts& hang) {
  const ProcessLook* busiest = hang.Trainer();
  for (const ProcessLook& process : hang.processes) {
    if (busiest == nullptr || process.cpu_share > busiest->cpu_share) {
      busiest = &process;
    }
  }
  std::string text = "it computes all the time and stays in the same place";
  if (busiest != nullptr) {
    const ThreadLook* main = busiest->MainThread();
    text = fmt::format("process {} uses {:.0f} % of a core and stays in the same place", busiest->pid,
                       100 * busiest->cpu_share);
    text += busiest->same_variables ? "; none of its variables changes" : "";
    text += main != nullptr && main->holds_gil ? "; it holds Python's lock, so no other thread runs"
                                               : "";
  }
  return {"busy-loop", busiest, text, false};
}

/// A process that waits for another one of the job: the other one is what to look at.
const ProcessLook* WaitedFor(const HangFacts& hang, const ProcessLook& process,
                             const ThreadLook& main) {
  if (main.waits_in != "wait" && FrameOf(main, "/multiprocessing/popen") == nullptr &&
      FrameOf(main, "/subprocess.py") == nullptr && !process.python.empty()) {
    return nullptr;
  }
  const ProcessLook* found = nullptr;
  for (const ProcessLook& other : hang.processes) {
    if (other.parent_pid == process.pid && other.state != 'Z' &&
        (found == nullptr || !other.python.empty())) {
      found = &other;
    }
  }
  return found;
}

/// A process that waits for what a worker should send, and a worker that has ended.
const ProcessLook* DeadWorker(const HangFacts& hang, const ProcessLook& process, const ThreadLook& main) {
  if (FrameOf(main, "/multiprocessing/") == nullptr && FrameOf(main, "/concurrent/futures/") == nullptr) {
    return nullptr;
  }
  const auto found = std::find_if(hang.processes.begin(), hang.processes.end(), [&process](const ProcessLook& other) {
    return other.parent_pid == process.pid && other.state == 'Z';
  });
  return found == hang.processes.end() ? nullptr : &*found;
}

HangKind ClassifyWait(const HangFacts& hang, const ProcessLook& process, const ThreadLook& main) {
  const std::string what = main.waits_for.empty() ? main.waits_in : main.waits_for;
  if (const ProcessLook* dead = DeadWorker(hang, process, main)) {
    return {"dataloader-worker-killed", &process,
            fmt::format("process {} waits for its workers, and one of them ({}) has ended", process.pid, dead->pid)};
  }
  if (WritesUnread(main)) {
    return {"logger-stall", &process,
            fmt::format("nobody reads what it writes: its {} to {} does not return", main.waits_in, what)};
  }
  if (WaitsForKeys(main) || FrameOf(main, "/pdb.py") != nullptr) {
    return {"waiting-for-input", &process, "it waits for somebody to type: it reads " + what};
  }
  if (main.state == 'D') {
    return {"storage-stall", &process,
            fmt::format("it is blocked inside the kernel ({}){}", main.waits_in,
                        main.waits_for.empty() ? "" : ", on " + main.waits_for)};
  }
  if (ReadsAFile(main)) {
    return {"storage-stall", &process,
            fmt::format("its {} of {} does not return", main.waits_in, main.waits_for)};
  }
  if (ShowsAWindow(main)) {
    return {"blocked-on-gui", &process, "it shows a window and waits until that is closed"};
  }
  if (UsesTracker(main)) {
    return {"logger-stall", &process, "it waits for its experiment tracker: " + what};
  }
  if (FrameOf(main, "/torch/distributed/") != nullptr) {
    return ClassifyRanks(hang, {&process});
  }
  if (WaitsForPeer(main)) {
    return {"network-fetch-stall", &process, "it waits for an answer of " + what};
  }
  if (main.waits_in == "sleep" || Holds(main.waits_in, "nanosleep")) {
    return {"busy-loop", &process, "it sleeps, wakes and sleeps again in the same place", false};
  }
  const Frame* own = InnermostOwn(main.frames);
  const bool lock = FrameOf(main, "/threading.py") != nullptr ||
                    FrameOf(main, "/queue.py") != nullptr || Holds(main.waits_in, "futex") ||
                    (own != nullptr && Holds(Lower(own->source), "acquire"));
  if (lock && !main.frames.empty()) {
    const std::string left = ThreadsLeft(process);
    return {"lock-held", &process,
            left.starts_with("a thread") ? "it waits for a lock, a queue or a thread; " + left
                                         : "it waits for a lock or a queue that nobody releases"};
  }
  return {"stuck-in-call", &process,
          "it waits" + (what.empty() ? std::string(" in a call that does not return") : " in " + what),
          false};
}

HangKind ClassifyProcess(const HangFacts& hang, const ProcessLook& process, int depth) {
  constexpr int kDepthMax = 8;
  const ThreadLook* main = process.MainThread();
  if (main == nullptr) {
    return {"stuck-in-call", &process, "nothing could be read of it", false};
  }
  if (IsEnding(process, *main)) {
    return {UsesTracker(*main) ? "logger-stall" : "shutdown-hang", &process,
            "the program is over and Python is shutting down; " + EndWaitsFor(process, *main)};
  }
  if (FetchesBatch(*main) || FetchesBatchBefore311(*main)) {
    return ClassifyLoader(hang, process, depth);
  }
  if (const ProcessLook* worker = StuckPoolWorker(hang, process)) {
    HangKind forked = *ClassifyForked(*worker);
    forked.text = fmt::format("process {} waits for its workers; ", process.pid) + forked.text;
    return forked;
  }
  const ProcessLook* other = depth < kDepthMax ? WaitedFor(hang, process, *main) : nullptr;
  if (other != nullptr) {
    HangKind inner = ClassifyProcess(hang, *other, depth + 1);
    inner.text = fmt::format("process {} waits for process {}; ", process.pid, other->pid) + inner.text;
    return inner;
  }
  return ClassifyWait(hang, process, *main);
}

HangKind ClassifyStopped(const HangFacts& hang) {
  for (const ProcessLook& process : hang.processes) {
    if (process.state == 'T' || process.state == 't') {
      return {"process-stopped", &process,
              fmt::format("process {} ({}) is stopped: {}", process.pid, process.name,
                          process.state == 'T' ? "it got SIGSTOP, or Ctrl-Z was typed"
                                               : "a debugger holds it")};
    }
  }
  return {"process-stopped", hang.Trainer(), "a process is stopped"};
}

}  // namespace

HangKind ClassifyHang(const HangFacts& hang) {
  if (hang.how == "stopped") {
    return ClassifyStopped(hang);
  }
  if (const auto ranks = hang.Ranks(); ranks.size() > 1 || (!ranks.empty() && hang.how != "busy")) {
    HangKind kind = ClassifyRanks(hang, ranks);
    if (!kind.cause.empty()) {
      return kind;
    }
    if (kind.where != nullptr) {  // One rank holds up the others by something of its own.
      HangKind own = hang.how == "busy" ? ClassifyBusy(hang) : ClassifyProcess(hang, *kind.where, 0);
      own.text = kind.text + own.text;
      return own;
    }
  }
  if (hang.how == "busy") {
    return ClassifyBusy(hang);
  }
  const ProcessLook* trainer = hang.Trainer();
  return trainer == nullptr ? HangKind{"stuck-in-call", nullptr, "no process could be seen", false}
                            : ClassifyProcess(hang, *trainer, 0);
}

}  // namespace whystop
