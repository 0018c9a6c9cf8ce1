#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/event.h"

namespace whystop {

/// The size of one tensor over one stretch of steps.
struct HeatCell {
  double size = -1;  // The largest root of the mean square; below 0: not measured.
  bool not_finite = false;
};

/// How large gradients, weights and updates were, by tensor and step. Bounded: when the steps no
/// longer fit, a column holds twice as many.
class HeatMap {
 public:
  static constexpr std::size_t kColumnsMax = 192;
  static constexpr std::size_t kTensorsMax = 160;
  enum Kind : std::size_t { kGradients, kWeights, kUpdates, kKinds };
  struct Row {
    std::string tensor;
    std::array<std::vector<HeatCell>, kKinds> cells;
  };

  void Push(const TensorStats& stats);

  /// In the order in which the tensors were first seen: the order of the model.
  const std::vector<Row>& rows() const { return rows_; }
  std::int64_t first_step() const { return first_step_; }
  std::int64_t steps_a_column() const { return steps_a_column_; }
  std::int64_t tensors_left_out() const { return static_cast<std::int64_t>(left_out_.size()); }

 private:
  Row* RowOf(const std::string& tensor);
  void Halve();

  std::vector<Row> rows_;
  std::map<std::string, std::size_t> index_;
  std::map<std::string, bool> left_out_;
  std::int64_t first_step_ = 0;
  std::int64_t steps_a_column_ = 1;
  bool started_ = false;
};

}  // namespace whystop
