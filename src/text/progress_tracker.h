#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/event.h"
#include "text/bar.h"
#include "text/countdown.h"
#include "text/keras_epoch.h"
#include "text/metric_line.h"

namespace whystop {

/// Follows how far a run is from counters and bars of one log, and says when the counters start
/// over.
class ProgressTracker {
 public:
  /// False: the counters went back to their start, so another run was appended. Call Reset and push
  /// again.
  bool PushCounters(const MetricLine& line);
  bool PushBar(const Bar& bar);
  /// A line of figures without a counter, part of the epoch that was announced last.
  void PushFigures();
  /// Figures of an evaluate() behind the epoch's own: no part of the curve of training.
  bool IsEvaluation(const MetricLine& line) { return keras_.IsEvaluation(line); }
  /// How long the log says that it will still take.
  void PushTimeLeft(TimeLeft left) { countdown_.Push(left); }
  void PlanEpochs(double epochs);
  void PlanSteps(std::int64_t steps);
  void Reset();

  /// The state as an event body. `place` and `rank` are the caller's.
  Progress Now() const;
  /// Moves whenever there is something new worth an event: an epoch, a plan, a hundredth of the
  /// way.
  std::int64_t milestone() const { return milestone_; }
  /// How often training moved on.
  std::int64_t advances() const { return advances_; }
  bool started() const { return advances_ > 0; }
  bool planned() const { return epochs_configured_ || steps_configured_; }
  bool trained() const { return epoch_.has_value() || advances_ >= 8; }
  /// The plan was met: last epoch done, or last step of a run counted in steps.
  bool finished() const;
  /// No plan is known, and the count stands at one that people make.
  bool StandsAtRoundCount() const;
  /// The steps that were configured are made but for a print or two.
  bool IsNearPlan() const;
  /// A counter or bar stands short of its total.
  bool unfinished() const;

  /// Where a point of this line lies: steps counted over all epochs where that can be told.
  std::optional<std::int64_t> GlobalStep(const MetricLine& line) const;
  std::optional<double> epoch() const { return epoch_; }

 private:
  bool MayBeASetting(const MetricLine& line);
  bool TakeCounters(const MetricLine& line);
  void PushEpoch(const MetricLine& line);
  void PushStep(std::int64_t step, std::optional<std::int64_t> steps);
  double EpochsBegun(double epoch) const;
  bool StepsDone() const;
  bool CountedDown() const;
  bool WholeEpochs() const { return epoch_ && !fractional_; }
  void Advance() { ++advances_; }

  std::optional<double> epoch_;    // As printed.
  std::optional<double> setting_;  // A lone number of an epoch, before anything was counted.
  std::optional<double> epochs_planned_;
  std::optional<double> epochs_configured_;
  double epoch_max_ = 0;
  bool counts_from_zero_ = false;
  bool fractional_ = false;           // Epochs are counted in parts, steps over all epochs.
  bool epoch_done_ = false;           // The line of a whole epoch was printed.
  int figures_ = 0;                   // Lines of figures in this epoch...
  int figures_before_ = 0;            // ...and in the one before.
  std::optional<std::int64_t> step_;  // As printed, within the epoch or over all.
  std::optional<std::int64_t> first_round_;  // Of boosting.
  std::optional<std::int64_t> steps_;
  std::optional<std::int64_t> steps_configured_;
  int epochs_since_step_ = 0;        // Parts of epochs that passed while the step stood still.
  std::int64_t epoch_step_max_ = 0;  // Highest step printed in this epoch...
  std::int64_t epoch_steps_seen_ =
      0;  // ...and in the fullest one before it, where no total is printed.
  std::int64_t step_interval_ = 1;  // Usual distance of printed steps.
  bool steps_from_zero_ = false;    // The last of 40 is then called 39.

  struct MainBar {
    std::string label;
    std::int64_t done = 0;
    std::optional<std::int64_t> total;
  };
  std::optional<MainBar> bar_;
  KerasEpoch keras_;
  Countdown countdown_;
  bool side_unfinished_ = false;  // The last bar drawn was another than the main one, and not full.

  std::int64_t milestone_ = 0;
  std::int64_t milestone_step_ = 0;
  std::int64_t advances_ = 0;
};

}  // namespace whystop
