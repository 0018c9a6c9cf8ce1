#include "try/conclude.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"
#include "base/parse.h"
#include "try/carries.h"
#include "try/compare.h"
#include "try/interventions.h"
#include "try/pace.h"
#include "try/trouble.h"

namespace whystop {
namespace {

constexpr double kByHeart = 0.5;        // Of guessing: the first samples were learned.
constexpr double kCarriesOver = 0.9;    // Of guessing on held-out samples: the labels say something.
constexpr double kCarriesNothing = 0.97;
constexpr double kStandInLearns = 0.6;
constexpr double kNarrow = 4;           // Units of a hidden layer that is called narrow.
constexpr double kWentOn = 1.3;         // Times the untouched steps.
constexpr double kStillFalls = 0.95;    // Of the loss at which the untouched run was stopped.

bool Holds(const TryCase& asked, std::string_view cause) {
  return std::find(asked.suspects.begin(), asked.suspects.end(), cause) != asked.suspects.end();
}

std::string WithFacts(const Trial& trial) {
  std::string words = ChangeInWords(trial.spec);
  return trial.facts.empty() ? words : fmt::format("{} ({})", words, trial.facts);
}

/// The mending that cures best; of equals the one that is suspected, then the first of the table.
std::optional<Proof> MendingProof(const TryCase& asked, const Comparison& runs) {
  const Mending* best = nullptr;
  double best_value = 0;
  bool best_suspected = false;
  for (const Mending& mending : AllMendings()) {
    const Trial* trial = runs.Find(mending.spec);
    if (trial == nullptr || !Heals(runs, *trial) || CarriesOver(runs, *trial) != Carries::kYes) {
      continue;
    }
    const double value = runs.Value(*trial).value_or(0);
    const bool suspected = Holds(asked, mending.cause(*runs.as_is(), asked.suspects));
    const bool clearly_better = best != nullptr && value < best_value / 2;
    if (best == nullptr || (suspected && !best_suspected) ||
        (suspected == best_suspected && clearly_better)) {
      best = &mending;
      best_value = value;
      best_suspected = suspected;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  const Trial& trial = *runs.Find(best->spec);
  return Proof{std::string(best->cause(*runs.as_is(), asked.suspects)), trial.spec,
               fmt::format("tried: {}: {}", WithFacts(trial), runs.Figures(trial)),
               std::string(best->fix)};
}

/// What a trial at another rate speaks for. A quicker one only where many more steps would not do.
std::string RateCause(const TryCase& asked, const Comparison& runs, const Trial& trial) {
  const auto factor = ParseWhole<double>(ValueIn(trial.spec, "lr-times"));
  if (!factor) {
    return runs.failing() ? "lr-zero" : "";
  }
  if (*factor < 1) {
    return runs.failing() || Holds(asked, "lr-too-high") ? "lr-too-high" : "";
  }
  const auto by_pace = TimesByPace(asked, runs);
  const auto by_rate = TimesByRate(asked, runs, trial, *factor);
  return runs.failing() && !GetsOnByItself(runs) && by_pace && by_rate && std::min(*by_pace, *by_rate) >= kManyTimes ? "lr-too-low" : "";
}

/// The rate that does best among those that cure.
std::optional<Proof> RateProof(const TryCase& asked, const Comparison& runs) {
  const Trial* best = nullptr;
  for (const Trial& trial : runs.trials()) {
    if (IsRate(trial.spec) && runs.Cures(trial) && CarriesOver(runs, trial) == Carries::kYes &&
        !RateCause(asked, runs, trial).empty() &&
        (best == nullptr || runs.Value(trial) < runs.Value(*best))) {
      best = &trial;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  const std::size_t arrow = best->facts.find("-> ");
  const std::string fix = arrow == std::string::npos
                              ? fmt::format("{}: it learns", ChangeInWords(best->spec))
                              : fmt::format("lr={}", best->facts.substr(arrow + 3));
  return Proof{RateCause(asked, runs, *best), best->spec,
               fmt::format("tried: {}: {}", WithFacts(*best), runs.Figures(*best)), fix};
}

bool Learned(const Trial* trial, double share) {
  if (trial == nullptr || trial->applied <= 0) {
    return false;
  }
  const auto level = EndLevel(*trial);
  return level && level->finite && level->of_guessing && level->value < share;
}

/// The labels say nothing that carries over to other samples: neither to this model nor to a plain
/// one that does learn the samples it is shown, and dealing them out anew makes nothing worse.
std::optional<Proof> LabelsProof(const TryCase& asked, const Comparison& runs) {
  const Trial* plain = runs.Find("stand-in=0.003");
  const Trial* own = runs.Find("hold-out");
  const Trial* permuted = runs.Find("permute-labels");
  const Trial* by_heart = runs.Find("one-batch=8");
  if (plain == nullptr || own == nullptr || permuted == nullptr || own->applied <= 0 ||
      plain->applied <= 0) {
    return std::nullopt;
  }
  const auto plain_held = LowestHeld(*plain);
  const auto own_held = LowestHeld(*own);
  if (!plain_held || !own_held || plain_held->value < kCarriesNothing ||
      own_held->value < kCarriesNothing) {
    return std::nullopt;
  }
  const bool no_worse = runs.failing() ? runs.ChangesNothing(*permuted) : permuted->applied > 0;
  const bool machinery = !runs.failing() || Learned(by_heart, kByHeart);
  if (!no_worse || !machinery) {
    return std::nullopt;
  }
  // Labels of other samples and labels drawn at random say the same: nothing. What watching knew of them decides.
  const bool either = Holds(asked, "labels-misaligned") == Holds(asked, "labels-random");
  const std::string cause = Holds(asked, "labels-misaligned") ? "labels-misaligned" : "labels-random";
  const std::string other = cause == "labels-random" ? "labels-misaligned" : "labels-random";
  return Proof{
      cause, plain->spec,
      fmt::format("tried: on samples held out, this model gets no lower than {} of guessing and a "
                  "plain network no lower than {}; labels dealt out anew: {}",
                  HumanNumber(own_held->value, 3), HumanNumber(plain_held->value, 3),
                  runs.Figures(*permuted)),
      "check that every sample keeps its own label from the file to the batch", either ? other : ""};
}

/// A plain network learns the same batches by the same loss where this one, at no rate, does. That the model is too
/// small is what is left then: it says nothing where a fault of the model or its optimizer was seen.
std::optional<Proof> CapacityProof(const TryCase& asked, const Comparison& runs) {
  const Trial* plain = runs.Find("stand-in=0.003");
  const Trial* as_is = runs.as_is();
  const bool small = as_is->survey.contains("matrices") &&
                     (as_is->Seen("matrices") <= 1 ||
                      (as_is->survey.contains("narrowest") && as_is->Seen("narrowest") <= kNarrow));
  const Trial* low = runs.Find("lr-times=0.1");
  const Trial* high = runs.Find("lr-times=10");
  if (!small || !runs.failing() || !Learned(plain, kStandInLearns) || low == nullptr ||
      high == nullptr || as_is->Seen("models") > 1 || asked.fault_was_seen) {
    return std::nullopt;
  }
  const auto held = LowestHeld(*plain);
  if (!held || held->value > kCarriesOver) {
    return std::nullopt;  // Learned by heart only.
  }
  return Proof{"capacity-too-small", plain->spec,
               fmt::format("tried: {}: {}; no learning rate helps this one", WithFacts(*plain),
                           runs.Figures(*plain)),
               "give the model a hidden layer, or a wider one"};
}

std::optional<Proof> StepsProof(const TryCase& asked, const Comparison& runs) {
  const Trial* longer = StretchThatLearned(asked, runs);
  if (longer == nullptr) {
    return std::nullopt;
  }
  return Proof{"not-enough-steps", longer->spec,
               fmt::format("tried: {}: {}; on samples that were held out {} of guessing",
                           WithFacts(*longer), runs.Figures(*longer),
                           HumanNumber(EndHeld(*longer)->value, 2)),
               "train for more steps"};
}

std::optional<Proof> StopProof(const TryCase& asked, const Comparison& runs) {
  const Trial* as_is = runs.as_is();
  const Trial* patient = runs.Find("patience=10");
  if (patient != nullptr && patient->applied > 0 && Holds(asked, "early-stop-patience")) {
    const auto before = EndLevel(*as_is);
    const auto after = EndLevel(*patient);
    const bool went_on = static_cast<double>(patient->steps()) >
                         kWentOn * static_cast<double>(as_is->steps());
    if (before && after && went_on && after->finite && after->value < kStillFalls * before->value &&
        after->value < before->value - 3 * before->error) {
      return Proof{"early-stop-patience", patient->spec,
                   fmt::format("tried: {}: it goes on, {}", WithFacts(*patient),
                               runs.Figures(*patient)),
                   "raise the patience"};
    }
  }
  const Trial* full = runs.Find("drop-last");
  if (full != nullptr && full->applied > 0 && !as_is->raised.empty() && full->raised.empty() &&
      full->steps() > as_is->steps()) {
    return Proof{"batchnorm-single-sample", full->spec,
                 fmt::format("tried: {}: {} steps instead of {} and no exception",
                             WithFacts(*full), HumanCount(full->steps()),
                             HumanCount(as_is->steps())),
                 "DataLoader(..., drop_last=True)"};
  }
  return std::nullopt;
}

void AddRateDisproofs(const TryCase& asked, const Comparison& runs, std::vector<Disproof>& out) {
  struct Side {
    std::string_view cause, near, far;
  };
  for (const Side& side : {Side{"lr-too-high", "lr-times=0.1", "lr-times=0.01"},
                           Side{"lr-too-low", "lr-times=10", "lr-times=100"}}) {
    const Trial* near = runs.Find(side.near);
    const Trial* far = runs.Find(side.far);
    if (Holds(asked, side.cause) && near != nullptr && far != nullptr &&
        runs.ChangesNothing(*near) && runs.ChangesNothing(*far)) {
      out.push_back({std::string(side.cause),
                     fmt::format("{}: {}; {}: {}", ChangeInWords(near->spec), runs.Figures(*near),
                                 ChangeInWords(far->spec), runs.Figures(*far))});
    }
  }
}

void AddLabelDisproofs(const TryCase& asked, const Comparison& runs, std::vector<Disproof>& out) {
  double share = 1.0;
  for (const Trial& trial : runs.trials()) {
    const auto held = Lists(trial.spec, "hold-out") || trial.spec == "stand-in=0.003" ? LowestHeld(trial)
                                                                                       : std::nullopt;
    share = held ? std::min(share, held->value) : share;
  }
  for (const std::string& suspect : asked.suspects) {
    if (Lists("labels-random labels-misaligned", suspect) && share < kCarriesOver) {
      out.push_back({suspect, fmt::format("what is learned carries over to samples that were held "
                                          "out: {} of guessing",
                                          HumanNumber(share, 2))});
    }
  }
}

void AddDisproofs(const TryCase& asked, const Comparison& runs, std::vector<Disproof>& out) {
  AddRateDisproofs(asked, runs, out);
  for (const Mending& mending : AllMendings()) {
    const Trial* trial = runs.Find(mending.spec);
    if (trial == nullptr || !runs.ChangesNothing(*trial)) {
      continue;
    }
    for (const std::string& suspect : asked.suspects) {
      if (Lists(mending.causes, suspect) && suspect == mending.cause(*runs.as_is(), asked.suspects)) {
        out.push_back({suspect, fmt::format("{}: {}", ChangeInWords(trial->spec), runs.Figures(*trial))});
      }
    }
  }
  AddLabelDisproofs(asked, runs, out);
}

std::vector<TrialResult> Describe(const TryCase& asked, std::span<const Trial> trials,
                                   const Comparison& runs, const Conclusions& found) {
  std::vector<TrialResult> out;
  for (const Trial& trial : trials) {
    TrialResult shown;
    shown.change = WithFacts(trial);
    shown.spec = trial.spec;
    shown.recording = trial.recording;
    if (const Mending* mending = FindMending(trial.spec); mending != nullptr && runs.as_is()) {
      shown.cause = mending->cause(*runs.as_is(), asked.suspects);
    }
    const bool shows = found.proof && found.proof->spec == trial.spec;
    const bool by_heart = runs.as_is() != nullptr && runs.Cures(trial) && CarriesOver(runs, trial) == Carries::kNo;
    if (!trial.begun) {
      shown.says = TrialResult::Says::kNotTested;
      shown.text = "not tested: " + WhyItDidNotBegin(trial);
    } else if (trial.applied <= 0) {
      shown.says = TrialResult::Says::kNotTested;
      shown.text = "not tested: there was nothing to change";
    } else {
      shown.text = runs.Figures(trial) + (by_heart ? "; by heart: nothing carries over to other samples" : "");
      if (shows) {
        shown.cause = found.proof->cause;
        shown.says = TrialResult::Says::kProven;
      } else if (!shown.cause.empty() && runs.ChangesNothing(trial)) {
        shown.says = TrialResult::Says::kRefuted;
      }
    }
    if (const auto held = LowestHeld(trial)) {
      shown.text += fmt::format("; held out {} of guessing", HumanNumber(held->value, 3));
    }
    if (!trial.anomaly.empty()) {
      shown.text += "; " + trial.anomaly;
    }
    if (const auto level = EndLevel(trial); level && level->finite) {
      shown.values.push_back({"loss", level->loss, ""});
      shown.values.push_back({level->of_guessing ? "share_of_guessing" : "level", level->value, ""});
    }
    shown.values.push_back({"steps", static_cast<double>(trial.steps()), ""});
    out.push_back(std::move(shown));
  }
  return out;
}

std::string Summarise(const Comparison& runs, const Conclusions& found) {
  if (runs.as_is() == nullptr) {
    return "the untouched program was not run to its end";
  }
  if (!runs.as_is()->begun) {
    return WhyItDidNotBegin(*runs.as_is());
  }
  if (found.proof) {
    return fmt::format("proven: {}: {}", found.proof->cause, found.proof->text.substr(7));
  }
  if (!EndLevel(*runs.as_is())) {
    return "the untouched program makes too few steps to compare";
  }
  if (runs.adversarial()) {
    return "several models play against each other here: the level of a loss says nothing, and no change proves a cause";
  }
  if (!runs.failing()) {
    return fmt::format("the untouched program learns ({}); no change proves a cause",
                       runs.Figures(*runs.as_is()));
  }
  for (const Trial& trial : runs.trials()) {
    if (IsRate(trial.spec) && Heals(runs, trial)) {
      return fmt::format("no cause proven; {}: {}, but its own rate may get there with more steps", WithFacts(trial), runs.Figures(trial));
    }
  }
  if (Learned(runs.Find("stand-in=0.003"), kStandInLearns)) {
    return "no cause proven; a plain network learns from the same batches by the same loss, so the "
           "fault is in the model or its optimizer";
  }
  return "no cause proven";
}

}  // namespace

Conclusions Conclude(const TryCase& asked, std::span<const Trial> trials) {
  Conclusions found;
  const Comparison runs(trials);
  if (runs.as_is() != nullptr) {
    found.proof = StopProof(asked, runs);
    const bool tells = LevelTells(asked, runs);
    if (!found.proof && tells) found.proof = MendingProof(asked, runs);
    if (!found.proof && tells) found.proof = StepsProof(asked, runs);
    if (!found.proof && tells) found.proof = RateProof(asked, runs);
    if (!found.proof && tells) found.proof = LabelsProof(asked, runs);
    if (!found.proof && tells) found.proof = CapacityProof(asked, runs);
    AddDisproofs(asked, runs, found.refuted);
    if (found.proof) {
      std::erase_if(found.refuted,
                    [&](const Disproof& other) { return other.cause == found.proof->cause; });
    }
  }
  found.trials = Describe(asked, trials, runs, found);
  found.summary = Summarise(runs, found);
  return found;
}

}  // namespace whystop
