#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace whystop {

/// What was asked of a trial, as the probe reads it: "lr-times=0.1", "one-batch=8 lr-times=0.1".
inline constexpr char kAsIs[] = "as-is";

struct Point {
  std::int64_t step = 0;
  double value = 0;
};
using Points = std::vector<Point>;

/// What a trial's recording tells. Absent is not zero: a survey that lacks a name did not see it.
struct Trial {
  std::string spec;
  std::string recording;  // Its folder.
  bool begun = false;     // The probe said that the change is in place.
  bool ended = false;     // By itself; else it was cut off.
  double applied = 0;     // How often it changed something.
  bool seeded = false;    // The program sets a seed of its own.
  std::string facts;      // The change in the program's own figures: "25 -> 0.25".
  std::string raised;     // "ValueError: ..." where the program was ended by an exception.
  std::string anomaly;    // The operation that torch named in anomaly mode.
  Points loss;            // Of each backward pass.
  Points task;            // Of torch's loss functions alone.
  Points guess;           // The best constant answer to the same targets.
  Points held;            // Loss over that of guessing, on samples that teach nothing.
  std::map<std::string, double> survey;
  std::map<std::string, std::string> texts;  // Of the survey: "loss", "optimizer_at" (file:line).

  std::string Text(const std::string& name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? "" : found->second;
  }

  std::int64_t steps() const { return loss.empty() ? 0 : loss.back().step; }
  double Seen(const std::string& name) const {
    const auto found = survey.find(name);
    return found == survey.end() ? 0 : found->second;
  }
};

}  // namespace whystop
