#include "view/heat_map.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace whystop {
namespace {

constexpr std::size_t kLeftOutMax = 4096;

std::optional<HeatMap::Kind> KindOf(TensorStats::What what) {
  switch (what) {
    case TensorStats::What::kGradient:
      return HeatMap::kGradients;
    case TensorStats::What::kWeight:
      return HeatMap::kWeights;
    case TensorStats::What::kUpdate:
      return HeatMap::kUpdates;
    default:
      return std::nullopt;
  }
}

void Merge(HeatCell& into, const HeatCell& other) {
  into.size = std::max(into.size, other.size);
  into.not_finite = into.not_finite || other.not_finite;
}

}  // namespace

HeatMap::Row* HeatMap::RowOf(const std::string& tensor) {
  if (const auto found = index_.find(tensor); found != index_.end()) {
    return &rows_[found->second];
  }
  if (rows_.size() >= kTensorsMax) {
    if (left_out_.size() < kLeftOutMax) {
      left_out_[tensor] = true;
    }
    return nullptr;
  }
  index_[tensor] = rows_.size();
  rows_.push_back({tensor, {}});
  return &rows_.back();
}

void HeatMap::Halve() {
  for (Row& row : rows_) {
    for (std::vector<HeatCell>& cells : row.cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i % 2 == 0) {
          cells[i / 2] = cells[i];
        } else {
          Merge(cells[i / 2], cells[i]);
        }
      }
      cells.resize((cells.size() + 1) / 2);
    }
  }
  steps_a_column_ *= 2;
}

void HeatMap::Push(const TensorStats& stats) {
  const auto kind = KindOf(stats.what);
  if (!kind) {
    return;
  }
  if (!started_) {
    first_step_ = stats.step;
    started_ = true;
  }
  const std::int64_t steps = std::max<std::int64_t>(0, stats.step - first_step_);
  while (steps / steps_a_column_ >= static_cast<std::int64_t>(kColumnsMax)) {
    Halve();
  }
  Row* row = RowOf(stats.tensor);
  if (row == nullptr) {
    return;
  }
  const auto column = static_cast<std::size_t>(steps / steps_a_column_);
  std::vector<HeatCell>& cells = row->cells[*kind];
  if (cells.size() <= column) {
    cells.resize(column + 1);
  }
  const std::uint64_t bad = stats.nan_count + stats.inf_count;
  HeatCell cell;
  cell.not_finite = bad > 0 || !std::isfinite(stats.sum_squares);
  if (stats.count > bad && std::isfinite(stats.sum_squares)) {
    cell.size = std::sqrt(stats.sum_squares / static_cast<double>(stats.count - bad));
  }
  Merge(cells[column], cell);
}

}  // namespace whystop
