#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <system_error>

#include "base/clock.h"
#include "base/human.h"
#include "base/human_parse.h"
#include "base/shown_text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/recorded_run.h"
#include "record/recording_reader.h"
#include "record/remove_recording.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

struct Limits {
  std::optional<nanoseconds> older;
  std::optional<std::int64_t> bytes_max;
  std::optional<std::size_t> keep;
};

Result<Limits> LimitsOf(const PruneOptions& options) {
  Limits limits;
  if (!options.older.empty()) {
    limits.older = ParseDuration(options.older);
    if (!limits.older) {
      return Error{Error::Code::kUsage, "--older " + options.older + " is no time",
                   "for example 12h, 30d, 8w"};
    }
  }
  if (!options.max_size.empty()) {
    limits.bytes_max = ParseBytes(options.max_size);
    if (!limits.bytes_max) {
      return Error{Error::Code::kUsage, "--max-size " + options.max_size + " is no size",
                   "for example 500M, 2G"};
    }
  }
  if (options.keep >= 0) {
    limits.keep = static_cast<std::size_t>(options.keep);
  }
  if (!limits.older && !limits.bytes_max && !limits.keep) {
    return Error{Error::Code::kUsage, "say which recordings: --older 30d, --keep 20 or --max-size 2G",
                 "--dry-run only tells what would be deleted"};
  }
  return limits;
}

struct Candidate {
  RecordedRun run;
  std::int64_t bytes = 0;
  bool finished = false;
};

/// Oldest first. The newest finished ones that `keep` names stay in any case.
std::vector<Candidate> Condemned(const std::vector<Candidate>& all, const Limits& limits) {
  std::vector<const Candidate*> finished;
  for (const Candidate& one : all) {
    if (one.finished) {
      finished.push_back(&one);
    }
  }
  const std::size_t kept = std::min(limits.keep.value_or(0), finished.size());
  finished.resize(finished.size() - kept);
  std::int64_t bytes = std::accumulate(
      all.begin(), all.end(), std::int64_t{0},
      [](std::int64_t sum, const Candidate& one) { return sum + one.bytes; });
  const bool all_but_kept = !limits.older && !limits.bytes_max;
  const nanoseconds now = ReadClocks().wall;
  std::vector<Candidate> condemned;
  for (const Candidate* one : finished) {
    const bool too_old = limits.older && now - one->run.started > *limits.older;
    const bool too_much = limits.bytes_max && bytes > *limits.bytes_max;
    if (all_but_kept || too_old || too_much) {
      condemned.push_back(*one);
      bytes -= one->bytes;
    }
  }
  return condemned;
}

/// <home>/latest, if what it pointed at is gone.
void ForgetLatest() {
  std::error_code fault;
  const std::string link = HomeOfRecordings() + "/latest";
  if (fs::is_symlink(fs::symlink_status(link, fault)) && !IsRecording(link)) {
    fs::remove(link, fault);
  }
}

class Teller {
 public:
  explicit Teller(const PruneOptions& options) : options_(options) {
    json_.Open();
    json_.Flag("dry_run", options.dry_run);
    json_.OpenList("deleted");
  }
  void Deleted(const Candidate& one, std::int64_t freed) {
    ++count_;
    bytes_ += freed;
    if (options_.json) {
      json_.Open();
      json_.Text("run", LastPart(one.run.path));
      json_.Text("path", one.run.path);
      json_.Number("bytes", freed);
      json_.Close();
      return;
    }
    Print(fmt::format("{}  {:<20}  {}  {:>8}\n", options_.dry_run ? "would delete" : "deleted",
                      ShownText(LastPart(one.run.path)), LocalTime(one.run.started, "%Y-%m-%d %H:%M"),
                      HumanBytes(static_cast<double>(freed))));
  }
  void Finish(const std::vector<Candidate>& all) {
    std::int64_t bytes_left = -bytes_;
    std::size_t live = 0;
    for (const Candidate& one : all) {
      bytes_left += one.bytes;
      live += one.finished ? 0 : 1;
    }
    const std::size_t left = all.size() - count_;
    if (options_.json) {
      json_.CloseList();
      json_.Number("bytes", bytes_);
      json_.Number("kept", static_cast<std::int64_t>(left));
      json_.Number("kept_bytes", bytes_left);
      json_.Number("live", static_cast<std::int64_t>(live));
      json_.Close();
      Print(json_.text() + "\n");
      return;
    }
    Print(fmt::format("{} recording{} {}, {} {}; {} left with {}{}\n", count_, count_ == 1 ? "" : "s",
                      options_.dry_run ? "would be deleted" : "deleted",
                      HumanBytes(static_cast<double>(bytes_)),
                      options_.dry_run ? "would be free" : "free again", left,
                      HumanBytes(static_cast<double>(bytes_left)),
                      live == 0 ? "" : fmt::format(", {} of them still being written", live)));
  }

 private:
  const PruneOptions& options_;
  JsonWriter json_;
  std::size_t count_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

int Prune(const PruneOptions& options) {
  const auto limits = LimitsOf(options);
  if (!limits) {
    Complain(limits.error());
    return kExitUsage;
  }
  std::vector<Candidate> all;
  for (const RecordedRun& run : ListRecordings()) {
    all.push_back({run, BytesOnDisk(run.path), IsFinished(run)});
  }
  Teller teller(options);
  int exit_code = 0;
  for (const Candidate& one : Condemned(all, *limits)) {
    if (options.dry_run) {
      teller.Deleted(one, one.bytes);
      continue;
    }
    if (const Status removed = RemoveRecording(one.run.path); !removed) {
      Complain(removed.error());
      exit_code = 1;
      continue;
    }
    std::error_code fault;
    const bool stays = fs::exists(one.run.path, fault);
    if (stays) {
      Complain("'" + one.run.path + "' holds files that are not whystop's: they stay");
    }
    teller.Deleted(one, one.bytes - (stays ? BytesOnDisk(one.run.path) : 0));
  }
  if (!options.dry_run) {
    ForgetLatest();
  }
  teller.Finish(all);
  return exit_code;
}

}  // namespace whystop
