#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/finding.h"
#include "model/trial_result.h"

namespace whystop {

enum class Outcome {
  kCompleted,
  kStoppedEarly,
  kRaised,
  kCrashed,
  kKilled,
  kInterrupted,
  kHung,
  kRunning,
  kUnknown
};
enum class Learning { kImproving, kConverged, kStalled, kDiverged, kNeverLearned, kUnknown };
enum class Answers { kStop, kLearning };
enum class CauseRole { kRoot, kConsequence, kContributing };
enum class Confidence { kCertain, kLikely, kPossible };

/// One statement that speaks for or against a cause, with the figures it rests on.
struct Evidence {
  enum class Weight { kDecisive, kSupporting, kContradicting, kMissing };
  Weight weight = Weight::kSupporting;
  std::string kind =
      {};  // "exit-status", "cgroup-counter", "log-line", "series", "stack", "sample"
  std::string text = {};  // One sentence, with its numbers.
  std::string series = {};
  std::optional<std::int64_t> step_from = {};
  std::optional<std::int64_t> step_to = {};
  std::vector<Fact> values = {};
  Place place = {};
};

struct VerdictCause {
  std::string id;
  std::string title;  // The page's title: one line for people.
  CauseRole role = CauseRole::kRoot;
  Confidence confidence = Confidence::kPossible;
  Answers answers = Answers::kStop;
  bool fault = true;  // False for normal ends ("finished-epochs"): named, but nothing to mend.
  std::vector<Evidence> evidence;
  std::vector<std::string> fixes;  // In order of preference.
};

struct RuledOut {
  std::string what;    // "memory", "NaN", "signal"
  std::string figure;  // "peak 1.2 of 24 GiB"
};

struct Unknown {
  std::string what;        // What could not be seen.
  std::string would_show;  // What would settle it.
};

/// One level of the account of the plan: what was to be done and what was.
struct Balance {
  std::string level;  // "epochs", "steps"
  std::optional<double> planned;
  std::optional<double> done;
  std::string ended;  // How the level came to its end, in words; "": nobody saw it.
};

/// The answer. Everything that any report shows is in here.
struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  Learning learning = Learning::kUnknown;
  std::string ending;  // How and where it ended: "killed by SIGKILL at step 30 of 1,000".
  std::string
      headline;  // The same with the reasons: all that is said where there is room for one line.
  std::string learning_text;  // One line: what the loss did, or why nothing can be said.
  std::string learning_series;  // The series that it was read off: a loss, a score, a reward; "": none.
  struct {
    std::optional<double> epoch;
    std::optional<double> epochs_planned;
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> steps_planned;
    std::optional<double> seconds;
  } progress;
  struct {
    std::optional<int> code;
    std::optional<int> signal;
    std::string sent_by;  // Who sent the signal, where known.
  } exit;
  std::vector<Balance> account;
  /// Where one job trained several models one after another (sweeps, folds): a line for each, the one that decided marked.
  std::vector<std::string> trainings;
  std::vector<VerdictCause> causes;  // Root first, then what it led to.
  std::vector<RuledOut> ruled_out;
  std::vector<Unknown> unknowns;
  std::vector<TrialResult> trials;  // Of `whystop try`; empty: none was made.
  // What the verdict is about.
  std::string run_id;
  std::vector<std::string> command;
  std::vector<std::string> sources;  // The recording or the files it was made from.
  std::vector<Drop> drops;
  std::optional<double> overhead;  // The recorder's own CPU time as a share of the job's.
};

std::string_view Name(Outcome outcome);
std::string_view Name(Learning learning);
std::string_view Name(Answers answers);
std::string_view Name(CauseRole role);
std::string_view Name(Confidence confidence);

/// What `why` returns: 0 nothing wrong found, 1 a fault was found, 3 not enough evidence.
int ExitCodeOf(const Verdict& verdict);

}  // namespace whystop
