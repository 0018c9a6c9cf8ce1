#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "detect/detector.h"
#include "detect/history_detector.h"

namespace whystop {

/// Watches a share of each layer's units in the probe's looks at activations, and fires when a
/// layer's share was too high in most looks and still is at the last. What the share is of (dead,
/// saturated) is the detector's to say.
class ActivationWatch : public Detector {
 public:
  ActivationWatch(std::string id, double share_min) : id_(std::move(id)), share_min_(share_min) {}

  void Push(const Event& event, FindingSink&) override {
    const auto* seen = event.As<Observation>();
    const std::string* module =
        seen == nullptr || seen->kind != "activation" ? nullptr : seen->Text("module");
    if (module == nullptr || (modules_.size() >= kModulesMax && !modules_.contains(*module))) {
      return;
    }
    const std::optional<double> share = ShareOf(*seen);
    if (!share) {
      return;
    }
    Module& state = modules_[*module];
    ++state.looks;
    state.bad_looks += *share >= share_min_ ? 1 : 0;
    state.last = *share;
    last_at_ = event.at;
    last_step_ = seen->step;
  }

  void Finish(FindingSink& out) override {
    std::size_t bad = 0;
    const std::pair<const std::string, Module>* worst = nullptr;
    for (const auto& module : modules_) {
      // To the last look: what recovers is no fault.
      if (module.second.last >= share_min_ && 2 * module.second.bad_looks > module.second.looks) {
        ++bad;
        worst = worst == nullptr || module.second.last > worst->second.last ? &module : worst;
      }
    }
    if (worst == nullptr) {
      return;
    }
    Finding finding;
    finding.detector = id_;
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = worst->second.last / share_min_;
    finding.series = worst->first;
    AddFact(finding, "share", worst->second.last);
    AddFact(finding, "modules", static_cast<double>(bad));
    AddFact(finding, "of", static_cast<double>(modules_.size()));
    AddFact(finding, "looks", static_cast<double>(worst->second.looks));
    out.Add(std::move(finding));
  }

 private:
  struct Module {
    std::int64_t looks = 0;
    std::int64_t bad_looks = 0;
    double last = 0;
  };

  virtual std::optional<double> ShareOf(const Observation& seen) const = 0;

  static constexpr std::size_t kModulesMax = 1024;
  std::map<std::string, Module> modules_;
  RunTime last_at_{};
  std::optional<std::int64_t> last_step_;
  std::string id_;
  double share_min_;
};

}  // namespace whystop
