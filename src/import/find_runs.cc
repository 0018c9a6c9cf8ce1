#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "import/log_name.h"
#include "import/open.h"
#include "import/split_folder.h"

namespace whystop {
namespace {
namespace fs = std::filesystem;

// A run takes longer from opening its log to its latest line.
constexpr std::int64_t kAtOnceSeconds = 5;

/// Born when it was last written, or later: a copy keeps the time of its original. Where the file system does not
/// know when a file was born nothing is said.
bool CameAtOnce(const std::string& path) {
  struct statx facts {};
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_MTIME | STATX_BTIME, &facts) == 0 &&
         (facts.stx_mask & STATX_BTIME) != 0 && facts.stx_mtime.tv_sec - facts.stx_btime.tv_sec < kAtOnceSeconds;
}

/// Walks the named paths and keeps what is known.
class Search {
 public:
  Search(const FindLimits& limits, const std::function<void(std::size_t)>& on_progress)
      : limits_(limits), on_progress_(on_progress) {}

  Status Take(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
      return SystemError("cannot read '" + path + "'", errno);
    }
    if (S_ISDIR(info.st_mode)) {
      WalkFolder(path, 0);
      return Ok{};
    }
    return TakeFile(path, true);
  }

  std::vector<FoundFile> files;
  std::vector<std::string> ignored;
  bool limits_met = false;

 private:
  Status TakeFile(const std::string& path, bool named) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
      return Ok{};  // Gone meanwhile, or a device.
    }
    ++files_seen_;
    on_progress_(files_seen_);
    const auto head = ReadFile(path, kSniffBytes);
    if (!head) {
      return named ? Status(head.error()) : Status(Ok{});
    }
    const FileKind kind = SniffBytes(*head);
    if (const std::string_view packed = CompressionOf(*head);
        named && kind == FileKind::kOther && !packed.empty()) {
      return Error{Error::Code::kUsage,
                   "'" + path + "' is compressed (" + std::string(packed) + ")",
                   "unpack it, or read it from a pipe: zcat '" + path + "' | whystop why -"};
    }
    const bool foreign = IsTrackersDiary(path, *head) || (!named && IsForeign(path, kind, *head));
    if (kind == FileKind::kOther || foreign) {
      if (named) {
        ignored.push_back(path);
      }
      return Ok{};
    }
    files.push_back({.path = path,
                     .kind = kind,
                     .size_bytes = info.st_size,
                     .written = std::chrono::seconds(info.st_mtim.tv_sec) +
                                std::chrono::nanoseconds(info.st_mtim.tv_nsec),
                     .at_once = CameAtOnce(path),
                     .named = named});
    return Ok{};
  }

  /// W&B's own `debug.log` and `debug-internal.log`: they tell of its connection, whose errors are not the run's.
  static bool IsTrackersDiary(const fs::path& path, std::string_view head) {
    return path.filename().string().starts_with("debug") &&
           (std::find(path.begin(), path.end(), "wandb") != path.end() || head.find("[wandb_") != std::string_view::npos ||
            head.find("W&B internal") != std::string_view::npos);
  }

  /// In a folder a text file may be anything (source code, notes), and so may a table: only what is
  /// called a log, or speaks of training, is taken.
  static bool IsForeign(const std::string& path, FileKind kind, std::string_view head) {
    if (fs::path(path).filename() == "wandb-summary.json") {
      return true;  // The last figures once more.
    }
    if (kind == FileKind::kTable || kind == FileKind::kJsonLines ||
        kind == FileKind::kJsonHistory) {
      return !SpeaksOfTraining(kind, head);
    }
    if (kind != FileKind::kTextLog) {
      return kind == FileKind::kEmpty;
    }
    const std::string extension = fs::path(path).extension().string();
    const std::string name = fs::path(path).filename().string();
    const bool log_like = extension == ".log" || extension == ".out" || extension == ".err" ||
                          extension == ".txt" || extension == ".stdout" || extension == ".stderr" ||
                          name == "stdout" || name == "stderr" || name == "nohup.out";
    const bool packages = name.starts_with("requirements") && extension == ".txt";  // For pip; W&B keeps one of each run.
    const bool scheduler = extension.size() > 2 && (extension[1] == 'o' || extension[1] == 'e') &&
                           extension.find_first_not_of("0123456789", 2) == std::string::npos;
    return packages || (!log_like && !scheduler);
  }

  void WalkFolder(const std::string& folder, int depth) {
    std::error_code fault;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, fault),
         end;
         !fault && at != end; at.increment(fault)) {
      if (entries.size() >= limits_.files_max) {
        limits_met = true;
        break;
      }
      entries.push_back(*at);
    }
    std::sort(entries.begin(), entries.end());  // The same answer on every file system.
    for (const fs::directory_entry& entry : entries) {
      if (files_seen_ >= limits_.files_max) {
        limits_met = true;
        return;
      }
      const std::string name = entry.path().filename().string();
      if (entry.is_symlink(fault) && entry.is_directory(fault)) {
        continue;  // "latest-run" and loops.
      }
      if (entry.is_directory(fault)) {
        if (depth >= limits_.depth_max) {
          limits_met = true;
        } else if (name != "__pycache__" && name != "node_modules" && name != "site-packages" &&
                   name != ".git") {
          WalkFolder(entry.path().string(), depth + 1);
        }
      } else if (!name.starts_with('.')) {
        static_cast<void>(TakeFile(entry.path().string(), false));
      }
    }
  }

  const FindLimits& limits_;
  const std::function<void(std::size_t)>& on_progress_;
  std::size_t files_seen_ = 0;
};

