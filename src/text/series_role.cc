#include "text/series_role.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace whystop {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kNameBytesMax = 256;  // Longer names are not written by people.

constexpr std::array<std::string_view, 11> kValidationWords = {
    "val",     "valid", "validation", "eval", "evaluation", "test",
    "testing", "dev",   "holdout",    "vl",   "cv"};
constexpr std::array<std::string_view, 4> kTrainWords = {"train", "training", "trn", "tr"};
// Words that say how a loss was taken, not which part of it.
constexpr std::array<std::string_view, 27> kNeutralWords = {
    "step",    "epoch", "batch",   "iter",    "iteration", "iterations", "vs",
    "running", "avg",   "mean",    "average", "total",     "smooth",     "smoothed",
    "moving",  "lm",    "current", "cur",     "overall",   "sum",        "all",
    "ema",     "final", "per",     "log",     "metrics",   "scalars"};
constexpr std::array<std::string_view, 2> kLossWords = {"loss", "losses"};
constexpr std::array<std::string_view, 17> kLossLikeWords = {
    "mse",      "rmse",     "mae",   "ce",   "bce", "nll", "xent",      "crossentropy", "logloss",
    "mlogloss", "rmsle",    "msle",  "wer",  "cer", "bpd", "objective", "nelbo"};
constexpr std::array<std::string_view, 21> kScoreWords = {
    "acc",    "accuracy", "accuracies", "f1",   "auc",  "auroc",   "precision",
    "recall", "dice",     "jaccard",    "top1", "top5", "acc1",    "acc5",
    "ndcg",   "mcc",      "psnr",       "ssim", "roc",  "winrate", "accu"};
// Scores that are only ever computed on held-out examples.
constexpr std::array<std::string_view, 9> kHeldOutScoreWords = {
    "map", "ap", "bleu", "sacrebleu", "meteor", "miou", "rouge", "iou", "mrr"};
constexpr std::array<std::string_view, 14> kRewardWords = {
    "reward", "rewards",  "rew",           "return",  "returns",  "epret", "eprew",
    "rwd",    "epreward", "episodereward", "fitness", "epreturn", "score", "scores"};
// What is made as large as possible where a likelihood is learned.
constexpr std::array<std::string_view, 4> kLikelihoodWords = {"elbo", "likelihood", "loglik",
                                                              "loglikelihood"};
constexpr std::array<std::string_view, 4> kNegatedWords = {"neg", "negative", "minus", "nll"};
// Two players or a moving target: such a loss does not fall when all is well.
constexpr std::array<std::string_view, 21> kOpposedWords = {
    "d",   "g",      "gen",      "generator", "disc", "discriminator", "adv", "adversarial",
    "gan", "critic", "actor",    "policy",    "pg",   "value",         "vf",  "entropy",
    "kl",  "gp",     "gradient", "aux",       "q"};
// What is paid for something else to fall: it rises when all is well.
constexpr std::array<std::string_view, 10> kPenaltyWords = {"kld",         "dkl",     "kldiv",   "reg",        "regularization",
                                                            "regularizer", "penalty", "sparsity", "commitment", "codebook"};
// A name with one of these is about something else than the value itself.
constexpr std::array<std::string_view, 34> kForeignWords = {
    "std",     "stdev",      "var",        "variance",  "min",      "best",     "time",
    "sec",     "seconds",    "weight",     "weights",   "coef",     "lambda",   "count",
    "num",     "ppl",        "perplexity", "threshold", "target",   "patience", "delta",
    "samples", "runtime",    "bias",       "chosen",    "rejected", "margins",  "momentum",
    "decay",   "multiplier", "scheduler",  "param",     "params",   "length"};

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& set, std::string_view word) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

template <std::size_t N>
bool AnyOf(const Words& words, const std::array<std::string_view, N>& set) {
  return std::any_of(words.begin(), words.end(),
                     [&set](const std::string& word) { return Contains(set, word); });
}

