#include "try/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "try/compare.h"
#include "try/interventions.h"

namespace whystop {
namespace {

constexpr std::string_view kAgain = "seed=1000";
constexpr std::string_view kStandIn = "stand-in=0.003";
constexpr std::string_view kByHeart = "one-batch=8";
constexpr std::string_view kPermuted = "permute-labels";
constexpr std::string_view kHeldOut = "hold-out";
constexpr double kGoodEnough = 0.25;  // Of guessing: no better rate is looked for.

/// The wish list: what is done or under way falls out when it is read.
class Wishes {
 public:
  Wishes(std::span<const Trial> done, std::span<const std::string> running) {
    for (const Trial& trial : done) {
      known_.push_back(trial.spec);
    }
    known_.insert(known_.end(), running.begin(), running.end());
  }
  void Add(std::string_view spec) {
    if (std::find(known_.begin(), known_.end(), spec) == known_.end()) {
      known_.emplace_back(spec);
      wanted_.emplace_back(spec);
    }
  }
  bool empty() const { return wanted_.empty(); }
  std::vector<std::string> Take() { return std::move(wanted_); }

 private:
  std::vector<std::string> known_;
  std::vector<std::string> wanted_;
};

bool AnyOf(std::span<const std::string> suspects, std::string_view list) {
  return std::any_of(suspects.begin(), suspects.end(),
                     [list](const std::string& suspect) { return Lists(list, suspect); });
}

/// Whether a mending is worth a trial, and the suspected ones first.
void AddMendings(const TryCase& asked, const Comparison& runs, Wishes& wishes) {
  for (const bool suspected : {true, false}) {
    for (const Mending& mending : AllMendings()) {
      const bool is_suspect = AnyOf(asked.suspects, mending.causes);
      if (is_suspect == suspected && (runs.failing() || is_suspect) &&
          mending.applies(*runs.as_is())) {
        wishes.Add(mending.spec);
      }
    }
  }
}

bool MendingCures(const Comparison& runs) {
  return std::any_of(AllMendings().begin(), AllMendings().end(), [&runs](const Mending& mending) {
    const Trial* trial = runs.Find(mending.spec);
    return trial != nullptr && runs.Cures(*trial);
  });
}

/// Rates in both directions, farther as long as nothing is found; beyond a cure, one step more.
void AddRates(const Comparison& runs, Wishes& wishes) {
  if (runs.as_is()->Seen("lr") == 0 && runs.as_is()->survey.contains("lr")) {
    wishes.Add("lr=0.01");
    wishes.Add("lr=0.001");
    return;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLadder = {
      {{"lr-times=0.1", "lr-times=10"},
       {"lr-times=0.01", "lr-times=100"},
       {"lr-times=0.001", "lr-times=1000"},
       {"lr-times=0.0001", "lr-times=10000"}}};
  for (std::size_t i = 0; i < kLadder.size(); ++i) {
    wishes.Add(kLadder[i].first);
    wishes.Add(kLadder[i].second);
    const Trial* low = runs.Find(kLadder[i].first);
    const Trial* high = runs.Find(kLadder[i].second);
    if (low == nullptr || high == nullptr) {
      return;
    }
    for (const bool upwards : {false, true}) {
      const Trial* found = upwards ? high : low;
      if (runs.Cures(*found)) {
        if (runs.Value(*found).value_or(0) > kGoodEnough && i + 1 < kLadder.size()) {
          wishes.Add(upwards ? kLadder[i + 1].second : kLadder[i + 1].first);
        }
        return;
      }
    }
    if (i == 1) {
      return;  // The last two rungs come after the other questions.
    }
  }
}

bool RateCures(const Comparison& runs, std::span<const Trial> done) {
  return std::any_of(done.begin(), done.end(), [&runs](const Trial& trial) {
    return trial.spec.substr(0, 2) == "lr" && trial.spec != "lr-hold" && runs.Cures(trial);
  });
}

void AddQuestions(const TryCase& asked, const Comparison& runs, Wishes& wishes) {
  const auto end = EndLevel(*runs.as_is());
  if (end && !end->finite) {
    wishes.Add("clip=1");
    wishes.Add("anomaly");
  }
  wishes.Add(kStandIn);
  wishes.Add(kByHeart);
  wishes.Add(kPermuted);
  wishes.Add(kHeldOut);
  const auto start = StartLevel(*runs.as_is());
  const bool falls = start && end && end->finite && end->value + 2 * end->error < start->value;
  if (falls || AnyOf(asked.suspects, "not-enough-steps")) {
    wishes.Add("continue");
  }
}

void AddForALearner(const TryCase& asked, Wishes& wishes) {
  if (AnyOf(asked.suspects, "labels-random labels-misaligned")) {
    wishes.Add(kStandIn);
    wishes.Add(kHeldOut);
    wishes.Add(kPermuted);
  }
  if (AnyOf(asked.suspects, "not-enough-steps")) {
    wishes.Add("continue");
  }
}

}  // namespace

TryCase CaseOf(const Verdict& verdict) {
  TryCase asked;
  for (const VerdictCause& cause : verdict.causes) {
    if (cause.fault) {
      asked.suspects.push_back(cause.id);
    }
  }
  asked.stopped_early = verdict.outcome == Outcome::kStoppedEarly;
  asked.learns_by_watching = asked.suspects.empty() && (verdict.learning == Learning::kImproving ||
                                                        verdict.learning == Learning::kConverged);
  return asked;
}

std::vector<std::string> NextTrials(const TryCase& asked, std::span<const Trial> done,
                                    std::span<const std::string> running) {
  Wishes wishes(done, running);
  wishes.Add(kAsIs);
  wishes.Add(kAgain);
  const Comparison runs(done);
  if (runs.as_is() == nullptr) {
    return wishes.Take();
  }
  if (AnyOf(asked.suspects, "batchnorm-single-sample")) {
    wishes.Add("drop-last");
  }
  if (AnyOf(asked.suspects, "dataloader-worker-exception dataloader-worker-killed")) {
    wishes.Add("no-workers");
  }
  if (asked.stopped_early && AnyOf(asked.suspects, "early-stop-patience")) {
    wishes.Add("patience=10");
  }
  if (!EndLevel(*runs.as_is())) {
    return wishes.Take();  // Too few steps to say anything about learning.
  }
  AddMendings(asked, runs, wishes);
  if (!wishes.empty() || MendingCures(runs)) {
    return wishes.Take();
  }
  if (!runs.failing()) {
    AddForALearner(asked, wishes);
    return wishes.Take();
  }
  AddRates(runs, wishes);
  if (!wishes.empty() || RateCures(runs, done)) {
    return wishes.Take();
  }
  AddQuestions(asked, runs, wishes);
  if (wishes.empty() && AnyOf(asked.suspects, "lr-too-low lr-too-high")) {
    wishes.Add("lr-times=0.001");
    wishes.Add("lr-times=1000");
  }
  return wishes.Take();
}

}  // namespace whystop
