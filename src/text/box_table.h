#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/metric_line.h"

namespace whystop {

/// A frame of names and numbers, one a row, as loggers of reinforcement learning and diffusion draw it:
///   ------------------------
///   | rollout/    |        |
///   |  ep_rew_mean | 21.5  |
///   | total_timesteps | 2048 |
///   ------------------------
/// The whole frame is one line of figures.
class BoxTable {
 public:
  /// Whether the line is part of a frame. `closed`: it closes one that held numbers; Read has them.
  bool Push(std::string_view line, bool& closed);
  /// The numbers of the frame that was closed last. Its names live until the next Push.
  void Read(MetricLine& out) const;

 private:
  struct Row {
    std::string name;
    double value = 0;
  };
  std::vector<Row> open_;
  std::vector<Row> rows_;
};

}  // namespace whystop
