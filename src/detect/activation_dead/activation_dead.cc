#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "detect/detectors.h"
#include "detect/history_detector.h"

namespace whystop {
namespace {

// Half of the units of a layer may sleep for a batch in a healthy net; nine in ten may not.
constexpr double kShareMin = 0.9;
constexpr double kSamplesMin = 8;  // In a smaller batch a unit may sleep by chance.

/// A layer nearly all of whose rectified units stay at zero for every sample.
class ActivationDead final : public Detector {
 public:
  void Push(const Event& event, FindingSink&) override {
    const auto* seen = event.As<Observation>();
    const std::string* module = seen == nullptr || seen->kind != "activation" ? nullptr : seen->Text("module");
    if (module == nullptr || (modules_.size() >= kModulesMax && !modules_.contains(*module))) {
      return;
    }
    const std::optional<double> share = ShareOf(*seen);
    if (!share) {
      return;
    }
    Module& state = modules_[*module];
    ++state.looks;
    state.bad_looks += *share >= kShareMin ? 1 : 0;
    state.last = *share;
    last_at_ = event.at;
    last_step_ = seen->step;
  }

  void Finish(FindingSink& out) override {
    std::size_t bad = 0;
    const std::pair<const std::string, Module>* worst = nullptr;
    for (const auto& module : modules_) {
      // To the last look: what recovers is no fault.
      if (module.second.last >= kShareMin && 2 * module.second.bad_looks > module.second.looks) {
        ++bad;
        worst = worst == nullptr || module.second.last > worst->second.last ? &module : worst;
      }
    }
    if (worst == nullptr) {
      return;
    }
    Finding finding;
    finding.detector = "activation/dead";
    finding.at = last_at_;
    finding.step_to = last_step_;
    finding.strength = worst->second.last / kShareMin;
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

  static std::optional<double> ShareOf(const Observation& seen) {
    const auto dead = seen.Number("dead");
    const auto units = seen.Number("units");
    if (!dead || !units || *units < 1 || seen.Number("samples").value_or(0) < kSamplesMin) {
      return std::nullopt;
    }
    return *dead / *units;
  }

  static constexpr std::size_t kModulesMax = 1024;
  std::map<std::string, Module> modules_;
  RunTime last_at_{};
  std::optional<std::int64_t> last_step_;
};

}  // namespace

std::unique_ptr<Detector> MakeActivationDead() { return std::make_unique<ActivationDead>(); }

}  // namespace whystop
