#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/metric_line.h"

namespace whystop {

/// How long a run is meant to go on, from a configuration dump or a start message.
struct PlanWords {
  std::optional<double> epochs;
  std::optional<std::int64_t> steps;
};

/// `line` is what LexMetricLine made of `body`.
PlanWords ReadPlanWords(std::string_view body, const MetricLine& line);

/// Could ReadPlanWords find something in a line of these words, whatever its numbers are?
bool MaySpeakOfPlan(std::string_view body, const MetricLine& line);

}  // namespace whystop