bool Has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A word of one metric's name that llm.c abbreviates: "trl" and "tel" are its training and test
/// loss.
std::string_view Unfolded(std::string_view name) {
  return name == "trl" ? "train loss" : name == "tel" ? "test loss" : name;
}

/// Adds a word; "trainloss" and "valacc" are two.
void AddWord(Words& words, std::string word) {
  if (word.empty()) {
    return;
  }
  for (const std::string_view tail : {"loss", "acc", "lr", "accuracy"}) {
    if (word.size() > tail.size() && word.ends_with(tail)) {
      std::string head = word.substr(0, word.size() - tail.size());
      if (Contains(kTrainWords, head) || Contains(kValidationWords, head) ||
          (tail == "loss" && head != "log" && head != "mlog" && head.size() > 2)) {
        words.push_back(std::move(head));
        words.emplace_back(tail);
        return;
      }
    }
  }
  words.push_back(std::move(word));
}

/// Lower-case words of "metrics/mAP50(B)", "trainLoss", "lm-loss-training": parted by signs and by
/// humps after two or more small letters, so that "mAP" stays one word.
Words SplitName(std::string_view name) {
  Words words;
  std::string word;
  std::size_t small_letters = 0;
  for (const char raw : Unfolded(name).substr(0, kNameBytesMax)) {
    const auto letter = static_cast<unsigned char>(raw);
    if (std::isalnum(letter) == 0) {
      AddWord(words, std::move(word));
      word.clear();
      small_letters = 0;
      continue;
    }
    if (std::isupper(letter) != 0 && small_letters >= 2) {
      AddWord(words, std::move(word));
      word.clear();
    }
    small_letters = std::islower(letter) != 0 ? small_letters + 1 : 0;
    word.push_back(static_cast<char>(std::tolower(letter)));
  }
  AddWord(words, std::move(word));
  return words;
}

bool IsLearningRate(const Words& words) {
  const bool learning_rate = Has(words, "learning") && Has(words, "rate");
  return (learning_rate || Has(words, "lr") || Has(words, "learningrate")) &&
         !Has(words, "scale") && !Has(words, "loss") && !Has(words, "norm");
}

bool IsGradientNorm(const Words& words) {
  const bool gradient = Has(words, "grad") || Has(words, "gradient") || Has(words, "gradients");
  return Has(words, "gnorm") || Has(words, "gradnorm") || (gradient && Has(words, "norm"));
}

bool IsLossScale(const Words& words) {
  const bool scale = Has(words, "scale") || Has(words, "scaler") || Has(words, "scaling");
  return Has(words, "lossscale") || (scale && (Has(words, "loss") || Has(words, "amp") ||
                                               Has(words, "grad") || Has(words, "scaler")));
}

/// "l_pix", "l_g_gan": the terms that image restoration code prints.
bool IsShortNamedLoss(const Words& words) {
  return words.size() >= 2 && words[0] == "l" && words[1].size() >= 3 && words[1] != "rate";
}

/// "valid_0's l2": LightGBM's squared and absolute errors.
bool IsLightGbmError(const Words& words) {
  return words.size() >= 2 && words[words.size() - 2] == "s" &&
         (words.back() == "l1" || words.back() == "l2");
}

/// "elbo", "lower bound", "log-likelihood", where it is not the negative one.
bool IsLikelihood(const Words& words) {
  const bool bound = Has(words, "bound") && (Has(words, "lower") || Has(words, "variational"));
  return (bound || AnyOf(words, kLikelihoodWords)) && !AnyOf(words, kNegatedWords);
}

bool IsLoss(const Words& words) {
  const bool negated = AnyOf(words, kLikelihoodWords) && AnyOf(words, kNegatedWords);
  const bool split_named = AnyOf(words, kTrainWords) || AnyOf(words, kValidationWords);
  return AnyOf(words, kLossWords) || AnyOf(words, kLossLikeWords) || negated || IsShortNamedLoss(words) ||
         IsLightGbmError(words) || (Has(words, "cross") && Has(words, "entropy")) ||
         (split_named && (Has(words, "error") || Has(words, "err")));
}

