#pragma once

#include <optional>

#include "try/compare.h"
#include "try/plan.h"

namespace whystop {

/// A program needs more steps where a few times as many get there at its own rate; its rate is too
/// low where even this many times as many would not.
inline constexpr double kManyTimes = 5.0;

/// "continue hold-out", "continue=2 hold-out", ...: each goes on where the one before it ended.
inline constexpr int kStretches = 3;
std::string StretchSpec(int number);

/// How many times the steps of the run its own curve would need to get below the goal of a cure,
/// at the quickest pace that the noise of its last stretch leaves possible; infinite: it does not fall.
std::optional<double> TimesByPace(const TryCase& asked, const Comparison& runs);

/// The same by a trial at `factor` times the rate: as far as that got in its steps, the program's own gets in
/// `factor` times as many.
std::optional<double> TimesByRate(const TryCase& asked, const Comparison& runs, const Trial& quicker,
                                  double factor);

/// The untouched trial made all the steps of the run; else more of them would say nothing about it.
bool MadeAllSteps(const TryCase& asked, const Trial& as_is);

/// The stretch that learned, on samples that taught nothing too.
const Trial* StretchThatLearned(const TryCase& asked, const Comparison& runs);

/// More steps at its own rate teach it something that carries over: that rate is not to blame.
bool GetsOnByItself(const Comparison& runs);

}  // namespace whystop
