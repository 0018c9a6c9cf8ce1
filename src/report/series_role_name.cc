#include "report/series_role_name.h"

namespace whystop {

std::string_view NameOf(SeriesRole role) {
  switch (role) {
    case SeriesRole::kOther:
      return "other";
    case SeriesRole::kTrainLoss:
      return "train-loss";
    case SeriesRole::kValidationLoss:
      return "validation-loss";
    case SeriesRole::kLearningRate:
      return "learning-rate";
    case SeriesRole::kGradientNorm:
      return "gradient-norm";
    case SeriesRole::kLossScale:
      return "loss-scale";
    case SeriesRole::kTrainScore:
      return "train-score";
    case SeriesRole::kValidationScore:
      return "validation-score";
    case SeriesRole::kLossPart:
      break;
  }
  return "loss-part";
}

}  // namespace whystop