/// "mini_val_loss": whatever set it is, its loss and no term of it.
bool EndsInLossOfSplit(const Words& words) {
  return words.size() >= 2 && Contains(kLossWords, words.back()) &&
         (Contains(kTrainWords, words[words.size() - 2]) ||
          Contains(kValidationWords, words[words.size() - 2]));
}

/// A loss that is no term of another: nothing in its name but the word, the split and how it was
/// averaged.
bool IsTotalLoss(const Words& words) {
  return EndsInLossOfSplit(words) || (AnyOf(words, kLossWords) && Has(words, "total")) ||
         (AnyOf(words, kLossWords) &&
          std::all_of(words.begin(), words.end(), [](const std::string& word) {
            return Contains(kLossWords, word) || Contains(kNeutralWords, word) ||
                   Contains(kTrainWords, word) || Contains(kValidationWords, word);
          }));
}

bool IsHeldOutScore(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string stem = word.substr(0, word.find_first_of("0123456789"));
    return Contains(kHeldOutScoreWords, stem) || stem == "rougel";
  });
}

SeriesRole RoleOfWords(const Words& words) {
  if (AnyOf(words, kForeignWords) || Has(words, "py")) {  // A file of Python is no metric.
    return SeriesRole::kOther;
  }
  if (IsLearningRate(words)) {
    return SeriesRole::kLearningRate;
  }
  if (IsGradientNorm(words)) {
    return SeriesRole::kGradientNorm;
  }
  if (IsLossScale(words)) {
    return SeriesRole::kLossScale;
  }
  const bool held_out = AnyOf(words, kValidationWords);
  if (IsLoss(words)) {
    if (AnyOf(words, kPenaltyWords) || (AnyOf(words, kOpposedWords) && !(Has(words, "cross") && Has(words, "entropy")))) {
      return SeriesRole::kLossPart;
    }
    return held_out ? SeriesRole::kValidationLoss : SeriesRole::kTrainLoss;
  }
  if (Has(words, "max") || Has(words, "grad") || Has(words, "steps")) {
    return SeriesRole::kOther;
  }
  if (IsHeldOutScore(words)) {
    return AnyOf(words, kTrainWords) ? SeriesRole::kTrainScore : SeriesRole::kValidationScore;
  }
  if (AnyOf(words, kScoreWords) || AnyOf(words, kRewardWords) || IsLikelihood(words)) {
    return held_out || Has(words, "metrics") ? SeriesRole::kValidationScore
                                             : SeriesRole::kTrainScore;
  }
  return SeriesRole::kOther;
}

}  // namespace

bool IsLossTerm(std::string_view name) {
  const Words words = SplitName(name);
  const SeriesRole role = RoleOfWords(words);
  return (role == SeriesRole::kTrainLoss || role == SeriesRole::kValidationLoss) &&
         AnyOf(words, kLossWords) && !IsTotalLoss(words);
}

SeriesRole RoleOfSeries(std::string_view name) { return RoleOfWords(SplitName(name)); }

void SeriesRoles::Note(std::string_view name) { static_cast<void>(Of(name)); }

SeriesRole SeriesRoles::Of(std::string_view name) {
  const Words words = SplitName(name);
  const SeriesRole role = RoleOfWords(words);
  if (role != SeriesRole::kTrainLoss && role != SeriesRole::kValidationLoss) {
    return role;
  }
  bool& has_total = role == SeriesRole::kTrainLoss ? has_train_total_ : has_validation_total_;
  if (IsTotalLoss(words)) {
    has_total = true;
    return role;
  }
  return has_total ? SeriesRole::kLossPart : role;
}

}  // namespace whystop
