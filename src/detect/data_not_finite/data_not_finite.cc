#include <memory>
#include <optional>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

/// NaN or infinity in what the model was given: inputs or targets, before the model touched them.
class DataNotFinite final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    if (const auto* seen = event.As<Observation>()) {
      const std::optional<std::int64_t> step = seen->step;
      if (seen->kind == "batch") {
        const std::string* place = seen->Text("place");
        Note(seen->Number("nonfinite").value_or(0), seen->Number("count").value_or(0),
             place == nullptr ? "batch" : "batch part " + *place, {step, event.at});
      } else if (seen->kind == "model-input") {
        Note(seen->Number("nonfinite").value_or(0), seen->Number("count").value_or(0),
             "model input", {step, event.at});
      } else if (seen->kind == "loss-call") {
        Note(seen->Number("target_nonfinite").value_or(0), 0, "target", {step, event.at});
      }
    } else if (const auto* stats = event.As<TensorStats>()) {
      if (stats->what == TensorStats::What::kInput || stats->what == TensorStats::What::kTarget) {
        Note(static_cast<double>(stats->nan_count + stats->inf_count),
             static_cast<double>(stats->count), stats->tensor, {stats->step, event.at});
      }
    }
  }

  void Finish(FindingSink& out) override {
    if (bad_looks_ == 0) {
      return;
    }
    Finding finding;
    finding.detector = "data/not-finite";
    finding.at = first_.at;
    finding.step_from = first_.step;
    finding.step_to = last_step_;
    finding.strength = static_cast<double>(bad_looks_);
    finding.series = place_;
    AddFact(finding, "place", place_);
    AddFact(finding, "values", values_);
    AddFact(finding, "of", of_);
    AddFact(finding, "looks", static_cast<double>(looks_));
    AddFact(finding, "bad_looks", static_cast<double>(bad_looks_));
    out.Add(std::move(finding));
  }

 private:
  struct Moment {
    std::optional<std::int64_t> step = {};
    RunTime at{};
  };

  void Note(double bad, double of, const std::string& place, Moment when) {
    ++looks_;
    if (bad <= 0) {
      return;
    }
    if (bad_looks_++ == 0) {
      first_ = when;
      place_ = place;
      values_ = bad;
      of_ = of;
    }
    last_step_ = when.step;
  }

  std::int64_t looks_ = 0;
  std::int64_t bad_looks_ = 0;
  Moment first_;
  std::optional<std::int64_t> last_step_;
  std::string place_;
  double values_ = 0;
  double of_ = 0;
};

}  // namespace

std::unique_ptr<Detector> MakeDataNotFinite() { return std::make_unique<DataNotFinite>(); }

}  // namespace whystop
