#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit/fit_plan.h"

namespace whystop {

/// Where the memory of a trial goes.
struct FitPart {
  std::string name;
  std::int64_t bytes = 0;
};
/// At the program's own batch, largest first. What the line says belongs to each sample is
/// "activations and batch".
std::vector<FitPart> PartsOf(const FitTrial& trial, const FitLine& line);

/// Something else that would make it fit.
struct FitSaving {
  std::string what;  // "accumulation", "checkpointing", "16 bits".
  std::string text;  // With figures.
  std::int64_t batch = 0;
  std::int64_t peak_bytes = 0;
};

/// All that `whystop fit` found out. Reports only show it.
struct FitFindings {
  std::int64_t limit_bytes = 0;
  std::string limit_is;          // "given", "of the run's control group", "free on this machine".
  std::vector<FitTrial> trials;  // Of batch sizes, in the order in which they were made.
  std::vector<FitSaving> savings;
  FitAnswer answer;
  std::string trouble;  // Why it is not settled, or empty.
};

/// The same effective batch in parts: exact by the line.
FitSaving Accumulation(const FitTrial& own, const FitAnswer& answer, const FitLine& line);

std::string FitText(const FitFindings& found);
std::string FitJson(const FitFindings& found);

}  // namespace whystop
