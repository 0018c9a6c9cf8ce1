#include "sign/nan.h"

#include <algorithm>
#include <cmath>

#include "model/observations.h"
#include "sign/exit_reason.h"
#include "sign/half_precision.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

bool Lasts(const Finding& finding) { return finding.Number("lasting").value_or(0) > 0; }

bool InputsAreOrdinary(const CaseFile& run) {
  constexpr double kLargestMax = 1e4;
  double largest = -1;
  for (const char* kind : {"batch", "model-input"}) {
    for (const Observation* seen : ObservationsOf(run, kind)) {
      const auto told = As<seen::ModelInput>(seen);
      if (MentionsAny(told.dtype.value_or(""), {"int", "bool"})) {
        continue;  // Numbers of words and classes.
      }
      largest =
          std::max({largest, std::abs(told.max.value_or(0)), std::abs(told.min.value_or(0))});
    }
  }
  return largest >= 0 && largest < kLargestMax;
}

}  // namespace

const Finding* LossLost(const CaseFile& run) {
  const Finding* whole = nullptr;
  const Finding* part = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.detector != "loss/not-finite") {
      continue;
    }
    const std::string role = FactText(finding, "role");
    // Of a loss that is both printed now and then and seen at every step, the latter.
    if (role == "train-loss" && (whole == nullptr || finding.Number("points").value_or(0) >
                                                         whole->Number("points").value_or(0))) {
      whole = &finding;
    }
    part = role == "loss-part" && Lasts(finding) && part == nullptr ? &finding : part;
  }
  return whole != nullptr && Lasts(*whole) ? whole : part;
}

bool SomeLossLost(const CaseFile& run) {
  return std::any_of(run.findings.begin(), run.findings.end(), [](const Finding& finding) {
    return finding.detector == "loss/not-finite" && Lasts(finding) &&
           FactText(finding, "role") == "train-loss";
  });
}

bool NanSeen(const CaseFile& run) {
  return LossLost(run) != nullptr || run.FindObservation("nonfinite") != nullptr ||
         ReasonOf(FinalExit(run)) == ExitReason::kNotFinite;
}

const Observation* NanThatHurtNothing(const CaseFile& run) {
  const auto reports = ObservationsOf(run, "nonfinite");
  // A loop may take no step where it finds NaN.
  const bool skips = OrZero(CountsOf(run).skipped_steps) > 0 ||
                     OrZero(CountsOf(run).steps) < OrZero(CountsOf(run).backwards) ||
                     run.FindFirst("gradient/not-finite") != nullptr;
  for (const Observation* report : reports) {
    const auto report_seen = As<seen::Nonfinite>(report);
    if (!std::isnan(report_seen.loss.value_or(0)) || OrZero(report_seen.weights) > 0) {
      return nullptr;
    }
  }
  // Each report is made before the weights can be hurt: the next one tells whether they were.
  const bool went_on = reports.size() >= 2 || LossLost(run) == nullptr;
  return !reports.empty() && went_on && !skips ? reports.front() : nullptr;
}

bool NanFromTheFirst(const CaseFile& run) {
  const auto reports = ObservationsOf(run, "nonfinite");
  if (reports.empty() || !InputsAreOrdinary(run) || UsesHalf(run) ||
      run.FindFirst("weights/initial-scale") != nullptr ||
      run.FindFirst("data/not-finite") != nullptr) {
    return false;
  }
  const Observation& first = *reports.front();
  const auto first_seen = As<seen::Nonfinite>(first);
  const std::string operation = first_seen.operation.value_or("");
  return first.step == 0 && !operation.empty() && !MayBeMasked(operation) &&
         first_seen.first == "loss" && std::isnan(first_seen.loss.value_or(0)) &&
         !first_seen.operand_from_outside.value_or(false);
}

bool MayBeMasked(const std::string& operation) {
  return MentionsAny(operation, {"softmax", "attention"}) &&
         !MentionsAny(operation, {"logsoftmax", "log_softmax"});
}

bool SpoiltOnTheWay(const CaseFile& run) {
  const Finding* data = run.FindFirst("data/not-finite");
  if (data == nullptr || data->series != "model input") {
    return false;
  }
  bool seen_whole = false;  // The batch of the very step at which the model was given such a value; few batches are looked at.
  for (const Observation* batch : ObservationsOf(run, seen::Batch::kKind)) {
    if (As<seen::Batch>(batch).nonfinite.value_or(0) > 0) {
      return false;
    }
    for (const Observation* input : ObservationsOf(run, seen::ModelInput::kKind)) {
      const auto given = As<seen::ModelInput>(input);
      seen_whole = seen_whole || (given.nonfinite.value_or(0) > 0 && input->step == batch->step &&
                                  given.shape.value_or("") == As<seen::Batch>(batch).shape.value_or(""));
    }
  }
  return seen_whole;
}

}  // namespace whystop
