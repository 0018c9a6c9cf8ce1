#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"
#include "detect/series_state.h"
#include "model/label_counts.h"

namespace whystop {
namespace {

struct Guess {
  double level = 0;
  std::string words;
};

/// The loss stays where it began: nothing was learned. Says so when that is the level of guessing.
class LossPlateauFromStart final : public HistoryDetector {
 public:
  void Push(const Event& event, FindingSink& out) override {
    HistoryDetector::Push(event, out);
    if (const auto* seen = event.As<Observation>()) {
      if (seen->kind == "loss-call") {
        classes_ = seen->Number("classes") ? seen->Number("classes") : classes_;
        target_std_ = seen->Number("target_std") ? seen->Number("target_std") : target_std_;
        const std::string* function = seen->Text("function");
        function_ = function != nullptr ? *function : function_;
      } else if (seen->kind == "labels") {
        const std::string* counts = seen->Text("counts");
        entropy_ = counts != nullptr ? LabelEntropy(*counts) : entropy_;
      }
    }
  }

 protected:
  void Judge(const std::string& name, const WatchedSeries& series, FindingSink& out) override {
    const SeriesShape shape = ShapeOf(series.history);
    if (StateOf(series.history, shape) != "never-learned") {
      return;
    }
    Finding finding = About("loss/plateau-from-start", name, series);
    AddFact(finding, "level", shape.end);
    AddFact(finding, "noise", shape.noise);
    AddFact(finding, "points", static_cast<double>(shape.points));
    AddFact(finding, "constant",
            shape.worst == shape.best && series.history.smallest_change() == 0 ? 1 : 0);
    if (const auto guess = GuessAt(shape)) {
      AddFact(finding, "guess_level", guess->level);
      AddFact(finding, "guess", guess->words);
    }
    out.Add(std::move(finding));
  }

 private:
  /// What a model that knows nothing reaches, if the loss stands there.
  std::optional<Guess> GuessAt(const SeriesShape& shape) const {
    const double level = shape.end;
    const double margin = std::max(0.03 * std::abs(level), 3 * shape.level_noise);
    const bool classifies =
        function_.empty() || function_ == "cross_entropy" || function_ == "nll_loss";
    if (classifies && entropy_ && std::abs(level - *entropy_) < margin) {
      return Guess{*entropy_, "the entropy of the labels"};
    }
    if (classifies && classes_ && *classes_ >= 2 &&
        std::abs(level - std::log(*classes_)) < margin) {
      return Guess{
          std::log(*classes_),
          "ln " + std::to_string(static_cast<std::int64_t>(*classes_)) + ", as many classes"};
    }
    if (function_ == "mse_loss" && target_std_ &&
        std::abs(level - *target_std_ * *target_std_) < 0.15 * level) {
      return Guess{*target_std_ * *target_std_, "the variance of the targets"};
    }
    // Two classes are the one number that speaks for itself.
    const bool binary = function_.empty() || function_.starts_with("binary_cross_entropy");
    if (binary && std::abs(level - std::log(2.0)) < 0.005) {
      return Guess{std::log(2.0), "ln 2, two classes"};
    }
    return std::nullopt;
  }

  std::optional<double> classes_;
  std::optional<double> target_std_;
  std::optional<double> entropy_;
  std::string function_;
};

}  // namespace

std::unique_ptr<Detector> MakeLossPlateauFromStart() {
  return std::make_unique<LossPlateauFromStart>();
}

}  // namespace whystop
