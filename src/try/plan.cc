#include "try/plan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "try/carries.h"
#include "try/compare.h"
#include "try/interventions.h"
#include "try/pace.h"

namespace whystop {
namespace {

constexpr std::string_view kAgain = "seed=1000";
constexpr std::string_view kStandIn = "stand-in=0.003";
constexpr std::string_view kByHeart = "one-batch=8";
constexpr std::string_view kPermuted = "permute-labels";
constexpr std::string_view kHeldOut = "hold-out";
constexpr double kGoodEnough = 0.5;  // Of guessing: no better rate is looked for.
constexpr double kStands = 300.0;     // Times its own steps: it does not move at all.
constexpr double kWild = 1.2;         // Of guessing: above it more steps are not what it needs.
constexpr double kHopeless = 10.0;    // Times its own steps: no stretch of them will tell.
constexpr double kCarriesOver = 0.9;  // Of guessing on held-out samples: the labels say something.

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

/// The mending that cures and is not known to do so by heart; a suspected one first.
const Mending* HealingMending(const TryCase& asked, const Comparison& runs, bool suspected) {
  const auto mendings = AllMendings();
  const auto found = std::find_if(mendings.begin(), mendings.end(), [&](const Mending& mending) {
    const Trial* trial = runs.Find(mending.spec);
    return trial != nullptr && Heals(runs, *trial) &&
           (!suspected || AnyOf(asked.suspects, mending.causes));
  });
  return found == mendings.end() ? nullptr : &*found;
}

void AddCheck(const Comparison& runs, const Trial& cured, Wishes& wishes) {
  if (CarriesOver(runs, cured) == Carries::kNotAsked) {
    wishes.Add(HeldOutSpec(cured.spec));
  }
}

struct Directions {
  bool down = false;
  bool up = false;
};

/// Rates ever farther off, as long as nothing is found; beyond a weak cure, one step more. True: one was found.
bool AddRates(const TryCase& asked, const Comparison& runs, Directions towards, std::size_t rungs,
              Wishes& wishes) {
  if (runs.as_is()->Seen("lr") == 0 && runs.as_is()->survey.contains("lr")) {
    wishes.Add("lr=0.01");
    wishes.Add("lr=0.001");
    return false;
  }
  constexpr std::array<std::string_view, 4> kDown = {"lr-times=0.1", "lr-times=0.01", "lr-times=0.001",
                                                     "lr-times=0.0001"};
  constexpr std::array<std::string_view, 4> kUp = {"lr-times=10", "lr-times=100", "lr-times=1000",
                                                   "lr-times=10000"};
  // Where it hardly moves, ten times hardly is no answer.
  const std::size_t first_up = TimesByPace(asked, runs).value_or(0) > kStands ? 1 : 0;
  for (std::size_t i = 0; i < rungs; ++i) {
    bool waiting = false;
    for (const bool upwards : {false, true}) {
      const std::size_t rung = upwards ? i + first_up : i;
      if (!(upwards ? towards.up : towards.down) || rung >= kUp.size()) {
        continue;
      }
      const auto& ladder = upwards ? kUp : kDown;
      wishes.Add(ladder[rung]);
      const Trial* trial = runs.Find(ladder[rung]);
      waiting = waiting || trial == nullptr;
      if (trial != nullptr && Heals(runs, *trial)) {
        if (runs.Value(*trial).value_or(0) > kGoodEnough && rung + 1 < kUp.size()) {
          wishes.Add(ladder[rung + 1]);
        }
        return true;
      }
    }
    if (waiting) {
      return false;
    }
  }
  return false;
}

/// The rate that does best among those that heal.
const Trial* HealingRate(const Comparison& runs) {
  const Trial* best = nullptr;
  for (const Trial& trial : runs.trials()) {
    if (IsRate(trial.spec) && Heals(runs, trial) &&
        (best == nullptr || runs.Value(trial) < runs.Value(*best))) {
      best = &trial;
    }
  }
  return best;
}

bool Falls(const Trial& trial) {
  const auto start = StartLevel(trial);
  const auto end = EndLevel(trial);
  return start && end && end->finite && end->value + 2 * end->error < start->value;
}

/// The next stretch at the program's own rate, as long as its pace leaves a hope.
void AddStretches(const TryCase& asked, const Comparison& runs, Wishes& wishes) {
  const auto end = EndLevel(*runs.as_is());
  const bool asks = Falls(*runs.as_is()) || AnyOf(asked.suspects, "not-enough-steps");
  if (!asks || (end && end->of_guessing && end->value > kWild) || !MadeAllSteps(asked, *runs.as_is())) {
    return;
  }
  for (int number = 1; number <= kStretches; ++number) {
    if (TimesByPace(asked, runs).value_or(kHopeless) >= kHopeless) {
      return;
    }
    const Trial* stretch = runs.Find(StretchSpec(number));
    if (stretch == nullptr) {
      wishes.Add(StretchSpec(number));
      return;
    }
    const auto before = StartHeld(*stretch);
    const auto after = EndHeld(*stretch);
    const bool by_heart = before && after && after->value > before->value;
    if (stretch->applied <= 0 || StretchThatLearned(asked, runs) != nullptr || by_heart) {
      return;
    }
  }
}

/// Is it the data or the model? Only where a plain network learns nothing either are the labels asked.
void AddQuestions(const Comparison& runs, Wishes& wishes) {
  const auto end = EndLevel(*runs.as_is());
  if (end && !end->finite) {
    wishes.Add("clip=1");
    wishes.Add("anomaly");
  }
  wishes.Add(kStandIn);
  const Trial* plain = runs.Find(kStandIn);
  const auto held = plain == nullptr ? std::nullopt : LowestHeld(*plain);
  if (plain != nullptr && (!held || held->value > kCarriesOver)) {
    wishes.Add(kHeldOut);
    wishes.Add(kByHeart);
    wishes.Add(kPermuted);
  }
}

/// A plain network was tried, and learns nothing from the same batches that carries over.
bool LearnsNothing(const Comparison& runs, std::string_view stand_in) {
  const Trial* plain = runs.Find(stand_in);
  const auto held = plain == nullptr ? std::nullopt : LowestHeld(*plain);
  return held && held->value > kCarriesOver;
}

void AddForALearner(const TryCase& asked, const Comparison& runs, Wishes& wishes) {
  if (AnyOf(asked.suspects, "lr-too-high")) {
    wishes.Add("lr-times=0.1");
  }
  if (AnyOf(asked.suspects, "not-enough-steps")) {
    AddStretches(asked, runs, wishes);
  }
  if (AnyOf(asked.suspects, "labels-random labels-misaligned")) {
    wishes.Add(kStandIn);
    wishes.Add(kHeldOut);
    wishes.Add(kPermuted);
  }
}

/// What the program asks of itself by mistake, whatever its loss does.
void AddMistakes(const Comparison& runs, Wishes& wishes) {
  for (const std::string_view spec : {"zero-grad", "undo-softmax", "reshape-target"}) {
    if (FindMending(spec)->applies(*runs.as_is())) {
      wishes.Add(kAgain);
      wishes.Add(spec);
    }
  }
}

/// Steps, rates, labels, capacity: in the order in which watching suspects them.
void AddForAFailingOne(const TryCase& asked, const Comparison& runs, Wishes& wishes) {
  AddStretches(asked, runs, wishes);
  if (StretchThatLearned(asked, runs) != nullptr) {
    return;
  }
  const Directions suspected = {.down = AnyOf(asked.suspects, "lr-too-high"),
                                .up = AnyOf(asked.suspects, "lr-too-low")};
  const bool rate_suspected = suspected.down || suspected.up;
  const bool data_suspected =
      AnyOf(asked.suspects, "labels-random labels-misaligned capacity-too-small");
  if (data_suspected && !rate_suspected) {
    AddQuestions(runs, wishes);
    if (runs.Find(kStandIn) == nullptr || LearnsNothing(runs, kStandIn)) {
      return;
    }
  }
  if (rate_suspected) {
    AddRates(asked, runs, suspected, 4, wishes);
  } else if (HealingRate(runs) != nullptr) {
    AddRates(asked, runs, {.down = true, .up = true}, 2, wishes);
  }
  if (const Trial* rate = HealingRate(runs)) {
    AddCheck(runs, *rate, wishes);
    return;
  }
  if (wishes.empty()) {
    AddRates(asked, runs, {.down = true, .up = true}, 2, wishes);
  }
  if (wishes.empty()) {
    AddQuestions(runs, wishes);
  }
  if (wishes.empty() && LearnsNothing(runs, kStandIn)) {
    return;  // No rate helps where a plain network learns nothing from the same batches.
  }
  if (wishes.empty()) {
    AddRates(asked, runs, {.down = true, .up = true}, 4, wishes);
  }
}

}  // namespace

TryCase CaseOf(const Verdict& verdict) {
  TryCase asked;
  for (const VerdictCause& cause : verdict.causes) {
    if (cause.fault) {
      asked.suspects.push_back(cause.id);
      asked.fault_was_seen |= cause.answers == Answers::kLearning && cause.confidence == Confidence::kCertain && cause.id != "capacity-too-small";
    }
  }
  asked.stopped_early = verdict.outcome == Outcome::kStoppedEarly;
  asked.learns_by_watching = asked.suspects.empty() && (verdict.learning == Learning::kImproving ||
                                                        verdict.learning == Learning::kConverged);
  asked.steps = verdict.progress.step.value_or(0);
  return asked;
}

bool LevelTells(const TryCase& asked, const Comparison& runs) {
  const auto end = runs.as_is() == nullptr ? std::nullopt : EndLevel(*runs.as_is());
  if (!end || !end->finite) {
    return true;
  }
  return !runs.adversarial() && (end->of_guessing || !asked.suspects.empty());
}

std::vector<std::string> NextTrials(const TryCase& asked, std::span<const Trial> done,
                                    std::span<const std::string> running) {
  Wishes wishes(done, running);
  wishes.Add(kAsIs);
  const Comparison runs(done);
  if (asked.learns_by_watching) {
    if (runs.as_is() != nullptr) {
      AddMistakes(runs, wishes);
    }
    if (runs.as_is() != nullptr && runs.failing() && LevelTells(asked, runs)) {
      AddStretches(asked, runs, wishes);  // It gets better, and has not got far.
    }
    return wishes.Take();
  }
  wishes.Add(kAgain);
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
  if (!EndLevel(*runs.as_is()) || !LevelTells(asked, runs)) {
    return wishes.Take();
  }
  if (const Mending* healing = HealingMending(asked, runs, true)) {
    AddCheck(runs, *runs.Find(healing->spec), wishes);
    return wishes.Take();
  }
  AddMendings(asked, runs, wishes);
  if (const Mending* healing = HealingMending(asked, runs, false)) {
    AddCheck(runs, *runs.Find(healing->spec), wishes);
  }
  if (!wishes.empty() || HealingMending(asked, runs, false) != nullptr) {
    return wishes.Take();
  }
  if (!runs.failing()) {
    AddForALearner(asked, runs, wishes);
    return wishes.Take();
  }
  AddForAFailingOne(asked, runs, wishes);
  return wishes.Take();
}

}  // namespace whystop
