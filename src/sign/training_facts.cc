#include "sign/training_facts.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/human.h"
#include "sign/loop_facts.h"
#include "sign/regression_facts.h"
#include "model/label_counts.h"

namespace whystop {

namespace {

bool Lasts(const Finding& finding) { return finding.Number("lasting").value_or(0) > 0; }

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

const Observation* NanThatHurtNothing(const CaseFile& run) {
  const auto reports = ObservationsOf(run, "nonfinite");
  // A loop may take no step where it finds NaN.
  const bool skips = Counted(run, "skipped_steps").value_or(0) > 0 ||
                     Counted(run, "steps").value_or(0) < Counted(run, "backwards").value_or(0) ||
                     run.FindFirst("gradient/not-finite") != nullptr;
  for (const Observation* report : reports) {
    if (!std::isnan(NumberOf(*report, "loss")) || NumberOf(*report, "weights") > 0) {
      return nullptr;
    }
  }
  // Each report is made before the weights can be hurt: the next one tells whether they were.
  const bool went_on = reports.size() >= 2 || LossLost(run) == nullptr;
  return !reports.empty() && went_on && !skips ? reports.front() : nullptr;
}

bool NanSeen(const CaseFile& run) {
  return LossLost(run) != nullptr || run.FindObservation("nonfinite") != nullptr ||
         ReasonOf(FinalExit(run)) == ExitReason::kNotFinite;
}

namespace {

bool InputsAreOrdinary(const CaseFile& run) {
  constexpr double kLargestMax = 1e4;
  double largest = -1;
  for (const char* kind : {"batch", "model-input"}) {
    for (const Observation* seen : ObservationsOf(run, kind)) {
      if (MentionsAny(TextOf(*seen, "dtype"), {"int", "bool"})) {
        continue;  // Numbers of words and classes.
      }
      largest =
          std::max({largest, std::abs(NumberOf(*seen, "max")), std::abs(NumberOf(*seen, "min"))});
    }
  }
  return largest >= 0 && largest < kLargestMax;
}

}  // namespace

bool MayBeMasked(const std::string& operation) {
  return MentionsAny(operation, {"softmax", "attention"}) &&
         !MentionsAny(operation, {"logsoftmax", "log_softmax"});
}

bool NanFromTheFirst(const CaseFile& run) {
  const auto reports = ObservationsOf(run, "nonfinite");
  if (reports.empty() || !InputsAreOrdinary(run) || UsesHalf(run) ||
      run.FindFirst("weights/initial-scale") != nullptr ||
      run.FindFirst("data/not-finite") != nullptr) {
    return false;
  }
  const Observation& first = *reports.front();
  const std::string operation = TextOf(first, "operation");
  return first.step == 0 && !operation.empty() && !MayBeMasked(operation) &&
         TextOf(first, "first") == "loss" && std::isnan(NumberOf(first, "loss")) &&
         NumberOf(first, "operand_from_outside") == 0;
}

bool SpoiltOnTheWay(const CaseFile& run) {
  constexpr int kLooksMin = 2;
  const Finding* data = run.FindFirst("data/not-finite");
  const Observation* input = run.FindObservation("model-input");
  if (data == nullptr || data->series != "model input" || input == nullptr) {
    return false;
  }
  int finite = 0;
  for (const Observation* batch : ObservationsOf(run, "batch")) {
    if (NumberOf(*batch, "nonfinite") > 0) {
      return false;
    }
    finite += TextOf(*batch, "shape") == TextOf(*input, "shape") ? 1 : 0;
  }
  return finite >= kLooksMin;
}

namespace {

/// A classifier that ends worse than by guessing, after it had time, and still far from there. A
/// loss that is summed over the batch is high too, but falls by most of its height.
bool EndsWorseThanGuessing(const CaseFile& run, const LearningView& learning) {
  const auto guess = LossOfGuessing(run);
  if (!guess || learning.basis == nullptr || learning.basis->Number("points").value_or(0) < 50) {
    return false;
  }
  const double last = learning.basis->Number("last").value_or(0);
  // Outputs far from zero make a loss high by themselves, and it may fall a long way in vain.
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss"});
  const bool wild = !calls.empty() && NumberOf(*calls.front(), "input_std") > 10;
  return last > 1.5 * *guess && (wild || last > 0.3 * learning.basis->Number("first").value_or(0));
}

/// The same of a regression: a constant would do better, after it had time.
bool EndsWorseThanTheMean(const CaseFile& run, const LearningView& learning) {
  if (learning.basis == nullptr || learning.basis->Number("points").value_or(0) < 50) {
    return false;
  }
  const double last = learning.basis->Number("last").value_or(0);
  const auto mean = LossOfTheMean(run, learning.basis->Number("first").value_or(0), last);
  return mean && last > 1.5 * *mean;
}

}  // namespace

bool LearningFailed(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  return LossLost(run) != nullptr || ReasonOf(FinalExit(run)) == ExitReason::kNotFinite ||
         learning.Bad() || EndsWorseThanGuessing(run, learning) ||
         EndsWorseThanTheMean(run, learning) || MissesTheMean(run);
}

bool NotSeenToLearn(const CaseFile& run) {
  constexpr double kPointsMin = 20;
  const LearningView learning = LearningOf(run);
  const double points =
      learning.basis == nullptr ? 0 : learning.basis->Number("points").value_or(0);
  // However noisy its loss is. (Of a regression the level of guessing is but a bound.)
  const bool knows_its_task = LossOfGuessing(run).has_value() && ShareOfGuessing(run) < 0.5;
  return LearningFailed(run) || (!learning.Good() && points >= kPointsMin && !knows_its_task);
}

namespace {

/// Where no call of the loss was seen: by its name and by the width of what the model gives.
std::optional<double> GuessingByThePlan(const CaseFile& run) {
  const Observation* plan = run.FindObservation("framework");
  const double outputs = plan == nullptr ? 0 : NumberOf(*plan, "outputs");
  return outputs >= 2 && MentionsAny(TextOf(*plan, "loss"), {"categoricalcrossentropy", "categorical_crossentropy"})
             ? std::optional(std::log(outputs))
             : std::nullopt;
}

/// By the labels as the loss saw them, where no loader was there to count them: of two classes their mean is a share.
std::optional<double> EntropyOfTwo(const std::vector<const Observation*>& calls) {
  constexpr std::size_t kCallsMin = 3;
  double sum = 0;
  std::size_t count = 0;
  for (const Observation* call : calls) {
    const auto mean = call->Number("target_mean");
    if (NumberOf(*call, "classes") == 2 && mean && *mean >= 0 && *mean <= 1) {
      sum += *mean;
      ++count;
    }
  }
  const double share = count == 0 ? 0 : sum / static_cast<double>(count);
  return count >= kCallsMin && share > 0 && share < 1
             ? std::optional(-share * std::log(share) - (1 - share) * std::log1p(-share))
             : std::nullopt;
}

}  // namespace

std::optional<double> LossOfGuessing(const CaseFile& run) {
  const auto calls = LossCalls(run, {"cross_entropy", "nll_loss", "binary_cross_entropy",
                                     "binary_cross_entropy_with_logits"});
  if (calls.empty()) {
    return GuessingByThePlan(run);
  }
  const Observation* labels = run.FindObservation("labels");
  const auto entropy = labels == nullptr ? std::nullopt : LabelEntropy(TextOf(*labels, "counts"));
  if (entropy && *entropy > 0) {
    return entropy;
  }
  const double classes = NumberOf(*calls.back(), "classes");
  if (const auto shares = classes == 2 ? EntropyOfTwo(calls) : std::nullopt) {
    return shares;
  }
  return classes >= 2 ? std::optional(std::log(classes)) : std::nullopt;
}

std::string DescribeGuessing(const CaseFile& run) {
  const Finding* flat = run.FindFirst("loss/plateau-from-start");
  if (flat != nullptr && !FactText(*flat, "guess").empty()) {
    return flat->series + " stays at " + HumanNumber(flat->Number("level").value_or(0)) +
           ", the level of guessing (" + FactText(*flat, "guess") + ")";
  }
  const LearningView learning = LearningOf(run);
  const auto guess = LossOfGuessing(run);
  if (!guess || learning.basis == nullptr) {
    return {};
  }
  const double last = learning.basis->Number("last").value_or(0);
  if (learning.state == Learning::kUnknown) {
    // Noise hides a slow fall, but not that after so long it is where guessing would be.
    const double margin = 2 * learning.basis->Number("level_noise").value_or(0);
    const bool still_there = learning.basis->Number("points").value_or(0) >= 300 &&
                             margin < 0.05 * *guess && std::abs(last - *guess) < margin;
    return still_there
               ? learning.basis->series + " is at " + HumanNumber(last) + " after " +
                     HumanNumber(learning.basis->Number("points").value_or(0)) +
                     " steps, within its noise the level of guessing (" + HumanNumber(*guess) + ")"
               : std::string();
  }
  if (learning.state == Learning::kImproving) {
    const bool learns_by_heart = last > 0.95 * *guess && last < *guess &&
                                 learning.basis->Number("first").value_or(0) < 1.1 * *guess &&
                                 learning.basis->Number("points").value_or(0) >= 500;
    return learns_by_heart
               ? learning.basis->series + " is still at " + HumanNumber(last) + " after " +
                     HumanNumber(learning.basis->Number("points").value_or(0)) +
                     " steps, hardly below the level of guessing (" + HumanNumber(*guess) + ")"
               : std::string();
  }
  const bool at_guessing = last > 0.9 * *guess && last < 1.1 * *guess &&
                           learning.basis->Number("points").value_or(0) >= 100;
  return at_guessing ? learning.basis->series + " came to rest at " + HumanNumber(last) +
                           ", the level of guessing (" + HumanNumber(*guess) + ")"
                     : std::string();
}

const Observation* LeftInNoOptimizer(const CaseFile& run) {
  const auto compared = ObservationsOf(run, "parameter-not-in-optimizer");
  const auto made = ObservationsOf(run, "optimizer");
  if (compared.empty()) {
    return nullptr;
  }
  // A stage with an optimizer of its own is compared anew.
  const Observation* left = compared.back();
  const bool is_past = !made.empty() && made.back()->step && left->step && *made.back()->step > *left->step;
  return is_past ? nullptr : left;
}

bool LearnsSoundly(const CaseFile& run) {
  if (Counted(run, "steps").value_or(0) < 20 ||
      run.FindObservation("parameter-without-gradient") != nullptr ||
      LeftInNoOptimizer(run) != nullptr ||
      run.FindObservation("identical-rows") != nullptr) {
    return false;
  }
  for (const char* fault :
       {"weights/unchanged", "gradient/zero", "gradient/vanishing", "gradient/exploding",
        "update/ratio-too-large", "update/ratio-too-small", "lr/zero", "lr/decayed-early",
        "activation/dead", "activation/saturated", "scale/keeps-falling", "weights/initial-scale",
        "weights/vanished"}) {
    if (run.FindFirst(fault) != nullptr) {
      return false;
    }
  }
  const auto calls = ObservationsOf(run, "loss-call");
  if (!calls.empty() && TextOf(*calls.front(), "function") == "mse_loss" &&
      TextOf(*calls.front(), "input_shape") != TextOf(*calls.front(), "target_shape")) {
    return false;
  }
  if (calls.empty() || !calls.back()->Number("rows_std_mean") ||
      !GivesOneAnswer(*calls.back(), 1e-3)) {
    return true;
  }
  // Where there is nothing to learn, outputs that differed may end as one, but not at once: that is
  // a model that collapsed.
  constexpr int kDifferedMin = 2;
  return std::count_if(calls.begin(), calls.end(), [](const Observation* call) {
           return NumberOf(*call, "call") >= 10 && !GivesOneAnswer(*call, 1e-3);
         }) >= kDifferedMin;
}

std::optional<double> LevelOfGuessing(const CaseFile& run, const Finding& loss) {
  const auto classes = LossOfGuessing(run);
  return classes ? classes
                 : LossOfTheMean(run, loss.Number("first").value_or(0),
                                 loss.Number("last").value_or(0));
}

double ShareOfGuessing(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  if (learning.basis == nullptr) {
    return 0;
  }
  const auto guess = LevelOfGuessing(run, *learning.basis);
  return guess ? learning.basis->Number("last").value_or(0) / *guess : 0;
}

bool StillNearGuessing(const CaseFile& run) {
  const LearningView learning = LearningOf(run);
  return learning.basis != nullptr && learning.basis->Number("points").value_or(0) >= 50 &&
         LossOfGuessing(run) && ShareOfGuessing(run) > 0.7;
}

double OutputSize(const Observation& loss_call) {
  return std::hypot(NumberOf(loss_call, "input_mean"), NumberOf(loss_call, "input_std"));
}

bool GivesOneAnswer(const Observation& loss_call, double share) {
  auto spread = loss_call.Number("rows_std_mean");
  // One value a sample has no rows. Targets that differ say that there were several samples.
  const bool no_rows = TextOf(loss_call, "input_shape").find('x') == std::string::npos;
  if (!spread && no_rows && NumberOf(loss_call, "target_std") > 0) {
    spread = loss_call.Number("input_std");
  }
  return spread && *spread < share * OutputSize(loss_call);
}

bool ConstantFromTheStart(const CaseFile& run) {
  const auto calls = ObservationsOf(run, "loss-call");
  return !calls.empty() && NumberOf(*calls.front(), "call") == 1 &&
         GivesOneAnswer(*calls.front(), 1e-6);
}

bool NoGradientsInOptimizer(const CaseFile& run) {
  const auto checks = ObservationsOf(run, "gradients-present");
  return Counted(run, "backwards").value_or(0) > 0 && !checks.empty() &&
         std::all_of(checks.begin(), checks.end(), [](const Observation* present) {
           return NumberOf(*present, "without") > 0 &&
                  NumberOf(*present, "without") >= NumberOf(*present, "tensors") - NumberOf(*present, "frozen");
         });
}

bool ZeroedBeforeStep(const CaseFile& run) {
  const Observation* present = run.FindObservation("gradients-present");
  return present != nullptr && NumberOf(*present, "zeroed_before_step") > 0 &&
         NoGradientsInOptimizer(run);
}

namespace {

/// Its tensors have no names because no module that ran holds them; what the loss got depends on
/// weights none the less.
bool HoldsAnotherModel(const CaseFile& run) {
  const Observation* without = run.FindObservation("parameter-without-gradient");
  const auto calls = ObservationsOf(run, "loss-call");
  return without != nullptr && TextOf(*without, "names").starts_with("parameter0") &&
         run.FindObservation("model") == nullptr &&
         std::any_of(calls.begin(), calls.end(), [](const Observation* call) {
           return NumberOf(*call, "input_requires_grad") > 0;
         });
}

}  // namespace

bool OptimizerHoldsOthers(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  const bool orphans =
      !optimizers.empty() && NumberOf(*optimizers.front(), "tensors_of_no_module") > 0;
  return orphans || LeftInNoOptimizer(run) != nullptr ||
         HoldsAnotherModel(run);
}

bool UsesHalf(const CaseFile& run) {
  const Observation* model = run.FindObservation("model");
  const bool weights = model != nullptr && MentionsAny(TextOf(*model, "dtypes"), {"float16"}) &&
                       !MentionsAny(TextOf(*model, "dtypes"), {"bfloat16"});
  return weights || OutputsAreHalf(run);
}

bool OutputsAreHalf(const CaseFile& run) {
  const auto calls = ObservationsOf(run, "loss-call");
  return std::any_of(calls.begin(), calls.end(), [](const Observation* call) {
    return TextOf(*call, "input_dtype") == "float16";
  });
}

std::optional<double> Counted(const CaseFile& run, const std::string& what) {
  const Observation* counts = run.FindObservation("counts");
  return counts == nullptr ? std::nullopt : counts->Number(what);
}

std::vector<const Observation*> ObservationsOf(const CaseFile& run, std::string_view kind) {
  std::vector<const Observation*> found;
  for (const Observation& observation : run.observations) {
    if (observation.kind == kind) {
      found.push_back(&observation);
    }
  }
  return found;
}

std::vector<const Observation*> LossCalls(const CaseFile& run,
                                          std::initializer_list<std::string_view> functions,
                                          Calls which) {
  std::vector<const Observation*> found;
  for (const Observation* call : ObservationsOf(run, "loss-call")) {
    const bool wanted =
        std::find(functions.begin(), functions.end(), TextOf(*call, "function")) != functions.end();
    if (wanted && (which == Calls::kAll || call->Number("grad_enabled").value_or(1) != 0)) {
      found.push_back(call);
    }
  }
  return found;
}

std::vector<const Observation*> RegressionCalls(const CaseFile& run) {
  return LossCalls(run, {"mse_loss", "rmse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"});
}

std::string TextOf(const Observation& seen, const std::string& name) {
  const std::string* text = seen.Text(name);
  if (text != nullptr) {
    return *text;
  }
  const auto number = seen.Number(name);
  return number ? HumanNumber(*number, 9) : std::string();
}

double NumberOf(const Observation& seen, const std::string& name) {
  return seen.Number(name).value_or(0);
}

std::string FactText(const Finding& finding, const std::string& name) {
  const Fact* fact = finding.FindFact(name);
  return fact == nullptr ? std::string() : fact->text;
}

std::optional<double> LearningRate(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  if (!optimizers.empty() && optimizers.front()->Number("lr")) {
    return std::max(*optimizers.front()->Number("lr"), NumberOf(*optimizers.front(), "initial_lr"));
  }
  for (const char* detector : {"update/ratio-too-large", "update/ratio-too-small"}) {
    if (const Finding* finding = run.FindFirst(detector)) {
      return finding->Number("lr");
    }
  }
  return std::nullopt;
}

const Finding* RateSpentEarly(const CaseFile& run) {
  const Finding* decayed = run.FindFirst("lr/decayed-early");
  if (decayed == nullptr || LossLost(run) != nullptr) {
    return nullptr;
  }
  const double share = decayed->Number("share").value_or(0);
  const bool nearly_all_along = share > 0.8 && NotSeenToLearn(run);
  // Such a loss levels off because nothing moves any more, far from where it could be.
  const bool gone_at_once =
      share > 0.5 && ShareOfGuessing(run) > 0.5 &&
      decayed->Number("last").value_or(1) < 1e-4 * decayed->Number("highest").value_or(0);
  return LearningOf(run).Bad() || nearly_all_along || gone_at_once ? decayed : nullptr;
}

double ShrinkPerStep(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  const std::string name = OptimizerName(run);
  if (optimizers.empty() || (name != "SGD" && name != "AdamW")) {
    return 0;  // Others make their own size of a step out of the rate.
  }
  const double momentum = std::clamp(NumberOf(*optimizers.front(), "momentum"), 0.0, 0.99);
  return NumberOf(*optimizers.front(), "weight_decay") * LearningRate(run).value_or(0) /
         (1 - momentum);
}

std::string OptimizerName(const CaseFile& run) {
  const auto optimizers = ObservationsOf(run, "optimizer");
  return optimizers.empty() ? std::string() : TextOf(*optimizers.front(), "name");
}

bool IsAdaptive(const CaseFile& run) {
  return MentionsAny(OptimizerName(run),
                     {"adam", "rmsprop", "adagrad", "adadelta", "lion", "lamb", "adafactor"});
}

double RoundFactor(double value, double factor) {
  const double wanted = value * factor;
  if (!(wanted > 0) || !std::isfinite(wanted)) {
    return wanted;
  }
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  const double digit = wanted / power;
  return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

std::string Percent(double share) { return HumanNumber(100 * share, 2) + " %"; }

bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::any_of(words.begin(), words.end(), [&lower](std::string_view word) {
    return lower.find(word) != std::string::npos;
  });
}

const Observation* ModelInput(const CaseFile& run) {
  for (const char* kind : {"model-input", "batch"}) {
    for (const Observation* seen : ObservationsOf(run, kind)) {
      if (MentionsAny(TextOf(*seen, "dtype"), {"float"}) && seen->Number("std")) {
        return seen;
      }
    }
  }
  return nullptr;
}

double SizeOf(const Observation& tensor) {
  return std::hypot(NumberOf(tensor, "mean"), NumberOf(tensor, "std"));
}

std::optional<double> RegressionTargetSize(const CaseFile& run) {
  const auto calls = RegressionCalls(run);
  if (calls.empty() || !calls.front()->Number("target_std")) {
    return std::nullopt;
  }
  return std::hypot(NumberOf(*calls.front(), "target_mean"),
                    NumberOf(*calls.front(), "target_std"));
}

}  // namespace whystop
