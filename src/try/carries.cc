#include "try/carries.h"

#include <algorithm>
#include <array>

#include "try/interventions.h"

namespace whystop {
namespace {

constexpr double kFlat = 1.3;         // Of guessing: above it the untouched program is wild, not idle.
constexpr double kCarriesOver = 0.9;  // Of guessing.

// They mend what the loss is asked, and give the model no more freedom to learn by heart.
constexpr std::array<std::string_view, 4> kExact = {"zero-grad", "reshape-target", "undo-softmax",
                                                    "fill-odd-values"};

bool Asks(const Comparison& runs, const Trial& cured) {
  const auto end = EndLevel(*runs.as_is());
  const bool exact = std::find(kExact.begin(), kExact.end(), cured.spec) != kExact.end();
  return !exact && runs.failing() && end && end->finite && end->of_guessing && end->value < kFlat;
}

/// Another scale also helps numbers that 16 bits cannot hold: it says nothing until 32 bits were tried, nor where those
/// cure as well.
bool MayBeThePrecision(const Comparison& runs, const Trial& cured) {
  if (!Lists("standardise-inputs standardise-targets default-init", cured.spec) ||
      !FindMending(kFloat32)->applies(*runs.as_is())) {
    return false;
  }
  const Trial* in_32_bits = runs.Find(kFloat32);
  return in_32_bits == nullptr || runs.Cures(*in_32_bits);
}

}  // namespace

std::string HeldOutSpec(const std::string& spec) { return "hold-out " + spec; }

Carries CarriesOver(const Comparison& runs, const Trial& cured) {
  if (!Asks(runs, cured)) {
    return Carries::kYes;
  }
  const Trial* held = runs.Find(HeldOutSpec(cured.spec));
  if (held == nullptr) {
    return Carries::kNotAsked;
  }
  const auto level = LowestHeld(*held);
  if (!level && !(held->begun && held->ended)) {
    return Carries::kNotAsked;  // It was cut off.
  }
  return !level || level->value < kCarriesOver ? Carries::kYes : Carries::kNo;
}

bool Heals(const Comparison& runs, const Trial& trial) {
  return Lists(trial.spec, "hold-out") ? false
         : runs.Cures(trial) && CarriesOver(runs, trial) != Carries::kNo && !MayBeThePrecision(runs, trial);
}

}  // namespace whystop
