#include "try/interventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whystop {
namespace {

using Suspects = std::span<const std::string>;

// What is so far from the usual that mending it could matter. Wide on purpose: an offer that
// changes nothing costs one trial, and only a cure proves.
constexpr double kInputScaleMax = 4.0;
constexpr double kInputScaleMin = 0.05;
constexpr double kInputLevelMax = 20.0;
constexpr double kScalesRangeMax = 100.0;
constexpr double kTargetScaleMax = 5.0;
constexpr double kTargetScaleMin = 0.02;
constexpr double kOddInit = 4.0;
constexpr double kBiasShift = 1.5;
constexpr double kDecay = 2e-3;
constexpr double kDropout = 0.55;
constexpr double kRateChanged = 0.2;
constexpr double kSmallBatch = 4;

/// The first suspect of a list, or `otherwise`.
std::string_view FirstSuspect(Suspects suspects, std::string_view ids, std::string_view otherwise) {
  for (const std::string& suspect : suspects) {
    if (Lists(ids, suspect)) {
      return ids.substr(ids.find(suspect), suspect.size());
    }
  }
  return otherwise;
}

bool InputsOdd(const Trial& t) {
  return t.Seen("input_scale") > kInputScaleMax || t.Seen("input_level") > kInputLevelMax ||
         t.Seen("input_range_of_scales") > kScalesRangeMax ||
         (t.survey.contains("input_scale") && t.Seen("input_scale") < kInputScaleMin);
}

bool TargetsOdd(const Trial& t) {
  return t.Seen("target_scale") > kTargetScaleMax || t.Seen("target_shift") > kTargetScaleMax ||
         (t.survey.contains("target_scale") && t.Seen("target_scale") < kTargetScaleMin);
}

// clang-format off
constexpr std::array kMendings = {
    Mending{"zero-grad", "gradients cleared before each backward pass",
            [](const Trial& t) { return t.Seen("gradients_left") > 0; },
            [](const Trial&, Suspects) -> std::string_view { return "missing-zero-grad"; },
            "missing-zero-grad", "call optimizer.zero_grad() before each backward pass"},
    Mending{"train-mode", "training mode at every training step",
            [](const Trial& t) { return t.Seen("eval_mode") > 0; },
            [](const Trial&, Suspects) -> std::string_view { return "eval-mode-left-on"; },
            "eval-mode-left-on", "call model.train() at the start of every training epoch"},
    Mending{"undo-softmax", "the loss function given what it asks for (scores or log-probabilities)",
            [](const Trial& t) { return t.Seen("probabilities") > 0; },
            [](const Trial& t, Suspects s) -> std::string_view {
              return FirstSuspect(s, "double-softmax wrong-loss-activation",
                                  t.Text("loss") == "nll_loss" ? "wrong-loss-activation" : "double-softmax"); },
            "double-softmax wrong-loss-activation", "give the loss function the raw outputs: remove the last softmax or sigmoid"},
    Mending{"reshape-target", "the target in the output's shape",
            [](const Trial& t) { return t.Seen("reshapable") > 0; },
            [](const Trial&, Suspects) -> std::string_view { return "target-broadcast"; },
            "target-broadcast", "give the target the shape of the output, for example y.view_as(output)"},
    Mending{"unfreeze", "all parameters trainable and in the optimizer",
            [](const Trial& t) { return t.Seen("frozen") > 0 || t.Seen("not_in_optimizer") > 0; },
            [](const Trial& t, Suspects s) -> std::string_view {
              return FirstSuspect(s, "frozen-params optimizer-wrong-params",
                                  t.Seen("not_in_optimizer") > 0 ? "optimizer-wrong-params" : "frozen-params"); },
            "frozen-params optimizer-wrong-params", "let these parameters learn: requires_grad=True, and all of them in the optimizer"},
    Mending{"fill-odd-values", "missing values and fillers replaced by the middle of their column",
            [](const Trial& t) { return t.Seen("odd_values") > 0; },
            [](const Trial&, Suspects s) -> std::string_view {
              return FirstSuspect(s, "missing-values nan-in-data", "missing-values"); },
            "missing-values nan-in-data", "replace missing values before training"},
    Mending{kFloat32, "32-bit instead of 16-bit",
            [](const Trial& t) { return t.Seen("half") > 0 || t.Seen("autocast") > 0; },
            [](const Trial& t, Suspects s) -> std::string_view {
              const bool lost = std::any_of(t.loss.begin(), t.loss.end(), [](const Point& p) { return p.value != p.value; });
              return FirstSuspect(s, "fp16-overflow fp16-underflow", lost ? "fp16-overflow" : "fp16-underflow"); },
            "fp16-overflow fp16-underflow", "train in bfloat16 or float32, or scale the loss with GradScaler"},
    Mending{"lr-hold", "the learning rate held at its first value",
            [](const Trial& t) { return t.Seen("lr") > 0 && t.Seen("lr_now") < kRateChanged * t.Seen("lr"); },
            [](const Trial&, Suspects s) -> std::string_view { return FirstSuspect(s, "scheduler-order lr-zero lr-too-low", "lr-zero"); },
            "scheduler-order lr-zero", "let the schedule fall more slowly: step it once an epoch, and check its length"},
    Mending{"standardise-inputs", "inputs standardised by the first batches", &InputsOdd,
            [](const Trial&, Suspects s) -> std::string_view {
              return FirstSuspect(s, "unscaled-inputs categorical-as-integer", "unscaled-inputs"); },
            "unscaled-inputs categorical-as-integer", "standardise the inputs: subtract the mean, divide by the deviation"},
    Mending{"standardise-targets", "targets standardised by the first batches", &TargetsOdd,
            [](const Trial&, Suspects) -> std::string_view { return "unscaled-targets"; },
            "unscaled-targets", "standardise the targets, and undo it when predicting"},
    Mending{"default-init", "every layer initialised as torch does",
            [](const Trial& t) { return t.Seen("symmetric") > 0 || t.Seen("odd_init") > kOddInit || t.Seen("bias_shift") > kBiasShift; },
            [](const Trial& t, Suspects s) -> std::string_view {
              return t.Seen("symmetric") > 0 ? "symmetric-init"
                     : FirstSuspect(s, "bad-init-scale dead-relu saturation",
                                    t.Seen("odd_init") > kOddInit ? "bad-init-scale" : "dead-relu"); },
            "symmetric-init bad-init-scale dead-relu saturation", "leave the layers to their default initialisation"},
    Mending{"shuffle", "the training loader shuffled",
            [](const Trial& t) { return t.Seen("unshuffled") > 0; },
            [](const Trial&, Suspects) -> std::string_view { return "order-not-shuffled"; },
            "order-not-shuffled", "DataLoader(..., shuffle=True)"},
    Mending{"weight-decay=0", "weight decay off",
            [](const Trial& t) { return t.Seen("weight_decay") > kDecay; },
            [](const Trial&, Suspects) -> std::string_view { return "over-regularised"; },
            "over-regularised", "lower weight_decay"},
    Mending{"dropout-off", "dropout off",
            [](const Trial& t) { return t.Seen("dropout") > kDropout; },
            [](const Trial&, Suspects) -> std::string_view { return "over-regularised"; },
            "over-regularised", "lower the dropout"},
    Mending{"batch-times=8", "batches eight times larger",
            [](const Trial& t) { return t.Seen("batch_norm") > 0 && t.Seen("batch") > 0 && t.Seen("batch") <= kSmallBatch; },
            [](const Trial&, Suspects) -> std::string_view { return "bn-small-batch"; },
            "bn-small-batch", "use a larger batch, or GroupNorm instead of BatchNorm"},
};
// clang-format on

std::string_view NextWord(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::string WordsFor(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  const std::string_view value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
  if (const Mending* mending = FindMending(word)) {
    return std::string(mending->change);
  }
  if (name == "lr-times") return fmt::format("learning rate x {}", value);
  if (name == "lr") return fmt::format("learning rate {}", value);
  if (name == "one-batch") return fmt::format("the first {} samples again and again", value);
  if (name == "permute-labels") return "labels dealt out anew in each batch";
  if (name == "stand-in") return "a plain network in place of the model";
  if (name == "hold-out") return "half of the samples held out";
  if (name == "seed") return "another seed";
  if (name == "clip") return fmt::format("gradients clipped to norm {}", value);
  if (name == "anomaly") return "anomaly mode";
  if (name == "continue") return fmt::format("gone on for {} times as many steps", value.empty() ? "two" : value == "2" ? "three" : "four");
  if (name == "patience") return fmt::format("patience x {}", value);
  if (name == "drop-last") return "the last, smaller batch left out";
  if (name == "no-workers") return "data loaded without workers";
  if (name == "weight-decay") return fmt::format("weight decay {}", value);
  if (name == "batch-times") return fmt::format("batch size x {}", value);
  return name == kAsIs ? "nothing" : std::string(word);
}

}  // namespace

std::span<const Mending> AllMendings() { return kMendings; }

const Mending* FindMending(std::string_view spec) {
  const auto* const found = std::find_if(kMendings.begin(), kMendings.end(),
                                         [spec](const Mending& m) { return m.spec == spec; });
  return found == kMendings.end() ? nullptr : &*found;
}

std::string ChangeInWords(std::string_view spec) {
  std::string words;
  while (!spec.empty()) {
    const std::string_view word = NextWord(spec);
    words += (words.empty() ? "" : ", ") + WordsFor(word);
  }
  return words;
}

std::string_view ValueIn(std::string_view spec, std::string_view name) {
  while (!spec.empty()) {
    const std::string_view word = NextWord(spec);
    if (word.size() > name.size() && word.substr(0, name.size()) == name &&
        word[name.size()] == '=') {
      return word.substr(name.size() + 1);
    }
  }
  return "";
}

bool IsRate(std::string_view spec) {
  return spec.find(' ') == std::string_view::npos &&
         (!ValueIn(spec, "lr-times").empty() || !ValueIn(spec, "lr").empty());
}

bool Lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (NextWord(list) == word) {
      return true;
    }
  }
  return false;
}

}  // namespace whystop
