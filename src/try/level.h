#pragma once

#include <cstdint>
#include <optional>

#include "try/trial.h"

namespace whystop {

/// How well a trial did: a mean over a stretch of steps, and how far chance may have moved it.
struct Level {
  double value = 0;       // Loss over that of guessing where that is known, else the loss itself.
  double error = 0;       // Standard error of the mean.
  double loss = 0;        // The loss itself, for people.
  bool of_guessing = false;
  bool finite = true;
};

/// Over the last fifth of the trial (10 points at least). Nullopt: too few points to say anything.
std::optional<Level> EndLevel(const Trial& trial);
/// Over its first tenth.
std::optional<Level> StartLevel(const Trial& trial);
/// The lowest level of any fifth: what the trial was able to reach, if only for a while.
std::optional<Level> LowestLevel(const Trial& trial);
/// The lowest mean of a fifth of the held-out ratios.
std::optional<Level> LowestHeld(const Trial& trial);
/// Of the first tenth and the last fifth of them.
std::optional<Level> StartHeld(const Trial& trial);
std::optional<Level> EndHeld(const Trial& trial);
/// The step from which on the mean of a tenth of the trial is below `value` for the first time.
std::optional<std::int64_t> FirstStepBelow(const Trial& trial, double value);

}  // namespace whystop