/// The name without its ending, but for a job's number in it: `fit.o42` and `fit.o43` are two jobs.
std::string StemOf(const FoundFile& file) {
  const fs::path path(file.path);
  const std::string ending = path.extension().string();
  const std::size_t digits = ending.find_first_of("0123456789");
  return path.stem().string() +
         (digits == std::string::npos ? std::string() : "." + ending.substr(digits));
}

bool IsLog(const FoundFile& file) {
  return file.kind == FileKind::kTextLog || file.kind == FileKind::kEmpty;
}

/// Curves first, then what knows how the run ended, then the log, and last the log's errors.
int ReadingTurn(const FoundFile& file) {
  if (IsLog(file)) {
    return ReadLogName(file.path).error_stream ? 3 : 2;
  }
  return file.kind == FileKind::kTrainerState || file.kind == FileKind::kWandb ? 1 : 0;
}

bool ReadsBefore(const FoundFile& left, const FoundFile& right) {
  if (ReadingTurn(left) != ReadingTurn(right)) {
    return ReadingTurn(left) < ReadingTurn(right);
  }
  return left.written != right.written ? left.written < right.written : left.path < right.path;
}

/// Of several pictures of the same trainer only the newest counts: each holds the whole history.
void KeepNewestState(std::vector<FoundFile>& files) {
  const FoundFile* newest = nullptr;
  for (const FoundFile& file : files) {
    if (file.kind == FileKind::kTrainerState &&
        (newest == nullptr || file.size_bytes > newest->size_bytes ||
         (file.size_bytes == newest->size_bytes && file.written > newest->written))) {
      newest = &file;
    }
  }
  const std::string kept = newest == nullptr ? std::string() : newest->path;
  std::erase_if(files, [&kept](const FoundFile& file) {
    return file.kind == FileKind::kTrainerState && !file.named && file.path != kept;
  });
}

/// A run of a folder while its files are gathered, with what decides whether one more belongs to it:
/// logs of another stem, and a second file of a kind that a run has only one of, begin a run of their
/// own. Kept beside it, since a folder may hold thousands of files.
struct GatheredRun {
  FoundRun run;
  std::optional<std::string> log_stem;
  std::string job;  // Of the log, with the half that it holds.
  bool has_errors = false;
  std::vector<FileKind> single_kinds;

  bool Fits(const FoundFile& file, const std::string& stem) const {
    if (IsLog(file)) {
      const LogName name = ReadLogName(file.path);
      return !log_stem || *log_stem == stem ||
             (name.error_stream && !has_errors && job == name.job);
    }
    return std::find(single_kinds.begin(), single_kinds.end(), file.kind) == single_kinds.end();
  }
  void Add(FoundFile file, const std::string& stem) {
    if (IsLog(file)) {
      LogName name = ReadLogName(file.path);
      log_stem = stem;
      job = std::move(name.job);
      has_errors = has_errors || name.error_stream;
    } else if (file.kind != FileKind::kTensorBoard && file.kind != FileKind::kFlightRecord) {  // One a rank.
      single_kinds.push_back(file.kind);
    }
    run.files.push_back(std::move(file));
  }
};

