#pragma once

#include <cstddef>
#include <optional>

namespace whystop {

/// Adds up the terms of a loss whose total is not logged. Ultralytics writes box, class and focal
/// loss and no sum; a single term may well rise from nothing while the whole falls, so only the sum
/// can be judged.
class LossSum {
 public:
  void AddTerm() { ++terms_; }
  /// Enough terms to make a sum, and rows that hold all of them.
  bool in_use() const { return terms_ >= 2 && misses_ < kMissesMax; }

  /// Notes one value at the current place; `Take` closes the place.
  void Add(double value) {
    sum_ += value;
    ++seen_;
  }
  /// The sum at the place that is over, if every term was there.
  std::optional<double> Take() {
    const bool whole = seen_ == terms_ && seen_ >= 2;
    misses_ = whole ? 0 : misses_ + (seen_ > 0 ? 1 : 0);
    const double sum = sum_;
    sum_ = 0;
    seen_ = 0;
    return whole ? std::optional<double>(sum) : std::nullopt;
  }

 private:
  // Terms that are logged at different steps never meet: after this many tries each one stands for
  // itself.
  static constexpr int kMissesMax = 8;
  std::size_t terms_ = 0;
  double sum_ = 0;
  std::size_t seen_ = 0;
  int misses_ = 0;
};

}  // namespace whystop
