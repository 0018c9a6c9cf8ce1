#include "diagnose/verdict_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace whystop {
namespace {

/// What is ruled out by a word, and the causes that are the very thing.
struct Ruled {
  std::string_view what;
  std::initializer_list<std::string_view> causes;
};

const Ruled kRuled[] = {
    {"memory",
     {"cgroup-oom-kill", "host-oom-kill", "userspace-oom-daemon", "slurm-memory-limit", "host-mem-leak", "host-alloc-failed"}},
    {"disk", {"disk-full", "disk-quota"}},
    {"NaN", {"loss-nan", "nan-in-data", "invalid-math", "stop-on-nan", "early-stop-nonfinite", "masked-softmax-nan"}},
    {"exception", {"uncaught-exception", "callback-exception", "swallowed-exception"}},
};

void CheckCompletion(const Verdict& verdict, std::vector<std::string>& out) {
  if (verdict.outcome != Outcome::kCompleted) {
    return;
  }
  for (const Balance& balance : verdict.account) {
    const bool seen_to_end_short = !balance.ended.empty() && balance.planned && balance.done &&
                                   *balance.done < *balance.planned - 0.5;
    if (seen_to_end_short) {
      out.push_back(fmt::format("completed, with {} of {} {}", *balance.done, *balance.planned, balance.level));
    }
  }
}

void CheckPlace(const Verdict& verdict, std::vector<std::string>& out) {
  const auto& progress = verdict.progress;
  if (progress.epoch && progress.epochs_planned && *progress.epoch > *progress.epochs_planned) {
    out.push_back(fmt::format("epoch {} of {}", *progress.epoch, *progress.epochs_planned));
  }
  if (progress.step && progress.steps_planned && *progress.step > *progress.steps_planned) {
    out.push_back(fmt::format("step {} of {}", *progress.step, *progress.steps_planned));
  }
  for (const Balance& balance : verdict.account) {
    if (balance.planned && balance.done && *balance.done > *balance.planned) {
      out.push_back(fmt::format("{} of {} {} done", *balance.done, *balance.planned, balance.level));
    }
    const bool of_epochs = balance.level == "epochs" && balance.planned == progress.epochs_planned;
    if (of_epochs && balance.done && progress.epoch && *progress.epoch < *balance.done) {
      out.push_back(fmt::format("in epoch {}, with {} of them done", *progress.epoch, *balance.done));
    }
  }
}

void CheckRuledOut(const Verdict& verdict, std::vector<std::string>& out) {
  for (const RuledOut& ruled : verdict.ruled_out) {
    for (const Ruled& known : kRuled) {
      for (const VerdictCause& cause : verdict.causes) {
        const bool named = ruled.what == known.what &&
                           std::find(known.causes.begin(), known.causes.end(), cause.id) != known.causes.end();
        if (named) {
          out.push_back(ruled.what + " is ruled out and " + cause.id + " is named");
        }
      }
    }
    if (ruled.what == "signal" && verdict.exit.signal) {
      out.push_back(fmt::format("signals are ruled out and {} ended it", *verdict.exit.signal));
    }
  }
}

void CheckCauses(const Verdict& verdict, std::vector<std::string>& out) {
  const auto root_of = [&verdict](Answers answers) {
    return std::count_if(verdict.causes.begin(), verdict.causes.end(), [answers](const VerdictCause& cause) {
      return cause.role == CauseRole::kRoot && cause.answers == answers;
    });
  };
  if (root_of(Answers::kStop) > 1 || root_of(Answers::kLearning) > 2) {
    out.push_back("more than one root for one question");
  }
  for (const VerdictCause& cause : verdict.causes) {
    const auto same = std::count_if(verdict.causes.begin(), verdict.causes.end(),
                                    [&cause](const VerdictCause& other) { return other.id == cause.id; });
    if (same > 1) {
      out.push_back(cause.id + " is named twice");
    }
  }
}

}  // namespace

std::vector<std::string> Contradictions(const Verdict& verdict, bool process_gone) {
  std::vector<std::string> out;
  CheckCompletion(verdict, out);
  CheckPlace(verdict, out);
  CheckRuledOut(verdict, out);
  CheckCauses(verdict, out);
  // A run that hung until somebody ended it may be called hung.
  if (process_gone && verdict.outcome == Outcome::kRunning) {
    out.push_back("a dead process is called running");
  }
  if (verdict.trainings.size() > 1 && !verdict.learning_text.starts_with("training ")) {
    out.push_back("several trainings, and the answer does not say which one it is about");
  }
  return out;
}

}  // namespace whystop
