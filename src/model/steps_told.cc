#include "model/steps_told.h"

#include <algorithm>
#include <iterator>

namespace whystop {

void StepsTold::Note(const Scalar& scalar) {
  if (file_ != scalar.place.file) {
    Clear();
    file_ = scalar.place.file;
  }
  last_ = {scalar.place.line, *scalar.step};
  if ((seen_++ & (stride_ - 1)) != 0) {
    return;
  }
  if (kept_.size() == kKeptMax) {
    for (std::size_t i = 0; 2 * i < kKeptMax; ++i) {
      kept_[i] = kept_[2 * i];
    }
    kept_.resize(kKeptMax / 2);
    stride_ *= 2;
  }
  kept_.push_back(*last_);
}

std::optional<std::int64_t> StepsTold::Of(const Scalar& scalar) {
  if (scalar.step) {
    Note(scalar);
    return scalar.step;
  }
  if (!last_ || file_ != scalar.place.file) {
    return std::nullopt;
  }
  const std::int64_t line = scalar.place.line;
  if (line == 0 || line >= last_->line) {
    return last_->step;
  }
  const auto after = std::upper_bound(kept_.begin(), kept_.end(), line,
                                      [](std::int64_t at, const Told& told) { return at < told.line; });
  return after == kept_.begin() ? std::nullopt : std::optional(std::prev(after)->step);
}

}  // namespace whystop
