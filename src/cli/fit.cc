#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/human.h"
#include "base/human_parse.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/fit_report.h"
#include "cli/progress_line.h"
#include "cli/rerun.h"
#include "fit/fit_plan.h"
#include "fit/fit_trial.h"
#include "stream/recording_stream.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr std::int64_t kSteps = 9;      // By the third all that the optimizer keeps is there; a large batch makes a second pass within the others.
constexpr double kOfFreeMemory = 0.85;  // The rest is for the machine.
constexpr double kReserve = 0.02;       // Of the limit: equal runs differ.
constexpr std::size_t kTrialsMax = 16;

struct Limit {
  std::int64_t bytes = 0;
  std::string is;
};

Result<Limit> LimitOf(const FitOptions& options, const Recorded& run) {
  const auto free =
      static_cast<std::int64_t>(kOfFreeMemory * static_cast<double>(AvailableBytes()));
  if (!options.limit.empty()) {
    const auto given = ParseBytes(options.limit);
    if (!given || *given <= 0) {
      return Error{Error::Code::kUsage, "--limit " + options.limit + " is no size",
                   "for example 8G, 512M"};
    }
    if (*given > free) {
      return Error{Error::Code::kUsage,
                   fmt::format("{} are more than this machine can give now without harm: {}",
                               HumanBytes(static_cast<double>(*given)),
                               HumanBytes(static_cast<double>(free))),
                   "try a smaller --limit: what a sample costs is told all the same"};
    }
    return Limit{*given, "as given"};
  }
  if (run.group_limit_bytes && *run.group_limit_bytes < free) {
    return Limit{*run.group_limit_bytes, "in the run's control group"};
  }
  return Limit{free, "free on this machine"};
}

class Fitting {
 public:
  Fitting(const FitBench& bench, std::int64_t limit_bytes, const Recorded& run,
          ProgressLine& display, FitFindings& found)
      : bench_(bench), limit_(limit_bytes), run_(run), display_(display), found_(found) {}

  void FindBatch() {
    while (found_.trials.size() < kTrialsMax) {
      const auto batch = NextBatch(found_.trials, Usable());
      if (!batch || !Try(fmt::format("batch={}", *batch), *batch)) {
        break;
      }
      if (found_.trials.size() == 1 && found_.trials.front().end == FitTrial::End::kFits) {
        KeepForLater();
      }
    }
    found_.answer = AnswerOf(found_.trials);
    if (!found_.trials.empty() && found_.trials.back().end == FitTrial::End::kOther &&
        found_.trouble.empty()) {
      found_.trouble = fmt::format("with batches of {} the program does not train: {}",
                                   found_.trials.back().batch, found_.trials.back().said);
    }
  }

  void FindSavings() {
    const auto line = LineThrough(found_.trials);
    if (!line || found_.answer.batch == 0 || !found_.trouble.empty()) {
      return;
    }
    const FitTrial& own = found_.trials.front();
    if (own.batch > 1) {
      found_.savings.push_back(Accumulation(own, found_.answer, *line));
    }
    Measure("checkpoint", "checkpointing", *line);
    Measure("bf16", "16 bits (bfloat16 autocast)", *line);
  }

 private:
  /// What a trial may use: what comes later in a run, and chance, are kept back.
  std::int64_t Usable() const {
    const auto reserve = static_cast<std::int64_t>(kReserve * static_cast<double>(limit_));
    return limit_ - std::max(reserve, later_bytes_);
  }

  bool Try(const std::string& spec, std::int64_t batch) {
    display_.Show(
        fmt::format("{} done; trying: {}", found_.trials.size(),
                    batch == 0 ? "the program's own batch" : fmt::format("batch {}", batch)),
        HumanDuration(std::chrono::duration_cast<seconds>(bench_.deadline - MonotonicNow())));
    auto trial = RunFitTrial(bench_, spec, batch, Usable());
    if (!trial) {
      found_.trouble = trial.error().what;
      return false;
    }
    found_.trials.push_back(std::move(*trial));
    return true;
  }

  /// The recorded run held more at its peak than its first steps do: validation, checkpoints.
  void KeepForLater() {
    Recorded first;
    if (auto stream = RecordingStream::Open(bench_.folder + "/batch-0", first)) {
      (*stream)->Finish();
      later_bytes_ =
          std::clamp<std::int64_t>(run_.rss_bytes_max - first.rss_bytes_max, 0, limit_ / 4);
    }
  }

  /// The same batch with a change that saves memory.
  void Measure(const std::string& change, const std::string& name, const FitLine& line) {
    const FitTrial& largest =
        *std::max_element(found_.trials.begin(), found_.trials.end(), [](auto& a, auto& b) {
          return std::pair(a.end == FitTrial::End::kFits, a.batch) <
                 std::pair(b.end == FitTrial::End::kFits, b.batch);
        });
    const std::int64_t batch = largest.batch;
    display_.Show(fmt::format("{} done; trying: {}", found_.trials.size(), name), "little");
    const auto trial =
        RunFitTrial(bench_, fmt::format("batch={} {}", batch, change), batch, Usable());
    if (!trial || trial->end != FitTrial::End::kFits || !trial->changed) {
      return;
    }
    const double now = static_cast<double>(largest.peak_bytes);
    const auto then = static_cast<double>(trial->peak_bytes);
    const double before = line.sample_bytes * static_cast<double>(batch);
    FitSaving saving{name, "", batch, trial->peak_bytes};
    saving.text =
        now - then < 0.02 * now
            ? fmt::format("saves nothing here: {} instead of {} at batch {}", HumanBytes(then),
                          HumanBytes(now), HumanCount(batch))
            : fmt::format(
                  "{} instead of {} at batch {}; about {} of them would fit", HumanBytes(then),
                  HumanBytes(now), HumanCount(batch),
                  HumanCount(static_cast<std::int64_t>(static_cast<double>(batch) * before /
                                                       std::max(1.0, before - (now - then)))));
    found_.savings.push_back(saving);
  }

  const FitBench& bench_;
  std::int64_t limit_;
  const Recorded& run_;
  ProgressLine& display_;
  FitFindings& found_;
  std::int64_t later_bytes_ = 0;
};

}  // namespace

int Fit(const FitOptions& options) {
  const auto rerun = PrepareRerun(options);
  if (!rerun) {
    Complain(rerun.error());
    return kExitUsage;
  }
  const auto limit = LimitOf(options, rerun->run);
  if (!limit) {
    Complain(limit.error());
    return kExitUsage;
  }
  FitBench bench{BenchFor(*rerun, options, 1), rerun->directory + "/fit",
                 MonotonicNow() + rerun->budget, &Interrupted};
  bench.bench.steps_max = kSteps;
  std::error_code fault;
  fs::remove_all(bench.folder, fault);
  fs::create_directories(bench.folder, fault);
  FitFindings found;
  found.limit_bytes = limit->bytes;
  found.limit_is = limit->is;
  NoteInterrupts();
  ProgressLine display(options.json);
  Fitting fitting(bench, limit->bytes, rerun->run, display, found);
  fitting.FindBatch();
  fitting.FindSavings();
  display.Clear();
  PrintShown(options.json ? FitJson(found) : FitText(found));
  return found.answer.batch > 0 ? 0 : 3;
}

}  // namespace whystop
