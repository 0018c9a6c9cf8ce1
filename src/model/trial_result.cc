#include "model/trial_result.h"

namespace whystop {

std::string_view Name(TrialResult::Says says) {
  switch (says) {
    case TrialResult::Says::kProven:
      return "proven";
    case TrialResult::Says::kRefuted:
      return "refuted";
    case TrialResult::Says::kNotTested:
      return "not-tested";
    case TrialResult::Says::kNeither:
      break;
  }
  return "neither";
}

}  // namespace whystop