std::chrono::nanoseconds LastWritten(const FoundRun& run) {
  std::chrono::nanoseconds last{};
  for (const FoundFile& file : run.files) {
    last = std::max(last, file.written);
  }
  return last;
}

std::vector<FoundRun> GroupFolder(const std::string& folder, std::vector<FoundFile> files) {
  KeepNewestState(files);
  std::sort(files.begin(), files.end(), ReadsBefore);
  std::vector<GatheredRun> runs;
  for (FoundFile& file : files) {
    const std::string stem = StemOf(file);
    // Newest first: a log belongs to the metrics that were written last before it ended.
    const auto fitting = std::find_if(runs.rbegin(), runs.rend(), [&](const GatheredRun& run) {
      return run.Fits(file, stem);
    });
    GatheredRun& run = fitting != runs.rend() ? *fitting : runs.emplace_back();
    run.Add(std::move(file), stem);
  }
  std::vector<FoundRun> out;
  for (GatheredRun& gathered : runs) {
    FoundRun& run = gathered.run;
    run.name = runs.size() == 1 && !folder.empty() ? folder : run.files.front().path;
    out.push_back(std::move(run));
  }
  return out;
}

bool HoldsOnly(const FoundRun& run, bool logs) {
  return std::all_of(run.files.begin(), run.files.end(),
                     [logs](const FoundFile& file) { return IsLog(file) == logs; });
}

/// A log and the metrics of another folder are one run when there is one of each and both were last
/// written at about the same time: `whystop why slurm-1.out lightning_logs/version_0`.
void JoinLogWithMetrics(std::vector<FoundRun>& runs) {
  constexpr auto kApartMax =
      std::chrono::minutes(10);  // The end of training may save, upload and test for a while.
  if (runs.size() != 2) {
    return;
  }
  FoundRun& first = runs[HoldsOnly(runs[0], true) ? 1 : 0];
  FoundRun& second = runs[HoldsOnly(runs[0], true) ? 0 : 1];
  const auto apart = LastWritten(first) - LastWritten(second);
  if (!HoldsOnly(first, false) || !HoldsOnly(second, true) || apart > kApartMax ||
      apart < -kApartMax) {
    return;
  }
  first.files.insert(first.files.end(), second.files.begin(), second.files.end());
  FoundRun joined = std::move(first);
  runs.clear();
  runs.push_back(std::move(joined));
}

}  // namespace

Result<Found> FindRuns(const std::vector<std::string>& paths, const FindLimits& limits,
                       const std::function<void(std::size_t files_seen)>& on_progress) {
  Search search(limits, on_progress);
  for (const std::string& path : paths) {
    WS_RETURN_IF_ERROR(search.Take(path));
  }
  // An empty file (a job.err to which nothing was written) tells nothing beside others.
  if (std::any_of(search.files.begin(), search.files.end(),
                  [](const FoundFile& file) { return file.kind != FileKind::kEmpty; })) {
    std::erase_if(search.files,
                  [](const FoundFile& file) { return file.kind == FileKind::kEmpty; });
  }
  std::map<std::string, std::vector<FoundFile>> folders;
  for (FoundFile& file : search.files) {
    folders[RunFolderOf(file.path)].push_back(std::move(file));
  }
  Found found;
  found.ignored = std::move(search.ignored);
  found.limits_met = search.limits_met;
  for (auto& [folder, files] : folders) {
    for (FoundRun& run : GroupFolder(folder, std::move(files))) {
      found.runs.push_back(std::move(run));
    }
  }
  std::stable_sort(found.runs.begin(), found.runs.end(),
                   [](const FoundRun& left, const FoundRun& right) {
                     return LastWritten(left) < LastWritten(right);
                   });
  JoinLogWithMetrics(found.runs);
  return found;
}

}  // namespace whystop
