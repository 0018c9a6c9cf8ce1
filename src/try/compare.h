#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "try/level.h"
#include "try/trial.h"

namespace whystop {

/// The trials of one run, and what the untouched ones say of each other. Every other trial is held
/// against the best that any untouched one reached.
class Comparison {
 public:
  explicit Comparison(std::span<const Trial> trials);

  const Trial* as_is() const { return as_is_; }
  const Trial* Find(std::string_view spec) const;
  /// The untouched program does not learn: it ends near the level of guessing, or not finite, or
  /// where it began.
  bool failing() const { return failing_; }
  /// It did better for a while than it did in the end.
  bool diverged() const { return diverged_; }
  std::optional<Level> reference() const { return reference_; }
  double spread() const { return spread_; }
  std::span<const Trial> trials() const { return trials_; }
  /// Several models with an optimizer each: the loss of one is the gain of another, so that its level says nothing.
  bool adversarial() const { return adversarial_; }
  /// What a cured trial ends below, on the scale of its levels.
  double Goal() const;

  /// This change makes the program learn: far below the untouched level, beyond chance.
  bool Cures(const Trial& trial) const;
  /// It did apply, and the program does as badly as without it.
  bool ChangesNothing(const Trial& trial) const;
  /// Lower is better; nothing where the two cannot be compared.
  std::optional<double> Value(const Trial& trial) const;
  /// "loss 0.21 after 168 steps instead of 2.41; equal runs differ by 0.02".
  std::string Figures(const Trial& trial) const;

 private:
  double Margin(const Level& level) const;
  bool Comparable(const Trial& trial, const Level& level) const;

  std::span<const Trial> trials_;
  const Trial* as_is_ = nullptr;
  const Trial* again_ = nullptr;
  bool failing_ = false;
  bool diverged_ = false;
  bool adversarial_ = false;
  std::optional<Level> reference_;
  std::optional<Level> end_;
  double spread_ = 0;
};

}  // namespace whystop
